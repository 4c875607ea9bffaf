"""The power of 0.5 of infinities and zeros: a root if the exponent is a number, the general power if it is a tensor."""

import pytest

from tests.parity.support.programs import assert_same

CALLS = {
    "number": lambda T, x, half: x**0.5,
    "tensor": lambda T, x, half: x**half,
    "in place": lambda T, x, half: x.clone().pow_(half),
    "out": lambda T, x, half: T.pow(x, half, out=T.empty(6, dtype=x.dtype)),
    "expanded": lambda T, x, half: x ** half.expand(6),
    "one element": lambda T, x, half: x ** half.reshape(1),
    "one base": lambda T, x, half: [x[place] ** half for place in range(6)],
    "repeated": lambda T, x, half: x ** half.repeat(6),
    "row": lambda T, x, half: x.expand(2, 6) ** half.repeat(6),
    "column": lambda T, x, half: x.expand(3, 6) ** T.stack([half, half * 4, half])[:, None],
    "columns": lambda T, x, half: x.reshape(2, 3).t() ** T.stack([half, half * 4]),
    "gaps": lambda T, x, half: x[::2] ** half,
    "doubles": lambda T, x, half: T.float_power(x, half),
    "list": lambda T, x, half: T._foreach_pow([x], [half]),
    "number to tensor": lambda T, x, half: T.pow(-float("inf"), half),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("name", CALLS)
def test_power(name, dtype):
    def program(T):
        x = T.tensor([-float("inf"), -0.0, 0.0, float("inf"), 2.0, -2.0], dtype=getattr(T, dtype))
        result = CALLS[name](T, x, T.tensor(0.5, dtype=x.dtype))
        return repr([each.tolist() for each in result]) if isinstance(result, (list, tuple)) else repr(result.tolist())

    assert_same(program)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("exponent", [0.5, -0.5])
def test_roots_of_infinity(dtype, exponent):
    assert_same(lambda T: T.tensor([-float("inf"), 4.0, -0.0, -1.0], dtype=getattr(T, dtype)).pow(exponent))
