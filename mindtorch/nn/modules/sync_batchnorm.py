"""Batch normalization over the batches of several processes."""

from __future__ import annotations

from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support.lazy import lazy
from mindtorch.autograd.function import Function, once_differentiable
from mindtorch.dispatch import ops
from mindtorch.nn.modules.batchnorm import _BatchNorm
from mindtorch.nn.modules.module import Module

dist: Any = lazy("mindtorch.distributed")


class SyncBatchNorm(_BatchNorm):
    """Normalizes by the statistics of the batches of all processes, of inputs of any number of dimensions.

    With one process it is an ordinary batch normalization.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    def _normalized(
        self, input: Tensor, mean: Tensor | None, var: Tensor | None, own_statistics: bool, momentum: float
    ) -> Tensor:
        if own_statistics and self.training and dist.is_initialized() and dist.get_world_size(self.process_group) > 1:
            group = self.process_group or dist.group.WORLD
            return _SyncedNorm.apply(input, self.weight, self.bias, mean, var, momentum, self.eps, group)
        return super()._normalized(input, mean, var, own_statistics, momentum)

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Module:
        """A module in which every batch normalization is a SyncBatchNorm, with the same tensors."""
        result = module
        if isinstance(module, _BatchNorm):
            result = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
                bias=module.bias is not None,
            )
            result._parameters = module._parameters
            result._buffers = module._buffers
            result.training = module.training
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result


class _SyncedNorm(Function):
    """Batch normalization by the mean and the variance over all processes."""

    @staticmethod
    def forward(
        ctx: Any,
        input: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        momentum: float,
        eps: float,
        group: Any,
    ) -> Tensor:
        mean, var, count = _statistics(input, group)
        _update(running_mean, running_var, mean, var, count, momentum)
        scale = ops.rsqrt(var + eps)
        ctx.save_for_backward(input, weight, mean, scale)
        ctx.count, ctx.group = count, group
        result = (_wide(input) - _along(mean, input)) * _along(scale, input)
        if weight is not None:
            result = result * _along(weight, input)
        if bias is not None:
            result = result + _along(bias, input)
        return result.to(input.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple:
        input, weight, mean, scale = ctx.saved_tensors
        needs = ctx.needs_input_grad
        dims, wide = _others(input), _wide(grad)
        normal = (_wide(input) - _along(mean, input)) * _along(scale, input)
        of_bias, of_weight = wide.sum(dims), (wide * normal).sum(dims)
        of_input = None
        if needs[0]:
            sums = ops.stack([of_bias, of_weight])
            dist.all_reduce(sums, group=ctx.group)
            first, second = sums / ctx.count
            factor = scale if weight is None else scale * weight
            of_input = (wide - _along(first, input) - normal * _along(second, input)) * _along(factor, input)
            of_input = of_input.to(input.dtype)
        return of_input, _of(weight, of_weight, needs[1]), _of(weight, of_bias, needs[2]), *[None] * 5


def _statistics(input: Tensor, group: Any) -> tuple[Tensor, Tensor, int]:
    """Mean and variance over all processes, and the number of elements of a channel, from those of each process."""
    own, dims = _wide(input), _others(input)
    count = input.numel() // input.shape[1]
    mean = own.mean(dims) if count else own.new_zeros(input.shape[1])
    squares = (own - _along(mean, input)).square().sum(dims)
    said = ops.stack([mean, squares, ops.full_like(mean, count)])
    gathered = [ops.empty_like(said) for _ in range(group.size())]
    dist.all_gather(gathered, said, group=group)
    means, squares, counts = ops.stack(gathered).unbind(1)
    total = counts.sum(0)
    mean = (means * counts).sum(0) / total
    var = (squares + counts * (means - mean).square()).sum(0) / total
    if total[0].item() <= 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
    return mean, var, int(total[0].item())


def _update(
    running_mean: Tensor | None, running_var: Tensor | None, mean: Tensor, var: Tensor, count: int, momentum: float
) -> None:
    if running_mean is not None:
        running_mean.mul_(1 - momentum).add_(mean, alpha=momentum)
    if running_var is not None:
        running_var.mul_(1 - momentum).add_(var * (count / (count - 1)), alpha=momentum)


def _wide(tensor: Tensor) -> Tensor:
    """The tensor in single precision at least."""
    return tensor.float() if tensor.dtype.itemsize == 2 else tensor


def _others(input: Tensor) -> list[int]:
    """All dimensions but the channels."""
    return [0, *range(2, input.ndim)]


def _along(values: Tensor, input: Tensor) -> Tensor:
    """One value per channel, to be broadcast."""
    return values.view(-1, *[1] * (input.ndim - 2))


def _of(like: Tensor | None, grad: Tensor, is_needed: bool) -> Tensor | None:
    return grad.to(grad.dtype if like is None else like.dtype) if is_needed else None
