"""Products with a collective operation before or behind them."""

from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.distributed import _functional_collectives as collectives
from mindtorch.distributed.world import group_named
from torch_npu.composite.quantization import refuse_given


def npu_all_gather_base_mm(
    input,
    x2,
    hcom,
    world_size,
    bias,
    x1_scale,
    x2_scale,
    gather_index,
    gather_output,
    comm_turn,
    output_dtype,
    comm_mode,
):
    """The rows of all processes times a matrix, and these rows."""
    op = "npu_all_gather_base_mm"
    refuse_given(op, x1_scale=x1_scale, x2_scale=x2_scale, gather_index=gather_index, output_dtype=output_dtype)
    _check(op, input, hcom, world_size, comm_mode)
    rows = collectives.wait_tensor(collectives.all_gather_single(input, 0, hcom))
    found = rows @ x2 if bias is None else rows @ x2 + bias
    return found, rows if gather_output else ops.empty((0,), dtype=input.dtype, device=input.device)


def npu_mm_reduce_scatter_base(
    input, x2, hcom, world_size, reduce_op, bias, x1_scale, x2_scale, comm_turn, output_dtype, comm_mode
):
    """A product, of which each process gets its part of the rows, added up over all."""
    op = "npu_mm_reduce_scatter_base"
    refuse_given(op, x1_scale=x1_scale, x2_scale=x2_scale, output_dtype=output_dtype)
    _check(op, input, hcom, world_size, comm_mode)
    if reduce_op != "sum":
        raise RuntimeError(f"{op}: reduce_op must be 'sum', but got {reduce_op!r}")
    product = input @ x2 if bias is None else input @ x2 + bias
    return collectives.wait_tensor(collectives.reduce_scatter_single(product, reduce_op, 0, hcom))


def _check(op: str, x: Tensor, hcom: str, world_size: int, comm_mode: Any) -> None:
    if not x.dtype.is_floating_point:
        raise NotImplementedError(f"{op}: quantized products are not supported")
    if comm_mode not in (None, "ai_cpu", "aiv"):
        raise RuntimeError(f"{op}: comm_mode must be 'ai_cpu' or 'aiv', but got {comm_mode!r}")
    size = group_named(hcom).size()
    if size != world_size:
        raise RuntimeError(f"{op}: world_size is {world_size}, and the group has {size} processes")
