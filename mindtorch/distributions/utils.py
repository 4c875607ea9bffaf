"""What distributions share: parameters that are broadcast, and probabilities in their two spellings."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from numbers import Number
from typing import Any

from mindtorch._core.dtype import finfo, get_default_dtype
from mindtorch._core.tensor import Tensor
from mindtorch._functions.broadcasting import broadcast_tensors
from mindtorch._functions.creation import tensor
from mindtorch.autograd.grad_mode import enable_grad
from mindtorch.dispatch import ops

euler_constant = 0.57721566490153286060


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Tensors of one shape; numbers become tensors like the first tensor among the values."""
    if not all(isinstance(value, (Tensor, Number)) for value in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__."
        )
    first = next((value for value in values if isinstance(value, Tensor)), None)
    dtype, device = (get_default_dtype(), None) if first is None else (first.dtype, first.device)
    tensors = [value if isinstance(value, Tensor) else tensor(value, dtype=dtype, device=device) for value in values]
    return tuple(broadcast_tensors(*tensors))


def standard_normal(shape: Any, like: Tensor) -> Tensor:
    """Normal numbers in the dtype of another tensor."""
    return ops.randn(shape, dtype=like.dtype, device=like.device)


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Tensor:
    """Normal numbers, as distributions of one's own ask for them."""
    return ops.randn(shape, dtype=dtype, device=device)


def sum_rightmost(value: Any, dim: int) -> Any:
    """The sum over the last `dim` dimensions."""
    return value if dim == 0 else value.reshape((*value.shape[:-dim], -1)).sum(-1)


_sum_rightmost = sum_rightmost  # what programs import from torch


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities of log odds, or of the logarithms of weights."""
    return ops.sigmoid(logits) if is_binary else ops.softmax(logits, -1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Keep probabilities away from 0 and 1, so that their logarithms are finite."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """The log odds of probabilities, or their logarithms."""
    clamped = clamp_probs(probs)
    return ops.log(clamped) - ops.log1p(-clamped) if is_binary else ops.log(clamped)


class lazy_property:
    """An attribute that is computed when it is first read; gradients are recorded even then."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class ProbsOrLogits:
    """The two spellings of probabilities, of which one was given and the other follows."""

    _is_binary = True

    def _give(self, probs: Any, logits: Any) -> None:
        """Take the one that was given."""
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is None:
            self.logits = logits
        else:
            self.probs = probs

    @lazy_property
    def logits(self) -> Tensor:
        return probs_to_logits(self.probs, self._is_binary)

    @lazy_property
    def probs(self) -> Tensor:
        return logits_to_probs(self.logits, self._is_binary)

    @property
    def _param(self) -> Tensor:
        return self.probs if "probs" in self.__dict__ else self.logits

    @property
    def param_shape(self) -> Any:
        return self._param.size()


# -------------------- triangles of matrices --------------------


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The elements on and below a diagonal, row after row."""
    size = mat.shape[-1]
    if diag < -size or diag >= size:
        raise ValueError(f"diag ({diag}) provided is outside [{-size}, {size - 1}].")
    return mat[..., _triangle(size, diag, mat)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The matrix that has these elements on and below a diagonal, and zeros elsewhere."""
    root = ((1 + 2 * diag) ** 2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1)) ** 0.5
    size = (root - (1 + 2 * diag)) / 2
    if round(size) - size > finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {vec.shape[-1]} which cannot be expressed as the lower triangular part of "
            "a square D x D matrix."
        )
    matrix = vec.new_zeros((*vec.shape[:-1], round(size), round(size)))
    matrix[..., _triangle(round(size), diag, vec)] = vec
    return matrix


def _triangle(size: int, diag: int, like: Tensor) -> Tensor:
    places = ops.arange(size, device=like.device)
    return places < places.view(-1, 1) + (diag + 1)
