"""Fused multiply-add, which NumPy lacks: x * y + z with one rounding, for results that have torch's last bit."""

import numpy as np

Array = np.ndarray
_BLOCK = 1 << 13  # elements: what is computed in between stays in the cache
_SPLITTER = 2.0**27 + 1  # splits a double into two halves whose products are exact
_SPLITTABLE = 2.0**990  # a larger factor would leave the range when it is split


def fused_multiply_add(x: Array, y: float, z: Array | float) -> Array:
    """x * y + z for a float32 or float64 vector `x`, a number `y`, and a number or vector `z`."""
    compute = _fused_double if x.dtype == np.float64 else _fused_single
    if x.size <= _BLOCK:
        return compute(x, y, z)
    result = np.empty_like(x)
    for start in range(0, x.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        result[part] = compute(x[part], y, z[part] if np.ndim(z) else z)
    return result


def _fused_single(x: Array, y: float, z: Array | float) -> Array:
    """In double precision the product is exact, and the second rounding almost never matters."""
    product = np.multiply(x, y, dtype=np.float64)
    np.add(product, z, out=product)
    return product.astype(np.float32)


def _fused_double(x: Array, y: float, z: Array | float) -> Array:
    """Product and sum with the errors that their roundings made, which are then added (Dekker, Knuth)."""
    if np.isinf(y):
        return x * y + z
    if np.abs(y) > _SPLITTABLE:
        return _fused_double(x, y * 2.0**-64, z * 2.0**-64) * 2.0**64
    product = x * y
    x_high, x_low = _split(x)
    y_high, y_low = _split(y)
    product_error = ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low
    total = product + z
    other = total - product
    sum_error = (product - (total - other)) + (z - other)
    return total + (sum_error + product_error)


def _split(x: Array | float) -> tuple:
    scaled = x * _SPLITTER
    high = scaled - (scaled - x)
    return high, x - high
