"""Kernels of the cells of recurrent layers: everything of a step that comes after the products with the weights."""

from functools import lru_cache
from typing import Any

import numpy as np

from mindtorch._support.float_errors import quiet
from mindtorch.backends.cpu.common.reducing import as_computed, rounded
from mindtorch.backends.cpu.common.summing import add_up

Array = np.ndarray


def lstm_cell(
    input_gates: Array,
    hidden_gates: Array,
    cx: Array,
    input_bias: Array | None = None,
    hidden_bias: Array | None = None,
) -> tuple[Array, Array, Array]:
    """The next hidden and cell state, and the gates as the step back needs them."""
    gates, cell = as_computed(input_gates, cx.dtype) + as_computed(hidden_gates, cx.dtype), as_computed(cx, cx.dtype)
    for bias in (input_bias, hidden_bias):
        if bias is not None:
            gates += as_computed(bias, cx.dtype)
    results = quiet(_lstm_step, gates, cell)
    return rounded((*results, gates), cx.dtype)


def _lstm_step(gates: Array, cell: Array) -> tuple[Array, Array]:
    """All gates take one tanh: the logistic function is that of half of its argument, halved and moved up."""
    size = cell.shape[1]
    halves, rises = _logistic(size, gates.dtype)
    gates *= halves
    np.tanh(gates, gates)
    gates *= halves
    gates += rises
    new_cell = gates[:, size : 2 * size] * cell
    new_cell += gates[:, :size] * gates[:, 2 * size : 3 * size]
    return np.tanh(new_cell) * gates[:, 3 * size :], new_cell


@lru_cache(maxsize=16)
def _logistic(size: int, dtype: Any) -> tuple[Array, Array]:
    """What turns tanh into the gates: 1/2 and 1/2 for three of them, 1 and 0 for the new content, which is a tanh."""
    halves = np.full(4 * size, 0.5, dtype)
    halves[2 * size : 3 * size] = 1
    rises = np.full(4 * size, 0.5, dtype)
    rises[2 * size : 3 * size] = 0
    return halves, rises


def lstm_cell_backward(
    grad_hy: Array | None, grad_cy: Array | None, cx: Array, cy: Array, workspace: Array, has_bias: bool
) -> tuple[Array, Array, Array | None]:
    """The gradients of the gates before their functions, of the cell state and of a bias."""
    given = [None if each is None else as_computed(each, cx.dtype) for each in (grad_hy, grad_cy)]
    kept = [as_computed(each, cx.dtype) for each in (cx, cy, workspace)]
    gates_grad, cell_grad = quiet(_lstm_step_back, *given, *kept)
    bias_grad = add_up(gates_grad, (0,)) if has_bias else None
    grads = (gates_grad, cell_grad, bias_grad)
    return rounded(grads, cx.dtype)


def _lstm_step_back(
    hidden_grad: Array | None, cell_grad: Array | None, cx: Array, cy: Array, gates: Array
) -> tuple[Array, Array]:
    size = cx.shape[1]
    let_in, forget, new, let_out = (gates[:, start : start + size] for start in range(0, 4 * size, size))
    grads = gates * gates
    np.subtract(gates, grads, out=grads)  # the slope of the logistic function
    slope = grads[:, 2 * size : 3 * size]
    np.multiply(new, new, out=slope)
    np.subtract(1, slope, out=slope)
    if hidden_grad is None:
        grads[:, 3 * size :] = 0
    else:
        spread = np.tanh(cy)
        grads[:, 3 * size :] *= hidden_grad * spread
        spread *= spread
        np.subtract(1, spread, out=spread)
        spread *= let_out
        spread *= hidden_grad
        cell_grad = spread if cell_grad is None else np.add(spread, cell_grad, out=spread)
    for place, other in enumerate((new, cx, let_in)):
        grads[:, place * size : (place + 1) * size] *= cell_grad * other
    return grads, cell_grad * forget


# -------------------- gated recurrent units --------------------


def gru_cell(
    input_gates: Array,
    hidden_gates: Array,
    hx: Array,
    input_bias: Array | None = None,
    hidden_bias: Array | None = None,
) -> tuple[Array, Array]:
    """The next state, and what the step back needs: both gates, the new content, the state, its part of the content."""
    halves = []
    for gates, bias in ((input_gates, input_bias), (hidden_gates, hidden_bias)):
        wide = as_computed(gates, hx.dtype)
        halves.append(wide if bias is None else wide + as_computed(bias, hx.dtype))
    results = quiet(_gru_step, *halves, as_computed(hx, hx.dtype))
    return rounded(results, hx.dtype)


def _gru_step(of_input: Array, of_state: Array, state: Array) -> tuple[Array, Array]:
    size = state.shape[1]
    workspace = np.empty((len(state), 5 * size), state.dtype)
    gates, new = workspace[:, : 2 * size], workspace[:, 2 * size : 3 * size]
    np.add(of_input[:, : 2 * size], of_state[:, : 2 * size], out=gates)
    gates *= 0.5  # the logistic function is tanh of half of its argument, halved and moved up
    np.tanh(gates, gates)
    gates *= 0.5
    gates += 0.5
    workspace[:, 3 * size : 4 * size] = state
    workspace[:, 4 * size :] = of_state[:, 2 * size :]
    np.multiply(gates[:, :size], of_state[:, 2 * size :], out=new)
    new += of_input[:, 2 * size :]
    np.tanh(new, new)
    result = state - new
    result *= gates[:, size:]
    result += new
    return result, workspace


def gru_cell_backward(
    grad_hy: Array, workspace: Array, has_bias: bool
) -> tuple[Array, Array, Array, Array | None, Array | None]:
    """The gradients of both halves before their functions, of the state and of the biases."""
    dtype = grad_hy.dtype
    halves = quiet(_gru_step_back, as_computed(grad_hy, dtype), as_computed(workspace, dtype))
    biases = [add_up(each, (0,)) if has_bias else None for each in halves[:2]]
    return rounded((*halves, *biases), dtype)


def _gru_step_back(grad: Array, workspace: Array) -> tuple[Array, Array, Array]:
    size = grad.shape[1]
    reset, keep, new, state, part = (workspace[:, start : start + size] for start in range(0, 5 * size, size))
    gates = workspace[:, : 2 * size]
    of_input = np.empty((len(grad), 3 * size), grad.dtype)
    slopes = of_input[:, : 2 * size]
    np.multiply(gates, gates, out=slopes)
    np.subtract(gates, slopes, out=slopes)
    kept = grad * keep
    new_grad = (grad - kept) * (1 - new * new)
    of_input[:, 2 * size :] = new_grad
    of_input[:, :size] *= new_grad * part
    of_input[:, size : 2 * size] *= grad * (state - new)
    of_state = of_input.copy()
    of_state[:, 2 * size :] *= reset
    return of_input, of_state, kept
