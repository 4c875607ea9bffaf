"""Time every op of the table, layers, losses and optimizers against torch: `make bench-ops`.

Each case is an op, a size class and a direction. All of them take about half an hour; `--quick` takes two for the
geometric means of cases drawn at random. With `--against` another mindtorch (a folder, or a revision of this
repository) takes the place of torch, and below 1 means faster than that one. `--check` fails for cases that are a fifth
slower than the stored table says, or than the other mindtorch, after measuring them again.
"""

import argparse
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.__main__ import versions
from benchmarks.ops import results
from benchmarks.ops.compare import DIFFERENT, Pair, against_checkout, against_torch
from benchmarks.ops.planning import Planner
from benchmarks.ops.report import PICTURE, SHOWN, picture, report
from benchmarks.ops.results import Key, Row
from benchmarks.ops.run import SLOWER, Choice, Run, all_keys, slower_rows
from benchmarks.ops.worker import ROOT

TABLE = ROOT / "benchmarks" / "ops.tsv"
PAGE = ROOT / "benchmarks" / "ops.md"
QUICK = 2.0  # minutes


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ops", description=__doc__)
    add = parser.add_argument
    add("--only", default="", help='cases that have this regular expression in "op, size, direction"')
    add("--part", default="1/1", help="2/5: the cases of every fifth op, from the second on")
    add("--sample", type=int, default=0, help="so many cases, drawn at random")
    add("--minutes", type=float, default=0.0, help="cases drawn at random, for so long")
    add("--quick", action="store_true", help=f"as --minutes {QUICK:g}")
    add("--seed", type=int, help="which cases and sizes are drawn (default: others in each run)")
    add("--against", metavar="DIR", help="another mindtorch instead of torch: a folder or a revision")
    add("--check", action="store_true", help="fail for cases that became slower")
    add("--write", action="store_true", help="put the rows of a part into the stored table, too")
    add("--missing", action="store_true", help="only cases that the stored table does not have")
    add("--worst", type=int, default=SHOWN, help="how many of the slowest cases are printed")
    add("--tsv", type=Path, help="write the rows here")
    return parser.parse_args(arguments)


def choice_of(options: argparse.Namespace, seed: int) -> Choice:
    part, _, parts = options.part.partition("/")
    minutes = options.minutes or (QUICK if options.quick else 0.0)
    return Choice(options.only, int(part), int(parts), options.sample, minutes, seed)


@contextmanager
def checkout_of(name: str) -> Iterator[Path]:
    """A folder, or one with the files of a revision.

    They are compiled, because a process that compiles what it imports has more free memory afterwards, so that its
    large arrays are made without asking the system: a half quicker for some.
    """
    if Path(name).is_dir():
        yield Path(name)
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", name], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        subprocess.run([sys.executable, "-m", "compileall", "-q", "mindtorch", "generated"], cwd=folder, check=True)
        yield Path(folder)


@contextmanager
def pair_of(against: str | None) -> Iterator[Pair]:
    if against is None:
        with against_torch() as pair:
            yield pair
    else:
        with checkout_of(against) as checkout, against_checkout(checkout) as pair:
            yield pair


def keys_for(options: argparse.Namespace, expected: list[Row], planner: Planner) -> list[Key]:
    """All cases from which some are chosen: those of the table for a check, or all that there may be."""
    if expected:
        return [row.key for row in expected]
    known = {row.key for row in results.load(TABLE)[1]} if options.missing else set()
    families = {name: each.family for name, each in planner.sources.items()}
    return [key for key in all_keys(families) if key not in known]


def expected_rows(options: argparse.Namespace) -> list[Row]:
    """What a check compares with: the stored table, or nothing where another mindtorch is the measure."""
    return results.load(TABLE)[1] if options.check and options.against is None else []


def printed(rows: list[Row], count: int) -> None:
    lines = [*results.means(rows), "", *results.table(results.worst(rows, count))]
    print("\n".join(lines), flush=True)


def differing(run: Run) -> Iterator[str]:
    """Cases of which the two do not give the same dtypes and shapes: nothing to compare, but to look at."""
    for key, reason in run.refused.items():
        if reason.startswith(DIFFERENT):
            yield f"{', '.join(key)}: {reason}"


def stored(rows: list[Row], seed: int) -> None:
    """Write the table, the page and the picture."""
    head = f"{versions()}; seed {seed}"
    TABLE.write_text(results.written(rows, head), encoding="utf-8")
    PAGE.write_text(report(rows, head), encoding="utf-8")
    (ROOT / PICTURE).write_text(picture(rows), encoding="utf-8")


def failed(run: Run, rows: list[Row], expected: list[Row]) -> int:
    """How many cases became slower, which are printed."""
    ratios = {row.key: row.ratio for row in expected}
    slower = slower_rows(run, rows, ratios)
    for row in slower:
        wanted = ratios.get(row.key, 1.0)
        print(f"slower: {', '.join(row.key)}, {row.elements} elements: {row.ratio:.2f}, expected {wanted:.2f}")
    print(f"{len(rows)} cases, {len(slower)} more than {SLOWER:g} times as slow as expected")
    return len(slower)


def main() -> None:
    options = options_of()
    seed = secrets.randbelow(10**6) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    choice, expected, planner = choice_of(options, seed), expected_rows(options), Planner()
    keys = choice.of(keys_for(options, expected, planner))
    with pair_of(options.against) as pair:
        run = Run(pair, planner, seed)
        rows = list(run.rows(keys, choice, {row.key: row.elements for row in expected}))
        if not rows:
            sys.exit("no such case")
        printed(rows, options.worst)
        print(*differing(run), sep="\n")
        slower = failed(run, rows, expected) if options.check else 0
    if options.tsv:
        options.tsv.write_text(results.written(rows, f"{versions()}; seed {seed}"), encoding="utf-8")
    if options.against is None and not options.check and (options.write or choice.is_whole):
        is_all = choice.is_whole and not options.missing
        stored(rows if is_all else results.merged(results.load(TABLE)[1], rows), seed)
    sys.exit(slower > 0)


if __name__ == "__main__":
    main()
