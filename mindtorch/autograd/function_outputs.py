"""What the tensors that a custom Function returns become in the graph."""

from collections.abc import Sequence
from typing import Any

from mindtorch._core.autograd_meta import MULTI_OUTPUT, takes_part
from mindtorch._core.tensor import Tensor, alias_of, autograd_meta, set_outputs, share_version, view_of
from mindtorch._support.warnings import warn
from mindtorch.autograd._engine.history import (
    IN_CUSTOM_FUNCTION,
    check_inplace,
    is_leaf,
    is_view,
    noted_edge,
    rebase,
    set_history,
)
from mindtorch.autograd._engine.shown_levels import requires_grad_outside
from mindtorch.dispatch.modes.batching import levels_of_tensor
from mindtorch.dispatch.modes.captures import is_in_reverse_mode


def connect_outputs(
    ctx: Any, node: Any, inputs: Sequence[Tensor], outputs: Sequence[Any], kept: Sequence[Any]
) -> tuple:
    """The outputs as `apply` returns them; `node` is None when nothing is recorded. `kept`: what may not be returned as
    it is, since `setup_context`, which has not seen what becomes of it, has saved it."""
    if node is not None:
        set_outputs(node, [_metadata_of(output) for output in outputs])
        node.output_devices = [output.device if isinstance(output, Tensor) else None for output in outputs]
    tensors = [output for output in outputs if isinstance(output, Tensor)]
    results = [
        _connect(ctx, node, inputs, output, position, len(tensors), kept) if isinstance(output, Tensor) else output
        for position, output in enumerate(outputs)
    ]
    if node is not None:
        if sum(_belongs_to(result, node) for result in results) > 1:
            for result in results:
                _forbid_writing(result, MULTI_OUTPUT)
    return tuple(results)


def _metadata_of(result: Any) -> tuple:
    return (result._mt_array.shape, result._mt_array.dtype) if isinstance(result, Tensor) else ((), None)


def _belongs_to(result: Any, node: Any) -> bool:
    edge = noted_edge(result) if isinstance(result, Tensor) else None
    return bool(edge) and edge[0] is node  # type: ignore[index]


def _connect(
    ctx: Any, node: Any, inputs: Sequence[Tensor], output: Tensor, position: int, count: int, kept: Sequence[Any]
) -> Tensor:
    is_input = _contains(inputs, output)
    is_written = _contains(ctx.dirty_tensors, output)
    is_constant = node is None or _contains(ctx.non_differentiable, output) or not _is_differentiable(output)
    if is_input and not is_written and _contains(kept, output) and not (is_constant and requires_grad_outside(output)):
        raise RuntimeError(_SAVED_AS_IS)
    if is_constant:
        output = _unconnected(output, is_input, is_written)
    elif is_written:
        return _rewritten(node, output, position, count, is_input)
    else:
        if is_input:
            output = _view_of_itself(output)
        _leave_inference(output)
        set_history(output, node, position)
    if not (is_input and is_written):
        _forbid_writing(output, IN_CUSTOM_FUNCTION)
    return output


def _contains(tensors: Sequence[Any], tensor: Tensor) -> bool:
    return any(each is tensor for each in tensors)


def _is_differentiable(tensor: Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def _rewritten(node: Any, output: Tensor, position: int, count: int, is_input: bool) -> Tensor:
    """An output that `forward` wrote in place."""
    if takes_part(output) and (output._mt_meta.edge is None if is_view(output) else is_leaf(output)):
        raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
    if not is_input:
        warn(_NOT_AN_INPUT, UserWarning)
    if is_view(output) and count > 1:
        raise RuntimeError(_VIEW_AMONG_OUTPUTS)
    check_inplace(output)
    rebase(output, node, position)
    return output


def _unconnected(output: Tensor, is_input: bool, is_written: bool) -> Tensor:
    """An output without gradient. An input is returned as something else, so that its own flags stay as they are."""
    if not takes_part(output):
        return _view_of_itself(output) if is_input and not is_written else output
    if is_input or levels_of_tensor(output):
        alias = alias_of(output)
        alias._mt_version = share_version(output)
        return alias
    if not is_view(output):
        return output.detach_()
    if not requires_grad_outside(output):  # a view of nothing to the transform, which `forward` may have written
        output._mt_meta.version = output._mt_version[0]  # type: ignore[index]
    return output


def _leave_inference(output: Tensor) -> None:
    """Record what `forward` has made in inference mode in a transform, whose tensors are not those of that mode."""
    if output.is_inference() and is_in_reverse_mode():
        autograd_meta(output).inference = False


def _view_of_itself(tensor: Tensor) -> Tensor:
    return view_of(tensor, tensor._mt_array, None, None)


def _forbid_writing(result: Any, creation_meta: str) -> None:
    if isinstance(result, Tensor) and is_view(result):
        result._mt_meta.creation_meta = creation_meta


_SAVED_AS_IS = (
    "An input that has been returned as-is as output is being saved for backward. This is not supported if you "
    "override setup_context. You should return and save a view of the input instead, e.g. with x.view_as(x) or setup "
    "ctx inside the forward function itself."
)
_NOT_AN_INPUT = (
    "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is not an input, there is no need to pass "
    "it to mark_dirty()."
)
_VIEW_AMONG_OUTPUTS = (
    "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more "
    "than one Tensor. This is not supported by the current autograd engine. You should either make sure the input is "
    "not a view (using .clone() for example) or make your Function only return one Tensor (potentially splitting it "
    "into two Functions: one doing the inplace that returns a single Tensor and a second one that does the other "
    "operations). You can ask on the forum https://discuss.pytorch.org/ if you need help to do this change."
)
