"""Formulas of the cells of recurrent layers."""

from mindtorch.autograd.formulas.common import sum_of_given
from mindtorch.dispatch import ops
from mindtorch.state import thread


def lstm_cell_grads(grad_hy, grad_cy, input_gates, hidden_gates, input_bias, hidden_bias, cx, cy, workspace):
    """Gradients of both halves of the gates, of the cell state and of the biases; step by step to be differentiated."""
    if grad_hy is None and grad_cy is None:
        return None, None, None, None, None
    has_bias = input_bias is not None
    if not thread.grad_enabled:
        gates, cell, bias = ops._thnn_fused_lstm_cell_backward_impl(grad_hy, grad_cy, cx, cy, workspace, has_bias)
        return gates, gates, cell, bias, bias
    gates = sum_of_given(input_gates, hidden_gates, input_bias, hidden_bias)
    gates, cell = _grads_step_by_step(grad_hy, grad_cy, gates, cx)
    bias = gates.sum(0) if has_bias else None
    return gates, gates, cell, bias, bias


def _grads_step_by_step(grad_hy, grad_cy, gates, cx):
    let_in, forget, new, let_out = gates.chunk(4, 1)
    let_in, forget, new, let_out = let_in.sigmoid(), forget.sigmoid(), new.tanh(), let_out.sigmoid()
    spread = (forget * cx + let_in * new).tanh()
    cell_grad = ops.zeros_like(cx) if grad_cy is None else grad_cy
    out_grad = ops.zeros_like(cx) if grad_hy is None else grad_hy * spread
    if grad_hy is not None:
        cell_grad = cell_grad + grad_hy * let_out * (1 - spread * spread)
    parts = [
        cell_grad * new * _logistic_slope(let_in),
        cell_grad * cx * _logistic_slope(forget),
        cell_grad * let_in * (1 - new * new),
        out_grad * _logistic_slope(let_out),
    ]
    return ops.cat(parts, 1), cell_grad * forget


def _logistic_slope(value):
    return value * (1 - value)


def lstm_cell_jvp(input_t, hidden_t, input_bias_t, hidden_bias_t, cx, cx_t, cy, workspace):
    """Tangents of the hidden and of the cell state."""
    gates_t = sum_of_given(input_t, hidden_t, input_bias_t, hidden_bias_t)
    let_in, forget, new, let_out = workspace.chunk(4, 1)
    in_t, forget_t, new_t, out_t = gates_t.chunk(4, 1)
    new_t, out_t = new_t * (1 - new * new), out_t * _logistic_slope(let_out)
    cell_t = forget_t * _logistic_slope(forget) * cx + forget * cx_t
    cell_t = cell_t + in_t * _logistic_slope(let_in) * new + let_in * new_t
    spread = cy.tanh()
    return out_t * spread + let_out * (1 - spread * spread) * cell_t, cell_t


# -------------------- gated recurrent units --------------------


def gru_cell_grads(grad, input_gates, hidden_gates, input_bias, hidden_bias, hx, workspace):
    """Gradients of both halves of the gates, of the state and of the biases; step by step to be differentiated."""
    has_bias = input_bias is not None
    if not thread.grad_enabled:
        return ops._thnn_fused_gru_cell_backward(grad, workspace, has_bias)
    of_input, of_state = sum_of_given(input_gates, input_bias), sum_of_given(hidden_gates, hidden_bias)
    (a, b, c), (d, e, part) = of_input.chunk(3, 1), of_state.chunk(3, 1)
    reset, keep = (a + d).sigmoid(), (b + e).sigmoid()
    new = (c + reset * part).tanh()
    new_grad = grad * (1 - keep) * (1 - new * new)
    gates = [new_grad * part * _logistic_slope(reset), grad * (hx - new) * _logistic_slope(keep)]
    halves = ops.cat([*gates, new_grad], 1), ops.cat([*gates, new_grad * reset], 1)
    biases = [each.sum(0) for each in halves] if has_bias else (None, None)
    return *halves, grad * keep, *biases


def gru_cell_jvp(input_t, hidden_t, input_bias_t, hidden_bias_t, hx_t, workspace):
    """Tangent of the state."""
    reset, keep, new, state, part = workspace.chunk(5, 1)
    of_input, of_state = sum_of_given(input_t, input_bias_t), sum_of_given(hidden_t, hidden_bias_t)
    (a, b, c), (d, e, part_t) = of_input.chunk(3, 1), of_state.chunk(3, 1)
    reset_t, keep_t = (a + d) * _logistic_slope(reset), (b + e) * _logistic_slope(keep)
    new_t = (c + reset_t * part + reset * part_t) * (1 - new * new)
    return new_t + keep_t * (state - new) + keep * (hx_t - new_t)
