"""Linear algebra on the NPU by hand: triangular systems, singular values, and what has no sign of failure."""

from typing import Any

import numpy as np

from mindtorch._core.promotion import BOOL
from mindtorch.backends.fallback import cpu_kernel_for
from mindtorch.backends.meta import rules
from mindtorch.backends.npu.array import NpuArray, new
from mindtorch.backends.npu.fallback import kernel_for
from mindtorch.backends.npu.launch import aclnn, copied, delivered_all, placed, placed_all, remembered

_all = aclnn("aclnnAll", "TIbT")
_cholesky = aclnn("aclnnLinalgCholesky", "TbT")
_inverse = aclnn("aclnnInverse", "TT")
_is_finite = aclnn("aclnnIsFinite", "TT")
_not = aclnn("aclnnInplaceLogicalNot", "T")
_svd = aclnn("aclnnSvd", "TbbTTT")
_triangular_solve = aclnn("aclnnTriangularSolve", "TTbbbTT")
_inv_rule, _cholesky_rule = [remembered(rules.with_info("first"), op) for op in ("linalg_inv_ex", "linalg_cholesky_ex")]
_solve_triangular_rule = remembered(rules.solve_triangular("first"), "linalg_solve_triangular")
_svd_rule = remembered(rules.svd("first"), "_linalg_svd")

_inv_ex_on_cpu = kernel_for("linalg_inv_ex")
_cholesky_ex_on_cpu = kernel_for("linalg_cholesky_ex")
_svd_on_cpu = kernel_for("_linalg_svd")
_solve_triangular_on_cpu = cpu_kernel_for("linalg_solve_triangular")


def inv_ex(A: NpuArray, check_errors: bool = False, out: Any = None) -> tuple[NpuArray, ...]:
    return _factored(_inverse, _inv_rule, (), _inv_ex_on_cpu, A, (check_errors,), out)


def cholesky_ex(
    input: NpuArray, upper: bool = False, check_errors: bool = False, out: Any = None
) -> tuple[NpuArray, ...]:
    return _factored(_cholesky, _cholesky_rule, (upper,), _cholesky_ex_on_cpu, input, (upper, check_errors), out)


def _factored(call: Any, rule: Any, options: tuple, on_cpu: Any, input: NpuArray, given: tuple, out: Any) -> tuple:
    """A matrix for each matrix, and 1 where it is not finite: ACLNN has no number for where it failed.

    (CANN names float32 and bfloat16 for Cholesky factors; of the latter torch has none.)
    """
    if input.dtype != np.float32:
        return on_cpu(input, *given, out=out)
    result, info = placed_all(rule(input, *given), input)
    if out is not None:
        rule(input, *given, out=out)  # which refuses what does not fit
    if result.size:
        call(input, *options, result)
    if info.size:
        _note_failures(result, info)
    if given[-1] and np.any(info.to_numpy()):
        return on_cpu(input, *given, out=out)  # which says what is wrong
    return (result, info) if out is None else delivered_all((result, info), out)


def _note_failures(result: NpuArray, info: NpuArray) -> None:
    finite, failed = new(result.shape, BOOL, result.root.index), new(info.shape, BOOL, info.root.index)
    _is_finite(result, finite)
    _all(finite, (result.ndim - 2, result.ndim - 1), False, failed)
    _not(failed)
    copied(info, failed)


def svd(
    A: NpuArray, full_matrices: bool = False, compute_uv: bool = True, driver: str | None = None, out: Any = None
) -> tuple[NpuArray, ...]:
    """ACLNN gives V, not its transpose."""
    if A.dtype.kind in "biuc" or driver is not None or not A.size:
        return _svd_on_cpu(A, full_matrices, compute_uv, driver, out=out)
    results = placed_all(_svd_rule(A, full_matrices, compute_uv, driver), A)
    if out is not None:
        _svd_rule(A, full_matrices, compute_uv, driver, out=out)
    U, S, Vh = results
    V = new((*Vh.shape[:-2], *Vh.shape[:-3:-1]), Vh.dtype, A.root.index) if compute_uv else Vh
    _svd(A, full_matrices, compute_uv, S, U, V)
    if compute_uv:
        copied(Vh, _transposed(V))
    return results if out is None else delivered_all(results, out)


def _transposed(array: NpuArray) -> NpuArray:
    shape, strides = array.shape, array.strides
    return array.part((*shape[:-2], *shape[:-3:-1]), array.dtype, (*strides[:-2], *strides[:-3:-1]), array.byte_offset)


def solve_triangular(
    input: NpuArray, B: NpuArray, upper: bool, left: bool = True, unitriangular: bool = False, out: Any = None
) -> NpuArray:
    """From the right the transposed system is solved."""
    meta = _solve_triangular_rule(input, B, upper, left, unitriangular)
    if input.dtype != B.dtype:
        return _solve_triangular_on_cpu(input, B, upper, left, unitriangular, out=out)
    if out is not None:
        _solve_triangular_rule(input, B, upper, left, unitriangular, out=out)
    result = placed(meta, B)
    if result.size:
        right = B if left else _transposed(B)
        batch = np.broadcast_shapes(input.shape[:-2], B.shape[:-2])
        found = new((*batch, *right.shape[-2:]), B.dtype, B.root.index)
        used = new((*batch, *input.shape[-2:]), B.dtype, B.root.index)
        _triangular_solve(right, input, upper, not left, unitriangular, found, used)
        copied(result, found if left else _transposed(found))
    return result if out is None else delivered_all((result,), (out,))[0]
