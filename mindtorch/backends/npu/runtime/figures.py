"""What the allocator counts: blocks in use, blocks that wait for other streams, segments."""


class Amount:
    """What there is of something: now, at most, and what came and went; how many and how many bytes."""

    __slots__ = ("count", "size", "peak_count", "peak_size", "came", "came_size")

    def __init__(self) -> None:
        self.count = self.size = self.peak_count = self.peak_size = self.came = self.came_size = 0

    def add(self, size: int) -> None:
        self.count += 1
        self.size += size
        self.came += 1
        self.came_size += size
        if self.count > self.peak_count:
            self.peak_count = self.count
        if self.size > self.peak_size:
            self.peak_size = self.size

    def remove(self, size: int) -> None:
        self.count -= 1
        self.size -= size

    def reset_peaks(self) -> None:
        self.peak_count, self.peak_size = self.count, self.size

    def forget_past(self) -> None:
        self.came, self.came_size = self.count, self.size


class Usage:
    """The blocks in use: how many came and went and how large, with and without what is rounded up.

    Requests count here and nowhere else, as there is one in each launch. What was most is noted before blocks are taken
    back: until then there are only more of them.
    """

    __slots__ = (
        *("came", "came_size", "came_requested"),
        *("gone", "gone_size", "gone_requested"),
        *("peak_count", "peak_size", "peak_requested"),
    )
    peak_count: int
    peak_size: int
    peak_requested: int

    def __init__(self) -> None:
        self.came = self.came_size = self.came_requested = 0
        self.gone = self.gone_size = self.gone_requested = 0
        self.reset_peaks()

    @property
    def count(self) -> int:
        return self.came - self.gone

    @property
    def size(self) -> int:
        return self.came_size - self.gone_size

    @property
    def requested(self) -> int:
        return self.came_requested - self.gone_requested

    def note(self, count: int, size: int, requested: int) -> None:
        """What is in use now counts as a peak if it is one."""
        if count > self.peak_count:
            self.peak_count = count
        if size > self.peak_size:
            self.peak_size = size
        if requested > self.peak_requested:
            self.peak_requested = requested

    def reset_peaks(self) -> None:
        self.peak_count, self.peak_size, self.peak_requested = self.count, self.size, self.requested

    def forget_past(self) -> None:
        self.came, self.came_size, self.came_requested = self.count, self.size, self.requested
        self.gone = self.gone_size = self.gone_requested = 0


class Figures:
    """What a pool counts of its small or its large blocks, or of both together."""

    __slots__ = ("usage", "waiting", "segments")

    def __init__(self) -> None:
        self.usage = Usage()
        self.waiting = Amount()  # given back, and still used by other streams
        self.segments = Amount()

    def all(self) -> tuple[Usage | Amount, ...]:
        return self.usage, self.waiting, self.segments
