"""Collectives that gradients go through: each returns new tensors, and its gradient is a collective, too.

All processes have to differentiate, in the same order.
"""

from __future__ import annotations

from typing import Any

from mindtorch.autograd.function import Function
from mindtorch.dispatch import ops
from mindtorch.distributed import collectives
from mindtorch.distributed.reduce_op import ReduceOp, type_of
from mindtorch.distributed.world import get_group_rank, group_or_default
from mindtorch.tensor import Tensor

_SUM = ReduceOp.SUM


def broadcast(tensor: Tensor, src: int, group: Any = None) -> Tensor:
    """The tensor of the process of rank `src`."""
    return _Broadcast.apply(src, group, tensor)


def gather(tensor: Tensor, dst: int = 0, group: Any = None) -> tuple[Tensor, ...]:
    """The tensors of all processes in that of rank `dst`, zeros in the others."""
    return _Gather.apply(dst, group, tensor)


def scatter(tensors: Any, src: int = 0, group: Any = None) -> Tensor:
    """One of the tensors of the process of rank `src`."""
    return _Scatter.apply(src, group, *tensors)


def reduce(tensor: Tensor, dst: int, op: Any = _SUM, group: Any = None) -> Tensor:
    """The sum in the process of rank `dst`."""
    return _Reduce.apply(dst, op, group, tensor)


def reduce_scatter(output: Tensor, input_list: Any, op: Any = _SUM, group: Any = None) -> Tensor:
    """The sum of the tensors for this process in the lists of all."""
    return _ReduceScatter.apply(op, group, output, *input_list)


def all_gather(tensor: Tensor, group: Any = None) -> tuple[Tensor, ...]:
    """The tensors of all processes."""
    return _AllGather.apply(group, tensor)


def all_to_all(output_tensor_list: Any, input_tensor_list: Any, group: Any = None) -> tuple[Tensor, ...]:
    """The tensors for this process in the lists of all."""
    return _AllToAll.apply(group, len(output_tensor_list), *output_tensor_list, *input_tensor_list)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: Any = None,
) -> Tensor:
    """The parts for this process of the inputs of all, one after the other."""
    return _AllToAllSingle.apply(group, output, output_split_sizes, input_split_sizes, input)


def all_reduce(tensor: Tensor, op: Any = _SUM, group: Any = None) -> Tensor:
    """The sum, or another reduction, of the tensors of all processes."""
    return _AllReduce.apply(op, group, tensor)


class _Broadcast(Function):
    @staticmethod
    def forward(ctx: Any, src: int, group: Any, tensor: Tensor) -> Tensor:
        ctx.src, ctx.group = src, group
        result = tensor.clone()
        collectives.broadcast(result, src, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        chosen = group_or_default(ctx.group)
        total = _Reduce.apply(ctx.src, _SUM, ctx.group, grad)
        is_root = chosen.rank() == get_group_rank(chosen, ctx.src)
        return None, None, total if is_root else ops.zeros_like(total)


class _Gather(Function):
    @staticmethod
    def forward(ctx: Any, dst: int, group: Any, tensor: Tensor) -> tuple[Tensor, ...]:
        ctx.dst, ctx.group = dst, group
        chosen = group_or_default(group)
        parts = [ops.zeros_like(tensor) for _ in range(chosen.size())]
        is_root = chosen.rank() == get_group_rank(chosen, dst)
        collectives.gather(tensor.contiguous(), parts if is_root else None, dst, group)
        return tuple(parts)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple:
        return None, None, _Scatter.apply(ctx.dst, ctx.group, *grads)


class _Scatter(Function):
    @staticmethod
    def forward(ctx: Any, src: int, group: Any, *tensors: Tensor) -> Tensor:
        ctx.src, ctx.group = src, group
        chosen = group_or_default(group)
        result = ops.zeros_like(tensors[0])
        is_root = chosen.rank() == get_group_rank(chosen, src)
        collectives.scatter(result, list(tensors) if is_root else None, src, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        return None, None, *_Gather.apply(ctx.src, ctx.group, grad)


class _Reduce(Function):
    @staticmethod
    def forward(ctx: Any, dst: int, op: Any, group: Any, tensor: Tensor) -> Tensor:
        _check_sum(op, "reduce")
        ctx.dst, ctx.group = dst, group
        result = tensor.clone()
        collectives.reduce(result, dst, op, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        return None, None, None, _Broadcast.apply(ctx.dst, ctx.group, grad)


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx: Any, op: Any, group: Any, output: Tensor, *tensors: Tensor) -> Tensor:
        _check_sum(op, "reduce_scatter")
        ctx.group = group
        result = ops.empty_like(output)
        collectives.reduce_scatter(result, [each.contiguous() for each in tensors], op, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        return None, None, None, *_AllGather.apply(ctx.group, grad)


class _AllGather(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, tensor: Tensor) -> tuple[Tensor, ...]:
        ctx.group = group
        parts = [ops.empty_like(tensor) for _ in range(group_or_default(group).size())]
        collectives.all_gather(parts, tensor.contiguous(), group)
        return tuple(parts)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple:
        own = grads[group_or_default(ctx.group).rank()]
        return None, _ReduceScatter.apply(_SUM, ctx.group, own, *grads)


class _AllToAll(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, count: int, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.group, ctx.count = group, count
        outputs, inputs = tensors[:count], tensors[count:]
        ctx.given = [ops.empty_like(each) for each in inputs]
        results = [ops.empty_like(each) for each in outputs]
        collectives.all_to_all(results, [each.contiguous() for each in inputs], group)
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple:
        given = _AllToAll.apply(ctx.group, len(ctx.given), *ctx.given, *grads)
        return None, None, *[None] * ctx.count, *given


class _AllToAllSingle(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, output: Tensor, received: Any, sent: Any, tensor: Tensor) -> Tensor:
        ctx.group, ctx.received, ctx.sent = group, received, sent
        ctx.given = ops.empty_like(tensor)
        result = ops.empty_like(output)
        collectives.all_to_all_single(result, tensor.contiguous(), received, sent, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        given = _AllToAllSingle.apply(ctx.group, ctx.given, ctx.sent, ctx.received, grad)
        return None, None, None, None, given


class _AllReduce(Function):
    @staticmethod
    def forward(ctx: Any, op: Any, group: Any, tensor: Tensor) -> Tensor:
        ctx.op, ctx.group = op, group
        result = tensor.clone()
        collectives.all_reduce(result, op, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        _check_sum(ctx.op, "all_reduce")
        return None, None, _AllReduce.apply(ctx.op, ctx.group, grad)


def _check_sum(op: Any, name: str) -> None:
    if type_of(op) is not _SUM:
        raise RuntimeError(f"the gradient of {name} is defined for ReduceOp.SUM only, not for {type_of(op)}")
