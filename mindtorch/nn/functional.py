"""Layers as functions. Where the signature allows, a function here is the op itself."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from mindtorch.autograd.grad_mode import no_grad
from mindtorch.creation import tensor
from mindtorch.dispatch import ops
from mindtorch.dtype import dtype as Dtype
from mindtorch.dtype import finfo
from mindtorch.geometry import suggested_format
from mindtorch.memory_format import contiguous_format
from mindtorch.nn.activations import celu as celu
from mindtorch.nn.activations import elu as elu
from mindtorch.nn.activations import glu as glu
from mindtorch.nn.activations import gumbel_softmax as gumbel_softmax
from mindtorch.nn.activations import hardshrink as hardshrink
from mindtorch.nn.activations import hardsigmoid as hardsigmoid
from mindtorch.nn.activations import hardswish as hardswish
from mindtorch.nn.activations import logsigmoid as logsigmoid
from mindtorch.nn.activations import mish as mish
from mindtorch.nn.activations import prelu as prelu
from mindtorch.nn.activations import selu as selu
from mindtorch.nn.activations import softshrink as softshrink
from mindtorch.nn.activations import softsign as softsign
from mindtorch.nn.activations import tanhshrink as tanhshrink
from mindtorch.nn.activations import threshold as threshold
from mindtorch.nn.distances import cosine_embedding_loss as cosine_embedding_loss
from mindtorch.nn.distances import cosine_similarity as cosine_similarity
from mindtorch.nn.distances import huber_loss as huber_loss
from mindtorch.nn.distances import margin_ranking_loss as margin_ranking_loss
from mindtorch.nn.distances import pairwise_distance as pairwise_distance
from mindtorch.nn.distances import triplet_margin_loss as triplet_margin_loss
from mindtorch.nn.reduction import legacy_reduction, reduction_number
from mindtorch.tensor import Tensor

# -------------------- linear, convolution, attention --------------------

linear = ops.linear
conv1d = ops.conv1d
conv2d = ops.conv2d
conv3d = ops.conv3d
conv_transpose2d = ops.conv_transpose2d
scaled_dot_product_attention = ops.scaled_dot_product_attention


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of weight that input names."""
    if padding_idx is None:
        padding_idx = -1
    elif not -weight.shape[0] <= padding_idx < weight.shape[0]:
        raise AssertionError("Padding_idx must be within num_embeddings")
    elif padding_idx < 0:
        padding_idx += weight.shape[0]
    if max_norm is not None:
        _renormalize_rows(weight, input, max_norm, norm_type)
    return ops.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def _renormalize_rows(weight: Tensor, rows: Tensor, max_norm: float, norm_type: float) -> None:
    """Shorten, in place, the named rows that are longer than max_norm."""
    with no_grad():
        chosen = tensor(sorted(set(rows.flatten().tolist())))
        found = weight.index_select(0, chosen)
        norms = found.norm(norm_type, 1, keepdim=True)
        factor = (max_norm / (norms + 1e-7)).clamp(max=1.0)
        weight[chosen] = found * factor


# -------------------- activations --------------------

sigmoid = ops.sigmoid
tanh = ops.tanh
gelu = ops.gelu
softplus = ops.softplus


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """The larger of input and 0."""
    return ops.relu_(input) if inplace else ops.relu(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """input * sigmoid(input)."""
    return ops.silu_(input) if inplace else ops.silu(input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """input, times negative_slope where it is negative."""
    if inplace:
        return ops.leaky_relu_(input, negative_slope)
    return ops.leaky_relu(input, negative_slope)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """input limited to a range."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return input.clamp_(min_val, max_val) if inplace else input.clamp(min_val, max_val)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """input limited to the range from 0 to 6."""
    return hardtanh(input, 0.0, 6.0, inplace)


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None) -> Tensor:
    """exp(input) divided by its sum along a dimension."""
    if dim is None:
        dim = _implicit_dim("softmax", input.ndim, _stacklevel)
    return ops.softmax(input, dim, dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None) -> Tensor:
    """The logarithm of softmax, without overflow."""
    if dim is None:
        dim = _implicit_dim("log_softmax", input.ndim, _stacklevel)
    return ops.log_softmax(input, dim, dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None) -> Tensor:
    """softmax of -input."""
    if dim is None:
        dim = _implicit_dim("softmin", input.ndim, _stacklevel)
    return ops.softmax(-input, dim, dtype)


def _implicit_dim(name: str, ndim: int, stacklevel: int) -> int:
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel + 1,
    )
    return 0 if ndim in (0, 1, 3) else 1


# -------------------- dropout --------------------


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero each element with probability p and scale the others so that the mean stays."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return ops.dropout_(input, p, training) if inplace else ops.dropout(input, p, training)


def _dropout_channels(input: Tensor, p: float, training: bool, inplace: bool, dims: int) -> Tensor:
    """Dropout of whole channels: of everything but the last `dims` dimensions."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0 or not input.numel():
        return input
    shape = (*input.shape[: input.ndim - dims], *(1,) * dims)
    noise = ops.zeros((), dtype=input.dtype) if p == 1 else input.new_empty(shape).bernoulli_(1 - p).div_(1 - p)
    return input.mul_(noise) if inplace else input * noise


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of sequences."""
    return _dropout_channels(input, p, training, inplace, 1)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of images."""
    return _dropout_channels(input, p, training, inplace, 2)


# -------------------- pooling --------------------


def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window; with `return_indices`, also where it is."""
    steps = kernel_size if stride is None else stride
    places = [_one_row(value, rest) for value, rest in ((kernel_size, 1), (steps, 1), (padding, 0), (dilation, 1))]
    pooled = max_pool2d(input.unsqueeze(-2), *places, ceil_mode, return_indices)
    return tuple([part.squeeze(-2) for part in pooled]) if return_indices else pooled.squeeze(-2)


def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window."""
    steps = kernel_size if stride is None else stride
    places = [_one_row(value, rest) for value, rest in ((kernel_size, 1), (steps, 1), (padding, 0))]
    return ops.avg_pool2d(input.unsqueeze(-2), *places, ceil_mode, count_include_pad).squeeze(-2)


def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """The mean of each of output_size cells."""
    return ops.adaptive_avg_pool2d(input.unsqueeze(-2), _one_row(output_size, 1)).squeeze(-2)


def _one_row(value: Any, row: int) -> tuple[int, int]:
    """A size of a sequence as that of an image with one row."""
    return row, value if isinstance(value, int) else value[0]


avg_pool2d = ops.avg_pool2d


def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window; with `return_indices`, also where it is."""
    stride = () if stride is None else stride
    if return_indices:
        return ops.max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return ops.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d_with_indices(input: Tensor, kernel_size: Any, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """The largest element of each window and where it is."""
    return max_pool2d(input, kernel_size, *args, **{**kwargs, "return_indices": True})


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """The mean of each of output_size cells; None keeps the input's size."""
    if isinstance(output_size, int):
        output_size = (output_size, output_size)
    elif None in output_size:
        sizes = input.shape[-len(output_size) :]
        output_size = tuple(own if given is None else given for given, own in zip(output_size, sizes))
    return ops.adaptive_avg_pool2d(input, tuple(output_size))


# -------------------- normalization --------------------


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize each channel, in training over the batch, else by the running statistics."""
    if training:
        _check_several_values(input.shape)
    return ops.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)


def _check_several_values(shape: Sequence[int]) -> None:
    count = shape[0] * math.prod(shape[2:])
    if count == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {shape}")


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize over the last dimensions."""
    return ops.layer_norm(input, tuple(normalized_shape), weight, bias, eps)


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Normalize over groups of channels."""
    batch, channels, *rest = input.shape
    if channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    _check_several_values((batch * channels // num_groups, num_groups, *rest))
    grouped = input.reshape(batch, num_groups, -1)
    result = ops.layer_norm(grouped, (grouped.shape[-1],), None, None, eps).reshape(input.shape)
    if (form := suggested_format(input._array)) is not contiguous_format:
        result = result.to(memory_format=form)
    shape = (channels,) + (1,) * len(rest)
    if weight is not None:
        result = result * weight.reshape(shape)
    return result if bias is None else result + bias.reshape(shape)


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Divide by the root of the mean square over the last dimensions."""
    dims = tuple(range(-len(normalized_shape), 0))
    epsilon = finfo(input.dtype).eps if eps is None else eps
    result = input * (input.pow(2).mean(dims, keepdim=True) + epsilon).rsqrt()
    return result if weight is None else result * weight


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """Divide by the p-norm along a dimension, or by eps where that is larger."""
    length = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / length if out is None else ops.div(input, length, out=out)


# -------------------- shape --------------------

one_hot = ops.one_hot


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Pad the last dimensions; the numbers are before and after the last one, then the one before it, and so on."""
    return ops.pad(input, tuple(pad), mode, value)


# -------------------- losses --------------------


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The cross entropy of logits against classes or class probabilities."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    number = reduction_number(reduction)
    return ops.cross_entropy_loss(input, target, weight, number, ignore_index, label_smoothing)


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of classes."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    return ops.nll_loss_nd(input, target, weight, reduction_number(reduction), ignore_index)


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The squared difference."""
    number = reduction_number(legacy_reduction(size_average, reduce, reduction))
    _warn_of_broadcast(input, target)
    if weight is None:
        return ops.mse_loss(input, target, number)
    losses = ops.mse_loss(input, target, 0) * weight
    if reduction == "mean":
        return losses.sum() / weight.expand_as(losses).sum()
    return losses.sum() if reduction == "sum" else losses


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The absolute difference."""
    number = reduction_number(legacy_reduction(size_average, reduce, reduction))
    _warn_of_broadcast(input, target)
    return ops.l1_loss(input, target, number)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """The squared difference below beta and the absolute one above it."""
    number = reduction_number(legacy_reduction(size_average, reduce, reduction))
    _warn_of_broadcast(input, target)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return ops.smooth_l1_loss(input, target, number, beta)


def _warn_of_broadcast(input: Tensor, target: Tensor) -> None:
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). "
            "This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            stacklevel=3,
        )


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The cross entropy of probabilities."""
    number = reduction_number(legacy_reduction(size_average, reduce, reduction))
    if target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. "
            "Please ensure they have the same size."
        )
    if weight is not None and weight.shape != input.shape:
        weight = weight.expand(input.shape)
    return ops.binary_cross_entropy(input, target, weight, number)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """The cross entropy of sigmoid(input)."""
    number = reduction_number(legacy_reduction(size_average, reduce, reduction))
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    return ops.binary_cross_entropy_with_logits(input, target, weight, pos_weight, number)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """The Kullback-Leibler divergence; input holds logarithms."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
            stacklevel=2,
        )
    if reduction == "batchmean":
        total = ops.kl_div(input, target, 2, log_target=log_target)
        return total / input.shape[0] if input.ndim else total
    return ops.kl_div(input, target, reduction_number(reduction), log_target=log_target)
