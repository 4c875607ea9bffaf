"""Fake quantization without the mask that its gradient needs."""

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops


def fake_quantize_per_tensor_of_tensors(
    input: Tensor, scale: Tensor, zero_point: Tensor, quant_min: int, quant_max: int
) -> Tensor:
    enabled = ops.ones(1, device=input.device)
    return ops._fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
        input, scale, zero_point, enabled, quant_min, quant_max
    )[0]
