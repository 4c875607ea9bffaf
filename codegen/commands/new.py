"""``python -m codegen new``: add an op, from its schema string or from the name that it has in PyTorch."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..load import load
from ..new.draft import Request
from ..new.files import Files
from ..new.plan import make_plan
from ..new.summary import changes, report
from ..new.torch_dtypes import accepted_dtypes
from ..new.torch_facts import find_facts
from . import write

HELP = "add an op: its entries, with what can be guessed, and a list of what is left to write"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "op", metavar="OP", help="a schema, 'hypot(Tensor self, Tensor other) -> Tensor', or an op of PyTorch: hypot"
    )
    parser.add_argument("--family", help="the group of ops that it belongs to: pointwise, reduction ...")
    parser.add_argument("--after", metavar="NAME", help="the listed op to put it below, and to take guesses from")
    parser.add_argument("--composite", action=argparse.BooleanOptionalAction, help="is it written in other ops?")
    parser.add_argument("--decomposition", metavar="EXPRESSION", help="the op in other ops: 'pow(self, 2)'")
    parser.add_argument("--dry-run", action="store_true", help="write nothing; print the changes as a patch")
    parser.add_argument("--no-generate", action="store_true", help="do not write the generated files")


def run(options: argparse.Namespace, root: Path) -> int:
    composite = True if options.decomposition else options.composite
    request = Request(options.op, options.family, options.after, composite, options.decomposition)
    plan = make_plan(root, request, find_facts(), accepted_dtypes)
    if options.dry_run:
        print(changes(plan))
        print(report(plan))
        return 0
    written = _write(plan.files, root)
    print(report(plan))
    print()
    print("\n".join(written))
    if not options.no_generate:
        print(write.generate(load(root)))
    return 0


def _write(files: Files, root: Path) -> list[str]:
    """Write the files that a person goes on with; says which."""
    lines = [f"{'created' if files.on_disk(file) is None else 'updated'} {file}" for file in files.changed]
    for file, content in files.changed.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_bytes(content)
    return lines
