"""Products of matrices by groups; formats of memory."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops

_ND = 2
_ONE_OUTPUT = (2, 3)


def npu_format_cast(input, acl_format):
    """The tensor itself: memory is always laid out by strides (format 2, ND), and kernels convert what they need."""
    return ops.alias(input)


def npu_grouped_matmul(
    x, weight, bias, scale, offset, antiquant_scale, antiquant_offset, per_token_scale, group_list, activation_input,
    activation_quant_scale, activation_quant_offset, split_item, group_type, group_list_type, act_type, tuning_config,
    output_dtype,
):  # fmt: skip
    """Several products: of matrices in pairs, or of groups of rows (`group_type=0`) or of columns (2) of one matrix.

    `group_list` has the ends of the groups (`group_list_type=0`) or their sizes (1).
    """
    quantized = (scale, offset, antiquant_scale, antiquant_offset, per_token_scale, activation_input)
    if any(quantized) or activation_quant_scale or activation_quant_offset or act_type:
        raise NotImplementedError("npu_grouped_matmul: quantized products and activations are not supported")
    if group_type == -1 and group_list is None:
        results = [a @ b + bias[n] if bias else a @ b for n, (a, b) in enumerate(zip(x, weight, strict=True))]
    elif group_type in (0, 2) and group_list is not None and len(x) == 1:
        by_group = _of_rows if group_type == 0 else _of_columns
        results = by_group(x[0], weight, bias, _ends(group_list, group_list_type))
    else:
        raise NotImplementedError("npu_grouped_matmul: groups of type 0 or 2 of one matrix, or pairs of type -1")
    if group_type == 0 and split_item in _ONE_OUTPUT:
        results = [ops.cat(results)]
    return results if output_dtype is None else [each.to(output_dtype) for each in results]


def _ends(group_list: Tensor, list_type: int) -> list[int]:
    ends = group_list if list_type == 0 else group_list.cumsum(0)
    return [int(each) for each in ends.tolist()]


def _of_group(values: Sequence[Tensor], number: int) -> Tensor:
    """The tensor of a group, which is one of several or a part of a single one."""
    return values[number] if len(values) > 1 else values[0][number]


def _of_rows(x: Tensor, weight: Any, bias: Any, ends: list[int]) -> list[Tensor]:
    """Rows times the weight of their group; rows behind the last group are zeros."""
    results = []
    for number, (start, end) in enumerate(pairwise((0, *ends))):
        own = weight[0] if len(weight) == 1 and weight[0].dim() == 2 else _of_group(weight, number)
        product = x[start:end] @ own
        results.append(product + _of_group(bias, number) if bias else product)
    rest = x.shape[0] - (ends[-1] if ends else 0)
    if rest:
        results.append(x.new_zeros(rest, weight[0].shape[-1]))
    return results


def _of_columns(x: Tensor, weight: Any, bias: Any, ends: list[int]) -> list[Tensor]:
    """For each group, some columns times as many rows of the weight."""
    products = [x[:, start:end] @ weight[0][start:end] for start, end in pairwise((0, *ends))]
    return [ops.stack(products)]
