"""Shape rules of convolution, pooling, normalization, embedding, padding and losses."""

from collections.abc import Sequence
from math import prod
from typing import Any

from mindtorch import iterator
from mindtorch._core import geometry
from mindtorch._core.promotion import BFLOAT16, FLOAT, HALF, INT64, common_dtype
from mindtorch.backends import image_layout
from mindtorch.backends.meta.results import Kernel, deliver, deliver_all, differs_from_cpu, is_array, new

Ints = Sequence[int]


def _each(values: Ints, dims: int) -> tuple[int, ...]:
    """A number for each dimension, from one or as many."""
    return tuple(values) * dims if len(values) == 1 else tuple(values)


def _statistics_dtype(dtype: Any) -> Any:
    return FLOAT if dtype in (HALF, BFLOAT16) else dtype


# -------------------- convolution --------------------


def convolution(promotion: str) -> Kernel:
    def kernel(
        input: Any,
        weight: Any,
        bias: Any,
        stride: Ints,
        padding: Ints,
        dilation: Ints,
        transposed: bool,
        output_padding: Ints,
        groups: int,
    ) -> Any:
        extents = []
        for place, (size, window) in enumerate(zip(input.shape[2:], weight.shape[2:], strict=True)):
            step, pad, spread = (each[place % len(each)] for each in (stride, padding, dilation))
            reach = spread * (window - 1)
            if transposed:
                extra = output_padding[place % len(output_padding)]
                extents.append((size - 1) * step - 2 * pad + reach + extra + 1)
            else:
                extents.append((size + 2 * pad - reach - 1) // step + 1)
        channels = weight.shape[1] * groups if transposed else weight.shape[0]
        shape = (input.shape[0], channels, *extents)
        return new(shape, input.dtype, image_layout.of_convolution(input, weight, shape))

    return kernel


def convolution_backward(promotion: str) -> Kernel:
    def kernel(
        grad_output: Any,
        input: Any,
        weight: Any,
        bias_sizes: Ints | None,
        stride: Ints,
        padding: Ints,
        dilation: Ints,
        transposed: bool,
        output_padding: Ints,
        groups: int,
        output_mask: Sequence[bool],
    ) -> Any:
        shapes = (input.shape, weight.shape)
        grads = [new(shape, input.dtype, image_layout.of_convolution(input, weight, shape)) for shape in shapes]
        grads.append(new((grad_output.shape[1],), input.dtype))
        return tuple([grad if wanted else None for wanted, grad in zip(output_mask, grads, strict=True)])

    return kernel


def _masked(mask: Sequence[bool], dtype: Any, shapes: Sequence[tuple[int, ...]]) -> tuple[Any, ...]:
    return tuple([new(shape, dtype) if wanted else None for wanted, shape in zip(mask, shapes, strict=True)])


# -------------------- pooling --------------------


def _pooled(size: int, window: int, step: int, pad: int, spread: int, ceil_mode: bool) -> int:
    reach = size + 2 * pad - spread * (window - 1) - 1
    extent = (reach + (step - 1 if ceil_mode else 0)) // step + 1
    if ceil_mode and (extent - 1) * step >= size + pad:  # the last window must start inside the image
        extent -= 1
    return extent


def _pooled_shape(
    input: Any, dims: int, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
) -> Any:
    windows, pads, spreads = (_each(values, dims) for values in (kernel_size, padding, dilation))
    steps = _each(stride, dims) if stride else windows
    sides = [
        _pooled(size, window, step, pad, spread, ceil_mode)
        for size, window, step, pad, spread in zip(input.shape[-dims:], windows, steps, pads, spreads, strict=True)
    ]
    return (*input.shape[:-dims], *sides)


def max_pool2d(promotion: str) -> Kernel:
    return _max_pool(2)


def max_pool3d(promotion: str) -> Kernel:
    return _max_pool(3)


def _max_pool(dims: int) -> Kernel:
    def kernel(
        input: Any,
        kernel_size: Ints,
        stride: Ints = (),
        padding: Ints = (0,),
        dilation: Ints = (1,),
        ceil_mode: bool = False,
        out: Any = None,
    ) -> Any:
        shape = _pooled_shape(input, dims, kernel_size, stride, padding, dilation, ceil_mode)
        strides = image_layout.following(input, shape)
        return deliver_all(out, [(shape, input.dtype, strides), (shape, INT64, strides)])

    return kernel


def avg_pool2d(promotion: str) -> Kernel:
    return _avg_pool(2)


def avg_pool3d(promotion: str) -> Kernel:
    return _avg_pool(3)


def _avg_pool(dims: int) -> Kernel:
    def kernel(
        input: Any,
        kernel_size: Ints,
        stride: Ints = (),
        padding: Ints = (0,),
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
        out: Any = None,
    ) -> Any:
        shape = _pooled_shape(input, dims, kernel_size, stride, padding, (1,), ceil_mode)
        return deliver(out, shape, input.dtype, image_layout.following(input, shape) if dims == 2 else None)

    return kernel


def adaptive_avg_pool2d(promotion: str) -> Kernel:
    def kernel(input: Any, output_size: Ints, out: Any = None) -> Any:
        shape = (*input.shape[:-2], *_each(output_size, 2))
        return deliver(out, shape, input.dtype, image_layout.following(input, shape))

    return kernel


def adaptive_avg_pool3d(promotion: str) -> Kernel:
    def kernel(input: Any, output_size: Ints) -> Any:
        return new((*input.shape[:-3], *_each(output_size, 3)), input.dtype)

    return kernel


def adaptive_max_pool(promotion: str) -> Kernel:
    """Values and indices. Those of volumes are row-major."""

    def kernel(input: Any, output_size: Ints, out: Any = None) -> Any:
        shape = (*input.shape[: -len(output_size)], *output_size)
        strides = image_layout.following(input, shape) if len(output_size) == 2 else None
        return deliver_all(out, [(shape, input.dtype, strides), (shape, INT64, strides)])

    return kernel


def fractional_max_pool(promotion: str) -> Kernel:
    def kernel(input: Any, kernel_size: Ints, output_size: Ints, random_samples: Any, out: Any = None) -> Any:
        shape = (*input.shape[: -len(output_size)], *output_size)
        return deliver_all(out, [(shape, input.dtype, None), (shape, INT64, None)])

    return kernel


def max_unpool(promotion: str) -> Kernel:
    def kernel(input: Any, indices: Any, output_size: Ints, *options: Any, out: Any = None) -> Any:
        shape = (*input.shape[: -len(output_size)], *output_size)
        return deliver(out, shape, input.dtype, image_layout.following(input, shape) if len(output_size) == 2 else None)

    return kernel


def resized(promotion: str) -> Kernel:
    """Images of another size."""

    def kernel(input: Any, output_size: Ints, *options: Any, out: Any = None) -> Any:
        shape = (*input.shape[:2], *output_size)
        return deliver(out, shape, input.dtype, image_layout.following(input, shape))

    return kernel


def resized_backward(promotion: str) -> Kernel:
    def kernel(grad_output: Any, output_size: Ints, input_size: Ints, *options: Any, out: Any = None) -> Any:
        shape = tuple(input_size)
        return deliver(out, shape, grad_output.dtype, image_layout.following(grad_output, shape))

    return kernel


def padded(promotion: str) -> Kernel:
    """`padding` holds pairs of widths, beginning with the last dimension."""

    def kernel(input: Any, padding: Ints, out: Any = None) -> Any:
        shape = list(input.shape)
        for place in range(len(padding) // 2):
            shape[-1 - place] += padding[2 * place] + padding[2 * place + 1]
        strides = None if len(padding) == 2 else image_layout.following(input, tuple(shape))
        return deliver(out, tuple(shape), input.dtype, strides)

    return kernel


def im2col(promotion: str) -> Kernel:
    def kernel(input: Any, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints, out: Any = None) -> Any:
        sides = zip(input.shape[-2:], kernel_size, stride, padding, dilation, strict=True)
        blocks = prod(_pooled(*side, ceil_mode=False) for side in sides)
        shape = (*input.shape[:-3], input.shape[-3] * prod(kernel_size), blocks)
        return deliver(out, shape, input.dtype, None)

    return kernel


def col2im(promotion: str) -> Kernel:
    def kernel(input: Any, output_size: Ints, kernel_size: Ints, *options: Any, out: Any = None) -> Any:
        shape = (*input.shape[:-2], input.shape[-2] // prod(kernel_size), *output_size)
        return deliver(out, shape, input.dtype, None)

    return kernel


def like_second(promotion: str) -> Kernel:
    """Gradients in the shape of the input that they belong to."""

    def kernel(grad_output: Any, input: Any, *options: Any, out: Any = None) -> Any:
        return deliver(out, input.shape, grad_output.dtype, image_layout.following(input, input.shape))

    return kernel


# -------------------- normalization --------------------


def batch_norm(promotion: str) -> Kernel:
    @differs_from_cpu
    def kernel(
        input: Any,
        weight: Any,
        bias: Any,
        running_mean: Any,
        running_var: Any,
        training: bool,
        momentum: float,
        eps: float,
        out: Any = None,
    ) -> Any:
        statistics = (input.shape[1:2] if training else (0,), _statistics_dtype(input.dtype), None)
        result = (input.shape, input.dtype, image_layout.of_normalization(input))
        return deliver_all(out, [result, statistics, statistics])

    return kernel


def batch_norm_backward(promotion: str) -> Kernel:
    def kernel(grad_out: Any, input: Any, *options: Any) -> Any:
        channels = input.shape[1:2]
        grads = _masked(options[-1], input.dtype, (input.shape, channels, channels))
        strides = image_layout.of_normalization(input)
        return (new(input.shape, input.dtype, strides) if options[-1][0] else None, *grads[1:])

    return kernel


def layer_norm(promotion: str) -> Kernel:
    @differs_from_cpu
    def kernel(input: Any, normalized_shape: Ints, weight: Any, bias: Any, eps: float) -> Any:
        outer = input.ndim - len(normalized_shape)
        shape = input.shape[:outer] + (1,) * len(normalized_shape)
        statistics = (shape, _statistics_dtype(input.dtype), None)
        return deliver_all(None, [(input.shape, input.dtype, None), statistics, statistics])

    return kernel


def attention(promotion: str) -> Kernel:
    def kernel(query: Any, key: Any, value: Any, *options: Any) -> Any:
        images, heads, places = query.shape[:3]
        strides = geometry.preserved_strides(query.shape, geometry.strides_of(query))
        sums = new((images, heads, places), _statistics_dtype(query.dtype), (heads * places, 1, heads))
        return new(query.shape, query.dtype, strides), sums

    return kernel


def attention_backward(promotion: str) -> Kernel:
    def kernel(grad_out: Any, query: Any, key: Any, value: Any, *options: Any) -> Any:
        return tuple([new(each.shape, each.dtype, _by_place(each.shape)) for each in (query, key, value)])

    return kernel


def _by_place(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of (images, heads, places, numbers) with the heads of a place side by side."""
    _, heads, places, size = shape
    return (places * heads * size, size, heads * size, 1)


def lstm_cell(promotion: str) -> Kernel:
    def kernel(input_gates: Any, hidden_gates: Any, cx: Any, *biases: Any) -> Any:
        return new(cx.shape, cx.dtype), new(cx.shape, cx.dtype), new(input_gates.shape, cx.dtype)

    return kernel


def lstm_cell_backward(promotion: str) -> Kernel:
    def kernel(grad_hy: Any, grad_cy: Any, cx: Any, cy: Any, workspace: Any, has_bias: bool) -> Any:
        bias = new(workspace.shape[1:], cx.dtype) if has_bias else None
        return new(workspace.shape, cx.dtype), new(cx.shape, cx.dtype), bias

    return kernel


def gru_cell(promotion: str) -> Kernel:
    def kernel(input_gates: Any, hidden_gates: Any, hx: Any, *biases: Any) -> Any:
        return new(hx.shape, hx.dtype), new((hx.shape[0], 5 * hx.shape[1]), hx.dtype)

    return kernel


def gru_cell_backward(promotion: str) -> Kernel:
    def kernel(grad_hy: Any, workspace: Any, has_bias: bool) -> Any:
        rows, size = grad_hy.shape
        shapes = [(rows, 3 * size), (rows, 3 * size), (rows, size), *[(3 * size,)] * 2]
        return tuple([new(shape, grad_hy.dtype) if len(shape) > 1 or has_bias else None for shape in shapes])

    return kernel


def layer_norm_backward(promotion: str) -> Kernel:
    def kernel(
        grad_out: Any,
        input: Any,
        normalized_shape: Ints,
        mean: Any,
        rstd: Any,
        weight: Any,
        bias: Any,
        output_mask: Sequence[bool],
    ) -> Any:
        wanted = [flag and like is not None for flag, like in zip(output_mask, (input, weight, bias), strict=True)]
        strides = geometry.preserved_strides(input.shape, geometry.strides_of(input))
        grads = _masked(wanted, input.dtype, (input.shape, tuple(normalized_shape), tuple(normalized_shape)))
        return (new(input.shape, input.dtype, strides) if wanted[0] else None, *grads[1:])

    return kernel


# -------------------- embedding and padding --------------------


def embedding(promotion: str) -> Kernel:
    def kernel(weight: Any, indices: Any, *options: Any) -> Any:
        return new(indices.shape + weight.shape[1:], weight.dtype)

    return kernel


def embedding_backward(promotion: str) -> Kernel:
    def kernel(grad_output: Any, indices: Any, num_weights: int, *options: Any) -> Any:
        return new((num_weights, grad_output.shape[-1]), grad_output.dtype)

    return kernel


def constant_pad(promotion: str) -> Kernel:
    """`pad` holds pairs of widths, beginning with the last dimension."""

    def kernel(input: Any, pad: Ints, value: Any = 0) -> Any:
        shape = list(input.shape)
        for place in range(len(pad) // 2):
            shape[-1 - place] += pad[2 * place] + pad[2 * place + 1]
        return new(tuple(shape), input.dtype, image_layout.of_padding(input, tuple(shape), pad))

    return kernel


# -------------------- losses --------------------

_NO_REDUCTION = 0


def loss(promotion: str) -> Kernel:
    """A loss per pair of elements, reduced by the integer among the options."""

    def kernel(input: Any, target: Any, *options: Any, out: Any = None) -> Any:
        arrays = [input, target, *(each for each in options if is_array(each))]
        shape, strides = iterator.result_layout(arrays)
        if next(each for each in options if type(each) is int) != _NO_REDUCTION:
            shape, strides = (), None
        return deliver(out, shape, common_dtype(*arrays), strides)

    return kernel


def loss_like_target(promotion: str) -> Kernel:
    """A loss in the shape and dtype of the target."""

    def kernel(input: Any, target: Any, *options: Any) -> Any:
        if next(each for each in options if type(each) is int) != _NO_REDUCTION:
            return new((), target.dtype)
        return new(target.shape, target.dtype, geometry.preserved_strides(target.shape, geometry.strides_of(target)))

    return kernel


def nll_loss(promotion: str) -> Kernel:
    return _nll(batch_ndim=2)


def nll_loss2d(promotion: str) -> Kernel:
    return _nll(batch_ndim=4)


def _nll(batch_ndim: int) -> Kernel:
    """Without a reduction a batch has a loss per target."""

    def kernel(input: Any, target: Any, weight: Any, reduction: int, ignore_index: int, out: Any = None) -> Any:
        unreduced = reduction == _NO_REDUCTION and input.ndim == batch_ndim
        return deliver_all(out, [(target.shape if unreduced else (), input.dtype, None), ((), input.dtype, None)])

    return kernel
