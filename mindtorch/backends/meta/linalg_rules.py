"""Shape rules of factorizations and linear systems, as those of rules.py. Matrices lie column by column in memory."""

from collections.abc import Sequence
from typing import Any

from mindtorch import iterator
from mindtorch._core.geometry import contiguous_strides
from mindtorch._core.promotion import INT32, complex_of, real_of
from mindtorch.backends import view_geometry
from mindtorch.backends.cpu.linalg.lu_factors import check_system, check_unpacked
from mindtorch.backends.meta.array import MetaArray
from mindtorch.backends.meta.results import Kernel, Shape, deliver, deliver_all


def _columns(shape: Sequence[int]) -> Shape:
    *batch, rows, columns = shape
    *outer, row, column = contiguous_strides((*batch, columns, rows))
    return (*outer, column, row)


def _matrix(shape: Sequence[int], dtype: Any) -> tuple[Shape, Any, Shape]:
    return tuple(shape), dtype, _columns(shape)


def _plain(shape: Sequence[int], dtype: Any) -> tuple[Shape, Any, None]:
    return tuple(shape), dtype, None


def check_addend(input: Any, shape: Shape, out: Any) -> None:
    """The addend of a product expands to its shape; one that is written in place has it."""
    if input.shape == shape:
        return
    is_meta, is_in_place = isinstance(input, MetaArray), input is out
    if is_in_place and not is_meta:
        raise RuntimeError(
            f"Bad in-place call: input tensor size {list(input.shape)} and output tensor size {list(shape)} should "
            "match"
        )
    if not is_meta or input.ndim <= len(shape):
        view_geometry.expand(input.shape, input.strides, 1, shape)
    if is_in_place:
        iterator.check_inplace_shape(out, shape)


def with_info(promotion: str) -> Kernel:
    """A matrix of the input's shape, and a number for each matrix of the batch."""

    def kernel(input: Any, *options: Any, out: Any = None) -> Any:
        return deliver_all(out, [_matrix(input.shape, input.dtype), _plain(input.shape[:-2], INT32)])

    return kernel


def lu_factor(promotion: str) -> Kernel:
    def kernel(A: Any, *options: Any, out: Any = None) -> Any:
        batch, small = A.shape[:-2], min(A.shape[-2:])
        results = [_matrix(A.shape, A.dtype), _plain((*batch, small), INT32), _plain(batch, INT32)]
        return deliver_all(out, results)

    return kernel


def lu(promotion: str) -> Kernel:
    def kernel(A: Any, pivot: bool = True, out: Any = None) -> Any:
        *batch, rows, columns = A.shape
        small = min(rows, columns)
        shapes = [(*batch, rows, rows), (*batch, rows, small), (*batch, small, columns)]
        return deliver_all(out, [_plain(shape, A.dtype) for shape in shapes])

    return kernel


def lu_unpack(promotion: str) -> Kernel:
    def kernel(
        LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True, out: Any = None
    ) -> Any:
        check_unpacked(LU_data, LU_pivots, unpack_pivots)
        *batch, rows, columns = LU_data.shape
        small = min(rows, columns)
        shapes = [(*batch, rows, rows) if unpack_pivots else (0,), (0,), (0,)]
        if unpack_data:
            shapes[1:] = [(*batch, rows, small), (*batch, small, columns)]
        return deliver_all(out, [_plain(shape, LU_data.dtype) for shape in shapes])

    return kernel


def lu_solve(promotion: str) -> Kernel:
    def kernel(LU: Any, pivots: Any, B: Any, left: bool = True, adjoint: bool = False, out: Any = None) -> Any:
        check_system(LU, pivots, B, left)
        shape = (*iterator.broadcast_shapes(LU.shape[:-2], B.shape[:-2]), *B.shape[-2:])
        return deliver(out, *(_matrix(shape, B.dtype) if left else _plain(shape, B.dtype)))

    return kernel


def det(promotion: str) -> Kernel:
    def kernel(A: Any, out: Any = None) -> Any:
        batch = A.shape[:-2]
        factors = [_matrix(A.shape, A.dtype), _plain(A.shape[:-1], INT32)]
        return deliver_all(out, [_plain(batch, A.dtype), *factors])

    return kernel


def slogdet(promotion: str) -> Kernel:
    def kernel(A: Any, out: Any = None) -> Any:
        batch = A.shape[:-2]
        factors = [_matrix(A.shape, A.dtype), _plain(A.shape[:-1], INT32)]
        return deliver_all(out, [_plain(batch, A.dtype), _plain(batch, real_of(A.dtype)), *factors])

    return kernel


def solve(promotion: str) -> Kernel:
    def kernel(A: Any, B: Any, left: bool = True, check_errors: bool = False, out: Any = None) -> Any:
        is_vector = B.ndim == 1 or (A.ndim - 1 == B.ndim and B.shape == A.shape[:-1])
        right = (*B.shape, 1) if is_vector else B.shape
        batch = iterator.broadcast_shapes(A.shape[:-2], right[:-2])
        shape = (*batch, *right[-2:])
        strides = _columns(shape) if left else None
        if is_vector:
            shape = shape[:-1]
            strides = _columns(shape) if B.ndim > 1 else None
        result = shape, A.dtype, strides
        full = (*batch, *A.shape[-2:])
        return deliver_all(out, [result, _matrix(full, A.dtype), _plain(full[:-1], INT32), _plain(batch, INT32)])

    return kernel


def solve_triangular(promotion: str) -> Kernel:
    def kernel(input: Any, B: Any, upper: bool, left: bool = True, unitriangular: bool = False, out: Any = None) -> Any:
        shape = (*iterator.broadcast_shapes(input.shape[:-2], B.shape[:-2]), *B.shape[-2:])
        return deliver(out, shape, input.dtype, _columns(shape))

    return kernel


def qr(promotion: str) -> Kernel:
    def kernel(A: Any, mode: str = "reduced", out: Any = None) -> Any:
        *batch, rows, columns = A.shape
        inner = rows if mode == "complete" else min(rows, columns)
        orthogonal = _plain((0,), A.dtype) if mode == "r" else _matrix((*batch, rows, inner), A.dtype)
        return deliver_all(out, [orthogonal, _matrix((*batch, inner, columns), A.dtype)])

    return kernel


def svd(promotion: str) -> Kernel:
    def kernel(A: Any, full: bool = False, vectors: bool = True, driver: str | None = None, out: Any = None) -> Any:
        *batch, rows, columns = A.shape
        small = min(rows, columns)
        values = _plain((*batch, small), real_of(A.dtype))
        if not vectors:
            return deliver_all(out, [_plain((0,), A.dtype), values, _plain((0,), A.dtype)])
        left = _matrix((*batch, rows, rows if full else small), A.dtype)
        return deliver_all(out, [left, values, _matrix((*batch, columns if full else small, columns), A.dtype)])

    return kernel


def eigh(promotion: str) -> Kernel:
    def kernel(A: Any, UPLO: str = "L", compute_v: bool = True, out: Any = None) -> Any:
        vectors = _matrix(A.shape, A.dtype) if compute_v else _plain((0,), A.dtype)
        return deliver_all(out, [_plain(A.shape[:-1], real_of(A.dtype)), vectors])

    return kernel


def eig(promotion: str) -> Kernel:
    def kernel(input: Any, out: Any = None) -> Any:
        dtype = complex_of(input.dtype)
        return deliver_all(out, [_plain(input.shape[:-1], dtype), _matrix(input.shape, dtype)])

    return kernel


def geqrf(promotion: str) -> Kernel:
    def kernel(input: Any, out: Any = None) -> Any:
        factors = (*input.shape[:-2], min(input.shape[-2:]))
        return deliver_all(out, [_matrix(input.shape, input.dtype), _plain(factors, input.dtype)])

    return kernel


def householder_product(promotion: str) -> Kernel:
    def kernel(input: Any, tau: Any, out: Any = None) -> Any:
        return deliver(out, *_matrix(input.shape, input.dtype))

    return kernel


def ormqr(promotion: str) -> Kernel:
    def kernel(input: Any, tau: Any, other: Any, *options: Any, out: Any = None) -> Any:
        return deliver(out, *_matrix(other.shape, input.dtype))

    return kernel


def ldl_solve(promotion: str) -> Kernel:
    def kernel(LD: Any, pivots: Any, B: Any, hermitian: bool = False, out: Any = None) -> Any:
        batch = iterator.broadcast_shapes(LD.shape[:-2], B.shape[:-2])
        return deliver(out, *_matrix((*batch, *B.shape[-2:]), B.dtype))

    return kernel
