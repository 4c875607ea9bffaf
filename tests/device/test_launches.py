"""What launches leave behind on the simulated NPU, and what they ask of the runtime besides the two calls of ACLNN."""

import gc
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

import mindtorch as torch
from mindtorch.backends.npu.runtime import allocator, descriptors, device
from mindtorch.dispatch.registry import kernel_table
from tests.device.conftest import IS_NPU
from tests.device.sweep import cases, moved
from tests.harness import ADVICE, function_of, outcome, sampled_ops, tensors_in, variant
from tests.npu import simulator
from tests.npu.helpers import in_a_process

pytestmark = pytest.mark.skipif(not IS_NPU, reason="of the NPU's runtime")
STEPS = int(os.environ.get("MINDTORCH_STEPS", "300"))
NUMBERS = 2 * 1024  # of which descriptors are kept
KEPT = ("tensors", "arrays", "lists", "executors", "streams", "events", "blocks", "bytes")


@pytest.fixture
def simulated():
    """The device, on which nothing may be used that was destroyed."""
    found = simulator.start()
    torch.npu.synchronize()
    found.violations()
    yield found
    torch.npu.synchronize()
    assert found.violations() == []


# -------------------- every op --------------------


def _runs_on_npu(op):
    return "NPU" in (op.dispatch or {})


def _is_generated(op):
    kernel = kernel_table(op.name).get(type(torch.empty(0, device="npu")._mt_array))
    module = getattr(kernel, "__module__", "")
    return module.startswith("mindtorch._generated.kernels.npu") and ".by_hand." not in module


def _asked_for(device, function, args, kwargs):
    """How often a call that was made before asks the runtime for anything but its launches; None if it makes none."""
    if any(outcome(function, args, kwargs).error for _ in range(3)):
        return None
    if outcome(torch.npu.synchronize, (), {}).error:  # what the evaluator cannot do
        simulator.recover()
        return None
    launches, others = device.stats()["launches"], device.calls("acl*") - device.calls("aclnn*")
    result = function(*args, **kwargs)
    launches, others = device.stats()["launches"] - launches, device.calls("acl*") - device.calls("aclnn*") - others
    del result
    return others if launches else None


@pytest.mark.filterwarnings(*[f"ignore:{text}" for text in ADVICE], "ignore:CAUTION", "ignore:An output with")
def test_launches_ask_for_nothing_else(simulated):
    """No descriptor is made, no memory asked for and no stream waited for, when a call is made again."""
    found, seen = {}, set()
    for op in sampled_ops():
        names = {form.name for form in (op, variant(op, "inplace")) if form and _runs_on_npu(op)}
        for text, form, args, kwargs in cases(op) if names else ():
            if names <= seen:
                break
            if form.name in seen or not all(each.numel() for each in tensors_in(torch, [args, kwargs])):
                continue
            asked = _asked_for(simulated, function_of(torch, form), *moved([args, kwargs], "npu"))
            if asked is not None and _is_generated(op):
                seen.add(form.name)
                if asked:
                    found[form.name] = asked, text
    assert found == {}
    assert len(seen) > 300


# -------------------- descriptors of what is no more --------------------


def test_a_block_serves_arrays_of_all_kinds(simulated):
    """More of them than a block keeps descriptors of, one after the other and, as views, at the same time."""
    for size in (*range(1, 25), *range(24, 0, -1)):
        for dtype in (torch.float32, torch.int32, torch.int64):
            x = torch.arange(size, device="npu").to(dtype)
            assert (x + x).tolist() == [2 * i for i in range(size)]
    base = torch.arange(40.0, device="npu")
    views = [base[i : i + 2] for i in range(38)]
    for _ in range(2):
        assert [float((view * 1).sum()) for view in views] == [2 * i + 1 for i in range(38)]


def test_a_storage_that_is_resized_has_other_memory(simulated):
    """Also when it comes back to the memory that it had, with another size."""
    x = torch.arange(4.0, device="npu")
    half = x[2:]
    storage = x.untyped_storage()
    for nbytes in (4096, 16, 8192, 24, 1 << 21, 16):
        (x + 1, half + 1)
        storage.resize_(nbytes)
        assert (x + 1).tolist() == [1, 2, 3, 4]
        assert (half * half).tolist() == [4, 9]
        half.mul_(1)
        x.mul_(x).sqrt_()
        assert x.tolist() == [0, 1, 2, 3]


def test_memory_that_was_given_back_comes_back(simulated):
    for size in (1, 300_000, 3, 3_000_000, 2):
        x = torch.full((size,), 2.0, device="npu")
        assert float((x * x).sum()) == 4 * size
        del x
        torch.npu.empty_cache()
        assert simulated.stats()["violations"] == 0
    assert torch.npu.memory_allocated() == _allocated()


def _allocated():
    """The bytes in use by the blocks of the snapshot."""
    return sum(segment["allocated_size"] for segment in torch.npu.memory_snapshot())


def test_numbers_are_not_destroyed_that_a_call_was_just_given(simulated):
    """When there are too many, the oldest end: also if one of them is in the call that makes another."""
    x = torch.arange(4.0, device="npu")
    for number in range(3000):
        found = torch.clamp(x, 1.5, 2 + number)
    assert found.tolist() == [1.5, 1.5, 2, 3]


def test_threads_share_descriptors(simulated):
    shared = torch.arange(6.0, device="npu")
    wrong = []

    def work(number):
        for i in range(60):
            part = shared[i % 5 :] + number
            joined = torch.cat([part, shared[: i % 5 + 1], part * 2])
            if float(joined[0]) != i % 5 + number or len(joined) != 2 * (6 - i % 5) + i % 5 + 1:
                wrong.append((number, i, joined.tolist()))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_no_memory_for_a_workspace(simulated):
    """The executor, which the first phase has made, ends without the second one."""
    torch.npu.empty_cache()
    size = (2 << 20) - 512  # with what is added at the end, all of a segment
    x = torch.empty(size // 4, device="npu")
    out = torch.empty(size // 4, device="npu")
    torch.add(x, x, out=out)  # needs a workspace
    torch.npu.synchronize()
    torch.npu.empty_cache()
    before = simulated.stats()["executors"]
    with simulated.limited_memory(simulated.stats()["bytes"]):
        with pytest.raises(torch.OutOfMemoryError):
            torch.add(x, x, out=out)
    assert simulated.stats()["executors"] == before == 0
    torch.add(x, x, out=out)


def test_a_finalizer_may_launch_between_the_phases(simulated, monkeypatch):
    """Asking for memory may run the garbage collector, and that any program."""
    x = torch.arange(4.0, device="npu")
    expected, meanwhile = (x + 1).tolist(), []
    allocate = allocator.Pool.allocate

    def allocate_later(pool, nbytes, own):
        if not meanwhile:
            meanwhile.append(None)
            meanwhile.append((x * 3).tolist())
        return allocate(pool, nbytes, own)

    out = torch.empty(4, device="npu")
    torch.npu.empty_cache()  # no workspace is kept
    monkeypatch.setattr(allocator.Pool, "allocate", allocate_later)
    torch.add(x, 1, out=out)
    assert out.tolist() == expected and meanwhile[1] == [0, 3, 6, 9]


def test_threads_launch_with_one_new_array(simulated, monkeypatch):
    """One of them makes its descriptor, which no other one replaces before the call has it."""
    making, launching = threading.Barrier(2, timeout=0.5), threading.Barrier(2, timeout=20)

    def together(barrier, function):
        def call(*args):
            result = function(*args)
            with suppress(threading.BrokenBarrierError):  # the other one may have nothing to make
                barrier.wait()
            return result

        return call

    outs = [torch.empty(3, 2, device="npu") for _ in range(2)]
    torch.mul(outs[0], 3, out=outs[1]), torch.mul(outs[1], 3, out=outs[0])
    x = torch.ones(2, 3, device="npu").t()
    monkeypatch.setattr(descriptors, "_new_tensor", together(making, descriptors._new_tensor))
    monkeypatch.setattr(device, "use", together(launching, device.use))
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda out: torch.mul(x, 3, out=out), outs))
    monkeypatch.undo()
    assert [out.tolist() for out in outs] == [[[3, 3]] * 3] * 2


# -------------------- asynchronous --------------------


def test_a_thousand_launches_are_queued(simulated):
    """Nothing waits for the device: neither results nor numbers, joining, in-place ops and gradients."""
    weight = torch.ones(4, device="npu", requires_grad=True)
    x = torch.arange(4.0, device="npu")

    def step():
        y = torch.where(x > 1, x, 0.0) * weight
        y = torch.cat([y, y.exp_().clamp(0, 1)]).softmax(0)
        (y.view(2, 4).sum(0) @ x.t()).backward()
        with torch.no_grad():
            weight.sub_(weight.grad, alpha=0.1)
        weight.grad = None

    step()
    torch.npu.synchronize()
    with simulated.paused():
        waits, before = simulated.stats()["synchronizations"], simulated.stats()["launches"]
        while simulated.stats()["launches"] - before < 1000:
            step()
        assert simulated.pending(None) >= 1000
        assert simulated.stats()["synchronizations"] == waits
    torch.npu.synchronize()
    assert simulated.pending(None) == 0 and torch.isfinite(weight).all()


# -------------------- long programs --------------------


def _training(device):
    """A step of a small network with Adam."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 2)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    x, y = torch.randn(8, 4, device=device), torch.randn(8, 2, device=device)

    def step():
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return step


@pytest.mark.filterwarnings("ignore:CAUTION")
def test_training_leaves_nothing_behind(simulated):
    """Without the garbage collector, in as many steps as MINDTORCH_STEPS says: nothing becomes more."""
    gc.collect()
    gc.disable()
    try:
        step = _training("npu")
        losses = [step().item() for _ in range(40)]
        before, reserved, allocated = _kept(simulated), torch.npu.memory_reserved(), torch.npu.memory_allocated()
        for _ in range(STEPS - 1):
            step()
        losses.append(step().item())
        assert _kept(simulated) == before
        assert (torch.npu.memory_reserved(), torch.npu.memory_allocated()) == (reserved, allocated)
        assert allocated == _allocated()
        assert losses[-1] < losses[39] < losses[0]
    finally:
        gc.enable()


def _kept(device):
    torch.npu.synchronize()
    stats = device.stats()
    assert stats["scalars"] <= NUMBERS  # Adam has other ones in each step
    return {name: stats[name] for name in KEPT}


def test_nothing_is_left_at_exit():
    """Whatever programs still have: tensors, lists, views, streams."""
    result = in_a_process("""
        import atexit
        from tests.npu import simulator
        device = simulator.start()
        atexit.register(lambda: print(device.leaks(), device.violations(), flush=True))
        import mindtorch as torch
        from tests.device.test_launches import _training
        step = _training("npu")
        kept = [step() for _ in range(3)]
        kept += [torch.stack(kept), torch.cat([kept[0].view(1), kept[1].view(1)])[1:] * 2]
        with torch.npu.stream(torch.npu.Stream()):
            kept += [torch.ones(3, device="npu")[1:] * 2]
    """)
    assert result.stdout.splitlines()[-1:] == ["{} []"], result.stderr[-2000:]
