"""The `out=` forms of the ops of `decompositions`, whose results go into tensors that are there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch._core.dtype import c_name
from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.outputs import write_castable, write_out
from mindtorch.backends.cpu.common.casting import check_same
from mindtorch.composite.common import out_forms
from mindtorch.composite.linalg.decompositions import (
    cholesky,
    cholesky_inverse,
    cholesky_solve,
    linalg_cholesky,
    linalg_eigvals,
    linalg_inv,
    linalg_ldl_factor,
    linalg_lstsq,
    linalg_lu_factor,
    linalg_solve,
    linalg_solve_ex,
    linalg_tensorinv,
    linalg_tensorsolve,
    lu_solve,
    qr,
    svd,
    triangular_solve,
)
from mindtorch.dispatch import ops


def _written(out: Tensor, input: Tensor, function: Callable[..., Tensor], *args: Any, **kwargs: Any) -> Tensor:
    """What a function gives in `out`, which must have the dtype of the result."""
    result = function(input, *args, **kwargs)
    if out.dtype is not result.dtype:
        expected, given = c_name(result.dtype), c_name(out.dtype)
        raise RuntimeError(f"Expected out tensor to have dtype {expected}, but got {given} instead")
    written: Tensor = write_out(out, result)
    return written


cholesky_out = out_forms.of_castable("cholesky", cholesky)
linalg_solve_ex_out = out_forms.of_same_dtypes(linalg_solve_ex)
linalg_lu_factor_out = out_forms.of_same_dtypes(linalg_lu_factor)
linalg_ldl_factor_out = out_forms.of_same_dtypes(linalg_ldl_factor)
linalg_slogdet_out = out_forms.of_same_dtypes(out_forms.functional("linalg_slogdet"))
qr_out = out_forms.of_same_dtypes(qr)
linalg_svd_out = out_forms.of_same_dtypes(out_forms.functional("linalg_svd"))
svd_out = out_forms.of_same_dtypes(svd)
linalg_eigh_out = out_forms.of_same_dtypes(out_forms.functional("linalg_eigh"))
triangular_solve_out = out_forms.of_same_dtypes(triangular_solve)
linalg_lstsq_out = out_forms.of_castables(
    "torch.linalg.lstsq", ("solution", "solution", "rank", "singular_values"), linalg_lstsq
)


def lu_solve_out(input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor) -> Tensor:
    return _written(out, input, lu_solve, LU_data, LU_pivots)


def linalg_inv_out(A: Tensor, *, out: Tensor) -> Tensor:
    return _written(out, A, linalg_inv)


def linalg_det_out(A: Tensor, *, out: Tensor) -> Tensor:
    return _written(out, A, ops.linalg_det)


def linalg_solve_out(A: Tensor, B: Tensor, left: bool = True, *, out: Tensor) -> Tensor:
    return _written(out, A, linalg_solve, B, left)


def linalg_cholesky_out(input: Tensor, upper: bool = False, *, out: Tensor) -> Tensor:
    return _written(out, input, linalg_cholesky, upper)


def cholesky_solve_out(input: Tensor, input2: Tensor, upper: bool = False, *, out: Tensor) -> Tensor:
    return write_castable("cholesky_solve", "result", out, cholesky_solve(input, input2, upper))


def cholesky_inverse_out(input: Tensor, upper: bool = False, *, out: Tensor) -> Tensor:
    inverse = cholesky_inverse(input, upper)
    if out.dtype is inverse.dtype:
        return write_out(out, inverse)
    return write_castable("cholesky_inverse", "result", out, inverse)


def linalg_eigvals_out(input: Tensor, *, out: Tensor) -> Tensor:
    return write_castable("torch.linalg.eigvals", "eigenvalues", out, linalg_eigvals(input))


def linalg_tensorinv_out(input: Tensor, ind: int = 2, *, out: Tensor) -> Tensor:
    return write_castable("tensorinv", "result", out, linalg_tensorinv(input, ind))


def linalg_tensorsolve_out(input: Tensor, other: Tensor, dims: list[int] | None = None, *, out: Tensor) -> Tensor:
    return write_castable("tensorsolve", "result", out, linalg_tensorsolve(input, other, dims))


def linalg_svdvals_out(A: Tensor, driver: str | None = None, *, out: Tensor) -> Tensor:
    return _written(out, A, ops.linalg_svdvals, driver=driver)


def linalg_eigvalsh_out(input: Tensor, UPLO: str = "L", *, out: Tensor) -> Tensor:
    if not (input.is_floating_point() or input.is_complex()):
        check_same(input._mt_array, out._mt_array)
    return _written(out, input, ops.linalg_eigvalsh, UPLO)
