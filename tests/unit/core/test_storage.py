"""Storages: memory that grows, shrinks and moves under its tensors, is shared with processes, or lies in a file."""

import gc
import multiprocessing
import os
import sys
from multiprocessing.reduction import ForkingPickler

import pytest

import mindtorch as torch
from mindtorch._core.shared_memory import mapping_of, shared_root
from mindtorch._tensor_methods.memory import is_alias_of

# Those without which nothing can be sent; Windows has only one of them.
METHODS = [name for name in ("fork", "spawn", "forkserver") if name in multiprocessing.get_all_start_methods()]


class TestMoving:
    def test_every_tensor_on_a_storage_follows_it(self):
        x = torch.arange(6.0)
        tail, column, twin, bits = x[2:], x.view(2, 3).t(), x.detach(), x.view(torch.int32)
        storage = x.untyped_storage()
        storage.resize_(4000)
        x.fill_(2)
        assert tail.tolist() == [2] * 4 and column.tolist() == [[2, 2]] * 3 and twin.tolist() == [2] * 6
        assert bits[0] == torch.tensor(2.0).view(torch.int32) and column.stride() == (1, 3)
        assert all(each.untyped_storage() is storage for each in (x, tail, column, twin, bits))
        assert tail.storage_offset() == 2 and storage.nbytes() == 4000

    def test_growing_alone_looks_for_no_other_tensors(self, monkeypatch):
        looks = []
        monkeypatch.setattr(gc, "get_objects", lambda: looks.append(True) or [])
        x, view = torch.empty(0), torch.ones(4)[1:]
        for size in (3, 100):
            x.resize_(size)
        assert not looks
        alias = x.detach()
        x.resize_(200)
        view.resize_(50)
        assert len(looks) == 2 and alias.shape == (100,)

    def test_views_stay_views(self):
        x = torch.arange(6.0)
        view = x[1:]
        x.untyped_storage().resize_(400)
        view.add_(1)
        assert view._base is x and x._version == view._version == 1 and x.tolist() == [0, 2, 3, 4, 5, 6]

    def test_a_leaf_gets_its_gradient(self):
        x = torch.ones(2, requires_grad=True)
        loss = (x * 3).sum()
        x.untyped_storage().resize_(400)
        (loss + (x * 2).sum()).backward()
        assert x.is_leaf and x.grad.tolist() == [5, 5]

    def test_growing_a_tensor_takes_its_views_along(self):
        x = torch.arange(4.0)
        view = x[1:]
        x.resize_(100)
        x[1] = 9
        assert view.tolist() == [9, 2, 3] and is_alias_of(x, view)

    def test_shrinking_keeps_the_memory_of_tensors(self):
        x = torch.arange(4.0)
        storage = x.untyped_storage().resize_(8)
        assert storage.nbytes() == len(storage) == 8 and x.tolist() == [0, 1, 2, 3]
        storage.resize_(12)
        assert x.untyped_storage().nbytes() == 12 and x.untyped_storage() is storage
        x.fill_(5)
        assert torch.empty(0).set_(storage, 0, (3,)).tolist() == [5, 5, 5]

    def test_an_owner_with_permuted_memory(self):
        x = torch.arange(6.0).reshape(2, 3).t().clone()
        first = x[0]
        x.untyped_storage().resize_(400)
        x.fill_(1)
        assert first.tolist() == [1, 1] and x.stride() == (1, 3)

    def test_nothing_is_kept_for_a_storage(self):
        before = len(gc.get_objects())
        for _ in range(20):
            torch.zeros(4).untyped_storage().resize_(100)
        gc.collect()
        assert len(gc.get_objects()) - before < 20

    def test_a_mapped_storage_cannot_be_resized(self):
        storage = torch.zeros(2).share_memory_().untyped_storage()
        assert not storage.resizable()
        with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
            storage.resize_(100)

    def test_negative_sizes(self):
        for make in (lambda: torch.UntypedStorage(-1), lambda: torch.UntypedStorage(1).resize_(-2)):
            with pytest.raises(RuntimeError, match="Storage size cannot be negative, but got -"):
                make()


class TestIdentity:
    def test_one_object_as_long_as_it_lives(self):
        x = torch.zeros(3)
        storage = x.untyped_storage()
        assert x[1:].untyped_storage() is storage and x.detach().untyped_storage() is storage
        number = hash(storage)
        x.share_memory_()
        assert x.untyped_storage() is storage and hash(storage) == number and storage in {storage}

    def test_aliases(self):
        x = torch.zeros(4)
        assert is_alias_of(x, x[2:]) and is_alias_of(x[:1], x[2:]) and is_alias_of(x, x.view(2, 2).t())
        assert not is_alias_of(x, x.clone()) and not is_alias_of(torch.zeros(0), torch.zeros(0))
        assert is_alias_of(x.to("meta"), x) is False

    def test_a_typed_storage_warns_once(self):
        with pytest.warns(UserWarning, match="TypedStorage is deprecated"):
            torch.zeros(2).storage()
        assert torch.zeros(2).storage().tolist() == [0, 0]


class TestFiles:
    def test_reading(self, tmp_path):
        path = tmp_path / "numbers"
        path.write_bytes(torch.tensor([1, 2, 3], dtype=torch.int16).untyped_storage().bytes_view().tobytes())
        x = torch.from_file(str(path), size=2, dtype=torch.int16)
        x[0] = 7
        assert x.tolist() == [7, 2] and path.read_bytes()[0] == 1 and not x.is_shared()

    def test_writing(self, tmp_path):
        path = tmp_path / "numbers"
        x = torch.from_file(str(path), shared=True, size=4, dtype=torch.uint8)
        x.copy_(torch.tensor([1, 2, 3, 4]))
        assert path.read_bytes() == b"\1\2\3\4" and x.is_shared() and x.untyped_storage().filename == str(path)

    def test_errors(self, tmp_path):
        path = tmp_path / "short"
        path.write_bytes(b"abc")
        with pytest.raises(RuntimeError, match=r"file <.*short> size <3> is smaller than the required mapping size <8"):
            torch.from_file(str(path), size=2)
        with pytest.raises(RuntimeError, match=r"unable to open file <.*none> in read-only mode: No such file"):
            torch.UntypedStorage.from_file(str(tmp_path / "none"), False, 2)
        with pytest.raises(RuntimeError, match=r"unable to mmap -4 bytes from file <.*short>"):
            torch.from_file(str(path), size=-1)
        with pytest.raises(TypeError, match=r"from_file\(\): argument 'filename' \(position 1\) must be str, not int"):
            torch.from_file(3)

    def test_no_descriptor_is_left_open(self):
        if not sys.platform.startswith("linux"):
            pytest.skip("descriptors are counted in /proc")
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(10):
            torch.zeros(3).share_memory_()
        gc.collect()
        assert len(os.listdir("/proc/self/fd")) == before


# -------------------- processes --------------------


def add_one(x):
    x += 1


def answer(inbox, outbox):
    """Write to what is sent, and send back something new and the same storage again."""
    first, second = inbox.get()
    first[0] = 7
    is_one = first.is_shared() and second.untyped_storage() is first.untyped_storage()
    outbox.put((torch.arange(3.0), second, is_one))
    outbox.put(inbox.get())  # lives on until the other side has what was sent


def run(method, target, *args):
    process = multiprocessing.get_context(method).Process(target=target, args=args)
    process.start()
    return process


class TestProcesses:
    @pytest.mark.parametrize("method", METHODS)
    def test_a_child_writes_to_shared_memory(self, method):
        x = torch.zeros(2, 3).share_memory_()
        view = x[1]
        process = run(method, add_one, view)
        process.join()
        assert process.exitcode == 0 and x.tolist() == [[0, 0, 0], [1, 1, 1]]

    @pytest.mark.skipif("fork" not in METHODS, reason="needs fork")
    def test_a_forked_child_has_copies_of_the_rest(self):
        x = torch.zeros(2)
        run("fork", add_one, x).join()
        assert x.tolist() == [0, 0]

    @pytest.mark.parametrize("method", METHODS[:2])
    def test_queues_share(self, method):
        """Of everything that is sent, and a storage that is sent twice stays one."""
        context = torch.multiprocessing.get_context(method)
        inbox, outbox = context.Queue(), context.Queue()
        process = run(method, answer, inbox, outbox)
        x = torch.zeros(4)
        inbox.put((x, x[2:]))
        new, back, is_one = outbox.get(timeout=60)
        assert is_one and x[0] == 7 and x.is_shared() and new.tolist() == [0, 1, 2]
        back.fill_(5)
        assert x.tolist() == [7, 0, 5, 5] and back.untyped_storage().nbytes() == 16
        inbox.put(None)
        assert outbox.get(timeout=60) is None
        process.join()
        assert process.exitcode == 0

    def test_what_a_graph_has_made_is_not_sent(self):
        torch.multiprocessing.prepare()
        x = torch.ones(2, requires_grad=True) * 2
        with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor which requires_grad"):
            ForkingPickler.dumps(x)

    def test_strategies(self):
        processes = torch.multiprocessing
        assert processes.get_sharing_strategy() == "file_descriptor"
        processes.set_sharing_strategy("file_descriptor")
        with pytest.raises(AssertionError, match="invalid sharing strategy 'x', expected one of"):
            processes.set_sharing_strategy("x")

    def test_without_memfd(self, monkeypatch):
        """Other systems share a file that has no name."""
        monkeypatch.delattr(os, "memfd_create", raising=False)
        root = shared_root(8)
        root[:] = 3
        assert root.tolist() == [3] * 8 and mapping_of(root).is_shared
