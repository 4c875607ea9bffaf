"""From object code to a `np.ufunc`."""

import numpy as np

from mindtorch._core.promotion import DOUBLE, FLOAT
from mindtorch._support.lazy import lazy
from mindtorch.backends.cpu.compiled import background, cache, machine, scatters, settings
from mindtorch.backends.cpu.compiled.conversions import CONVERSIONS
from mindtorch.backends.cpu.compiled.expressions import expression
from mindtorch.backends.cpu.compiled.recurrences import RECURRENCES
from mindtorch.backends.cpu.compiled.row_kernels import ROW_KERNELS
from mindtorch.backends.cpu.compiled.ufuncs import ufunc

building = lazy("mindtorch.backends.cpu.compiled.building")

_DTYPES = (FLOAT, DOUBLE)
_BITS = np.dtype(np.uint16)
_INDEX = np.dtype(np.int64)
_BOOL = np.dtype(np.bool_)


def find(name: str) -> np.ufunc | None:
    """The loops that have this name. None where there are none yet: they are for the next run then."""
    code = cache.find(name)
    if code is None:
        if settings.mode() != "1":
            background.start()
            return None
        code = building.build(name)
        cache.store(name, code)
    return as_ufunc(name, code)


def as_ufunc(name: str, code: bytes) -> np.ufunc:
    if conversion := CONVERSIONS.get(name):
        engine, found = machine.addresses(code, [FLOAT.name])
        dtypes = (_BITS, FLOAT) if conversion.widens else (FLOAT, _BITS)
        return ufunc(name, [(dtypes, found[0])], engine)
    engine, found = machine.addresses(code, [dtype.name for dtype in _DTYPES])
    if name == scatters.ADD_ROWS:
        loops = [([_INDEX, dtype, dtype], address) for dtype, address in zip(_DTYPES, found)]
        return ufunc(name, loops, engine, scatters.SIGNATURE)
    if name in RECURRENCES:
        return ufunc(name, [([dtype] * 3, address) for dtype, address in zip(_DTYPES, found)], engine)
    kernel = ROW_KERNELS.get(name)
    masks = [*expression(name).are_masks, False] if kernel is None else [False] * len(kernel.arguments)
    loops = [([_BOOL if each else dtype for each in masks], address) for dtype, address in zip(_DTYPES, found)]
    return ufunc(name, loops, engine, None if kernel is None else kernel.signature)
