"""From object code to a `np.ufunc`."""

import numpy as np

from mindtorch._core.promotion import DOUBLE, FLOAT
from mindtorch._support.lazy import lazy
from mindtorch.backends.cpu.compiled import background, cache, machine, settings
from mindtorch.backends.cpu.compiled.expressions import expression
from mindtorch.backends.cpu.compiled.row_kernels import ROW_KERNELS
from mindtorch.backends.cpu.compiled.ufuncs import ufunc

building = lazy("mindtorch.backends.cpu.compiled.building")

_DTYPES = (FLOAT, DOUBLE)


def find(name: str) -> np.ufunc | None:
    """The loops of an expression or row kernel. None where there are none yet: they are for the next run then."""
    code = cache.find(name)
    if code is None:
        if settings.mode() != "1":
            background.start()
            return None
        code = building.build(name)
        cache.store(name, code)
    return as_ufunc(name, code)


def as_ufunc(name: str, code: bytes) -> np.ufunc:
    engine, found = machine.addresses(code, [dtype.name for dtype in _DTYPES])
    loops = list(zip(_DTYPES, found))
    if kernel := ROW_KERNELS.get(name):
        return ufunc(name, loops, kernel.operands, engine, kernel.signature)
    return ufunc(name, loops, len(expression(name).operands), engine)
