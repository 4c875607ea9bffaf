"""`assert_close`: equality of tensors, numbers and structures of them, within a tolerance that suits the dtype."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from mindtorch._core.dtype import bfloat16, complex64, complex128, dtype, float16, float32, float64
from mindtorch._core.layout import strided
from mindtorch._core.tensor import Tensor
from mindtorch._functions.creation import as_tensor, tensor
from mindtorch._support.float_errors import quiet
from mindtorch._support.warnings import warn

# Relative and absolute tolerance. Dtypes that are not here have to be equal.
_TOLERANCES: dict[dtype, tuple[float, float]] = {
    float16: (1e-3, 1e-5),
    bfloat16: (1.6e-2, 1e-5),
    float32: (1.3e-6, 1e-5),
    float64: (1e-7, 1e-7),
    complex64: (1.3e-6, 1e-5),
    complex128: (1e-7, 1e-7),
}
# Those of `assert_allclose`.
_WIDE: dict[dtype, tuple[float, float]] = {float16: (1e-3, 1e-3), float32: (1e-4, 1e-5), float64: (1e-5, 1e-8)}
_NUMBER_TOLERANCES = {float: _TOLERANCES[float64], complex: _TOLERANCES[complex128]}


class _Options(NamedTuple):
    allow_subclasses: bool
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool
    msg: str | Callable[[str], str] | None


class _Mismatch(AssertionError):
    """A difference and where in the structure it lies."""

    def __init__(self, message: str, path: tuple = ()) -> None:
        super().__init__(message)
        self.message = message
        self.path = path


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise an AssertionError that says how two tensors, numbers or structures differ."""
    __tracebackhide__ = True
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
    options = _Options(
        allow_subclasses, rtol, atol, equal_nan, check_device, check_dtype, check_layout, check_stride, msg
    )
    try:
        _compare(actual, expected, options, ())
    except _Mismatch as mismatch:
        message = _full_message(mismatch, options)
    else:
        return
    raise AssertionError(message)


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """The old form of `assert_close`, with wider tolerances, which makes tensors of whatever it gets."""
    __tracebackhide__ = True
    warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. Please "
        "use `torch.testing.assert_close()` instead. You can find detailed upgrade instructions in "
        "https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning,
    )
    actual, expected = (
        each if isinstance(each, Tensor) or _are(Number, each) else tensor(each) for each in (actual, expected)
    )
    if rtol is None and atol is None:
        rtol, atol = _wide_tolerances(actual, expected)
    assert_close(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=True,
        check_dtype=False,
        check_stride=False,
        msg=msg or None,
    )


def _wide_tolerances(*values: Any) -> tuple[float, float]:
    """The wider of the old tolerances of two dtypes."""
    pairs = [_WIDE.get(value.dtype, (0.0, 0.0)) if isinstance(value, Tensor) else (0.0, 0.0) for value in values]
    return max(rtol for rtol, _ in pairs), max(atol for _, atol in pairs)


def _full_message(mismatch: _Mismatch, options: _Options) -> str:
    message = mismatch.message
    if mismatch.path:
        message += f"\n\nThe failure occurred for item {''.join(f'[{key!r}]' for key in mismatch.path)}"
    if options.msg is None:
        return message
    return options.msg(message) if callable(options.msg) else options.msg


def _compare(actual: Any, expected: Any, options: _Options, path: tuple) -> None:
    if actual is None or expected is None:
        _require(actual is expected, f"None mismatch: {actual} is not {expected}", path)
    elif _are(Mapping, actual, expected):
        _compare_mappings(actual, expected, options, path)
    elif _are(Sequence, actual, expected) and not _are(str, actual, expected):
        _require(
            len(actual) == len(expected),
            f"The length of the sequences mismatch: {len(actual)} != {len(expected)}",
            path,
        )
        for number, pair in enumerate(zip(actual, expected)):
            _compare(*pair, options, (*path, number))
    elif _are((bool, np.bool_), actual, expected):
        _require(bool(actual) is bool(expected), f"Booleans mismatch: {actual} is not {expected}", path)
    elif _are(Number, actual, expected):
        _compare_numbers(actual, expected, options, path)
    else:
        _compare_tensors(*_as_tensors(actual, expected, options), options, path)


def _are(kind: Any, *values: Any) -> bool:
    return all(isinstance(value, kind) for value in values)


def _require(condition: bool, message: str, path: tuple) -> None:
    if not condition:
        raise _Mismatch(message, path)


def _compare_mappings(actual: Mapping, expected: Mapping, options: _Options, path: tuple) -> None:
    missing = sorted(expected.keys() - actual.keys(), key=str)
    extra = sorted(actual.keys() - expected.keys(), key=str)
    if missing or extra:
        raise _Mismatch(
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {missing}\n"
            f"Additional keys in the actual mapping: {extra}",
            path,
        )
    for key in expected:
        _compare(actual[key], expected[key], options, (*path, key))


def _as_tensors(actual: Any, expected: Any, options: _Options) -> tuple[Tensor, Tensor]:
    related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    same = related if options.allow_subclasses else type(actual) is type(expected)
    if same and _are((Tensor, np.ndarray), actual, expected):
        return as_tensor(actual).detach(), as_tensor(expected).detach()
    raise TypeError(f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.")


# -------------------- numbers --------------------


def _compare_numbers(actual: Any, expected: Any, options: _Options, path: tuple) -> None:
    if options.check_dtype and type(actual) is not type(expected):
        raise _Mismatch(f"The (d)types do not match: {type(actual)} != {type(expected)}", path)
    defaults = [_NUMBER_TOLERANCES.get(type(number), (0.0, 0.0)) for number in (actual, expected)]
    rtol, atol = _tolerances(options, defaults)
    arrays = np.asarray(actual), np.asarray(expected)
    if not _matches(*arrays, rtol, atol, options.equal_nan).all():
        raise _Mismatch(_scalar_message(actual, expected, rtol, atol), path)


def _tolerances(options: _Options, defaults: list[tuple[float, float]]) -> tuple[float, float]:
    if options.rtol is not None and options.atol is not None:
        return options.rtol, options.atol
    return max(rtol for rtol, _ in defaults), max(atol for _, atol in defaults)


def _scalar_message(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    difference = abs(actual - expected)
    relative = difference / abs(expected) if expected else float("inf")
    equal = not rtol and not atol
    return (
        f"Scalars are not {'equal' if equal else 'close'}!\n\nExpected {expected} but got {actual}.\n"
        f"Absolute difference: {difference}{_allowed(atol, equal)}\n"
        f"Relative difference: {relative}{_allowed(rtol, equal)}"
    )


def _allowed(tolerance: float, equal: bool) -> str:
    return "" if equal else f" (up to {tolerance} allowed)"


# -------------------- tensors --------------------


def _compare_tensors(actual: Tensor, expected: Tensor, options: _Options, path: tuple) -> None:
    for name, checked, own, other in _attributes(actual, expected, options):
        _require(
            not checked or own == other, f"The values for attribute '{name}' do not match: {own} != {other}.", path
        )
    defaults = [_TOLERANCES.get(tensor.dtype, (0.0, 0.0)) for tensor in (actual, expected)]
    rtol, atol = _tolerances(options, defaults)
    one, other = _array_of(actual), _array_of(expected)
    matches = _matches(one, other, rtol, atol, options.equal_nan)
    if matches.all():
        return
    if one.ndim == 0:
        raise _Mismatch(_scalar_message(actual.item(), expected.item(), rtol, atol), path)
    raise _Mismatch(_tensor_message(one, other, matches, rtol, atol), path)


def _attributes(actual: Tensor, expected: Tensor, options: _Options) -> list[tuple[str, bool, Any, Any]]:
    attributes = [
        ("shape", True, actual.shape, expected.shape),
        ("device", options.check_device, actual.device, expected.device),
        ("dtype", options.check_dtype, actual.dtype, expected.dtype),
        ("layout", options.check_layout, actual.layout, expected.layout),
    ]
    if options.check_stride:
        attributes.append(("stride()", True, actual.stride(), expected.stride()))
    return attributes


def _array_of(tensor: Tensor) -> np.ndarray:
    """The values, densely and in a dtype in which NumPy computes."""
    dense = tensor if tensor.layout is strided else tensor.to_dense()
    array = dense.cpu()._mt_array
    if array.dtype.kind == "b":
        return array.astype(np.int8)
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def _matches(actual: np.ndarray, expected: np.ndarray, rtol: float, atol: float, equal_nan: bool) -> np.ndarray:
    if not rtol and not atol and not equal_nan:
        return actual == expected
    return quiet(np.isclose, actual, expected, rtol, atol, equal_nan)


def _tensor_message(actual: np.ndarray, expected: np.ndarray, matches: np.ndarray, rtol: float, atol: float) -> str:
    equal = not rtol and not atol
    wrong, total = int(matches.size - matches.sum()), matches.size
    difference = quiet(np.abs, quiet(np.subtract, actual, expected))
    difference[matches] = 0
    relative = quiet(_relative, difference, expected)
    relative[matches] = 0
    return (
        f"Tensor-likes are not {'equal' if equal else 'close'}!\n\n"
        f"Mismatched elements: {wrong} / {total} ({wrong / total:.1%})\n"
        f"Greatest absolute difference: {_greatest(difference)}{_allowed(atol, equal)}\n"
        f"Greatest relative difference: {_greatest(relative)}{_allowed(rtol, equal)}"
    )


def _relative(difference: np.ndarray, expected: np.ndarray) -> np.ndarray:
    size = np.abs(expected)
    return np.divide(difference, size, dtype=np.float32 if size.dtype.kind in "iu" else None)


def _greatest(differences: np.ndarray) -> str:
    place = np.unravel_index(differences.argmax(), differences.shape)
    return f"{differences[place].item()} at index {tuple(int(index) for index in place)}"
