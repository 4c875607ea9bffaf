"""The functions and constants that scalar expressions may use, on `values`, without branches.

They are within 1.5 units of the last place (erfc within 4) of all numbers, infinities, zeros of both signs and
subnormal numbers among them. The polynomials are near-minimax (Chebyshev nodes) for what their comments say, the
lowest power first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mindtorch.backends.cpu.compiled.values import Bits, Condition, Operand, Value

inf = math.inf
nan = math.nan
pi = math.pi


@dataclass(frozen=True, slots=True)
class _Constants:
    """What differs between the two formats."""

    least: float  # the least normal number
    widening: int  # the exponent of two that makes a subnormal number a normal one
    shift: float  # added to a number it leaves the nearest integer in the low bits
    half_bits: int  # the bits of sqrt(1/2)
    ln2_high: float  # has so few digits that its product with an exponent is exact
    ln2_low: float
    highest: float  # exp is infinite beyond
    lowest: float  # exp is zero below
    sigmoid_limit: float  # the least number of which the negative one has a finite exponential
    exp: tuple[float, ...]  # (exp(r) - 1 - r) / r² for |r| <= ln(2) / 2
    tanh: tuple[float, ...]  # (tanh(x) - x) / x³ of x² for |x| <= 0.625
    erf: tuple[float, ...]  # erf(x) / x - 1 of x² for |x| <= erf_limit
    erf_limit: float
    centre: float  # the t for which q below is 0
    erfcx: tuple[float, ...]  # (1 + 2t) * exp(t²) * erfc(t) of q = (t - centre) / (t + centre)
    erfc_limit: float  # erfc is zero beyond


_SINGLE = _Constants(
    least=2.0**-126,
    widening=23,
    shift=1.5 * 2.0**23,
    half_bits=0x3F3504F3,
    ln2_high=0.693359375,
    ln2_low=-2.12194440054690583e-4,
    highest=89.0,
    lowest=-104.0,
    sigmoid_limit=-88.72283935546875,
    exp=(0.5000000014, 0.1666666668, 0.0416664642, 0.008333310845, 0.001393373072, 0.0001989108046),
    tanh=(-0.3333332892, 0.1333276776, -0.05385060911, 0.02099575389, -0.006094641315),
    erf=(0.1283791485, -0.3761248485, 0.1128170933, -0.02676235042, 0.00498647731, -0.0005954904004),
    erf_limit=0.92,
    centre=2.0,
    erfcx=(
        1.276978382, -0.09276381482, -0.166030485, 0.1640508796, -0.05421843723, -0.00802978426, 0.008712785679,
        0.001250621033, -0.001430149927, -0.0004018345164, 0.000177807877, 8.383818212e-5,
    ),
    erfc_limit=10.5,
)  # fmt: skip

_DOUBLE = _Constants(
    least=2.0**-1022,
    widening=52,
    shift=1.5 * 2.0**52,
    half_bits=0x3FE6A09E667F3BCD,
    ln2_high=6.93145751953125e-1,
    ln2_low=1.42860682030941723212e-6,
    highest=710.0,
    lowest=-746.0,
    sigmoid_limit=-709.782712893384,
    exp=(
        0.5, 0.166666666666666667, 0.0416666666666666769, 0.00833333333333333401, 0.00138888888888790031,
        0.000198412698412632519, 0.000024801587336630947, 2.75573192473445095e-6, 2.75572630773094115e-7,
        2.5052070959803662e-8, 2.09182123191339782e-9, 1.60866776667873615e-10,
    ),
    tanh=(
        -0.333333333333333329, 0.133333333333330387, -0.0539682539678938428, 0.0218694885188735556,
        -0.008863235100297064, 0.00359212171378755484, -0.00145577511739837994, 0.000589659170430803363,
        -0.000237585840397917236, 0.0000925615303651674423, -0.0000311902274378155128, 6.47987291895110955e-6,
    ),
    erf=(
        0.128379167095512574, -0.376126389031837524, 0.112837916709551202, -0.0268661706451298258,
        0.00522397762542311664, -0.000854832702192177353, 0.000120553329022883812, -0.0000149256475490758866,
        1.64620450547241428e-6, -1.63646366048021706e-7, 1.47923474994139079e-8, -1.21642256548178639e-9,
        8.70783494894994953e-11, -4.22901170898919782e-12,
    ),
    erf_limit=1.0,
    centre=4.0,
    erfcx=(
        1.23299511862555255, -0.139621116840562615, 0.0153796521026063349, 0.0680970542547082634,
        -0.101039066035588837, 0.0937328349978001125, -0.0663303658271940512, 0.0371675155449589111,
        -0.0161977338960817066, 0.00503196993336524334, -0.000757774311953688068, -0.000199256613487918449,
        0.000150625720402528123, -0.0000243988248985738821, -0.0000112322698012795678, 5.70714504028905423e-6,
        3.10310256619729298e-7, -8.18983195686798477e-7, 5.84549346194484081e-8, 1.01812750121362313e-7,
        -9.29781410207890771e-9, -8.85115922344988969e-9,
    ),
    erfc_limit=27.5,
)  # fmt: skip

_CONSTANTS = {"float32": _SINGLE, "float64": _DOUBLE}


def _of(x: Value) -> _Constants:
    return _CONSTANTS[x.format.name]


def _polynomial(coefficients: Sequence[float], x: Value) -> Value:
    result = x.number(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        result = result * x + coefficient
    return result


# -------------------- choices, signs, parts --------------------


def where(condition: Condition, a: Operand, b: Operand) -> Value:
    return condition.choose(a, b)


def abs(x: Value) -> Value:
    return x.intrinsic("fabs")


def copysign(x: Value, sign: Operand) -> Value:
    return x.intrinsic("copysign", sign)


def sqrt(x: Value) -> Value:
    return x.intrinsic("sqrt")


def trunc(x: Value) -> Value:
    return x.intrinsic("trunc")


def floor(x: Value) -> Value:
    return x.intrinsic("floor")


def isnan(x: Value) -> Condition:
    return x != x


def maximum(a: Value, b: Operand) -> Value:
    """nan if one of the two is nan; of two equal numbers the first."""
    b = a.number(b)
    return where((a >= b) | isnan(a), a, b)


def minimum(a: Value, b: Operand) -> Value:
    """nan if one of the two is nan; of two equal numbers the first."""
    b = a.number(b)
    return where((a <= b) | isnan(a), a, b)


def clamp(x: Value, low: Operand, high: Operand) -> Value:
    """Between two limits, nan as it is."""
    return where(x < low, low, where(x > high, high, x))


# -------------------- exponentials --------------------


def _multiple_of_ln2(x: Value) -> tuple[Value, Bits]:
    """The nearest: `k` of x = k * ln(2) + r, as a number and as bits."""
    shift = x.number(_of(x).shift)
    shifted = x * math.log2(math.e) + shift
    return shifted - shift, shifted.bits() - shift.bits()


def _times_power_of_two(x: Value, k: Bits) -> Value:
    """In two steps, as 2^k alone may be too large, or too small for all of its digits."""
    half = k >> 1
    return x * _power_of_two(x, half) * _power_of_two(x, k - half)


def _power_of_two(x: Value, k: Bits) -> Value:
    return ((k + x.format.bias) << x.format.fraction).as_number()


def _exp(x: Value) -> tuple[Value, Value]:
    """exp(x), and what its last rounding took away."""
    constants = _of(x)
    x = clamp(x, constants.lowest, constants.highest)
    k, bits = _multiple_of_ln2(x)
    r = x - k * constants.ln2_high - k * constants.ln2_low
    share = _polynomial(constants.exp, r) * (r * r) + r
    result = share + 1
    return _times_power_of_two(result, bits), _times_power_of_two(share - (result - 1), bits)


def exp(x: Value) -> Value:
    return _exp(x)[0]


def exp2(x: Value) -> Value:
    """2^x: the nearest integer is taken away without a rounding."""
    x = clamp(x, _of(x).lowest * 1.5, _of(x).highest * 1.5)
    shift = x.number(_of(x).shift)
    shifted = x + shift
    r = (x - (shifted - shift)) * math.log(2)
    share = _polynomial(_of(x).exp, r) * (r * r) + r
    return _times_power_of_two(share + 1, shifted.bits() - shift.bits())


def expm1(x: Value) -> Value:
    constants, given = _of(x), x
    x = clamp(x, -50.0, constants.highest)
    k, bits = _multiple_of_ln2(x)
    high = x - k * constants.ln2_high
    low = k * constants.ln2_low
    r = high - low
    curve = _polynomial(constants.exp, r) * (r * r) + (high - r - low)  # exp(r) - 1 - r, with what r was rounded by
    scale = _power_of_two(x, bits)
    usual = curve * scale + (r * scale + (scale - 1))
    result = where(k > x.format.bias, _times_power_of_two(curve + r + 1, bits), usual)
    return where(given == 0, given, result)


def sigmoid(x: Value) -> Value:
    """1 / (1 + exp(-x)), by the exponential that cannot overflow; the remainder of the division corrects its result.

    Where exp(-x) is infinite it is 0, as in PyTorch: the true result is subnormal there.
    """
    share, lost = _exp(-abs(x))
    total = share + 1
    inverse = 1 / total
    rounded = share - (total - 1) + lost
    numerator, numerator_lost = where(x < 0, share, 1), where(x < 0, lost, 0)
    result = numerator * inverse
    left = (-result).intrinsic("fma", total, numerator) + (numerator_lost - result * rounded)
    return where(x < _of(x).sigmoid_limit, 0, result + left * inverse)


def tanh(x: Value) -> Value:
    size, square = abs(x), x * x
    near = _polynomial(_of(x).tanh, square) * square * x + x
    share = exp(size * -2)
    far = 1 - (share + share) / (share + 1)
    return copysign(where(size < 0.625, near, far), x)


# -------------------- logarithms --------------------


def _exponent_and_rest(x: Value) -> tuple[Value, Value]:
    """`e` and `m` with x = 2^e * (1 + m), and 1 + m between sqrt(1/2) and sqrt(2), for a positive number."""
    constants, number = _of(x), x.format
    is_small = x < constants.least
    bits = where(is_small, x * 2.0**constants.widening, x).bits() - constants.half_bits
    m = ((bits & ((1 << number.fraction) - 1)) + constants.half_bits).as_number() - 1
    # The exponent becomes a number without a conversion of integers, which not every CPU has for 64 bits.
    shift = x.number(constants.shift)
    e = ((bits >> number.fraction) + shift.bits()).as_number() - shift
    return where(is_small, e - constants.widening, e), m


def _log_of_single(e: Value, m: Value) -> Value:
    square = m * m
    rest = _polynomial(_LOG_SINGLE, m) * m * square + e * _SINGLE.ln2_low - square * 0.5
    return m + rest + e * _SINGLE.ln2_high


# (log(1 + m) - m + m² / 2) / m³
_LOG_SINGLE = (
    0.3333333118, -0.2499999696, 0.2000071575, -0.1666780232, 0.1424905765, -0.1242568733, 0.1168541992, -0.1147973385,
    0.06971611471,
)  # fmt: skip


def _log_of_double(e: Value, m: Value) -> Value:
    """log(1 + m) = 2 atanh(s), the first term of which is m - s * m."""
    s = m / (m + 2)
    rest = _polynomial(_LOG_DOUBLE, s * s) * (s * s)
    half = m * m * 0.5
    return e * _LN2_HIGH - ((half - (s * (half + rest) + e * _LN2_LOW)) - m)


# (2 atanh(s) - 2s) / s³ of s²
_LOG_DOUBLE = (
    0.666666666666666981, 0.399999999998960705, 0.285714286275287956, 0.222222108819329271, 0.181829074976712178,
    0.153311125879601676, 0.146239566082118788,
)  # fmt: skip
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_LOGS = {"float32": _log_of_single, "float64": _log_of_double}


def log(x: Value) -> Value:
    result = _LOGS[x.format.name](*_exponent_and_rest(x))
    result = where(x == inf, inf, result)
    return where(x > 0, result, where(x == 0, -inf, nan))


def log1p(x: Value) -> Value:
    """The logarithm of the rounded sum, and what the rounding took away."""
    total = x + 1
    lost = (x - (total - 1)) / total
    result = log(total)
    result = where((total == inf) | (total == 0), result, result + lost)
    return where(total == 1, x, result)


# -------------------- error functions --------------------


def _upper_tail(t: Value) -> Value:
    """erfc(t) for t >= 0."""
    constants = _of(t)
    t = minimum(t, constants.erfc_limit)
    q = (t - constants.centre) / (t + constants.centre)
    scaled = _polynomial(constants.erfcx, q) / (t * 2 + 1)
    square = t * t
    lost = t.intrinsic("fma", t, -square)  # t² = square + lost, exactly
    share = exp(-square)
    return (share - share * lost) * scaled


def _near_erf(x: Value) -> Value:
    return _polynomial(_of(x).erf, x * x) * x + x


def erf(x: Value) -> Value:
    size = abs(x)
    return where(size < _of(x).erf_limit, _near_erf(x), copysign(1 - _upper_tail(size), x))


def erfc(x: Value) -> Value:
    size = abs(x)
    tail = _upper_tail(size)
    return where(size < 0.5, 1 - _near_erf(x), where(x < 0, 2 - tail, tail))
