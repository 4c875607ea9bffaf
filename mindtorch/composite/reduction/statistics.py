"""Covariance and correlation, the distance of two tensors, and rows scaled to a largest norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch._core import geometry
from mindtorch._core.dtype import bool as boolean
from mindtorch._core.tensor import Tensor, wrap
from mindtorch._support.float_errors import quiet
from mindtorch._support.numpy_functions import copyto
from mindtorch._support.warnings import warn
from mindtorch.backends.cpu.reduction.reduction import vector_norm
from mindtorch.composite.common import out_forms
from mindtorch.composite.common.unseen import bare_floats
from mindtorch.dispatch import ops
from mindtorch.iterator import BLOCK
from mindtorch.iterator.constants import kept_constant

# -------------------- covariance --------------------


def cov(input: Tensor, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    """Of variables in rows and observations in columns, which may count several times or have weights."""
    _check_matrix("cov()", input)
    if input.dtype is boolean:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    values = input.view((1, -1)) if input.ndim < 2 else input
    _check_weights(values, fweights, aweights)
    weights = _product(fweights, aweights)
    total = values.size(1) if weights is None else weights.sum()
    if weights is not None and not bool(total != 0):
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    mean = values.sum(1) / total if weights is None else (values * weights).sum(1) / total
    centred = values - mean.unsqueeze(1)
    factor = centred if weights is None else centred * weights
    norm = _normalizer(values, correction, weights, aweights, total)
    return (factor.mm(_conj(centred).t()) / norm).squeeze()


def _normalizer(
    values: Tensor, correction: int, weights: Tensor | None, aweights: Tensor | None, total: Tensor | int
) -> Tensor:
    """By what the products are divided; not below zero."""
    if weights is None:
        norm: Any = ops.scalar_tensor(
            values.size(1) - correction, dtype=(values.real * 1.0).dtype, device=values.device
        )
    elif aweights is None or correction == 0:
        norm = total - correction
    else:
        norm = total - correction * (weights * aweights).sum() / total
    if bool(norm <= 0):
        warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.",
            UserWarning,
        )
    return norm.clamp(min=0)


def _product(fweights: Tensor | None, aweights: Tensor | None) -> Tensor | None:
    if fweights is None or aweights is None:
        return aweights if fweights is None else fweights
    return fweights * aweights


def _conj(tensor: Tensor) -> Tensor:
    return tensor.conj() if tensor.is_complex() else tensor


def _check_matrix(op: str, input: Tensor) -> None:
    if input.ndim > 2:
        raise RuntimeError(
            f"{op}: expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions"
        )


def _check_weights(values: Tensor, fweights: Tensor | None, aweights: Tensor | None) -> None:
    for name, weights, is_float in (("fweights", fweights, False), ("aweights", aweights, True)):
        if weights is None:
            continue
        _check_rank_of_weights(name, weights)
        if is_float != weights.is_floating_point() or weights.is_complex() or weights.dtype is boolean:
            kind = "floating point" if is_float else "integral"
            raise RuntimeError(
                f"cov(): expected {name} to have {kind} dtype but got {name} with {weights.dtype.storage_name} dtype"
            )
        _check_number_of_weights(name, weights, values.size(1))
        if weights.numel() and bool(weights.min() < 0):
            raise RuntimeError(f"cov(): {name} cannot be negative")


def _check_rank_of_weights(name: str, weights: Tensor) -> None:
    if weights.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights.ndim} dimensions"
        )


def _check_number_of_weights(name: str, weights: Tensor, count: int) -> None:
    if weights.numel() != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{weights.numel()} != {count}"
        )


def corrcoef(input: Tensor) -> Tensor:
    _check_matrix("corrcoef()", input)
    covariance = cov(input)
    if covariance.ndim == 0:
        return covariance / covariance
    variances = covariance.diag()
    deviations = (variances.real if variances.is_complex() else variances).sqrt()
    scaled = covariance / deviations.view((-1, 1)) / deviations.view((1, -1))
    if scaled.is_complex():
        return ops.complex(scaled.real.clip(-1, 1), scaled.imag.clip(-1, 1))
    return scaled.clip(-1, 1)


# -------------------- norms --------------------


def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Each part along a dimension is scaled down to a norm, if it has a larger one."""
    _check_renorm(input, p, maxnorm)
    wrapped = geometry.wrap_dim(dim, input.ndim)
    others = [each for each in range(input.ndim) if each != wrapped]
    if (arrays := bare_floats(input)) is not None and arrays[0].flags.c_contiguous and arrays[0].size <= BLOCK:
        return wrap(quiet(_renormed, arrays[0], p, others, maxnorm))
    norms = ops.linalg_vector_norm(input, p, others, True)
    factors = ops.where(norms > maxnorm, maxnorm / (norms + 1e-7), ops.ones_like(norms))
    return (input * factors).contiguous()


def _renormed(x: np.ndarray, p: float, dims: list[int], maxnorm: float) -> np.ndarray:
    """The same on an array."""
    norms = vector_norm(x, p, dims, True)
    small, one, most = [kept_constant(each, x.dtype) for each in (1e-7, 1, maxnorm)]
    factors = np.add(norms, small)
    np.divide(one, factors, factors)
    np.multiply(factors, most, factors)
    copyto(factors, one, where=np.logical_not(np.greater(norms, most)))
    return np.multiply(x, factors)


def renorm_(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """The gradient needs the input as it was."""
    return input.copy_(renorm(input.clone(), p, dim, maxnorm))


renorm_out = out_forms.of_input_dtype(renorm)


def _check_renorm(input: Tensor, p: float, maxnorm: float) -> None:
    if isinstance(p, complex):
        raise RuntimeError("renorm: p must be real-valued")
    if not p > 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if isinstance(maxnorm, complex):
        raise RuntimeError("renorm: maxnorm must be real-valued")
    if not maxnorm >= 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if input.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions")
