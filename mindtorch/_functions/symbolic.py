"""`sym_int` and its kin: functions of numbers that could be symbols if programs were compiled. They are numbers."""

import builtins
import math
from typing import Any

import numpy as np

_NUMBERS = (np.integer, np.floating, int, float)


class SymInt:
    """Nothing is one: sizes are plain numbers."""

    __module__ = "mindtorch"


class SymFloat:
    """Nothing is one."""

    __module__ = "mindtorch"


class SymBool:
    """Nothing is one."""

    __module__ = "mindtorch"


def sym_int(a: Any) -> int:
    """The number without what is behind the point."""
    return int(a)


def sym_float(a: Any) -> float:
    return float(a)


def sym_not(a: Any) -> bool:
    return not a


def sym_sqrt(a: float) -> float:
    return math.sqrt(a)


def sym_max(a: float, b: float) -> float:
    """The larger number, a float if one of the two is one."""
    _require_numbers(a, b)
    return _promoted(max(a, b), a, b)


def sym_min(a: float, b: float) -> float:
    """The smaller number, a float if one of the two is one."""
    _require_numbers(a, b)
    return _promoted(min(a, b), a, b)


def _require_numbers(*values: Any) -> None:
    for value in values:
        assert isinstance(value, _NUMBERS), f"expected {_NUMBERS}, got {type(value)}"


def _promoted(result: float, *values: float) -> float:
    return float(result) if any(isinstance(value, float) for value in values) else result


def sym_sum(*args: Any) -> Any:
    """The sum of numbers in a list, or given one by one."""
    return builtins.sum(args[0] if len(args) == 1 and isinstance(args[0], list | tuple) else args)


def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """`t if b else f`, for two values of one type."""
    assert isinstance(b, bool) and type(t) is type(f), f"type mismatch: {type(t)} vs {type(f)}"
    return t if b else f
