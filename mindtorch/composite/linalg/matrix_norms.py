"""Matrix norms, condition numbers, ranks and pseudo-inverses: what singular values tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindtorch._core import geometry
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.dtype import finfo, float64
from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.promotion import real_number
from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn_once
from mindtorch.autograd._engine.outputs import write_castable
from mindtorch.autograd.formulas.common import is_traced
from mindtorch.backends.cpu.common.checks import check_asked_dtype
from mindtorch.composite.common import out_forms
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.tangents import without_forward_ad

Dims = int | Sequence[int] | None

# -------------------- norms --------------------


def linalg_matrix_norm(
    input: Tensor, ord: float, dim: Sequence[int] = (-2, -1), keepdim: bool = False, dtype: Dtype | None = None
) -> Tensor:
    if isinstance(ord, complex):
        raise RuntimeError("linalg.matrix_norm: Expected a non-complex scalar as the order of norm.")
    first, second = _checked_dims(input, dim)
    if abs(ord) not in (1, 2, math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord:g} not supported.")
    check_asked_dtype("matrix_norm", input.dtype.numpy, dtype)
    values = input if dtype is None else input.to(dtype)
    extreme = ops.amax if ord > 0 else ops.amin
    if abs(ord) == 2:
        singular = _singular_values(values, first, second)
        reduced = extreme if ord < 0 or singular.shape[-1] else ops.sum  # of no values, the largest is 0
        return _kept(reduced(singular, -1), first, second, keepdim)
    summed, compared = (second, first) if math.isinf(ord) else (first, second)
    sums = ops.linalg_vector_norm(values, 1, [summed], keepdim)
    if not keepdim and summed < compared:
        compared -= 1
    if ord > 0 and not sums.shape[compared]:
        return sums.detach().sum([compared], keepdim)  # of no sums, the largest is 0
    return extreme(sums, [compared], keepdim)


def linalg_matrix_norm_named(
    input: Tensor, ord: str = "fro", dim: Sequence[int] = (-2, -1), keepdim: bool = False, dtype: Dtype | None = None
) -> Tensor:
    first, second = _checked_dims(input, dim)
    if ord not in ("fro", "nuc"):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    if ord == "fro":
        return ops.linalg_vector_norm(input, 2, [first, second], keepdim, dtype=dtype)
    values = input if dtype is None else input.to(dtype)
    return _kept(_singular_values(values, first, second).sum(-1), first, second, keepdim)


def _checked_dims(input: Tensor, dim: Sequence[int]) -> tuple[int, int]:
    if input.ndim < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    if not _is_inexact(input):
        kind = input.dtype.storage_name
        raise RuntimeError(f"linalg.matrix_norm: Expected a floating point or complex tensor as input. Got {kind}")
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    first, second = (geometry.wrap_dim(each, input.ndim) for each in dim)
    if first == second:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    return first, second


def _singular_values(input: Tensor, first: int, second: int) -> Tensor:
    if input.element_size() == 2:
        kind = input.dtype.storage_name
        raise RuntimeError(f"linalg.matrix_norm: Low precision dtypes not supported. Got {kind}")
    return ops.linalg_svdvals(input.movedim((first, second), (-2, -1)))


def _kept(norm: Tensor, first: int, second: int, keepdim: bool) -> Tensor:
    return norm.unsqueeze(-1).unsqueeze(-1).movedim((-2, -1), (first, second)) if keepdim else norm


def linalg_norm(
    input: Tensor, ord: float | None = None, dim: Dims = None, keepdim: bool = False, dtype: Dtype | None = None
) -> Tensor:
    dims = [dim] if isinstance(dim, int) else dim
    if ord is not None:
        _check_norm_dims(input, dims)
    count = input.ndim if dims is None else len(dims)
    if ord is not None and count == 2:
        return linalg_matrix_norm(input, ord, (0, 1) if dims is None else dims, keepdim, dtype)
    if dims is not None and len(dims) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
    return ops.linalg_vector_norm(input, 2 if ord is None else ord, dims, keepdim, dtype=dtype)


def _check_norm_dims(input: Tensor, dims: Sequence[int] | None) -> None:
    if dims is not None and len(dims) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
    if dims is None and input.ndim not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {input.ndim}D."
        )


def linalg_norm_named(
    input: Tensor, ord: str, dim: Dims = None, keepdim: bool = False, dtype: Dtype | None = None
) -> Tensor:
    dims = [dim] if isinstance(dim, int) else dim
    _check_norm_dims(input, dims)
    return linalg_matrix_norm_named(input, ord, (-2, -1) if dims is None else dims, keepdim, dtype)


_NORM = "linalg.{name} expected out tensor dtype {{result}} but got: {{out}}"
linalg_matrix_norm_out = out_forms.of_same_dtype(linalg_matrix_norm, _NORM.format(name="matrix_norm"))
linalg_matrix_norm_named_out = out_forms.of_same_dtype(linalg_matrix_norm_named, _NORM.format(name="matrix_norm"))
linalg_norm_out = out_forms.of_same_dtype(linalg_norm, _NORM.format(name="norm"))
linalg_norm_named_out = out_forms.of_same_dtype(linalg_norm_named, _NORM.format(name="norm"))


# -------------------- condition numbers --------------------


def linalg_cond(input: Tensor, p: float | None = None) -> Tensor:
    p = real_number(p)
    _check_cond(input, p is None or abs(p) in (1, 2, math.inf), p)
    if p is None or abs(p) == 2:
        values = ops.linalg_svdvals(input)
        if not values.size(-1):
            return values.new_zeros(values.shape[:-1])
        largest, smallest = values.narrow(-1, 0, 1), values.narrow(-1, -1, 1)
        return (smallest / largest if p == -2 else largest / smallest).squeeze(-1)
    return _by_inverse(input, p, lambda matrix: linalg_matrix_norm(matrix, p))


def linalg_cond_named(input: Tensor, p: str) -> Tensor:
    _check_cond(input, p in ("fro", "nuc"), p)
    if p == "nuc":
        return _by_inverse(input, p, lambda matrix: ops.linalg_svdvals(matrix).sum(-1))
    return _by_inverse(input, p, lambda matrix: linalg_matrix_norm_named(matrix, p))


linalg_cond_out = out_forms.of_castable("linalg.cond", linalg_cond)
linalg_cond_named_out = out_forms.of_castable("linalg.cond", linalg_cond_named)


def _check_cond(input: Tensor, is_known: bool, p: Any) -> None:
    if input.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if not is_known:
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p if isinstance(p, str) else f'{p:g}'}")


def _by_inverse(input: Tensor, p: Any, norm: Any) -> Tensor:
    """A matrix that has no inverse is infinitely sensitive."""
    rows, columns = input.shape[-2:]
    if rows != columns:
        name = p if isinstance(p, str) else f"{p:g}"
        raise RuntimeError(
            f"linalg.cond(ord={name}): A must be batches of square matrices, but they are {rows} by {columns} matrices"
        )
    if p != "nuc" and not _is_inexact(input):
        kind = input.dtype.storage_name
        raise RuntimeError(f"linalg.inv: Expected a floating point or complex tensor as input. Got {kind}")
    own = norm(input)
    inverse, info = ops.linalg_inv_ex(input)
    return ops.where(info == 0, own * norm(inverse), math.inf)


# -------------------- ranks and pseudo-inverses --------------------


def _tolerance(input: Tensor, atol: Any, rtol: Any, values: Tensor) -> Any:
    """Singular values up to this count as zero."""
    if rtol is None:
        given = isinstance(atol, Tensor) or (atol is not None and atol > 0)
        rtol = 0.0 if given else finfo(input.dtype).eps * max(input.shape[-2:])
    largest = values.amax(-1) * rtol
    if atol is None:
        return largest
    absolute = atol if isinstance(atol, Tensor) else ops.full_like(largest, atol)
    return ops.maximum(absolute.to(largest.dtype), largest)


def _spectrum(input: Tensor, hermitian: bool) -> Tensor:
    return ops.linalg_eigvalsh(input).abs() if hermitian else ops.linalg_svdvals(input)


def linalg_matrix_rank(input: Tensor, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Tensor:
    if input.ndim < 2:
        raise RuntimeError("torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions.")
    _check_real("matrix_rank", atol=atol, rtol=rtol)
    _check_precision(input, rtol)
    values = _spectrum(input.detach(), hermitian)
    if not values.size(-1):
        return values.sum(-1).long()
    return (values > _tolerance(input, atol, rtol, values).unsqueeze(-1)).sum(-1)


def _check_real(name: str, **tolerances: Any) -> None:
    for which, value in tolerances.items():
        if isinstance(value, Tensor) and value.is_complex():
            raise RuntimeError(
                f"torch.linalg.{name}: {which} tensor of complex type is not supported. Got {value.dtype.storage_name}"
            )


def _check_precision(input: Tensor, rtol: float | None) -> None:
    """The default tolerance depends on the dtype's precision, which torch knows for two of them."""
    if rtol is None and input.ndim > 1 and (input.element_size() == 2 or not _is_inexact(input)):
        raise RuntimeError("This function doesn't handle types other than float and double")


def _is_inexact(input: Tensor) -> bool:
    return input.is_floating_point() or input.is_complex()


def linalg_matrix_rank_tol(input: Tensor, tol: Any, hermitian: bool = False) -> Tensor:
    return linalg_matrix_rank(input, tol, 0.0, hermitian)


def linalg_pinv(input: Tensor, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Tensor:
    if input.ndim < 2 or not _is_inexact(input) or input.element_size() == 2:
        raise RuntimeError(
            f"linalg.pinv({input.dtype.storage_name}{{{list(input.shape)}}}): expected a tensor with 2 or more "
            "dimensions of float, double, cfloat or cdouble types"
        )
    _check_real("pinv", atol=atol, rtol=rtol)
    if not input.numel():
        return input.transpose(-2, -1).clone(memory_format=contiguous_format)
    with without_forward_ad():
        left, values, right = _factors(input.detach(), hermitian)
        limit = _tolerance(input.detach(), atol, rtol, values.abs()).unsqueeze(-1)
        scales = ops.where(values.abs() > limit, values.reciprocal(), 0.0)
    if is_traced(input):
        return _smooth_pinv(input, left, scales.unsqueeze(-2), right)
    return (right * scales.unsqueeze(-2)).matmul(_adjoint(left))


def _factors(input: Tensor, hermitian: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Singular vectors in columns, and the values; of a Hermitian matrix these have signs."""
    if hermitian:
        values, vectors = ops.linalg_eigh(input)
        return vectors, values, vectors
    left, values, right = ops.linalg_svd(input, False)
    return left, values, _adjoint(right)


def _smooth_pinv(input: Tensor, left: Tensor, scales: Tensor, right: Tensor) -> Tensor:
    """The same for derivatives of any order, which singular vectors have not got where values are equal or zero.

    A matrix of the same rank nearby is C M^-1 R, where C = A V W, R = W U^H A and M = W U^H A V W with these factors as
    constants, W the reciprocal values. So its pseudo-inverse is R^+ M C^+, of well-conditioned matrices.
    """
    columns = input.matmul(right * scales)
    rows = _adjoint(left * scales).matmul(input)
    middle = rows.matmul(right * scales)
    rest = ops.diag_embed((scales == 0).to(input.dtype).squeeze(-2))
    from_left = ops.linalg_solve(_adjoint(columns).matmul(columns) + rest, _adjoint(columns))
    from_right = ops.linalg_solve(rows.matmul(_adjoint(rows)) + rest, rows)
    return _adjoint(from_right).matmul(middle).matmul(from_left)


def linalg_pinv_out(
    input: Tensor, atol: Any = None, rtol: Any = None, hermitian: bool = False, *, out: Tensor
) -> Tensor:
    return write_castable("linalg.pinv", "result", out, linalg_pinv(input, atol, rtol, hermitian))


def linalg_pinv_float(
    input: Tensor, atol: float | None = None, rtol: float | None = None, hermitian: bool = False
) -> Tensor:
    _check_precision(input, rtol)
    absolute = None if atol is None or atol <= 0 else _number_tensor(atol, input)
    relative = None if rtol is None else _number_tensor(rtol, input)
    return ops.linalg_pinv_atol_rtol_tensor(input, atol=absolute, rtol=relative, hermitian=hermitian)


def _number_tensor(number: float, like: Tensor) -> Tensor:
    return ops.full((), number, dtype=float64, device=like.device)


def linalg_pinv_rcond(input: Tensor, rcond: Any, hermitian: bool = False) -> Tensor:
    if not isinstance(rcond, Tensor):
        rcond = _number_tensor(rcond, input)
    _check_real("pinv", rcond=rcond)
    return ops.linalg_pinv_atol_rtol_tensor(input, rtol=rcond, hermitian=hermitian)


linalg_pinv_float_out = out_forms.of_castable("linalg.pinv", linalg_pinv_float)
linalg_pinv_rcond_out = out_forms.of_castable("linalg.pinv", linalg_pinv_rcond)


def _adjoint(matrix: Tensor) -> Tensor:
    turned = matrix.transpose(-2, -1)
    return turned.conj() if matrix.is_complex() else turned


# -------------------- by their old names --------------------


_OLD_NAME = (
    "at::{} is deprecated and it is just left for JIT compatibility. It will be removed in a future PyTorch release. "
    "Please use `linalg.{}` instead"
)


def nuclear_norm_dim(input: Tensor, dim: Sequence[int], keepdim: bool = False) -> Tensor:
    warn_once(_OLD_NAME.format("nuclear_norm", "matrix_norm(A, 'nuc', dim, keepdim)"))
    return linalg_matrix_norm_named(input, "nuc", dim, keepdim)


nuclear_norm_dim_out = out_forms.of_same_dtype(nuclear_norm_dim, _NORM.format(name="matrix_norm"))


def frobenius_norm(input: Tensor, dim: Sequence[int], keepdim: bool = False) -> Tensor:
    """The length of vectors, or the Frobenius norm of matrices."""
    warn_once(_OLD_NAME.format("frobenius_norm", "vector_norm(A, 2., dim, keepdim)"))
    if len(dim) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dim)} dimensions instead.")
    _check_norm_dtype(input)
    return ops.linalg_vector_norm(input, 2, dim, keepdim)


def _check_norm_dtype(input: Tensor) -> None:
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(
            f"norm(): input dtype should be either floating point or complex. Got {input.dtype.storage_name} instead."
        )


frobenius_norm_out = out_forms.of_same_dtype(frobenius_norm)
