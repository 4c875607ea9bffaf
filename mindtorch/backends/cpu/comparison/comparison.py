"""Kernels of comparisons and of questions about single elements."""

from typing import Any

import numpy as np

from mindtorch._core.promotion import BOOL, COMPLEX, to_bool
from mindtorch.backends.cpu.common.computing import ALL_AND_UNSIGNED, REAL_NUMBERS, Op, loops_of_truth
from mindtorch.backends.cpu.common.elementwise import binary, predicate
from mindtorch.backends.cpu.common.unsupported_dtypes import (
    not_implemented,
)

REAL = (BOOL, *REAL_NUMBERS)


# -------------------- comparisons and truth --------------------


def _comparison(function: Any, name: str, supported: Any) -> Any:
    return binary(Op(loops_of_truth(function, supported), result_dtype=to_bool, unsupported=_no_order(name, supported)))


def _no_order(name: str, supported: Any) -> dict[Any, Any]:
    return not_implemented(f"{name}_cpu", *COMPLEX) if supported is REAL else {}


eq = _comparison(np.equal, "eq", ALL_AND_UNSIGNED)
ne = _comparison(np.not_equal, "ne", ALL_AND_UNSIGNED)
lt = _comparison(np.less, "lt", REAL)
le = _comparison(np.less_equal, "le", REAL)
gt = _comparison(np.greater, "gt", REAL)
ge = _comparison(np.greater_equal, "ge", REAL)


isnan = predicate(np.isnan, supported=ALL_AND_UNSIGNED)
isinf = predicate(np.isinf, supported=ALL_AND_UNSIGNED)
isfinite = predicate(np.isfinite)
