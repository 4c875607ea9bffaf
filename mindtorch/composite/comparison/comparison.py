"""Comparisons and choices that are written in other ops."""

from __future__ import annotations

import math

from mindtorch._core.dtype import bool as boolean
from mindtorch._core.dtype import complex128
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.promotion import result_type
from mindtorch._core.tensor import Tensor
from mindtorch.composite.common import out_forms
from mindtorch.composite.helpers import element_of
from mindtorch.dispatch import ops

Number = bool | int | float | complex


# -------------------- a number as the first operand --------------------


def where_scalar(condition: Tensor, input: Number, other: Number) -> Tensor:
    dtype = result_type(input, other)
    return ops.where(condition, element_of(input, dtype, condition), element_of(other, dtype, condition))


# -------------------- questions about each element --------------------


def isfinite(input: Tensor) -> Tensor:
    """Of tensors that require grad `abs` is recorded, as in torch."""
    if input.is_complex():
        return isfinite(ops.real(input)).logical_and_(isfinite(ops.imag(input)))
    if input.is_floating_point():
        return ops.lt(ops.abs(input), math.inf)  # which nan is not
    return ops.ones_like(input, dtype=boolean)


def isin_number(elements: Tensor, test_element: Number, assume_unique: bool, invert: bool) -> Tensor:
    _check_isin(elements.dtype, _SCALARS.get(type(test_element)))
    return ops.ne(elements, test_element) if invert else ops.eq(elements, test_element)


def number_isin(element: Number, test_elements: Tensor, assume_unique: bool, invert: bool) -> Tensor:
    _check_isin(_SCALARS.get(type(element)), test_elements.dtype)
    found = ops.eq(test_elements, element).any()
    return ~found if invert else found


def isin(elements: Tensor, test_elements: Tensor, assume_unique: bool, invert: bool) -> Tensor:
    _check_isin(elements.dtype, test_elements.dtype)
    tests = test_elements.reshape((-1,))
    found = _found_among_sorted if tests.numel() > _FEW_TESTS else _found_one_by_one
    result = found(elements, tests)
    return ~result if invert else result


_FEW_TESTS = 16  # with which all are compared sooner than these are sorted


def _found_one_by_one(elements: Tensor, tests: Tensor) -> Tensor:
    return ops.eq(elements.unsqueeze(-1), tests).any(-1)


def _found_among_sorted(elements: Tensor, tests: Tensor) -> Tensor:
    """NaN, which is sorted to the end, is equal to none there either."""
    dtype = result_type(elements, tests)
    elements, ordered = elements.detach().to(dtype), tests.detach().to(dtype).sort()[0]
    places = ops.searchsorted(ordered, elements.contiguous()).clamp(max=tests.numel() - 1)
    return ops.eq(ordered.index_select(0, places.reshape((-1,))).reshape(elements.shape), elements)


_SCALARS = {bool: boolean, complex: complex128}  # those that are refused


def _check_isin(*dtypes: Dtype | None) -> None:
    for dtype in filter(None, dtypes):
        if dtype is boolean or dtype.is_complex:
            raise RuntimeError(f"Unsupported input type encountered for isin(): {dtype.storage_name}")


isin_out = out_forms.of_same_dtype(isin)
