"""Random programs: statements on a handful of tensors, written as text so that a failing one can be read and shrunk.

A statement is chosen by looking at torch's tensors as they are after the statements before it, so that most are legal
and a few are not. `python -m tests.parity.random_programs FIRST COUNT` prints, shrunk, the programs of a range of
seeds whose runs differ; with MINDTORCH_RANDOM_WIDE=1 the programs are wide: they also have statements about several
outputs, `out=`, writes through views, and transforms of functions.
"""

import os
import re
import sys
from collections.abc import Iterator

from tests.parity import random_layers as random_layers  # these register their statements
from tests.parity import random_outputs as random_outputs
from tests.parity import random_transforms as random_transforms
from tests.parity.random_runs import Pair, first_difference
from tests.parity.random_statements import leaf
from tests.parity.random_writer import FURTHER_STATEMENTS, STATEMENTS, Maker, Writer, make

WIDE = bool(os.environ.get("MINDTORCH_RANDOM_WIDE"))
MODES = ["T.no_grad()", "T.inference_mode()", "T.enable_grad()", "T.set_grad_enabled(False)", "T.no_grad()"]


def next_statement(w: Writer, statements: list[Maker]) -> str:
    """A statement, in a block with another grad mode now and then."""
    if w.count < 2:
        return leaf(w)
    text = None
    while text is None:
        text = w.pick(statements)(w)
    return f"with {w.pick(MODES)}: {text}" if w.chance(0.08) and " = make(" not in text else text


# -------------------- programs --------------------


def program(seed: int, wide: bool = WIDE, length: int = 16) -> tuple[list[str], str | None]:
    """The statements of a seed, up to the first at which the libraries differ, and that difference."""
    pair = Pair(make, quiet=bool(seed % 3))
    writer = Writer(seed, pair.theirs)
    statements = STATEMENTS + FURTHER_STATEMENTS if wide else STATEMENTS
    lines: list[str] = []
    while len(lines) < length:
        line = next_statement(writer, statements)
        if not pair.allows(line):
            continue
        lines.append(line)
        difference = pair.step(line)
        if difference:
            return lines, difference
    return lines, pair.finish()


def kind(difference: str | None) -> str:
    """A difference without the names and numbers in it."""
    return re.sub(r"\bt\d+\b|-?\d+(\.\d+)?", "", difference or "")[:60]


def shrunk(lines: list[str], quiet: bool) -> tuple[list[str], str | None]:
    """The program without the statements that its difference does not need."""
    difference = first_difference(make, lines, quiet)
    place = len(lines) - 1
    while place >= 0:
        shorter = lines[:place] + lines[place + 1 :]
        found = first_difference(make, shorter, quiet)
        if found and kind(found) == kind(difference):
            lines, difference = shorter, found
        place -= 1
    return lines, difference


def failures(first: int, count: int, wide: bool = WIDE) -> Iterator[str]:
    """For each seed with a difference: its shrunk program and what differs."""
    for seed in range(first, first + count):
        lines, difference = program(seed, wide)
        if difference:
            quiet = bool(seed % 3)
            kept, short = shrunk(lines, quiet)
            yield "\n".join([f"seed {seed}", *(f"    {line}" for line in kept), f"  {short or difference}"])


if __name__ == "__main__":
    for text in failures(int(sys.argv[1]), int(sys.argv[2])):
        sys.stdout.write(f"{text}\n")
