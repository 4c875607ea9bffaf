"""Fourier transforms over sizes, dimensions and norms."""

import numpy as np
import pytest
import torch

import mindtorch


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
def test_fft(name, norm):
    for shape, n, dim in [((5,), None, -1), ((2, 4), None, 0), ((2, 4), 3, 1), ((2, 4), 7, 1), ((2, 3, 4), None, 1)]:
        results = []
        for T in (mindtorch, torch):
            x = T.arange(float(np.prod(shape))).reshape(shape)
            found = getattr(T.fft, name)(x, n, dim, norm)
            results.append(found)
        assert results[0].stride() == results[1].stride() and str(results[0].dtype) == str(results[1].dtype)
        np.testing.assert_allclose(results[0].tolist(), results[1].tolist(), rtol=1e-5, atol=1e-5)
