"""The caching allocator: device memory that is used again without asking the runtime.

The runtime gives memory in *segments*; a segment is cut into *blocks*. A block that is released goes back to the stream
that it was made for, and serves that stream's next request at once: the stream works in order, so what was launched
before is done before what comes then. A block that other streams have used, too (`record_stream`), waits until these
have passed the moment of its release. Free neighbours become one block again. Where the device has no more memory,
everything that is free is given back to it, and the request is made once more.

Blocks that were given back lie in bins by size, from where the next request of that size takes them as they are. They
are joined with their neighbours only when there is no other memory left for a request.

A tensor may be given up by any thread, at any moment, also inside of this module: then its block is only noted in a
queue, which the next request empties.

Launches need workspace on the device. As a stream works in order, they can all have the same: each stream keeps the
largest one that was asked for, if it is small.
"""

import threading
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterable, Iterator
from ctypes import c_void_p
from itertools import chain
from typing import Any

from mindtorch._support.errors import OutOfMemoryError
from mindtorch.backends.npu.runtime import device
from mindtorch.backends.npu.runtime.allocator_settings import settings
from mindtorch.backends.npu.runtime.api import acl, check, ignore, out_pointer
from mindtorch.backends.npu.runtime.codes import HUGE_FIRST, OUT_OF_MEMORY
from mindtorch.backends.npu.runtime.figures import Figures
from mindtorch.backends.npu.runtime.stream import Event, Stream

_GRAIN = 512  # all sizes are multiples of it, which is a power of two
_PAD = 32  # ops may read so many bytes behind the end
_ROUNDING = _PAD + _GRAIN - 1
_MB = 1 << 20
_SMALL = _MB  # requests up to this share segments of _SMALL_SEGMENT
_SMALL_SEGMENT = 2 * _MB
_LARGE = 10 * _MB  # requests from this on get segments of their own size
_LARGE_GRAIN = 2 * _MB
_SPARED = 20 * _MB  # what a request may leave of a block that is not cut
_MOST_BINS = 4096  # more are of sizes that programs have had once


IN_USE, IN_BIN, FREE, KEPT = range(4)  # what a block is; kept ones are workspace


class Block:
    """A piece of a segment. `descriptors`: of arrays that lie in it, or lay there before; they end with its size.

    `bin`: where it lies with others of its size and stream when it was given back.
    """

    __slots__ = (
        *("address", "size", "requested", "stream", "state", "before", "after", "is_small", "others", "pool"),
        *("bin", "usage", "descriptors"),
    )

    def __init__(self, address: int, size: int, stream: Stream, is_small: bool, pool: "Pool") -> None:
        self.address = address
        self.size = size
        self.requested = 0
        self.stream = stream
        self.is_small = is_small
        self.pool = pool
        self.usage = (pool.small if is_small else pool.large).usage
        self.state = IN_USE
        self.bin: list[Block] = []
        self.before: Block | None = None
        self.after: Block | None = None
        self.others: set[Stream] | None = None  # streams that have used it, besides its own
        self.descriptors: dict[Any, Any] = {}

    def __lt__(self, other: "Block") -> bool:
        return (self.size, self.address) < (other.size, other.address)


class Workspace:
    """Memory for launches of one stream. It goes back when no launch has it any more."""

    __slots__ = ("address", "size", "_block")

    def __init__(self, block: Block) -> None:
        self.address = block.address
        self.size = block.size - _PAD
        self._block = block

    def __del__(self) -> None:
        self._block.pool.released.append(self._block)


class Pool:
    """The memory of one device."""

    def __init__(self, index: int) -> None:
        self.device = index
        self.total, self.small, self.large = Figures(), Figures(), Figures()
        self._usages = self.small.usage, self.large.usage, self.total.usage
        self.retries = self.failures = 0
        self.limit: int | None = None
        self.settings = settings()
        fraction = self.settings.per_process_memory_fraction
        if fraction is not None:
            self.limit = int(device.memory_info(index)[1] * fraction)
        self.released: deque[Block] = deque()
        self.workspaces: dict[Stream, Workspace] = {}
        self._bins: dict[tuple[Stream, int], list[Block]] = {}  # by size; not joined with neighbours
        self._free: dict[tuple[Stream, bool], list[Block]] = {}  # joined, sorted by size and address
        self._waiting: deque[tuple[list[Event], Block]] = deque()
        self._segments: dict[int, Block] = {}  # the first block of each, by address
        self._lock = threading.RLock()

    # -------------------- requests --------------------

    def allocate(self, nbytes: int, stream: Stream) -> Block:
        """A block for so many bytes, which are not initialised, on a stream of the device."""
        size = nbytes + _ROUNDING & -_GRAIN
        with self._lock:
            if self.released:
                self._take_back()
            if self._waiting:
                self._look_at_events()
            blocks = self._bins.get((stream, size))
            block = blocks.pop() if blocks else self._cut(size, nbytes, stream)
            block.state = IN_USE
            block.requested = nbytes
            usage = block.usage
            usage.came += 1
            usage.came_size += block.size
            usage.came_requested += nbytes
        return block

    def _cut(self, size: int, nbytes: int, stream: Stream) -> Block:
        """A block of a size from a larger one, or from a new segment; what is left of it goes to others."""
        is_small = size <= _SMALL
        block = self._found(size, stream, is_small)
        if block is None:
            self._join()
            block = self._found(size, stream, is_small) or self._new_segment(size, nbytes, stream, is_small)
        rest, largest = block.size - size, self.settings.max_split_size
        if rest >= (_GRAIN if is_small else _SMALL + 1) and (is_small or largest is None or size < largest):
            left = Block(block.address + size, rest, stream, is_small, self)
            left.before, left.after = block, block.after
            if block.after is not None:
                block.after.before = left
            block.after = left
            block.size = size
            self._list(left)
        block.bin = self._bin_of(block)
        return block

    def workspace(self, nbytes: int, stream: Stream) -> Workspace:
        """So much for a launch; kept for the stream's next ones if it is small."""
        block = self.allocate(nbytes, stream)
        workspace = Workspace(block)
        if block.is_small:
            self._keep(block)
            self.workspaces[stream] = workspace
        return workspace

    def _keep(self, block: Block) -> None:
        """Count a block no longer as in use."""
        with self._lock:
            block.state, usage = KEPT, block.usage
            usage.came -= 1
            usage.came_size -= block.size
            usage.came_requested -= block.requested

    def _found(self, size: int, stream: Stream, is_small: bool) -> Block | None:
        """The smallest free block that is large enough, unless it is one that is not cut and too much of it is left."""
        blocks = self._free.get((stream, is_small))
        if not blocks:
            return None
        place = bisect_left(blocks, size, key=_size_of)
        if place == len(blocks):
            return None
        largest, found = self.settings.max_split_size, blocks[place].size
        if largest is not None and found >= (largest if size < largest else size + _SPARED):
            return None
        return blocks.pop(place)

    def _list(self, block: Block) -> None:
        block.state = FREE
        block.descriptors.clear()
        insort(self._free.setdefault((block.stream, block.is_small), []), block)

    def _unlist(self, block: Block) -> None:
        blocks = self._free[block.stream, block.is_small]
        del blocks[bisect_left(blocks, block)]

    def _join(self) -> None:
        """Empty the bins: make each block in them one with its free neighbours."""
        for blocks in self._bins.values():
            for block in blocks:
                self._join_one(block)
            blocks.clear()
        if len(self._bins) > _MOST_BINS:
            self._bins.clear()
            for block in chain(*self._chains()):
                block.bin = self._bin_of(block)

    def _bin_of(self, block: Block) -> list[Block]:
        return self._bins.setdefault((block.stream, block.size), [])

    def _join_one(self, block: Block) -> None:
        before, after = block.before, block.after
        if before is not None and before.state == FREE:
            self._unlist(before)
            block = _joined(before, block)
        if after is not None and after.state == FREE:
            self._unlist(after)
            block = _joined(block, after)
        self._list(block)

    # -------------------- segments --------------------

    def _new_segment(self, size: int, nbytes: int, stream: Stream, is_small: bool) -> Block:
        whole = self._segment_size(size)
        threshold = self.settings.garbage_collection_threshold
        if threshold and self.limit is not None and self.total.segments.size + whole > threshold * self.limit:
            self.empty()
        address = self._ask(whole)
        if address is None:
            self.retries += 1
            self.empty()
            address = self._ask(whole)
        if address is None:
            self.failures += 1
            raise self._out_of_memory(nbytes)
        block = Block(address, whole, stream, is_small, self)
        self._segments[address] = block
        for figures in (self.total, self._figures_of(block)):
            figures.segments.add(whole)
        return block

    def _segment_size(self, size: int) -> int:
        if size <= _SMALL:
            return _SMALL_SEGMENT
        if size < _LARGE:
            return self.settings.large_segment_size
        return (size + _LARGE_GRAIN - 1) // _LARGE_GRAIN * _LARGE_GRAIN

    def _figures_of(self, block: Block) -> Figures:
        return self.small if block.is_small else self.large

    def _ask(self, size: int) -> int | None:
        """Memory of the device, if it has so much."""
        if self.limit is not None and self.total.segments.size + size > self.limit:
            return None
        device.use(self.device)
        memory, address = out_pointer(c_void_p)
        code = acl.aclrtMallocAlign32(address, size, HUGE_FIRST)
        if code in OUT_OF_MEMORY:
            ignore(code)
            return None
        check(code, "aclrtMallocAlign32")
        return memory.value

    def _out_of_memory(self, nbytes: int) -> OutOfMemoryError:
        try:
            free, total = device.memory_info(self.device)
        except RuntimeError:  # what has happened is that there is no memory
            free = total = 0
        used, reserved = self.small.usage.size + self.large.usage.size, self.total.segments.size
        limit = "" if self.limit is None else f" {_in_words(self.limit)} allowed;"
        return OutOfMemoryError(
            f"NPU out of memory. Tried to allocate {_in_words(nbytes)} (NPU {self.device}; {_in_words(total)} total "
            f"capacity; {_in_words(used)} already allocated; {_in_words(free)} free;{limit} {_in_words(reserved)} "
            "reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to "
            "avoid fragmentation."
        )

    def empty(self) -> None:
        """Give the device back every segment of which nothing is in use."""
        self.workspaces.clear()
        with self._lock:
            self._take_back()
            while self._waiting:
                events, block = self._waiting[0]
                for event in events:
                    event.synchronize()
                self._waiting.popleft()
                self._end_waiting(block)
            self._join()
            for (stream, _), blocks in self._free.items():
                whole = [each for each in blocks if each.before is None and each.after is None]
                if whole:
                    stream.synchronize()  # the runtime gives memory away at once, whoever is still using it
                for block in whole:
                    self._give_back(block)

    def _give_back(self, block: Block) -> None:
        device.use(self.device)
        check(acl.aclrtFree(block.address), "aclrtFree")
        self._unlist(block)
        del self._segments[block.address]
        for figures in (self.total, self._figures_of(block)):
            figures.segments.remove(block.size)

    def close(self) -> None:
        """Give everything back, at exit: tensors that are left may no longer be used."""
        for address in self._segments:
            ignore(acl.aclrtFree(address))
        for kept in (self.workspaces, self._segments, self._free, self._waiting, self._bins):
            kept.clear()

    # -------------------- releases --------------------

    def release(self, block: Block) -> None:
        """Take a block back; may be called by any thread, at any moment."""
        self.released.append(block)

    def _take_back(self) -> None:
        self._note_peaks()
        released = self.released
        while released:
            block = released[0]  # which stays there if the runtime refuses to record an event
            moments = _moments(block.others) if block.others else None
            released.popleft()
            if block.state != KEPT:
                usage = block.usage
                usage.gone += 1
                usage.gone_size += block.size
                usage.gone_requested += block.requested
            if moments is None:
                _put_back(block)
            else:
                self._begin_waiting(block, moments)

    def _note_peaks(self) -> None:
        small, large, total = self._usages
        count = small.came - small.gone
        size = small.came_size - small.gone_size
        requested = small.came_requested - small.gone_requested
        small.note(count, size, requested)
        if large.came:
            large.note(large.count, large.size, large.requested)
            count += large.count
            size += large.size
            requested += large.requested
        total.note(count, size, requested)

    def _begin_waiting(self, block: Block, moments: list[Event]) -> None:
        """Other streams may be using it: it is free when they have passed these moments."""
        self._waiting.append((moments, block))
        block.others = None
        for figures in (self.total, self._figures_of(block)):
            figures.waiting.add(block.size)

    def _end_waiting(self, block: Block) -> None:
        for figures in (self.total, self._figures_of(block)):
            figures.waiting.remove(block.size)
        _put_back(block)

    def _look_at_events(self) -> None:
        for _ in range(len(self._waiting)):
            events, block = self._waiting[0]
            is_over = all([event.is_done() for event in events])
            self._waiting.popleft()
            if is_over:
                self._end_waiting(block)
            else:
                self._waiting.append((events, block))

    # -------------------- what users ask for --------------------

    def settle(self) -> None:
        """Bring the books up to date: tensors that are gone count no longer."""
        small, large, total = self._usages
        with self._lock:
            self._take_back()
            total.came = small.came + large.came
            total.came_size = small.came_size + large.came_size
            total.came_requested = small.came_requested + large.came_requested
            total.gone = small.gone + large.gone
            total.gone_size = small.gone_size + large.gone_size
            total.gone_requested = small.gone_requested + large.gone_requested

    def segments(self) -> Iterator[list[Block]]:
        """The blocks of each segment, in the order of addresses."""
        with self._lock:
            self._join()
            yield from self._chains()

    def _chains(self) -> Iterator[list[Block]]:
        for first in list(self._segments.values()):
            blocks: list[Block] = []
            block: Block | None = first
            while block is not None:
                blocks.append(block)
                block = block.after
            yield blocks


def _put_back(block: Block) -> None:
    block.state = IN_BIN
    block.bin.append(block)


def _moments(streams: Iterable[Stream]) -> list[Event]:
    """What happens when streams have done what they have been given so far."""
    events = []
    for stream in streams:
        events.append(Event())
        events[-1].record(stream)
    return events


def _size_of(block: Block) -> int:
    return block.size


def _joined(first: Block, second: Block) -> Block:
    """Two neighbours as one block."""
    first.size += second.size
    first.after = second.after
    if second.after is not None:
        second.after.before = first
    return first


def _in_words(nbytes: int) -> str:
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if nbytes >= factor:
            return f"{nbytes / factor:.2f} {unit}"
    return f"{nbytes} bytes"


# -------------------- the pools --------------------

_pools: dict[int, Pool] = {}


def pool_of(index: int) -> Pool:
    found = _pools.get(index)
    return found if found is not None else _pools.setdefault(index, Pool(index))


def known_pools() -> list[Pool]:
    """Of the devices that were used."""
    return list(_pools.values())


def _close_all() -> None:
    for index in device.each_used():
        if index in _pools:
            _pools.pop(index).close()


device.at_exit.append(_close_all)
device.after_fork.append(_pools.clear)
