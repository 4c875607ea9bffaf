"""Kernels of shifts of bits."""

from typing import Any

import numpy as np

from mindtorch._core.promotion import (
    BOOL,
    INTEGRAL,
)
from mindtorch.backends.cpu.common.computing import Op, loops
from mindtorch.backends.cpu.common.elementwise import binary
from mindtorch.backends.cpu.common.unsupported_dtypes import (
    ONLY_INTEGRAL,
    not_implemented,
)

# -------------------- bits --------------------


def _shift(function: Any, name: str) -> Any:
    return binary(Op(loops(function, INTEGRAL), unsupported=not_implemented(f"{name}_cpu", BOOL, *ONLY_INTEGRAL)))


bitwise_left_shift = _shift(np.left_shift, "lshift")
bitwise_right_shift = _shift(np.right_shift, "rshift")
