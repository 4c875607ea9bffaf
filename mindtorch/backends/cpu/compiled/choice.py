"""Which loops an op has: NumPy's, or compiled ones from its first call on.

That is decided once, when one of its loops is first called, and holds as long as the process: what an op computes does
not change while a program runs. Until then nothing of llvmlite is imported.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from threading import Lock
from typing import Any

import numpy as np

from mindtorch._core.promotion import DOUBLE, FLOAT
from mindtorch._core.threads import parallel_for
from mindtorch._support.lazy import lazy
from mindtorch.backends.cpu.compiled import settings

loading = lazy("mindtorch.backends.cpu.compiled.loading")

Array = np.ndarray
Loop = Callable[..., Any]
Step = Callable[..., None]

IS_ON = settings.mode() != "0"  # there may be compiled loops: what is worth a look before a kernel is asked for one
_COMPILED = (FLOAT, DOUBLE)
_lock = Lock()
_numpy_loops: dict[str, Mapping[np.dtype[Any], Loop]] = {}
_others: list[str] = []
_decisions: dict[str, bool] = {}


def compiled(name: str, loops: Mapping[np.dtype[Any], Loop]) -> dict[np.dtype[Any], Loop]:
    """The loops of an op, of which those for float32 and float64 are the expression of this name, if it is compiled."""
    _numpy_loops[name] = loops
    found = dict(loops)
    if IS_ON:
        Undecided(name, found)
    return found


class Undecided:
    """Stands for two loops until one of them is called."""

    def __init__(self, name: str, loops: dict[np.dtype[Any], Loop]) -> None:
        self._name, self._loops = name, loops
        self._of_numpy = {dtype: loops[dtype] for dtype in _COMPILED}
        loops.update(dict.fromkeys(self._of_numpy, self))

    def decide(self) -> None:
        with _lock:
            if self._loops[FLOAT] is self:
                self._loops.update(self._chosen())

    def _chosen(self) -> dict[np.dtype[Any], Loop]:
        found = _found(self._name)
        return self._of_numpy if found is None else dict.fromkeys(self._of_numpy, found)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.decide()
        dtype = next(each.dtype for each in args if each.dtype in _COMPILED)  # the first may be a mask
        return self._loops[dtype](*args, **kwargs)


class CompiledLoop:
    """The compiled loop of this name, about which the first call decides."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop: Loop | None = None
        self._is_decided = not IS_ON
        _others.append(name)

    def get(self) -> Loop | None:
        """It, if it is compiled."""
        if not self._is_decided:
            self._decide()
        return self._loop

    def _decide(self) -> None:
        with _lock:
            if not self._is_decided:
                self._loop = _found(self._name)
                self._is_decided = True


class RowLoop(CompiledLoop):
    """The compiled kernel for rows of this name."""

    def of(self, *arrays: Array) -> Loop | None:
        """It, if it is compiled and these arrays are all of float32 or all of float64."""
        loop, dtype = self.get(), arrays[0].dtype
        if loop is None or dtype not in _COMPILED or any([each.dtype is not dtype for each in arrays]):
            return None
        return loop


def compiled_rows(name: str) -> Callable[[Step], Step]:
    """Of a step that writes the result for each row along an axis: it does so where there is no compiled kernel."""

    def decorate(step: Step) -> Step:
        rows = RowLoop(name)

        @wraps(step)
        def run(out: Array, *arrays: Array, axis: int, **options: Any) -> None:
            loop = None if options else rows.of(out, *arrays)
            if loop is None:
                step(out, *arrays, axis=axis, **options)
            else:
                _call_in_parts(loop, (*arrays, out), axis)

        return run if IS_ON else step

    return decorate


_MANY = 1 << 18  # elements of which a part is worth a thread
_PART = 1 << 17


def _call_in_parts(loop: Loop, arrays: tuple[Array, ...], axis: int) -> None:
    """Calls a kernel for rows along an axis of arrays of one shape, the rows shared out to threads if they are many."""
    shape, dims = arrays[0].shape, arrays[0].ndim
    if arrays[0].size < _MANY or dims < 2:
        loop(*arrays, axis=axis)
        return
    widest = max([dim for dim in range(dims) if dim != axis % dims], key=shape.__getitem__)

    def of_part(begin: int, end: int) -> None:
        part = (*[slice(None)] * widest, slice(begin, end))
        loop(*[each[part] for each in arrays], axis=axis)

    parallel_for(0, shape[widest], grain_of(arrays[0], widest), of_part)


def grain_of(array: Array, dim: int) -> int:
    """How many places along a dimension a part for a thread has at least."""
    return max(1, _PART * array.shape[dim] // max(array.size, 1))


def _found(name: str) -> Loop | None:
    found: Loop | None = loading.find(name) if settings.is_on() else None
    _decisions[name] = found is not None
    return found


def decide(loops: Mapping[np.dtype[Any], Loop]) -> None:
    """Decides about the loops of an op before one is called."""
    loop = loops.get(FLOAT)
    if type(loop) is Undecided:
        loop.decide()


def is_undecided(loops: Mapping[np.dtype[Any], Loop]) -> bool:
    return type(loops.get(FLOAT)) is Undecided


def numpy_loops() -> dict[str, Mapping[np.dtype[Any], Loop]]:
    """What the expressions are compared with: NumPy's loops, of the modules of kernels that were imported."""
    return dict(_numpy_loops)


def others() -> list[str]:
    """The row kernels and conversions that modules, as far as they were imported, ask for."""
    return sorted(_others)


def decisions() -> dict[str, bool]:
    """The expressions that were asked for, and whether each is compiled."""
    return dict(_decisions)
