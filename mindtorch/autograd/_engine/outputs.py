"""What generated functions do with results that go into tensors which are already there."""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any

from mindtorch._core import state
from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.promotion import can_cast
from mindtorch._core.tensor import Tensor, wrap, wrap_output, wrap_outputs
from mindtorch._support import errors
from mindtorch.autograd._engine.history import check_inplace, edges_of, mark_written, rebase
from mindtorch.autograd._engine.node_base import RefusingNode, next_sequence_nr
from mindtorch.autograd._engine.shown_levels import is_recorded
from mindtorch.autograd._engine.tenants import move_into
from mindtorch.iterator import check_result_dtype, needs_resize

_thread = state.thread


def refuse_grad(op: str, *tensors: Any) -> None:
    """Functions with `out=` are not differentiable: refuse tensors that require grad."""
    if _thread.grad_enabled and any(tensor is not None and is_recorded(tensor) for tensor in tensors):
        raise errors.out_requires_grad(op)


def flagged(out: Any, requires_grad: bool) -> Any:
    """What a factory has written to. Its `requires_grad=` is for leaves."""
    if (requires_grad or out._mt_edge is not None) and out.is_leaf:
        out.requires_grad_(requires_grad)
    return out


def refuse_unwritable(op: str, outs: Iterable[Tensor], *inputs: Tensor | None) -> None:
    """A function without formulas may write into what is part of a graph, but not where an in-place op may not."""
    if not _thread.grad_enabled or not edges_of((*inputs, *outs)):
        return
    for out in outs:
        try:
            check_inplace(out)
        except RuntimeError:
            raise errors.out_requires_grad(op) from None


def record_refusal(op: str, outs: Iterable[Tensor], *inputs: Tensor | None) -> None:
    """Make what such a function has written the output of a node that refuses the backward pass."""
    edges = edges_of((*inputs, *outs)) if _thread.grad_enabled else ()
    for out in outs if edges else ():
        if out.is_floating_point() or out.is_complex():
            node = RefusingNode()
            node.op, node.sequence_nr, node.next_edges = op, next_sequence_nr(), edges
            rebase(out, node)


def recorded(node: Any, function: Callable, *args: Any, **kwargs: Any) -> Any:
    """What a composite function gives, a tensor or a list, as outputs of a node: it stands for all that the function is
    made of."""
    result = _unrecorded(function, args, kwargs)
    if isinstance(result, Tensor):
        return wrap(result._mt_array, node)
    return wrap_outputs([each._mt_array for each in result], node)


def recorded_outputs(
    node: Any, differentiable: Sequence[bool], function: Callable, *args: Any, **kwargs: Any
) -> tuple[Tensor | None, ...]:
    """The same for a function with several results, of which some have a gradient."""
    arrays = [result._mt_array for result in _unrecorded(function, args, kwargs)]
    if sum(differentiable) == 1:
        return tuple([wrap(array, node if has_edge else None) for array, has_edge in zip(arrays, differentiable)])
    places = accumulate(differentiable, initial=0)
    return tuple([
        wrap_output(array, node, place) if has_edge else wrap(array)
        for array, has_edge, place in zip(arrays, differentiable, places)
    ])  # fmt: skip


def _unrecorded(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    state.set_grad_enabled(False)
    try:
        return function(*args, **kwargs)
    finally:
        state.set_grad_enabled(True)


def write_out(out: Any, result: Any) -> Any:
    """Put the results of a composite op into its `out` tensors, which take on their shapes."""
    for target, source in zip(_listed(out), _listed(result), strict=True):
        _write(target, source)
    return out


def write_castable(op: str, name: str, out: Any, result: Any) -> Any:
    """As `write_out`, in the order of rows, for ops that say so when `out`, which they call `name`, cannot hold it."""
    check_castable(op, name, result, out)
    return write_out(out, result.clone(memory_format=contiguous_format))


def check_castable(op: str, name: str, result: Any, out: Any) -> None:
    if not can_cast(result.dtype, out.dtype):
        kind, given = result.dtype.storage_name, out.dtype.storage_name
        raise RuntimeError(
            f"{op}: Expected {name} to be safely castable from {kind} dtype, but got {name} with dtype {given}"
        )


def _listed(tensors: Any) -> Sequence[Any]:
    return tensors if isinstance(tensors, (tuple, list)) else (tensors,)


def _write(out: Any, result: Any) -> None:
    check_result_dtype(result._mt_array.dtype, out._mt_array.dtype)
    if needs_resize(out._mt_array, result.shape):
        move_into(out, result.to(out.dtype)._mt_array)
        mark_written(out)
    else:
        out.copy_(result)


def write_back(tensors: Any, results: Any) -> Any:
    """Put the results of a composite op into its inputs, for the in-place variant."""
    if isinstance(tensors, Tensor):
        check_result_dtype(results._mt_array.dtype, tensors._mt_array.dtype)
        return tensors.copy_(results)  # type: ignore[attr-defined]
    for tensor, result in zip(tensors, results, strict=True):
        tensor.copy_(result)
    return None
