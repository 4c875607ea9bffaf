"""Special functions against torch: series near zeros and for large numbers, and orthogonal polynomials."""

import numpy as np
import pytest
import torch

from tests.parity.ops.arrays import special
from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same

BELOW_AND_ABOVE = np.concatenate([sign * np.append(2.0 ** -np.arange(2, 50), 0.19) for sign in (1, -1)])


@pytest.mark.parametrize("place", [1, 2])
def test_lgamma_near_its_zeros(place):
    x = torch.from_numpy(place + BELOW_AND_ABOVE)
    ours = torch.from_numpy(special.lgamma(x.numpy()))
    torch.testing.assert_close(ours, torch.lgamma(x), rtol=1e-15, atol=0)
    zero = special.lgamma(np.array([place], np.float32))
    assert zero == 0 and not np.signbit(zero)


def test_trigamma_of_large_numbers():
    x = 10.0 ** np.arange(2, 15, 0.05)
    expected = 1 / x + 0.5 / x**2 + 1 / (6 * x**3) - 1 / (30 * x**5) + 1 / (42 * x**7)
    np.testing.assert_allclose(special.polygamma(1, x), expected, rtol=1e-15)


@pytest.mark.parametrize("name", [name for name in dir(special) if "_polynomial_" in name])
def test_polynomials_of_many_degrees(name):
    """Degrees of more than one table, below 0 and up to where torch's limits are; in rows, columns and numbers."""
    x = torch.linspace(-1.3, 1.4, 61, dtype=torch.float64)
    degrees = torch.tensor([-3.0, 0, 1, 2, 5, 6, 7, 9, 15, 16, 17, 40], dtype=torch.float64)
    kernel, function = getattr(special, name), getattr(torch.special, name)
    for pair in ((x[:, None], degrees), (x, degrees[7]), (x[50], degrees), (x.repeat(90)[:, None], degrees)):
        expected = function(*pair)
        ours = torch.from_numpy(kernel(*[each.numpy() for each in pair]))
        torch.testing.assert_close(ours, expected, rtol=1e-9, atol=1e-11)
        assert ours.stride() == expected.stride()


KINDS = [f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"]
OTHERS = ["hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"]


@pytest.mark.parametrize("name", [*KINDS, *OTHERS])
def test_polynomial(name):
    def values(T):
        function = getattr(T.special, name)
        x = T.tensor([-1.5, -1, -0.75, 0, 0.25, 1, 2, float("nan"), float("inf")], dtype=T.float64)[:, None]
        degrees = T.tensor([-2, 0, 1, 2, 5, 7, 9, 20, 600.5, float("nan")], dtype=T.float64)
        x_grad = x.clone().requires_grad_()
        refused = [tried(function, x.to(kind), 2) for kind in (T.float16, T.complex64)]
        numbers = [function(0.5, T.tensor([3, 4])), function(T.tensor([1, 2]), 3), function(T.ones(2), 2.5)]
        return [function(x, degrees), function(x_grad, 2).requires_grad, refused, numbers]

    assert_same(values)
