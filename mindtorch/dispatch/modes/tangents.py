"""The tangents of tensors, by level of forward AD.

Note [Levels]: `thread.dual_levels` are the levels that are open, outermost first, and `thread.dual_level` is the number
of the innermost that ops look at: all of them, as a rule. While an op's forward formula for a level runs, ops look at
the levels outside of it only (`inside_of`): the formula sees the values of that level, one level cannot leak into
another, and the derivative of a derivative comes out by itself.

Note [Missing tangents]: a tensor without a tangent has one of zeros, which are neither allocated nor computed with.
In formulas it is ZERO where it only takes part in arithmetic, else a single zero that is expanded.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from typing import Any
from weakref import WeakSet

from mindtorch._core import state
from mindtorch._core.autograd_meta import AutogradMeta, takes_part
from mindtorch._core.batched_array import BatchedArray, levels_of
from mindtorch._core.dtype import bool as boolean
from mindtorch._core.geometry import may_overlap
from mindtorch._core.layout import strided
from mindtorch._core.tensor import Tensor, autograd_meta, wrap
from mindtorch._support import errors
from mindtorch.dispatch.modes.captures import leaving_watch
from mindtorch.dispatch.modes.level_views import is_of_argument
from mindtorch.dispatch.modes.view_recipe import ViewRecipe
from mindtorch.dispatch.namespace import ops

_thread = state.thread


class Tangents:
    """The tangents of one tensor, by level. An output that its node keeps shares them with the output itself."""

    __slots__ = ("by_level", "__weakref__")

    def __init__(self) -> None:
        self.by_level: dict[Level, Tensor | None] = {}  # None: a view that has none, whatever its base has


class Level:
    """A level of forward AD. It knows which tensors have a tangent in it, so that they lose it when it ends.

    `depth`: how many transforms run, the one that began it included; 0 for a program's own level.
    """

    def __init__(self) -> None:
        self.depth = 0
        self._holders: WeakSet[Tangents] = WeakSet()

    def put(self, tangents: Tangents, tangent: Tensor | None) -> None:
        tangents.by_level[self] = tangent
        self._holders.add(tangents)

    def end(self) -> None:
        for tangents in self._holders:
            tangents.by_level.pop(self, None)


# -------------------- levels of this thread --------------------


def active_level(number: int | None = None) -> Level | None:
    """The innermost level that ops look at, or the one with a number; None if it is not open."""
    number = _thread.dual_level if number is None else number
    return _thread.dual_levels[number] if 0 <= number < len(_thread.dual_levels) else None


@contextmanager
def inside_of(number: int) -> Iterator[None]:
    """In this block ops look at the levels outside of the one with that number only. See Note [Levels]."""
    before = _thread.dual_level
    _thread.dual_level = number - 1
    try:
        yield
    finally:
        _thread.dual_level = before


def at_all_levels() -> Any:
    """In this block ops look at all levels that are open."""
    return inside_of(len(_thread.dual_levels))


def without_forward_ad() -> Any:
    """In this block tensors are treated as if they had no tangents."""
    return inside_of(0)


# -------------------- tangents --------------------


def tangent_of(tensor: Any, number: int | None = None) -> Tensor | None:
    """The tensor's tangent at the innermost level, or at the one with a number."""
    meta = tensor._mt_meta if isinstance(tensor, Tensor) else None
    level = None if meta is None else active_level(number)
    if meta is None or level is None:
        return None
    return _tangent_at(tensor, meta, level)


def _tangent_at(tensor: Tensor, meta: AutogradMeta, level: Level) -> Tensor | None:
    if meta.tangents is not None and level in meta.tangents.by_level:
        return meta.tangents.by_level[level]
    return None if meta.base is None else _tangent_of_view(tensor, meta, level)


def _tangent_of_view(view: Tensor, meta: Any, level: Level) -> Tensor | None:
    """The tangent of a view that was given none: the same view of the tangent that what it is a view of has, as it was
    taken where no formula ran, or as its base was written since."""
    parent = meta.parent
    while parent is not None and (parent.tangents is None or level not in parent.tangents.by_level):
        parent = parent.parent
    if parent is not None:
        source = geometry = parent.tangents.by_level[level]  # which lies in memory as the tensor does
    else:
        geometry, base_meta = meta.base, meta.base._mt_meta
        source = None if base_meta is None else _tangent_at(geometry, base_meta, level)
    if source is None:
        return None
    tangent = ViewRecipe(view, geometry, parent)(source)
    level.put(holder_of(view), tangent)
    return tangent


def holder_of(tensor: Tensor) -> Tangents:
    """Where the tangents of a tensor are kept."""
    meta = autograd_meta(tensor)
    if meta.tangents is None:
        meta.tangents = Tangents()
    return meta.tangents


def set_tangent(tensor: Tensor, tangent: Tensor, number: int | None = None) -> None:
    """Give the tensor a tangent at the innermost level, or at the one with a number: this one, if it lies in memory as
    the tensor does, else a copy."""
    level = active_level(number)
    assert level is not None
    if tangent.shape != tensor.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(tensor.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}."
        )
    with inside_of(_thread.dual_levels.index(level)):
        level.put(holder_of(tensor), tangent if _lie_alike(tangent, tensor) else _laid_out_like(tangent, tensor))


def drop_tangent(tensor: Tensor, depth: int) -> bool:
    """Take the tangent of the transform at that depth, or of the program's own level; whether there is such a level."""
    levels = [level for level in _thread.dual_levels if level.depth == depth]
    for level in levels:
        level.put(holder_of(tensor), None)
    return bool(levels)


def give_outer_tangents(alias: Tensor, tensor: Tensor, depth: int) -> None:
    """Give a tensor on the memory of another one the tangents which that has in transforms around the one at a depth:
    they are shared, as the memory is."""
    for number, level in enumerate(_thread.dual_levels):
        if 0 < level.depth < depth:
            tangent = tangent_of(tensor, number)
            if tangent is not None:
                level.put(holder_of(alias), tangent)


def keep_without_tangent(view: Tensor, number: int) -> None:
    """Say that a view has no tangent at a level, although its base has one there."""
    _thread.dual_levels[number].put(holder_of(view), None)


def write_tangent(tensor: Tensor, tangent: Tensor) -> None:
    """Write the tangent of a tensor that was written in place, and with it those of the base and its other views."""
    old = tangent_of(tensor)
    base = tensor._mt_meta.base if tensor._mt_meta is not None else None
    if old is None and base is not None:
        set_tangent(base, _zeros_on(base, tangent))
        old = tangent_of(tensor)
    if old is None or _is_other_view(old, tangent, tensor):
        set_tangent(tensor, tangent)
    else:
        with inside_of(_thread.dual_level), leaving_watch():  # who may write the tensor may write its tangent
            old.copy_(tangent)


def _zeros_on(base: Tensor, tangent: Any) -> Tensor:
    """Zeros for a tensor without a tangent of which a view was written. They are made where they are to lie: a copy
    could not be written to an expanded tensor, of which the view may be a part that is not."""
    with inside_of(_thread.dual_level):
        zeros = tangent.new_zeros(base.shape)
        return zeros if _lie_alike(zeros, base) else _room_for(tangent, base)


def _is_other_view(old: Tensor, tangent: Tensor, tensor: Tensor) -> bool:
    """Whether the tensor looks at its memory in another way now (`t_`), as the new tangent does. A new tangent on the
    memory of the old one may also be that of what was written (`x[2].copy_(x[0])`)."""
    return old.shape != tangent.shape or (
        old.stride() != tensor.stride()
        and tangent._base is not None
        and (tangent._base is old or tangent._base is old._base)
    )


def _lie_alike(tangent: Any, tensor: Any) -> bool:
    """Whether a view of the tensor can be taken of the tangent, too."""
    if tensor.layout is not strided or tangent.layout is not strided:
        return True
    if tangent.storage_offset() != tensor.storage_offset():
        return False
    pairs = zip(tangent.shape, tangent.stride(), tensor.stride())
    if _is_in_vmap(tensor, tangent):  # views go by the strides of one sample
        is_made = type(tensor._mt_array) is BatchedArray and not is_of_argument(tensor)
        # its strides of 0 a batching rule may have made
        return all(own == other or (is_made and other == 0) for size, own, other in pairs if size > 1)
    is_alike = all(own == other for size, own, other in pairs if size > 1)
    return is_alike and _elements_in_storage(tangent) == _elements_in_storage(tensor)


def _is_in_vmap(*tensors: Any) -> bool:
    return any(type(tensor._mt_array) is BatchedArray for tensor in tensors)


def _elements_in_storage(tensor: Any) -> int:
    return tensor.untyped_storage().nbytes() // tensor.element_size()


def _laid_out_like(tangent: Any, tensor: Any) -> Tensor:
    laid_out = _room_for(tangent, tensor).copy_(tangent)
    if may_overlap(tensor.shape, tensor.stride()) and not tensor.is_meta and _differ(laid_out, tangent):
        raise errors.element_shared()  # by windows, of which PyTorch does not know
    return laid_out


def _differ(left: Tensor, right: Any) -> bool:
    """Whether any numbers of two tensors, or of their samples, differ."""
    array = ((left != right) & ((left == left) | (right == right)))._mt_array
    while type(array) is BatchedArray:
        array = array.inner
    return bool(array.any())


def _room_for(tangent: Any, tensor: Any) -> Tensor:
    """Zeros that lie in memory as the tensor does, with all levels of `vmap` that its tangent has."""
    levels, own = (levels_of(each._mt_array.shape) for each in (tangent, tensor))
    further = [level for level in levels if level not in own]
    if own and further and further[0].number < own[-1].number:  # which no room can be made for on the inside
        return tangent.new_empty_strided(tensor.shape, tensor.stride()).zero_()
    return _room_like(tensor._mt_array, tangent, further)


def _room_like(array: Any, tangent: Any, further: list[Any]) -> Tensor:
    """A tensor of zeros on memory of its own, which lies there as an array does in its own memory: once, or for each
    sample of further levels inside of those of the array."""
    batched = []
    while type(array) is BatchedArray:
        batched.append(array)
        array = array.inner
    room: Any = _room(wrap(array), tangent, [level.size for level in reversed(further)])
    for each in reversed(batched):
        room = BatchedArray(room, each.bdim + len(further), each.level)  # type: ignore[operator]
    for place, level in enumerate(further):
        room = BatchedArray(room, len(further) - 1 - place, level)
    return wrap(room)


def _room(like: Any, tangent: Any, sizes: list[int]) -> Any:
    """An array with room for as many tensors as given sizes say."""
    elements = _elements_in_storage(like)
    storage = ops.zeros((elements * prod(sizes),), dtype=like.dtype, device=tangent.device)
    outer = [elements * prod(sizes[place + 1 :]) for place in range(len(sizes))]
    shape, strides = (*sizes, *like.shape), (*outer, *like.stride())
    return ops.as_strided(storage, shape, strides, like.storage_offset())._mt_array


# -------------------- missing tangents --------------------


class Zero(int):
    """A tangent of zeros in arithmetic: products with it are zero even if the other factor is infinite."""

    def __add__(self, other: Any) -> Any:
        return other

    def __sub__(self, other: Any) -> Any:
        return -other

    def __mul__(self, other: Any) -> Any:
        return _zero_product(other) if _is_recorded(other) else self

    def __neg__(self) -> "Zero":
        return self

    __radd__ = __add__
    __rmul__ = __truediv__ = __mul__


class ZeroProduct(Tensor):
    """The product of such a tangent with factors that are recorded. What it is added to depends on them, although their
    gradients are zero: a tangent requires grad if a factor of one of its terms does.

    How it depends on them is up to autograd (mindtorch/autograd/_engine/zero_ways.py), which is a layer above.

    It is a tensor without an array, of a class of its own so that Python asks it first, also where it is on the right.
    """

    __slots__ = ("_factors",)

    _factors: tuple

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Zero):
            return self
        if isinstance(other, ZeroProduct):
            return _zero_product(*self._factors, *other._factors)
        true = ops.ones((), dtype=boolean, device=other.device)
        for factor in self._factors:
            other = _depend(ops.where(true, other, factor.detach()), factor)
        return other

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return self + other

    def __mul__(self, other: Any) -> Any:
        return _zero_product(*self._factors, other) if _is_recorded(other) else self

    def __neg__(self) -> Any:
        return self

    __radd__ = __add__
    __rmul__ = __truediv__ = __mul__


def _zero_product(*factors: Any) -> ZeroProduct:
    product = object.__new__(ZeroProduct)  # which no transform has to know of
    product._factors = factors
    return product


def _is_recorded(factor: Any) -> bool:
    return _thread.grad_enabled and isinstance(factor, Tensor) and takes_part(factor)


ZERO = Zero()


def depend_with(function: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Say what makes a new tangent depend on a factor of a term that is zero."""
    global _depend
    _depend = function


_depend: Callable[[Tensor, Tensor], Tensor]


def zeros_for(tensor: Any) -> Any:
    """A tangent of zeros for a tensor, which takes the memory of one element; for a number, a number. None for None."""
    if not isinstance(tensor, Tensor):
        return None if tensor is None else ZERO
    return ops.zeros((), dtype=tensor.dtype, device=tensor.device).expand(tensor.shape)
