"""Formulas of the cells of recurrent layers."""

from mindtorch.autograd.formulas.common import is_differentiated, sum_of_given
from mindtorch.dispatch import ops


def lstm_cell_grads(grad_hy, grad_cy, input_gates, hidden_gates, input_bias, hidden_bias, cx, cy, workspace):
    """Gradients of both halves of the gates, of the cell state and of the biases; step by step to be differentiated."""
    if grad_hy is None and grad_cy is None:
        return None, None, None, None, None
    has_bias = input_bias is not None
    if not is_differentiated(input_gates, hidden_gates, cx):
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


def lstm_cell_jvp(gates, tangents, cx, cx_t, cy, workspace):
    """Tangents of the hidden and of the cell state; `gates` are the four summands, `tangents` theirs."""
    gates_t = sum_of_given(*tangents)
    if is_differentiated(cx, *gates):  # as the workspace is not
        let_in, forget, new, let_out = sum_of_given(*gates).chunk(4, 1)
        let_in, forget, new, let_out = let_in.sigmoid(), forget.sigmoid(), new.tanh(), let_out.sigmoid()
    else:
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
    if not is_differentiated(input_gates, hidden_gates, hx):
        return ops._thnn_fused_gru_cell_backward(grad, workspace, has_bias)
    reset, keep, new, part = _gru_gates(*_halves(input_gates, input_bias, hidden_gates, hidden_bias))
    new_grad = grad * (1 - keep) * (1 - new * new)
    gates = [new_grad * part * _logistic_slope(reset), grad * (hx - new) * _logistic_slope(keep)]
    halves = ops.cat([*gates, new_grad], 1), ops.cat([*gates, new_grad * reset], 1)
    biases = [each.sum(0) for each in halves] if has_bias else (None, None)
    return *halves, grad * keep, *biases


def _halves(input_gates, input_bias, hidden_gates, hidden_bias):
    """What the input, and what the state, gives to the gates, each with its bias."""
    return sum_of_given(input_gates, input_bias), sum_of_given(hidden_gates, hidden_bias)


def _gru_gates(of_input, of_state):
    """The gates, the new part, and what the state gives to it."""
    (a, b, c), (d, e, part) = of_input.chunk(3, 1), of_state.chunk(3, 1)
    reset, keep = (a + d).sigmoid(), (b + e).sigmoid()
    return reset, keep, (c + reset * part).tanh(), part


def gru_cell_jvp(gates, tangents, hx, hx_t, workspace):
    """Tangent of the state; `gates` are two summands for the input, and two for the state, `tangents` theirs."""
    if is_differentiated(hx, *gates):  # as the workspace is not
        (reset, keep, new, part), state = _gru_gates(*_halves(*gates)), hx
    else:
        reset, keep, new, state, part = workspace.chunk(5, 1)
    of_input, of_state = _halves(*tangents)
    (a, b, c), (d, e, part_t) = of_input.chunk(3, 1), of_state.chunk(3, 1)
    reset_t, keep_t = (a + d) * _logistic_slope(reset), (b + e) * _logistic_slope(keep)
    new_t = (c + reset_t * part + reset * part_t) * (1 - new * new)
    return new_t + keep_t * (state - new) + keep * (hx_t - new_t)
