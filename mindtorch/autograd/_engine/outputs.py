"""What generated functions do with results that go into tensors which are already there."""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any

from mindtorch._core import state
from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.promotion import can_cast
from mindtorch._core.tensor import NotATensor, Tensor, wrap, wrap_output, wrap_outputs
from mindtorch._support import errors
from mindtorch.autograd._engine.history import check_inplace, edges_of, mark_written, rebase
from mindtorch.autograd._engine.node_base import RefusingNode, next_sequence_nr
from mindtorch.autograd._engine.shown_levels import is_recorded
from mindtorch.autograd._engine.tenants import move_into
from mindtorch.dispatch.modes.captures import writing_result
from mindtorch.dispatch.registry import kernel_table
from mindtorch.iterator import check_result_dtype, needs_resize

_thread = state.thread
_copy_kernels = kernel_table("copy_")


def refuse_grad(op: str, *tensors: Any) -> None:
    """Functions with `out=` are not differentiable: refuse tensors that require grad."""
    for tensor in tensors:
        if tensor is not None and tensor._mt_edge is not None and _thread.grad_enabled and is_recorded(tensor):
            raise errors.out_requires_grad(op)


def refuse_out(is_method: bool, op: str, *tensors: Any) -> None:
    """The same for the code that functions and methods share: methods take no `out`."""
    if is_method:
        raise NotATensor
    refuse_grad(op, *tensors)


def flagged(out: Any, requires_grad: bool | None) -> Any:
    """What a factory has written to. Its `requires_grad=` is for leaves."""
    if (requires_grad or out._mt_edge is not None) and out.is_leaf:
        out.requires_grad_(bool(requires_grad))
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
    if isinstance(out, Tensor):
        _write(out, result)
    else:
        for target, source in zip(out, result, strict=True):
            _write(target, source)
    return out


def write_castable(op: str, name: str, out: Any, result: Any) -> Any:
    """As `write_out`, in the order of rows where memory is taken anew, for ops that check first whether `out`,
    which they call `name`, can hold it."""
    check_castable(op, name, result, out)
    is_fit = out.shape == result.shape
    return write_out(out, result if is_fit else result.clone(memory_format=contiguous_format))


def check_castable(op: str, name: str, result: Any, out: Any) -> None:
    if not can_cast(result.dtype, out.dtype):
        kind, given = result.dtype.storage_name, out.dtype.storage_name
        raise RuntimeError(
            f"{op}: Expected {name} to be safely castable from {kind} dtype, but got {name} with dtype {given}"
        )


def _write(out: Any, result: Any) -> None:
    array, target = result._mt_array, out._mt_array
    if array.dtype is not target.dtype:
        check_result_dtype(array.dtype, target.dtype)
    if needs_resize(target, array.shape):
        move_into(out, result.to(out.dtype)._mt_array)
        mark_written(out)
    elif state.active_modes:
        with writing_result(out):
            out.copy_(result)
    else:
        _copy(out, result)


def _copy(target: Any, source: Any) -> Any:
    """`target.copy_(source)`. Its kernel does it if no mode intercepts the call and nothing is recorded."""
    if state.active_modes or target._mt_edge is not None or source._mt_edge is not None:
        return target.copy_(source)
    array = target._mt_array
    _copy_kernels[type(array)](array, source._mt_array, False)
    mark_written(target)
    return target


def write_back(tensors: Any, results: Any) -> Any:
    """Put the results of a composite op into its inputs, for the in-place variant."""
    if isinstance(tensors, Tensor):
        check_result_dtype(results._mt_array.dtype, tensors._mt_array.dtype)
        return _copy(tensors, results)
    for tensor, result in zip(tensors, results, strict=True):
        _copy(tensor, result)
    return None
