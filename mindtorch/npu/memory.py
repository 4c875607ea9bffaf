"""How much memory of an NPU is in use, and giving back what is not."""

from collections.abc import Iterator
from typing import Any

from mindtorch.backends.npu.runtime import allocator, host_memory, stream
from mindtorch.backends.npu.runtime import device as runtime
from mindtorch.backends.npu.runtime.allocator import FREE, IN_USE, Block, Pool
from mindtorch.backends.npu.runtime.figures import Amount, Figures, Usage
from mindtorch.npu.devices import index_of

_FIELDS = ("current", "peak", "allocated", "freed")


def _pool(device: Any) -> Pool:
    index = index_of(device)
    pool = allocator.pool_of(runtime.checked(index) if runtime.count() else index)  # without devices all is 0
    pool.settle()
    return pool


def empty_cache() -> None:
    """Give the devices back the memory that no tensor is in, and events that are over."""
    for pool in allocator.known_pools():
        pool.empty()
    host_memory.empty()
    stream.bury_all()


def empty_host_cache() -> None:
    """Give back the pinned memory that no tensor is in."""
    host_memory.empty()


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """The free and the total memory of a device, in bytes, as the device knows them."""
    return runtime.memory_info(runtime.checked(index_of(device)))


def get_per_process_memory_fraction(device: Any = None) -> float:
    """The part of a device's memory that this process may use."""
    index = runtime.checked(index_of(device))
    _, total = runtime.memory_info(index)
    limit = allocator.pool_of(index).limit
    return 1.0 if limit is None else limit / total


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Have this process use no more than a part of a device's memory."""
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if fraction < 0 or fraction > 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    index = runtime.checked(index_of(device))
    _, total = runtime.memory_info(index)
    allocator.pool_of(index).limit = int(total * fraction)


# -------------------- figures --------------------


def _fields(now: int, most: int, came: int) -> dict[str, int]:
    return {"current": now, "peak": most, "allocated": came, "freed": came - now}


def _counted(amount: Amount) -> dict[str, int]:
    return _fields(amount.count, amount.peak_count, amount.came)


def _measured(amount: Amount) -> dict[str, int]:
    return _fields(amount.size, amount.peak_size, amount.came_size)


def _with_waiting(one: dict[str, int], waiting: dict[str, int]) -> dict[str, int]:
    """Blocks in use and those that other streams still use."""
    now = one["current"] + waiting["current"]
    return _fields(now, max(one["peak"], now), one["allocated"])


def _figures(figures: Figures, split: list[Block]) -> dict[str, dict[str, int]]:
    usage, waiting = figures.usage, figures.waiting
    blocks = _fields(usage.count, usage.peak_count, usage.came)
    in_bytes = _fields(usage.size, usage.peak_size, usage.came_size)
    size = sum(block.size for block in split)
    return {
        "allocation": blocks,
        "segment": _counted(figures.segments),
        "active": _with_waiting(blocks, _counted(waiting)),
        "inactive_split": _fields(len(split), len(split), len(split)),
        "allocated_bytes": in_bytes,
        "reserved_bytes": _measured(figures.segments),
        "active_bytes": _with_waiting(in_bytes, _measured(waiting)),
        "inactive_split_bytes": _fields(size, size, size),
        "requested_bytes": _fields(usage.requested, usage.peak_requested, usage.came_requested),
    }


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """What the allocator counts, by name, part and field. Of free pieces of segments there is no history."""
    pool = _pool(device)
    split = [block for blocks in pool.segments() for block in blocks if block.state == FREE and len(blocks) > 1]
    parts = {
        "all": _figures(pool.total, split),
        "small_pool": _figures(pool.small, [block for block in split if block.is_small]),
        "large_pool": _figures(pool.large, [block for block in split if not block.is_small]),
    }
    found: dict[str, Any] = {"num_alloc_retries": pool.retries, "num_ooms": pool.failures}
    found["max_split_size"] = pool.settings.max_split_size or -1
    return found | {name: {part: parts[part][name] for part in parts} for name in parts["all"]}


def memory_stats(device: Any = None) -> dict[str, int]:
    """The same in one dictionary: `"allocated_bytes.all.peak"`."""
    found: dict[str, int] = {}
    for name, value in memory_stats_as_nested_dict(device).items():
        if isinstance(value, dict):
            for part, fields in value.items():
                found |= {f"{name}.{part}.{field}": amount for field, amount in fields.items()}
        else:
            found[name] = value
    return dict(sorted(found.items()))


def memory_allocated(device: Any = None) -> int:
    """The bytes that tensors are in."""
    return _pool(device).total.usage.size


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that tensors were in at a time."""
    return _pool(device).total.usage.peak_size


def memory_reserved(device: Any = None) -> int:
    """The bytes that the allocator has of the device."""
    return _pool(device).total.segments.size


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes that the allocator had of the device at a time."""
    return _pool(device).total.segments.peak_size


memory_cached, max_memory_cached = memory_reserved, max_memory_reserved


def _amounts(device: Any) -> Iterator[Usage | Amount]:
    pool = _pool(device)
    for figures in (pool.total, pool.small, pool.large):
        yield from figures.all()


def reset_peak_memory_stats(device: Any = None) -> None:
    """Have the most of everything be what there is now."""
    for amount in _amounts(device):
        amount.reset_peaks()


reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Count anew what comes and goes."""
    pool = _pool(device)
    pool.retries = pool.failures = 0
    for amount in _amounts(device):
        amount.forget_past()


def memory_snapshot() -> list[dict[str, Any]]:
    """Every segment of every device, with its blocks."""
    found = []
    for pool in allocator.known_pools():
        pool.settle()
        for blocks in pool.segments():
            in_use = [block for block in blocks if block.state == IN_USE]
            found.append(
                {
                    "device": pool.device,
                    "address": blocks[0].address,
                    "total_size": sum(block.size for block in blocks),
                    "allocated_size": sum(block.size for block in in_use),
                    "active_size": sum(block.size for block in in_use),
                    "requested_size": sum(block.requested for block in in_use),
                    "stream": blocks[0].stream.handle or 0,
                    "segment_type": "small" if blocks[0].is_small else "large",
                    "blocks": [
                        {
                            "address": block.address,
                            "size": block.size,
                            "requested_size": block.requested,
                            "state": "active_allocated" if block.state == IN_USE else "inactive",
                        }
                        for block in blocks
                    ],
                }
            )
    return sorted(found, key=lambda segment: segment["address"])


_ROWS = (
    ("Allocated memory", "allocated_bytes", True),
    ("Active memory", "active_bytes", True),
    ("NPU reserved memory", "reserved_bytes", True),
    ("Non-releasable memory", "inactive_split_bytes", True),
    ("Allocations", "allocation", False),
    ("Active allocs", "active", False),
    ("NPU reserved segments", "segment", False),
    ("Non-releasable allocs", "inactive_split", False),
)


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """The figures as a table for people to read."""
    stats = memory_stats(device)
    line, double = "|" + "-" * 75 + "|", "|" + "=" * 75 + "|"
    title = f"PyTorch NPU memory summary, device ID {index_of(device)}"
    retries = f"npuMalloc retries: {stats['num_alloc_retries']}"
    lines = [
        double,
        f"|{title:^75}|",
        line,
        f"|  NPU OOMs: {stats['num_ooms']:<12}|{retries:>48}   |",
        double,
        "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |",
    ]
    for title, name, is_size in _ROWS:
        parts = [("all", title)]
        if not abbreviated:
            parts += [("large_pool", "      from large pool"), ("small_pool", "      from small pool")]
        lines.append(line)
        for part, label in parts:
            amounts = [_shown(stats[f"{name}.{part}.{field}"], is_size) for field in _FIELDS]
            lines.append(f"| {label:<22}| " + " | ".join(amounts) + " |")
    return "\n".join([*lines, double]) + "\n"


def _shown(amount: int, is_size: bool) -> str:
    if not is_size:
        return f"{amount:>10}"
    for unit in ("B", "KiB", "MiB"):
        if abs(amount) < 8 * 1024:
            return f"{amount:>6} {unit:<3}"
        amount //= 1024
    return f"{amount:>6} GiB"
