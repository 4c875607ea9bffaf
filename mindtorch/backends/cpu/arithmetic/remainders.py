"""Kernels of remainders and divisors."""

import numpy as np

from mindtorch._core.promotion import (
    BOOL,
    COMPLEX,
    INTEGRAL,
)
from mindtorch.backends.cpu.common import arithmetic, paired, parts
from mindtorch.backends.cpu.common.computing import FLOATS, Op, loops
from mindtorch.backends.cpu.common.elementwise import binary
from mindtorch.backends.cpu.common.unsupported_dtypes import (
    ONLY_INTEGRAL,
    not_implemented,
)

# -------------------- remainders and divisors --------------------
fmod = binary(
    Op(
        loops(parts.remainder_of_integers, INTEGRAL) | loops(paired.fmod, FLOATS),
        unsupported=not_implemented("fmod_cpu", BOOL, *COMPLEX),
    )
)
gcd = binary(Op(loops(np.gcd, INTEGRAL), unsupported=not_implemented("gcd_cpu", BOOL, *ONLY_INTEGRAL)))
lcm = binary(
    Op(loops(arithmetic.least_common_multiple, INTEGRAL), unsupported=not_implemented("lcm_cpu", BOOL, *ONLY_INTEGRAL))
)
