"""Steps of recurrent layers on the NPU by hand: the LSTM's is one call of ACLNN, the GRU's is put together."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch._core.promotion import BFLOAT16, FLOAT, HALF
from mindtorch.backends.meta import rules
from mindtorch.backends.npu.array import NpuArray
from mindtorch.backends.npu.chip import is_younger
from mindtorch.backends.npu.fallback import kernel_for
from mindtorch.backends.npu.launch import aclnn, copied, placed_all, remembered
from mindtorch.backends.npu.steps import FLOATS, columns, converted, like, narrowed

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
_gru_backward_rule = remembered(rules.gru_cell_backward("first"), "_thnn_fused_gru_cell_backward")
_gru_rule = remembered(rules.gru_cell("first"), "_thnn_fused_gru_cell")
_lstm_backward_rule = remembered(rules.lstm_cell_backward("first"), "_thnn_fused_lstm_cell_backward_impl")
_lstm_rule = remembered(rules.lstm_cell("first"), "_thnn_fused_lstm_cell")

_lstm_on_cpu = kernel_for("_thnn_fused_lstm_cell")
_lstm_backward_on_cpu = kernel_for("_thnn_fused_lstm_cell_backward_impl")
_gru_on_cpu = kernel_for("_thnn_fused_gru_cell")
_gru_backward_on_cpu = kernel_for("_thnn_fused_gru_cell_backward")


# -------------------- LSTM --------------------


def _alike(first: NpuArray, *others: NpuArray | None) -> bool:
    return all([each is None or each.dtype == first.dtype for each in others])


def _has_lstm(state: NpuArray) -> bool:
    """Ascend 950 does not have the op."""
    return type(state) is NpuArray and state.dtype in FLOATS and not is_younger(state.root.index)


def _wide(arrays: Sequence[NpuArray | None], narrow: Sequence[np.dtype]) -> list[Any]:
    """The arrays, in single precision where they are of a dtype that is not computed in."""
    return [converted(each, FLOAT) if each is not None and each.dtype in narrow else each for each in arrays]


def _room(results: Sequence[NpuArray | None], narrow: Sequence[np.dtype]) -> list[Any]:
    """Where results are computed: in their own place, or in single precision."""
    return [like(each, FLOAT) if each is not None and each.dtype in narrow else each for each in results]


def _rounded(results: Sequence[NpuArray | None], found: Sequence[NpuArray | None]) -> tuple[NpuArray | None, ...]:
    """The results, with what was found in another precision."""
    pairs = zip(results, found, strict=True)
    return tuple([None if own is None or other is None else copied(own, other) for own, other in pairs])


def lstm_cell(
    input_gates: NpuArray,
    hidden_gates: NpuArray,
    cx: NpuArray,
    input_bias: NpuArray | None,
    hidden_bias: NpuArray | None,
) -> tuple[NpuArray | None, ...]:
    """ACLNN takes both biases or none. The gates lie in torch's order: so its kernel has them, if not its page."""
    given = (input_gates, hidden_gates, cx, input_bias, hidden_bias)
    has_both = (input_bias is None) == (hidden_bias is None)
    right = has_both and cx.ndim == 2 and input_gates.shape == hidden_gates.shape == (cx.shape[0], 4 * cx.shape[1])
    if not right or not _has_lstm(cx) or not _alike(cx, *given):
        return _lstm_on_cpu(*given)
    results = placed_all(_lstm_rule(*given), cx)
    if cx.size:
        found = _room(results, (BFLOAT16,))
        _lstm(*_wide(given, (BFLOAT16,)), *found)
        _rounded(results, found)
    return results


def lstm_cell_backward(
    grad_hy: NpuArray | None, grad_cy: NpuArray | None, cx: NpuArray, cy: NpuArray, workspace: NpuArray, has_bias: bool
) -> tuple[NpuArray | None, ...]:
    given = (grad_hy, grad_cy, cx, cy, workspace)
    right = cx.shape == cy.shape and cx.size and workspace.shape == (cx.shape[0], 4 * cx.shape[1])
    is_wanted = grad_hy is not None or grad_cy is not None
    if not right or not is_wanted or not _has_lstm(cx) or not _alike(cx, *given):
        return _lstm_backward_on_cpu(*given, has_bias)
    results = placed_all(_lstm_backward_rule(*given, has_bias), cx)
    found = _room(results, (BFLOAT16,))
    of_bias = like(found[0], shape=workspace.shape[1:]) if found[2] is None else found[2]
    _lstm_backward(*_wide(given, (BFLOAT16,)), has_bias, *found[:2], of_bias)
    return _rounded(results, found)


# -------------------- gated recurrent units --------------------

_HALVES = (HALF, BFLOAT16)  # rounded once, at the end


def _made(call: Callable, *arrays: Any) -> NpuArray:
    """What a call makes of arrays, in a new one like the first."""
    result = like(arrays[0])
    call(*arrays, result)
    return result


def _with_bias(gates: NpuArray, bias: NpuArray | None) -> NpuArray:
    return gates if bias is None else _made(_add, gates, bias, 1)


def gru_cell(
    input_gates: NpuArray,
    hidden_gates: NpuArray,
    hx: NpuArray,
    input_bias: NpuArray | None,
    hidden_bias: NpuArray | None,
) -> tuple[NpuArray | None, ...]:
    """The next state, and what the step back needs: both gates, the new content, the state, its part of the content."""
    given = (input_gates, hidden_gates, hx, input_bias, hidden_bias)
    right = hx.ndim == 2 and input_gates.shape == hidden_gates.shape == (hx.shape[0], 3 * hx.shape[1]) and hx.size
    if not right or hx.dtype not in FLOATS or not _alike(hx, *given):
        return _gru_on_cpu(*given)
    results = placed_all(_gru_rule(*given), hx)
    found = _room(results, _HALVES)
    _gru_step(*_wide(given, _HALVES), *found)
    return _rounded(results, found)


def _gru_step(
    input_gates: NpuArray,
    hidden_gates: NpuArray,
    before: NpuArray,
    input_bias: NpuArray | None,
    hidden_bias: NpuArray | None,
    result: NpuArray,
    workspace: NpuArray,
) -> None:
    of_input, of_state = _with_bias(input_gates, input_bias), _with_bias(hidden_gates, hidden_bias)
    size = before.shape[1]
    reset, keep, new, state, part = columns(workspace, 5)
    gates = narrowed(workspace, 1, 0, 2 * size)
    _add(narrowed(of_input, 1, 0, 2 * size), narrowed(of_state, 1, 0, 2 * size), 1, gates)
    _sigmoid(gates, gates)
    copied(state, before)
    copied(part, narrowed(of_state, 1, 2 * size, size))
    _multiply(reset, part, new)
    _add(new, narrowed(of_input, 1, 2 * size, size), 1, new)
    _tanh(new, new)
    _subtract(before, new, 1, result)
    _multiply(result, keep, result)
    _add(result, new, 1, result)


def gru_cell_backward(grad_hy: NpuArray, workspace: NpuArray, has_bias: bool) -> tuple[NpuArray | None, ...]:
    right = grad_hy.ndim == 2 and workspace.shape == (grad_hy.shape[0], 5 * grad_hy.shape[-1]) and grad_hy.size
    if not right or grad_hy.dtype not in FLOATS or not _alike(grad_hy, workspace):
        return _gru_backward_on_cpu(grad_hy, workspace, has_bias)
    results = placed_all(_gru_backward_rule(grad_hy, workspace, has_bias), grad_hy)
    found = _room(results, _HALVES)
    _gru_step_back(*_wide((grad_hy, workspace), _HALVES), *found)
    return _rounded(results, found)


def _gru_step_back(
    grad: NpuArray,
    workspace: NpuArray,
    of_input: NpuArray,
    of_hidden: NpuArray,
    of_state: NpuArray,
    *biases: NpuArray | None,
) -> None:
    size = grad.shape[1]
    reset, keep, new, state, part = columns(workspace, 5)
    _multiply(grad, keep, of_state)
    of_new = _made(_tanh_backward, _made(_subtract, grad, of_state, 1), new)
    to_reset, to_keep, to_new = columns(of_input, 3)
    _sigmoid_backward(_made(_multiply, of_new, part), reset, to_reset)
    _sigmoid_backward(_made(_multiply, grad, _made(_subtract, state, new, 1)), keep, to_keep)
    copied(to_new, of_new)
    copied(narrowed(of_hidden, 1, 0, 2 * size), narrowed(of_input, 1, 0, 2 * size))
    _multiply(of_new, reset, narrowed(of_hidden, 1, 2 * size, size))
    for bias, gates in zip(biases, (of_input, of_hidden), strict=True):
        if bias is not None:
            _sum(gates, (0,), False, gates.dtype, bias)
