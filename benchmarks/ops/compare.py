"""Two libraries in turn, batch by batch, so that a machine that slows down slows both; the fastest batches count."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.ops.recipes import Recipe
from benchmarks.ops.worker import ROOT, Asked, Refused, Worker

BUDGET = 0.03  # seconds for the rounds of a case
DIFFERENT = "results differ"
FEWEST, MOST = 4, 20  # rounds


@dataclass(frozen=True)
class Times:
    """Seconds of a call of each library."""

    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    def best(self, other: "Times") -> "Times":
        return Times(min(self.ours, other.ours), min(self.theirs, other.theirs))


Pair = tuple[Asked, Asked]


@contextmanager
def against_torch() -> Iterator[Pair]:
    """Both libraries in one process."""
    worker = Worker(ROOT, ("mindtorch", "torch"))
    try:
        yield Asked(worker, "mindtorch"), Asked(worker, "torch")
    finally:
        worker.close()


@contextmanager
def against_checkout(checkout: Path) -> Iterator[Pair]:
    """This mindtorch and that of another checkout, a process each, on one core: another one may be slower."""
    workers = Worker(ROOT, ("mindtorch",), pinned=True), Worker(checkout.resolve(), ("mindtorch",), pinned=True)
    try:
        yield Asked(workers[0], "mindtorch"), Asked(workers[1], "mindtorch")
    finally:
        for worker in workers:
            worker.close()


def compared(pair: Pair, recipe: Recipe, direction: str, patience: int = 1) -> Times:
    """The times of a case; `patience` times as many rounds. Raises `Refused`."""
    shapes = [each.prepare(recipe, direction) for each in pair]
    if shapes[0] != shapes[1]:
        raise Refused(f"{DIFFERENT}: {shapes[0]} and {shapes[1]}")
    times = Times(*(each.calibrate() for each in pair))
    for number in range(rounds_for(times) * patience):
        times = times.best(_round(pair, backwards=number % 2 == 1))
    return times


def rounds_for(times: Times) -> int:
    """As many as the budget has room for, where a batch takes half a millisecond at least."""
    return max(FEWEST, min(MOST, int(BUDGET / (max(times.ours, 5e-4) + max(times.theirs, 5e-4)))))


def _round(pair: Pair, backwards: bool) -> Times:
    """A batch of each; who comes second finds the caches as the first left them, so that they change places."""
    if backwards:
        theirs = pair[1].seconds()
        return Times(pair[0].seconds(), theirs)
    return Times(pair[0].seconds(), pair[1].seconds())
