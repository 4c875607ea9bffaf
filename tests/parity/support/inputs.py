"""Inputs that both libraries get from NumPy, equal to the last bit on every processor.

`randn` takes logarithms and sines, `linspace` multiplies and adds at once where the processor can: what two libraries
compute for themselves differs in the last bit. A test that compares closely, or exactly, begins with these instead.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np


def normal(T: Any, *shape: int, dtype: Any = None) -> Any:
    """As `randn`. The library's own generator draws the seed, so that each call gives other numbers."""
    return _given(T, dtype, _normal, T.randint(2**31, ()).item(), *shape)


def ramp(T: Any, start: float, stop: float, count: int, dtype: Any = None, through: Callable | None = None) -> Any:
    """As `linspace`, and then through a function of NumPy's."""
    return _given(T, dtype, _ramp, start, stop, count, through)


def waves(T: Any, count: int, dtype: Any = None) -> Any:
    """Numbers between -1 and 1, in no order."""
    return ramp(T, -3.0, 2.0, count, dtype, _wave)


def _given(T: Any, dtype: Any, make: Callable[..., np.ndarray], *arguments: Any) -> Any:
    """The library's own copy of numbers that are made once."""
    dtype = dtype or T.get_default_dtype()
    is_half = dtype in (T.float16, T.bfloat16)
    made = _made("float32" if is_half else str(dtype).removeprefix("torch."), make, *arguments)
    return T.from_numpy(made.copy()).to(dtype)


@cache
def _made(dtype: str, make: Callable[..., np.ndarray], *arguments: Any) -> np.ndarray:
    return make(*arguments).astype(dtype)


def _normal(seed: int, *shape: int) -> np.ndarray:
    return np.array(np.random.RandomState(seed).standard_normal(shape))


def _ramp(start: float, stop: float, count: int, through: Callable | None) -> np.ndarray:
    numbers = np.linspace(start, stop, count)
    return through(numbers) if through else numbers


def _wave(numbers: np.ndarray) -> np.ndarray:
    return np.sin(997.0 * numbers)
