"""Workers of loaders end when they should, whatever happens, and leave nothing behind."""

import gc
import os
import re
import subprocess
import sys
import threading
import time
import warnings
from functools import partial
from pathlib import Path

import pytest

import mindtorch as torch
from mindtorch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")

SECONDS = 60


class Slow(Dataset):
    def __init__(self, delay=0.0):
        self.delay = delay

    def __len__(self):
        return 1000

    def __getitem__(self, index):
        time.sleep(self.delay)
        return torch.full((2000,), float(index))


def lives(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def is_over(pid):
    return not lives(pid)


def wait_until(condition):
    end = time.monotonic() + SECONDS
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def descriptors():
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture(autouse=True)
def _threads():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*multi-threaded.*", DeprecationWarning)
        yield


@pytest.mark.parametrize("stay", [False, True])
def test_an_iterator_that_is_left_alone(stay):
    before = descriptors()
    iterator = iter(DataLoader(Slow(), 4, num_workers=2, persistent_workers=stay))
    next(iterator)
    processes = [worker.pid for worker in iterator._workers]
    assert all(lives(pid) for pid in processes) and os.getpid() not in processes
    del iterator
    gc.collect()
    assert not any(lives(pid) for pid in processes)
    gc.collect()
    assert descriptors() <= before


@pytest.mark.parametrize("collections", [0, 1, 2])
@pytest.mark.parametrize("is_first", [False, True])
def test_an_iterator_in_garbage_ends_before_its_connections(is_first, collections, monkeypatch):
    """In whatever order the collector comes to them, which depends on the collections before."""
    unraisable = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    iterator = iter(DataLoader(Slow(), 4, num_workers=2))
    next(iterator)
    processes = [worker.pid for worker in iterator._workers]
    connections = [end._connection for end in iterator._crew._channels]
    garbage = [iterator, *connections] if is_first else [*connections, iterator]
    garbage.append(garbage)
    del iterator, connections
    for _ in range(collections):
        gc.collect()
    del garbage
    gc.collect()
    assert unraisable == []  # a second close of a descriptor is an error that nothing catches
    assert not any(lives(pid) for pid in processes)


def test_workers_end_while_another_process_holds_the_loaders_end():
    iterator = iter(DataLoader(Slow(), 4, num_workers=2))
    next(iterator)
    pid = os.fork()
    if not pid:
        time.sleep(SECONDS)
        os._exit(0)
    try:
        start = time.monotonic()
        iterator._shutdown_workers()
        assert time.monotonic() - start < 4  # after 5 seconds they would be terminated
        assert [worker.exitcode for worker in iterator._workers] == [0, 0]
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)


def test_a_dead_worker_is_reported_at_once_and_the_others_end():
    iterator = iter(DataLoader(Slow(0.05), 4, num_workers=2))
    processes = [worker.pid for worker in iterator._workers]
    os.kill(processes[0], 9)
    start = time.monotonic()
    with pytest.raises(RuntimeError, match=rf"DataLoader worker \(pid\(s\) {processes[0]}\) exited unexpectedly"):
        list(iterator)
    assert time.monotonic() - start < 4
    del iterator
    gc.collect()
    assert not any(lives(pid) for pid in processes)


class Deadly(Dataset):
    def __init__(self, how):
        self.how = how

    def __len__(self):
        return 8

    def __getitem__(self, index):
        if index == 3:
            self.how()
            time.sleep(SECONDS)
        return index


DEATHS = {
    "SIGKILL": (lambda: os.kill(os.getpid(), 9), r"worker \(pid \d+\) is killed by signal: Killed. $"),
    "SIGBUS": (
        lambda: os.kill(os.getpid(), 7),
        "Bus error. It is possible that dataloader's workers are out of",
    ),
    "os._exit": (
        lambda: os._exit(3),
        r"worker \(pid \d+\) exited unexpectedly with exit code 3. Details",
    ),
    "sys.exit": (
        lambda: sys.exit(2),
        "code 2. Details are lost due to multiprocessing. Rerunning with num",
    ),
}


@pytest.mark.parametrize("how", DEATHS)
def test_what_a_worker_died_of(how):
    """PyTorch's texts; PyTorch itself is not asked here, because it sometimes says that a connection was reset."""
    die, text = DEATHS[how]
    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly$") as caught:
        list(DataLoader(Deadly(die), 2, num_workers=2))
    assert isinstance(caught.value.__cause__, RuntimeError) and re.search(text, str(caught.value.__cause__))


def test_what_cannot_be_pickled_is_an_error_not_a_wait():
    class Local(Exception):
        pass

    class Bad(Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, index):
            if index:
                raise Local("from here")
            return lambda: None

    iterator = iter(DataLoader(Bad(), None, num_workers=1, collate_fn=lambda item: item))
    with pytest.raises(AttributeError, match="Caught AttributeError in DataLoader worker process 0"):
        next(iterator)
    with pytest.raises(RuntimeError, match="from here"):
        next(iterator)


def test_tensors_are_not_copied_on_their_way(monkeypatch):
    """Stacked in shared memory in the first place: no tensor of a worker has to move, and no bytes are pickled."""
    monkeypatch.setattr(torch.storage.UntypedStorage, "_move", None)
    monkeypatch.setattr(torch.storage.UntypedStorage, "__reduce_ex__", None)
    batch, *_ = DataLoader(TensorDataset(torch.arange(6000.0).view(3, 2000)), 3, num_workers=1)
    assert batch[0].is_shared() and batch[0].sum() == sum(range(6000))


def test_many_batches_are_no_matter_of_descriptors():
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors() + 100, limits[1]))
    try:
        batches = list(DataLoader(TensorDataset(torch.arange(600_000.0).view(300, 2000)), 1, num_workers=1))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert [batch[0][0, 0].item() for batch in batches] == [2000 * number for number in range(300)]


def test_threads_that_share_memory_while_workers_are_started():
    is_over = threading.Event()

    def work():
        while not is_over.wait(0.001):
            torch.ones(100).share_memory_()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        found = [sum(1 for _ in DataLoader(TensorDataset(torch.ones(8)), 2, num_workers=1)) for _ in range(3)]
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    assert found == [4, 4, 4]


def test_processes_that_cannot_be_started_are_an_error(monkeypatch):
    def refuse():
        raise OSError("no more processes")

    monkeypatch.setattr(os, "fork", refuse)
    with pytest.raises(OSError, match="no more processes"):
        iter(DataLoader([1, 2], num_workers=1, multiprocessing_context="fork"))


def test_nothing_ahead():
    with pytest.raises(AssertionError, match="prefetch_factor must be greater than 0 for Multi"):
        iter(DataLoader([1], num_workers=1, prefetch_factor=0))


# -------------------- other start methods --------------------


class Numbered(IterableDataset):
    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        return iter([(info.id, torch.rand(2), torch.ones(2000))])


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_new_interpreter(method):
    """Gives the numbers that a fork gives."""
    found = {}
    for each in (method, "fork"):
        torch.manual_seed(1)
        found[each] = next(iter(DataLoader(Numbered(), None, num_workers=1, multiprocessing_context=each)))
    own, expected = found[method], found["fork"]
    assert own[0] == expected[0] == 0 and own[1].equal(expected[1]) and own[2].is_shared() and own[2].sum() == 2000


def test_a_dataset_that_cannot_be_pickled():
    loader = DataLoader(TensorDataset(torch.ones(2)), num_workers=1, collate_fn=lambda items: items)
    loader.multiprocessing_context = "spawn"
    with pytest.warns(UserWarning, match="Got pickle error when attempting to start a worker Process"):
        with pytest.raises((AttributeError, TypeError), match="pickle"):
            iter(loader)


# -------------------- the end of the program --------------------

PROGRAM = """
import os, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell has background programs ignore
import mindtorch as torch
from mindtorch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 1000
    def __getitem__(self, index):
        time.sleep({delay})
        return torch.ones(2000)

loader = DataLoader(Slow(), 4, num_workers=2, persistent_workers=True)
iterator = iter(loader)
second = iter(DataLoader(Slow(), 4, num_workers=1))
next(second)
print(*[worker.pid for worker in (*iterator._workers, *second._workers)], flush=True)
{end}
"""

ENDS = {
    "the end": "",
    "an error": "raise SystemExit(3)",
    "SIGKILL": "os.kill(os.getpid(), signal.SIGKILL)",
    "Ctrl-C": (
        "threading.Timer(0.3, os.killpg, (0, signal.SIGINT)).start()\n"
        "try:\n    list(iterator)\nexcept KeyboardInterrupt:\n    print('interrupted')"
    ),
}


def test_no_worker_outlives_its_program():
    """However it ends; and all that is printed is what the program prints. The program has no file."""
    programs = {name: PROGRAM.format(end=end, delay=0.02) for name, end in ENDS.items()}
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    running = {name: subprocess.Popen([sys.executable, "-c", each], **options) for name, each in programs.items()}
    ended = {name: (*each.communicate(timeout=SECONDS), each.returncode) for name, each in running.items()}
    for name, (out, complaints, code) in ended.items():
        numbers, *more = out.splitlines()
        assert more == (["interrupted"] if name == "Ctrl-C" else []) and complaints == "", name
        assert code == {"an error": 3, "SIGKILL": -9}.get(name, 0)
        assert all(wait_until(partial(is_over, number)) for number in numbers.split()), name
