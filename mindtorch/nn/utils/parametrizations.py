"""Parametrizations of weights: by their length and direction, by their largest singular value, as orthogonal ones."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

import numpy as np

from mindtorch._core.dtype import finfo
from mindtorch._core.interop import from_numpy
from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.tensor import Tensor
from mindtorch._functions.comparison import allclose
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch import ops
from mindtorch.linalg import qr, solve
from mindtorch.nn import functional as F
from mindtorch.nn.modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from mindtorch.nn.modules.module import Module
from mindtorch.nn.utils import parametrize, weights

# -------------------- orthogonal --------------------


class _OrthMaps(Enum):
    matrix_exp = auto()
    cayley = auto()
    householder = auto()


class _Orthogonal(Module):
    """Makes an orthogonal matrix of any one."""

    base: Any

    def __init__(self, weight: Tensor, orthogonal_map: _OrthMaps, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == _OrthMaps.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        is_wide = X.size(-2) < X.size(-1)
        Q = self._mapped(X.mT if is_wide else X)
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.mT if is_wide else Q

    def _mapped(self, X: Tensor) -> Tensor:
        if self.orthogonal_map == _OrthMaps.householder:
            A = X.tril(diagonal=-1)
            Q = weights.householder_product(A, 2.0 / (1.0 + (A * A).sum(dim=-2)))
            return Q * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        rows, columns = X.shape[-2:]
        X = X.tril()
        if rows != columns:
            X = ops.cat([X, X.new_zeros(rows, rows - columns).expand(*X.shape[:-2], -1, -1)], dim=-1)
        A = X - X.mH
        if self.orthogonal_map == _OrthMaps.matrix_exp:
            Q = ops.matrix_exp(A)
        else:
            identity = ops.eye(rows, dtype=A.dtype, device=A.device)
            Q = solve(ops.add(identity, A, alpha=-0.5), ops.add(identity, A, alpha=0.5))
        return Q[..., :columns]

    @no_grad()
    def right_inverse(self, Q: Tensor) -> Tensor:
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}."
            )
        is_wide = Q.size(-2) < Q.size(-1)
        tall = Q.mT if is_wide else Q
        if not hasattr(self, "base"):
            inverse = self._reflections(tall)
            return inverse.mT if is_wide else inverse
        self.base = _completed(tall)
        minus_identity = ops.zeros_like(Q)
        minus_identity.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return minus_identity

    def _reflections(self, Q: Tensor) -> Tensor:
        if self.orthogonal_map != _OrthMaps.householder:
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False."
            )
        columns, scales = np.linalg.qr(Q.numpy(), mode="raw")
        A, tau = from_numpy(columns).contiguous().mT, from_numpy(scales)
        diagonal = A.diagonal(dim1=-2, dim2=-1)
        diagonal.sign_()
        diagonal[tau == 0.0] *= -1
        return A


def _completed(Q: Tensor) -> Tensor:
    """The matrix with enough columns to be square, made orthogonal if it is not."""
    rows, columns = Q.shape[-2:]
    if rows != columns:
        more = ops.randn((*Q.shape[:-2], rows, rows - columns), dtype=Q.dtype, device=Q.device)
        return _make_orthogonal(ops.cat([Q, more], dim=-1))
    return Q.clone() if _is_orthogonal(Q) else _make_orthogonal(Q)


def _is_orthogonal(Q: Tensor) -> bool:
    identity = ops.eye(Q.size(-1), dtype=Q.dtype, device=Q.device)
    return allclose(Q.mH @ Q, identity, atol=10.0 * Q.size(-2) * finfo(Q.dtype).eps)


def _make_orthogonal(A: Tensor) -> Tensor:
    Q, R = qr(A)
    return Q * R.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Keep a matrix of a module orthogonal."""
    weight = _weight_of(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        is_square = weight.size(-2) == weight.size(-1)
        orthogonal_map = "matrix_exp" if is_square or weight.is_complex() else "householder"
    if orthogonal_map not in _OrthMaps.__members__:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    made = _Orthogonal(weight, _OrthMaps[orthogonal_map], use_trivialization=use_trivialization)
    return parametrize.register_parametrization(module, name, made, unsafe=True)


def _weight_of(module: Module, name: str) -> Tensor:
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


# -------------------- length and direction --------------------


class _WeightNorm(Module):
    """Makes a weight of its length and its direction."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weights.weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return ops.norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int = 0) -> Module:
    """Train the length and the direction of a weight apart."""
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(module: Module, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        """Takes the names that the older `nn.utils.weight_norm` gives."""
        old = [f"{prefix}{name}_{letter}" for letter in "gv"]
        if all(key in state_dict for key in old):
            for number, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{number}"] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)
    return module


# -------------------- largest singular value --------------------


class _SpectralNorm(Module):
    """Divides a weight by its largest singular value, which steps of the power method follow."""

    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            self._start(weights.as_matrix(weight, self.dim))

    def _start(self, matrix: Tensor) -> None:
        u, v = (matrix.new_empty(size).normal_(0, 1) for size in matrix.size())
        self.register_buffer("_u", F.normalize(u, dim=0, eps=self.eps))
        self.register_buffer("_v", F.normalize(v, dim=0, eps=self.eps))
        self._power_method(matrix, 15)

    @no_grad()
    def _power_method(self, matrix: Tensor, n_power_iterations: int) -> None:
        for _ in range(n_power_iterations):
            self._u.copy_(F.normalize(ops.mv(matrix, self._v), dim=0, eps=self.eps))
            self._v.copy_(F.normalize(ops.mv(matrix.H, self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = weights.as_matrix(weight, self.dim)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # Copies, because the next step of the power method writes to them.
        u, v = (vector.clone(memory_format=contiguous_format) for vector in (self._u, self._v))
        return weight / ops.vdot(u, ops.mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Keep the largest singular value of a weight at 1."""
    weight = _weight_of(module, name)
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    made = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return parametrize.register_parametrization(module, name, made)
