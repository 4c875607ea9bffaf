"""What programs call around training: devices that are not there, settings, profiler, benchmarks, old names."""

import contextlib
import io
import json
from importlib import import_module

import pytest

import mindtorch
import mindtorch.distributed.fsdp
import mindtorch.distributed.rpc
from tests.parity.support.figures import figures
from tests.parity.support.programs import assert_same

program, test_program = figures()

CALLS = {
    "arch": lambda T: T.cuda.get_arch_list(),
    "device module": lambda T: T.get_device_module("cpu").__name__.rpartition(".")[2],
    "device 0": lambda T: T.cuda.device(0).__enter__(),
    "no device": lambda T: T.cuda.device(-1).__enter__(),
    "device of": lambda T: T.cuda.device_of(T.ones(1)).__enter__(),
    "no stream": lambda T: T.cuda.stream(None).__enter__(),
    "stream": lambda T: T.cuda.Stream(),
    "default stream": lambda T: T.cuda.default_stream(),
    "graph": lambda T: T.cuda.CUDAGraph(),
    "event": lambda T: T.cuda.Event(enable_timing=True),
    "tensor": lambda T: T.cuda.FloatTensor([1.0]),
    "type": lambda T: isinstance(T.ones(1), T.cuda.FloatTensor),
    "nvtx": lambda T: T.cuda.nvtx.range_push("a"),
    "collect": lambda T: T.cuda.ipc_collect(),
    "stats": lambda T: dict(T.cuda.memory_stats()),
    "tf32": lambda T: T.cuda.is_tf32_supported(),
    "random states": lambda T: T.cuda.random.get_rng_state_all(),
    "set state": lambda T: T.cuda.set_rng_state(T.ones(1)),
    "old decorator": lambda T: T.cuda.amp.custom_fwd(cast_inputs=T.float32).func.__name__,
    "old autocast": lambda T: T.cpu.amp.autocast(enabled=False).device,
    "cpu": lambda T: (T.cpu.is_available(), T.cpu.device_count(), T.cpu.current_device(), T.cpu.synchronize()),
    "flash": lambda T: (T.backends.cuda.flash_sdp_enabled(), T.backends.cuda.enable_flash_sdp(True)),
    "old choice of attention": lambda T: _inside(T, T.backends.cuda.sdp_kernel(enable_flash=False)),
    "choice of attention": lambda T: _inside(T, T.nn.attention.sdpa_kernel(T.nn.attention.SDPBackend.MATH)),
    "choices": lambda T: _inside(T, T.nn.attention.sdpa_kernel([T.nn.attention.SDPBackend.FLASH_ATTENTION])),
    "wrong choice": lambda T: _inside(T, T.nn.attention.sdpa_kernel(3)),
    "names of choices": lambda T: (str(T.nn.attention.SDPBackend.MATH), repr(T.nn.attention.SDPBackend.MATH)),
    "sharing": lambda T: T.multiprocessing.set_sharing_strategy("file_descriptor"),
    "no process group": lambda T: T.nn.parallel.DistributedDataParallel(T.nn.Linear(2, 2)),
    "sparse type": lambda T: T.sparse.FloatTensor(T.tensor([[0], [1]]), T.ones(1), T.Size([2, 2])).to_dense(),
    "empty sparse type": lambda T: T.sparse.DoubleTensor(2, 3).dtype,
    "is a sparse type": lambda T: isinstance(T.eye(2).to_sparse(), (T.sparse.LongTensor, T.sparse.FloatTensor)),
    "spmm": lambda T: T.spmm(T.eye(2).to_sparse(), T.ones(2, 3)),
}


def _inside(T, context):
    with context:
        return T.nn.functional.scaled_dot_product_attention(*[T.ones(1, 1, 3, 4)] * 3)


@pytest.mark.parametrize("name", CALLS)
def test_call(name):
    assert_same(CALLS[name])


# -------------------- profiler --------------------


@program
def profile_of_ops(T):
    x = T.ones(4, 4)
    with T.profiler.profile(activities=[T.profiler.ProfilerActivity.CPU], record_shapes=True) as profile:
        with T.profiler.record_function("mine"):
            for _ in range(3):
                x @ x
    by_name = {event.key: event for event in profile.key_averages(group_by_input_shape=True)}
    parents = [event.cpu_parent.name for event in profile.events() if event.name == "aten::matmul"]
    product = by_name["aten::mm"]
    table = profile.key_averages().table(sort_by="cpu_time_total", row_limit=3)
    return [
        product.count, product.input_shapes, product.cpu_time_total >= product.self_cpu_time_total > 0, parents,
        by_name["mine"].count, table.splitlines()[1].split(), "Self CPU time total" in table,
    ]  # fmt: skip


@program
def profile_by_a_schedule(T):
    ready = []
    schedule = T.profiler.schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    note = lambda profile: ready.append(profile.step_num)  # noqa: E731
    with T.profiler.profile(schedule=schedule, on_trace_ready=note) as profile:
        for _ in range(12):
            T.ones(2) + 1
            profile.step()
    return [ready, [schedule(step).name for step in range(12)]]


@program
def old_profiler(T):
    with T.autograd.profiler.profile() as profile:
        T.ones(2).sum()
    with T.autograd.profiler.profile(enabled=False) as off:
        T.ones(2).sum()
    return ["aten::sum" in str(profile.key_averages()), profile.self_cpu_time_total > 0, off]


def test_trace_file(tmp_path):
    with mindtorch.profiler.profile() as profile:
        mindtorch.ones(2).exp()
    profile.export_chrome_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert {"aten::ones", "aten::exp"} <= {event["name"] for event in events}


# -------------------- utilities --------------------


@program
def operations_are_counted(T):
    counter = import_module(f"{T.__name__}.utils.flop_counter").FlopCounterMode
    nn = T.nn
    counts = []
    for model, shape in (
        (nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), (5, 3)),
        (nn.Conv2d(2, 4, 3, stride=2), (1, 2, 6, 6)),
        (nn.ConvTranspose1d(2, 4, 3), (1, 2, 6)),
    ):
        with counter(display=False) as counted:
            model(T.ones(shape, requires_grad=True)).sum().backward()
        by_op = {str(op): count for op, count in counted.get_flop_counts()["Global"].items()}
        counts.append([counted.get_total_flops(), sorted(by_op.items())])
    return counts


@program
def timer(T):
    benchmark = import_module(f"{T.__name__}.utils.benchmark")
    measured = benchmark.Timer("x + 1", globals={"x": T.ones(3)}, label="sum").timeit(10)
    repeated = benchmark.Timer("x + 1", globals={"x": T.ones(3)}).blocked_autorange(min_run_time=0.01)
    return [measured.number_per_run, measured.median > 0, measured.mean > 0, len(repeated.times) >= 1]


@program
def scripts_run_as_they_are(T):
    class Model(T.nn.Module):
        def forward(self, x):
            return self.twice(x) + 1

        @T.jit.export
        def twice(self, x):
            return x * 2

    x = T.arange(3.0)
    calls = T.jit.trace(Model(), x), T.jit.trace(lambda x: x * 3, (x,)), T.jit.freeze(T.jit.script(Model().eval()))
    return [call(x + 1).tolist() for call in calls] + [T.jit.is_scripting(), isinstance(Model(), T.jit.ScriptModule)]


def test_what_is_missing_says_so():
    for call, text in (
        (lambda: mindtorch.utils.tensorboard.SummaryWriter(), "pip install tensorboard"),
        (lambda: mindtorch.hub.load("a/b", "c"), "load_state_dict_from_url"),
        (lambda: mindtorch.jit.save(None, "file"), "no TorchScript"),
        (lambda: mindtorch.distributed.rpc.init_rpc("worker"), "not this part of torch.distributed"),
        (lambda: mindtorch.distributed.fsdp.FullyShardedDataParallel(None), "fully_shard"),
        (lambda: mindtorch.ao.quantization.prepare(None), "no quantized tensors"),
    ):
        with pytest.raises((ImportError, NotImplementedError, RuntimeError, ValueError), match=text):
            call()


def test_weights_by_url(tmp_path):
    mindtorch.save({"w": mindtorch.ones(2)}, tmp_path / "weights.pt")
    url = (tmp_path / "weights.pt").as_uri()
    state = mindtorch.hub.load_state_dict_from_url(url, model_dir=str(tmp_path / "cache"))
    assert state["w"].tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="invalid hash value"):
        mindtorch.hub.download_url_to_file(url, str(tmp_path / "other"), hash_prefix="00000000")


def test_table_of_counts():
    text = io.StringIO()
    with contextlib.redirect_stdout(text), mindtorch.utils.flop_counter.FlopCounterMode():
        mindtorch.ones(2, 3) @ mindtorch.ones(3, 4)
    assert "48" in text.getvalue() and "mm" in text.getvalue()
