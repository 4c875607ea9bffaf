"""Kernels of the logical and bitwise ops."""

from typing import Any

import numpy as np

from mindtorch._core.promotion import BOOL, INTEGRAL, UNSIGNED, to_bool
from mindtorch.backends.cpu.common.computing import WHOLE_AND_UNSIGNED, Op, loops, loops_of_truth
from mindtorch.backends.cpu.common.elementwise import binary, predicate, unary
from mindtorch.backends.cpu.common.unsupported_dtypes import (
    ONLY_INTEGRAL,
    not_implemented,
)

INTEGERS = (BOOL, *INTEGRAL)


# -------------------- comparisons and truth --------------------
logical_not = predicate(np.logical_not)
logical_and = predicate(np.logical_and, binary)
logical_or = predicate(np.logical_or, binary)
logical_xor = binary(Op(loops_of_truth(np.logical_xor), result_dtype=to_bool))


def _bitwise(function: Any, name: str) -> Any:
    return binary(Op(loops(function, WHOLE_AND_UNSIGNED), unsupported=not_implemented(f"{name}_cpu", *ONLY_INTEGRAL)))


bitwise_not = unary(
    Op(loops(np.bitwise_not, INTEGERS), unsupported=not_implemented("bitwise_not_cpu", *ONLY_INTEGRAL, *UNSIGNED))
)
bitwise_and = _bitwise(np.bitwise_and, "bitwise_and")
bitwise_or = _bitwise(np.bitwise_or, "bitwise_or")
bitwise_xor = binary(
    Op(
        loops_of_truth(np.bitwise_xor, WHOLE_AND_UNSIGNED),
        unsupported=not_implemented("bitwise_xor_cpu", *ONLY_INTEGRAL),
    )
)
