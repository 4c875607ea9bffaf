"""Names that programs for NPUs use: the accelerator, streams, random numbers, pinned memory, copies, files."""

import copy
import io
import pickle

import numpy as np
import pytest

import mindtorch as torch
from mindtorch._support import warnings
from mindtorch.backends.npu import launch
from mindtorch.utils.data import DataLoader, TensorDataset
from tests.npu import simulator


@pytest.fixture
def x():
    return torch.arange(6.0).reshape(2, 3).npu()


class TestAccelerator:
    def test_what_it_is(self):
        accelerator = torch.accelerator
        assert accelerator.is_available() and accelerator.device_count() == 2
        assert accelerator.current_accelerator() == torch.device("npu")
        assert torch.get_device_module() is torch.get_device_module("npu:1") is torch.npu
        assert torch.get_device_module("cpu") is torch.cpu
        assert torch.bfloat16 in accelerator.get_device_capability()["supported_dtypes"]

    def test_numbers_mean_its_devices(self, x):
        assert torch.device(1) == torch.device("npu:1") and x.to(0) is x
        assert x.to(1).device.index == x.npu(1).device.index == torch.ones(1, device=1).device.index == 1
        assert torch.nn.Linear(1, 1).npu(torch.device("npu:1")).bias.device.index == 1

    def test_the_current_device(self):
        accelerator = torch.accelerator
        accelerator.set_device_index("npu:1")
        try:
            assert accelerator.current_device_index() == torch.npu.current_device() == 1
            assert torch.ones(1, device="npu").device.index == accelerator.current_stream().device_index == 1
        finally:
            accelerator.set_device_index(0)
        with accelerator.device_index(1), torch.npu.device(0):
            assert accelerator.current_device_index() == 0
        with accelerator.device_index(None):
            assert accelerator.current_device_index() == 0
        for wrong in ("cuda:0", torch.device("cpu")):
            with pytest.raises(ValueError, match="doesn't match the current accelerator npu."):
                accelerator.set_device_index(wrong)
        with pytest.raises(ValueError, match="Expected a torch.device with a specified index or an integer"):
            accelerator.set_device_index("npu")

    def test_memory(self, x):
        accelerator = torch.accelerator
        names = "memory_allocated max_memory_allocated memory_reserved max_memory_reserved memory_stats".split()
        for name in names:
            assert getattr(accelerator, name)(0) == getattr(torch.npu, name)("npu:0")
        before = accelerator.memory_allocated()
        kept = torch.empty(1 << 20, device="npu")
        assert kept.nbytes <= accelerator.memory_allocated() - before < kept.nbytes + 1024
        accelerator.reset_peak_memory_stats()
        del kept
        assert accelerator.max_memory_allocated() > accelerator.memory_allocated() == before
        accelerator.reset_accumulated_memory_stats()
        assert accelerator.get_memory_info() == torch.npu.mem_get_info()
        accelerator.empty_cache()
        accelerator.empty_host_cache()
        accelerator.synchronize()

    def test_default_devices(self):
        with torch.device("npu:1"):
            assert torch.randn(2).device == torch.tensor([1.0]).device == torch.device("npu:1")
        before = torch.get_default_device()
        torch.set_default_device("npu")
        try:
            assert torch.ones(2).is_npu and torch.nn.Linear(2, 2).weight.is_npu
        finally:
            torch.set_default_device(before)


class TestStreams:
    def test_of_any_device(self, x):
        stream, event = torch.Stream("npu"), torch.Event("npu", enable_timing=True)
        assert type(stream) is torch.npu.Stream and isinstance(stream, torch.Stream)
        assert type(torch.Stream()) is torch.npu.Stream and type(torch.Stream("cpu")) is torch.Stream
        end = torch.Event(enable_timing=True)
        with stream:
            assert torch.accelerator.current_stream() == stream == torch.npu.current_stream()
            event.record()
            y = x @ x.t()
            end.record(stream)
        assert torch.npu.current_stream() == torch.npu.default_stream()
        end.synchronize()
        assert end.query() and event.elapsed_time(end) > 0 and y[0, 0].item() == 5
        assert not torch.npu.is_current_stream_capturing() and not stream.is_capturing()

    @pytest.mark.parametrize("records", [True, False])
    def test_memory_that_another_stream_uses(self, records):
        """A block is given out again at once, unless another stream may be working with it."""
        device, stream = simulator.start(), torch.npu.Stream()
        kept = torch.full((1000,), 2.0, device="npu")
        address = kept.data_ptr()
        kept.record_stream(torch.npu.current_stream())  # its own: nothing to note
        if records:
            kept[10:].record_stream(stream)
        torch.npu.synchronize()
        with device.paused(stream.npu_stream):
            with torch.npu.stream(stream):
                torch.ones(3, device="npu")
            del kept
            assert (torch.empty(1000, device="npu").data_ptr() == address) is not records
        torch.npu.synchronize()

    def test_what_has_no_streams(self):
        with pytest.raises(NotImplementedError, match="aten::record_stream"):
            torch.ones(2).record_stream(torch.npu.Stream())
        with pytest.raises(RuntimeError, match="not linked with support for cuda devices"):
            torch.Stream("cuda")

    def test_graphs_are_refused(self):
        for make in (torch.npu.NPUGraph, lambda: torch.npu.graph(None), torch.npu.graph_pool_handle):
            with pytest.raises(NotImplementedError, match="cannot be captured"):
                make()


class TestRandomNumbers:
    def test_a_seed_for_all(self):
        torch.manual_seed(5)
        first = [torch.rand(3, device=f"npu:{index}").tolist() for index in (0, 1)]
        torch.manual_seed(5)
        assert [torch.rand(3, device=f"npu:{index}").tolist() for index in (0, 1)] == first
        torch.npu.manual_seed_all(5)
        assert torch.rand(3, device="npu:1").tolist() == first[1]
        assert torch.npu.initial_seed() == 5 and len(torch.npu.default_generators) == 2
        assert torch.npu.default_generators[1].device == torch.device("npu:1")

    def test_what_takes_numbers_of_devices(self):
        assert not torch.futures.Future(devices=[0, 1]).done()
        parallel, net, x = torch.nn.parallel, torch.nn.Linear(2, 2).npu(), torch.ones(2, 2, device="npu")
        assert torch.nn.DataParallel(net)(x).equal(net(x))
        for call in (
            lambda: parallel.scatter(x, [0, 1]),
            lambda: parallel.gather([x, x], 0),
            lambda: parallel.replicate(net, [0, 1]),
            lambda: parallel.parallel_apply([net], [x]),
            lambda: parallel.data_parallel(net, x, [0, 1]),
        ):
            with pytest.raises(RuntimeError, match="several npu devices .* DistributedDataParallel"):
                call()

    def test_sparse_tensors_are_refused(self):
        indices, values = torch.tensor([[0, 1]]), torch.ones(2)
        for given in ((indices.npu(), values.npu()), (indices, values.npu())):
            for size in ((), ((2,),)):
                with pytest.raises(NotImplementedError, match="from the 'SparseNPU' backend"):
                    torch.sparse_coo_tensor(*given, *size)

    def test_forks(self):
        for options in ({"device_type": "npu", "devices": [0, 1]}, {"devices": range(2)}):
            with torch.random.fork_rng(**options):
                inside = [torch.rand(2, device=device).tolist() for device in ("cpu", "npu:0", "npu:1")]
            assert [torch.rand(2, device=device).tolist() for device in ("cpu", "npu:0", "npu:1")] == inside
        warnings._given.discard("fork_rng")
        with pytest.warns(UserWarning, match="NPU reports that you have 2 available devices") as caught:
            for caller in ("fork_rng", "another"):
                with torch.random.fork_rng(_caller=caller, device_type="npu"):
                    torch.rand(2, device="npu")
        assert len(caught) == 1
        with torch.random.fork_rng([], device_type="npu"):
            one = torch.rand(2, device="npu")
        assert not torch.equal(one, torch.rand(2, device="npu"))

    def test_generators(self):
        generator = torch.Generator(device="npu").manual_seed(3)
        state = generator.get_state()
        first = torch.rand(4, device="npu", generator=generator)
        assert torch.equal(first, torch.rand(4, device="npu", generator=generator.set_state(state)))
        assert generator.clone_state().get_state().equal(generator.get_state())
        with pytest.raises(RuntimeError, match="Expected a 'npu' device type for generator but found 'cpu'"):
            torch.rand(2, device="npu", generator=torch.Generator())

    @pytest.mark.parametrize(
        "draw",
        [
            lambda g: torch.rand(3, generator=g),
            lambda g: torch.randn(3, generator=g),
            lambda g: torch.randn(40, generator=g),
            lambda g: torch.randint(9, (3,), generator=g),
            lambda g: torch.randperm(5, generator=g),
            lambda g: torch.bernoulli(torch.rand(3), generator=g),
            lambda g: torch.multinomial(torch.rand(3), 2, generator=g),
            lambda g: torch.empty(3).exponential_(generator=g),
            lambda g: torch.empty(3).random_(generator=g),
        ],
    )
    def test_generators_of_the_npu_draw_nothing_for_the_cpu(self, draw):
        with torch.device("cpu"), pytest.raises(RuntimeError, match="Expected a 'cpu' device type for generator"):
            draw(torch.Generator(device="npu"))


# Factories that take `pin_memory`, with what they take besides.
PINNING = [
    *[(name, (2, 3)) for name in ("empty", "zeros", "ones", "rand", "randn", "new_empty", "new_zeros", "new_ones")],
    *[(name,) for name in ("empty_like", "zeros_like", "ones_like", "rand_like", "randn_like")],
    *[("full", (2,), 7.0), ("new_full", (2,), 7.0), ("full_like", 7.0), ("new_empty_strided", (2,), (3,))],
    *[("arange", 3.0), ("arange", 1.0, 5), ("arange", 1, 5, 2.5), ("linspace", 0, 1, 3), ("logspace", 0, 1, 3)],
    *[("empty_strided", (2, 3), (1, 2)), ("empty_permuted", (2, 3), (1, 0)), ("eye", 2), ("normal", 0.0, 1.0, (2,))],
    *[("hann_window", 4), ("kaiser_window", 4), ("bartlett_window", 4)],
]


class TestPinnedMemory:
    def test_copies(self):
        for host in (torch.arange(6.0).view(2, 3), torch.arange(6).view(2, 3).t(), torch.empty(0, 3), torch.tensor(3)):
            pinned = host.pin_memory()
            assert pinned.is_pinned() and not host.is_pinned() and pinned.pin_memory() is pinned
            assert torch.equal(pinned, host) and pinned.stride() == host.stride()
            assert pinned.untyped_storage().nbytes() == host.nbytes and pinned.untyped_storage().is_pinned()
            assert torch.equal(pinned.npu(non_blocking=True).cpu(), host)
        back = torch.empty(6).pin_memory()
        back.copy_(torch.arange(6.0).npu(), non_blocking=True)
        torch.npu.synchronize()
        assert back.tolist() == list(range(6)) and back[2:].is_pinned()
        assert not torch.ones(2).npu().is_pinned()

    def test_factories(self):
        host = torch.ones(2, 3).t()
        for name, *args in PINNING:
            make = getattr(host if name.startswith("new_") else torch, name)
            given = [host, *args] if name.endswith("_like") else args
            torch.manual_seed(1)
            expected = make(*given, requires_grad=True)
            torch.manual_seed(1)
            pinned = make(*given, pin_memory=True, requires_grad=True)
            assert pinned.is_pinned() and not expected.is_pinned() and pinned.requires_grad and pinned.is_leaf, name
            assert pinned.stride() == expected.stride() and pinned.dtype is expected.dtype, name
            assert "empty" in name or torch.equal(pinned, expected), name
            assert not make(*given, pin_memory=None).is_pinned(), name
            with pytest.raises(RuntimeError, match="Only dense CPU tensors can be pinned"):
                make(*given, pin_memory=True, device="npu")
        assert torch.tensor([1, 2], pin_memory=True).is_pinned()

    def test_factories_after_tensors_and_defaults(self, x):
        """The tensor that is to be like decides where the result is, not the default device."""
        assert torch.zeros_like(x, device="cpu", pin_memory=True).is_pinned()
        assert x.new_ones(2, device="cpu", pin_memory=True).tolist() == [1, 1]
        host = torch.ones(2, device="cpu")
        for make in (torch.zeros_like, torch.rand_like):
            with pytest.raises(RuntimeError, match="Only dense CPU tensors can be pinned"):
                make(x, pin_memory=True)
            with torch.device("npu"):
                assert make(host, device="cpu", pin_memory=True).is_pinned()
        with torch.device("npu"), pytest.raises(RuntimeError, match="Only dense CPU tensors can be pinned"):
            torch.arange(3, pin_memory=True)

    def test_gradients_pass(self):
        weight = torch.ones(2, requires_grad=True)
        (weight.pin_memory().npu() * 3).sum().backward()
        assert weight.grad.tolist() == [3.0, 3.0]

    def test_only_memory_of_the_cpu(self, x):
        with pytest.raises(RuntimeError, match=r"cannot pin 'torch.npu.FloatTensor' only dense CPU tensors"):
            x.pin_memory()

    @pytest.mark.parametrize("workers", [0, 1])
    def test_loaders(self, workers):
        data = TensorDataset(torch.arange(6.0), torch.arange(6))
        for values, numbers in DataLoader(data, batch_size=3, pin_memory=True, num_workers=workers):
            assert values.is_pinned() and numbers.is_pinned()
            assert torch.equal(values.npu(non_blocking=True).cpu(), values)
        with pytest.warns(UserWarning, match="pin_memory_device is deprecated"):
            iter(DataLoader(data, pin_memory=True, pin_memory_device="npu"))


class TestTensors:
    def test_types(self, x):
        assert x.type() == "torch.npu.FloatTensor" and isinstance(x, torch.npu.FloatTensor)
        assert not isinstance(x, torch.FloatTensor) and not isinstance(x.cpu(), torch.npu.FloatTensor)
        assert torch.npu.IntTensor([1, 2]).type() == "torch.npu.IntTensor" and torch.npu.HalfTensor(2, 3).is_npu
        assert x.cpu().type("torch.npu.HalfTensor").type() == "torch.npu.HalfTensor"
        assert x.type(torch.DoubleTensor).type() == "torch.DoubleTensor" and x.type(torch.float64).is_npu
        for name in "BFloat16 Bool Byte Char Double Float Half Int Long Short".split():
            assert getattr(torch.npu, f"{name}Tensor")(2).type() == f"torch.npu.{name}Tensor"

    def test_moves(self, x):
        assert x.npu() is x and x.to("npu:1").to("npu:0").tolist() == x.tolist() and x.get_device() == 0
        with pytest.raises(RuntimeError, match="must be npu device"):
            x.npu("cpu")
        assert repr(x.to("npu:1")[0]) == "tensor([0., 1., 2.], device='npu:1')"

    def test_copies_and_files(self, x):
        x[0].mul_(2)
        for twin in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
            assert twin.device == x.device and torch.equal(twin, x) and twin.data_ptr() != x.data_ptr()
        places = {None: "npu:0", "cpu": "cpu", "npu:1": "npu:1", torch.device("npu", 1): "npu:1"}
        places[lambda storage, location: storage] = "cpu"
        for location, expected in places.items():
            file = io.BytesIO()
            torch.save({"x": x, "part": x[1]}, file)
            file.seek(0)
            found = torch.load(file, map_location=location)
            assert str(found["x"].device) == expected and torch.equal(found["x"].cpu(), x.cpu())
            assert found["part"].untyped_storage()._cdata == found["x"].untyped_storage()._cdata
        file = io.BytesIO()
        torch.save(torch.ones(2), file)
        file.seek(0)
        assert torch.load(file, map_location={"cpu": "npu:1"}).device.index == 1

    def test_what_numpy_and_others_cannot_have(self, x):
        for ask in (np.asarray, np.array, torch.Tensor.numpy):
            with pytest.raises(TypeError, match="can't convert npu:0 device type tensor to numpy. Use Tensor.cpu()"):
                ask(x)
        with pytest.raises(BufferError):
            x.__dlpack__()
        for ask in (torch.from_dlpack, torch.Tensor.__dlpack_device__):
            with pytest.raises(ValueError, match="Unknown device type npu for Dlpack"):
                ask(x)
        with pytest.raises(RuntimeError, match="only available on CPU"):
            x.share_memory_()


class TestSettings:
    """What is accepted has an effect, or is said to have none."""

    @pytest.mark.parametrize(
        ("setting", "own", "function"),
        [
            (torch.npu.matmul, lambda a: a @ a, "aclnnMm"),
            (torch.npu.conv, lambda a: torch.nn.functional.conv1d(a[None], a[:, :, None]), "aclnnConvolution"),
        ],
    )
    def test_fewer_bits(self, setting, own, function, monkeypatch):
        """The last argument but results of these functions is CANN's cubeMathType."""
        given = []
        described = launch.aclnn.described

        def noted(call, values):
            given.append((call.name, [each for each in values if type(each) is int and each in (0, 1)][-1:]))
            return described(call, values)

        monkeypatch.setattr(launch.aclnn, "described", noted)
        x = torch.ones(2, 2, device="npu")
        other = torch.npu.conv if setting is torch.npu.matmul else torch.npu.matmul
        for allowed in (False, True):
            setting.allow_hf32, other.allow_hf32 = allowed, not allowed
            try:
                own(x)
            finally:
                setting.allow_hf32 = other.allow_hf32 = False
        assert [value for name, value in given if name == function] == [[0], [1]]

    def test_types_of_settings(self):
        with pytest.raises(TypeError):
            torch.npu.conv.allow_hf32 = 1
        torch.npu.set_compile_mode(jit_compile=False)
        torch.npu.config.allow_internal_format = False
        assert torch.npu.is_jit_compile_false()

    def test_reports(self, x):
        assert "Allocated memory" in torch.npu.memory_summary() and torch.npu.memory_snapshot()
        free, total = torch.npu.mem_get_info()
        assert 0 < free < total == torch.npu.get_device_properties(1).total_memory
        assert torch.npu.get_device_properties().name == torch.npu.get_device_name()
        with pytest.raises(NotImplementedError, match="npu-smi"):
            torch.npu.utilization()
