"""Ops of the nn family that are written in other ops: convolutions by name, pooling, normalization, attention."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mindtorch import errors
from mindtorch.autograd.outputs import write_out
from mindtorch.backends import image_layout
from mindtorch.backends.cpu.checks import c_name
from mindtorch.dispatch import ops
from mindtorch.dtype import bfloat16, float16, float32
from mindtorch.dtype import bool as boolean
from mindtorch.tensor import Tensor

# -------------------- convolution --------------------


def conv1d(input, weight, bias, stride, padding, dilation, groups):
    return _convolve("conv1d", 1, input, weight, bias, stride, padding, dilation, False, (0,), groups)


def conv2d(input, weight, bias, stride, padding, dilation, groups):
    return _convolve("conv2d", 2, input, weight, bias, stride, padding, dilation, False, (0,), groups)


def conv3d(input, weight, bias, stride, padding, dilation, groups):
    return _convolve("conv3d", 3, input, weight, bias, stride, padding, dilation, False, (0,), groups)


def conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation):
    return _convolve(
        "conv_transpose2d", 2, input, weight, bias, stride, padding, dilation, True, output_padding, groups
    )


def _convolve(name: str, dims: int, input: Tensor, *arguments) -> Tensor:
    """A convolution of a batch or, one dimension fewer, of a single image."""
    if input.ndim == dims + 2:
        complex_pair = input.is_complex() and arguments[0].is_complex()
        return _convolve_complex(input, *arguments) if complex_pair else ops.convolution(input, *arguments)
    if input.ndim != dims + 1:
        raise RuntimeError(
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {name}, "
            f"but got input of size: {list(input.shape)}"
        )
    return _convolve(name, dims, input.unsqueeze(0), *arguments).squeeze(0)


def _convolve_complex(input: Tensor, weight: Tensor, bias: Tensor | None, *geometry) -> Tensor:
    """A complex convolution as three real ones."""
    real_bias, both = (None, None) if bias is None else (bias.real, bias.real + bias.imag)
    real = ops.convolution(input.real, weight.real, real_bias, *geometry)
    imaginary = ops.convolution(input.imag, weight.imag, None, *geometry)
    mixed = ops.convolution(input.real + input.imag, weight.real + weight.imag, both, *geometry)
    return ops.complex(real - imaginary, mixed - real - imaginary)


def conv1d_padding(input, weight, bias, stride, padding, dilation, groups):
    return _convolve_named("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


def conv2d_padding(input, weight, bias, stride, padding, dilation, groups):
    return _convolve_named("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


def conv3d_padding(input, weight, bias, stride, padding, dilation, groups):
    return _convolve_named("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


def _convolve_named(
    name: str,
    dims: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: str,
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    """A convolution whose padding is a word: "valid" for none, "same" to keep the size."""
    pads: tuple[int, ...] = (0,)
    if padding == "same":
        if any(step != 1 for step in stride):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        input, pads = _same_padding(input, weight.shape[2:], tuple(dilation) * (dims if len(dilation) == 1 else 1))
    elif padding != "valid":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    return _convolve(name, dims, input, weight, bias, stride, pads, dilation, False, (0,), groups)


def _same_padding(input: Tensor, kernel: Sequence[int], dilation: tuple[int, ...]) -> tuple[Tensor, tuple[int, ...]]:
    """The padding that keeps the size; where it is odd, the input gets the extra element at its end."""
    totals = [d * (k - 1) for k, d in zip(kernel, dilation)]
    if any(total % 2 for total in totals):
        extra = [side for total in reversed(totals) for side in (0, total % 2)]
        input = ops.constant_pad_nd(input, tuple(extra), 0)
    return input, tuple(total // 2 for total in totals)


# -------------------- pooling --------------------


def max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode):
    return ops.max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)[0]


def adaptive_avg_pool2d(input, output_size):
    _check_output_size(output_size)
    _check_pooled(input)
    if tuple(output_size) == (1, 1):
        mean = input.mean((-1, -2), True)
        strides = image_layout.following(input._array, mean._array.shape)
        return mean if strides is None else mean.as_strided(mean.shape, strides)
    return ops._adaptive_avg_pool2d(input, output_size)


def adaptive_avg_pool2d_out(input, output_size, out):
    """Whatever the strides of `out` were, they become those of the result."""
    _check_output_size(output_size)
    _check_pooled(input)
    if out.dtype is not input.dtype:
        raise RuntimeError(f"expected dtype {c_name(input._array)} for `output` but got dtype {c_name(out._array)}")
    result = ops._adaptive_avg_pool2d(input, output_size)
    if out.shape == result.shape:
        out.set_(out.as_strided(result.shape, result.stride()))
    return write_out(out, result)


def _check_output_size(output_size: Sequence[int]) -> None:
    if len(output_size) != 2:
        raise RuntimeError("adaptive_avg_pool2d: output_size must be 2")
    if min(output_size) < 0:
        listed = ", ".join(map(str, output_size))
        raise RuntimeError(
            "adaptive_avg_pool2d: elements of output_size must be greater than or equal to 0 "
            f"but received {{{listed}}}"
        )


def _check_pooled(input: Tensor) -> None:
    if input.ndim not in (3, 4):
        raise RuntimeError(f"adaptive_avg_pool2d(): Expected 3D or 4D tensor, but got {list(input.shape)}")
    for dim in (input.ndim - 2, input.ndim - 1):
        if input.shape[dim] == 0:
            raise RuntimeError(
                "adaptive_avg_pool2d(): Expected input to have non-zero size for non-batch dimensions, "
                f"but input has sizes {list(input.shape)} with dimension {dim} being empty"
            )


# -------------------- normalization --------------------


def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
    if input.ndim < 2:
        raise errors.dim_out_of_range(1, input.ndim)
    _check_statistics(input.shape[1], running_mean, running_var, training)
    for name, parameter in (("weight", weight), ("bias", bias)):
        _check_elements(name, parameter, input.shape[1])
    if input.numel() == 0:
        return _batch_norm_of_nothing(input, weight, bias)
    return ops.native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


def _check_statistics(channels: int, running_mean: Tensor | None, running_var: Tensor | None, training: bool) -> None:
    for name, statistic in (("running_mean", running_mean), ("running_var", running_var)):
        _check_elements(name, statistic, channels)
        if statistic is None and not training:
            raise RuntimeError(f"{name} must be defined in evaluation mode")


def _check_elements(name: str, vector: Tensor | None, count: int) -> None:
    if vector is not None and vector.numel() != count:
        raise RuntimeError(f"{name} should contain {count} elements not {vector.numel()}")


def _batch_norm_of_nothing(input: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """No statistics to update, but the result still depends on the parameters."""
    result = input.clone()
    if weight is not None:
        result = result * weight[0]
    return result if bias is None else result + bias[0]


def layer_norm(input, normalized_shape, weight, bias, eps, cudnn_enable):
    return ops.native_layer_norm(input, normalized_shape, weight, bias, eps)[0]


# -------------------- dropout --------------------


def dropout(input, p, train):
    _check_probability(p)
    if p == 0 or not train or input.numel() == 0:
        return input
    return input * _dropout_noise(input, p)


def dropout_(input, p, train):
    _check_probability(p)
    if p == 0 or not train or input.numel() == 0:
        return input
    return input.mul_(_dropout_noise(input, p))


def _check_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")


def _dropout_noise(input: Tensor, p: float) -> Tensor:
    if p == 1:
        return ops.zeros((), dtype=input.dtype, device=input.device)
    return ops.empty_like(input).bernoulli_(1 - p).div_(1 - p)


# -------------------- padding --------------------


def pad(input, pad, mode, value):
    if mode == "constant":
        _check_padding(input, pad)
        return ops.constant_pad_nd(input, pad, 0.0 if value is None else value)
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in _EDGES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    dims = len(pad) // 2
    if not (1 <= dims <= 3 and len(pad) % 2 == 0 and input.ndim in (dims + 1, dims + 2)):
        raise NotImplementedError(_UNSUPPORTED_PADDING.format(size=len(pad), ndim=input.ndim))
    for number in range(dims):
        input = _pad_dim(input, input.ndim - 1 - number, pad, number, mode)
    return input


def _check_padding(input: Tensor, pad: Sequence[int]) -> None:
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension "
            f"but got padding length {len(pad)} and input of dimension {input.ndim}"
        )


_UNSUPPORTED_PADDING = """Padding size {size} is not supported for {ndim}D input tensor.
Supported combinations for non-constant padding:
  - 2D or 3D input: padding size = 2 (pads last dimension)
  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)
  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"""


def _pad_dim(input: Tensor, dim: int, pad: Sequence[int], number: int, mode: str) -> Tensor:
    """Pad one dimension by choosing, for each place of the result, an element of the input."""
    low, high = pad[2 * number : 2 * number + 2]
    size = input.shape[dim]
    if mode == "reflect" and max(low, high) >= size:
        raise RuntimeError(
            "Argument #4: Padding size should be less than the corresponding input dimension, "
            f"but got: padding ({low}, {high}) at dimension {dim} of input {list(input.shape)}"
        )
    if mode == "circular" and max(low, high) > size:
        raise RuntimeError("Padding value causes wrapping around more than once.")
    places = ops.arange(low + size + high, device=input.device) - low
    return input.index_select(dim, _EDGES[mode](places, size))


def _reflect(places: Tensor, size: int) -> Tensor:
    return size - 1 - (size - 1 - places.abs()).abs()


def _replicate(places: Tensor, size: int) -> Tensor:
    return places.clamp(0, size - 1)


def _wrap_around(places: Tensor, size: int) -> Tensor:
    return places % size


_EDGES = {"reflect": _reflect, "replicate": _replicate, "circular": _wrap_around}


# -------------------- attention --------------------


def scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa):
    _check_attention(query, key, value, attn_mask, is_causal)
    if query.dtype in (float16, bfloat16):
        wide = (tensor.to(float32) for tensor in (query, key, value))
        mask = attn_mask.to(float32) if attn_mask is not None and attn_mask.is_floating_point() else attn_mask
        return ops.scaled_dot_product_attention(
            *wide, mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
        ).to(query.dtype)
    if enable_gqa:
        key, value = (_repeat_heads(tensor, query.shape[-3]) for tensor in (key, value))
    if is_causal:
        attn_mask = ops.ones((query.shape[-2], key.shape[-2]), dtype=boolean, device=query.device).tril()
    # Both factors carry the root of the scale, so that half precision does not overflow in their product.
    root = math.sqrt(1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    scores = (query * root) @ (key.transpose(-2, -1) * root)
    weights = scores.softmax(-1) if attn_mask is None else _masked_softmax(scores, attn_mask)
    return ops.dropout(weights, dropout_p, True) @ value if dropout_p > 0 else weights @ value


def _masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """The softmax under a mask, boolean or added; zero instead of NaN in a row that is masked altogether."""
    scores = scores.masked_fill(~mask, -math.inf) if mask.dtype is boolean else scores + mask
    blocked = (scores == -math.inf).all(-1, keepdim=True)
    return scores.softmax(-1).masked_fill(blocked, 0.0)


def _repeat_heads(tensor: Tensor, heads: int) -> Tensor:
    """Grouped queries: each head of keys or values serves several neighbouring heads of queries."""
    own = tensor.shape[-3]
    shape = (*tensor.shape[:-2], heads // own, *tensor.shape[-2:])
    return tensor.unsqueeze(-3).expand(shape).reshape((*tensor.shape[:-3], heads, *tensor.shape[-2:]))


def _check_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, is_causal: bool) -> None:
    if not query.dtype is key.dtype is value.dtype:
        names = [c_name(tensor._array) for tensor in (query, key, value)]
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, "
            f"but got query.dtype: {names[0]} key.dtype: {names[1]} and value.dtype: {names[2]} instead."
        )
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, "
            f"but got query.dim: {query.ndim} key.dim: {key.ndim} and value.dim: {value.ndim} instead."
        )
    if mask is None:
        return
    if mask.dtype not in (boolean, float32, query.dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, "
            f"but got attn_mask.dtype: {c_name(mask._array)} and  query.dtype: {c_name(query._array)} instead."
        )
    if is_causal:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
