"""Special functions on the NPU by hand: what ACLNN has for operands of one floating dtype only."""

from typing import Any

from mindtorch.backends.meta import rules
from mindtorch.backends.npu.array import NpuArray
from mindtorch.backends.npu.choosing import entr as entr
from mindtorch.backends.npu.fallback import kernel_for
from mindtorch.backends.npu.launch import aclnn, delivered, operands, placed, remembered
from mindtorch.backends.npu.steps import FLOATS, converted, like

_xlog1py = aclnn("aclnnXlog1py", "TTT")
_rule = remembered(rules.broadcast("int_to_float"), "special_xlog1py")

_xlog1py_on_cpu = kernel_for("special_xlog1py")


def xlog1py(input: NpuArray, other: NpuArray, out: Any = None) -> NpuArray:
    input, other = operands(input, other)
    shaped = _rule(input, other)
    if shaped.dtype not in FLOATS:
        return _xlog1py_on_cpu(input, other, out=out)
    result = placed(_rule(input, other, out=out), input)
    target = result if result.dtype == shaped.dtype else like(result, shaped.dtype)
    if result.size:
        _xlog1py(converted(input, shaped.dtype), converted(other, shaped.dtype), target)
    return target if out is None else delivered(target, out)
