"""Steps of recurrent layers on the NPU by hand: the LSTM's is one call of ACLNN, the GRU's is put together."""

from collections.abc import Callable
from typing import Any

from mindtorch.backends.meta import rules
from mindtorch.backends.npu.array import NpuArray
from mindtorch.backends.npu.fallback import kernel_for
from mindtorch.backends.npu.launch import aclnn, copied, placed_all, remembered
from mindtorch.backends.npu.steps import FLOATS, columns, like, narrowed
from mindtorch.promotion import FLOAT, HALF

_add = aclnn("aclnnAdd", "TTST")
_lstm = aclnn("aclnnThnnFusedLstmCell", "TTTTTTTT")
_lstm_backward = aclnn("aclnnThnnFusedLstmCellBackward", "TTTTTbTTT")
_multiply = aclnn("aclnnMul", "TTT")
_sigmoid = aclnn("aclnnSigmoid", "TT")
_sigmoid_backward = aclnn("aclnnSigmoidBackward", "TTT")
_subtract = aclnn("aclnnSub", "TTST")
_sum = aclnn("aclnnReduceSum", "TIbdT")
_tanh = aclnn("aclnnTanh", "TT")
_tanh_backward = aclnn("aclnnTanhBackward", "TTT")
_gru_backward_rule = remembered(rules.gru_cell_backward("first"))
_gru_rule = remembered(rules.gru_cell("first"))
_lstm_backward_rule = remembered(rules.lstm_cell_backward("first"))
_lstm_rule = remembered(rules.lstm_cell("first"))

_lstm_on_cpu = kernel_for("_thnn_fused_lstm_cell")
_lstm_backward_on_cpu = kernel_for("_thnn_fused_lstm_cell_backward_impl")
_gru_on_cpu = kernel_for("_thnn_fused_gru_cell")
_gru_backward_on_cpu = kernel_for("_thnn_fused_gru_cell_backward")


# -------------------- LSTM --------------------


def _alike(first: NpuArray, *others: NpuArray | None) -> bool:
    return all([each is None or each.dtype == first.dtype for each in others])


def lstm_cell(input_gates, hidden_gates, cx, input_bias, hidden_bias):
    """ACLNN takes both biases or none. The gates lie in torch's order: so its kernel has them, if not its page."""
    has_both = (input_bias is None) == (hidden_bias is None)
    right = has_both and input_gates.shape == hidden_gates.shape == (cx.shape[0], 4 * cx.shape[-1]) and cx.ndim == 2
    if not right or cx.dtype not in (FLOAT, HALF) or not _alike(cx, input_gates, hidden_gates, input_bias, hidden_bias):
        return _lstm_on_cpu(input_gates, hidden_gates, cx, input_bias, hidden_bias)
    results = placed_all(_lstm_rule(input_gates, hidden_gates, cx, input_bias, hidden_bias), cx)
    if cx.size:
        _lstm(input_gates, hidden_gates, cx, input_bias, hidden_bias, *results)
    return results


def lstm_cell_backward(grad_hy, grad_cy, cx, cy, workspace, has_bias):
    right = cx.shape == cy.shape and cx.size and workspace.shape == (cx.shape[0], 4 * cx.shape[1])
    is_wanted = grad_hy is not None or grad_cy is not None
    if not right or not is_wanted or cx.dtype not in (FLOAT, HALF) or not _alike(cx, grad_hy, grad_cy, cy, workspace):
        return _lstm_backward_on_cpu(grad_hy, grad_cy, cx, cy, workspace, has_bias)
    of_gates, of_cell, of_bias = placed_all(_lstm_backward_rule(grad_hy, grad_cy, cx, cy, workspace, has_bias), cx)
    room = like(workspace, shape=workspace.shape[1:]) if of_bias is None else of_bias
    _lstm_backward(grad_hy, grad_cy, cx, cy, workspace, has_bias, of_gates, of_cell, room)
    return of_gates, of_cell, of_bias


# -------------------- gated recurrent units --------------------


def _made(call: Callable, *arrays: Any) -> NpuArray:
    """What a call makes of arrays, in a new one like the first."""
    result = like(arrays[0])
    call(*arrays, result)
    return result


def _with_bias(gates: NpuArray, bias: NpuArray | None) -> NpuArray:
    if bias is None:
        return gates
    result = like(gates)
    _add(gates, bias, 1, result)
    return result


def gru_cell(input_gates, hidden_gates, hx, input_bias, hidden_bias):
    """The next state, and what the step back needs: both gates, the new content, the state, its part of the content."""
    right = hx.ndim == 2 and input_gates.shape == hidden_gates.shape == (hx.shape[0], 3 * hx.shape[1]) and hx.size
    if not right or hx.dtype not in FLOATS or not _alike(hx, input_gates, hidden_gates, input_bias, hidden_bias):
        return _gru_on_cpu(input_gates, hidden_gates, hx, input_bias, hidden_bias)
    result, workspace = placed_all(_gru_rule(input_gates, hidden_gates, hx, input_bias, hidden_bias), hx)
    of_input, of_state = _with_bias(input_gates, input_bias), _with_bias(hidden_gates, hidden_bias)
    size = hx.shape[1]
    reset, keep, new, state, part = columns(workspace, 5)
    gates = narrowed(workspace, 1, 0, 2 * size)
    _add(narrowed(of_input, 1, 0, 2 * size), narrowed(of_state, 1, 0, 2 * size), 1, gates)
    _sigmoid(gates, gates)
    copied(state, hx)
    copied(part, narrowed(of_state, 1, 2 * size, size))
    _multiply(reset, part, new)
    _add(new, narrowed(of_input, 1, 2 * size, size), 1, new)
    _tanh(new, new)
    _subtract(hx, new, 1, result)
    _multiply(result, keep, result)
    _add(result, new, 1, result)
    return result, workspace


def gru_cell_backward(grad_hy, workspace, has_bias):
    size = grad_hy.shape[-1]
    right = grad_hy.ndim == 2 and workspace.shape == (grad_hy.shape[0], 5 * size) and grad_hy.size
    if not right or grad_hy.dtype not in FLOATS or not _alike(grad_hy, workspace):
        return _gru_backward_on_cpu(grad_hy, workspace, has_bias)
    results = placed_all(_gru_backward_rule(grad_hy, workspace, has_bias), grad_hy)
    of_input, of_hidden, of_state, *biases = results
    reset, keep, new, state, part = columns(workspace, 5)
    _multiply(grad_hy, keep, of_state)
    of_new = _made(_tanh_backward, _difference(grad_hy, of_state), new)
    to_reset, to_keep, to_new = columns(of_input, 3)
    _sigmoid_backward(_made(_multiply, of_new, part), reset, to_reset)
    _sigmoid_backward(_made(_multiply, grad_hy, _difference(state, new)), keep, to_keep)
    copied(to_new, of_new)
    copied(narrowed(of_hidden, 1, 0, 2 * size), narrowed(of_input, 1, 0, 2 * size))
    _multiply(of_new, reset, narrowed(of_hidden, 1, 2 * size, size))
    for bias, gates in zip(biases, (of_input, of_hidden), strict=True):
        if bias is not None:
            _sum(gates, (0,), False, gates.dtype, bias)
    return results


def _difference(one: NpuArray, other: NpuArray) -> NpuArray:
    result = like(one)
    _subtract(one, other, 1, result)
    return result
