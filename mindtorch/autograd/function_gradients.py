"""What the `backward` of a custom Function gets and may return, and what becomes of it."""

from typing import Any

from mindtorch._core import state
from mindtorch._core.batched_array import BatchedArray, Level, levels_of
from mindtorch._core.device import device as Device
from mindtorch._core.dtype import from_numpy_dtype
from mindtorch._core.tensor import Tensor, wrap
from mindtorch._support import errors
from mindtorch.autograd._engine.fitting import check_shape, is_expandable
from mindtorch.dispatch import ops


def materialized(grad: Any, metadata: tuple, device: Device | None) -> Any:
    """The gradient of an output, zeros if it has none: for each sample where the calls of `vmap` that it has gone
    through are over, as any other gradient of the output is then."""
    shape, numpy_dtype = metadata
    if grad is not None or numpy_dtype is None:
        return grad
    levels = _levels_over(shape)
    sizes = [level.size for level in levels]
    zeros = ops.zeros((*sizes, *shape), dtype=from_numpy_dtype(numpy_dtype), device=device)
    array = zeros._mt_array
    for level in levels:
        array = BatchedArray(array, 0, level)
    return wrap(array) if levels else zeros


def _levels_over(shape: tuple) -> list[Level]:
    """The levels of a shape whose calls of `vmap` are over."""
    return [level for level in levels_of(shape) if level not in state.thread.vmap_levels]


def gradients_of_tensors(node: Any, results: tuple, edges: tuple) -> tuple:
    """The gradients for the edges of a Function's node: those of its arguments that are tensors."""
    results = _one_per_argument(node, results)
    grads: list[Any] = []
    for position, (grad, takes_tensor) in enumerate(zip(results, node._takes_tensor, strict=True)):
        if takes_tensor:
            _check(grad, node, edges[len(grads)])
            grads.append(grad)
        elif grad is not None:
            raise RuntimeError(
                f"function {node.name()} returned a gradient different than None at position {position + 1}, but the "
                "corresponding forward input was not a Variable"
            )
    return tuple(grads)


def _one_per_argument(node: Any, results: tuple) -> tuple:
    """Superfluous Nones are ignored: a `backward` may be written for more arguments than were given."""
    expected = len(node._takes_tensor)
    if len(results) > expected and all(each is None for each in results[expected:]):
        return results[:expected]
    if len(results) != expected:
        raise RuntimeError(
            f"function {node.name()} returned an incorrect number of gradients (expected {expected}, "
            f"got {len(results)})"
        )
    return results


def _check(grad: Any, node: Any, edge: Any) -> None:
    if grad is None:
        return
    if not isinstance(grad, Tensor):
        raise RuntimeError(f"expected Variable or None (got {errors.type_name(grad)})")
    if grad.is_complex() and edge is not None and edge[0].output_metadata(edge[1])[1].kind != "c":
        raise RuntimeError(
            "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but got "
            "false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    shape = None if edge is None else edge[0].output_metadata(edge[1])[0]
    if shape is not None:
        _check_sum_of_samples(grad, shape, node)
        check_shape(grad, shape, node, edge)  # before the engine does, which gives up what the node has saved


def _check_sum_of_samples(grad: Tensor, shape: tuple, node: Any) -> None:
    """Refuse what PyTorch does for a Function whose rule it makes: where the call of `vmap` is over, that rule sums the
    gradients of samples to the shape of one itself."""
    is_summed = node._forward_cls.generate_vmap_rule and _levels_over(shape)
    if is_summed and not is_expandable(shape, grad._mt_array.shape):
        raise RuntimeError(f"size {{{list(shape)}}} is not expandable to size {{{list(grad.shape)}}}.")
