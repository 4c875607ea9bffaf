"""Kernels of special functions that are SciPy's as they are: Bessel, incomplete gamma, zeta, normal distribution."""

from typing import Any

import numpy as np

from mindtorch.backends.cpu.arithmetic import copy
from mindtorch.backends.cpu.computing import FLOATS, Op, loops
from mindtorch.backends.cpu.elementwise import binary, unary
from mindtorch.backends.cpu.refusals import ONLY_FLOATING, not_implemented
from mindtorch.lazy import lazy
from mindtorch.promotion import BFLOAT16, COMPLEX, HALF, int_to_float

scipy_special = lazy("scipy.special")

Array = np.ndarray

_NARROW = (HALF, BFLOAT16)


def _by_scipy(name: str) -> Any:
    """The function of SciPy with that name, which is loaded when it is called."""

    def computation(*arrays: Array, out: Array | None = None) -> Array:
        result = getattr(scipy_special, name)(*arrays)
        return result if out is None else copy(result, out)

    return computation


def _of_one(name: str, refusing_kernel: str, refused: Any = COMPLEX) -> Any:
    refusals = not_implemented(refusing_kernel, *refused)
    return unary(Op(loops(_by_scipy(name), FLOATS), int_to_float, refusals=refusals))


i0 = _of_one("i0", "i0_vml_cpu")
i0e = _of_one("i0e", "i0e_cpu")
i1 = _of_one("i1", "i1_cpu")
i1e = _of_one("i1e", "i1e_cpu")
entr = _of_one("entr", "entr_cpu")
erfcx = _of_one("erfcx", "erfcx_cpu", (*_NARROW, *COMPLEX))
ndtri = _of_one("ndtri", "ndtri_cpu", (*_NARROW, *COMPLEX))
log_ndtr = _of_one("log_ndtr", "log_ndtr_cpu", (*_NARROW, *COMPLEX))


def _xlog1py(x: Array, y: Array, out: Array | None = None) -> Array:
    """0 where x is 0, unless y is nan."""
    return np.multiply(x, np.where((x == 0) & ~np.isnan(y), x.dtype.type(0), np.log1p(y)), out=out)


xlog1py = binary(Op(loops(_xlog1py, FLOATS), int_to_float, refusals=not_implemented("xlog1py_cpu", *COMPLEX)))
zeta = binary(
    Op(
        loops(_by_scipy("zeta"), FLOATS),
        int_to_float,
        refusals=not_implemented("zeta_cpu", *_NARROW, *COMPLEX),
    )
)
igamma = binary(Op(loops(_by_scipy("gammainc"), FLOATS), refusals=not_implemented("igamma_cpu", *ONLY_FLOATING)))
igammac = binary(Op(loops(_by_scipy("gammaincc"), FLOATS), refusals=not_implemented("igammac_cpu", *ONLY_FLOATING)))
