"""Kernels of signs and infinities, and of the larger and the smaller of two numbers."""

from functools import partial
from typing import Any

import numpy as np

from mindtorch._core.promotion import (
    BOOL,
    COMPLEX,
    INTEGRAL,
    to_bool,
)
from mindtorch.backends.cpu.common import parts
from mindtorch.backends.cpu.common.computing import FLOATS, WHOLE_AND_UNSIGNED, Op, loops
from mindtorch.backends.cpu.common.elementwise import binary, unary
from mindtorch.backends.cpu.common.unsupported_dtypes import (
    raising,
    without_complex,
)

Array = np.ndarray


# -------------------- the larger and the smaller one --------------------
_INTEGERS = (BOOL, *INTEGRAL)
fmax = binary(
    Op(
        loops(np.fmax, _INTEGERS) | loops(parts.larger, FLOATS),
        unsupported=without_complex("fmax not implemented for complex tensors."),
    )
)
fmin = binary(
    Op(
        loops(np.fmin, _INTEGERS) | loops(parts.smaller, FLOATS),
        unsupported=without_complex("fmin not implemented for complex tensors."),
    )
)


# -------------------- signs and infinities --------------------


def _question(name: str, of_floats: Any, of_integers: Any, no_complex: Any) -> Any:
    """A kernel whose result, and whose `out`, is bool."""
    answer = unary(
        Op(
            loops(of_integers, WHOLE_AND_UNSIGNED) | loops(of_floats, FLOATS),
            result_dtype=to_bool,
            unsupported=no_complex,
        )
    )

    def kernel(input: Array, out: Array | None = None) -> Array:
        if out is not None and out.dtype != BOOL and input.dtype not in COMPLEX:
            raise RuntimeError(f"{name} does not support non-boolean outputs.")
        return answer(input, out)

    return kernel


signbit = _question(
    "signbit",
    parts.signbit,
    parts.is_negative,
    raising(NotImplementedError, "signbit is not implemented for complex tensors.", *COMPLEX),
)
isposinf = _question(
    "isposinf",
    partial(parts.equals, np.inf),
    parts.never,
    without_complex("isposinf does not support complex inputs."),
)
isneginf = _question(
    "isneginf",
    partial(parts.equals, -np.inf),
    parts.never,
    without_complex("isneginf does not support complex inputs."),
)
