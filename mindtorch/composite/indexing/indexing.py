"""Ops of the indexing family that are written in other ops: stacking, turning, diagonals and backward formulas."""

from collections.abc import Sequence

import numpy as np

from mindtorch._core import aligned, geometry, state
from mindtorch._core.dtype import bool as boolean
from mindtorch._core.dtype import int64
from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.promotion import can_convert
from mindtorch._core.tensor import Tensor, wrap
from mindtorch._support.numpy_functions import is_within
from mindtorch.autograd._engine.history import check_recorded_write, edge_of
from mindtorch.autograd._engine.outputs import write_out
from mindtorch.autograd.formulas.indexing.indexing import gather_grad, index_select_grad
from mindtorch.autograd.formulas.reduction.reduction import pick_backward
from mindtorch.backends.cpu.common.casting import check_same
from mindtorch.backends.cpu.common.numbers import checked_number
from mindtorch.composite.common import out_forms
from mindtorch.composite.common.unseen import bare_floats
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.batching import without_levels
from mindtorch.iterator import (
    BLOCK,
    broadcast_shapes,
    check_apart,
    check_distinct,
    is_expanded,
    needs_resize,
    warn_if_expanded,
)

# -------------------- stacking --------------------


def hstack(tensors):
    if not tensors:
        raise RuntimeError("hstack expects a non-empty TensorList")
    return ops.cat(*_side_by_side(tensors))


def hstack_out(tensors, *, out):
    return ops.cat(*_side_by_side(tensors), out=out)


def _side_by_side(tensors: Sequence[Tensor]) -> tuple[list[Tensor], int]:
    """What to join, and where."""
    lifted = [tensor if tensor.ndim else tensor.reshape((1,)) for tensor in tensors]
    return lifted, 0 if lifted[0].ndim == 1 else 1


def block_diag(tensors):
    for number, block in enumerate(tensors):
        if block.ndim > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {number} has {block.ndim} "
                "dimensions"
            )
    if not tensors:
        return ops.zeros((1, 0))
    blocks = [block.reshape((1, 1, *block.shape)[-2:]) for block in tensors]
    width, left, rows = sum(block.shape[1] for block in blocks), 0, []
    for block in blocks:
        rows.append(ops.constant_pad_nd(block, (left, width - left - block.shape[1])))
        left += block.shape[1]
    return ops.cat(rows)


def vstack(tensors):
    if not tensors:
        raise RuntimeError("vstack expects a non-empty TensorList")
    return ops.cat([_at_least_2d(tensor) for tensor in tensors], 0)


def vstack_out(tensors, *, out):
    return ops.cat([_at_least_2d(tensor) for tensor in tensors], 0, out=out)


def _at_least_2d(tensor: Tensor) -> Tensor:
    if tensor.ndim > 1:
        return tensor
    return tensor.unsqueeze(0) if tensor.ndim else tensor.reshape((1, 1))


# -------------------- diagonals --------------------


def diag(input, diagonal):
    if input.ndim == 1:
        return ops.diag_embed(input, diagonal)
    if input.ndim == 2:
        return ops.diagonal_copy(input, diagonal)
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")


def diag_out(input, diagonal, out):
    result = diag(input, diagonal)
    if input.ndim == 1 and not can_convert(input._mt_array.dtype, out._mt_array.dtype):
        found, wanted = input.dtype.storage_name, out.dtype.storage_name
        raise RuntimeError(f"diag: result type {found} can't be cast to the desired out= type {wanted}")
    if out.dtype is not result.dtype:
        needs_resize(out._mt_array, tuple(result.shape))
    check_same(result._mt_array, out._mt_array)
    return write_out(out, result)


# -------------------- backward formulas --------------------


def index_select_backward(grad, self_sizes, dim, index):
    return index_select_grad(grad, self_sizes, dim, index)


def gather_backward(grad, input, dim, index, sparse_grad):
    return gather_grad(grad, input.shape, dim, index)


def value_selecting_reduction_backward(grad, dim, indices, sizes, keepdim):
    return pick_backward(grad, dim, indices, sizes, keepdim)


# -------------------- one_hot --------------------


def one_hot(input, num_classes):
    if input.dtype is not int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    shape = input._mt_array.shape
    if not input.numel():
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return input.new_empty((*shape, num_classes))
    aligned.check_fits(shape, input._mt_array.dtype)
    classes = input._mt_array if type(input._mt_array) is np.ndarray else input
    if classes.min().item() < 0:
        raise RuntimeError("Class values must be non-negative.")
    largest = classes.max().item()
    if num_classes == -1:
        num_classes = largest + 1
    elif largest >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return ops.scatter(input.new_zeros((*shape, num_classes)), -1, input.unsqueeze(-1), 1)


def dstack(tensors):
    if not tensors:
        raise RuntimeError("dstack expects a non-empty TensorList")
    return ops.cat([_at_least_3d(tensor) for tensor in tensors], 2)


def dstack_out(tensors, *, out):
    return ops.cat([_at_least_3d(tensor) for tensor in tensors], 2, out=out)


def _at_least_3d(tensor: Tensor) -> Tensor:
    if tensor.ndim < 2:
        return tensor.reshape((1, tensor.numel(), 1))
    return tensor.unsqueeze(2) if tensor.ndim == 2 else tensor


def column_stack(tensors):
    return hstack(_columns(tensors))


def column_stack_out(tensors, *, out):
    return hstack_out(_columns(tensors), out=out)


def _columns(tensors: Sequence[Tensor]) -> list[Tensor]:
    if not tensors:
        raise RuntimeError("column_stack expects a non-empty TensorList")
    return [tensor.reshape((tensor.numel(), 1)) if tensor.ndim <= 1 else tensor for tensor in tensors]


# -------------------- repeated and turned --------------------


def repeat_interleave_int(input, repeats, dim, output_size):
    if dim is None:
        input, dim = input.flatten(), 0
    wrapped = geometry.wrap_dim(dim, input.ndim)
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    shape = [*input._mt_array.shape] or [1]
    if output_size is not None and output_size != (grown_size := shape[wrapped] * repeats):
        raise RuntimeError(f"repeat_interleave: Invalid output_size, expected {grown_size} but got {output_size}")
    spread = input.reshape(tuple(shape)).unsqueeze(wrapped + 1)
    grown = spread.expand((*shape[: wrapped + 1], repeats, *shape[wrapped + 1 :]))
    shape[wrapped] *= repeats
    return grown.clone(memory_format=contiguous_format).view(tuple(shape))


def repeat_interleave_tensor(input, repeats, dim, output_size):
    """The elements along a dim as often as the numbers say; `output_size` is what a program says their sum is."""
    if repeats.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if dim is None:
        input, dim = input.flatten(), 0
    counts = repeats.expand((input.size(dim),)) if repeats.numel() == 1 else repeats
    if counts.numel() != input.size(dim):
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {repeats.size(0)} and "
            f"input.size({dim}) = {input.size(dim)}"
        )
    return input.index_select(dim, ops.repeat_interleave_Tensor(counts, output_size=output_size))


def fliplr(input):
    if input.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return input.flip((1,))


def flipud(input):
    if input.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return input.flip((0,))


def rot90(input, k, dims):
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if input.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input.ndim}")
    first, second = dims
    if first == second or abs(first - second) == input.ndim:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {first} and dim1 = {second}")
    turns = {
        0: lambda: input.clone(memory_format=contiguous_format),
        1: lambda: input.flip((second,)).transpose_(first, second),
        2: lambda: input.flip((first, second)),
        3: lambda: input.flip((first,)).transpose_(first, second),
    }
    return turns[k % 4]()


# -------------------- elements by place --------------------


def take_along_dim(input, indices, dim, out=None):
    if indices.dtype is not int64:
        raise RuntimeError(
            f"torch.take_along_dim(): dtype of indices should be Long but got {indices.dtype.storage_name}"
        )
    if dim is None:
        return ops.gather(input.reshape((-1,)), 0, indices.reshape((-1,)), out=out)
    if input.ndim != indices.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {input.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    wrapped = geometry.wrap_dim(dim, input.ndim)
    own, wanted = list(input._mt_array.shape), list(indices._mt_array.shape)
    own[wrapped] = wanted[wrapped] = 1
    common = list(broadcast_shapes(tuple(own), tuple(wanted)))
    spread = [common.copy(), common.copy()]
    spread[0][wrapped], spread[1][wrapped] = input._mt_array.shape[wrapped], indices._mt_array.shape[wrapped]
    places = indices if indices._mt_array.shape == tuple(spread[1]) else indices.expand(tuple(spread[1]))
    if places.numel():
        places = places.remainder(input._mt_array.shape[wrapped])  # counted from the end, or around
    return ops.gather(input.expand(tuple(spread[0])), wrapped, places, out=out)


take_along_dim_out = take_along_dim


def take(input, index):
    if index.dtype is not int64:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {index.dtype.storage_name}")
    size = input.numel()
    if index.numel() and not size:
        raise IndexError("take(): tried to take from an empty tensor")
    places = index._mt_array
    if type(places) is np.ndarray and 0 < places.size <= BLOCK and (arrays := bare_floats(input)) is not None:
        if is_within(places, 0, size):
            return wrap(arrays[0].reshape(-1).take(places))
    numbers = index.reshape((-1,))
    if type(index._mt_array) is np.ndarray:
        aligned.check_fits(index._mt_array.shape, input._mt_array.dtype)
    if _are_from_front(numbers, size):
        return ops._unsafe_view(input.reshape((-1,)).index_select(0, numbers), index._mt_array.shape)
    every = without_levels(numbers).reshape((-1,))
    outside = every[(every < -size) | (every >= size)]
    if outside.numel():
        raise IndexError(f"out of range: tried to access index {outside[0].item()} on a tensor of {size} elements.")
    wrapped = ops.where(numbers < 0, numbers + size, numbers)
    return ops._unsafe_view(input.reshape((-1,)).index_select(0, wrapped), index._mt_array.shape)


def _are_from_front(numbers: Tensor, size: int) -> bool:
    """Whether plain numbers of elements are all in range, and none counts from the end."""
    array = numbers._mt_array
    return type(array) is np.ndarray and array.size > 0 and is_within(array, 0, size)


_take_out = out_forms.of_same_dtype(
    take, "take(): self and out expected to have the same dtype, but got self.dtype = {result} and out.dtype = {out}"
)


def take_out(input, index, out):
    if index.dtype is int64 and input.dtype is out.dtype:
        check_apart(out._mt_array, [input._mt_array, index._mt_array])
    return _take_out(input, index, out=out)


def index_fill_(input, dim, index, value):
    wrapped = _check_filling(input, dim, index, isinstance(value, complex))
    value = checked_number(value, input.dtype.numpy).item()
    if not input.ndim:
        return input.fill_(value)
    if is_expanded(input._mt_array):
        warn_if_expanded(input._mt_array, "index_fill_", "tensor[mask] = scalar")
        _fill_expanded(input, wrapped, index, value)
    else:
        input[(slice(None),) * wrapped + (index,)] = value  # no view of it, which may not be written where it may
    return input


def _check_filling(input: Tensor, dim: int, index: Tensor, is_complex: bool) -> int:
    """What can be wrong with a call of index_fill_; the dimension, counted from the first."""
    check_recorded_write(input)
    if index.dtype is not int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if is_complex and not input.is_complex():
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    wrapped = geometry.wrap_dim(dim, input.ndim)
    size = input.size(wrapped) if input.ndim else 1
    every = without_levels(index)
    if type(every._mt_array) is np.ndarray and is_within(every._mt_array, -size, size):
        return wrapped
    places = every.detach().reshape((-1,))
    outside = places[(places < -size) | (places >= size)] if index.ndim else places[:0]
    if outside.numel():
        raise IndexError(f"index {int(outside[0])} is out of bounds for dimension {wrapped} with size {size}")
    return wrapped


def _fill_expanded(input: Tensor, dim: int, index: Tensor, value: complex) -> None:
    """Write to each place in memory once: along expanded dimensions to the first element, which is all of them."""
    for place, (size, stride) in enumerate(zip(input.shape, input.stride(), strict=True)):
        if size > 1 and stride == 0:
            input = input.narrow(place, 0, 1)
            index = index.reshape(-1)[:1] * 0 if place == dim else index
    input.transpose(0, dim)[index] = value


def index_fill_tensor_(input, dim, index, value):
    check_recorded_write(input)
    if value.ndim:
        raise RuntimeError(
            f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s)."
        )
    if edge_of(value) is None and not (state.thread.dual_levels or state.thread.transforms):
        return index_fill_(input, dim, index, value.item())
    # By a mask: the gradient of the value has each place once, however often the index names it.
    wrapped = _check_filling(input, dim, index, value.is_complex())
    size = input.size(wrapped) if input.ndim else 1
    is_meant = (ops.arange(size, device=input.device).unsqueeze(1) == index.reshape((-1,)) % size).any(1)
    return input.masked_fill_(is_meant.reshape([size if each == wrapped else 1 for each in range(input.ndim)]), value)


def index_copy_(input, dim, index, source):
    check_recorded_write(input)
    check_distinct(input._mt_array)
    wrapped = geometry.wrap_dim(dim, input.ndim)
    _check_index_copy(input, wrapped, index, source)
    target = input if input.ndim else input.view((1,))
    target[(slice(None),) * wrapped + (index.reshape((-1,)),)] = source.reshape((-1,)) if target.ndim == 1 else source
    return input


def _check_index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
    """torch's rules for the shapes: the source is the input, with as many slices as there are indices."""
    if index.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    count = index.numel()
    if not source.ndim and count != 1:
        raise IndexError(f"index_copy_(): When source is scalar, index should have one element (got {count})")
    if source.ndim != input.ndim and source.ndim and input.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({source.ndim}), destination dimensionality ({input.ndim})"
        )
    if index.dtype is not int64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {index.dtype.storage_name}")
    if input.dtype is not source.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{input.dtype.storage_name} and (source) {source.dtype.storage_name}"
        )
    _check_slices(input, dim, source)
    if source.ndim and count != source.size(dim):
        raise IndexError(
            f"index_copy_(): Number of indices ({count}) should be equal to source.size(dim) ({source.size(dim)})"
        )
    _check_places(index, input.size(dim) if input.ndim else 1, dim)


def _check_slices(input: Tensor, dim: int, source: Tensor) -> None:
    own, given = [[size for place, size in enumerate(each.shape) if place != dim] for each in (input, source)]
    if own != given:
        shown, source_shown = [" ".join(map(str, sizes)) for sizes in (own, given)]
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{shown} at dimension {dim} and source slice shape: {source_shown} at dimension 0."
        )


def _check_places(index: Tensor, size: int, dim: int) -> None:
    if type(index._mt_array) is np.ndarray and is_within(index._mt_array, 0, size):
        return
    wrong = next((place for place in index.reshape((-1,)).tolist() if not 0 <= place < size), None)
    if wrong is not None:
        raise IndexError(f"index_copy_(): index {wrong} is out of bounds for dimension {dim} with size {size}")


index_copy_out = out_forms.of_input_dtype(out_forms.functional("index_copy"))


def fill_diagonal_(input, fill_value, wrap):
    if input.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if input.ndim > 2 and len(set(input._mt_array.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    shape, diagonal = input._mt_array.shape, input
    while diagonal.ndim > 1:
        diagonal = diagonal.diagonal()
    diagonal.fill_(fill_value)
    if wrap and input.ndim == 2 and shape[0] > shape[1] + 1:
        rest = shape[0] - shape[1] - 1
        below = input.narrow(0, shape[1] + 1, rest)
        fill_diagonal_(below, fill_value, True)
    return input


# -------------------- combinations --------------------


def combinations(input, r, with_replacement):
    if input.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return input.new_empty((0,))
    count = input.numel()
    places = ops.arange(count, device=input.device)
    grids = [places.view((1,) * axis + (count,) + (1,) * (r - 1 - axis)).expand((count,) * r) for axis in range(r)]
    chosen = ops.ones((count,) * r, dtype=boolean, device=input.device)
    for earlier, later in zip(grids, grids[1:]):
        chosen = chosen & (earlier <= later if with_replacement else earlier < later)
    return ops.stack([input.index_select(0, grid.masked_select(chosen)) for grid in grids], 1)
