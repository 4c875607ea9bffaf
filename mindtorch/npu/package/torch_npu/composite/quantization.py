"""Numbers of 8 bits: tensors rounded by row, and products of them."""

from typing import Any

from mindtorch._core.dtype import bfloat16, float16, float32, int8, int32
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops

LARGEST = 127  # of 8 bits
_EXACT = 1024  # as many products of 8 bits have a sum that float32 holds


def refuse_given(op: str, **given: Any) -> None:
    """Arguments that are not supported; what is None, 0 or empty was not given."""
    for name, value in given.items():
        if value is not None and (isinstance(value, Tensor) or value):
            raise NotImplementedError(f"{op}: {name} is not supported")


def npu_dynamic_quant(input, smooth_scales, group_index, dst_type, quant_mode, dst_type_max):
    """Each row as integers from -127 to 127, and what to multiply them by. A row of zeros has the factor 0."""
    if dst_type not in (None, int8) or quant_mode != "pertoken":
        raise NotImplementedError("npu_dynamic_quant: only dst_type int8 and quant_mode 'pertoken' are supported")
    refuse_given("npu_dynamic_quant", dst_type_max=dst_type_max)
    x = input.to(float32)
    if group_index is not None:
        x = x * _by_group(smooth_scales, group_index, input).to(float32)
    elif smooth_scales is not None:
        x = x * smooth_scales.to(float32)
    return rounded_rows(x)


def _by_group(smooth_scales: Tensor | None, group_index: Tensor, x: Tensor) -> Tensor:
    """The factors of each row: a group is the rows before a place, and not before that of the group in front of it."""
    if smooth_scales is None or smooth_scales.dim() != 2:
        raise RuntimeError("npu_dynamic_quant: group_index needs smooth_scales with a row for each group")
    rows = ops.arange(x.numel() // x.shape[-1], dtype=int32, device=x.device)
    groups = ops.searchsorted(group_index.to(int32), rows, right=True)
    return ops.index_select(smooth_scales, 0, groups).reshape(x.shape)


def rounded_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    """Integers, and the factors of the rows; neither has a gradient."""
    x = x.detach()
    factors = x.abs().amax(-1) / LARGEST
    whole = ops.round(x / factors.masked_fill(factors == 0, 1.0)[..., None])
    return whole.clamp(-LARGEST, LARGEST).to(int8), factors


def npu_dynamic_mx_quant(input, axis, round_mode, dst_type, block_size, scale_alg, dst_type_max, max_low_bound):
    """Refused: its results have dtypes of 4 and 8 bits that there are no tensors of."""
    raise NotImplementedError("npu_dynamic_mx_quant is not supported: its results would be of dtypes float8 and float4")


def npu_quant_matmul(
    x1, x2, scale, offset, pertoken_scale, bias, output_dtype, x1_dtype, x2_dtype, pertoken_scale_dtype, scale_dtype,
    group_sizes, y_scale,
):  # fmt: skip
    """`(x1 @ x2 + bias) * scale * pertoken_scale + offset`; a bias of floating point comes last."""
    refuse_given(
        "npu_quant_matmul", x1_dtype=x1_dtype, x2_dtype=x2_dtype, pertoken_scale_dtype=pertoken_scale_dtype,
        scale_dtype=scale_dtype, group_sizes=group_sizes, y_scale=y_scale,
    )  # fmt: skip
    wanted = int8 if output_dtype is None else output_dtype
    _check_dtypes(x1, x2, scale, wanted)
    is_whole = bias is not None and bias.dtype is int32
    product = _product(x1, x2)
    result = (product + bias if is_whole else product).to(float32) * scale.to(float32)
    if pertoken_scale is not None:
        result = result * pertoken_scale.to(float32).reshape(-1, 1)
    if offset is not None:
        result = result + offset
    if bias is not None and not is_whole:
        result = result + bias.to(float32)
    return result.to(wanted) if wanted is not int8 else ops.round(result).clamp(-LARGEST - 1, LARGEST).to(int8)


def _check_dtypes(x1: Tensor, x2: Tensor, scale: Tensor, wanted: Any) -> None:
    if x1.dtype is not int8 or x2.dtype is not int8:
        raise NotImplementedError("npu_quant_matmul: only x1 and x2 of int8 are supported")
    if scale.dtype not in (float32, bfloat16) or scale.dim() != 1:
        raise NotImplementedError(
            "npu_quant_matmul: only a scale of float32 or bfloat16 with one dimension is supported"
        )
    if wanted not in (int8, float16, bfloat16):
        raise NotImplementedError("npu_quant_matmul: only output_dtype int8, float16 and bfloat16 are supported")


def _product(x1: Tensor, x2: Tensor) -> Tensor:
    """Exactly: in parts whose sums of float32 have no rounding."""
    pairs = zip(x1.split(_EXACT, -1), x2.split(_EXACT, -2), strict=True)
    parts = [(first.to(float32) @ second.to(float32)).to(int32) for first, second in pairs]
    return sum(parts[1:], parts[0])
