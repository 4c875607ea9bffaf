"""Every op does on a device what it does on the CPU."""

import pytest

import mindtorch as torch
from tests.device.conftest import DEVICE
from tests.device.sweep import differences
from tests.harness import ADVICE, sampled_ops

_SHAPE = "an in-place form whose result has another shape is not refused yet"
_LAYOUT = "step by step as torch on devices without the CPU's fused kernel, whose strides are others"
# Ops that differ on a device, each with its reason; one that agrees leaves the list.
KNOWN = {
    ("npu", "log_sigmoid_backward"): "the gradient is computed from the buffer, which the sample leaves undefined",
    ("npu", "upsample_bicubic2d_backward"): "the gradient at the edges of the picture",
    **{("npu", name): _SHAPE for name in ("addmm", "baddbmm", "addmv")},
    ("npu", "scaled_dot_product_attention"): _LAYOUT,
    ("privateuseone", "scaled_dot_product_attention"): _LAYOUT,
}


def _found(op):
    try:
        return differences(op, DEVICE)
    except torch.AcceleratorError as error:  # a kernel that has failed since
        return [str(error)]


@pytest.mark.filterwarnings(*[f"ignore:{text}" for text in ADVICE], "ignore:CAUTION", "ignore:An output with")
@pytest.mark.parametrize("op", sampled_ops(), ids=lambda op: op.name)
def test_as_on_the_cpu(op):
    found = _found(op)
    if (DEVICE, op.name) in KNOWN:
        assert found, f"agrees with the CPU: take it out of the list ({KNOWN[DEVICE, op.name]})"
        pytest.xfail(KNOWN[DEVICE, op.name])
    assert found == []
