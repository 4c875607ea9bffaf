"""Whether the CPU takes the dtypes, numbers and dimensions of a call that another backend gets.

Rules of shapes do not know which dtypes an op refuses, and few look at the dimensions that it works along; a device
would compute something of them. So the CPU's kernel is asked once for each kind of call: pointwise ops with arrays of
one element, others with small arrays of zeros. What it refuses is refused, if dtypes, numbers or dimensions are to
blame, or memory that stands for several elements: the same call has to be right with others.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import permutations
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from mindtorch._core.device import CPU
from mindtorch._core.device import device as Device
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.promotion import BFLOAT16, BOOL, FLOAT, HALF, INT64
from mindtorch.backends.device_array import DeviceArray
from mindtorch.dispatch.registry import OpEntry, find_op, kernel_table
from mindtorch.iterator.overlap import is_expanded

_MANY = 4096
_LARGE = 4096  # elements of all arrays together, from which on smaller ones stand for them
_SMALL = 4  # sizes that are kept
_NUMBERS = (bool, int, float, complex)
_WORDS = (*_NUMBERS, str, type(None), Dtype)
_REFUSALS = (RuntimeError, TypeError, ValueError, IndexError, OverflowError)
_OTHERS = (FLOAT, INT64, BOOL)  # the dtypes that are tried in the place of one that is refused


class Trials:
    """The calls that a backend has asked about, and that are right."""

    def __init__(self, with_numbers: bool, shared: Callable[[Any, Any], int] | None, with_kernels: bool) -> None:
        """`with_numbers`: what a Scalar argument is counts, too; otherwise only of which type it is. `shared`: how what
        is written to shares memory with an argument (0: not at all, 1: they are the same); None: memory does not
        count, nor whether it stands for several elements. `with_kernels`: whether it counts that the CPU has no kernel
        for the dtypes; halves are not asked about, which are for devices."""
        self._with_numbers = with_numbers
        self._shared = shared
        self._with_kernels = with_kernels
        self._right: set[tuple] = set()

    def check(self, op: str, args: Sequence[Any], out: Any = None) -> None:
        """Raises torch's error for a call that the CPU refuses, whatever the shapes are."""
        form = _form_of(op)
        if form is None or form.count != len(args):
            return
        if not self._with_numbers and form.scalars:
            args = [
                _one(value) if place in form.scalars and not _is_huge(value) else value
                for place, value in enumerate(args)
            ]
        expanded = self._shared is not None and _has_expanded(out)
        places = self._places_of(out, args)
        ndims = [len(array.shape) for array in _arrays(args)] if form.dims else ()
        key = (op, *map(_kind_of, args), _kind_of(out), expanded, *ndims, *places)
        if None in key or key in self._right:
            return
        with_shapes = (*key, *[array.shape for array in _arrays(args)])
        if with_shapes in self._right:
            return
        is_right = True
        try:
            is_right = form.trial(args, out, expanded, places, self._shared is not None)
        except NotImplementedError:
            if self._with_kernels and not _has_halves(args):
                raise
        if len(self._right) >= _MANY:
            self._right.clear()
        self._right.add(key if is_right else with_shapes)  # of other shapes it is asked again

    def _places_of(self, out: Any, args: Sequence[Any]) -> list[int]:
        """How each argument shares memory with what is written to."""
        if out is None or self._shared is None:
            return [int(out is not None and value is out) for value in args]
        return [self._shared(out, value) for value in args]


def _one(value: Any) -> Any:
    """What stands for a number of a type."""
    if type(value) not in _NUMBERS:
        return value
    return type(value)(-1 if type(value) is not complex and value < 0 else 1)


def _is_huge(value: Any) -> bool:
    """Whether no dtype of integers has room for a number."""
    return type(value) is int and abs(value) >= 1 << 63


def _kind_of(value: Any) -> Any:
    """What counts of an argument; None if nothing can be tried with it."""
    if isinstance(value, (DeviceArray, np.ndarray)):
        return value.dtype, bool(value.shape), 0 in value.shape  # where nothing is computed, less is refused
    if type(value) in _WORDS:
        return type(value), value
    if isinstance(value, (list, tuple)):
        kinds = tuple(map(_kind_of, value))
        return None if None in kinds else kinds
    return Device if isinstance(value, Device) else None


@cache
def _form_of(op: str) -> "_Pointwise | _Other | None":
    """How calls of an op are tried; None if they cannot be: random numbers would be drawn, or only views made."""
    entry = find_op(op) if op else None
    if entry is None or entry.composite or entry.view or "nondeterministic_seeded" in entry.tags:
        return None
    if any(each.element == "Generator" for each in entry.schema.arguments):
        return None
    return (_Pointwise if entry.elementwise or "pointwise" in entry.tags else _Other)(entry)


class _Form:
    """An op, and how the CPU is asked about it."""

    def __init__(self, entry: OpEntry) -> None:
        self.op = entry.name
        arguments = [each for each in entry.schema.arguments if not (each.keyword_only and each.written)]
        self.count = len(arguments)
        self.scalars = frozenset(place for place, each in enumerate(arguments) if each.element == "Scalar")
        self.dims = tuple(place for place, each in enumerate(arguments) if each.is_dim)

    @property
    def kernel(self) -> Callable:
        return kernel_table(self.op)[np.ndarray]


class _Pointwise(_Form):
    """One element says what many do, but for memory that stands for several."""

    def trial(self, args: Sequence[Any], out: Any, expanded: bool, places: Sequence[int], with_memory: bool) -> bool:
        # What `out` is resized to is not a matter of dtypes and numbers, so it has the result's shape here.
        dims = max((len(array.shape) for array in _arrays(args)), default=0)
        target = None if out is None else _mapped(out, partial(_small_target, dims, expanded))
        operands = [target if value is out and out is not None else _single(value) for value in args]
        first = type(operands[0]) if type(operands[0]) in _NUMBERS else np.ndarray
        kernel_table(self.op)[first](*operands, **({} if target is None else {"out": target}))
        return True


def _small_target(dims: int, expanded: bool, out: Any) -> np.ndarray:
    return _target((1 + expanded,) * max(dims, expanded), out.dtype, expanded)


def _single(value: Any) -> Any:
    return _mapped(value, lambda array: np.ones((1,) * len(array.shape), array.dtype))


def _target(shape: Sequence[int], dtype: np.dtype, expanded: bool) -> np.ndarray:
    """An array to write to, of ones; `expanded`: in the memory of one element."""
    return as_strided(np.ones(1, dtype), shape, (0,) * len(shape)) if expanded else np.ones(shape, dtype)


@dataclass
class _Call:
    """A call on the CPU: the arguments with arrays of the right shapes, and the dtypes of these.

    `written`: which argument is `out`, too. `outs`: otherwise, the dtypes of what is written to. `shared`: which other
    arguments are in the memory that is written to. `expanded`: whether that is the memory of one element.
    `with_memory`: whether memory is asked about.
    """

    given: list[Any]
    dtypes: list[Any]
    written: int | None
    outs: list[Any] | None
    shared: list[int]
    expanded: bool
    with_memory: bool

    def run(self, kernel: Callable) -> None:
        rest = iter(self.dtypes)
        operands = [_mapped(value, lambda array: np.zeros(array.shape, next(rest))) for value in self.given]
        if self.written is not None:
            if self.expanded:
                own = operands[self.written]
                operands[self.written] = _target(own.shape, own.dtype, True)
            for place in self.shared:
                operands[place] = _in_memory_of(operands[self.written], operands[place])
            kernel(*operands, out=operands[self.written])
            return
        result = kernel(*operands)
        if self.outs is not None:
            results = result if isinstance(result, (list, tuple)) else (result,)
            targets = [_target(np.shape(each), dtype, self.expanded) for each, dtype in zip(results, self.outs)]
            kernel(*operands, out=tuple(targets) if isinstance(result, (list, tuple)) else targets[0])

    def others(self, scalars: Collection[int], dims: Sequence[int]) -> Iterator["_Call"]:
        """The same call with other numbers, dimensions or dtypes, or where nothing written stands for several."""
        for given in _along_others(self.given, dims):
            yield replace(self, given=given)
        ones = [_one(value) if place in scalars else value for place, value in enumerate(self.given)]
        yield replace(self, expanded=False)
        yield replace(self, expanded=False, shared=[])
        if self.with_memory and self.written is not None:
            yield replace(self, expanded=False, shared=[], written=None, outs=[self.given[self.written].dtype])
        yield replace(self, given=ones)
        for dtypes in _other_dtypes(self.dtypes):
            yield replace(self, dtypes=dtypes, outs=None, expanded=False)
            yield replace(self, dtypes=dtypes, outs=None, expanded=False, given=ones)


def _in_memory_of(target: np.ndarray, array: np.ndarray) -> np.ndarray:
    """An array that begins where another one does, and has no more elements than there is room for."""
    fits = array.nbytes <= target.nbytes and target.flags.c_contiguous
    return np.ndarray(array.shape, array.dtype, target) if fits else target


class _Other(_Form):
    """What is wrong may be the shapes, which are not asked about, or the zeros."""

    def trial(self, args: Sequence[Any], out: Any, expanded: bool, places: Sequence[int], with_memory: bool) -> bool:
        sizes = _smaller_sizes(args)
        given = [_resized(value, sizes) for value in args]
        written = places.index(1) if 1 in places else None
        shared = [place for place, how in enumerate(places) if how and place != written] if written is not None else []
        outs = None if out is None or written is not None else [each.dtype for each in _arrays([out])]
        call = _Call(given, [array.dtype for array in _arrays(given)], written, outs, shared, expanded, with_memory)
        try:
            call.run(self.kernel)
        except NotImplementedError:
            raise
        except _REFUSALS:
            if any(self._is_right(other) for other in call.others(self.scalars, self.dims)):
                raise
            return False
        return True

    def _is_right(self, call: _Call) -> bool:
        try:
            call.run(self.kernel)
        except _REFUSALS:
            return False
        return True


def _along_others(given: Sequence[Any], places: Sequence[int]) -> Iterator[list[Any]]:
    """The arguments of a call with other dimensions: single ones are all that there are, several the first or none."""
    single = [place for place in places if isinstance(given[place], int)]
    several = [place for place in places if isinstance(given[place], (list, tuple))]
    most = max((len(array.shape) for array in _arrays(given)), default=0) + 1
    for dims in permutations(range(most), len(single)) if single else ():
        changed = list(given)
        for place, dim in zip(single, dims):
            changed[place] = dim
        yield changed
    for place in several:
        for taken in range(len(given[place])), range(0):
            yield [*given[:place], type(given[place])(taken), *given[place + 1 :]]


def _other_dtypes(dtypes: list) -> Iterator[list]:
    """Dtypes with which the call may be right: the same one for all, or another one for one array."""
    yield dtypes
    if dtypes:
        yield [FLOAT if dtype.kind in "fcV" else INT64 if dtype.kind in "iu" else dtype for dtype in dtypes]
    for wanted in dict.fromkeys((*_OTHERS, *dtypes[:1])):
        yield [wanted] * len(dtypes)
        for place in range(len(dtypes)):
            yield [*dtypes[:place], wanted, *dtypes[place + 1 :]]


# -------------------- arguments --------------------


def _arrays(values: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if isinstance(value, (DeviceArray, np.ndarray)):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += _arrays(value)
    return found


def _has_halves(values: Sequence[Any]) -> bool:
    dtypes = [array.dtype for array in _arrays(values)]
    return (HALF in dtypes or BFLOAT16 in dtypes) and not any(dtype.kind == "c" for dtype in dtypes)


def _has_expanded(out: Any) -> bool:
    return out is not None and any(map(is_expanded, _arrays([out])))


def _mapped(value: Any, make: Callable[[Any], Any]) -> Any:
    """An argument with other arrays, on the CPU."""
    if isinstance(value, (DeviceArray, np.ndarray)):
        return make(value)
    if isinstance(value, (list, tuple)):
        return type(value)([_mapped(each, make) for each in value])
    return CPU if isinstance(value, Device) else value


def _smaller_sizes(args: Sequence[Any]) -> dict[int, int]:
    """By the size of a dimension that is too large for a trial, the one in its place; the order is kept."""
    arrays = _arrays(args)
    if sum(array.size for array in arrays) <= _LARGE:
        return {}
    sizes = sorted({size for array in arrays for size in array.shape if size > _SMALL})
    return {size: _SMALL + 1 + place for place, size in enumerate(sizes)}


def _resized(value: Any, sizes: dict[int, int]) -> Any:
    """An argument with other sizes, also where they are numbers."""
    if isinstance(value, (DeviceArray, np.ndarray)):
        return np.broadcast_to(np.zeros((), value.dtype), [sizes.get(size, size) for size in value.shape])
    if isinstance(value, (list, tuple)):
        return type(value)([_resized(each, sizes) for each in value])
    return sizes.get(value, value) if type(value) is int else value
