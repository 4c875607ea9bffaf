"""`loss_parallel`: cross entropy of logits of which each process has some classes, which are not gathered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.distributed.collectives import all_reduce
from mindtorch.distributed.reduce_op import ReduceOp
from mindtorch.distributed.tensor.dtensor import DTensor, computed, instead
from mindtorch.distributed.tensor.placement_types import Replicate
from mindtorch.distributed.tensor.spreading import own_block

_NONE, _MEAN = 0, 1  # the numbers of reductions


@contextmanager
def loss_parallel() -> Iterator[None]:
    """Within it, `cross_entropy` of logits that are spread along their classes computes with the parts.

    The backward pass belongs into it as well. The logits are spread along one dimension of the mesh and whole along the
    others; targets and weights of classes are whole, plain or DTensors. The loss is whole in all processes.
    """
    own = {
        "_log_softmax": _log_softmax,
        "_log_softmax_backward_data": _log_softmax_backward,
        "nll_loss_forward": _nll_loss,
        "nll_loss2d_forward": _nll_loss,
        "nll_loss_backward": _nll_loss_backward,
        "nll_loss2d_backward": _nll_loss_backward,
    }
    before = dict(instead)
    instead.update(own)
    try:
        yield
    finally:
        instead.clear()
        instead.update(before)


def _spread_along(tensor: DTensor, dim: int) -> int | None:
    """The dimension of the mesh along which the classes are spread; None if each process has all of them."""
    spread = [place for place, each in enumerate(tensor.placements) if not isinstance(each, Replicate)]
    if not any(tensor.placements[place].is_shard(dim) for place in spread):
        return None
    if len(spread) != 1:
        raise ValueError(
            "loss_parallel() should be enabled only when the input tensor is sharded on the class dimension and on no "
            f"other, but its placements are {tensor.placements}."
        )
    return spread[0]


def _like(tensor: DTensor, local: Tensor) -> DTensor:
    return DTensor(local, tensor.device_mesh, tensor.placements, tensor.shape)


def _log_softmax(function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    x, dim = args[0], args[1] % max(args[0].ndim, 1)
    place = _spread_along(x, dim)
    if place is None:
        return computed(function, args, kwargs)
    group, local = x.device_mesh.get_group(place), x._local_tensor
    largest = ops.amax(local, [dim], True) if local.shape[dim] else _filled(local, dim, float("-inf"))
    all_reduce(largest, ReduceOp.MAX, group=group)
    shifted = local - largest
    total = shifted.exp().sum(dim, True)
    all_reduce(total, group=group)
    return _like(x, shifted - total.log())


def _filled(local: Tensor, dim: int, value: float) -> Tensor:
    shape = [1 if place == dim else size for place, size in enumerate(local.shape)]
    return ops.full(shape, value, dtype=local.dtype)


def _log_softmax_backward(function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    grad, output, dim = args[0], args[1], args[2] % max(args[1].ndim, 1)
    place = _spread_along(output, dim)
    if place is None or grad.placements != output.placements:
        return computed(function, args, kwargs)
    total = grad._local_tensor.sum(dim, True)
    all_reduce(total, group=output.device_mesh.get_group(place))
    return _like(output, grad._local_tensor - output._local_tensor.exp() * total)


def _whole(value: Any) -> Any:
    return value.full_tensor() if isinstance(value, DTensor) else value


def _picked(x: DTensor, target: Tensor, ignored: int) -> tuple[int, Tensor, Tensor]:
    """The dimension of the classes, where in the part the targets are, and whether they are there."""
    dim = 1 if x.ndim > 1 else 0
    start = own_block(x.shape, x.device_mesh, x.placements)[0][dim]
    at = target - start
    is_here = (at >= 0) & (at < x._local_tensor.shape[dim]) & (target != ignored)
    return dim, at.masked_fill(~is_here, 0).unsqueeze(dim), is_here.unsqueeze(dim)


def _weights(target: Tensor, weight: Tensor | None, ignored: int, like: Tensor) -> Tensor:
    counts = target != ignored
    if weight is None:
        return counts.to(like.dtype)
    return weight[target.masked_fill(~counts, 0)].to(like.dtype).masked_fill(~counts, 0)


def _nll_loss(function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    x, target, weight, reduction, ignored = args
    place = _spread_along(x, 1 if x.ndim > 1 else 0)
    target, weight = _whole(target), _whole(weight)
    if place is None:
        return computed(function, (x, *(_everywhere(each, x) for each in (target, weight)), reduction, ignored), kwargs)
    dim, at, is_here = _picked(x, target, ignored)
    local = x._local_tensor
    found = ops.gather(local, dim, at) if local.shape[dim] else ops.zeros(at.shape, dtype=local.dtype)
    found = found.masked_fill(~is_here, 0).squeeze(dim)
    all_reduce(found, group=x.device_mesh.get_group(place))
    weights = _weights(target, weight, ignored, found)
    losses, total = -found * weights, weights.sum()
    if reduction == _NONE:
        return _everywhere(losses, x), _everywhere(ops.zeros((), dtype=local.dtype), x)
    return _everywhere(losses.sum() / total if reduction == _MEAN else losses.sum(), x), _everywhere(total, x)


def _everywhere(value: Tensor | None, like: DTensor) -> DTensor | None:
    mesh = like.device_mesh
    return None if value is None else DTensor(value, mesh, (Replicate(),) * mesh.ndim, value.shape)


def _nll_loss_backward(function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    grad, x, target, weight, reduction, ignored, total = args
    place = _spread_along(x, 1 if x.ndim > 1 else 0)
    grad, target, weight, total = (_whole(each) for each in (grad, target, weight, total))
    if place is None:
        given = [_everywhere(each, x) for each in (grad, target, weight, total)]
        return computed(function, (given[0], x, *given[1:3], reduction, ignored, given[3]), kwargs)
    dim, at, is_here = _picked(x, target, ignored)
    each = -_weights(target, weight, ignored, x._local_tensor) * (grad / total if reduction == _MEAN else grad)
    local = ops.zeros_like(x._local_tensor)
    if local.shape[dim]:
        local = local.scatter_add(dim, at, each.unsqueeze(dim).masked_fill(~is_here, 0))
    return _like(x, local)
