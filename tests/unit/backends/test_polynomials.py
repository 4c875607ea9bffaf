"""Orthogonal polynomials of few elements come from one table, those of many block by block: with the same bits."""

import pytest

import mindtorch as torch

special = torch.special
NAMES = [f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"]
NAMES += ["hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"]
MANY = 400  # times as many elements, more than a block


@pytest.mark.parametrize("name", NAMES)
def test_few_as_many(name):
    polynomial = getattr(special, name)
    for dtype in (torch.float32, torch.float64):
        x = torch.tensor([-1.0, -0.25, 0.0, 0.5, 1.0, 2.0, float("nan"), float("inf")], dtype=dtype)[:, None]
        for degrees in ([-2, 0, 3, 1], [0], [-1], [4, 2, 9, 0], [17, 1]):
            n = torch.tensor(degrees)
            few, many = polynomial(x, n), polynomial(x.repeat(MANY, 1), n)
            assert many.numpy().tobytes() == few.repeat(MANY, 1).numpy().tobytes()
            for row, number in zip(polynomial(x, n).mT, degrees, strict=True):
                assert row.numpy().tobytes() == polynomial(x[:, 0], number).numpy().tobytes()
            for row, number in zip(few, x[:, 0].tolist(), strict=True):
                assert row.numpy().tobytes() == polynomial(number, n.to(dtype)).numpy().tobytes()
