"""Kernels of matrices that are given by their LU decomposition: its parts, and linear systems.

A pivot is the number, from 1 on, of the row that was exchanged with the row of its place.
"""

import math
from collections.abc import Callable

import numpy as np

from mindtorch._core.promotion import INT32
from mindtorch._support.lazy import lazy
from mindtorch._support.numpy_functions import broadcast_shapes, broadcast_to, ndindex
from mindtorch.backends.cpu.common.casting import deliver_same
from mindtorch.backends.cpu.common.checks import check_fit, not_implemented, scalar_name

_lapack = lazy("scipy.linalg.lapack")

Array = np.ndarray

_PREFIXES = {"f": "s", "d": "d", "F": "c", "D": "z"}


def lapack_routine(name: str, dtype: np.dtype) -> Callable[..., tuple]:
    """LAPACK's routine for arrays of a dtype."""
    return getattr(_lapack, _PREFIXES[dtype.char] + name)


# -------------------- parts --------------------


def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True, out=None):
    check_unpacked(LU_data, LU_pivots, unpack_pivots)
    exchange, lower, upper = (np.empty(0, LU_data.dtype) for _ in range(3))
    if unpack_pivots:
        exchange = exchanges(_fitting_pivots(LU_pivots, LU_data), LU_data.shape[-2], LU_data.dtype)
    if unpack_data:
        lower, upper = triangles(LU_data)
    pairs = zip((exchange, lower, upper), out or (None,) * 3, strict=True)
    return tuple([deliver_same(result, each) for result, each in pairs])


def check_unpacked(LU_data: Array, LU_pivots: Array, unpack_pivots: bool) -> None:
    if unpack_pivots and LU_pivots.dtype != INT32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
            "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor"
        )
    if LU_data.ndim < 2:
        size = list(LU_data.shape)
        raise RuntimeError(f"torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: {size} instead")


def _fitting_pivots(pivots: Array, like: Array) -> Array:
    """One pivot for each of the rows that are exchanged; torch reads what lies behind too few of them."""
    wanted = (*like.shape[:-2], min(like.shape[-2:]))
    used = pivots[..., : wanted[-1]]
    is_short = not pivots.ndim or used.shape[-1] < wanted[-1]
    if is_short or used.min(initial=1) < 1 or used.max(initial=0) > like.shape[-2]:
        raise RuntimeError(
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
            "Did you properly pass the result of lu_factor?"
        )
    return broadcast_to(used, wanted) if used.ndim <= len(wanted) else used.reshape(wanted)


def triangles(packed: Array) -> tuple[Array, Array]:
    """L, with ones on the diagonal, and U."""
    *batch, rows, columns = packed.shape
    small = min(rows, columns)
    lower, upper = np.zeros((*batch, rows, small), packed.dtype), np.zeros((*batch, small, columns), packed.dtype)
    np.copyto(lower, packed[..., :small], where=np.tri(rows, small, -1, bool))
    np.copyto(upper, packed[..., :small, :], where=~np.tri(small, columns, -1, bool))
    diagonal = np.arange(small)
    lower[..., diagonal, diagonal] = 1
    return lower, upper


def exchanges(pivots: Array, rows: int, dtype: np.dtype) -> Array:
    """The matrices that undo the exchanges of rows."""
    order = permutation(pivots, rows)
    count = math.prod(pivots.shape[:-1])
    result = np.zeros((count, rows, rows), dtype)
    result[np.arange(count)[:, None], order.reshape(count, rows), np.arange(rows)] = 1
    return result.reshape(*pivots.shape[:-1], rows, rows)


def permutation(pivots: Array, rows: int) -> Array:
    """The order of the rows after all exchanges: matrix by matrix, or step by step, whichever are fewer."""
    *batch, steps = pivots.shape
    count = math.prod(batch)
    others = pivots.reshape(count, steps) - 1
    orders = broadcast_to(np.arange(rows), (count, rows)).copy()
    if count < steps:
        for order, exchanged in zip(orders, others.tolist(), strict=True):
            order[:] = _order(exchanged, rows)
        return orders.reshape(*batch, rows)
    matrices = np.arange(count)
    for step, other in enumerate(others.T):
        moved = orders[matrices, other]
        orders[matrices, other] = orders[:, step]
        orders[:, step] = moved
    return orders.reshape(*batch, rows)


def _order(exchanged: list[int], rows: int) -> list[int]:
    order = list(range(rows))
    for step, other in enumerate(exchanged):
        order[step], order[other] = order[other], order[step]
    return order


# -------------------- systems --------------------


def lu_solve(LU, pivots, B, left=True, adjoint=False, out=None):
    check_system(LU, pivots, B, left)
    if LU.itemsize == 2 and LU.size and B.size:
        raise not_implemented("linalg.lu_solve_cpu", LU)
    _check_pivots(pivots)
    if left:
        return deliver_same(_solutions(LU, pivots, B, adjoint), out)
    turned = np.conj(B.swapaxes(-1, -2))
    return deliver_same(np.conj(_solutions(LU, pivots, turned, not adjoint).swapaxes(-1, -2)), out)


def _solutions(LU: Array, pivots: Array, B: Array, adjoint: bool) -> Array:
    """Column by column in memory, as LAPACK writes them."""
    batch = broadcast_shapes(LU.shape[:-2], B.shape[:-2])
    rows, columns = B.shape[-2:]
    memory = np.empty(math.prod(batch) * columns * rows, B.dtype)
    result = memory.reshape(*batch, columns, rows).swapaxes(-1, -2)  # which gives empty ones strides, too
    if not result.size:
        return result
    factors, right = broadcast_to(LU, (*batch, rows, rows)), broadcast_to(B, result.shape)
    exchanged = broadcast_to(pivots - 1, (*batch, rows))
    solve = lapack_routine("getrs", LU.dtype)
    for place in ndindex(batch):
        result[place] = solve(factors[place], exchanged[place], right[place], 2 if adjoint else 0)[0]
    return result


def _check_pivots(pivots: Array) -> None:
    bounds = {"greater or equal to 1": pivots.min(initial=1) < 1}
    bounds["smaller or equal to LU.size(-2)"] = pivots.max(initial=0) > pivots.shape[-1]
    for bound, is_broken in bounds.items():
        if is_broken:
            raise RuntimeError(
                f"Pivots given to lu_solve must all be {bound}. Did you properly pass the result of lu_factor?"
            )


def check_system(LU: Array, pivots: Array, B: Array, left: bool) -> None:
    if LU.dtype.kind in "biu":
        raise RuntimeError(
            f"torch.linalg.lu_solve: Expected a floating point or complex tensor as input. Got {scalar_name(LU)}"
        )
    if LU.dtype != B.dtype:
        raise RuntimeError(
            "linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type "
            f"{scalar_name(LU)} and B of type {scalar_name(B)} instead"
        )
    if pivots.dtype != INT32:
        raise RuntimeError("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
    if LU.ndim < 2:
        raise RuntimeError("torch.linalg.lu_solve: The input tensor A must have at least 2 dimensions.")
    if LU.shape[-1] != LU.shape[-2]:
        raise RuntimeError(
            "torch.linalg.lu_solve: A must be batches of square matrices, but they are "
            f"{LU.shape[-2]} by {LU.shape[-1]} matrices"
        )
    if B.ndim < 2:
        raise RuntimeError("linalg.lu_solve: The input tensor B must have at least 2 dimensions.")
    check_fit("linalg.lu_solve", LU, B, left)
    if not pivots.ndim:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    if LU.shape[-1] != pivots.shape[-1]:
        raise RuntimeError("linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix")
    if LU.shape[:-1] != pivots.shape:
        raise RuntimeError(
            "linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(pivots.shape)} instead"
        )
