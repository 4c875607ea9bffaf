"""Kernels of signs and absolute values."""

import numpy as np

from mindtorch._core.promotion import BFLOAT16, BOOL, COMPLEX, HALF, INTEGRAL, real_of
from mindtorch._core.strided import empty_like
from mindtorch.backends.cpu.common import arithmetic, halves
from mindtorch.backends.cpu.common.casting import row_major
from mindtorch.backends.cpu.common.computing import FLOATS, REAL_NUMBERS, Op, loops
from mindtorch.backends.cpu.common.elementwise import is_plain, unary
from mindtorch.backends.cpu.common.unsupported_dtypes import (
    BOOL_NEGATED,
    not_implemented,
    raising,
)
from mindtorch.backends.cpu.compiled.choice import compiled

Array = np.ndarray


# -------------------- signs and parts --------------------
neg = unary(
    Op(
        loops(arithmetic.negative, REAL_NUMBERS)
        | loops(arithmetic.negative_of_complex, COMPLEX)
        | loops(halves.negative, (HALF, BFLOAT16)),
        unsupported=raising(RuntimeError, BOOL_NEGATED, BOOL),
    )
)
_abs = unary(
    Op(
        loops(np.absolute, REAL_NUMBERS) | loops(halves.absolute, (HALF, BFLOAT16)),
        unsupported=not_implemented("abs_cpu", BOOL),
    )
)
_abs_of_complex = unary(Op(loops(np.absolute, COMPLEX), result_dtype=real_of))
sign = unary(
    Op(
        compiled("sign", loops(arithmetic.copy, (BOOL,)) | loops(np.sign, INTEGRAL) | loops(arithmetic.sign, FLOATS)),
        unsupported=raising(
            NotImplementedError,
            "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.",
            *COMPLEX,
        ),
    )
)
_sgn_of_complex = unary(Op(loops(arithmetic.sign_of_complex, COMPLEX)))


def sgn(input: Array, out: Array | None = None) -> Array:
    return (_sgn_of_complex if input.dtype in COMPLEX else sign)(input, out)


def abs(input: Array, out: Array | None = None) -> Array:
    if input.dtype not in COMPLEX:
        return _abs(input, out)
    if out is input:
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    if out is None:
        return _abs_of_complex(input, None if is_plain(input) else empty_like(input, real_of(input.dtype)))
    return _abs_of_complex(input, row_major(out, input.shape))
