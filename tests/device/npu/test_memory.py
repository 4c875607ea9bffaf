"""Memory that there is not: limits, what is tried before an error, its text, and the settings of the allocator."""

import re
import threading

import pytest

import mindtorch as torch
from mindtorch.backends.npu.runtime import allocator, allocator_settings
from mindtorch.backends.npu.runtime.allocator_settings import parsed
from tests.npu import simulator as session

MB = 1 << 20
TEXT = (
    r"NPU out of memory\. Tried to allocate 64\.00 MiB \(NPU 0; 40\.00 MiB total capacity; [\d.]+ \w+ already "
    r"allocated; [\d.]+ MiB free; [\d.]+ MiB reserved in total by PyTorch\)"
)


@pytest.fixture(autouse=True)
def empty(simulator):
    """No memory is kept from test to test, and each reads the settings anew."""
    yield
    simulator.failures.append("begin anew")
    allocator_settings.settings.cache_clear()
    session.recover()


def floats(megabytes):
    return torch.empty(megabytes * MB // 4, device="npu")


def reserved():
    return torch.npu.memory_reserved() // MB


class TestWorkspaces:
    """What launches work in besides their arrays: a stream keeps one."""

    def test_launches_of_a_stream_share_one(self, simulator):
        x, side = torch.ones(1000, device="npu"), torch.npu.Stream()
        x.add_(1)
        came = torch.npu.memory_stats()["allocation.all.allocated"]
        for stream in (torch.npu.current_stream(), side):
            with torch.npu.stream(stream):
                x.add_(1), x.mul_(2), x.neg_()
            stream.synchronize()
        pool = allocator.pool_of(0)
        assert list(pool.workspaces) == [torch.npu.current_stream()._order, side._order]
        assert torch.npu.memory_stats()["allocation.all.allocated"] == came
        assert x[0].item() == -2 * (-2 * 3 + 1) and simulator.violations() == []

    def test_it_is_not_counted_as_a_tensors_memory(self):
        before = torch.npu.memory_allocated()
        x = torch.ones(1000, device="npu")
        expected = torch.npu.memory_allocated()
        x.add_(1)
        assert torch.npu.memory_allocated() == expected == before + 4096
        assert torch.npu.memory_stats()["requested_bytes.all.current"] == 4000
        in_use = sum(each["allocated_size"] for each in torch.npu.memory_snapshot())
        assert in_use == expected

    def test_a_free_cache_is_without_it(self):
        torch.ones(1000, device="npu").add_(1)
        torch.npu.empty_cache()
        assert reserved() == 0 and torch.npu.memory_allocated() == 0 and not allocator.pool_of(0).workspaces

    def test_a_larger_one_takes_its_place_and_very_large_ones_are_not_kept(self):
        pool, own = allocator.pool_of(0), torch.npu.current_stream()._order
        small, larger, huge = [pool.workspace(size, own) for size in (1000, 5000, 3 * MB)]
        assert pool.workspaces == {own: larger} and min(small.size, larger.size - 4000, huge.size - 3 * MB) >= 0
        taken = torch.npu.memory_allocated()
        del small, huge
        assert taken - torch.npu.memory_allocated() == 3 * MB + 512
        assert [block.size for blocks in pool._bins.values() for block in blocks] == [1536, 3 * MB + 512]

    def test_it_lasts_as_long_as_a_launch_has_it(self):
        pool, own = allocator.pool_of(0), torch.npu.current_stream()._order
        held = pool.workspace(1000, own)
        torch.npu.empty_cache()
        others = [torch.empty(128, device="npu").untyped_storage().data_ptr() for _ in range(3)]
        assert reserved() == 2 and held.address not in others


class TestLimits:
    def test_the_error(self, simulator):
        kept = torch.arange(1000.0, device="npu")
        with simulator.limited_memory(40 * MB):
            with pytest.raises(torch.OutOfMemoryError, match=TEXT):
                floats(64)
            assert kept.sum().item() == 499500 and floats(10).numel()
        assert torch.npu.memory_stats()["num_ooms"] == 1 and floats(64).numel()

    def test_what_is_free_is_given_back_first(self, simulator):
        with simulator.limited_memory(70 * MB):
            floats(30)
            floats(32)
            assert reserved() == 66
            assert floats(60).numel() and reserved() == 62
            assert torch.npu.memory_stats()["num_ooms"] == 0 and torch.npu.memory_stats()["num_alloc_retries"] >= 1

    def test_memory_that_another_stream_uses_is_waited_for(self, simulator):
        """And is not given away before that stream has done its work."""
        side = torch.npu.Stream()
        with simulator.limited_memory(70 * MB):
            used = floats(40)
            side.wait_stream(torch.npu.current_stream())
            with torch.npu.stream(side):
                used.zero_()
            used.record_stream(side)
            del used
            assert floats(50).numel()
        assert simulator.violations() == []

    def test_the_workspace_of_an_op(self, simulator):
        """The op is refused, its arguments are what they were, and nothing of the call is left."""
        x = torch.ones(1000, device="npu")
        torch.npu.synchronize()
        pool = allocator.pool_of(0)
        blocks = [pool.allocate(1000, torch.npu.current_stream()._order) for _ in range(3)]  # nothing free is left over
        while pool.total.segments.size < 4 * MB:
            blocks.append(pool.allocate(1000, torch.npu.current_stream()._order))
        with simulator.limited_memory(pool.total.segments.size):
            held = []
            with pytest.raises(torch.OutOfMemoryError, match="NPU out of memory. Tried to allocate"):
                while True:
                    held.append(x.add_(1))
                    blocks.append(pool.allocate(1000, torch.npu.current_stream()._order))
        assert simulator.stats()["executors"] == 0
        assert x[0].item() == x[-1].item()

    def test_a_part_of_the_memory(self):
        total = torch.npu.mem_get_info()[1]
        torch.npu.set_per_process_memory_fraction(48 * MB / total)
        with pytest.raises(torch.OutOfMemoryError, match=r"48\.00 MiB allowed"):
            floats(64)
        assert floats(40).numel()
        torch.npu.set_per_process_memory_fraction(1.0)
        assert floats(64).numel()
        for wrong, error in ((2.0, ValueError), (1, TypeError), ("half", TypeError)):
            with pytest.raises(error, match="fraction"):
                torch.npu.set_per_process_memory_fraction(wrong)

    def test_a_step_that_does_not_fit_may_be_repeated_with_less(self, simulator):
        x = torch.ones(MB, device="npu", requires_grad=True)
        with simulator.limited_memory(60 * MB):
            with pytest.raises(torch.OutOfMemoryError):
                (x.repeat(16) * 2).sum().backward()
            assert x.grad is None
            (x * 2).sum().backward()
        assert x.grad.sum().item() == 2 * MB and torch.npu.memory_allocated() < 10 * MB

    def test_threads_run_out_together(self, simulator):
        errors, sums = [], []

        def work():
            try:
                for _ in range(5):
                    sums.append(torch.ones(3 * MB, device="npu").sum().item())
            except torch.OutOfMemoryError as error:
                errors.append(error.with_traceback(None))

        with simulator.limited_memory(50 * MB):
            threads = [threading.Thread(target=work) for _ in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
        assert set(sums) == {3.0 * MB} and simulator.violations() == []
        assert torch.ones(3 * MB, device="npu").sum().item() == 3 * MB


class TestPieces:
    def test_a_large_block_is_cut(self):
        """As in torch, unless max_split_size_mb says that it is not."""
        floats(100)
        held = floats(15), floats(30)
        assert reserved() == 102 and held

    def test_pieces_become_one_block_again(self):
        held = [floats(12) for _ in range(4)]
        torch.npu.empty_cache()
        whole = reserved()
        del held
        torch.npu.empty_cache()
        assert whole >= 48 and reserved() == 0

    def test_no_piece_of_large_blocks(self, monkeypatch):
        monkeypatch.setenv("PYTORCH_NPU_ALLOC_CONF", "max_split_size_mb:20")
        anew()
        floats(100)
        held = floats(15)
        assert reserved() == 102 + 16 and torch.npu.memory_stats()["max_split_size"] == 20 * MB
        again = floats(90)
        assert reserved() == 102 + 16 and held.numel() + again.numel()

    def test_garbage_is_collected_before_the_limit(self, monkeypatch):
        monkeypatch.setenv(
            "PYTORCH_NPU_ALLOC_CONF", "garbage_collection_threshold:0.5,per_process_memory_fraction:0.05"
        )
        anew()
        limit = int(torch.npu.mem_get_info()[1] * 0.05) // MB
        floats(limit // 3)
        held = floats(limit // 2 - 10)
        assert reserved() < limit // 2 and held.numel() and torch.npu.memory_stats()["num_alloc_retries"] == 0


def anew():
    """As in a new process."""
    session.start().failures.append("begin anew")
    allocator_settings.settings.cache_clear()
    session.recover()


WRONG = [
    ("foo:1", ValueError, "Unrecognized key 'foo' in NPU allocator config."),
    ("max_split_size_mb", RuntimeError, "Index out of bounds in ConfigTokenizer"),
    ("max_split_size_mb:", RuntimeError, "Index out of bounds in ConfigTokenizer"),
    ("max_split_size_mb:10", ValueError, "CachingAllocator option max_split_size_mb too small, must be >= 20"),
    ("max_split_size_mb:abc", ValueError, "stoull"),
    ("max_split_size_mb:300 foo:1", ValueError, "Expected ',' at index 3 in ConfigTokenizer but got 'foo'"),
    ("garbage_collection_threshold:1.5", ValueError, "garbage_collect_threshold is invalid, set it in (0.0, 1.0)"),
    ("garbage_collection_threshold:x", ValueError, "stod"),
    ("expandable_segments:yes", ValueError, "Expected 'True' or 'False' at index 2 in ConfigTokenizer but got 'yes'"),
    ("expandable_segments:True,max_split_size_mb:30", RuntimeError, "cannot be enabled with `expandable_segments`"),
    ("large_segment_size_mb:10", ValueError, "CachingAllocator option large_segment_size_mb must be > 10 MB"),
    ("per_process_memory_fraction:2", RuntimeError, "per_process_memory_fraction is invalid, set it in [0.0, 1.0]"),
]


class TestSettings:
    @pytest.mark.parametrize(("text", "error", "message"), WRONG, ids=[text for text, *_ in WRONG])
    def test_wrong_ones(self, text, error, message):
        with pytest.raises(error, match=re.escape(message)):
            parsed(text)

    def test_right_ones(self):
        found = parsed(" max_split_size_mb: 300 , garbage_collection_threshold:0.8,")
        assert (found.max_split_size, found.garbage_collection_threshold) == (300 * MB, 0.8)
        assert parsed("").large_segment_size == 20 * MB and parsed("max_split_size_mb:-3").max_split_size is None

    def test_what_is_not_there_is_told(self):
        with pytest.warns(UserWarning, match="expandable_segments setting failure, now change to `False`"):
            assert not parsed("expandable_segments:True").expandable_segments
        with pytest.warns(UserWarning, match="torch_npu not support key 'roundup_power2_divisions'"):
            parsed("roundup_power2_divisions:[256:1,>:2],max_split_size_mb:30")

    def test_an_error_comes_with_the_first_memory(self, monkeypatch):
        monkeypatch.setenv("PYTORCH_NPU_ALLOC_CONF", "nonsense:1")
        anew()
        with pytest.raises(ValueError, match="Unrecognized key 'nonsense'"):
            torch.empty(3, device="npu")
        monkeypatch.setenv("PYTORCH_NPU_ALLOC_CONF", "max_split_size_mb:40")
        assert torch.empty(3, device="npu").numel() == 3
