"""Gradients in the shape, dtype and device of the values that they belong to."""

from typing import Any

import numpy as np

from mindtorch._core import state
from mindtorch._core.batched_array import levels_of
from mindtorch._core.dtype import from_numpy_dtype
from mindtorch._core.tensor import Tensor, wrap
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.torch_dispatch import is_wanted
from mindtorch.dispatch.registry import kernel_table

_sum_kernels = kernel_table("sum.dim_IntList")


def fit_gradient(grad: Tensor, shape: tuple, numpy_dtype: Any, node: Any, edge: Any) -> Tensor:
    """A gradient in the shape and dtype of the value that it belongs to: what was broadcast is summed."""
    if type(grad._mt_array.shape) is not tuple:  # of an array that is batched
        grad = _sum_over_levels(grad, shape)
    if grad._mt_array.dtype != numpy_dtype and grad.is_complex() and not from_numpy_dtype(numpy_dtype).is_complex:
        grad = grad.real  # before the sum, which so has memory of its own
    if tuple(grad._mt_array.shape) != tuple(shape):
        check_shape(grad, shape, node, edge)
        grad = _sum_to(grad, shape)
    if grad._mt_array.dtype != numpy_dtype:
        grad = grad.to(from_numpy_dtype(numpy_dtype))
    return grad


def check_shape(grad: Tensor, shape: tuple, node: Any, edge: Any) -> None:
    """Refuse a gradient that cannot be summed to the shape of its value."""
    if not is_expandable(shape, grad._mt_array.shape):
        raise _invalid(node, edge, f"got {list(grad.shape)} but expected shape compatible with {list(shape)}")


def _fit_to_edge(grad: Tensor, node: Any, edge: Any) -> Tensor:
    shape, dtype = edge[0].output_metadata(edge[1])
    return fit_gradient(grad, shape, dtype, node, edge)


def fit_gradients(node: Any, results: tuple) -> tuple:
    """All results of a node as the values have to get them, which is how its hooks see them."""
    return tuple(
        [
            grad if edge is None or grad is None else _fit_to_edge(grad, node, edge)
            for edge, grad in zip(node.next_edges, results)
        ]
    )


def _sum_over_levels(grad: Tensor, shape: tuple) -> Tensor:
    """Sum over the samples of `vmap`, where all of them used one value that is not batched.

    The levels that are running stay: whoever asks for gradients inside `vmap` asks for one of each sample.
    """
    kept = {*levels_of(shape), *state.thread.vmap_levels}
    for level in levels_of(grad._mt_array.shape):
        if level not in kept:
            grad = ops._remove_batch_dim(grad, level.number, level.size, 0).sum(0)
    return grad


def _sum_to(grad: Any, shape: tuple) -> Tensor:
    """Sum over the dimensions in which a value of that shape was broadcast."""
    if not shape:
        return grad.sum()
    extra = grad.ndim - len(shape)
    leading = tuple(range(extra))
    repeated = [extra + i for i, size in enumerate(shape) if size == 1 and grad.shape[extra + i] != 1]
    if not repeated and type(grad._mt_array) is np.ndarray and not (state.recorded_passes or state.active_modes):
        return wrap(_sum_kernels[np.ndarray](grad._mt_array, leading, False, None))
    total = grad.sum((*leading, *repeated), keepdim=True)
    if not extra:
        return total
    # Where nothing is recorded, a gradient is no view, which could not be written outside of the pass.
    is_seen = state.thread.grad_enabled or is_wanted((total,))
    return total.view(shape) if is_seen else ops._unsafe_view(total, shape)


def check_device(grad: Tensor, leaf: Any, node: Any, edge: Any) -> None:
    expected = leaf.variable.device
    if grad.device != expected:
        raise _invalid(node, edge, f"expected device {expected} but got {grad.device}")


def is_expandable(shape: tuple, target: tuple) -> bool:
    """Whether a tensor of one shape can be broadcast to the other."""
    if len(shape) > len(target):
        return False
    tail = target[len(target) - len(shape) :]
    return all(size in (1, wanted) for size, wanted in zip(shape, tail, strict=True))


def _invalid(node: Any, edge: Any, problem: str) -> RuntimeError:
    index = next(index for index, each in enumerate(node.next_edges) if each is edge)
    return RuntimeError(f"Function {node.name()} returned an invalid gradient at index {index} - {problem}")
