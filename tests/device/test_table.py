"""Every op does on a device what it does on the CPU."""

import pytest

import mindtorch as torch
from mindtorch._generated.npu_kernels import MODULES
from mindtorch.backends.npu import fallback
from mindtorch.backends.npu.chip import is_younger
from tests.device.conftest import DEVICE
from tests.device.sweep import differences
from tests.harness import ADVICE, sampled_ops
from tests.npu import simulator

# Ops that differ on a device, each with its reason; one that agrees leaves the list.
KNOWN: dict[tuple[str, str], str] = {}
# Ops with kernels on the NPU that leave some calls to the CPU, and which.
PARTIAL = {
    **dict.fromkeys(("_conj_physical", "sgn"), "complex numbers"),
    **dict.fromkeys(("_ctc_loss", "_ctc_loss_backward"), "empty sequences, and targets longer than their sequence"),
    "_embedding_bag_backward": "shares by frequency, which torch counts in its own way on the CPU",
    "_prelu_kernel": "inputs without dimensions, and weights of other shapes",
    **dict.fromkeys(
        [f"max_pool{dims}d_with_indices{end}" for dims in (2, 3) for end in ("", "_backward")],
        "spread windows, which A2 and A3 do not have",
    ),
    "nan_to_num": "integers, and double precision",
    "scatter_reduce.two": "reductions that not all chips have",
    "unfold_backward": "integers",
}
KERNELS = {op for kernels in MODULES.values() for op in kernels}


def _found(op):
    try:
        return differences(op, DEVICE)
    except torch.AcceleratorError as error:  # a kernel that has failed since
        return [str(error)]


@pytest.mark.filterwarnings(*[f"ignore:{text}" for text in ADVICE], "ignore:CAUTION", "ignore:An output with")
@pytest.mark.parametrize("op", sampled_ops(), ids=lambda op: op.name)
def test_as_on_the_cpu(op):
    fallback.used.clear()
    found = _found(op)
    assert fallback.used & KERNELS <= PARTIAL.keys(), "has a kernel for the NPU, and was computed on the CPU"
    if (DEVICE, op.name) in KNOWN:
        assert found, f"agrees with the CPU: take it out of the list ({KNOWN[DEVICE, op.name]})"
        pytest.xfail(KNOWN[DEVICE, op.name])
    assert found == []


# Ops of which an Ascend 950 wants, or gives, something else than A2 and A3.
BY_CHIP = (
    *("native_batch_norm", "native_batch_norm_backward", "_native_batch_norm_legit", "batch_norm"),
    *("_embedding_bag", "_embedding_bag_forward_only", "embedding_bag", "_ctc_loss", "ctc_loss.IntList"),
    *("_thnn_fused_lstm_cell", "_thnn_fused_lstm_cell_backward_impl", "max_pool2d_with_indices", "max_pool3d"),
)


@pytest.fixture
def younger_chip(monkeypatch):
    monkeypatch.setenv("NPU_SIMULATOR_SOC", "Ascend950PR_9599")
    is_younger.cache_clear()
    simulator.start().forget_checks()
    yield
    is_younger.cache_clear()
    simulator.start().forget_checks()


@pytest.mark.skipif(DEVICE != "npu", reason="about chips of NPUs")
@pytest.mark.filterwarnings(*[f"ignore:{text}" for text in ADVICE], "ignore:CAUTION", "ignore:An output with")
@pytest.mark.parametrize("op", [op for op in sampled_ops() if op.name in BY_CHIP], ids=lambda op: op.name)
def test_a_younger_chip(younger_chip, op):
    assert differences(op, DEVICE) == []


# Ops of networks whose kernels are written by hand.
IN_HALVES = (
    *("max_pool2d", "max_pool3d", "adaptive_max_pool3d", "native_batch_norm", "native_batch_norm_backward"),
    *("nll_loss_forward", "nll_loss2d_forward", "native_dropout", "_embedding_bag", "_embedding_bag_backward"),
    *("_thnn_fused_lstm_cell", "_thnn_fused_gru_cell", "reflection_pad1d", "replication_pad1d", "unfold_backward"),
    *("special_xlog1py", "binary_cross_entropy_with_logits"),
)


@pytest.mark.filterwarnings(*[f"ignore:{text}" for text in ADVICE], "ignore:CAUTION", "ignore:An output with")
@pytest.mark.parametrize("op", [op for op in sampled_ops() if op.name in IN_HALVES], ids=lambda op: op.name)
def test_half_precision(op):
    fallback.used.clear()
    assert differences(op, DEVICE, ("float16", "bfloat16")) == []
    assert fallback.used & KERNELS <= PARTIAL.keys()
