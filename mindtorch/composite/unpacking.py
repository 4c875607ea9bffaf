"""Ops whose result has a size that is said beforehand, or parts that are taken out of a packed form."""

from __future__ import annotations

from mindtorch._core.dtype import int32, int64
from mindtorch._core.tensor import Tensor
from mindtorch.composite import out_forms
from mindtorch.dispatch import ops


def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    """The permutation and the two triangles of an LU decomposition."""
    if unpack_pivots and LU_pivots.dtype is not int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
            "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor"
        )
    if LU_data.ndim < 2:
        size = list(LU_data.shape)
        raise RuntimeError(f"torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: {size} instead")
    nothing = LU_data.new_empty(0)
    P = _permutation(_checked_pivots(LU_pivots, LU_data), LU_data) if unpack_pivots else nothing
    if not unpack_data:
        return P, nothing, nothing
    rows, columns = LU_data.shape[-2:]
    least = min(rows, columns)
    unit = ops.eye(rows, least, dtype=LU_data.dtype, device=LU_data.device)
    return P, LU_data[..., :, :least].tril(-1) + unit, LU_data[..., :least, :].triu()


def _checked_pivots(pivots: Tensor, like: Tensor) -> Tensor:
    """One pivot for each of the rows that are exchanged; torch reads what lies behind too few of them."""
    wanted = (*like.shape[:-2], min(like.shape[-2:]))
    if pivots.shape == wanted:
        return pivots
    if not pivots.ndim or pivots.shape[-1] < wanted[-1]:
        raise RuntimeError(
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
            "Did you properly pass the result of lu_factor?"
        )
    pivots = pivots[..., : wanted[-1]]
    return pivots.expand(wanted) if pivots.ndim <= len(wanted) else pivots.reshape(wanted)


def _permutation(pivots: Tensor, like: Tensor) -> Tensor:
    """The matrix that undoes the exchanges of rows, which `pivots` names one after the other, from 1 on."""
    rows = like.shape[-2]
    order = ops.arange(rows, device=pivots.device).expand(*pivots.shape[:-1], rows).clone()
    for place in range(pivots.shape[-1]):
        other = pivots[..., place : place + 1].to(int64) - 1
        moved, here = order.gather(-1, other), order[..., place : place + 1].clone()
        order = order.scatter(-1, other, here)
        order[..., place : place + 1] = moved
    return (order.unsqueeze(-2) == ops.arange(rows, device=pivots.device).unsqueeze(-1)).to(like.dtype)


def nonzero_static(input, size, fill_value=-1):
    """The first `size` places that are not zero, filled up where there are fewer."""
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    found = ops.nonzero(input)[:size]
    missing = size - found.shape[0]
    return ops.cat([found, found.new_full((missing, input.ndim), fill_value)]).contiguous()


def copy(input, src, non_blocking=False):
    """The values of `src` in the shape, dtype and memory order of the input."""
    return ops.empty_like(input).copy_(src, non_blocking)


lu_unpack_out = out_forms.of_same_dtypes(lu_unpack)
