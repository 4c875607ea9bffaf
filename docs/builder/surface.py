"""The page of PyTorch's modules and names: which are here, which refuse, with what text, and which are not.

`python -m mindtorch -m docs.builder.surface` prints the table, a line for each name: module, name, kind, how many
public packages use it, `present`, `refuses` or `absent`, and the reason. It is looked at under `install_as_torch`, as
programs written for PyTorch see the library.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from mindtorch._support.absent.making import reason, refusal_of
from mindtorch._support.torch_names import TorchName, torch_table

STATES = ("present", "refuses", "absent")


class Line(NamedTuple):
    module: str
    name: str
    kind: str
    packages: int
    state: str
    reason: str


def lines() -> Iterator[Line]:
    """The table, in the order of names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a look at a deprecated name is no use of it
        for row in torch_table():
            yield Line(row.module, row.name, row.kind, row.packages, *state_of(row))


def state_of(row: TorchName) -> tuple[str, str]:
    """Whether something is here, and if not, what is said about it."""
    found = _place(row.module)
    if found is not None and row.name:
        found = getattr(found, row.name, None) if hasattr(found, row.name) else _MISSING
    if found is None and not row.name or found is _MISSING or _place(row.module) is None:
        return "absent", reason(row.module, row.name)
    refusal = refusal_of(found)
    return ("present", "") if refusal is None else ("refuses", refusal)


_MISSING = object()


@cache
def _place(path: str) -> Any:
    """A module of torch, or a class or namespace in one."""
    try:
        return import_module(path)
    except ModuleNotFoundError:
        module, _, name = path.rpartition(".")
        return getattr(_place(module), name, None) if module else None


# -------------------- the page --------------------


def surface_page(root: Path) -> str:
    """The page, made in a process in which the library has PyTorch's name."""
    command = [sys.executable, "-m", "mindtorch", "-m", "docs.builder.surface"]
    printed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    rows = [line.split("\t") for line in printed.splitlines()]
    return page_of([Line(row[0], row[1], row[2], int(row[3]), row[4], row[5]) for row in rows])


def page_of(table: list[Line]) -> str:
    counts = Counter(line.state for line in table)
    used = Counter(line.state for line in table if line.packages)
    head = (
        "# PyTorch's modules and names\n\n"
        "Every module and name that PyTorch 2.13 documents, and what public packages use besides. What *refuses* can "
        "be imported, and raises an error with the given reason when it is used; what is *absent* cannot be imported. "
        "A number behind a name says how many of 99 public packages use it.\n\n"
        "| | all | used by a package |\n|---|---:|---:|\n"
    )
    head += "".join(f"| {state} | {counts[state]:,} | {used[state]:,} |\n" for state in STATES)
    modules: dict[str, list[Line]] = {}
    for line in table:
        modules.setdefault(line.module, []).append(line)
    return head + "".join(_section(module, found) for module, found in modules.items())


def _section(module: str, table: list[Line]) -> str:
    text = f"\n## {module}\n"
    for state in STATES:
        by_reason: dict[str, list[Line]] = {}
        for line in table:
            if line.state == state and line.name:
                by_reason.setdefault(line.reason.partition(": ")[2], []).append(line)
        for why, found in by_reason.items():
            text += f"\n{state}{f' ({why})' if why else ''}: {', '.join(map(_shown, found))}\n"
    return text


def _shown(line: Line) -> str:
    return f"`{line.name}`" + (f" {line.packages}" if line.packages else "")


if __name__ == "__main__":
    for line in lines():
        print(*line, sep="\t")
