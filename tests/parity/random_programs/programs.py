"""Random programs: statements on a handful of tensors, written as text so that a failing one can be read and shrunk.

A statement is chosen by looking at torch's tensors as they are after the statements before it, so that most are legal
and a few are not. There are three kinds of programs: *plain* ones; *wide* ones, which also have statements about
several outputs, `out=`, writes through views, and transforms of functions; and *whole* ones, which mix fewer ops with
all that programs are made of (functions, hooks, modes, threads, modules), and where what can be seen has to be equal.
`python -m tests.parity.random_programs.fuzz` runs them for a chosen time.
"""

import re
import sys
from collections.abc import Container
from dataclasses import dataclass

from tests.parity.random_programs import graphs as graphs  # these register their statements
from tests.parity.random_programs import layers as layers
from tests.parity.random_programs import outputs as outputs
from tests.parity.random_programs import transforms as transforms
from tests.parity.random_programs.outputs import write_through_view
from tests.parity.random_programs.runs import Pair, first_difference
from tests.parity.random_programs.shrinking import shrunk
from tests.parity.random_programs.statements import autograd_setting, leaf
from tests.parity.random_programs.whole import BODY, WHOLE
from tests.parity.random_programs.writer import FURTHER_STATEMENTS, STATEMENTS, Maker, Writer, make

_OF_VMAP = re.compile(r"(\bt\d+) = .*T\.vmap")
MODES = ["T.no_grad()", "T.inference_mode()", "T.enable_grad()", "T.set_grad_enabled(False)", "T.no_grad()"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of programs: its statements, how many a program has, and whether all that can be seen has to be equal."""

    statements: list[Maker]
    length: int
    strict: bool = False


KINDS = {
    "plain": Kind(STATEMENTS, 16),
    "wide": Kind(STATEMENTS + FURTHER_STATEMENTS, 16),
    "whole": Kind(BODY + WHOLE * 2 + [leaf] * 8 + [autograd_setting] * 6 + [write_through_view] * 5, 12, True),
}


def next_statement(w: Writer, statements: list[Maker], without: str | None = None) -> str:
    """A statement that does not match a pattern, in a block with another grad mode now and then."""
    if w.count < 2:
        return leaf(w)
    text = None
    while text is None or without and re.search(without, text):
        text = w.pick(statements)(w)
    w.mapped.update(_OF_VMAP.findall(text))
    is_short = "\n" not in text and " = make(" not in text
    return f"with {w.pick(MODES)}: {text}" if is_short and w.chance(0.08) else text


@dataclass(frozen=True, slots=True)
class Failure:
    """The statements of a seed, up to the first at which the libraries differ, and that difference."""

    kind: str
    seed: int
    lines: list[str]
    difference: str

    def shrunk(self) -> "Failure":
        """The same without what the difference does not need."""
        lines, text = shrunk(self.lines, self.difference, self.run)
        return Failure(self.kind, self.seed, lines, text)

    def run(self, lines: list[str]) -> str | None:
        return first_difference(make, lines, is_quiet(self.seed), KINDS[self.kind].strict)

    def __str__(self) -> str:
        program = "\n\n".join(self.lines)
        return f"{self.kind} program of seed {self.seed}: {self.difference}\n\n" + _AGAIN.format(
            program=program, kind=self.kind, quiet=is_quiet(self.seed)
        )


# Statements are apart by an empty line: the libraries are compared after each of them.
_AGAIN = """python - <<'END'
from tests.parity.random_programs.programs import show
show('''
{program}
''', {kind!r}, quiet={quiet})
END"""


def show(program: str, kind: str, quiet: bool) -> None:
    """Run a program in both libraries and print how they differ."""
    difference = first_difference(make, program.strip().split("\n\n"), quiet, KINDS[kind].strict)
    sys.stdout.write(f"{difference or 'no difference'}\n")


def is_quiet(seed: int) -> bool:
    return bool(seed % 3)


def failure(kind: str, seed: int, without: str | None = None) -> Failure | None:
    """Run the program of a seed, without statements that match a pattern."""
    pair = Pair(make, is_quiet(seed), KINDS[kind].strict)
    writer = Writer(seed, pair.theirs)
    lines: list[str] = []
    while len(lines) < KINDS[kind].length:
        line = next_statement(writer, KINDS[kind].statements, without)
        if "\n" not in line and not pair.allows(line):
            continue
        lines.append(line)
        difference = pair.step(line)
        if difference:
            return Failure(kind, seed, lines, difference)
    difference = pair.finish()
    return Failure(kind, seed, lines, difference) if difference else None


def failures(kind: str, first: int, count: int, but: Container[int] = ()) -> list[str]:
    """For each seed with a difference, but for some: its shrunk program and what differs."""
    found = (failure(kind, seed) for seed in range(first, first + count) if seed not in but)
    return [str(each.shrunk()) for each in found if each]
