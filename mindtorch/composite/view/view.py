"""Ops of the view family that are written in other view ops."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from mindtorch._core import aligned, geometry, state
from mindtorch._core.batched_array import BatchedArray
from mindtorch._core.dtype import bool as boolean
from mindtorch._core.dtype import int64
from mindtorch._core.memory_format import checked_format, contiguous_format, preserve_format
from mindtorch._core.tensor import Tensor, wrap
from mindtorch._support import errors
from mindtorch._support.warnings import warn_once
from mindtorch.autograd._engine.history import edge_of
from mindtorch.autograd._engine.outputs import write_out
from mindtorch.backends import view_geometry
from mindtorch.backends.cpu.common.casting import check_same
from mindtorch.backends.sparsecpu.shapes import narrow_copy as narrow_copy_of_sparse
from mindtorch.composite.common import out_forms
from mindtorch.composite.view.unviewed import chunk_size
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.captures import owner_of
from mindtorch.dispatch.modes.torch_dispatch import is_wanted

# -------------------- shapes --------------------


def reshape(input: Tensor, shape: tuple[int, ...]) -> Tensor:
    array = input._mt_array
    if array.flags.c_contiguous:
        return input.view(shape)
    size = view_geometry.infer_size(shape, array.size)
    strides = view_geometry.view_strides(array.shape, input.stride(), size)
    if strides is None:
        return ops._unsafe_view(input.clone(memory_format=contiguous_format), size)
    return ops._reshape_alias(input, size, strides) if _is_recorded_outside(input) else input.view(size)


def _is_recorded_outside(tensor: Any) -> Any:
    """Whether an op is recorded, and neither modes see which, nor a transform that the tensor belongs to."""
    if tensor._mt_edge is None or not state.thread.grad_enabled or type(tensor._mt_array) is BatchedArray:
        return False
    if state.active_modes and (is_wanted((tensor,)) or owner_of(tensor) is not None):
        return False
    return edge_of(tensor) is not None


def flatten(input: Tensor, start_dim: int, end_dim: int) -> Tensor:
    array = input._mt_array
    if start_dim == 0 and end_dim == -1 and array.ndim > 1:
        return input.reshape((array.size,))
    start = geometry.wrap_dim(start_dim, input.ndim)
    end = geometry.wrap_dim(end_dim, input.ndim)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    shape = input._mt_array.shape
    if not shape:
        return input.reshape((1,))
    if start == end:
        return input
    numel = 1
    for extent in shape[start : end + 1]:
        numel *= extent
    return input.reshape((*shape[:start], numel, *shape[end + 1 :]))


def unflatten(input: Tensor, dim: int, sizes: tuple[int, ...]) -> Tensor:
    wrapped = geometry.wrap_dim(dim, input.ndim)
    shape = input._mt_array.shape
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    if not shape:
        raise RuntimeError(
            f"unflatten got an unexpected error:\nDimension specified as {dim} but tensor has no dimensions"
        )
    return input.view((*shape[:wrapped], *_unflattened(tuple(sizes), shape[wrapped], dim), *shape[wrapped + 1 :]))


def _unflattened(sizes: tuple[int, ...], extent: int, dim: int) -> tuple[int, ...]:
    try:
        return view_geometry.infer_size(sizes, extent)
    except RuntimeError as error:
        if "is invalid for input" not in str(error):
            raise
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({extent}) in the "
            "input tensor"
        ) from None


def contiguous(input: Tensor, memory_format: Any) -> Tensor:
    if memory_format is contiguous_format or memory_format is preserve_format:
        if input._mt_array.flags.c_contiguous:
            return input
        if input.layout.is_compressed:
            raise RuntimeError("Sparse CSR tensors do not have is_contiguous")
        if memory_format is preserve_format:
            raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    elif geometry.has_format(input._mt_array, checked_format(memory_format, "contiguous")):
        return input
    return input.clone(memory_format=memory_format)


# -------------------- expanding --------------------


# -------------------- dimensions moved --------------------


def numpy_T(input: Tensor) -> Tensor:
    ndim = input.ndim
    if ndim not in (0, 2):
        warn_once(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
            "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.",
            UserWarning,
        )
    return input.permute(tuple(range(ndim - 1, -1, -1)))


def movedim(input: Tensor, source: tuple[int, ...], destination: tuple[int, ...]) -> Tensor:
    if len(source) != len(destination):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(source)} dims) should contain the same "
            f"number of dims as destination ({list(destination)} dims)"
        )
    ndim = len(input._mt_array.shape)
    order = _moved_order(ndim, source, destination)
    return ops.permute(input, order) if ndim else input.alias()


@lru_cache(maxsize=1024)
def _moved_order(ndim: int, source: tuple[int, ...], destination: tuple[int, ...]) -> tuple[int, ...]:
    sources = _distinct_dims("source", source, ndim)
    destinations = _distinct_dims("destination", destination, ndim)
    moved = dict(zip(destinations, sources, strict=True))
    others = iter([dim for dim in range(ndim) if dim not in sources])
    return tuple([moved[dim] if dim in moved else next(others) for dim in range(ndim)])


def _distinct_dims(name: str, dims: Sequence[int], ndim: int) -> list[int]:
    wrapped = [geometry.wrap_dim(dim, ndim) for dim in dims]
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(dims)})")
    return wrapped


# -------------------- parts --------------------


def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    if not input.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    extent = input._mt_array.shape[geometry.wrap_dim(dim, input.ndim)]
    if not -extent <= start <= extent:
        raise IndexError(f"start out of range (expected to be in range of [{-extent}, {extent}], but got {start})")
    first = start + extent if start < 0 else start
    if first + length > extent:
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({extent}).")
    return ops.slice(input, dim, first, first + length, 1)


def narrow_tensor(input: Tensor, dim: int, start: Tensor, length: int) -> Tensor:
    if start.ndim or start.is_floating_point() or start.is_complex() or start.dtype is boolean:
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    return narrow(input, dim, int(start.item()), length)


def chunk(input: Tensor, chunks: int, dim: int) -> tuple[Tensor, ...]:
    size = chunk_size(input, chunks, dim)
    if not size:  # split could not know how many parts there are
        aligned.check_tensors_fit(chunks)
        return input.split_with_sizes((0,) * chunks, dim)
    return input.split(size, dim)


# -------------------- complex numbers --------------------


def imag(input: Tensor) -> Tensor:
    if not input.is_complex():
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return ops.view_as_real(input).select(-1, 1)


# -------------------- second names --------------------


def adjoint(input: Tensor) -> Tensor:
    if input.ndim == 1:
        raise RuntimeError("tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return input.transpose(-2, -1).conj() if input.ndim else input.conj()


# -------------------- parts at given places --------------------


def tensor_split_sections(input: Tensor, sections: int, dim: int) -> tuple[Tensor, ...]:
    _check_splittable(input)
    wrapped = geometry.wrap_dim(dim, input.ndim)
    if sections <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
    aligned.check_tensors_fit(sections)
    size, longer = divmod(input._mt_array.shape[wrapped], sections)
    edges = [part * size + min(part, longer) for part in range(sections + 1)]
    return tuple([ops.slice(input, wrapped, low, high, 1) for low, high in zip(edges, edges[1:])])


def tensor_split_indices(input: Tensor, indices: tuple[int, ...], dim: int) -> tuple[Tensor, ...]:
    _check_splittable(input)
    wrapped = geometry.wrap_dim(dim, input.ndim)
    errors.check_ints(indices)
    edges = [0, *indices, input._mt_array.shape[wrapped]]
    return tuple([ops.slice(input, wrapped, low, high, 1) for low, high in zip(edges, edges[1:])])


def tensor_split_tensor(input: Tensor, tensor_indices_or_sections: Tensor, dim: int) -> tuple[Tensor, ...]:
    """A tensor without dimensions says how many parts there are, one with a dimension where they begin."""
    _check_splittable(input)
    places = tensor_indices_or_sections
    if places.dtype is not int64:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
            + places.dtype.storage_name
        )
    if places.ndim > 1:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but "
            f"got a tensor with {places.ndim} dims"
        )
    split: Any = tensor_split_indices if places.ndim else tensor_split_sections
    return split(input, places.tolist(), dim)


def _check_splittable(input: Tensor) -> None:
    if not input.ndim:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")


def hsplit_sections(input: Tensor, sections: int) -> Sequence[Tensor]:
    _check_rank("hsplit", input, 1)
    return _split_evenly("hsplit", input, sections, 0 if input.ndim == 1 else 1)


def hsplit_indices(input: Tensor, indices: tuple[int, ...]) -> Sequence[Tensor]:
    _check_rank("hsplit", input, 1)
    return tensor_split_indices(input, indices, 0 if input.ndim == 1 else 1)


def vsplit_sections(input: Tensor, sections: int) -> Sequence[Tensor]:
    _check_rank("vsplit", input, 2)
    return _split_evenly("vsplit", input, sections, 0)


def vsplit_indices(input: Tensor, indices: tuple[int, ...]) -> Sequence[Tensor]:
    _check_rank("vsplit", input, 2)
    return tensor_split_indices(input, indices, 0)


def dsplit_sections(input: Tensor, sections: int) -> Sequence[Tensor]:
    _check_rank("dsplit", input, 3)
    return _split_evenly("dsplit", input, sections, 2)


def dsplit_indices(input: Tensor, indices: tuple[int, ...]) -> Sequence[Tensor]:
    _check_rank("dsplit", input, 3)
    return tensor_split_indices(input, indices, 2)


def _check_rank(name: str, input: Tensor, least: int) -> None:
    if input.ndim < least:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {input.ndim} "
            "dimensions!"
        )


def _split_evenly(name: str, input: Tensor, sections: int, dim: int) -> tuple[Tensor, ...]:
    extent = input._mt_array.shape[dim]
    if not sections or extent % sections:
        raise RuntimeError(
            f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension {extent} is not "
            f"divisible by the split_size {sections}!"
        )
    return tensor_split_sections(input, sections, dim)


# -------------------- copies of views --------------------


def _copy_of(view: str) -> Callable:
    """The op that gives the elements of a view, or of each of several, in memory of their own."""

    def kernel(input: Tensor, *args: Any) -> Any:
        shown = getattr(ops, view)(input, *args)
        if isinstance(shown, Tensor):
            return shown.clone(memory_format=contiguous_format)
        return tuple([each.clone(memory_format=contiguous_format) for each in shown])

    return kernel


def _copy_into(view: str) -> Callable:
    """The same with `out=`."""

    def kernel(input: Tensor, *args: Any, out: Any) -> Any:
        return _written(getattr(ops, view)(input, *args), out)

    return kernel


def _written(shown: Tensor, out: Tensor) -> Tensor:
    check_same(shown._mt_array, out._mt_array)
    return write_out(out, shown.clone(memory_format=contiguous_format))


def view_copy_out(input: Tensor, size: Sequence[int], out: Tensor) -> Tensor:
    return _written(ops.reshape(input, size), out)


_narrow_copy = _copy_of("narrow")
slice_copy = _copy_of("slice")
split_copy = _copy_of("split")
split_with_sizes_copy = _copy_of("split_with_sizes")
unbind_copy = _copy_of("unbind")


def _unnamed(check: str) -> str:
    return (
        f"Expected {check} to be true, but got false.  (Could this error message be improved?  If so, please report an "
        "enhancement request to PyTorch.)"
    )


def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    if input.is_sparse:  # it has no views
        return wrap(narrow_copy_of_sparse(input._mt_array, dim, start, length))
    if dim >= input.ndim > 0:
        raise RuntimeError(_unnamed("dim < static_cast<int64_t>(self_sizes.size())"))
    if dim >= -input.ndim and length < 0 <= start <= input.shape[dim]:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({input.shape[dim]}).")
    return _narrow_copy(input, dim, start, length)


narrow_copy_out = out_forms.of_same_dtype(
    narrow_copy,
    _unnamed("self.dtype() == output.dtype()"),
)
alias_copy_out = _copy_into("alias")
as_strided_copy_out = _copy_into("as_strided")
detach_copy_out = _copy_into("alias")
diagonal_copy_out = _copy_into("diagonal")
permute_copy_out = _copy_into("permute")
select_copy_out = _copy_into("select")
slice_copy_out = _copy_into("slice")
squeeze_copy_out = _copy_into("squeeze")
t_copy_out = _copy_into("t")
transpose_copy_out = _copy_into("transpose")
unfold_copy_out = _copy_into("unfold")
unsqueeze_copy_out = _copy_into("unsqueeze")
view_as_complex_copy_out = _copy_into("view_as_complex")
view_as_real_copy_out = _copy_into("view_as_real")
view_copy_dtype_out = _copy_into("view")


def expand_copy_out(input: Tensor, size: tuple[int, ...], implicit: bool, out: Tensor) -> Tensor:
    return _written(input.expand(size, implicit=implicit), out)
