"""Mixed precision on NPUs: the policy of each op, and training with scaled losses."""

import functools

import pytest

import mindtorch as torch
from mindtorch.dispatch.registry import all_ops
from tests.device.sweep import moved
from tests.harness import arguments_of, dtypes_of, function_of, model, outcome, samples_of, tensors_in

pytestmark = pytest.mark.filterwarnings("ignore:CAUTION", "ignore:.*deprecated:UserWarning")

# On CUDA torch casts for these, too; torch_npu leaves them alone.
CUDA_ONLY = (
    "_upsample_bicubic2d_aa _upsample_bilinear2d_aa _upsample_nearest_exact1d _upsample_nearest_exact2d "
    "_upsample_nearest_exact3d linalg_vecdot rms_norm upsample_bicubic2d upsample_bilinear2d upsample_linear1d "
    "upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_trilinear3d vdot"
).split()
POLICIES = {entry.name: entry.autocast["npu"] for entry in all_ops() if entry.autocast and "npu" in entry.autocast}
# Those for which torch asks for a real device.
NOT_FAKED = ("_thnn_fused_gru_cell", "_thnn_fused_lstm_cell", "gru_cell", "grid_sampler")
CAST = sorted(name for name, policy in POLICIES.items() if policy != "refused" and name not in NOT_FAKED)


@functools.cache
def oracle():
    """torch, with fake tensors of CUDA, which have the dtypes that autocast gives."""
    return pytest.importorskip("torch"), pytest.importorskip("torch._subclasses.fake_tensor").FakeTensorMode()


def test_which_ops_have_a_policy():
    reference, _ = oracle()
    kernels = reference._C._dispatch_get_all_op_names()
    named = [name[6:] for name in kernels if name.startswith("aten::") and not name.endswith("out")]
    has = reference._C._dispatch_has_kernel_for_dispatch_key
    on_cuda = {name for name in named if has(f"aten::{name}", "AutocastCUDA")}
    ours = {entry.name for entry in all_ops()}
    assert set(POLICIES) == (on_cuda & ours) - set(CUDA_ONLY)


def calls_of(name, dtype):
    op = model().ops[name]
    if dtype in dtypes_of(op):
        yield from ((op, sample) for sample, _ in zip(samples_of(op, dtype), range(1)))


def seen(library, function, args, kwargs):
    """The dtypes of the results; of a refusal, that it is one."""
    found = outcome(function, args, kwargs)
    return "refused" if found.error else [str(each.dtype) for each in tensors_in(library, found.result)]


def on_npu(op, sample):
    with torch.device("cpu"):
        args, kwargs = moved(list(arguments_of(torch, [list(sample.args), sample.kwargs])), "npu")
    with torch.autocast("npu"):
        return seen(torch, function_of(torch, op), args, kwargs)


def faked(tensor):
    reference, _ = oracle()
    return reference.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device="cuda")


def on_fake_cuda(op, sample):
    reference, mode = oracle()
    args, kwargs = arguments_of(reference, [list(sample.args), sample.kwargs])
    reference.set_autocast_enabled("cuda", True)
    reference.set_autocast_dtype("cuda", reference.float16)
    try:
        with mode:
            args, kwargs = reference.utils._pytree.tree_map_only(reference.Tensor, faked, (args, kwargs))
            return seen(reference, function_of(reference, op), args, kwargs)
    finally:
        reference.set_autocast_enabled("cuda", False)


@pytest.mark.parametrize("name", CAST)
def test_policy(name):
    compared = 0
    for dtype in ("float32", "float16", "float64"):
        for op, sample in calls_of(name, dtype):
            assert on_npu(op, sample) == on_fake_cuda(op, sample), (dtype, sample)
            compared += 1
    assert compared


def lower(*shape):
    return torch.ones(*shape, device="npu", dtype=torch.float16)


class TestOthers:
    def test_cells_and_grids(self):
        x, h = torch.ones(2, 3, device="npu"), torch.ones(2, 4, device="npu")
        with torch.autocast("npu"):
            assert torch.nn.GRUCell(3, 4).npu()(x, h).dtype is torch.float16
            assert torch.nn.LSTMCell(3, 4).npu()(x, (h, h))[0].dtype is torch.float16
            grid = torch.zeros(1, 2, 2, 2, device="npu")
            sampled = torch.nn.functional.grid_sample(lower(1, 1, 2, 2), grid, align_corners=False)
            assert sampled.dtype is torch.float32

    @pytest.mark.parametrize(
        "loss", ["margin_ranking_loss", "cosine_embedding_loss", "triplet_margin_loss", "soft_margin_loss"]
    )
    def test_losses_that_are_functions(self, loss):
        count = 1 if loss == "soft_margin_loss" else 2
        target = torch.ones(2, device="npu") if loss == "cosine_embedding_loss" else lower(2, 3)
        with torch.autocast("npu"):
            result = getattr(torch.nn.functional, loss)(*[lower(2, 3)] * count, target)
        assert result.dtype is torch.float32

    def test_what_is_not_safe(self):
        x = torch.rand(3, device="npu")
        with torch.autocast("npu"), pytest.raises(RuntimeError, match="BCELoss are unsafe to autocast"):
            torch.nn.functional.binary_cross_entropy(x, x)

    def test_only_tensors_of_the_device_are_cast(self):
        host = torch.ones(2, 2)
        with torch.autocast("npu"):
            assert (host @ host).dtype is torch.float32
            with torch.autocast("cpu"):
                assert (host @ host).dtype is torch.bfloat16
                assert (host.npu() @ host.npu()).dtype is torch.float16
        with torch.autocast("cpu"):
            assert (host.npu() @ host.npu()).dtype is torch.float32

    def test_a_dtype_that_is_given(self):
        with torch.autocast("npu"):
            assert lower(3).softmax(0, torch.float64).dtype is torch.float64
            assert lower(3).sum(dtype=torch.float16).dtype is torch.float16
            assert torch.ones(3, device="npu", dtype=torch.int32).sum().dtype is torch.int64

    def test_settings(self):
        assert torch.get_autocast_dtype("npu") is torch.float16 and torch.amp.is_autocast_available("npu")
        assert not torch.is_autocast_enabled("npu")
        with torch.amp.autocast("npu", dtype=torch.bfloat16):
            assert torch.is_autocast_enabled("npu") and torch.get_autocast_dtype("npu") is torch.bfloat16
            assert (torch.ones(2, 2, device="npu") @ torch.ones(2, 2, device="npu")).dtype is torch.bfloat16
        with torch.npu.amp.autocast():
            assert torch.get_autocast_dtype("npu") is torch.float16
        assert torch.npu.get_amp_supported_dtype() == [torch.float16, torch.bfloat16, torch.float32]
        with pytest.warns(UserWarning, match="In npu autocast, but the target dtype is not supported. Disabling"):
            block = torch.autocast("npu", dtype=torch.float64)
        with block:
            assert not torch.is_autocast_enabled("npu")

    def test_weights_are_cast_once(self):
        weight = torch.ones(2, 2, device="npu", requires_grad=True)
        with torch.autocast("npu"):
            one, other = weight @ weight.detach(), weight @ weight.detach()
        nodes = [each.grad_fn.next_functions[0][0] for each in (one, other)]
        assert nodes[0] is nodes[1]
        (one + other).sum().backward()
        assert weight.grad.dtype is torch.float32 and weight.grad.tolist() == [[4.0, 4.0]] * 2

    @pytest.mark.parametrize("reentrant", [False, True])
    def test_checkpoints_run_again_as_they_did(self, reentrant):
        layer, seen = torch.nn.Linear(3, 3).npu(), []

        def part(x):
            y = torch.nn.functional.dropout(layer(x), 0.5)
            seen.append((y.dtype, y.detach().tolist()))
            return y

        x = torch.ones(4, 3, device="npu", requires_grad=True)
        with torch.autocast("npu"), torch.utils.checkpoint.set_checkpoint_early_stop(False):
            y = torch.utils.checkpoint.checkpoint(part, x, use_reentrant=reentrant)
        torch.rand(3, device="npu")
        state = torch.npu.get_rng_state()
        y.sum().backward()
        assert len(seen) == 2 and seen[0] == seen[1] and seen[0][0] is torch.float16
        assert torch.equal(torch.npu.get_rng_state(), state)


# -------------------- scaled losses --------------------


def trained(device, init_scale, autocast, steps=8):
    """What the scale was at each step, the losses, and the weights at the end."""
    with torch.device("cpu"):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).to(device)
        data = torch.randn(16, 4).to(device)
    optimizer = torch.optim.Adam(model.parameters(), 0.05)
    scaler = torch.amp.GradScaler(device, init_scale=init_scale, growth_interval=3)
    scales, losses = [], []
    for _ in range(steps):
        optimizer.zero_grad()
        with torch.autocast(device, enabled=autocast):
            loss = (model(data) - 1).square().mean() * 16
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
        losses.append(loss.item())
    assert scaler._scale.device.type == device
    return scales, losses, [each.detach().cpu() for each in model.parameters()]


def test_gradients_that_are_not_finite_skip_the_step():
    """The scale is too large for the first steps: it shrinks, and the weights stay as they are."""
    scales, losses, weights = trained("npu", 2.0**127, autocast=False)
    expected_scales, expected_losses, expected = trained("cpu", 2.0**127, autocast=False)
    assert scales == expected_scales and scales[0] == 2.0**126
    assert losses == pytest.approx(expected_losses, rel=1e-4) and losses[0] == losses[1]
    for one, other in zip(weights, expected):
        assert torch.allclose(one, other, atol=1e-4)


def test_training_in_half_precision():
    scales, losses, _ = trained("npu", 2.0**16, autocast=True, steps=20)
    assert losses[-1] < losses[0] / 2 and max(scales) > 1


def test_gradients_of_several_devices():
    weights = [torch.ones(2, device=f"npu:{index}", requires_grad=True) for index in (0, 1)]
    scaler = torch.amp.GradScaler("npu", init_scale=4.0)
    optimizer = torch.optim.SGD(weights, 1.0)
    for weight in weights:
        scaler.scale(weight.sum()).backward()
    scaler.step(optimizer)
    assert [weight.tolist() for weight in weights] == [[0.0, 0.0]] * 2


def test_half_gradients_are_refused():
    weight = torch.ones(2, device="npu", dtype=torch.float16, requires_grad=True)
    scaler = torch.amp.GradScaler("npu")
    scaler.scale(weight.sum()).backward()
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients."):
        scaler.unscale_(torch.optim.SGD([weight], 0.1))
