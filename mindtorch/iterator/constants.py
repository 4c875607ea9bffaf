"""Python numbers as 0-d arrays, kept by number and dtype: an array costs a ufunc half of what a Python number does."""

from math import copysign
from typing import Any

import numpy as np

from mindtorch._core.promotion import BFLOAT16, BOOL, COMPLEX, DOUBLE, FLOAT, HALF, INTEGRAL
from mindtorch._support.float_errors import quiet

NumpyDtype = np.dtype[Any]


class _Constants(dict[Any, np.ndarray]):
    """0-d arrays of one dtype by number."""

    def __init__(self, dtype: NumpyDtype) -> None:
        super().__init__()
        self.dtype = dtype
        self._zeros = {sign: np.asarray(sign * 0.0).astype(dtype) for sign in (1.0, -1.0)}

    def __missing__(self, number: complex) -> np.ndarray:
        if type(number) is float and not number:  # 0.0 and -0.0 would be the same key
            return self._zeros[copysign(1.0, number)]
        array = constant(number, self.dtype)
        if len(self) >= 1024:
            self.clear()
        self[number] = array
        return array


def constant(number: complex, dtype: NumpyDtype) -> np.ndarray:
    """A 0-d array. Integers that don't fit wrap around, as in torch, if they have 64 bits at most."""
    if isinstance(number, int):
        check_width(number)
    return quiet(np.asarray(number).astype, dtype)


def check_width(number: int) -> None:
    """Refuses integers for which there is no dtype."""
    if not -(1 << 63) <= number < 1 << 64:
        raise OverflowError("int too big to convert" if number > 0 else "can't convert negative int to unsigned")


def kept_constant(number: complex, dtype: NumpyDtype) -> np.ndarray:
    """The same, kept for the next time if that is for a dtype of `CONSTANTS`."""
    kept = CONSTANTS.get(type(number), {}).get(dtype)
    return constant(number, dtype) if kept is None else kept[number]


_FLOATING = (HALF, BFLOAT16, FLOAT, DOUBLE, *COMPLEX)

# Only pairs of number and dtype whose result has the dtype of the array.
CONSTANTS: dict[type, dict[NumpyDtype, _Constants]] = {
    float: {dtype: _Constants(dtype) for dtype in _FLOATING},
    int: {dtype: _Constants(dtype) for dtype in (*INTEGRAL, *_FLOATING)},
    bool: {dtype: _Constants(dtype) for dtype in (BOOL, *INTEGRAL, *_FLOATING)},
}
