"""Comparing whole tensors: `equal`, `isclose`, `allclose`."""

from typing import Any

from mindtorch._core import state
from mindtorch._core.fast_path import has_bare_array
from mindtorch._core.tensor import Tensor, extend_tensor
from mindtorch._support import errors
from mindtorch._support.vmap_errors import no_fallback, unsupported
from mindtorch.dispatch import ops
from mindtorch.dispatch.arguments.by_hand import check_arguments
from mindtorch.dispatch.arguments.conversions import checked_tensor
from mindtorch.dispatch.modes.batching import is_batched

_ISCLOSE, _ALLCLOSE = [
    f"{name}(Tensor self, Tensor other, float rtol, float atol, bool equal_nan) -> Tensor"
    for name in ("isclose", "allclose")
]


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and the same elements."""
    checked_tensor(input, "equal")
    if not isinstance(other, Tensor):
        raise errors.argument_type("equal", "other", 2, "Tensor", other)
    if has_bare_array(input) and has_bare_array(other):
        if input._mt_array.dtype == other._mt_array.dtype:
            return input._mt_array.shape == other._mt_array.shape and bool((input._mt_array == other._mt_array).all())
    if is_batched(input) or is_batched(other):
        raise no_fallback("equal")
    return input.shape == other.shape and bool(ops.eq(input, other).all())


def isclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Where `|input - other| <= atol + rtol * |other|`."""
    check_arguments(_ISCLOSE, input, other, rtol, atol, equal_nan)
    return _close(input, other, rtol, atol, equal_nan)


def _close(input: Tensor, other: Tensor, rtol: float, atol: float, equal_nan: bool) -> Tensor:
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{input.dtype.storage_name} did not match {other.dtype.storage_name}")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance:g}")
    close = input == other
    if equal_nan and not _is_integral(input):
        close = close | ((input != input) & (other != other))
    if rtol == 0 and atol == 0:
        return close
    if _is_integral(input):
        # Differences of integers may overflow, and those of bools don't exist.
        input, other = input.to(state.default_dtype), other.to(state.default_dtype)
    allowed = atol + (rtol * other).abs()
    difference = (input - other).abs()
    return close | (ops.isfinite(difference) & (difference <= allowed))


def _is_integral(tensor: Tensor) -> bool:
    return not (tensor.is_floating_point() or tensor.is_complex())


def allclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements are close to each other, as `isclose` tells."""
    check_arguments(_ALLCLOSE, input, other, rtol, atol, equal_nan)
    if is_batched(input) or is_batched(other):
        raise unsupported("allclose")
    return bool(_close(input, other, rtol, atol, equal_nan).all())


@extend_tensor
class ComparingMethods:
    """The same as methods."""

    equal = equal
    isclose = isclose
    allclose = allclose
