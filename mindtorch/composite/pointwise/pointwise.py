"""Functions of single elements that are written in other ops."""

from __future__ import annotations

from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.history import check_recorded_write, mark_written
from mindtorch.autograd._engine.outputs import write_out
from mindtorch.dispatch import ops

# -------------------- other ops --------------------


def conj_physical_(input: Tensor) -> Tensor:
    if input.is_complex():
        return input.copy_(ops._conj_physical(input))
    check_recorded_write(input)
    mark_written(input)
    return input


def conj_physical_out(input: Tensor, out: Tensor) -> Tensor:
    if out.dtype is not input.dtype:
        raise RuntimeError(f"Found dtype {out.dtype.storage_name} but expected {input.dtype.storage_name}")
    return write_out(out, ops._conj_physical(input))
