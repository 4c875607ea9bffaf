"""`torch_npu`, which programs import: the probes of libraries, its ops on the device, and a program that trains."""

import importlib
import importlib.util
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import mindtorch as torch
import mindtorch.distributed as dist
from mindtorch.npu.package.tests import samples
from mindtorch.testing.ops import checks
from tests.npu.helpers import ROOT

torch_npu = torch.npu.as_torch_npu()
OPS = importlib.import_module("torch_npu._generated.op_table").OPS
PROGRAM = """
    import sys
    from tests.npu import simulator
    simulator.start()
    import mindtorch
    sys.modules["torch"] = mindtorch
    mindtorch.npu.as_torch_npu()
"""


def run(program):
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(PROGRAM) + textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()


class TestModule:
    def test_it_is_found(self):
        spec = importlib.util.find_spec("torch_npu")
        assert spec is not None and spec.name == "torch_npu" and torch_npu.__spec__ is spec
        assert importlib.import_module("torch_npu") is torch_npu is torch.npu.as_torch_npu()
        assert importlib.util.find_spec("torch_npu.contrib.transfer_to_npu") is not None

    def test_names(self):
        assert torch_npu.npu is torch.npu and torch_npu.__version__ == torch.__version__
        for name in ("amp", "memory", "random", "streams"):
            assert importlib.import_module(f"torch_npu.npu.{name}") is importlib.import_module(f"mindtorch.npu.{name}")
        assert torch.ops.npu.npu_swiglu is not None

    def test_formats(self):
        x = torch.ones(2, device="npu")
        assert torch_npu.get_npu_format(torch_npu.npu_format_cast(x, 29)) == 2
        assert torch_npu.npu_format_cast(x, 29).data_ptr() == x.data_ptr()


@pytest.mark.filterwarnings("ignore:CAUTION")
@pytest.mark.parametrize("check", [each for each in checks(OPS, samples) if each.what == "value in float32"], ids=str)
def test_ops_on_the_device(check):
    """The samples of an op on the NPU and on the CPU, with gradients."""
    row = check.row
    function = row.entry.function
    for sample in getattr(samples, row.samples)(_maker(row)):
        there = sample.mapped(lambda tensor: tensor.detach().to("npu").requires_grad_(tensor.requires_grad))
        results = [_results(function, each) for each in (sample, there)]
        for one, other in zip(*results, strict=True):
            assert other.device.type == "npu"
            np.testing.assert_allclose(other.cpu().detach().numpy(), one.detach().numpy(), rtol=1e-4, atol=1e-5)


def _maker(row):
    return importlib.import_module("mindtorch.testing.ops").Maker(row.name, "float32", with_gradients=True)


def _results(function, sample):
    """The results, and the gradients of what requires one."""
    found = function(*sample.args, **sample.kwargs)
    found = found if isinstance(found, (tuple, list)) else [found]
    found = [each for each in found if isinstance(each, torch.Tensor)]
    leaves = [each for each in sample.tensors() if each.requires_grad]
    if not leaves:
        return found
    total = sum((each * each).sum() for each in found if each.requires_grad)
    return found + list(torch.autograd.grad(total, leaves, materialize_grads=True))


def test_steps_of_adam():
    """`npu_apply_adam_w` on the device is AdamW on the CPU."""
    with torch.device("cpu"):
        grads = [torch.from_numpy(np.random.default_rng(n).normal(size=(3, 2))) for n in range(3)]
    expected = torch.ones(3, 2, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.AdamW([expected], lr=0.1, weight_decay=0.2)
    var, m, v = torch.ones(3, 2, dtype=torch.float64, device="npu"), *torch.zeros(2, 3, 2, dtype=torch.float64).npu()
    for step, grad in enumerate(grads):
        expected.grad = grad
        optimizer.step()
        scalars = (0.9**step, 0.999**step, 0.1, 0.2, 0.9, 0.999, 1e-8)
        result = torch_npu.npu_apply_adam_w(*scalars, grad.npu(), None, False, False, out=(var, m, v))
        assert result[0] is var
        assert torch.allclose(var.cpu(), expected.detach(), rtol=1e-9)
    with pytest.raises(RuntimeError, match="out="):
        torch_npu.npu_apply_adam_w(*scalars, grad.npu(), None, False, False)


LAYOUTS = {
    "BNSD": ((2, 2, 3, 4), (2, 2, 5, 4), {"pse": (2, 2, 3, 5)}),
    "BSND": ((2, 3, 2, 4), (2, 5, 1, 4), {}),
    "BSH": ((2, 3, 8), (2, 5, 4), {}),
    "SBH": ((3, 2, 8), (5, 2, 8), {"pse": (1, 2, 3, 5)}),
    "TND": ((5, 2, 4), (6, 2, 4), {"actual_seq_qlen": [2, 5], "actual_seq_kvlen": [1, 6]}),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gradients_of_attention_are_those_of_the_op(layout):
    torch.manual_seed(0)
    queries, keys, more = LAYOUTS[layout]
    shapes = [queries, keys, keys, *([more["pse"]] if "pse" in more else [])]
    inputs = [torch.randn(shape, dtype=torch.float64, device="npu", requires_grad=True) for shape in shapes]
    given = {"pse": inputs[3]} if "pse" in more else more
    out, maxima, sums, *_ = torch_npu.npu_fusion_attention(*inputs[:3], 2, layout, scale=0.5, **given)
    dy = torch.randn(out.shape, dtype=torch.float64, device="npu")
    expected = torch.autograd.grad(out, inputs, dy)
    saved = {"softmax_max": maxima, "softmax_sum": sums, "attention_in": out.detach(), "scale_value": 0.5}
    with torch.no_grad():
        found = torch_npu.npu_fusion_attention_grad(*inputs[:3], dy, 2, layout, **saved, **given)
    assert len(found) == 5 and found[4].numel() == 0
    for mine, each in zip(found, expected):
        assert torch.allclose(mine.cpu(), each.cpu(), rtol=1e-5, atol=1e-6)  # maxima and sums are of float32


@pytest.fixture
def group():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield dist.distributed_c10d._get_default_group()
    dist.destroy_process_group()


def test_products_with_collectives(group):
    name = group._get_backend(torch.device("npu")).get_hccl_comm_name(0)
    x, weight = torch.randn(4, 3, requires_grad=True), torch.randn(3, 2)
    found, rows = torch_npu.npu_all_gather_base_mm(x, weight, name, 1)
    assert torch.equal(found, x @ weight) and torch.equal(rows, x)
    assert torch_npu.npu_all_gather_base_mm(x, weight, name, 1, gather_output=False)[1].numel() == 0
    found = torch_npu.npu_mm_reduce_scatter_base(x, weight, name, 1, bias=torch.ones(2))
    assert torch.equal(found, x @ weight + 1)
    (grad,) = torch.autograd.grad(found.sum(), x)
    assert torch.allclose(grad, weight.sum(1).expand(4, 3))
    for wrong in ({"world_size": 2}, {"reduce_op": "max"}, {"comm_mode": "x"}):
        with pytest.raises(RuntimeError):
            torch_npu.npu_mm_reduce_scatter_base(x, weight, name, **{"world_size": 1} | wrong)
    with pytest.raises(NotImplementedError, match="quantized"):
        torch_npu.npu_all_gather_base_mm(x.detach().to(torch.int8), weight, name, 1)


def test_dropout_of_attention():
    torch.manual_seed(0)
    q = torch.ones(1, 2, 8, 4, device="npu")
    found = torch_npu.npu_fusion_attention(q, q, q, 2, "BNSD", keep_prob=0.5)
    assert len(found) == 7 and found[4:] == (0, 0, 0)
    assert found[0].std() > 0 and found[1].shape == (1, 2, 8, 8)
    kept = found[0] * 8 / 2  # of 8 equal weights, each one kept is twice as large
    assert torch.allclose(kept, kept.round(), atol=1e-4)


@pytest.mark.parametrize(
    "call",
    [
        lambda q: torch_npu.npu_fusion_attention(q, q, q, 1, "BNSD", sparse_mode=5),
        lambda q: torch_npu.npu_fusion_attention(q, q, q, 1, "BNSD", prefix=[1]),
        lambda q: torch_npu.npu_grouped_matmul([q], [q], scale=[q]),
        lambda q: torch_npu.npu_moe_token_permute(q, q, padded_mode=True),
        lambda q: torch_npu.npu_moe_init_routing_v2(q[0, 0], q[0, 0].int(), expert_num=2),
        lambda q: torch_npu.npu_moe_init_routing_v2(q[0, 0], q[0, 0].int(), expert_tokens_num_flag=True, quant_mode=0),
        lambda q: torch_npu.npu_dynamic_quant(q, dst_type=torch.int32),
        lambda q: torch_npu.npu_dynamic_quant(q, quant_mode="pertensor"),
        lambda q: torch_npu.npu_dynamic_mx_quant(q),
        lambda q: torch_npu.npu_quant_matmul(q.int(), q.int(), q[0, 0, 0]),
        lambda q: torch_npu.npu_quant_matmul(q.to(torch.int8), q.to(torch.int8), q[0, 0, 0].long()),
        lambda q: torch_npu.npu_fusion_attention_grad(q, q, q, q, 1, "BNSD", keep_prob=0.5),
        lambda q: torch_npu.npu_fused_infer_attention_score(q, q, q, pse_shift=q),
        lambda q: torch_npu.npu_fused_infer_attention_score_v2(q, q, q, query_rope=q),
    ],
)
def test_what_is_not_there_is_refused(call):
    with pytest.raises(NotImplementedError):
        call(torch.ones(1, 1, 2, 2, device="npu"))


def test_a_program_trains():
    shown = run("""
        import importlib.util
        import torch
        assert importlib.util.find_spec("torch_npu") is not None
        import torch_npu
        from torch_npu.npu import amp
        assert hasattr(torch, "npu") and torch.npu.is_available()
        torch.npu.set_device("npu:0")
        torch.npu.set_compile_mode(jit_compile=False)
        torch.npu.config.allow_internal_format = False
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)).npu()
        optimizer, scaler = torch.optim.SGD(model.parameters(), 0.1), amp.GradScaler()
        data = torch.randn(32, 4).npu()
        losses = []
        for _ in range(20):
            optimizer.zero_grad()
            with amp.autocast():
                loss = (model(data) - data.sum(1, True)).square().mean()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            losses.append(loss.item())
        torch.npu.synchronize()
        print(losses[-1] < losses[0] / 2, model[0].weight.device)
        """)
    assert shown == ["True", "npu:0"]


def test_names_of_cuda():
    """After `transfer_to_npu`, a program for CUDA runs on the NPU."""
    shown = run("""
        import torch, torch_npu
        from torch_npu.contrib import transfer_to_npu
        assert torch.cuda.is_available() and torch.cuda.device_count() == 2
        x = torch.ones(2, 2).cuda()
        assert x.is_cuda and x.is_npu
        with torch.autocast("cuda"):
            print((x @ x).dtype)
        print(torch.nn.Linear(2, 2).cuda(1).weight.device, torch.ones(2, device="cuda").device, torch.device("cuda:1"))
        scaler = torch.cuda.amp.GradScaler()
        print(scaler.scale(x).device, torch.cuda.current_device())
        """)
    assert shown == ["torch.float16", "npu:1", "npu:0", "npu:1", "npu:0", "0"]
