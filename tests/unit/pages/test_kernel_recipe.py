"""The recipe of CONTRIBUTING.md for an elementwise kernel with a parameter."""

import re

import numpy as np
import pytest

from tests.harness import ROOT


def test_an_elementwise_kernel_with_a_parameter():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(from [^`]*?\bcompute\(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    names = {"np": np}
    exec(code, names)
    gain = names["gain"]
    column, row = np.array([[1.0], [2.0]], np.float16), np.array([0, 1, 2])
    expected = (column.astype(np.float32) * np.exp(-row.astype(np.float32) / np.float32(2))).astype(np.float16)
    found = gain(column, row, 2.0)
    assert found.dtype == np.float16
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    assert gain(row, row, 2.0).dtype == np.float32
    out = np.empty((2, 3), np.float64)
    assert gain(column, row, 2.0, out) is out
    np.testing.assert_allclose(out, expected, rtol=1e-3)
    with pytest.raises(NotImplementedError, match="\"gain\" not implemented for 'ComplexFloat'"):
        gain(column.astype(np.complex64), row, 2.0)
