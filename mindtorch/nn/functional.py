"""Layers as functions. Where the signature allows, a function here is the op itself."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.tensor import Tensor
from mindtorch._functions.broadcasting import broadcast_tensors
from mindtorch._support.warnings import warn
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch import ops
from mindtorch.nn.activations import celu as celu
from mindtorch.nn.activations import celu_ as celu_
from mindtorch.nn.activations import elu as elu
from mindtorch.nn.activations import elu_ as elu_
from mindtorch.nn.activations import glu as glu
from mindtorch.nn.activations import gumbel_softmax as gumbel_softmax
from mindtorch.nn.activations import hardsigmoid as hardsigmoid
from mindtorch.nn.activations import hardswish as hardswish
from mindtorch.nn.activations import logsigmoid as logsigmoid
from mindtorch.nn.activations import mish as mish
from mindtorch.nn.activations import rrelu as rrelu
from mindtorch.nn.activations import rrelu_ as rrelu_
from mindtorch.nn.activations import selu as selu
from mindtorch.nn.activations import selu_ as selu_
from mindtorch.nn.activations import softshrink as softshrink
from mindtorch.nn.activations import softsign as softsign
from mindtorch.nn.activations import tanhshrink as tanhshrink
from mindtorch.nn.activations import threshold as threshold
from mindtorch.nn.activations import threshold_ as threshold_
from mindtorch.nn.attention import multi_head_attention_forward as multi_head_attention_forward
from mindtorch.nn.bags import embedding_bag as embedding_bag
from mindtorch.nn.distances import cosine_embedding_loss as cosine_embedding_loss
from mindtorch.nn.distances import cosine_similarity as cosine_similarity
from mindtorch.nn.distances import huber_loss as huber_loss
from mindtorch.nn.distances import margin_ranking_loss as margin_ranking_loss
from mindtorch.nn.distances import pairwise_distance as pairwise_distance
from mindtorch.nn.distances import triplet_margin_loss as triplet_margin_loss
from mindtorch.nn.dropouts import alpha_dropout as alpha_dropout
from mindtorch.nn.dropouts import dropout as dropout
from mindtorch.nn.dropouts import dropout1d as dropout1d
from mindtorch.nn.dropouts import dropout2d as dropout2d
from mindtorch.nn.dropouts import dropout3d as dropout3d
from mindtorch.nn.dropouts import feature_alpha_dropout as feature_alpha_dropout
from mindtorch.nn.fractional_pooling import fractional_max_pool2d as fractional_max_pool2d
from mindtorch.nn.fractional_pooling import fractional_max_pool2d_with_indices as fractional_max_pool2d_with_indices
from mindtorch.nn.fractional_pooling import fractional_max_pool3d as fractional_max_pool3d
from mindtorch.nn.fractional_pooling import fractional_max_pool3d_with_indices as fractional_max_pool3d_with_indices
from mindtorch.nn.grids import affine_grid as affine_grid
from mindtorch.nn.grids import grid_sample as grid_sample
from mindtorch.nn.linear_losses import linear_cross_entropy as linear_cross_entropy
from mindtorch.nn.margins import gaussian_nll_loss as gaussian_nll_loss
from mindtorch.nn.margins import hinge_embedding_loss as hinge_embedding_loss
from mindtorch.nn.margins import multi_margin_loss as multi_margin_loss
from mindtorch.nn.margins import multilabel_margin_loss as multilabel_margin_loss
from mindtorch.nn.margins import multilabel_soft_margin_loss as multilabel_soft_margin_loss
from mindtorch.nn.margins import poisson_nll_loss as poisson_nll_loss
from mindtorch.nn.margins import soft_margin_loss as soft_margin_loss
from mindtorch.nn.margins import triplet_margin_with_distance_loss as triplet_margin_with_distance_loss
from mindtorch.nn.pooling import adaptive_avg_pool1d as adaptive_avg_pool1d
from mindtorch.nn.pooling import adaptive_avg_pool2d as adaptive_avg_pool2d
from mindtorch.nn.pooling import adaptive_avg_pool3d as adaptive_avg_pool3d
from mindtorch.nn.pooling import adaptive_max_pool1d as adaptive_max_pool1d
from mindtorch.nn.pooling import adaptive_max_pool1d_with_indices as adaptive_max_pool1d_with_indices
from mindtorch.nn.pooling import adaptive_max_pool2d as adaptive_max_pool2d
from mindtorch.nn.pooling import adaptive_max_pool2d_with_indices as adaptive_max_pool2d_with_indices
from mindtorch.nn.pooling import adaptive_max_pool3d as adaptive_max_pool3d
from mindtorch.nn.pooling import adaptive_max_pool3d_with_indices as adaptive_max_pool3d_with_indices
from mindtorch.nn.pooling import avg_pool1d as avg_pool1d
from mindtorch.nn.pooling import avg_pool2d as avg_pool2d
from mindtorch.nn.pooling import avg_pool3d as avg_pool3d
from mindtorch.nn.pooling import fold as fold
from mindtorch.nn.pooling import lp_pool1d as lp_pool1d
from mindtorch.nn.pooling import lp_pool2d as lp_pool2d
from mindtorch.nn.pooling import lp_pool3d as lp_pool3d
from mindtorch.nn.pooling import max_pool1d as max_pool1d
from mindtorch.nn.pooling import max_pool1d_with_indices as max_pool1d_with_indices
from mindtorch.nn.pooling import max_pool2d as max_pool2d
from mindtorch.nn.pooling import max_pool2d_with_indices as max_pool2d_with_indices
from mindtorch.nn.pooling import max_pool3d as max_pool3d
from mindtorch.nn.pooling import max_pool3d_with_indices as max_pool3d_with_indices
from mindtorch.nn.pooling import max_unpool1d as max_unpool1d
from mindtorch.nn.pooling import max_unpool2d as max_unpool2d
from mindtorch.nn.pooling import max_unpool3d as max_unpool3d
from mindtorch.nn.pooling import unfold as unfold
from mindtorch.nn.reduction import legacy_reduction, reduction_number
from mindtorch.nn.resizing import interpolate as interpolate
from mindtorch.nn.resizing import upsample as upsample
from mindtorch.nn.resizing import upsample_bilinear as upsample_bilinear
from mindtorch.nn.resizing import upsample_nearest as upsample_nearest

# -------------------- linear, convolution, attention --------------------

linear = ops.linear
conv1d = ops.conv1d
conv2d = ops.conv2d
conv3d = ops.conv3d
conv_transpose1d = ops.conv_transpose1d
conv_transpose2d = ops.conv_transpose2d
conv_transpose3d = ops.conv_transpose3d
bilinear = ops.bilinear
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
        with no_grad():
            ops.embedding_renorm_(weight.detach(), input, max_norm, norm_type)
    return ops.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


# -------------------- activations --------------------

conv_tbc = ops.conv_tbc
gelu = ops.gelu
hardshrink = ops.hardshrink
prelu = ops.prelu
softplus = ops.softplus


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-input))."""
    return input.sigmoid()


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    return input.tanh()


# In torch modes see the methods that these call, not the functions.
for _function in (sigmoid, tanh):
    _function.calls_what_is_overridable = True  # type: ignore[attr-defined]

_threshold = threshold  # the name that torch gives it in traced programs


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """The larger of input and 0."""
    return ops.relu_(input) if inplace else ops.relu(input)


relu_ = ops.relu_
leaky_relu_ = ops.leaky_relu_
hardtanh_ = ops.hardtanh_


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
    return ops.hardtanh_(input, min_val, max_val) if inplace else ops.hardtanh(input, min_val, max_val)


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
    if eps < 0 or (training and eps == 0):
        needed = "positive during training" if training else "non-negative"
        raise ValueError(f"batch_norm eps must be {needed}, but got {eps}")
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
    return ops.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Normalize over groups of channels."""
    if input.ndim < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.ndim}")
    batch, channels, *rest = input.shape
    _check_several_values([batch * channels // num_groups, num_groups, *rest])
    return ops.group_norm(input, num_groups, weight, bias, eps)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize each channel of each image."""
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    return ops.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, False)


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """Divide by a power of the mean square over neighbouring channels."""
    if input.ndim < 3:
        gap = " " * 26  # torch's text has a line break of its source in it
        raise ValueError(f"Expected 3D or higher dimensionality{gap}input (got {input.ndim} dimensions)")
    if input.numel() == 0:
        return input
    squares = (input * input).unsqueeze(1)
    widths = (size // 2, (size - 1) // 2)
    if input.ndim == 3:
        mean = ops.avg_pool2d(ops.pad(squares, (0, 0, *widths)), (size, 1), 1)
    else:
        flat = squares.reshape(*squares.shape[:4], -1)
        mean = ops.avg_pool3d(ops.pad(flat, (0, 0, 0, 0, *widths)), (size, 1, 1), 1)
    return input / mean.squeeze(1).reshape(input.shape).mul(alpha).add(k).pow(beta)


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Divide by the root of the mean square over the last dimensions."""
    return ops.rms_norm(input, tuple(normalized_shape), weight, eps)


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """Divide by the p-norm along a dimension, or by eps where that is larger."""
    length = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / length if out is None else ops.div(input, length, out=out)


# -------------------- shape --------------------

one_hot = ops.one_hot
pdist = ops.pdist
pixel_shuffle = ops.pixel_shuffle
pixel_unshuffle = ops.pixel_unshuffle
channel_shuffle = ops.channel_shuffle
native_channel_shuffle = ops.native_channel_shuffle


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Pad the last dimensions; the numbers are before and after the last one, then the one before it, and so on."""
    return ops.pad(input, pad, mode, value)


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
    input, target = _broadcast(input, target)
    if weight is None:
        return ops.mse_loss(input, target, number)
    return _weighted(ops.mse_loss(input, target, 0), weight, reduction)


def _weighted(losses: Tensor, weight: Tensor, reduction: str) -> Tensor:
    if weight.size() != losses.size():
        raise ValueError("Weights and input must have the same size.")
    losses = losses * weight
    if reduction == "mean":
        return losses.sum() / weight.sum()
    return losses.sum() if reduction == "sum" else losses


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The absolute difference."""
    number = reduction_number(legacy_reduction(size_average, reduce, reduction))
    input, target = _broadcast(input, target)
    if weight is None:
        return ops.l1_loss(input, target, number)
    return _weighted(ops.l1_loss(input, target, 0), weight, reduction)


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
    input, target = _broadcast(input, target)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return ops.smooth_l1_loss(input, target, number, beta) if beta else ops.l1_loss(input, target, number)


def _broadcast(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Both in one shape, which is unusual enough for a warning."""
    if input.shape == target.shape:
        return input, target
    warn(
        f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). "
        "This will likely lead to incorrect results due to broadcasting. "
        "Please ensure they have the same size.",
    )
    first, second = broadcast_tensors(input, target)
    return first, second


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


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """How unlikely labels are, whatever their places, given the log-probabilities of labels at each time."""
    return ops.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, reduction_number(reduction), zero_infinity
    )


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
        warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
        )
    if reduction == "batchmean":
        total = ops.kl_div(input, target, 2, log_target=log_target)
        return total / input.shape[0] if input.ndim else total
    return ops.kl_div(input, target, reduction_number(reduction), log_target=log_target)
