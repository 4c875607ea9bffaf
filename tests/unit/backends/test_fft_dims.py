"""Transforms of several dimensions, one after the other, give what SciPy's functions for several do."""

import numpy as np
import pytest
from scipy import fft as scipy_fft

from mindtorch.backends.cpu.fft import fft

SHAPES = ((7,), (4, 6), (3, 4, 5))


def signals(shape):
    numbers = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        real = numbers.normal(size=shape).astype(dtype)
        yield real, (real + 1j * numbers.normal(size=shape)).astype(np.result_type(dtype, np.complex64))


@pytest.mark.parametrize("normalization", range(3))
@pytest.mark.parametrize("shape", SHAPES)
def test_as_scipy(shape, normalization):
    forward, inverse = fft._FORWARD[normalization], fft._INVERSE[normalization]
    every = tuple(range(len(shape)))
    for real, spectrum in signals(shape):
        for dims in {every, every[::-1], every[:1], every[-1:]}:
            options = {"axes": dims, "norm": forward}
            _same(fft.fft_c2c(spectrum, dims, normalization, True), scipy_fft.fftn(spectrum, **options))
            _same(fft.fft_r2c(real, dims, normalization, True), scipy_fft.rfftn(real, **options))
            _same(fft.fft_r2c(real, dims, normalization, False), scipy_fft.fftn(real, **options))
            _same(fft.fft_c2c(spectrum, dims, normalization, False), scipy_fft.ifftn(spectrum, axes=dims, norm=inverse))
            for points in (4, 5, 9):
                sizes = [shape[dim] for dim in dims[:-1]] + [points]
                expected = scipy_fft.irfftn(spectrum, sizes, dims, inverse)
                _same(fft.fft_c2r(spectrum, dims, normalization, points), expected)


def _same(result, expected):
    assert result.dtype == expected.dtype
    bound = 16 * np.finfo(result.dtype).eps * np.abs(expected).max()
    np.testing.assert_allclose(result, expected, 0, bound)
