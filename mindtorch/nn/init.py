"""Filling tensors with initial values. The random draws are torch's, in torch's order."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch import ops
from mindtorch.linalg import qr

Initializer = TypeVar("Initializer", bound=Callable)

_GAINS = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4} | dict.fromkeys(
    "linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d sigmoid".split(), 1
)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which weights before a nonlinearity are larger, so that activations keep their variance."""
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return _GAINS[nonlinearity]


# -------------------- plain --------------------


@no_grad()
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform numbers between a and b."""
    return tensor.uniform_(a, b, generator=generator)


@no_grad()
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Normal numbers."""
    return tensor.normal_(mean, std, generator=generator)


@no_grad()
def constant_(tensor: Tensor, val: float) -> Tensor:
    """The same number everywhere."""
    return tensor.fill_(val)


@no_grad()
def ones_(tensor: Tensor) -> Tensor:
    """1 everywhere."""
    return tensor.fill_(1.0)


@no_grad()
def zeros_(tensor: Tensor) -> Tensor:
    """0 everywhere."""
    return tensor.zero_()


@no_grad()
def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    tensor.zero_()
    tensor.diagonal().fill_(1.0)
    return tensor


@no_grad()
def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Normal numbers within the limits a and b."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
        )
    low, high = (_normal_distribution((limit - mean) / std) for limit in (a, b))
    if high - low > 0.3:
        return _redraw_outside(tensor, mean, std, a, b, generator)
    return _draw_under_the_bell(tensor, mean, std, a, b, generator)


def _normal_distribution(x: float) -> float:
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def _redraw_outside(tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any) -> Tensor:
    """Normal numbers, drawn again where they are outside the limits; quick when the limits are far apart."""
    low, high = tensor.new_full((), a).item(), tensor.new_full((), b).item()
    result = tensor.normal_(mean, std, generator=generator)
    while (outside := (result < low) | (result > high)).any():
        redrawn = ops.empty_like(result).normal_(mean, std, generator=generator)
        result = ops.where(outside, redrawn, result)
    return tensor if result is tensor else tensor.copy_(result)


def _draw_under_the_bell(tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any) -> Tensor:
    """Uniform numbers, each kept with a probability that follows the normal density; quick when limits are close."""
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    chances = ops.empty_like(tensor)

    def is_refused(candidates: Tensor) -> Tensor:
        logs = candidates.sub(mean).div_(std).pow_(2).mul_(-0.5).sub_(peak)
        return chances.uniform_(generator=generator).log_().gt(logs)

    result = tensor.uniform_(a, b, generator=generator)
    refused = is_refused(result)
    while refused.any():
        candidates = ops.empty_like(tensor).uniform_(a, b, generator=generator)
        result = ops.where(refused, candidates, result)
        refused = refused & is_refused(candidates)
    return tensor if result is tensor else tensor.copy_(result)


# -------------------- by the size of the layer --------------------


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs an output of the layer depends on, and how many outputs an input reaches."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    modes = ["fan_in", "fan_out"]
    if mode not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {modes}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode)]


def _is_empty(tensor: Tensor) -> bool:
    if 0 not in tensor.shape:
        return False
    warn("Initializing zero-element tensors is a no-op")
    return True


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform numbers whose variance suits both the fan in and the fan out."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / float(fan_in + fan_out))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Normal numbers whose variance suits both the fan in and the fan out."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Uniform numbers whose variance suits a rectifier."""
    if _is_empty(tensor):
        return tensor
    fan = _calculate_correct_fan(tensor, mode)
    bound = math.sqrt(3.0) * (calculate_gain(nonlinearity, a) / math.sqrt(fan))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Normal numbers whose variance suits a rectifier."""
    if _is_empty(tensor):
        return tensor
    fan = _calculate_correct_fan(tensor, mode)
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(fan), generator)


# -------------------- by structure --------------------


@no_grad()
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """A convolution that passes its input on, as far as there are channels, in each group."""
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    out_channels, in_channels, *kernel = tensor.shape
    if out_channels % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    in_group = out_channels // groups
    tensor.zero_()
    middle = tuple(size // 2 for size in kernel)
    for group in range(groups):
        for channel in range(min(in_group, in_channels)):
            place = (group * in_group + channel, channel, *middle)
            tensor[place] = 1
    return tensor


@no_grad()
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """A matrix with orthonormal rows or columns, times a factor."""
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    flat = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
    q, r = qr(flat.t() if rows < columns else flat)
    q *= r.diagonal().sign()  # makes the matrix as probable as any other orthogonal one
    matrix = q.t() if rows < columns else q
    tensor.view_as(matrix).copy_(matrix)
    return tensor.mul_(gain)


@no_grad()
def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """A matrix with a share of zeros in each column, and normal numbers elsewhere."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    tensor.normal_(0, std, generator=generator)
    for column in range(columns):
        tensor[ops.randperm(rows, device=tensor.device)[:zeros], column] = 0
    return tensor


# -------------------- old names --------------------


def _old_name(new: Initializer) -> Initializer:
    """The same function under its name without the underscore, with a warning."""
    name = new.__name__

    @wraps(new)
    def old(*args: Any, **kwargs: Any) -> Any:
        warn(f"`nn.init.{name[:-1]}` is now deprecated in favor of `nn.init.{name}`.", FutureWarning)
        return new(*args, **kwargs)

    old.__name__ = name[:-1]
    return cast(Initializer, old)


uniform = _old_name(uniform_)
normal = _old_name(normal_)
constant = _old_name(constant_)
eye = _old_name(eye_)
dirac = _old_name(dirac_)
xavier_uniform = _old_name(xavier_uniform_)
xavier_normal = _old_name(xavier_normal_)
kaiming_uniform = _old_name(kaiming_uniform_)
kaiming_normal = _old_name(kaiming_normal_)
orthogonal = _old_name(orthogonal_)
sparse = _old_name(sparse_)
