"""Pointwise ops at the edges of what they take: signs of zero, infinities, integers that overflow, branch cuts, errors.

Their ordinary arguments come from the table of ops.yaml (test_ops.py). `f`, `h`, `i`, `b`, `c` and `e` are tensors.
"""

import math

import pytest

from tests.parity.support.programs import assert_same

# One expression a line.
EXPRESSIONS = """
T.asin(T.tensor([2.0, -2.0, 0.5])), T.acosh(T.tensor([0.5, 1.0, 3.0])), T.atanh(T.tensor([1.0, -1.0, 2.0]))
T.asin(z), T.acos(z), T.acosh(z), T.asinh(z), T.atanh(z), T.atan(T.tensor([2j, -2j, 0j, 2 + 0j]))
T.exp2(e), T.log10(e), T.sinh(e), T.cosh(e), T.asinh(e), T.atan(e), T.sinc(e)
T.exp2(i), T.log10(b), T.exp2(h), T.exp2(c), T.sinc(i), T.sinc(c), T.sinc(h)
f.arcsin(), T.arccosh(f + 1), T.arctanh(f, out=T.empty(0)), f.arccos_()
T.exp2("a")
T.exp2(2.0)
T.frac(T.tensor([-1.5, math.inf, math.nan, -0.0, 2.0]))
T.frac(i)
T.deg2rad(i), T.rad2deg(b), f.deg2rad(), T.rad2deg(h)
T.deg2rad(c)
T.deg2rad(i, out=T.empty(2, dtype=T.int64))
i.deg2rad_()
T.fmod(T.tensor([5.0, -5.0, math.inf, 1.0]), T.tensor([math.inf, 3.0, 2.0, 0.0])), T.fmod(T.tensor([-5, 5]), 3)
T.fmod(T.tensor([-7, 7]), T.tensor([3, -3])), T.fmod(i, 2.5), T.fmod(b, 2), T.fmod(f, 0)
T.fmod(i, 0)
T.fmod(i, T.tensor(0))
T.fmod(b, True)
T.fmod(c, 2)
T.fmod(f, 1j)
i.fmod_(2.5)
T.hypot(T.tensor([math.inf, math.nan, 3.0]), T.tensor([math.nan, 1.0, 4.0])), T.hypot(f, i)
T.hypot(f, T.ones(3))
T.hypot(f, 2.0)
T.hypot(i, i)
T.fmax(T.tensor([math.nan, 1.0, math.nan]), T.tensor([1.0, math.nan, math.nan])), T.fmin(i, f), T.fmax(b, i)
T.fmin(c, f)
T.fmin(f, 1.0)
T.copysign(T.tensor([0.0, 1.0]), T.tensor([-0.0, -math.inf])), T.copysign(f, -0.0), T.copysign(i, -1)
T.copysign(h, T.tensor(1.0, dtype=T.float64)), T.copysign(i, T.tensor(-1.0, dtype=T.float64))
T.copysign(f, 1j)
i.copysign_(2)
T.nextafter(T.tensor([0.0, 1.0, math.inf]), T.tensor([1.0, -1.0, 0.0])), T.nextafter(h, h + 1)
T.nextafter(f.bfloat16(), T.zeros(2, dtype=T.bfloat16))
T.nextafter(i, i)
T.logaddexp(e, e), T.logaddexp(e, -e), T.logaddexp2(e, e), T.logaddexp(c, c), T.logaddexp(i, f)
T.logaddexp(i, i)
T.heaviside(T.tensor([-1.0, 0.0, 2.0, math.nan]), T.tensor([0.5])), T.heaviside(i, i), T.heaviside(b, b)
T.heaviside(f, f.double())
T.heaviside(f, c)
T.heaviside(f, f, out=T.empty(2, dtype=T.float64))
T.gcd(T.tensor([0, -12, 2**40]), T.tensor([0, 18, 2**20])), T.lcm(i, T.tensor([6])), T.gcd(i, i.int())
T.gcd(T.tensor([-128, -128, 0], dtype=T.int8), T.tensor([-128, 0, 0], dtype=T.int8))
T.gcd(i, f)
T.gcd(i, 2)
T.ldexp(T.tensor([1e-30]), T.tensor([150])), T.ldexp(T.tensor([1e-300], dtype=T.float64), T.tensor([1100]))
T.ldexp(f, i), T.ldexp(i, i), T.ldexp(h, i), T.ldexp(h, T.tensor([20.5])), T.ldexp(c, i), T.ldexp(f, e)
T.ldexp(f, b)
T.ldexp(f, 2)
i.ldexp_(i)
T.frexp(T.tensor([0.0, -0.0, 1e-40, math.inf, -math.inf, math.nan, 3.0])), T.frexp(h), T.frexp(T.tensor(3.0))
T.frexp(i)
T.frexp(f, out=(T.empty(2), T.empty(2)))
T.frexp(f, out=(T.empty(2, dtype=T.float64), T.empty(2, dtype=T.int32)))
T.logit(T.tensor([-0.5, 0.0, 0.2, 1.0, 1.5, math.nan])), T.logit(T.tensor([-0.5, 0.0, 0.2, 1.5, math.nan]), 0.25)
T.logit(f, 0.7), T.logit(f, -1.0), T.logit(i, 0.1), T.logit(h)
T.logit(c)
i.logit_()
T.signbit(T.tensor([-0.0, 0.0, -math.inf])), T.signbit(T.tensor([1, -1])), T.signbit(b), T.isposinf(e), T.isneginf(e)
T.signbit(c)
T.isposinf(c)
T.isneginf(i, out=T.empty(2))
T.signbit(f, out=T.empty(2))
T.nan_to_num(e), T.nan_to_num(e, math.inf, math.nan), T.nan_to_num(i, 3), T.nan_to_num(b)
T.nan_to_num(e.half()), T.nan_to_num(e.bfloat16()), T.nan_to_num(T.tensor([complex(math.nan, math.inf)]), 1, 2, 3)
T.nan_to_num(f, out=T.empty(2, dtype=T.float64))
i << 1, i >> 1, 2 << i, 16 >> i, i << i, b << 1, i.__rlshift__(2)
[(s << n, s >> n, u >> abs(n)) for n in (-1, 0, 7, 8, 9, 100)]
1.5 << i
"a" << i
i << "a"
i >> None
b << b
f << 1
T.bitwise_right_shift(2, i), T.bitwise_left_shift(i.int(), i)
b.bitwise_left_shift_(2)
T.bitwise_left_shift(2, 3)
T.float_power(i, 2), T.float_power(2, i), T.float_power(f, 2j), T.float_power(True, b), f.double().float_power_(2)
f.float_power_(2)
f.double().float_power_(c)
T.float_power(f, f, out=T.empty(2))
T.float_power(2, f, out=T.empty(2))
T.special.ndtri(T.tensor([0.0, 0.3, 1.0, 2.0])), T.special.log_ndtr(T.tensor([-100.0, 0.0])), T.special.ndtr(f)
T.special.erfcx(f), T.special.entr(T.tensor([0.0, -1.0, 2.0, math.nan])), T.special.exp2(f), T.special.logit(f)
T.special.ndtri(h)
T.special.zeta(f + 1, 2.0), T.special.zeta(2, f), T.special.zeta(T.tensor([1.0, 0.5, 2.0]), T.tensor([1.0, 2.0, -1.0]))
T.special.xlog1py(T.zeros(3), T.tensor([-1.0, math.nan, -2.0])), T.special.xlog1py(2, f)
T.igamma(g, k), T.igammac(g, k), T.special.gammainc(f, f), T.special.gammaincc(f, f)
T.mvlgamma(f + 3, 2), T.mvlgamma(i + 3, 2), T.special.multigammaln(f + 3, 2)
T.mvlgamma(f + 3, 0)
T.mvlgamma(b, 2)
T.mvlgamma(c, 2)
(i + 3).mvlgamma_(2)
T.i0(T.tensor([0.0, -1.0, 80.0, math.nan])), T.special.i1(T.tensor([0.0, -1.0, 80.0])), T.special.i1e(f)
T.special.i0e(e)
f.less_(0.4), i.greater_equal_(2), i.not_equal_(i), T.less_equal(f, f, out=T.empty(2)), T.greater(f, 0.4)
"""

GRADIENTS = {
    "fmax": "T.fmax(x, T.tensor([1.0, math.nan, 1.0, math.nan, 0.0]))",
    "fmin": "T.fmin(x, T.tensor([1.0, math.nan, 1.0, math.nan, 0.0]))",
    "nan_to_num": "T.nan_to_num(x / T.tensor([1.0, 0.0, 1.0, 1.0, 1.0]))",
    "copysign": "T.copysign(x, T.tensor([-1.0, -1.0, 1.0, 1.0, -1.0]))",
    "copysign number": "T.copysign(x, -2)",
    "hypot": "T.hypot(x, T.tensor([0.0, 0.0, 1.0, 1.0, 2.0]))",
    "sinc": "T.sinc(x)",
    "logit": "T.logit(x, 0.25)",
    "logit without eps": "T.logit(x)",
    "nextafter": "T.nextafter(x, T.ones(5))",
    "acosh": "T.acosh(x * -1)",
    "heaviside": "T.heaviside(x, T.ones(5))",
    "entr": "T.special.entr(x)",
    "i1": "T.special.i1(x)",
    "i1e": "T.special.i1e(x)",
    "ldexp": "T.ldexp(x, T.tensor([1, 2, 0, 3, 1]))",
    "frexp": "T.frexp(x)[0]",
    "igamma": "T.igamma(x, T.ones(5))",
}


def names_of(T):
    return {
        "T": T,
        "math": math,
        "f": T.tensor([0.3, 0.5]),
        "h": T.tensor([0.3, 0.5], dtype=T.float16),
        "i": T.tensor([1, 2]),
        "b": T.tensor([True, False]),
        "c": T.tensor([0.5 + 1j, 2.0]),
        "e": T.tensor([math.nan, math.inf, -math.inf, 0.0, 1.0]),
        "z": T.tensor([2 + 0j, -2 + 0j, 1j, -1j, 0j, 0.5 + 0j]),
        "s": T.tensor([1, -128, 127, 5], dtype=T.int8),
        "u": T.tensor([1, 128, 255], dtype=T.uint8),
        "g": T.tensor([0.0, -1.0, 1.0, 0.0, math.inf, 2.0]),
        "k": T.tensor([1.0, 1.0, -1.0, 0.0, 1.0, math.inf]),
    }


@pytest.mark.parametrize("expression", EXPRESSIONS.strip().splitlines())
def test_values(expression):
    assert_same(lambda T: eval(expression, names_of(T)))


@pytest.mark.parametrize("expression", GRADIENTS.values(), ids=GRADIENTS)
def test_gradients(expression):
    def program(T):
        x = T.tensor([1.0, 0.0, -0.0, 0.5, -2.0], requires_grad=True)
        y = eval(expression, {"T": T, "math": math, "x": x})
        return y, y.grad_fn.name(), T.autograd.grad(y.sum(), x)

    assert_same(program)


OVERFLOWS = [
    ("uint8", 300), ("uint8", -1), ("int8", 200), ("int32", 2**40), ("int64", 2**63), ("float16", 1e6),
    ("bfloat16", 1e39), ("float32", 1e39), ("float64", 1e300), ("int16", 30000),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "alpha"), OVERFLOWS)
@pytest.mark.parametrize("op", ["add", "sub", "add_", "sub_"])
def test_factors(dtype, alpha, op):
    def program(T):
        x = T.ones(2, dtype=getattr(T, dtype))
        return getattr(x, op)(T.ones(2, dtype=x.dtype), alpha=alpha)

    assert_same(program)
