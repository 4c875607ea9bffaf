"""Run random programs in both libraries: `python -m tests.parity.random_programs.fuzz --minutes 10 --seed 1`.

The seeds of programs count up from a million times the seed. Prints a short program for each class of differences as
it is found, ends with a list of the classes, and with status 1 if there are any. The programs run in processes of their
own, as torch may crash or wait forever; such a program is a class of its own. `--without` leaves out statements whose
text, with all that is in their bodies, matches a pattern: `--without transforms`, or `--without "checkpoint|_hook"`.
"""

import argparse
import multiprocessing
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection

import torch

from tests.daily import SEED
from tests.parity.random_programs.programs import KINDS, Failure, failure
from tests.parity.random_programs.shrinking import kind_of

SECONDS = 120  # in which one program, and what makes it short, has to end
AT_ONCE = 200  # programs that a process runs before another takes its place
SHOWN = 2  # programs of each class
PATTERNS = {
    "transforms": r"T\.(vmap|func|autograd\.functional)\b|dual_level|is_grads_batched"
}  # what stands for others


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--first", type=int, help="the first program, instead of the one that follows from the seed")
    parser.add_argument("--count", type=int, default=sys.maxsize, help="how many programs at most")
    parser.add_argument("--kind", choices=KINDS, default="whole")
    parser.add_argument("--without", help=f"a pattern, or one of {', '.join(PATTERNS)}")
    return parser.parse_args()


def work(kind: str, without: str | None, first: int, count: int, pipe: Connection) -> None:
    """Run programs, and send the seed of each before, and how it differs after it; then, perhaps, a short program, sent
    apart as torch may crash on the way to it."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    classes = Counter()
    for seed in range(first, first + count):
        pipe.send(seed)
        found = failure(kind, seed, without)
        name = found and kind_of(found.difference)
        classes[name] += 1
        is_shown = found is not None and classes[name] <= SHOWN
        pipe.send((found, is_shown))
        if found and is_shown:
            pipe.send(found.shrunk())


def results(kind: str, without: str | None, first: int, count: int, end: float) -> Iterator[tuple[int, Failure | None]]:
    """The seed of each program, and how it differs, until the time is over."""
    after = first + count
    while first < after and time.monotonic() < end:
        mine, theirs = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.Process(target=work, args=(kind, without, first, min(AT_ONCE, after - first), theirs))
        process.start()
        theirs.close()
        for seed, found in _received(kind, mine, end):
            yield seed, found
            first = seed + 1
        process.kill()
        process.join()


def _received(kind: str, pipe: Connection, end: float) -> Iterator[tuple[int, Failure | None]]:
    while time.monotonic() < end:
        try:
            seed = pipe.recv()
        except EOFError:
            return
        found, has_ended = _outcome(kind, seed, pipe)
        yield seed, found
        if not has_ended:
            return


def _outcome(kind: str, seed: int, pipe: Connection) -> tuple[Failure | None, bool]:
    """How a program differs, and whether the process goes on to the next one."""
    found, is_shown = Failure(kind, seed, [], "no end"), True
    try:
        for _ in range(2):
            if is_shown and not pipe.poll(SECONDS):
                return found, False
            if is_shown:
                received = pipe.recv()
                found, is_shown = received if isinstance(received, tuple) else (received, False)
        return found, True
    except EOFError:
        return (Failure(kind, seed, [], "crash") if found and found.difference == "no end" else found), False


def main() -> int:
    given = arguments()
    first = given.seed * 1_000_000 if given.first is None else given.first
    classes: dict[str, list[int]] = {}
    count = 0
    without = PATTERNS.get(given.without, given.without)
    for seed, found in results(given.kind, without, first, given.count, time.monotonic() + 60 * given.minutes):
        count += 1
        if found:
            seeds = classes.setdefault(kind_of(found.difference), [])
            seeds.append(seed)
            if len(seeds) <= SHOWN:
                sys.stdout.write(f"{found}\n\n")
                sys.stdout.flush()
    sys.stdout.write(f"{count} {given.kind} programs from seed {first} on: {len(classes)} classes of differences\n")
    for name, seeds in sorted(classes.items(), key=lambda item: -len(item[1])):
        sys.stdout.write(f"  {len(seeds)} x {name}   {seeds[:6]}\n")
    return bool(classes)


if __name__ == "__main__":
    sys.exit(main())
