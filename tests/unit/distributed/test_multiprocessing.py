"""`mindtorch.multiprocessing`: what is sent to a process shares memory with it, however the process is started."""

import ctypes
import gc
import multiprocessing
import os
import signal
import sys
import time
import warnings
import weakref
from functools import partial
from multiprocessing.reduction import ForkingPickler
from multiprocessing.util import Finalize

import pytest

import mindtorch as torch
from mindtorch._core import shared_memory
from mindtorch._core.shared_memory import mapping_of

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")

SECONDS = 60
METHODS = ("fork", "spawn", "forkserver")


@pytest.fixture(autouse=True)
def _threads():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*multi-threaded.*", DeprecationWarning)
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state")
        yield


def everything():
    x = torch.zeros(2, 3)
    return {
        "views": [x, x[1], x.t()],
        "parameter": torch.nn.Parameter(torch.zeros(2)),
        "leaf": torch.ones(1, requires_grad=True),
        "coo": torch.eye(2).to_sparse(),
        "csr": torch.eye(2).to_sparse_csr(),
        "meta": torch.ones(2, device="meta"),
        "empty": torch.ones(0, 3),
        "half": torch.ones(2, dtype=torch.bfloat16),
        "storage": torch.ones(4).untyped_storage(),
        "module": torch.nn.Linear(2, 2),
    }


def facts(got):
    base, row, turned = got["views"]
    return (
        (base.untyped_storage()._cdata == row.untyped_storage()._cdata, row.storage_offset(), turned.stride()),
        (type(got["parameter"]), got["parameter"].requires_grad, got["leaf"].requires_grad),
        (got["coo"].is_coalesced(), got["coo"].to_dense().tolist(), got["csr"].layout, got["csr"].to_dense().tolist()),
        (got["meta"].device.type, tuple(got["empty"].shape), got["half"].tolist(), got["storage"].tolist()),
    )


def write_to(got):
    got["views"][1].fill_(9)
    with torch.no_grad():
        got["parameter"].fill_(3)
        got["module"].weight.fill_(4)
        got["coo"]._values().fill_(5)
    got["storage"].fill_(6)


def written(sent):
    tensors = sent["views"][0], sent["parameter"], sent["module"].weight, sent["coo"]._values()
    return [tensor.tolist() for tensor in tensors], sent["storage"].tolist()


def child(given, inbox, outbox):
    """Writes to what it is given with its start and through a queue, sends part of it back and many new tensors."""
    received = inbox.get()
    outbox.put([facts(given), facts(received)])
    write_to(given)
    write_to(received)
    outbox.put((received["views"][1], [torch.full((10,), float(n)) for n in range(450)], torch.ones(3000)))
    inbox.get()


@pytest.mark.parametrize("method", METHODS)
def test_everything_is_shared(method):
    """And lives on when the sender has ended; 450 tensors take a few descriptors."""
    context = torch.multiprocessing.get_context(method)
    inbox, outbox = context.Queue(), context.Queue()
    given, sent = everything(), everything()
    if method == "fork":  # nothing is sent with the start of a fork
        ForkingPickler.dumps(given)
    process = context.Process(target=child, args=(given, inbox, outbox))
    process.start()
    expected = [facts(sent)] * 2
    inbox.put(sent)
    assert outbox.get(timeout=SECONDS) == expected
    before = len(os.listdir("/proc/self/fd"))
    row, many, large = outbox.get(timeout=SECONDS)
    assert len(os.listdir("/proc/self/fd")) < before + 30
    inbox.put(None)
    process.join(SECONDS)
    assert process.exitcode == 0
    expected = [[[0, 0, 0], [9, 9, 9]], [3, 3], [[4, 4], [4, 4]], [5, 5]], [6] * 16
    assert written(given) == written(sent) == expected
    assert row.untyped_storage() is sent["views"][0].untyped_storage()
    assert [each.sum().item() for each in many] == [10 * n for n in range(450)] and large.add_(1).sum() == 6000


def add_number(number, shared):
    shared[number] = number + 1


def square(x):
    return x * x, x.is_shared()


def test_processes():
    shared = torch.zeros(1).share_memory_()
    torch.multiprocessing.spawn(add_number, (shared,))
    assert shared.tolist() == [1]


def fails_because_of_the_other(number, told):
    """Process 1 raises, which the other one learns of before it has ended."""
    if number == 1:
        Finalize(None, time.sleep, (0.5,), exitpriority=1)  # what is done on its way out
        told.set()
        raise ValueError("the cause")
    told.wait(SECONDS)
    time.sleep(0.05)
    raise RuntimeError("what came of it")


def test_the_error_of_processes_is_that_which_was_raised_first():
    told = torch.multiprocessing.get_context("fork").Event()
    with pytest.raises(torch.multiprocessing.ProcessRaisedException, match="the cause") as caught:
        torch.multiprocessing.start_processes(fails_because_of_the_other, (told,), nprocs=2, start_method="fork")
    assert caught.value.error_index == 1


def test_a_pool_and_a_manager():
    context = torch.multiprocessing.get_context("fork")
    with context.Pool(1) as pool:
        assert [(x.tolist(), is_shared) for x, is_shared in pool.map(square, [torch.full((2,), 3.0)])] == [
            ([9, 9], True)
        ]
    with context.Manager() as manager:
        values = manager.dict(x=torch.ones(2))
        assert values["x"].tolist() == [1, 1]


def test_more_large_tensors_than_a_forkserver_takes_files():
    """Python passes 256 with the start of a process; the others are asked for."""
    context = torch.multiprocessing.get_context("forkserver")
    tensors, total = [torch.full((2000,), float(n)) for n in range(300)], torch.zeros(1).share_memory_()
    process = context.Process(target=add_up, args=(tensors, total))
    process.start()
    process.join(SECONDS)
    assert process.exitcode == 0 and total.item() == sum(range(300))


def add_up(tensors, total):
    total[0] = sum([tensor[-1] for tensor in tensors])


# -------------------- memory --------------------


def test_small_storages_share_a_file(monkeypatch):
    monkeypatch.setattr(shared_memory, "_arena", shared_memory._Arena())  # one that nothing else has memory from
    tensors = [torch.full((10,), float(n)).share_memory_() for n in range(300)]
    large = [torch.zeros(2000).share_memory_() for _ in range(2)]
    files = {mapping_of(tensor.untyped_storage()._root) for tensor in tensors}
    assert len(files) == 1 and [tensor[0].item() for tensor in tensors] == list(range(300))
    assert not files & {mapping_of(tensor.untyped_storage()._root) for tensor in large}
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    files.clear()
    del tensors
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before - 1


def test_a_fork_gives_out_no_memory_of_its_parent():
    anchor = torch.zeros(1).share_memory_()
    process = multiprocessing.get_context("fork").Process(target=lambda: torch.ones(1).share_memory_().fill_(7))
    process.start()
    process.join(SECONDS)
    assert torch.zeros(1).share_memory_().item() == anchor.item() == process.exitcode == 0


def test_only_those_who_are_not_alone_are_looked_for(monkeypatch):
    """A tensor that nothing else shares memory with moves without a search through all objects."""
    looks = []
    monkeypatch.setattr(gc, "get_objects", lambda: looks.append(True) or [])
    x = torch.ones(3)
    ForkingPickler.dumps(x)
    assert x.is_shared() and x.tolist() == [1, 1, 1] and not looks
    y = torch.ones(3)
    view = y[1:]
    ForkingPickler.dumps(y)
    assert looks and view.tolist() == [1, 1]


def test_refusals():
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor which requires_grad"):
        ForkingPickler.dumps(torch.nn.Parameter(torch.ones(1)) * 2)
    with pytest.raises(RuntimeError, match="Cannot pickle meta storage; try pickling a meta tensor instead"):
        ForkingPickler.dumps(torch.ones(2, device="meta").untyped_storage())
    x = torch.ones(1, requires_grad=True)
    x.register_hook(abs)
    with pytest.warns(UserWarning, match="backward hook <built-in function abs> on tensor will not be serialized"):
        ForkingPickler.dumps(x)


# -------------------- Ctrl-C --------------------


class Reference(weakref.ref):
    """One whose callback may be a C function, which gets a number for it."""

    _as_parameter_ = 0


@pytest.mark.parametrize("make", (lambda: torch.ones(2).share_memory_(), lambda: torch.ones(5000).share_memory_()))
def test_ctrl_c_while_shared_memory_goes(make, monkeypatch):
    """It is raised where the program can catch it. The signal comes just before the memory goes, in the same list."""
    monkeypatch.setattr(shared_memory, "_arena", shared_memory._Arena())
    # Programs that a shell has started in the background ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    printed, caught = [], False
    monkeypatch.setattr(sys, "unraisablehook", printed.append)
    press = partial(ctypes.CDLL(None)["raise"], signal.SIGINT)
    key = {1}  # a set can be referred to weakly
    reference = Reference(key, press)
    held = [make(), key]  # the last one goes first
    del key
    try:
        held.clear()
        time.sleep(0.01)
    except KeyboardInterrupt:
        caught = True
    finally:
        signal.signal(signal.SIGINT, before)
    assert caught and not printed
    assert reference() is None
