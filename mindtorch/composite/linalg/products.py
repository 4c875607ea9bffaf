"""Chains of matrix products, cross products, powers in columns, and distances of all pairs of rows."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from mindtorch._core.dtype import bool as boolean
from mindtorch._core.dtype import c_name as element_name
from mindtorch._core.dtype import int64
from mindtorch._core.tensor import Tensor, wrap
from mindtorch._support.float_errors import quiet
from mindtorch._support.warnings import warn_once
from mindtorch.autograd._engine.outputs import write_out
from mindtorch.backends.cpu.common.checks import c_name
from mindtorch.composite.common import out_forms
from mindtorch.composite.common.unseen import bare_floats
from mindtorch.dispatch import ops
from mindtorch.iterator import broadcast_shapes

# -------------------- chains --------------------


def chain_matmul(matrices: Sequence[Tensor]) -> Tensor:
    warn_once(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot "
        "instead, which accepts a list of two or more tensors rather than multiple parameters."
    )
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for place, matrix in enumerate(matrices):
        if matrix.ndim != 2:
            raise RuntimeError(
                f"Tensor of dimension {matrix.ndim}D found at position {place} in the list, expected all tensors to be "
                "2D"
            )
    return matrices[0] if len(matrices) == 1 else linalg_multi_dot(matrices)


def linalg_multi_dot_out(tensors: Sequence[Tensor], *, out: Tensor) -> Tensor:
    if tensors and out.dtype is not tensors[0].dtype:
        expected, given = element_name(tensors[0].dtype), element_name(out.dtype)
        raise RuntimeError(f"multi_dot(): expected out tensor to have dtype {expected} but got {given}")
    return write_out(out, linalg_multi_dot(tensors))


def chain_matmul_out(matrices: Sequence[Tensor], *, out: Tensor) -> Tensor:
    return linalg_multi_dot_out(matrices, out=out) if len(matrices) > 1 else write_out(out, chain_matmul(matrices))


def linalg_multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """Vectors at the ends are a row and a column."""
    count = len(tensors)
    if count < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {count}")
    first, last = tensors[0], tensors[-1]
    for name, tensor in (("first", first), ("last", last)):
        if tensor.ndim not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {name} tensor must be 1D or 2D but got {tensor.ndim}D")
    matrices = list(tensors)
    if first.ndim == 1:
        matrices[0] = first.unsqueeze(0)
    if last.ndim == 1:
        matrices[-1] = last.unsqueeze(-1)
    _check_chain(tensors, matrices)
    result = _multiplied(matrices, _best_splits([matrix.size(0) for matrix in matrices] + [matrices[-1].size(1)]))
    return result.view(first.shape[: first.ndim - 1] + last.shape[1:])


def _check_chain(tensors: Sequence[Tensor], matrices: Sequence[Tensor]) -> None:
    for place, matrix in enumerate(matrices):
        if matrix.ndim != 2:
            raise RuntimeError(f"multi_dot(): tensor {place} must be 2D but got {matrix.ndim}D")
        if matrix.dtype is not matrices[0].dtype:
            names = c_name(matrices[0]._mt_array), c_name(matrix._mt_array)
            raise RuntimeError(
                f"multi_dot(): all tensors must have be the same dtype but tensor 0 is {names[0]} and tensor {place} "
                f"{names[1]}"
            )
        if place and matrices[place - 1].size(1) != matrix.size(0):
            shapes = [list(tensors[each].shape) for each in (place - 1, place)]
            raise RuntimeError(
                f"multi_dot(): tensors {place - 1} and {place} with shapes {shapes[0]} and {shapes[1]} cannot be "
                "multiplied"
            )


Splits = dict[tuple[int, int], int]


def _best_splits(sizes: Sequence[int]) -> Splits:
    """Where to part each stretch of the chain, so that there are as few multiplications of numbers as possible."""
    count = len(sizes) - 1
    cost = {(place, place): 0 for place in range(count)}
    splits: Splits = {}
    for length in range(1, count):
        for start in range(count - length):
            end = start + length
            costs = {
                split: cost[start, split] + cost[split + 1, end] + sizes[start] * sizes[split + 1] * sizes[end + 1]
                for split in range(start, end)
            }
            splits[start, end] = min(costs, key=costs.__getitem__)
            cost[start, end] = costs[splits[start, end]]
    return splits


def _multiplied(matrices: Sequence[Tensor], splits: Splits, start: int = 0, end: int = -1) -> Tensor:
    end = len(matrices) - 1 if end < 0 else end
    if start == end:
        return matrices[start]
    split = splits[start, end]
    return ops.mm(_multiplied(matrices, splits, start, split), _multiplied(matrices, splits, split + 1, end))


# -------------------- cross products --------------------


def linalg_cross(input: Tensor, other: Tensor, dim: int = -1) -> Tensor:
    if input.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    sizes = input.size(dim), other.size(dim)
    if sizes != (3, 3):
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {sizes[0]} and {sizes[1]}")
    shape = broadcast_shapes(tuple(input.shape), tuple(other.shape))
    if input.dtype is not other.dtype:
        raise RuntimeError(f"expected scalar type {input.dtype.storage_name} but found {other.dtype.storage_name}")
    if input.dtype is boolean:
        raise NotImplementedError("\"cross\" not implemented for 'Bool'")
    if input.shape == other.shape and (arrays := bare_floats(input, other)) is not None:
        return wrap(quiet(_cross_product, *arrays, dim))
    first, second = input.expand(shape), other.expand(shape)
    return first.roll(-1, dim) * second.roll(-2, dim) - first.roll(-2, dim) * second.roll(-1, dim)


def _cross_product(first: np.ndarray, second: np.ndarray, dim: int) -> np.ndarray:
    """The same on arrays of one shape."""
    product = np.multiply(first.take(_AFTER, dim), second.take(_BEFORE, dim))
    return np.subtract(product, np.multiply(first.take(_BEFORE, dim), second.take(_AFTER, dim)), product)


_AFTER, _BEFORE = np.array([1, 2, 0]), np.array([2, 0, 1])  # what stands one place further on, and one before


def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Along the first dimension of size 3, if none is given."""
    if dim is not None:
        return ops.linalg_cross(input, other, dim=dim)
    warn_once(
        "Using torch.cross without specifying the dim arg is deprecated.\n"
        "Please either pass the dim explicitly or simply use torch.linalg.cross.\n"
        "The default value of dim will change to agree with that of linalg.cross in a future release."
    )
    if input.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    found = [place for place, size in enumerate(input.shape) if size == 3]
    if not found:
        raise RuntimeError("no dimension of size 3 in input")
    return ops.linalg_cross(input, other, dim=found[0])


linalg_cross_out = out_forms.of_input_dtype(linalg_cross)
cross_out = out_forms.of_input_dtype(cross)


# -------------------- powers in columns --------------------


def linalg_vander(x: Tensor, N: int | None = None) -> Tensor:
    if x.dtype is boolean or (x.is_floating_point() and x.element_size() == 2):
        raise RuntimeError(
            f"linalg.vander supports floating point, complex, and integer tensors, but got {x.dtype.storage_name}"
        )
    x = x if x.ndim else x.unsqueeze(0)
    count = x.size(-1) if N is None else N
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    column = x.unsqueeze(-1)
    ones = ops.ones_like(column)
    if not x.is_floating_point() and not x.is_complex():
        column, ones = column.to(int64), ones.to(int64)
    return ops.cat([ones, column.expand((*x.shape, count - 1)).cumprod(-1)], -1)


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    count = x.size(0) if N is None else N
    if count < 0:
        raise RuntimeError("N must be non-negative.")
    values = x if x.is_floating_point() or x.is_complex() else x.to(int64)
    if not count:
        return values.new_empty((x.size(0), 0))
    column = values.unsqueeze(-1)
    powers = ops.cat([ops.ones_like(column), column.expand((x.size(0), count - 1)).cumprod(-1)], -1)
    return powers if increasing else powers.flip((1,))


# -------------------- distances --------------------


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: int | None = None) -> Tensor:
    """The norms of the differences of all rows; a norm of 0 has the gradient 0."""
    for name, tensor in (("X1", x1), ("X2", x2)):
        if tensor.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {tensor.ndim}D")
    if x1.size(-1) != x2.size(-1):
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1.size(-1)} X2: {x2.size(-1)}")
    for name, tensor in (("X1", x1), ("X2", x2)):
        if not tensor.is_floating_point():
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {tensor.dtype.storage_name}")
    by_product = p == 2 and _is_by_product(x1, x2, compute_mode)
    if x1.element_size() == 2 and x1.numel() and x2.numel() and not by_product:
        raise NotImplementedError(f"\"cdist\" not implemented for '{x1.dtype.storage_name}'")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if x1.dtype is not x2.dtype:
        raise RuntimeError(f"expected scalar type {x1.dtype.storage_name} but found {x2.dtype.storage_name}")
    return _distances_by_product(x1, x2) if by_product else ops._cdist_forward(x1, x2, p, compute_mode)


_BY_PRODUCT, _ONE_BY_ONE = 1, 2  # compute modes
_FEW_ROWS = 25  # whose differences are not too many to be computed exactly


def _is_by_product(x1: Tensor, x2: Tensor, compute_mode: int | None) -> bool:
    if not (x1.numel() and x2.numel()) or compute_mode == _ONE_BY_ONE:
        return False
    return compute_mode == _BY_PRODUCT or x1.size(-2) > _FEW_ROWS or x2.size(-2) > _FEW_ROWS


def _distances_by_product(x1: Tensor, x2: Tensor) -> Tensor:
    batch = broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    rows, columns = x1.size(-2), x2.size(-2)
    if prod(batch) != 1:
        x1, x2 = [each.expand((*batch, *each.shape[-2:])).reshape((-1, *each.shape[-2:])) for each in (x1, x2)]
    return ops._euclidean_dist(x1, x2).view((*batch, rows, columns))
