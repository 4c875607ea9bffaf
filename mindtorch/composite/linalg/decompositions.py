"""Linear algebra on top of the factorizations: errors instead of info, other names, systems solved by factors."""

from __future__ import annotations

import numpy as np

from mindtorch._core.dtype import finfo
from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.tensor import Tensor
from mindtorch._support import errors
from mindtorch._support.warnings import warn_once
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.batching import without_levels
from mindtorch.iterator import broadcast_shapes

# -------------------- errors instead of info --------------------


def _raise_for(op: str, info: Tensor, text: str, kind: type[RuntimeError] = errors.LinAlgError) -> None:
    """The error for the first matrix with which something is wrong; `text` has a place for what the info says."""
    if info.device.type == "meta" or (type(info._mt_array) is np.ndarray and not info._mt_array.any()):
        return
    info = without_levels(info).cpu()
    wrong = info.reshape((-1,)).nonzero().reshape((-1,))
    if not wrong.numel():
        return
    place = int(wrong[0])
    batch = f"(Batch element {place}): " if info.ndim else ""
    raise kind(f"{op}: {batch}{text.format(int(info.reshape((-1,))[place]))}")


_ZERO_DIAGONAL = (
    "The diagonal element {} is zero, the inversion could not be completed because the input matrix is singular."
)
_NOT_POSITIVE = (
    "The factorization could not be completed because the input is not positive-definite (the leading minor of order "
    "{} is not positive-definite)."
)
_ZERO_PIVOT = (
    "U[{0},{0}] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the "
    "factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
)
_CHOLESKY = (
    "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a future PyTorch release.\n"
    "L = torch.cholesky(A)\nshould be replaced with\nL = torch.linalg.cholesky(A)\nand\n"
    "U = torch.cholesky(A, upper=True)\nshould be replaced with\nU = torch.linalg.cholesky(A).mH\n"
    "This transform will produce equivalent results for all valid (symmetric positive definite) inputs."
)
_QR = (
    "torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future PyTorch release.\n"
    "The boolean parameter 'some' has been replaced with a string parameter 'mode'.\n"
    "Q, R = torch.qr(A, some)\nshould be replaced with\n"
    "Q, R = torch.linalg.qr(A, 'reduced' if some else 'complete')"
)
_TRIANGULAR_SOLVE = (
    "torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangularand will be removed in a future "
    "PyTorch release.\n"
    "torch.linalg.solve_triangular has its arguments reversed and does not return a copy of one of the inputs.\n"
    "X = torch.triangular_solve(B, A).solution\nshould be replaced with\n"
    "X = torch.linalg.solve_triangular(A, B)."
)
_ZERO_BLOCK = "The diagonal block of D in row {} is zero, so that systems with these factors have no solution."

_LU = (
    "torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and will be removed in a "
    "future PyTorch release.\nLU, pivots = torch.lu(A, compute_pivots)\nshould be replaced with\n"
    "LU, pivots = torch.linalg.lu_factor(A, compute_pivots)\nand\n"
    "LU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\nshould be replaced with\n"
    "LU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)"
)


_LU_SOLVE = (
    "torch.lu_solve is deprecated in favor of torch.linalg.lu_solveand will be removed in a future PyTorch release.\n"
    "Note that torch.linalg.lu_solve has its arguments reversed.\nX = torch.lu_solve(B, LU, pivots)\n"
    "should be replaced with\nX = torch.linalg.lu_solve(LU, pivots, B)"
)


def linalg_inv(A: Tensor) -> Tensor:
    inverse, info = ops.linalg_inv_ex(A)
    _raise_for("linalg.inv", info, _ZERO_DIAGONAL)
    return inverse


def linalg_cholesky(input: Tensor, upper: bool = False) -> Tensor:
    factor, info = ops.linalg_cholesky_ex(input, upper=upper)
    _raise_for("linalg.cholesky", info, _NOT_POSITIVE)
    return factor


def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    warn_once(_CHOLESKY)
    if not input.numel() and input.ndim > 1 and input.shape[-1] == input.shape[-2]:
        return ops.empty_like(input, memory_format=contiguous_format)
    _check_kernel("cholesky_cpu", input)
    return linalg_cholesky(input, upper)


def _check_kernel(name: str, input: Tensor) -> None:
    """torch has these for the wider floating-point and complex dtypes."""
    if not (input.is_floating_point() or input.is_complex()) or input.element_size() == 2:
        raise NotImplementedError(f"\"{name}\" not implemented for '{input.dtype.storage_name}'")


def linalg_solve(A: Tensor, B: Tensor, left: bool = True) -> Tensor:
    result, _, _, info = ops._linalg_solve_ex(A, B, left=left)
    _raise_for("torch.linalg.solve", info, "The solver failed because the input matrix is singular.")
    return result


def linalg_solve_ex(A: Tensor, B: Tensor, left: bool = True, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    result, _, _, info = ops._linalg_solve_ex(A, B, left=left, check_errors=check_errors)
    return result, info


def linalg_lu_factor(A: Tensor, pivot: bool = True) -> tuple[Tensor, Tensor]:
    packed, pivots, info = ops.linalg_lu_factor_ex(A, pivot=pivot)
    _raise_for("torch.linalg.lu_factor", info, _ZERO_PIVOT, RuntimeError)
    return packed, pivots


def lu_with_info(input: Tensor, pivot: bool = True, check_errors: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    warn_once(_LU)
    return ops.linalg_lu_factor_ex(input, pivot=pivot, check_errors=check_errors)


def linalg_ldl_factor(input: Tensor, hermitian: bool = False) -> tuple[Tensor, Tensor]:
    factors, pivots, info = ops.linalg_ldl_factor_ex(input, hermitian=hermitian)
    _raise_for("torch.linalg.ldl_factor", info, _ZERO_BLOCK)
    return factors, pivots


# -------------------- determinants --------------------


def logdet(input: Tensor) -> Tensor:
    _check_logdet(input)
    sign, logarithm = ops._linalg_slogdet(input)[:2]
    if input.is_complex():
        return sign.log() + logarithm
    return ops.where(sign == -1.0, float("nan"), logarithm)


def _check_logdet(input: Tensor) -> None:
    if input.ndim < 2:
        raise RuntimeError("logdet: The input tensor A must have at least 2 dimensions.")
    rows, columns = input.shape[-2:]
    if rows != columns:
        raise RuntimeError(f"logdet: A must be batches of square matrices, but they are {rows} by {columns} matrices")
    kind = input.dtype.storage_name
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(f"logdet: Expected a floating point or complex tensor as input. Got {kind}")
    if input.element_size() == 2:
        raise RuntimeError(f"logdet: Low precision dtypes not supported. Got {kind}")


# -------------------- factorizations by their other names --------------------


def qr(input: Tensor, some: bool = True) -> tuple[Tensor, Tensor]:
    warn_once(_QR)
    return ops.linalg_qr(input, "reduced" if some else "complete")


def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    if input.ndim < 2:
        raise RuntimeError("linalg.svd: input should have at least 2 dimensions, but has " + f"{input.ndim} dimensions")
    left, values, right = ops._linalg_svd(input, not some, True)
    if not compute_uv:
        *batch, rows, columns = input.shape
        right = input.new_zeros((*batch, columns, columns))
        return input.new_zeros((*batch, rows, rows)), values, _adjoint(right)
    return left, values, _adjoint(right)


def linalg_eigvals(input: Tensor) -> Tensor:
    if input.ndim < 2:
        raise RuntimeError("linalg.eigvals: The input tensor A must have at least 2 dimensions.")
    rows, columns = input.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"linalg.eigvals: A must be batches of square matrices, but they are {rows} by {columns} matrices"
        )
    return ops.linalg_eig(input)[0]


def _adjoint(matrix: Tensor) -> Tensor:
    turned = matrix.transpose(-2, -1)
    return turned.conj() if matrix.is_complex() else turned


# -------------------- systems solved by factors --------------------


def triangular_solve(
    input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    warn_once(_TRIANGULAR_SOLVE)
    _check_same_dtype(input, A)
    matrix = A.transpose(-2, -1) if transpose else A
    solution = ops.linalg_solve_triangular(matrix, input, upper=upper != transpose, unitriangular=unitriangular)
    coefficient = A.expand((*solution.shape[:-2], *A.shape[-2:])).transpose(-2, -1).contiguous()
    return solution, coefficient.transpose(-2, -1).clone()


def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    for name, each in (("b", input), ("u", input2)):
        if each.ndim < 2:
            raise RuntimeError(f"{name} should have at least 2 dimensions, but has {each.ndim} dimensions instead")
    if input2.size(-1) != input.size(-2):
        size = input2.size(-1)
        raise RuntimeError(
            f"Incompatible matrix sizes for cholesky_solve: each A matrix is {size} by {size} but "
            f"each b matrix is {input.size(-2)} by {input.size(-1)}"
        )
    _check_same_dtype(input, input2)
    _check_kernel("cholesky_solve_cpu", input)
    lower = _adjoint(input2) if upper else input2
    half = ops.linalg_solve_triangular(lower, input, upper=False)
    return ops.linalg_solve_triangular(_adjoint(lower), half, upper=True)


def _check_same_dtype(b: Tensor, A: Tensor) -> None:
    if b.dtype is not A.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {b.dtype.storage_name} and A of type "
            f"{A.dtype.storage_name} instead."
        )


def cholesky_inverse(input: Tensor, upper: bool = False) -> Tensor:
    if input.ndim < 2:
        raise RuntimeError("cholesky_inverse: The input tensor A must have at least 2 dimensions.")
    _check_kernel("cholesky_inverse_out_cpu", input)
    identity = ops.eye(input.size(-1), dtype=input.dtype, device=input.device).expand(input.shape)
    return cholesky_solve(identity, input, upper)


_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def linalg_lstsq(
    input: Tensor, b: Tensor, rcond: float | None = None, driver: str | None = None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The solution of least size; residuals and singular values are there with the drivers that compute them."""
    _check_lstsq(input, b, driver)
    right = _right_side(input, b)
    if driver == "gelsd" and rcond is not None and rcond >= 1:
        rcond = finfo(input.dtype).eps / 2  # LAPACK takes it for none
    solution = ops.linalg_pinv(input, rtol=rcond, atol=None).matmul(right)
    nothing = input.reshape((-1,))[:0].abs()
    values = ops.linalg_svdvals(input.detach()) if driver in ("gelsd", "gelss") else nothing.detach()
    rank = ops.linalg_matrix_rank(input.detach(), rtol=rcond, atol=None)
    residuals = nothing
    if input.size(-2) > input.size(-1) and _gives_residuals(driver, rank, input.size(-1)):
        residuals = (input.matmul(solution) - right).abs().square().sum(-2)
    if driver == "gels":
        rank = rank.new_empty((0,))
    solution = _in_place_of(right, solution)
    return (solution.squeeze(-1) if _is_vector(input, b) else solution), residuals, rank, values


def _is_vector(input: Tensor, b: Tensor) -> bool:
    """Whether b is one vector for each matrix."""
    return b.ndim == 1 or b.shape == input.shape[:-1]


def _right_side(input: Tensor, b: Tensor) -> Tensor:
    """Of matrices with fewer dimensions torch expands the batch by the number of their rows, too."""
    if _is_vector(input, b):
        return b.unsqueeze(-1)
    if input.ndim == b.ndim:
        return b
    batch = broadcast_shapes(tuple(input.shape[:-2]), tuple(b.shape[:-1]))
    return b.expand((*batch, *b.shape[-2:]))


def _gives_residuals(driver: str | None, rank: Tensor, columns: int) -> bool:
    """Singular values tell whether all matrices have full rank, and only then what is left over is a residual."""
    if driver in ("gelsd", "gelss") and rank.device.type != "meta":
        return bool((without_levels(rank) == columns).all())
    return driver in _DRIVERS and driver != "gelsy"


def _in_place_of(right: Tensor, solution: Tensor) -> Tensor:
    """The solution as LAPACK leaves it: in the memory of the right-hand side, which may have more rows."""
    *batch, rows, columns = solution.shape
    step = max(rows, right.size(-2))
    outer = right.new_empty((*batch, columns, step)).stride()[:-2]
    return solution.new_empty_strided((*batch, rows, columns), (*outer, 1, step)).copy_(solution)


def _check_lstsq(input: Tensor, b: Tensor, driver: str | None) -> None:
    if input.ndim < 2:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    if not b.ndim:
        raise RuntimeError("torch.linalg.lstsq: other must have at least 1 dimension.")
    if not 0 <= input.ndim - b.ndim <= 1:
        raise RuntimeError(
            "torch.linalg.lstsq: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) "
            "<= 1"
        )
    if input.dtype is not b.dtype:
        raise RuntimeError(
            "torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype "
            f"{input.dtype.storage_name} and other's dtype {b.dtype.storage_name}"
        )
    if not (input.is_floating_point() or input.is_complex()) or input.element_size() == 2:
        raise RuntimeError("This function doesn't handle types other than float and double")
    if driver is not None and driver not in _DRIVERS:
        raise RuntimeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    dim = -1 if _is_vector(input, b) else -2
    if input.size(-2) != b.size(dim):
        raise RuntimeError(f"torch.linalg.lstsq: input.size(-2) should match other.size({dim})")


def linalg_tensorinv(input: Tensor, ind: int = 2) -> Tensor:
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind', but got " + str(ind))
    if ind > input.ndim:
        raise RuntimeError(f"ArrayRef: invalid slice, N = {ind}; size = {input.ndim}")
    left, right = input.shape[:ind], input.shape[ind:]
    count = input.new_empty(right).numel()
    if count != input.new_empty(left).numel():
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{count} != {input.new_empty(left).numel()}"
        )
    return linalg_inv(input.reshape((count, count))).reshape((*right, *left))


def linalg_tensorsolve(input: Tensor, other: Tensor, dims: list[int] | None = None) -> Tensor:
    moved = input if dims is None else input.movedim(dims, list(range(input.ndim - len(dims), input.ndim)))
    shape = moved.shape[other.ndim :]
    count = moved.new_empty(shape).numel()
    if count != other.numel():
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {count} != {other.numel()}"
        )
    return linalg_solve(moved.reshape((count, count)), other.reshape((count,))).reshape(tuple(shape))


# -------------------- systems with factors that are known --------------------


def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    warn_once(_LU_SOLVE)
    return ops.linalg_lu_solve(LU_data, LU_pivots, input)
