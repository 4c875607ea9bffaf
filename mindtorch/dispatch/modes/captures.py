"""Which tensors the function of a transform (`grad`, `vjp`, `jvp`) may write: those that it was given or has made.

Others it has captured, and a write to them would be seen outside although derivatives know nothing of it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any
from weakref import ref

from mindtorch._core import state
from mindtorch._core.autograd_meta import ViewMeta
from mindtorch._core.batched_array import BatchedArray
from mindtorch._core.tensor import DataVersion, InferenceVersion, LevelVersion, Tensor, same_as
from mindtorch.dispatch.arguments.conversions import fits_by_position
from mindtorch.dispatch.call_form import tensors_among
from mindtorch.dispatch.modes.batching import writes_samples_to_one
from mindtorch.dispatch.namespace import ops
from mindtorch.dispatch.registry import NUMBERS, OpEntry

_thread = state.thread


class TensorSet:
    """Tensors, told apart by identity: equality of tensors is another thing.

    They are known by their weak references, of which Python makes one for each tensor, and hands out the same again.
    """

    __slots__ = ("_references",)

    def __init__(self, tensors: Iterable[Tensor] = ()) -> None:
        self._references: dict[int, ref[Tensor]] = {}
        for tensor in tensors:
            self.add(tensor)

    def add(self, tensor: Tensor) -> None:
        reference = ref(tensor)
        self._references[id(reference)] = reference

    def discard(self, tensor: Tensor) -> None:
        self._references.pop(id(ref(tensor)), None)

    def __contains__(self, tensor: Tensor) -> bool:
        return self.has(ref(tensor))

    def __iter__(self) -> Iterator[Tensor]:
        """Those that are alive."""
        for reference in tuple(self._references.values()):
            tensor = reference()
            if tensor is not None:
                yield tensor

    def take_over(self, others: "TensorSet") -> None:
        self._references.update(others._references)

    def has(self, reference: "ref[Tensor]") -> bool:
        """Whether it is a reference to one of the tensors, which may be gone by now."""
        return id(reference) in self._references


class OwnTensors:
    """The tensors of one run of a function. `depth`: how many transforms run then, this one included."""

    __slots__ = (
        *("given", "made", "metas", "depth", "outer", "data", "has_hooks"),
        *("is_left", "requires_grad_outside", "records_outside", "is_reverse", "operands", "of_inference"),
        "out",
    )

    def __init__(self, given: Sequence[Tensor], depth: int, outer: "OwnTensors | None") -> None:
        self.given = TensorSet()
        self.metas: dict[int, ViewMeta] = {}
        self.made = TensorSet()
        self.depth = depth
        self.outer = outer
        self.data: dict[int, tuple[Tensor, Tensor]] = {}  # id of `x.data` -> (it, x), which are the same outside
        self.has_hooks = False  # whether the function has registered any
        self.is_left = False  # while the forward of a custom Function runs, which no transform watches
        self.requires_grad_outside: Callable[[Tensor], bool]  # while it is
        self.records_outside = _thread.grad_enabled  # whether grad mode is on around the transform
        self.is_reverse = False  # whether the transform has a graph of its own
        self.of_inference = TensorSet()  # what was made in inference mode, and not only seen again from that
        self.out: Tensor | None = None  # while the result of an op is put into the `out` of its call
        self.operands: Sequence[Tensor] = ()  # of the op that runs, if any of them is of inference mode
        self.give(given)

    def give(self, tensors: Sequence[Tensor]) -> None:
        """Note more tensors that the function is given."""
        for tensor in tensors:
            self.given.add(tensor)
            if type(tensor._mt_meta) is ViewMeta:
                self.metas[id(tensor._mt_meta)] = tensor._mt_meta

    def note_detached(self, alias: Tensor, tensor: Tensor) -> None:
        """Note that a tensor is another one detached, or a view in inference mode: what is captured remains so."""
        if not _is_own(tensor):
            self.made.discard(alias)

    def note_stand_in(self, stand_in: Tensor, reference: "ref[Tensor]") -> None:
        """Note that a tensor, just made, has the autograd fields of another one, whose reference is given: it is of
        those transforms of which that is."""
        self.made.discard(stand_in)
        own: OwnTensors | None = self
        while own is not None:
            for tensors in (own.made, own.given):
                if tensors.has(reference):
                    tensors.add(stand_in)
            own = own.outer

    def new_version(self, tensor: Tensor) -> list[int]:
        """The version of a tensor that has none yet, inside of every transform that the tensor is in."""
        version = [0]
        for depth in reversed(depths_of(tensor)):
            version = LevelVersion(version, depth)
        return version

    def behind_data(self, tensor: Tensor) -> Tensor:
        """The tensor that another one is the data of; others themselves."""
        while id(tensor) in self.data:
            tensor = self.data[id(tensor)][1]
        return tensor

    def is_input(self, node: Any) -> bool:
        """Whether the graph of this transform begins at a node where that of some transform does. One that is over may
        have run at the same depth, and what the function is given besides may be an input of one around this."""
        return node.depth == self.depth and self.given.has(node.leaf)

    def __contains__(self, tensor: Tensor) -> bool:
        return tensor in self.made or tensor in self.given

    def owner_of(self, tensor: Tensor) -> "OwnTensors | None":
        """Those of this transform, or of the innermost one around it, that a tensor is one of."""
        own: OwnTensors | None = self
        while own is not None and tensor not in own:
            own = own.outer
        return own


def owner_of(tensor: Tensor) -> OwnTensors | None:
    """The tensors of the innermost transform for whose function a tensor was made."""
    own = _thread.own_tensors
    return None if own is None else own.owner_of(tensor)


def depth_of(tensor: Tensor) -> int:
    """The depth of the innermost transform for whose function a tensor was made; 0 if there is none."""
    own = owner_of(tensor)
    return 0 if own is None else own.depth


def is_inside_of_samples(tensor: Tensor) -> bool:
    """Whether a sample of `vmap` was made for the function of a transform inside of that."""
    return _is_inside_of_level(tensor._mt_array, seen_by(tensor))


def runs_inside_of_samples(tensor: Tensor) -> bool:
    """Whether a transform runs inside of the `vmap` that a sample is of."""
    return _is_inside_of_level(tensor._mt_array, _not_left(_thread.own_tensors))


def _is_inside_of_level(array: Any, own: OwnTensors | None) -> bool:
    return type(array) is BatchedArray and own is not None and own.depth > array.level.depth


def is_captured_unrecorded(tensor: Tensor) -> bool:
    """Whether a tensor is from outside of a transform around which grad mode is off."""
    own, is_recorded = _thread.own_tensors, True
    while own is not None and tensor not in own:
        own, is_recorded = own.outer, own.records_outside
    return not is_recorded


def is_in_reverse_mode() -> bool:
    """Whether a transform of reverse mode runs."""
    own = _thread.own_tensors
    while own is not None and not own.is_reverse:
        own = own.outer
    return own is not None


def seen_by(tensor: Tensor) -> OwnTensors | None:
    """The tensors of the innermost transform for whose function a tensor was made: not of one that does not see it, as
    the forward of a custom Function runs."""
    return _not_left(owner_of(tensor))


def _not_left(own: OwnTensors | None) -> OwnTensors | None:
    while own is not None and own.is_left:
        own = own.outer
    return own


def depths_of(tensor: Tensor) -> list[int]:
    """The depths of the transforms for whose functions a tensor was made and which see it, innermost first."""
    own = owner_of(tensor)
    depths = []
    while own is not None:
        if not own.is_left:
            depths.append(own.depth)
        own = own.outer
    return depths


@contextmanager
def watching_writes(given: Iterable[Any]) -> Iterator[OwnTensors]:
    """In this block, writing to a tensor is refused unless it is given or was made in the block."""
    tensors = [value for value in given if isinstance(value, Tensor)]
    with _running(OwnTensors(tensors, _thread.transforms, _thread.own_tensors)) as own:
        yield own


@contextmanager
def differentiating(own: OwnTensors, as_inside: bool, writable_views: bool) -> Iterator[None]:
    """In this block the backward pass of a transform runs. `as_inside`: what hooks see is as it is for the function;
    `writable_views`: whether views are as those of a pass that is recorded, which this one need not be."""
    outer = _thread.differentiated, _thread.writable_views
    _thread.differentiated, _thread.writable_views = own, writable_views
    try:
        with _running(own) if as_inside else _NOTHING:
            yield
    finally:
        _thread.differentiated, _thread.writable_views = outer


@contextmanager
def _running(own: OwnTensors) -> Iterator[OwnTensors]:
    outer = _thread.own_tensors
    _thread.own_tensors = own
    state.count_thread_mode(1)
    try:
        yield own
    finally:
        state.count_thread_mode(-1)
        _thread.own_tensors = outer
        if outer is not None:  # the function around it has made them, too
            outer.made.take_over(own.made)
            outer.of_inference.take_over(own.of_inference)


def leaving_watch(
    requires_grad_outside: Callable[[Tensor], bool] = lambda tensor: True,
) -> AbstractContextManager[None]:
    """In this block every tensor may be written: a transform sees what a custom Function gives, not what it does.

    A write is recorded if what takes part requires grad outside of all transforms."""
    own = _thread.own_tensors
    return _NOTHING if own is None or own.is_left else _leaving(own, requires_grad_outside)


def is_left_to_a_function() -> bool:
    """Whether the forward of a custom Function runs, and no `vmap` around it."""
    own = _thread.own_tensors
    return own is not None and own.is_left and not _thread.vmap_levels


_NOTHING = nullcontext()


def recording(tensors: Sequence[Tensor]) -> AbstractContextManager[None]:
    """In this block an op of some tensors runs inside of a transform: which graphs it is recorded in decides whether
    they may keep one of inference mode."""
    own = _thread.own_tensors
    is_asked = own is not None and _thread.grad_enabled and any([_may_be_of_inference(each) for each in tensors])
    return _set(own, "operands", tensors) if is_asked else _NOTHING


def _may_be_of_inference(tensor: Tensor) -> bool:
    """Whether a tensor is of inference mode, or is so outside of the transform that it was given to."""
    return tensor.is_inference() or type(tensor._mt_version) is InferenceVersion


def writing_result(out: Tensor) -> AbstractContextManager[None]:
    """In this block the result of a composite op is put into its `out`, which may be captured: what is refused is a
    program's in-place op, and this copy is none."""
    own = _thread.own_tensors
    return _NOTHING if own is None else _set(own, "out", out)


@contextmanager
def _set(own: OwnTensors, field: str, value: Any) -> Iterator[None]:
    outer = getattr(own, field)
    setattr(own, field, value)
    try:
        yield
    finally:
        setattr(own, field, outer)


@contextmanager
def _leaving(own: OwnTensors, requires_grad_outside: Callable[[Tensor], bool]) -> Iterator[None]:
    own.is_left, own.requires_grad_outside = True, requires_grad_outside
    try:
        yield
    finally:
        own.is_left = False


def seen_inside(entry: OpEntry, result: Any, args: tuple, kwargs: dict) -> Any:
    """The result of a composite op. One that is an argument as it was, and captured by the function of a transform, is
    another tensor there: it has no history in the transform, outside of which it is the captured one."""
    if entry.is_inplace or entry.short_cut or kwargs.get("out") is not None or _thread.own_tensors.is_left:
        return result
    if type(result) is tuple:
        return tuple([seen_inside(entry, each, args, kwargs) for each in result])
    is_argument = any(result is each for each in tensors_among((*args, *kwargs.values())))
    return itself(result) if is_argument else result


def itself(tensor: Tensor) -> Tensor:
    """A tensor as it comes out of a function that has nothing to change of it."""
    own = _thread.own_tensors
    if own is None or own.is_left or tensor in own:
        return tensor
    seen = same_as(tensor, (ops.alias, ()))
    own.data[id(seen)] = seen, tensor
    return seen


def _is_own(target: Tensor) -> bool:
    """Whether a tensor, or what it is a view of, was given or made (a view that was given is enough), or no transform
    watches."""
    own, meta = _thread.own_tensors, target._mt_meta
    if own.is_left or target is own.out:
        return True
    if meta is None or meta.base is None:
        return target in own
    if target in own.given or meta.base in own:
        return True
    while meta is not None and id(meta) not in own.metas:
        meta = meta.parent
    return meta is not None


def _is_captured_data(target: Tensor) -> bool:
    """Whether a tensor is the data of one that the function of the transform around this one has captured."""
    counter, outer = target._mt_version, _thread.own_tensors.outer
    if type(counter) is not DataVersion or outer is None or outer.is_left:
        return False
    outside = counter.whole.counter
    return type(outside) is not LevelVersion or outside.depth != outer.depth


def is_written_unrecorded(entry: OpEntry, tensors: Sequence[Tensor]) -> bool:
    """Whether the forward of a custom Function writes to a tensor, which is one outside of all transforms to it."""
    return entry.is_inplace and is_unrecorded_in_a_function(tensors)


def is_unrecorded_in_a_function(tensors: Sequence[Tensor]) -> bool:
    """Whether the forward of a custom Function runs in a transform, and none of the tensors requires grad outside."""
    own = _thread.own_tensors
    return own is not None and own.is_left and not any([own.requires_grad_outside(each) for each in tensors])


def check_write(entry: OpEntry, target: Tensor, args: tuple) -> None:
    """Refuse an op that would write to a captured tensor or to a view of one.

    What a `vmap` inside of the transform refuses, its kernel does, with an error of its own.
    """
    if (_is_own(target) and not _is_captured_data(target)) or writes_samples_to_one(entry, args):
        return
    if _fits(entry, args):  # else the op has its own error
        raise _captured_write(entry.name)


def check_detach(target: Tensor) -> None:
    """Refuse to take a captured tensor out of its graph."""
    if _thread.own_tensors is not None and not _is_own(target):
        raise _captured_write("detach_")


def _captured_write(op: str) -> RuntimeError:
    return RuntimeError(
        "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation "
        f"(aten::{op}) that would mutate a captured Tensor. This is not supported; please rewrite the function being "
        "transformed to explicitly accept the mutated Tensor(s) as inputs."
    )


def _fits(entry: OpEntry, args: tuple) -> bool:
    if entry.takes_numbers:
        args = tuple([value for value in args if type(value) not in NUMBERS])
    args = tuple([_without_gaps(value) for value in args])
    return any(fits_by_position(each, args) for each in entry.overloads)


def _without_gaps(value: Any) -> Any:
    """A list without None: indices as ops are given them, which those of programs may not have."""
    return [each for each in value if each is not None] if isinstance(value, (list, tuple)) else value
