"""How one case is timed: batches long enough for the clock, and the fast quarter of them."""

import time
from collections.abc import Callable

SHORTEST_BATCH = 0.02  # seconds; much longer than the clock's resolution
FEWEST_BATCHES = 5


def batch_seconds(function: Callable[[], object], calls: int, clock: Callable[[], float] = time.perf_counter) -> float:
    """How long this many calls take together."""
    start = clock()
    for _ in range(calls):
        function()
    return clock() - start


def calls_per_batch(function: Callable[[], object]) -> int:
    """The power of four at which a batch is long enough."""
    calls = 1
    while batch_seconds(function, calls) < SHORTEST_BATCH:
        calls *= 4
    return calls


def seconds_per_call(function: Callable[[], object], budget: float) -> float:
    """The lower quartile over `budget` seconds of batches: less disturbed than a mean, less lucky than a minimum."""
    function()
    calls = calls_per_batch(function)
    first = batch_seconds(function, calls)
    batches = max(FEWEST_BATCHES, int(budget / first))
    times = sorted(batch_seconds(function, calls) / calls for _ in range(batches))
    return times[len(times) // 4]
