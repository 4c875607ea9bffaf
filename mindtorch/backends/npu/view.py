"""Copies on the NPU in which the elements that a view shows are others."""

from typing import Any

from mindtorch.backends.meta import rules
from mindtorch.backends.npu.array import NpuArray
from mindtorch.backends.npu.launch import aclnn, copied, delivered, placed
from mindtorch.dispatch.registry import kernel_table

_copy = aclnn("aclnnInplaceCopy", "TT")
_like_rule = rules.like("first")


def select_scatter(input: NpuArray, src: NpuArray, dim: int, index: int) -> NpuArray:
    return _replaced("select.int", input, src, dim, index)


def slice_scatter(
    input: NpuArray,
    src: NpuArray,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
    out: Any = None,
) -> NpuArray:
    result = _replaced("slice.Tensor", input, src, dim, start, end, step)
    return result if out is None else delivered(result, out)


def diagonal_scatter(input: NpuArray, src: NpuArray, offset: int = 0, dim1: int = 0, dim2: int = 1) -> NpuArray:
    return _replaced("diagonal", input, src, offset, dim1, dim2)


def _replaced(view: str, input: NpuArray, src: NpuArray, *args: Any) -> NpuArray:
    result = placed(_like_rule(input, src), input)
    part = kernel_table(view)[NpuArray](result, *args)
    if part.shape != src.shape:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. "
            f"src size = {list(src.shape)}, slice size = {list(part.shape)}"
        )
    copied(result, input)
    if part.size:
        _copy(part, src)
    return result
