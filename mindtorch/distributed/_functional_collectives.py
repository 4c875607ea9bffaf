"""Collectives that leave their inputs alone and return new tensors, which gradients go through.

Each takes a group as a `ProcessGroup`, its name, a `DeviceMesh` with one dimension, or a mesh and the number of one of
its dimensions. The results are complete when a function returns, so `wait_tensor` has nothing to wait for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.tensor import Tensor
from mindtorch._support.unavailable import no_such_part_of_distributed
from mindtorch._support.warnings import warn
from mindtorch.autograd.function import Function
from mindtorch.dispatch import ops
from mindtorch.distributed import collectives
from mindtorch.distributed.coalescing import _coalescing_manager
from mindtorch.distributed.device_mesh import DeviceMesh
from mindtorch.distributed.nn import functional
from mindtorch.distributed.process_group import ProcessGroup
from mindtorch.distributed.reduce_op import RedOpType
from mindtorch.distributed.world import default_group, get_global_rank, group_named, group_of_ranks

REDUCE_OP_TO_STR = {kind: kind.name.lower() for kind in RedOpType if kind is not RedOpType.PREMUL_SUM}

_OPS = {name: kind for kind, name in REDUCE_OP_TO_STR.items()}


class AsyncCollectiveTensor(Tensor):
    """Programs ask whether a result is one that is still to be waited for; none is."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        no_such_part_of_distributed()


def wait_tensor(tensor: Tensor) -> Tensor:
    """The tensor: results of these collectives are complete."""
    return tensor


def broadcast(self: Tensor, src: int, group: Any, tag: str = "") -> Tensor:
    """The tensor of the process of rank `src` in the group."""
    chosen = _resolve_group(group, tag)
    return functional.broadcast(self.contiguous(), get_global_rank(chosen, src), chosen)


def all_reduce(self: Tensor, reduceOp: str, group: Any, tag: str = "") -> Tensor:
    """The sum, or another reduction, of the tensors of all processes."""
    return _AllReduce.apply(reduceOp.lower(), _resolve_group(group, tag), self)[0]


def all_reduce_coalesced(self: Sequence[Tensor], reduceOp: str, group: Any, tag: str = "") -> list[Tensor]:
    """`all_reduce` of several tensors as one collective."""
    return list(_AllReduce.apply(reduceOp.lower(), _resolve_group(group, tag), *self))


def all_gather_single(self: Tensor, gather_dim: int, group: Any, tag: str = "") -> Tensor:
    """The tensors of all processes, joined along a dimension."""
    chosen = _resolve_group(group, tag)
    whole = _AllGather.apply(chosen, self)[0]
    return whole if gather_dim == 0 else ops.cat(ops.chunk(whole, chosen.size(), 0), gather_dim)


def all_gather_single_coalesced(self: Sequence[Tensor], group: Any, tag: str = "") -> list[Tensor]:
    """`all_gather_single` of several tensors as one collective, along their first dimensions."""
    return list(_AllGather.apply(_resolve_group(group, tag), *self))


def reduce_scatter_single(self: Tensor, reduceOp: str, scatter_dim: int, group: Any, tag: str = "") -> Tensor:
    """The part for this process, along a dimension, of the reduction of the tensors of all."""
    chosen = _resolve_group(group, tag)
    if self.size(scatter_dim) % chosen.size():
        raise AssertionError(f"input dimension 0 ({self.size(0)} must be a multiple of group_size {chosen.size()})")
    return _ReduceScatter.apply(reduceOp.lower(), chosen, _first(self, scatter_dim, chosen.size()))[0]


def reduce_scatter_single_coalesced(
    inputs: Sequence[Tensor], reduceOp: str, scatter_dim: Sequence[int], group: Any, tag: str = ""
) -> list[Tensor]:
    """`reduce_scatter_single` of several tensors as one collective."""
    chosen = _resolve_group(group, tag)
    size = chosen.size()
    if len(scatter_dim) != len(inputs):
        raise AssertionError(f"Length of scatter_dim ({len(scatter_dim)}) must equal length of inputs ({len(inputs)})")
    for place, (dim, each) in enumerate(zip(scatter_dim, inputs, strict=True)):
        if each.size(dim) % size:
            raise AssertionError(
                f"input dimension {dim} ({each.size(dim)} must be a multiple of group_size {size} for tensor at index "
                f"{place}"
            )
    wholes = [_first(each, dim, size) for each, dim in zip(inputs, scatter_dim, strict=True)]
    return list(_ReduceScatter.apply(reduceOp.lower(), chosen, *wholes))


def _first(tensor: Tensor, dim: int, size: int) -> Tensor:
    """The parts along a dimension one after the other along the first."""
    return tensor if dim == 0 else ops.cat(ops.chunk(tensor, size, dim), 0)


def all_to_all_single(
    self: Tensor,
    output_split_sizes: Sequence[int] | None,
    input_split_sizes: Sequence[int] | None,
    group: Any,
    tag: str = "",
) -> Tensor:
    """The parts for this process of the tensors of all, one after the other."""
    for name, sizes in (("output_split_sizes", output_split_sizes), ("input_split_sizes", input_split_sizes)):
        if sizes is not None and not all(isinstance(size, int) for size in sizes):
            raise AssertionError(f"All {name} must be int or SymInt, got {sizes}")
    chosen = _resolve_group(group, tag)
    if (output_split_sizes is None) != (input_split_sizes is None):
        raise AssertionError(
            "output_split_sizes and input_split_sizes must either be specified together or both set to None"
        )
    if output_split_sizes is None or input_split_sizes is None:
        output_split_sizes = input_split_sizes = [self.shape[0] // chosen.size()] * chosen.size()
    return _AllToAll.apply(chosen, list(output_split_sizes), list(input_split_sizes), self)


def permute_tensor(self: Tensor, src_dst: Sequence[int], group: Any, tag: str = "") -> Tensor:
    """The elements of the process that sends to this one: rank `i` sends to rank `src_dst[i]`."""
    chosen = _resolve_group(group, tag)
    received, sent = [0] * chosen.size(), [0] * chosen.size()
    for source, target in enumerate(src_dst):
        if source == chosen.rank():
            sent[target] = self.numel()
        if target == chosen.rank():
            received[source] = self.numel()
    return all_to_all_single(self, received, sent, chosen)


# -------------------- other names --------------------

all_gather_single_autograd = all_gather_single
reduce_scatter_single_autograd = reduce_scatter_single
all_to_all_single_autograd = all_to_all_single


def _deprecated(name: str, better: Callable[..., Any]) -> Callable[..., Any]:
    def old(*arguments: Any, **more: Any) -> Any:
        where = "torch.distributed._functional_collectives"
        warn(f"`{where}.{name}` is deprecated. Please use `{where}.{better_name}` instead.", FutureWarning)
        return better(*arguments, **more)

    better_name = better.__name__ + ("_autograd" if name.endswith("_autograd") else "")
    old.__name__ = old.__qualname__ = name
    return old


all_gather_tensor = _deprecated("all_gather_tensor", all_gather_single)
all_gather_tensor_autograd = _deprecated("all_gather_tensor_autograd", all_gather_single)
all_gather_into_tensor_coalesced = _deprecated("all_gather_into_tensor_coalesced", all_gather_single_coalesced)
reduce_scatter_tensor = _deprecated("reduce_scatter_tensor", reduce_scatter_single)
reduce_scatter_tensor_autograd = _deprecated("reduce_scatter_tensor_autograd", reduce_scatter_single)
reduce_scatter_tensor_coalesced = _deprecated("reduce_scatter_tensor_coalesced", reduce_scatter_single_coalesced)


# -------------------- into given tensors --------------------


def all_reduce_inplace(
    tensor: Tensor, op: str = "sum", group: Any = None, async_op: bool = False, tag: str = ""
) -> Tensor:
    """`all_reduce` into the tensor itself."""
    return tensor.copy_(all_reduce(tensor, op, _group_for_copy(group, async_op), tag))


def all_gather_tensor_inplace(
    output_tensor: Tensor,
    input_tensor: Tensor,
    group: Any = None,
    async_op: bool = False,
    tag: str = "",
    gather_dim: int = 0,
) -> Tensor:
    """`all_gather_single` into a given tensor."""
    return output_tensor.copy_(all_gather_single(input_tensor, gather_dim, _group_for_copy(group, async_op), tag))


def reduce_scatter_tensor_inplace(
    output: Tensor,
    input: Tensor,
    op: str = "sum",
    group: Any = None,
    async_op: bool = False,
    scatter_dim: int = 0,
    tag: str = "",
) -> Tensor:
    """`reduce_scatter_single` into a given tensor."""
    return output.copy_(reduce_scatter_single(input, op, scatter_dim, _group_for_copy(group, async_op), tag))


def all_to_all_inplace(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Any = None,
    async_op: bool = False,
    tag: str = "",
) -> Tensor:
    """`all_to_all_single` into a given tensor."""
    chosen = _group_for_copy(group, async_op)
    return output.copy_(all_to_all_single(input, output_split_sizes, input_split_sizes, chosen, tag))


def _group_for_copy(group: Any, async_op: bool) -> Any:
    if async_op:
        raise AssertionError("Can't remap async version of inplace op to functional collective")
    return group or default_group()


# -------------------- groups and reductions --------------------


def _resolve_group(group: Any, tag: str = "") -> ProcessGroup:
    """The process group that any of the ways to name one means."""
    if isinstance(group, ProcessGroup):
        return group
    if isinstance(group, str):
        return group_named(group)
    if isinstance(group, DeviceMesh):
        if group.ndim != 1:
            raise AssertionError("Only 1D mesh is supported, pass in (DeviceMesh, int) together if mesh > 1D")
        return group.get_group()
    if isinstance(group, tuple):
        if len(group) == 2 and isinstance(group[0], DeviceMesh) and isinstance(group[1], int):
            return group[0].get_group(group[1])
        kinds = tuple(type(each) for each in group[:2])
        raise ValueError(f"Invalid tuple for group must be (DeviceMesh, int). Instead got {kinds}")
    if isinstance(group, list):
        warn(
            "The combination of ranks + tag as process group identifier has been deprecated. Please switch to using "
            "ProcessGroup, DeviceMesh, or group name instead.",
            FutureWarning,
        )
        return group_of_ranks(group)
    raise ValueError(f"Unsupported group type: {type(group)}, {group}")


def _resolve_group_name(group: Any, tag: str = "") -> str:
    """The name of that group."""
    return _resolve_group(group, tag).group_name


def _op(name: str) -> RedOpType:
    if name not in _OPS:
        raise RuntimeError(f"Unrecognized reduce_op: {name}")
    return _OPS[name]


def _check_sum(name: str, kind: str, count: int) -> None:
    if name != "sum":
        coalesced = "_coalesced" if count > 1 else ""
        raise RuntimeError(f"{kind}{coalesced} backward only supports 'sum' reduction, got '{name}'")


# -------------------- gradients --------------------


class _AllReduce(Function):
    @staticmethod
    def forward(ctx: Any, name: str, group: ProcessGroup, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.name, ctx.group = name, group
        results = tuple(_copied(each) for each in tensors)
        op = _op(name)
        _together(group, [partial(collectives.all_reduce, each, op, group) for each in results])
        return results

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple:
        _check_sum(ctx.name, "all_reduce", len(grads))
        return None, None, *_AllReduce.apply(ctx.name, ctx.group, *grads)


class _AllGather(Function):
    @staticmethod
    def forward(ctx: Any, group: ProcessGroup, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.group = group
        sources = [each.contiguous() for each in tensors]
        results = tuple(ops.new_empty(each, _scaled(each, group.size())) for each in sources)
        pairs = zip(results, sources, strict=True)
        _together(group, [partial(collectives.all_gather_single, *pair, group) for pair in pairs])
        ctx.shapes = [each.shape for each in tensors]
        return results

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple:
        parts = _ReduceScatter.apply("sum", ctx.group, *grads)
        return None, *[each.reshape(shape) for each, shape in zip(parts, ctx.shapes, strict=True)]


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx: Any, name: str, group: ProcessGroup, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.name, ctx.group = name, group
        sources = [each.contiguous() for each in tensors]
        results = tuple(ops.new_empty(each, [each.shape[0] // group.size(), *each.shape[1:]]) for each in sources)
        op = _op(name)
        pairs = zip(results, sources, strict=True)
        _together(group, [partial(collectives.reduce_scatter_single, *pair, op, group) for pair in pairs])
        return results

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple:
        _check_sum(ctx.name, "reduce_scatter_tensor", len(grads))
        return None, None, *_AllGather.apply(ctx.group, *grads)


class _AllToAll(Function):
    @staticmethod
    def forward(ctx: Any, group: ProcessGroup, received: list[int], sent: list[int], tensor: Tensor) -> Tensor:
        ctx.group, ctx.received, ctx.sent = group, received, sent
        result = ops.new_empty(tensor, [sum(received), *tensor.shape[1:]])
        collectives.all_to_all_single(result, tensor.contiguous(), received, sent, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        return None, None, None, _AllToAll.apply(ctx.group, ctx.sent, ctx.received, grad)


def _copied(tensor: Tensor) -> Tensor:
    return tensor.clone(memory_format=contiguous_format)


def _scaled(tensor: Tensor, size: int) -> list[int]:
    return [tensor.shape[0] * size, *tensor.shape[1:]] if tensor.ndim else [size]


def _together(group: ProcessGroup, calls: list[Callable[[], Any]]) -> None:
    """Run collectives as one."""
    if len(calls) == 1:
        calls[0]()
        return
    with _coalescing_manager(group):
        for each in calls:
            each()
