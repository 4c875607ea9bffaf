"""The kernels of the meta backend: from the arguments of an op to the shape, strides and dtype of its result.

Each value of `shape:` in ops.yaml names a function here. It takes the op's `promotion:` and gives the kernel, which is
called with the op's arguments as a CPU kernel is.
"""

from collections.abc import Callable, Sequence
from math import ceil
from typing import Any

import numpy as np

from mindtorch import iterator
from mindtorch._core import geometry, state
from mindtorch._core.batched_array import BatchedArray, level_numbered
from mindtorch._core.device import as_device
from mindtorch._core.device import device as Device
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.memory_format import channels_last, contiguous_format, memory_format, preserve_format
from mindtorch._core.promotion import BOOL, INT32, INT64, RULES, common_dtype, complex_of, number_dtype, real_of
from mindtorch._support import errors
from mindtorch.backends import view_geometry
from mindtorch.backends.meta.array import MetaArray
from mindtorch.backends.meta.elementwise_rules import broadcast as broadcast
from mindtorch.backends.meta.elementwise_rules import broadcast_reversed as broadcast_reversed
from mindtorch.backends.meta.elementwise_rules import copy as copy
from mindtorch.backends.meta.elementwise_rules import masked_fill as masked_fill
from mindtorch.backends.meta.layer_rules import embedding_bag as embedding_bag
from mindtorch.backends.meta.layer_rules import embedding_bag_backward as embedding_bag_backward
from mindtorch.backends.meta.layer_rules import embedding_bag_forward_only as embedding_bag_forward_only
from mindtorch.backends.meta.layer_rules import (
    embedding_bag_per_sample_weights_backward as embedding_bag_per_sample_weights_backward,
)
from mindtorch.backends.meta.layer_rules import grid_sampler as grid_sampler
from mindtorch.backends.meta.layer_rules import grid_sampler_backward as grid_sampler_backward
from mindtorch.backends.meta.linalg_rules import check_addend
from mindtorch.backends.meta.linalg_rules import det as det
from mindtorch.backends.meta.linalg_rules import eig as eig
from mindtorch.backends.meta.linalg_rules import eigh as eigh
from mindtorch.backends.meta.linalg_rules import geqrf as geqrf
from mindtorch.backends.meta.linalg_rules import householder_product as householder_product
from mindtorch.backends.meta.linalg_rules import ldl_solve as ldl_solve
from mindtorch.backends.meta.linalg_rules import lu as lu
from mindtorch.backends.meta.linalg_rules import lu_factor as lu_factor
from mindtorch.backends.meta.linalg_rules import lu_solve as lu_solve
from mindtorch.backends.meta.linalg_rules import lu_unpack as lu_unpack
from mindtorch.backends.meta.linalg_rules import ormqr as ormqr
from mindtorch.backends.meta.linalg_rules import qr as qr
from mindtorch.backends.meta.linalg_rules import slogdet as slogdet
from mindtorch.backends.meta.linalg_rules import solve as solve
from mindtorch.backends.meta.linalg_rules import solve_triangular as solve_triangular
from mindtorch.backends.meta.linalg_rules import svd as svd
from mindtorch.backends.meta.linalg_rules import with_info as with_info
from mindtorch.backends.meta.nn_rules import (
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool,
    avg_pool2d,
    avg_pool3d,
    batch_norm,
    batch_norm_backward,
    col2im,
    constant_pad,
    convolution,
    convolution_backward,
    embedding,
    embedding_backward,
    fractional_max_pool,
    im2col,
    layer_norm,
    layer_norm_backward,
    like_second,
    loss,
    loss_like_target,
    max_pool2d,
    max_pool3d,
    max_unpool,
    nll_loss,
    nll_loss2d,
    padded,
    resized,
    resized_backward,
)
from mindtorch.backends.meta.nn_rules import attention as attention
from mindtorch.backends.meta.nn_rules import attention_backward as attention_backward
from mindtorch.backends.meta.nn_rules import gru_cell as gru_cell
from mindtorch.backends.meta.nn_rules import gru_cell_backward as gru_cell_backward
from mindtorch.backends.meta.nn_rules import lstm_cell as lstm_cell
from mindtorch.backends.meta.nn_rules import lstm_cell_backward as lstm_cell_backward
from mindtorch.backends.meta.reduction_rules import aminmax as aminmax
from mindtorch.backends.meta.reduction_rules import bucketize as bucketize
from mindtorch.backends.meta.reduction_rules import histc as histc
from mindtorch.backends.meta.reduction_rules import histogram as histogram
from mindtorch.backends.meta.reduction_rules import kthvalue as kthvalue
from mindtorch.backends.meta.reduction_rules import rank as rank
from mindtorch.backends.meta.reduction_rules import searchsorted as searchsorted
from mindtorch.backends.meta.reduction_rules import spread_and_mean as spread_and_mean
from mindtorch.backends.meta.results import Kernel, deliver, deliver_all, new
from mindtorch.dispatch.registry import kernels_in

__all__ = [
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "batch_norm_backward",
    "col2im",
    "constant_pad",
    "convolution",
    "convolution_backward",
    "embedding",
    "embedding_backward",
    "fractional_max_pool",
    "im2col",
    "layer_norm",
    "layer_norm_backward",
    "like_second",
    "loss",
    "loss_like_target",
    "max_pool2d",
    "max_pool3d",
    "max_unpool",
    "nll_loss",
    "nll_loss2d",
    "padded",
    "resized",
    "resized_backward",
]

_views = kernels_in("mindtorch.backends.cpu.view.view")

# The dtype of the second result, by promotion.
_SECOND_DTYPES = {"first_index": INT64, "first_mask": BOOL, "first_exponent": INT32}


# -------------------- reductions --------------------


def reduce(promotion: str) -> Kernel:
    rule = RULES[promotion]

    def kernel(input: Any, *options: Any, out: Any = None) -> Any:
        if len(options) == 4:
            options = options[1:]  # the order of a norm, the only option that ever stands before `dim`
        dim = options[0] if options and not isinstance(options[0], Dtype) else None
        keepdim = any(each is True for each in options)
        asked = next((each.numpy for each in options if isinstance(each, Dtype)), None)
        shape = iterator.reduced_shape(input.shape, iterator.reduced_dims(dim, input.ndim), keepdim)
        dtype = rule(input) if asked is None else asked
        if promotion == "complex_to_real":
            dtype = real_of(dtype)
        return _with_second(promotion, shape, None, dtype, out)

    return kernel


def _with_second(promotion: str | None, shape: Any, strides: Any, dtype: Any, out: Any) -> Any:
    """One result, or two of the same shape if the promotion gives two dtypes."""
    second = _SECOND_DTYPES.get(promotion or "")
    if second is None:
        return deliver(out, shape, dtype, strides)
    return deliver_all(out, [(shape, dtype, strides), (shape, second, strides)])


def sort(promotion: str) -> Kernel:
    def kernel(input: Any, *options: Any, out: Any = None) -> Any:
        strides = geometry.preserved_strides(input.shape, geometry.strides_of(input))
        return _with_second(promotion, input.shape, strides, input.dtype, out)

    return kernel


def topk(promotion: str) -> Kernel:
    def kernel(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True, out: Any = None) -> Any:
        dim = geometry.wrap_dim(dim, input.ndim)
        if not 0 <= k <= (input.shape[dim] if input.ndim else 1):
            raise RuntimeError("selected index k out of range")
        shape = (*input.shape[:dim], k, *input.shape[dim + 1 :]) if input.ndim else ()
        return _with_second(promotion, shape, None, input.dtype, out)

    return kernel


# -------------------- results like the first argument --------------------


def same(promotion: str) -> Kernel:
    """Row-major in the shape of the first argument. Ops that write to it in place give it back by `out`."""
    rule = RULES[promotion]

    def kernel(input: Any, *options: Any, out: Any = None) -> Any:
        asked = next((each.numpy for each in options if isinstance(each, Dtype)), None)
        return _with_second(promotion, input.shape, None, rule(input) if asked is None else asked, out)

    return kernel


def like(promotion: str | None) -> Kernel:
    """In the shape of the first argument, by default with its strides, too."""

    def kernel(input: Any, *options: Any, out: Any = None) -> Any:
        asked = next((each.numpy for each in options if isinstance(each, Dtype)), input.dtype)
        wanted = next((each for each in options if isinstance(each, memory_format)), preserve_format)
        if any(isinstance(each, (Device, str)) and as_device(each).type != "meta" for each in options):
            raise errors.meta_data()
        return _with_second(promotion, input.shape, _formatted(input, wanted), asked, out)

    return kernel


def _formatted(input: Any, wanted: memory_format) -> tuple[int, ...] | None:
    if wanted is preserve_format:
        return geometry.preserved_strides(input.shape, geometry.strides_of(input))
    return None if wanted is contiguous_format else geometry.channels_last_strides(input.shape)


def view(kernel: Callable[..., Any]) -> Kernel:
    """The CPU kernel of the view op does it: it only looks at shape and strides, here those of untouched memory."""

    def meta_kernel(input: Any, *arguments: Any) -> Any:
        stand_in = _stand_in(input)
        result = kernel(stand_in, *arguments)
        if isinstance(result, (list, tuple)):
            return [_view_of(input, stand_in, each) for each in result]
        return _view_of(input, stand_in, result)

    return _for_all_devices(meta_kernel)


def _for_all_devices(kernel: Kernel) -> Kernel:
    """Mark a kernel that touches no memory: backends of devices take it over."""
    kernel.serves_all_devices = True  # type: ignore[attr-defined]
    return kernel


def _stand_in(array: Any) -> np.ndarray:
    """A NumPy array with the geometry of a device's array, in memory that is never touched and so takes no room."""
    root = np.empty(array.root.nbytes, np.uint8)
    if array.dtype.kind != "V":
        return np.ndarray(array.shape, array.dtype, root, array.byte_offset, array.strides)
    return np.ndarray(array.shape, np.uint16, root, array.byte_offset, array.strides).view(array.dtype)


def _view_of(input: Any, stand_in: np.ndarray, view: np.ndarray) -> MetaArray:
    start = 0
    if view.size and stand_in.size:
        start = view.__array_interface__["data"][0] - stand_in.__array_interface__["data"][0]
    strides = tuple([stride * view.itemsize for stride in geometry.strides_of(view)])
    return input.part(view.shape, view.dtype, strides, input.byte_offset + start)


# -------------------- levels of vmap --------------------


def add_batch_dim(promotion: None) -> Kernel:
    return _for_all_devices(_views.add_batch_dim)


def spread_over_level(promotion: None) -> Kernel:
    expand = view(_views.expand)

    def kernel(input: Any, level: int) -> BatchedArray:
        found = level_numbered(level)
        return BatchedArray(expand(input, (found.size, *input.shape)), 0, found)

    return _for_all_devices(kernel)


def remove_batch_dim(promotion: None) -> Kernel:
    unsqueeze, expand = view(_views.unsqueeze), view(_views.expand)

    def kernel(input: Any, level: int, batch_size: int, out_dim: int) -> Any:
        shape = (*input.shape[:out_dim], batch_size, *input.shape[out_dim:])
        return expand(unsqueeze(input, out_dim), shape)

    return _for_all_devices(kernel)


# -------------------- sizes that are given --------------------


def sizes(promotion: str | None) -> Kernel:
    """Factories, whose first argument is the size, and backwards of views, where it is the second."""
    if promotion is not None:
        return _sizes_of_input

    def kernel(size: Sequence[int], *options: Any, out: Any = None) -> Any:
        geometry.check_sizes(size)
        second = options[0] if options else None
        strides = tuple(second) if isinstance(second, (list, tuple)) else None
        if strides is None and any(each is channels_last for each in options):
            strides = geometry.channels_last_strides(size)
        return deliver(out, tuple(size), _asked_dtype(options), strides)

    return kernel


def _sizes_of_input(grad_output: Any, input_sizes: Sequence[int], *options: Any) -> Any:
    return new(tuple(input_sizes), grad_output.dtype)


def _asked_dtype(options: Sequence[Any]) -> Any:
    """The dtype among the options; else that of a number to fill with; else the default."""
    for each in options:
        if isinstance(each, Dtype):
            return each.numpy
    if options and isinstance(options[0], (bool, int, float, complex)):
        return number_dtype(options[0])
    return state.default_dtype.numpy


def arange(promotion: None) -> Kernel:
    def kernel(start: Any, end: Any, step: Any = 1, *options: Any, out: Any = None) -> Any:
        asked = next((each.numpy for each in options if isinstance(each, Dtype)), None)
        dtype = common_dtype(start, end, step) if asked is None else asked
        return deliver(out, (max(ceil((end - start) / step), 0),), dtype)

    return kernel


def linspace(promotion: None) -> Kernel:
    def kernel(start: Any, end: Any, steps: int, *options: Any, out: Any = None) -> Any:
        if steps < 0:
            raise RuntimeError("number of steps must be non-negative")
        return deliver(out, (steps,), _asked_dtype(options))

    return kernel


def eye(promotion: None) -> Kernel:
    def kernel(n: int, *options: Any, out: Any = None) -> Any:
        columns = options[0] if options and isinstance(options[0], int) else n
        for name, extent in (("n", n), ("m", columns)):
            if extent < 0:
                raise RuntimeError(f"{name} must be greater or equal to 0, got {extent}")
        asked = [each for each in options if isinstance(each, Dtype)]
        return deliver(out, (n, columns), _asked_dtype(asked))

    return kernel


# -------------------- indexing and joining --------------------


def index(promotion: None) -> Kernel:
    """Neighbouring indices put their dimensions where they stand, separated ones in front."""

    def kernel(input: Any, indices: Sequence[Any], out: Any = None) -> Any:
        indices = [place for each in indices for place in _places(each)]
        given = [each for each in indices if each is not None]
        places = [dim for dim, each in enumerate(indices) if each is not None]
        broadcast_shape = iterator.broadcast_shapes(*[each.shape for each in given])
        rest = [size for dim, size in enumerate(input.shape) if dim not in places]
        adjacent = places[-1] - places[0] == len(places) - 1
        front = places[0] if adjacent else 0
        return deliver(out, (*rest[:front], *broadcast_shape, *rest[front:]), input.dtype)

    return kernel


def _places(index: Any) -> Sequence[Any]:
    """An index; a mask as the places where it is true, if it has any data."""
    if index is None or index.dtype not in (BOOL, np.uint8):
        return [index]
    if not isinstance(index, np.ndarray):
        raise _depends_on_data("index.Tensor")
    return np.nonzero(index)


def index_select(promotion: str) -> Kernel:
    def kernel(input: Any, dim: int, index: Any, out: Any = None) -> Any:
        dim = geometry.wrap_dim(dim, input.ndim)
        shape = (*input.shape[:dim], index.size, *input.shape[dim + 1 :]) if input.ndim else ()
        return deliver(out, shape, input.dtype)

    return kernel


def gather(promotion: str) -> Kernel:
    def kernel(input: Any, dim: int, index: Any, sparse_grad: bool = False, out: Any = None) -> Any:
        geometry.wrap_dim(dim, input.ndim)
        return deliver(out, index.shape, input.dtype)

    return kernel


def cat(promotion: str) -> Kernel:
    """Tensors of shape (0,) are left out, as torch always did."""

    def kernel(tensors: Sequence[Any], dim: int = 0, out: Any = None) -> Any:
        view_geometry.check_joinable(tensors)
        kept = [each for each in tensors if each.shape != (0,)] or [tensors[0]]
        iterator.check_devices(kept)
        return deliver(out, view_geometry.joined_shape(tensors, dim)[0], common_dtype(*tensors))

    return kernel


def stack(promotion: str) -> Kernel:
    """The inputs side by side along a new dim."""

    def kernel(tensors: Sequence[Any], dim: int = 0, out: Any = None) -> Any:
        iterator.check_devices(tensors)
        shape = list(tensors[0].shape)
        shape.insert(geometry.wrap_dim(dim, len(shape) + 1), len(tensors))
        return deliver(out, tuple(shape), common_dtype(*tensors))

    return kernel


def diag_embed(promotion: str) -> Kernel:
    def kernel(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
        return deliver(None, view_geometry.diag_embed_shape(input.shape, offset, dim1, dim2), input.dtype)

    return kernel


def repeat(promotion: str) -> Kernel:
    """Every dim times its count; dims that only the counts have come first."""

    def kernel(input: Any, repeats: Sequence[int]) -> Any:
        sizes = (1,) * (len(repeats) - input.ndim) + tuple(input.shape)
        shape = tuple(size * count for size, count in zip(sizes, repeats, strict=True))
        geometry.check_sizes(shape)
        return deliver(None, shape, input.dtype)

    return kernel


def dynamic(promotion: None) -> Kernel:
    def kernel(*arguments: Any, out: Any = None) -> Any:
        raise _depends_on_data("this operator")

    return kernel


def _depends_on_data(op: str) -> NotImplementedError:
    return NotImplementedError(f"{op}: the shape of the result depends on data, which tensors on meta don't have")


# -------------------- products of matrices --------------------


def matmul(promotion: str) -> Kernel:
    """mm, bmm, mv and dot: what remains when the last dimension of one meets the first of the other."""

    def kernel(input: Any, other: Any, out: Any = None) -> Any:
        _check_product(input.shape, other.shape)
        shape = input.shape[:-1] + (other.shape[-1:] if other.ndim > 1 else ())
        return deliver(out, shape, input.dtype)

    return kernel


def _check_product(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    if len(b) == 3 and (a[0], a[2]) != b[:2]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{a[0]}, {a[2]}] but got: "
            f"[{b[0]}, {b[1]}]."
        )
    if a[-1] != b[-2 if len(b) > 1 else 0]:
        raise RuntimeError(f"a and b must have same reduction dim, but got {list(a)} X {list(b)}.")


def addmm(promotion: str) -> Kernel:
    """addmm and baddbmm."""

    def kernel(input: Any, mat1: Any, mat2: Any, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Any:
        _check_product(mat1.shape, mat2.shape)
        shape = (*mat1.shape[:-1], mat2.shape[-1])
        check_addend(input, shape, out)
        return deliver(out, shape, mat1.dtype)

    return kernel


def addmv(promotion: str) -> Kernel:
    def kernel(input: Any, mat: Any, vec: Any, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Any:
        _check_product(mat.shape, vec.shape)
        check_addend(input, mat.shape[:1], out)
        return deliver(out, mat.shape[:1], mat.dtype)

    return kernel


def addbmm(promotion: str) -> Kernel:
    def kernel(input: Any, batch1: Any, batch2: Any, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Any:
        _check_product(batch1.shape, batch2.shape)
        shape = (batch1.shape[1], batch2.shape[2])
        check_addend(input, shape, out)
        return deliver(out, shape, batch1.dtype)

    return kernel


# -------------------- Fourier transforms --------------------


def fft_c2c(promotion: str) -> Kernel:
    def kernel(input: Any, dim: Any, normalization: int, forward: bool, out: Any = None) -> Any:
        geometry.check_transformed_dims(input.shape, dim)
        return deliver(out, input.shape, input.dtype, geometry.transformed_strides(input.shape, input.strides, dim))

    return kernel


def fft_r2c(promotion: str) -> Kernel:
    def kernel(input: Any, dim: Sequence[int], normalization: int, onesided: bool, out: Any = None) -> Any:
        geometry.check_transformed_dims(input.shape, dim)
        shape = list(input.shape)
        if onesided:
            shape[dim[-1]] = shape[dim[-1]] // 2 + 1
        strides = geometry.transformed_strides(shape, input.strides, dim, dim[-1])
        return deliver(out, tuple(shape), complex_of(input.dtype), strides)

    return kernel


def fft_c2r(promotion: str) -> Kernel:
    def kernel(input: Any, dim: Sequence[int], normalization: int, last_dim_size: int, out: Any = None) -> Any:
        geometry.check_transformed_dims(input.shape, dim)
        shape = list(input.shape)
        shape[dim[-1]] = last_dim_size
        return deliver(
            out, tuple(shape), real_of(input.dtype), geometry.transformed_strides(shape, input.strides, dim, dim[-1])
        )

    return kernel
