"""Python indexing: `x[index]` and `x[index] = value`.

Numbers, slices, None and Ellipsis become views (select, slice, unsqueeze); tensors, lists and masks then go to `index`
and `index_put_`, which know the rest.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch._core import state
from mindtorch._core.batched_array import BatchedArray
from mindtorch._core.dtype import with_own_dtype
from mindtorch._core.nested_data import read
from mindtorch._core.state import thread
from mindtorch._core.tensor import Tensor, wrap
from mindtorch._support import errors
from mindtorch._support.warnings import warn
from mindtorch.autograd._engine.history import check_inplace, edge_of, mark_written
from mindtorch.backends.cpu.common.numbers import checked_number
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.captures import is_inside_of_samples, is_unrecorded_in_a_function
from mindtorch.dispatch.torch_function import handle_torch_function, has_torch_function, overriding_arguments
from mindtorch.iterator import check_distinct

_NO_TUPLE = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch 2.9; use "
    "x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, x[torch.tensor(seq)], "
    "which will result either in an error or a different result"
)
# A sequence at least this long is always a list of indices, not a subscript that was written as a list.
_LONG_SEQUENCE = 32
_NUMBERS = (int, float, complex, bool)


def getitem(tensor: Tensor, index: Any) -> Tensor:
    """`tensor[index]`"""
    if state.active_modes and has_torch_function((tensor, index)):
        return handle_torch_function(Tensor.__getitem__, overriding_arguments((tensor, index)), (tensor, index), {})
    kind = type(index)
    if kind is int:
        try:
            return ops.select(tensor, 0, index)
        except IndexError:
            raise _bad_index(tensor._mt_array.shape, 0, index, 0) from None
    if kind is slice:
        return _slice(tensor, 0, index)
    if index is None:
        return tensor.unsqueeze(0)
    if index is Ellipsis:
        return tensor.alias()
    view, indices = _view_and_indices(tensor, index)
    if indices:
        return ops.index(view, indices)
    return tensor.alias() if view is tensor else view


def setitem(tensor: Tensor, index: Any, value: Any) -> None:
    """`tensor[index] = value`"""
    if state.active_modes and has_torch_function((tensor, index, value)):
        overriders = overriding_arguments((tensor, index, value))
        handle_torch_function(Tensor.__setitem__, overriders, (tensor, index, value), {})
        return
    if not state.active_modes and _write_unseen(tensor, index, value):
        return
    if not isinstance(value, Tensor):
        value = _number(tensor, value)
    no_indices: list[Tensor | None] = []
    if index is False:
        return
    if index is None or index is True:
        view, indices = tensor.unsqueeze(0), no_indices
    elif index is Ellipsis:
        view, indices = tensor, no_indices
    else:
        view, indices = _view_and_indices(tensor, index)
    if indices:
        _write_indices(view, indices, value)
    else:
        _write_view(view, value)


# -------------------- subscripts --------------------


def _view_and_indices(tensor: Tensor, index: Any) -> tuple[Tensor, list[Tensor | None]]:
    """The view that the plain parts of a subscript make, and the index tensors for its dimensions."""
    parts = index if type(index) is tuple else _as_parts(index)
    plain = _PLAIN.issuperset(map(type, parts))
    named = len(parts) if plain else sum(map(_dims_named, parts))
    if named > tensor.ndim:
        raise _too_many(tensor, parts)
    view = tensor
    indices: list[Tensor | None] = []
    dim = covered = 0  # the next dimension of the view, and how many of them the index list already speaks of
    for place, part in enumerate(parts):
        kind = type(part)
        if kind is int:
            view = _select(view, dim, part, place)
        elif kind is slice:
            view, dim = _sliced(view, dim, part), dim + 1
        elif part is Ellipsis:
            dim += tensor.ndim - named
        elif part is None:
            view, dim = view.unsqueeze(dim), dim + 1
        else:
            view, found = _apply(view, dim, part, place)
            if found is not None:
                indices += [None] * (dim - covered)
                indices.append(found)
                dim = covered = dim + (found.ndim if found.dtype.itemsize == 1 else 1)
    return view, indices


def _sliced(view: Tensor, dim: int, part: slice) -> Tensor:
    """The part of a dimension; the view itself when that is all of it."""
    if part == _ALL:
        return view
    start, stop, step = (end if end is None else _slice_index(end) for end in (part.start, part.stop, part.step))
    if not start and step in (None, 1) and (stop is None or stop >= view._mt_array.shape[dim]):
        return view
    return _slice(view, dim, part)


_ALL = slice(None)
_PLAIN = frozenset((int, slice))


def _apply(view: Tensor, dim: int, part: Any, place: int) -> tuple[Tensor, Tensor | None]:
    """A part that is a tensor, a list, a bool or a NumPy number: either a view or an index tensor."""
    if isinstance(part, bool):
        return view.unsqueeze(dim), _flag_index(part)
    if isinstance(part, np.integer):
        return _select(view, dim, int(part), place), None
    found = _index_tensor(part)
    is_sample = type(found._mt_array) is BatchedArray
    if is_sample and found.ndim == 0 and found._mt_array.dtype == bool and is_inside_of_samples(found):
        raise errors.number_of_samples()
    if found.ndim == 0 and found._mt_array.dtype.kind in "iub" and not is_sample:
        number: Any = found.item()
        if found.dtype.itemsize == 1:  # bool and uint8 are masks
            return view.unsqueeze(dim), _flag_index(bool(number))
        return _select(view, dim, number, place), None
    return view, found


def _flag_index(flag: bool) -> Tensor:
    """The index tensor that keeps or drops a dimension of size 1."""
    return wrap(np.zeros(int(flag), np.int64))


def _index_tensor(part: Any) -> Tensor:
    if isinstance(part, Tensor):
        return part
    if isinstance(part, np.ndarray):
        array = with_own_dtype(part)  # taken as a sequence of numbers
        return wrap(array.astype(np.int64) if array.dtype.kind in "fiu" and array.dtype != np.uint8 else array)
    if not isinstance(part, Sequence):
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
            f"{errors.type_name(part)})"
        )
    if isinstance(part, str):
        raise TypeError("new(): invalid data type 'str'")
    array = read(part)
    return wrap(array if array.size else array.astype(np.int64))


def _as_parts(index: Any) -> tuple[Any, ...]:
    """The parts of a subscript that is no tuple: a short sequence of more than plain numbers is one after all."""
    if isinstance(index, Sequence) and not isinstance(index, str) and len(index) < _LONG_SEQUENCE:
        if any(item is None or item is Ellipsis or isinstance(item, (slice, Tensor, Sequence)) for item in index):
            warn(_NO_TUPLE)
            return tuple(index)
    return (index,)


def _dims_named(part: Any) -> int:
    """How many dimensions of the tensor a part of a subscript stands for."""
    if part is None or part is Ellipsis or isinstance(part, (bool, np.bool_)):
        return 0
    if isinstance(part, Tensor) and part.dtype.itemsize == 1:
        return part.ndim
    if isinstance(part, np.ndarray) and part.dtype.itemsize == 1:
        return part.ndim
    return 1


def _too_many(tensor: Tensor, parts: Sequence[Any]) -> IndexError:
    if not tensor.ndim and len(parts) == 1:
        if isinstance(parts[0], slice):
            return IndexError("slice() cannot be applied to a 0-dim tensor.")
        if isinstance(parts[0], (int, np.integer)):
            return _zero_dim()
    return IndexError(f"too many indices for tensor of dimension {tensor.ndim}")


def _zero_dim() -> IndexError:
    return IndexError(
        "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
        "0-dim tensor to a number"
    )


def _select(view: Tensor, dim: int, index: int, place: int) -> Tensor:
    """One element of a dimension; `place` is the place of the number in the subscript, for the message."""
    shape = view._mt_array.shape
    if shape and -shape[dim] <= index < shape[dim]:
        return ops.select(view, dim, index)
    raise _bad_index(shape, dim, index, place)


def _bad_index(shape: tuple[int, ...], dim: int, index: int, place: int) -> IndexError:
    if not shape:
        return _zero_dim()
    return IndexError(f"index {index} is out of bounds for dimension {place} with size {shape[dim]}")


def _slice(view: Tensor, dim: int, part: slice) -> Tensor:
    start, stop, step = part.start, part.stop, part.step
    if step is None:
        step = 1
    elif (step := _slice_index(step)) <= 0:
        raise ValueError("slice step cannot be zero" if step == 0 else "step must be greater than zero")
    if start is not None and type(start) is not int:
        start = _slice_index(start)
    if stop is not None and type(stop) is not int:
        stop = _slice_index(stop)
    return ops.slice(view, dim, start, stop, step)


def _slice_index(value: Any) -> int:
    if not hasattr(value, "__index__"):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    return value.__index__()


# -------------------- assignment --------------------


def _number(tensor: Tensor, value: Any) -> Any:
    """A value that is no tensor, as a Python number."""
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, _NUMBERS):
        raise TypeError(f"can't assign a {errors.type_name(value)} to a {_legacy_type(tensor)}")
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise errors.unpacking_overflow()
    if isinstance(value, complex) or not _FITS_ALWAYS[0] < value < _FITS_ALWAYS[1]:
        checked_number(value, tensor._mt_array.dtype)  # the first of the errors that there may be
    return value


_FITS_ALWAYS = (-2, 128)  # every dtype has the numbers in between


def _legacy_type(tensor: Tensor) -> str:
    return f"torch.{tensor.dtype.storage_name}Tensor"


def _write_view(view: Tensor, value: Any) -> None:
    shape = view._mt_array.shape
    if not isinstance(value, Tensor) or (value.ndim == 0 and shape):
        if thread.vmap_levels and isinstance(value, Tensor) and type(value._mt_array) is not type(view._mt_array):
            view.fill_(value)  # which has torch's checks of samples, and before all others
            return
        is_recorded = _is_write_recorded(view)
        if is_recorded:
            check_inplace(view)
        if (is_recorded or thread.own_tensors is not None) and not isinstance(value, Tensor):
            value = _as_tensor_like(view, value)  # in torch always a tensor: here where the graph or an error shows it
        check_distinct(view._mt_array)
        view.fill_(value)
        return
    if value._mt_array.shape != shape:
        value = _without_leading_ones(value).expand(shape)
    view.copy_(value)


def _write_unseen(tensor: Tensor, index: Any, value: Any) -> bool:
    """Writes to plain parts of an array that is no view and of which nothing is recorded, without tensors for these
    parts: whether it did. Whatever there may be to refuse, to convert or to broadcast is left to others."""
    array = tensor._mt_array
    if tensor._mt_edge is not None or tensor._mt_meta is not None or type(array) is not np.ndarray:
        return False
    parts = index if type(index) is tuple else (index,)
    if not array.flags.c_contiguous or not _PLAIN.issuperset(map(type, parts)) or len(parts) > array.ndim:
        return False
    try:
        place = (*parts, ...)
        target = array[place]
    except (IndexError, TypeError, ValueError):
        return False
    if type(value) is Tensor:
        source = value._mt_array
        if value._mt_edge is not None or type(source) is not np.ndarray or source.dtype is not array.dtype:
            return False
        if source.shape != target.shape or not (array.base is None is source.base) or source is array:
            return False
    elif type(value) in _PLAIN_NUMBERS and _FITS_ALWAYS[0] < value < _FITS_ALWAYS[1] and array.dtype.kind in "fi":
        source = value
    else:
        return False
    if any([type(part) is slice and not _is_ordinary(part) for part in parts]):
        return False
    target[...] = source
    mark_written(tensor)
    return True


_PLAIN_NUMBERS = (float, int)
_ENDS = (int, type(None))


def _is_ordinary(part: slice) -> bool:
    """Whether it means the same to NumPy, and is no error."""
    step = part.step
    return type(part.start) in _ENDS and type(part.stop) in _ENDS and (step is None or (type(step) is int and step > 0))


def _is_write_recorded(view: Tensor) -> bool:
    if not thread.grad_enabled or thread.inference or edge_of(view) is None:
        return False
    return not is_unrecorded_in_a_function((view,))


def _write_indices(view: Tensor, indices: list[Tensor | None], value: Any) -> None:
    if not isinstance(value, Tensor):
        value = _as_tensor_like(view, value)
    ops.index_put_(view, indices, _without_leading_ones(value))


def _as_tensor_like(tensor: Tensor, number: Any) -> Tensor:
    """A number as a 0-dim tensor of the tensor's dtype."""
    if type(tensor._mt_array) is np.ndarray:
        return wrap(checked_number(number, tensor._mt_array.dtype))
    return ops.full((), number, dtype=tensor.dtype, device=tensor.device)


def _without_leading_ones(value: Tensor) -> Tensor:
    """Leading dimensions of size 1 don't count in an assignment."""
    shape = value._mt_array.shape
    first = next((dim for dim, extent in enumerate(shape) if extent != 1), len(shape))
    return value.view(shape[first:]) if 1 in shape else value  # also for what torch makes of strides of such dimensions
