"""Ops of the nn family that are written in other ops: convolutions by name and attention; the rest is next door."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mindtorch.backends.cpu.checks import c_name
from mindtorch.composite.bags import embedding_bag as embedding_bag
from mindtorch.composite.bags import embedding_bag_padding_idx as embedding_bag_padding_idx
from mindtorch.composite.dropout import alpha_dropout as alpha_dropout
from mindtorch.composite.dropout import alpha_dropout_ as alpha_dropout_
from mindtorch.composite.dropout import dropout as dropout
from mindtorch.composite.dropout import dropout_ as dropout_
from mindtorch.composite.dropout import feature_alpha_dropout as feature_alpha_dropout
from mindtorch.composite.dropout import feature_alpha_dropout_ as feature_alpha_dropout_
from mindtorch.composite.dropout import feature_dropout as feature_dropout
from mindtorch.composite.dropout import feature_dropout_ as feature_dropout_
from mindtorch.composite.grids import affine_grid_generator as affine_grid_generator
from mindtorch.composite.grids import grid_sampler as grid_sampler
from mindtorch.composite.grids import grid_sampler_2d as grid_sampler_2d
from mindtorch.composite.grids import grid_sampler_3d as grid_sampler_3d
from mindtorch.composite.native_norms import native_batch_norm_legit as native_batch_norm_legit
from mindtorch.composite.native_norms import native_batch_norm_legit_no_stats as native_batch_norm_legit_no_stats
from mindtorch.composite.native_norms import native_batch_norm_legit_no_training as native_batch_norm_legit_no_training
from mindtorch.composite.native_norms import native_group_norm as native_group_norm
from mindtorch.composite.native_norms import native_group_norm_backward as native_group_norm_backward
from mindtorch.composite.native_norms import norm_except_dim as norm_except_dim
from mindtorch.composite.normalization import batch_norm as batch_norm
from mindtorch.composite.normalization import group_norm as group_norm
from mindtorch.composite.normalization import instance_norm as instance_norm
from mindtorch.composite.normalization import layer_norm as layer_norm
from mindtorch.composite.normalization import rms_norm as rms_norm
from mindtorch.composite.padding import pad as pad
from mindtorch.composite.pooling import adaptive_avg_pool1d as adaptive_avg_pool1d
from mindtorch.composite.pooling import adaptive_avg_pool2d as adaptive_avg_pool2d
from mindtorch.composite.pooling import adaptive_avg_pool2d_out as adaptive_avg_pool2d_out
from mindtorch.composite.pooling import adaptive_avg_pool3d as adaptive_avg_pool3d
from mindtorch.composite.pooling import adaptive_avg_pool3d_out as adaptive_avg_pool3d_out
from mindtorch.composite.pooling import adaptive_max_pool1d as adaptive_max_pool1d
from mindtorch.composite.pooling import avg_pool1d as avg_pool1d
from mindtorch.composite.pooling import max_pool1d as max_pool1d
from mindtorch.composite.pooling import max_pool1d_with_indices as max_pool1d_with_indices
from mindtorch.composite.pooling import max_pool2d as max_pool2d
from mindtorch.composite.pooling import max_pool3d as max_pool3d
from mindtorch.composite.recurrent import gru as gru
from mindtorch.composite.recurrent import gru_cell as gru_cell
from mindtorch.composite.recurrent import gru_data as gru_data
from mindtorch.composite.recurrent import lstm as lstm
from mindtorch.composite.recurrent import lstm_cell as lstm_cell
from mindtorch.composite.recurrent import lstm_data as lstm_data
from mindtorch.composite.recurrent import rnn_relu as rnn_relu
from mindtorch.composite.recurrent import rnn_relu_cell as rnn_relu_cell
from mindtorch.composite.recurrent import rnn_relu_data as rnn_relu_data
from mindtorch.composite.recurrent import rnn_tanh as rnn_tanh
from mindtorch.composite.recurrent import rnn_tanh_cell as rnn_tanh_cell
from mindtorch.composite.recurrent import rnn_tanh_data as rnn_tanh_data
from mindtorch.composite.shuffling import bilinear as bilinear
from mindtorch.composite.shuffling import channel_shuffle as channel_shuffle
from mindtorch.composite.shuffling import pixel_shuffle as pixel_shuffle
from mindtorch.composite.shuffling import pixel_unshuffle as pixel_unshuffle
from mindtorch.dispatch import ops
from mindtorch.dtype import bfloat16, float16, float32
from mindtorch.dtype import bool as boolean
from mindtorch.tensor import Tensor

# -------------------- convolution --------------------


def conv1d(input, weight, bias, stride, padding, dilation, groups):
    return _convolve("conv1d", 1, input, weight, bias, stride, padding, dilation, False, (0,), groups)


def conv2d(input, weight, bias, stride, padding, dilation, groups):
    return _convolve("conv2d", 2, input, weight, bias, stride, padding, dilation, False, (0, 0), groups)


def conv3d(input, weight, bias, stride, padding, dilation, groups):
    return _convolve("conv3d", 3, input, weight, bias, stride, padding, dilation, False, (0, 0, 0), groups)


def conv_transpose1d(input, weight, bias, stride, padding, output_padding, groups, dilation):
    return _convolve(
        "conv_transpose1d", 1, input, weight, bias, stride, padding, dilation, True, output_padding, groups
    )


def conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation):
    return _convolve(
        "conv_transpose2d", 2, input, weight, bias, stride, padding, dilation, True, output_padding, groups
    )


def conv_transpose3d(input, weight, bias, stride, padding, output_padding, groups, dilation):
    return _convolve(
        "conv_transpose3d", 3, input, weight, bias, stride, padding, dilation, True, output_padding, groups
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
    return _convolve(name, dims, input, weight, bias, stride, pads, dilation, False, (0,) * len(pads), groups)


def _same_padding(input: Tensor, kernel: Sequence[int], dilation: tuple[int, ...]) -> tuple[Tensor, tuple[int, ...]]:
    """The padding that keeps the size; where it is odd, the input gets the extra element at its end."""
    totals = [d * (k - 1) for k, d in zip(kernel, dilation)]
    if any(total % 2 for total in totals):
        extra = [side for total in reversed(totals) for side in (0, total % 2)]
        input = ops.constant_pad_nd(input, tuple(extra), 0)
    return input, tuple(total // 2 for total in totals)


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
