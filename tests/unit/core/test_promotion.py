"""The promotion rules: two dtypes, and operands of the three categories."""

import numpy as np
import pytest

import mindtorch
from mindtorch._core import promotion
from mindtorch._core.promotion import BFLOAT16, BOOL, CDOUBLE, CFLOAT, DOUBLE, FLOAT, HALF, INT64, RULES, UINT8

INT8, INT16, INT32 = (np.dtype(name) for name in ("int8", "int16", "int32"))


def array(dtype, *shape):
    return np.zeros(shape, dtype)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (BOOL, BOOL, BOOL),
        (BOOL, UINT8, UINT8),
        (UINT8, INT8, INT16),
        (UINT8, INT32, INT32),
        (INT64, HALF, HALF),
        (HALF, BFLOAT16, FLOAT),
        (BFLOAT16, INT64, BFLOAT16),
        (FLOAT, DOUBLE, DOUBLE),
        (HALF, CFLOAT, CFLOAT),
        (DOUBLE, CFLOAT, CDOUBLE),
        (BFLOAT16, CDOUBLE, CDOUBLE),
    ],
)
def test_two_dtypes(a, b, expected):
    assert promotion.promote(a, b) == promotion.promote(b, a) == expected


def test_wide_unsigned_dtypes_do_not_promote():
    with pytest.raises(RuntimeError, match="attempted to promote UInt16 and Long"):
        promotion.promote(np.dtype("uint16"), INT64)


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        ((array(HALF, 2), array(DOUBLE)), HALF),
        ((array(INT32, 2), array(INT64)), INT32),
        ((array(INT32, 2), array(HALF)), HALF),
        ((array(FLOAT, 2), array(CDOUBLE)), CFLOAT),
        ((array(BOOL, 2), 1), INT64),
        ((array(UINT8, 2), 300), UINT8),
        ((array(UINT8, 2), 1.5), FLOAT),
        ((array(BFLOAT16, 2), 1.5), BFLOAT16),
        ((array(DOUBLE, 2), 2j), CDOUBLE),
        ((array(INT64), 2.5), FLOAT),
        ((True, 2), INT64),
        ((array(FLOAT, 2), None), FLOAT),
    ],
)
def test_operands(operands, expected):
    assert promotion.common_dtype(*operands) == expected


def test_integers_become_the_default_dtype():
    before = mindtorch.get_default_dtype()
    try:
        mindtorch.set_default_dtype(mindtorch.float64)
        assert promotion.int_to_float(array(INT32, 2)) == DOUBLE
        assert promotion.common_dtype(array(INT32, 2), 1.5) == DOUBLE
    finally:
        mindtorch.set_default_dtype(before)


@pytest.mark.parametrize(
    ("rule", "operands", "expected"),
    [
        ("bool", (array(FLOAT, 2),), BOOL),
        ("complex_to_real", (array(CDOUBLE, 2),), DOUBLE),
        ("real_to_complex", (array(FLOAT, 2),), CFLOAT),
        ("div_mode", (array(INT32, 2), 2, "floor"), INT32),
        ("div_mode", (array(INT32, 2), 2, None), FLOAT),
        ("where", (array(BOOL, 2), array(HALF, 2), array(FLOAT)), HALF),
        ("sum", (array(UINT8, 2),), INT64),
        ("sum", (array(HALF, 2),), HALF),
        ("bool_or_uint8", (array(UINT8, 2),), UINT8),
        ("bool_or_uint8", (array(INT8, 2),), BOOL),
        ("index", (array(FLOAT, 2),), INT64),
    ],
)
def test_rules(rule, operands, expected):
    assert RULES[rule](*operands) == expected


def test_can_cast():
    assert promotion.can_cast(mindtorch.int64, mindtorch.uint8)
    assert promotion.can_cast(mindtorch.int64, mindtorch.float16)
    assert not promotion.can_cast(mindtorch.uint8, mindtorch.bool)
    assert not promotion.can_cast(mindtorch.float16, mindtorch.int64)
    assert not promotion.can_cast(mindtorch.complex64, mindtorch.float64)
