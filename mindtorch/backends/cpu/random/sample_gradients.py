"""How samples of gamma, beta and Dirichlet distributions move with the parameters of the distribution.

The derivative of a sample at a fixed value of the distribution function is minus the derivative of that function by
the parameter, divided by the density. There is no closed form; each region of the arguments has the approximation that
torch uses there: a series, an expansion around the mean, or a ratio of polynomials. All compute in float64.
"""

import numpy as np

from mindtorch._support.float_errors import quiet
from mindtorch._support.lazy import lazy
from mindtorch._support.numpy_functions import stack
from mindtorch.backends.cpu.common.checks import not_implemented

special = lazy("scipy.special")

Array = np.ndarray


def standard_gamma_grad(input, output):
    _check_dtype(input, "_standard_gamma_grad_cpu")
    return _by_region(_GAMMA_REGIONS, input.dtype, input, output)


def dirichlet_grad(x, alpha, total):
    _check_dtype(x, "_dirichlet_grad_cpu")
    return _by_region(_DIRICHLET_REGIONS, x.dtype, x, alpha, total)


def _check_dtype(input: Array, name: str) -> None:
    if input.dtype.char not in "fd":
        raise not_implemented(name, input)


def _by_region(regions: tuple, dtype: np.dtype, *arrays: Array) -> Array:
    """Each element by the first region that it is in; the last region is everywhere."""
    wide = [np.ascontiguousarray(array, np.float64).reshape(-1) for array in np.broadcast_arrays(*arrays)]
    result = quiet(_computed_by_region, regions, wide)
    return result.astype(dtype).reshape(np.broadcast_shapes(*(array.shape for array in arrays)))


def _computed_by_region(regions: tuple, arrays: list[Array]) -> Array:
    result, rest = np.empty(arrays[0].shape), np.arange(arrays[0].size)
    for belongs, function in regions:
        inside = belongs(*(array[rest] for array in arrays))
        places, rest = rest[inside], rest[~inside]
        if places.size:
            result[places] = function(*(array[places] for array in arrays))
    return result


def _everywhere(first: Array, *others: Array) -> Array:
    return np.ones(first.shape, bool)


def _without_nan(values: Array) -> Array:
    return np.where(np.isnan(values), 0.0, values)


# -------------------- gamma --------------------


def _gamma_series(alpha: Array, x: Array) -> Array:
    """Five terms of the Taylor series, for small samples."""
    term, denominator = np.ones_like(x), alpha.copy()
    series, derivative = term / denominator, term / denominator**2
    for order in range(1, 6):
        term *= -x / order
        denominator += 1
        series += term / denominator
        derivative += term / denominator**2
    power = x**alpha
    by_alpha = (np.log(x) - special.digamma(alpha)) * power * series - power * derivative
    return _without_nan(-by_alpha / (x ** (alpha - 1) * np.exp(-x)))


def _gamma_near_mean(alpha: Array, x: Array) -> Array:
    first = 1 + 24 * alpha * (1 + 12 * alpha)
    second = 1440 * alpha**2 + 6 * x * (53 - 120 * x) - 65 * x**2 / alpha + alpha * (107 + 3600 * x)
    return first * second / (1244160 * alpha**4)


def _gamma_saddle_point(alpha: Array, x: Array) -> Array:
    ratio, root = np.log(x / alpha), np.sqrt(8 * alpha)
    correction = (x - alpha - alpha * ratio) ** -1.5
    terms = root / (alpha - x) + np.where(x < alpha, -correction, correction)
    slope = ratio * terms - np.sqrt(2 / alpha) * (alpha + x) / (alpha - x) ** 2
    stirling = 1 + 1 / (12 * alpha) * (1 + 1 / (24 * alpha))
    return -stirling * x * slope / root


# By powers of log(x / alpha), then of log(alpha): four of the numerator, four of the denominator.
_GAMMA_RATIO = (
    (0.16009398, -0.094634809, 0.025146376, -0.0030648343, 1, 0.32668115, 0.10406089, 0.0014179084),
    (
        0.53487893, 0.1298071, 0.065735949, -0.0015649758,
        0.16639465, 0.020070113, -0.0035938915, -0.00058392623,
    ),
    (
        0.040121004, -0.0065914022, -0.0026286047, -0.0013441777,
        0.017050642, -0.0021309326, 0.00085092367, -1.5247877e-07,
    ),
)  # fmt: skip


def _gamma_ratio(alpha: Array, x: Array) -> Array:
    u, v = np.log(x / alpha), np.log(alpha)
    coefficients = [c0 + u * (c1 + u * c2) for c0, c1, c2 in zip(*_GAMMA_RATIO)]
    return np.exp(_polynomial(coefficients[:4], v) / _polynomial(coefficients[4:], v))


def _polynomial(coefficients: list, x: Array) -> Array:
    """The lowest power first."""
    value = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        value = coefficient + x * value
    return value


_GAMMA_REGIONS = (
    (lambda alpha, x: x < 0.8, _gamma_series),
    (lambda alpha, x: (alpha > 8) & (x >= 0.9 * alpha) & (x <= 1.1 * alpha), _gamma_near_mean),
    (lambda alpha, x: alpha > 8, _gamma_saddle_point),
    (_everywhere, _gamma_ratio),
)


# -------------------- Dirichlet --------------------


def _alpha_series(x: Array, alpha: Array, total: Array) -> Array:
    """Ten terms of a series in x, for small x."""
    beta = total - alpha
    factor = special.digamma(alpha) - special.digamma(total) - np.log(x)
    term = np.ones_like(x)
    series = (factor + 1 / alpha) / alpha
    for order in range(1, 11):
        term *= (order - beta) * x / order
        series += term / (alpha + order) * (factor + 1 / (alpha + order))
    return _without_nan(x * (1 - x) ** -beta * series)


def _mirrored_series(x: Array, alpha: Array, total: Array) -> Array:
    """Eight terms of a series in 1 - x, for x near 1."""
    x, beta = 1 - x, total - alpha
    factor = special.digamma(total) - special.digamma(alpha)
    term, product, slope = np.ones_like(x), np.ones_like(x), np.zeros_like(x)
    series = factor / beta
    for order in range(1, 9):
        term *= -x / order
        slope = slope * (alpha - order) + product
        product = product * (alpha - order)
        series += term / (beta + order) * (slope + factor * product)
    return -_without_nan(-((1 - x) ** (1 - alpha)) * series)


def _beta_near_mean(x: Array, alpha: Array, total: Array) -> Array:
    beta, rest = total - alpha, 1 - x
    polynomial = _polynomial(
        [
            47 * x * beta**4,
            (43 + 20 * (16 + 27 * beta) * x) * beta**3,
            3 * (59 + 180 * beta - 90 * x) * beta**2,
            (453 + 1620 * beta * rest - 455 * x) * beta,
            8 * rest * (135 * beta - 11),
        ],
        alpha,
    )
    factor = (1 + 12 * alpha) * (1 + 12 * beta) / total**2 / rest
    return factor * polynomial / (12960 * alpha**3 * beta**2 * (1 + 12 * total))


def _beta_saddle_point(x: Array, alpha: Array, total: Array) -> Array:
    beta = total - alpha
    stirling = _stirling(alpha) * _stirling(beta) / _stirling(total)
    away = alpha * (x - 1) + beta * x
    first = (2 * alpha**2 * (x - 1) + alpha * beta * (x - 1) - x * beta**2) / (
        np.sqrt(2 * alpha / beta) * total**1.5 * away**2
    )
    deviance = beta * np.log(beta / (total * (1 - x))) + alpha * np.log(alpha / (total * x))
    correction = np.where(x < alpha / total, deviance**-1.5, -(deviance**-1.5))
    second = 0.5 * np.log(alpha / (total * x)) * (np.sqrt(8 * alpha * beta / total) / away + correction)
    return stirling * -x / np.sqrt(2 * alpha * beta / total) * (first + second)


def _stirling(number: Array) -> Array:
    return 1 + 1 / (12 * number) + 1 / (288 * number**2)


# Numerator and denominator, by powers of log(x), then of a, then of b (see below).
_DIRICHLET_RATIO = np.array(
    [
        [
            [
                [1.003668233, -0.01061107488, -0.0657888334, 0.01201642863],
                [0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033],
                [-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013],
            ],
            [
                [0.221950385, -0.3187676331, 0.01799915743, 0.01074823814],
                [-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057],
                [0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05],
            ],
            [
                [-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565],
                [0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181],
                [0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05],
            ],
        ],
        [
            [
                [1, -0.02924021934, -0.04438342661, 0.007285809825],
                [0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521],
                [-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149],
            ],
            [
                [0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273],
                [0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956],
                [-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05],
            ],
            [
                [0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05],
                [0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05],
                [-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06],
            ],
        ],
    ]
)


def _corrected(x: Array, alpha: Array, total: Array) -> Array:
    """A simple approximation, corrected by a ratio of polynomials."""
    u = np.log(x)
    a = np.log(alpha) - u
    b = np.log(total) - a
    powers = stack([u**i * a**j * b**k for i in range(3) for j in range(3) for k in range(4)])
    numerator, denominator = _DIRICHLET_RATIO.reshape(2, -1) @ powers
    simple = x * (special.digamma(total) - special.digamma(alpha)) / (total - alpha)
    return numerator / denominator * simple


def _is_mid(x: Array, alpha: Array, total: Array) -> Array:
    return (alpha > 6) & (total - alpha > 6)


def _is_near_mean(x: Array, alpha: Array, total: Array) -> Array:
    deviation = np.sqrt(alpha * (total - alpha) / (total + 1)) / total
    return _is_mid(x, alpha, total) & (np.abs(x - alpha / total) <= 0.1 * deviation)


_DIRICHLET_REGIONS = (
    (lambda x, alpha, total: (x <= 0.5) & (total * x * (1 - x) < 2.5), _alpha_series),
    (lambda x, alpha, total: (x >= 0.5) & (total * x * (1 - x) < 0.75), _mirrored_series),
    (_is_near_mean, _beta_near_mean),
    (_is_mid, _beta_saddle_point),
    (_everywhere, _corrected),
)
