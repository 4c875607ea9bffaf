"""`norm`, of any order, also named ones, and functions whose calls are freer than those of the ops behind them."""

from collections.abc import Sequence
from typing import Any

from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.tensor import Tensor, extend_tensor
from mindtorch._functions.broadcasting import checked_tensors
from mindtorch.autograd._engine.outputs import write_out
from mindtorch.composite.common import out_forms
from mindtorch.dispatch import ops

_MATRIX_NORM = "linalg.matrix_norm expected out tensor dtype {result} but got: {out}"


def norm(
    input: Any,
    p: float | str | None = "fro",
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: Dtype | None = None,
) -> Tensor:
    """The norm of a vector, or, with `p="nuc"`, of a matrix."""
    result = _norm(input, p, [dim] if isinstance(dim, int) else dim, keepdim, dtype)
    if out is None:
        return result
    out_forms.check_dtype(result, out, _MATRIX_NORM if p == "nuc" else None)
    return write_out(out, result)


def _norm(input: Any, p: float | str | None, dim: Sequence[int] | None, keepdim: bool, dtype: Dtype | None) -> Tensor:
    if isinstance(p, str) and p != "fro":
        return ops.linalg_norm(input, p, dim, keepdim, dtype=dtype)
    order: Any = 2 if p is None or p == "fro" else p
    return ops.linalg_vector_norm(input, order, dim, keepdim, dtype=dtype)


_COMPUTE_MODES = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)


def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str = _COMPUTE_MODES[0]) -> Tensor:
    """The distance of each row of one matrix from each of the other, the `p`-norm of the difference.

    With `p=2` and more than 25 rows it comes from one product, `|a|^2 - 2ab + |b|^2`, which is quicker and less exact
    for rows that are near; the modes "use_mm_for_euclid_dist" and "donot_use_mm_for_euclid_dist" choose it always and
    never.
    """
    if compute_mode not in _COMPUTE_MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return ops.cdist(x1, x2, p, _COMPUTE_MODES.index(compute_mode) or None)


def chain_matmul(*matrices: Any, out: Tensor | None = None) -> Tensor:
    """The product of matrices, in the order of least work."""
    given = checked_tensors(matrices)
    return ops.chain_matmul(given) if out is None else ops.chain_matmul_out(given, out=out)


@extend_tensor
class NormMethods:
    """The same as a method."""

    def norm(
        self: Any,
        p: float | str | None = "fro",
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        dtype: Dtype | None = None,
    ) -> Tensor:
        return norm(self, p, dim, keepdim, dtype=dtype)
