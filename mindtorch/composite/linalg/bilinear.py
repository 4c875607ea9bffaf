"""The bilinear layer."""

from __future__ import annotations

import math

from mindtorch._core.dtype import c_name
from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.tensor import Tensor
from mindtorch._support import errors
from mindtorch.dispatch import ops


def bilinear(input1, input2, weight, bias):
    _check_bilinear(input1, input2, weight, bias)
    count = math.prod(input1.shape[:-1])
    rows = input1.reshape(count, input1.shape[-1])
    left = ops.bmm(rows.expand(weight.shape[0], *rows.shape), weight)
    products = left * input2.reshape(count, input2.shape[-1])
    result = products.sum(-1, dtype=products.dtype).t().clone(memory_format=contiguous_format)
    result = result.reshape(*input1.shape[:-1], weight.shape[0])
    return result if bias is None else result + bias


def _check_bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    _check_bilinear_dtypes(input1=input1, input2=input2, weight=weight, bias=bias)
    if input1.ndim != input2.ndim:
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}")
    for dim in range(input1.ndim - 1):
        if input1.shape[dim] != input2.shape[dim]:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {dim}: "
                f"got {input1.shape[dim]} and {input2.shape[dim]}"
            )
    for number, tensor in enumerate((input1, input2), 1):
        size, expected = _size(tensor, -1), _size(weight, number)
        if size != expected:
            raise RuntimeError(
                f"bilinear(): input{number} size does not match weight size: got {size} but expected {expected}"
            )
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected {weight.shape[0]}"
        )


def _size(tensor: Tensor, dim: int) -> int:
    if not tensor.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if dim >= tensor.ndim:
        raise errors.dim_out_of_range(dim, tensor.ndim)
    return tensor.shape[dim]


def _check_bilinear_dtypes(**tensors: Tensor | None) -> None:
    dtypes = {name: each.dtype for name, each in tensors.items() if each is not None}
    if len(set(dtypes.values())) > 1:
        named = ", ".join(f"{name}: {c_name(dtype)}" for name, dtype in dtypes.items())
        raise RuntimeError(f"All tensors must have the same dtype, got {named}")
