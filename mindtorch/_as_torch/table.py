"""The table of PyTorch's modules and names, `torch_names.tsv`, which `tests/parity/api/surface.py` writes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple


class TorchName(NamedTuple):
    """A line: a name of a module of PyTorch's, or the module itself if the name is empty."""

    module: str
    name: str
    kind: str  # module, class, function or value; member of the class that `module` is
    home: str  # the module that says to define it, of a class or function
    packages: int  # how many of 99 public packages use it
    at_import: int  # how many of them as soon as they are imported


@cache
def torch_table() -> list[TorchName]:
    """All lines."""
    lines = Path(__file__).with_name("torch_names.tsv").read_text().splitlines()[1:]
    rows = (line.split("\t") for line in lines)
    return [TorchName(row[0], row[1], row[2], row[3], int(row[4]), int(row[5])) for row in rows]


@cache
def homes() -> dict[str, dict[str, str]]:
    """By module and name: which module of PyTorch defines a class or function."""
    found: dict[str, dict[str, str]] = {}
    for each in torch_table():
        if each.home:
            found.setdefault(each.module, {})[each.name] = each.home
    return found
