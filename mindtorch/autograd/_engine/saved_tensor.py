"""What a node keeps for its formula, and what it gets back when the formula runs.

Note [Saved tensors]: generated code writes `node._mt_saved = (save(x), save(y))` for inputs, adds
`save_output(node, result)` for an output, and reads them with `node.unpack()`. In `_mt_saved` is, for each, one of
- the tensor itself, when its version was 0, or `(tensor, version)`: writes in between are noticed;
- a `SavedOutput`: an output's array without the tensor, since tensor -> node -> field -> tensor would be a cycle;
- a `SavedTensor`: what a pack hook returned;
- a Python number, or None for nothing.
"""

from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np

from mindtorch._core import state
from mindtorch._core.batched_array import BatchedArray, levels_of
from mindtorch._core.dtype import from_numpy_dtype
from mindtorch._core.tensor import (
    InferenceVersion,
    LevelVersion,
    Tensor,
    WrappedNumber,
    alias_of,
    autograd_meta,
    edge_to,
    in_place_of,
    same_object,
    share_version,
    version_inside,
    wrap,
)
from mindtorch._support import errors
from mindtorch.autograd._engine.history import become_leaf, edge_of, edge_to_keep
from mindtorch.autograd._engine.hooks import legacy_type
from mindtorch.autograd._engine.hooks_in_levels import shown_node, shown_output
from mindtorch.autograd._engine.shown_levels import is_of_inference_where_recorded
from mindtorch.dispatch.modes import torch_dispatch
from mindtorch.dispatch.modes.captures import is_in_reverse_mode
from mindtorch.dispatch.modes.level_views import as_it_entered, outside, peeled
from mindtorch.dispatch.modes.tangents import at_all_levels, holder_of

_new = object.__new__
_thread = state.thread


def save(tensor: Any) -> Any:
    """What to keep for an input."""
    if tensor._mt_version is None and type(tensor) is Tensor and not state.active_modes:
        meta = tensor._mt_meta
        if meta is None or not meta.inference:
            return tensor
    if state.active_modes and _thread.saved_tensor_hooks:
        return _packed(tensor, edge_to_keep(tensor))
    counter = tensor._mt_version
    if counter is None:
        if type(tensor) is WrappedNumber:
            return tensor._mt_array
        meta = tensor._mt_meta
        if meta is not None and meta.inference:
            _refuse_inference(tensor)
        version: Any = 0
    else:
        version = counter[0] if type(counter) is not LevelVersion else counter.as_it_is()
        if (tensor._mt_meta is not None and tensor._mt_meta.inference) or type(counter) is InferenceVersion:
            _refuse_inference(tensor)
    return tensor if version == 0 and type(tensor) is Tensor else (tensor, version)


def save_copy(tensor: Any) -> Any:
    """What to keep for an input that is about to be written. The copy is dual if the input is, at all levels: an op
    itself looks at some of them only, but who unpacks the copy may look at others."""
    if not state.active_modes:
        return save(tensor.clone())
    with at_all_levels():
        return save(tensor.clone())


def save_output(node: Any, tensor: Tensor) -> Any:
    """What to keep for an output of the node itself."""
    edge = tensor._mt_edge or edge_of(tensor)
    if not edge:
        return save(tensor)
    if not state.active_modes:
        saved = _new(SavedOutput)
    elif _thread.saved_tensor_hooks:
        return _packed(tensor, edge if edge[0] is not node else (None, edge[1]))
    elif _thread.dual_levels:
        saved = _new(SavedDualOutput)
        saved.tangents = holder_of(tensor)
    else:
        saved = _new(SavedOutput)
    counter = tensor._mt_version
    if counter is None:
        counter = share_version(tensor)
    saved.array = tensor._mt_array
    saved.kind = tensor._mt_kind
    saved.counter = counter
    saved.version = counter[0] if type(counter) is not LevelVersion else counter.as_it_is()
    saved.output_nr = edge[1]
    # After an in-place op on a view, the view's node is another one: that of the view of the rewritten base.
    saved.view_node = None if edge[0] is node else ref(edge[0])
    return saved


def unpack(saved: Any, node: Any) -> Any:
    """The tensor or number that was saved; the node is the one that asks."""
    if type(saved) is Tensor:
        counter = saved._mt_version
        if counter is None or (not counter[0] and type(counter) is not LevelVersion):
            return saved
        saved = saved, 0
    if type(saved) is tuple:
        tensor, version = saved
        counter = tensor._mt_version
        if counter is None or is_at(counter, version):
            return tensor
        raise modified_in_place(tensor._mt_array, edge_of(tensor), counter, version)
    return saved.unpack(node) if isinstance(saved, (SavedOutput, SavedTensor)) else saved


def is_at(counter: list[int], version: Any) -> bool:
    """Whether a version is still the one that was kept, as the pass sees it that asks."""
    if type(counter) is LevelVersion or type(version) is LevelVersion:
        depth = _depth_of_pass()
        return version_inside(counter, depth) == version_inside(version, depth)
    return counter[0] == version


def _depth_of_pass() -> int:
    """The depth of the transform that asks for the gradients; 0: a program, outside of all."""
    own = _thread.differentiated
    return _thread.transforms if own is None else own.depth


class SavedOutput:
    """An output of the node that keeps it, without the reference back to the node. `save_output` fills it."""

    __slots__ = ("array", "kind", "counter", "version", "output_nr", "view_node")

    array: Any
    kind: Any
    counter: Any
    version: Any
    output_nr: int
    view_node: Any

    def unpack(self, node: Any) -> Tensor:
        owner = (self.view_node and self.view_node()) or node
        edge = edge_to(owner, self.output_nr)
        counter, version = self.counter, self.version
        if not (type(counter) is list and counter[0] == version) and not is_at(counter, version):
            raise modified_in_place(self.array, edge, self.counter, self.version)
        return self.on_graph(edge)

    def on_graph(self, edge: tuple | None) -> Tensor:
        tensor = wrap(self.array, None, self.kind)
        tensor._mt_version = self.counter
        tensor._mt_edge = edge
        return tensor


class SavedDualOutput(SavedOutput):
    """An output that was made while a level of forward AD was open, with the tangents that it has got since."""

    __slots__ = ("tangents",)

    tangents: Any

    def on_graph(self, edge: tuple | None) -> Tensor:
        tensor = super().on_graph(edge)
        autograd_meta(tensor).tangents = self.tangents
        return tensor


class SavedObject(SavedOutput):
    """An output that a `__torch_dispatch__` gave: kept is a copy of the same class, outside of the graph."""

    __slots__ = ("copy",)

    copy: Tensor

    def on_graph(self, edge: tuple | None) -> Tensor:
        wanted = state.active_modes and torch_dispatch.is_wanted((self.copy,))
        tensor = torch_dispatch.ask_op("detach", self.copy) if wanted else same_object(self.copy)
        tensor._mt_version = self.counter
        tensor._mt_edge = edge
        return tensor


def as_object(held: Any, output: Tensor, copy: Tensor) -> Any:
    """What to keep instead of a SavedOutput, if that is this output."""
    if not isinstance(held, SavedOutput) or held.counter is not output._mt_version:
        return held
    saved = _new(SavedObject)
    for name in SavedOutput.__slots__:
        setattr(saved, name, getattr(held, name))
    saved.copy = copy
    return saved


FREED = object()  # in place of what a node has kept and has given up


class SavedTensor:
    """A saved tensor that can be given hooks, once: what `_raw_saved_x` of a node is."""

    __slots__ = ("_held", "_packed", "_unpack_hook", "_edge", "_levels")

    def __init__(self, held: Any) -> None:
        self._held = held  # what the field held; None once a pack hook has it
        self._packed: Any = None
        self._unpack_hook: Callable | None = None
        self._edge: Any = None  # the tensor's; the node is None for an output of the node that keeps this
        self._levels: Any = ()  # those of `vmap` at which the tensor is batched: hooks see all samples

    def register_hooks(self, pack_hook: Callable, unpack_hook: Callable) -> None:
        """Keep what `pack_hook(tensor)` returns, and give `unpack_hook` of that when the tensor is needed."""
        check_hooks("register_hooks", pack_hook, unpack_hook, "self: torch._C._autograd.SavedTensor, ")
        if self._held is FREED:
            raise _freed()
        if self._unpack_hook is not None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. "
                "Hint: only one pair of hooks is allowed at a time."
            )
        if self._held is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        held = self._held
        if isinstance(held, SavedOutput):
            tensor, edge = held.on_graph(None), (None, held.output_nr)
        elif isinstance(held, (Tensor, tuple)):
            original = held if isinstance(held, Tensor) else held[0]
            tensor, edge = _detached(original), edge_to_keep(original)
        else:
            tensor, edge = wrap(np.asarray(held)), None
        self.pack(tensor, edge, pack_hook, unpack_hook)
        self._held = None  # not before: a pack hook that fails changes nothing

    def pack(self, tensor: Tensor, edge: Any, pack_hook: Callable, unpack_hook: Callable) -> None:
        counter = share_version(tensor)
        version = counter[0]
        if type(tensor._mt_array) is BatchedArray:
            tensor, self._levels = _all_samples(tensor)
        grad_enabled = _thread.grad_enabled
        state.set_grad_enabled(False)
        try:
            self._packed = pack_hook(tensor)
        finally:
            state.set_grad_enabled(grad_enabled)
        if counter[0] != version:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
                "cannot be modified by in-place operations as this can lead to unexpected side-effects. Please open an "
                "issue if you need to perform in-place operations on the input to a pack hook."
            )
        self._edge = edge
        self._unpack_hook = unpack_hook

    def unpack(self, node: Any) -> Any:
        if self._unpack_hook is None:
            return unpack(self._held, node)
        tensor = self._unpack_hook(self._packed)
        if not isinstance(tensor, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{errors.type_name(tensor)}"
            )
        return tensor if self._edge is None and not self._levels else self._on_graph(tensor, node)

    def _on_graph(self, data: Tensor, node: Any) -> Tensor:
        """The unpacked data in the place that the saved tensor had in the graph."""
        has_own_ops = type(data) is not Tensor and torch_dispatch.takes_over(type(data))
        tensor = torch_dispatch.ask_op("detach", data) if has_own_ops else wrap(data._mt_array)
        for dim, level in self._levels:
            tensor._mt_array = BatchedArray(tensor._mt_array, dim, level)
        tensor._mt_version = share_version(data)
        if self._edge is None:
            return tensor
        owner, output_nr, *_ = self._edge
        if owner is not None and owner.accumulates:
            become_leaf(tensor, owner)
        else:
            tensor._mt_edge = edge_to(owner or node, output_nr)
        return tensor


def _packed(tensor: Any, edge: Any) -> Any:
    """What to keep while saved-tensor hooks are active. They never see a Python number."""
    if type(tensor) is WrappedNumber:
        return tensor._mt_array
    if tensor.is_inference():
        _refuse_inference(tensor)
    if _thread.outcome is not None:
        tensor = torch_dispatch.object_of(tensor)
    saved = SavedTensor(None)
    saved.pack(tensor, edge, *_thread.saved_tensor_hooks[-1])
    return saved


def _detached(tensor: Tensor) -> Tensor:
    """The tensor outside of the graph, with the same version counter."""
    alias = alias_of(tensor)
    alias._mt_version = share_version(tensor)
    return alias


def _all_samples(tensor: Tensor) -> tuple[Tensor, list]:
    """A batched tensor outside of `vmap`, where it is in the graph, too, and the levels that it has left."""
    array, levels = peeled(tensor._mt_array, 0)
    if edge_of(tensor) is None:
        samples = wrap(array)
        samples._mt_version = share_version(tensor)
        return samples, levels
    if not levels:  # one that was lifted
        return in_place_of(tensor, array), levels
    for dim, level in reversed(levels):
        entered = as_it_entered(tensor)
        tensor = outside(tensor, dim, level) if entered is None else entered
    return tensor, levels


def check_hooks(function: str, pack_hook: Any, unpack_hook: Any, owner: str = "") -> None:
    if not (callable(pack_hook) and callable(unpack_hook)):
        raise TypeError(
            f"{function}(): incompatible function arguments. The following argument types are supported:\n"
            f"    1. ({owner}arg0: collections.abc.Callable, arg1: collections.abc.Callable) -> None\n\n"
            f"Invoked with: {pack_hook!r}, {unpack_hook!r}"
        )


# -------------------- errors --------------------


def modified_in_place(array: Any, edge: Any, counter: list[int], kept: Any) -> RuntimeError:
    """A saved tensor was written since; the edge is that of the tensor as it is now, if it has one."""
    depth = _depth_of_pass()
    version, expected = (version_inside(each, depth) for each in (counter, kept))
    array = peeled(array, sum(level.depth < depth for level in levels_of(array.shape)))[0]  # a sample of those outside
    kind = legacy_type(from_numpy_dtype(array.dtype))
    source = "" if not edge or shown_node(edge)[0].accumulates else f", which is output {shown_output(edge)},"
    if state.anomaly_enabled:
        hint = (
            "the backtrace further above shows the operation that failed to compute its gradient. The variable in "
            "question was changed in there or anywhere later. Good luck!"
        )
    else:
        hint = (
            "enable anomaly detection to find the operation that failed to compute its gradient, with "
            "torch.autograd.set_detect_anomaly(True, check_nan=False)."
        )
    return RuntimeError(
        f"one of the variables needed for gradient computation has been modified by an inplace operation: [{kind} "
        f"{list(array.shape)}]{source} is at version {version}; expected version {expected} instead. Hint: {hint}"
    )


def _freed() -> RuntimeError:
    return RuntimeError(
        "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are "
        "freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through "
        "the graph a second time or if you need to access saved variables after calling backward."
    )


def _refuse_inference(tensor: Tensor) -> None:
    """Keep no tensor of inference mode, which has no version; a transform of reverse mode, whose graph is its own, may
    do so if it has not made it, and the op is in no other graph."""
    is_stand_in = type(tensor._mt_version) is InferenceVersion  # which passes of transforms may keep
    if is_of_inference_where_recorded(tensor) if is_in_reverse_mode() else not is_stand_in:
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
            "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use "
            "it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
        )
