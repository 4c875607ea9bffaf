"""Collectives that gradients go through: each returns new tensors, and its gradient is a collective, too.

All processes have to differentiate, in the same order.
"""

from __future__ import annotations

from typing import Any

from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.tensor import Tensor
from mindtorch.autograd.function import Function
from mindtorch.dispatch import ops
from mindtorch.distributed import collectives
from mindtorch.distributed.reduce_op import ReduceOp, type_of
from mindtorch.distributed.world import get_group_rank, group_or_default

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


def _all_gather_base(output_tensor: Tensor, input_tensor: Tensor, group: Any = None) -> Tensor:
    """The tensors of all processes one after the other, in the tensor that is given."""
    return _AllGatherBase.apply(group, output_tensor, input_tensor)


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
        result = _copied(tensor)
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
        source = tensor.contiguous()
        parts = [ops.zeros_like(source) for _ in range(chosen.size())]
        is_root = chosen.rank() == get_group_rank(chosen, dst)
        collectives.gather(source, parts if is_root else None, dst, group)
        return tuple(parts)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple:
        return None, None, _Scatter.apply(ctx.dst, ctx.group, *grads)


class _Scatter(Function):
    @staticmethod
    def forward(ctx: Any, src: int, group: Any, *tensors: Tensor) -> Tensor:
        ctx.src, ctx.group = src, group
        chosen = group_or_default(group)
        given = [each.contiguous() for each in tensors]
        result = ops.zeros_like(given[0])
        is_root = chosen.rank() == get_group_rank(chosen, src)
        collectives.scatter(result, given if is_root else None, src, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        return None, None, *_Gather.apply(ctx.src, ctx.group, grad)


class _Reduce(Function):
    @staticmethod
    def forward(ctx: Any, dst: int, op: Any, group: Any, tensor: Tensor) -> Tensor:
        _check_sum(op, "reduce")
        ctx.dst, ctx.group = dst, group
        result = _copied(tensor)
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
        result = output.contiguous()
        collectives.reduce_scatter(result, [each.contiguous() for each in tensors], op, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        return None, None, None, *_AllGather.apply(ctx.group, grad)


class _AllGather(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, tensor: Tensor) -> tuple[Tensor, ...]:
        ctx.group = group
        source = tensor.contiguous()
        parts = [ops.empty_like(source) for _ in range(group_or_default(group).size())]
        collectives.all_gather(parts, source, group)
        return tuple(parts)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple:
        own = grads[group_or_default(ctx.group).rank()]
        return None, _ReduceScatter.apply(_SUM, ctx.group, ops.empty_like(own), *grads)


class _AllGatherBase(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, output: Tensor, tensor: Tensor) -> Tensor:
        ctx.group = group
        collectives.all_gather_single(output, tensor.contiguous(), group)
        return output

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        chosen = group_or_default(ctx.group)
        if grad.shape[0] % chosen.size():
            raise RuntimeError(
                f"Tensor with dimensions: {list(grad.shape)} does not have first dimension divisible by world_size: "
                f"{chosen.size()}"
            )
        parts = ops.chunk(grad, chosen.size(), 0)
        own = ops.empty_like(parts[0], memory_format=contiguous_format)
        return None, None, _ReduceScatter.apply(_SUM, ctx.group, own, *parts)


class _AllToAll(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, count: int, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.group, ctx.count = group, count
        outputs, inputs = tensors[:count], tensors[count:]
        ctx.given = [each.shape for each in inputs]
        collectives.all_to_all(list(outputs), [each.contiguous() for each in inputs], group)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple:
        empty = [ops.new_empty(grads[0], shape) for shape in ctx.given]
        given = _AllToAll.apply(ctx.group, len(empty), *empty, *grads)
        return None, None, *[None] * ctx.count, *given


class _AllToAllSingle(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, output: Tensor, received: Any, sent: Any, tensor: Tensor) -> Tensor:
        ctx.group, ctx.received, ctx.sent = group, received, sent
        ctx.given = tensor.shape
        collectives.all_to_all_single(output, tensor.contiguous(), received, sent, group)
        return output

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        empty = ops.new_empty(grad, ctx.given)
        given = _AllToAllSingle.apply(ctx.group, empty, ctx.sent, ctx.received, grad)
        return None, None, None, None, given


class _AllReduce(Function):
    @staticmethod
    def forward(ctx: Any, op: Any, group: Any, tensor: Tensor) -> Tensor:
        ctx.op, ctx.group = op, group
        result = _copied(tensor)
        collectives.all_reduce(result, op, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        _check_sum(ctx.op, "all_reduce")
        return None, None, _AllReduce.apply(ctx.op, ctx.group, grad)


def _copied(tensor: Tensor) -> Tensor:
    return tensor.clone(memory_format=contiguous_format)


def _check_sum(op: Any, name: str) -> None:
    if type_of(op) is not _SUM:
        raise RuntimeError(f"the gradient of {name} is defined for ReduceOp.SUM only, not for {type_of(op)}")
