"""The table of PyTorch's modules and names, `torch_names.tsv`, which `python -m tests.parity.api.surface` writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

_DEFINED = ("class", "exception", "enum", "function")  # kinds whose `home` is a module


class TorchName(NamedTuple):
    """A line: a name of a module of PyTorch's, or the module itself if the name is empty."""

    module: str
    name: str
    kind: str  # module, class, exception, enum, function, type, value; member of the class, or enum, that `module` is
    home: str  # of a class or function, the module that says to define it; of a value or a member of an enum, its text
    packages: int  # how many of 99 public packages use it
    at_import: int  # how many of them as soon as they are imported


@cache
def _text() -> str:
    return Path(__file__).with_name("torch_names.tsv").read_text(encoding="utf-8")


def _row(line: str) -> TorchName:
    fields = line.split("\t")
    return TorchName(fields[0], fields[1], fields[2], fields[3], int(fields[4]), int(fields[5]))


@cache
def torch_table() -> list[TorchName]:
    """All lines."""
    return [_row(line) for line in _text().splitlines()[1:]]


def find(module: str, name: str) -> TorchName | None:
    """The line of a name, or of a module if the name is empty. The table is searched as a text, which is quicker."""
    text = _text()
    start = text.find(f"\n{module}\t{name}\t") + 1
    return _row(text[start : text.index("\n", start)]) if start else None


def has_module_below(module: str) -> bool:
    """Whether PyTorch's module is a package."""
    return re.search(rf"\n{re.escape(module)}\.[^\t]*\t\tmodule\t", _text()) is not None


def names_in(module: str) -> Iterator[TorchName]:
    """The lines of a module, or of an enum, which lie together."""
    text = _text()
    start = text.find(f"\n{module}\t") + 1
    while start and text.startswith(f"{module}\t", start):
        end = text.index("\n", start)
        yield _row(text[start:end])
        start = end + 1


def other_places(row: TorchName) -> list[str]:
    """The other modules that have the same class or function; the one that defines it comes first."""
    line = rf"\n([^\t]*)\t{re.escape(row.name)}\t[a-z]*\t{re.escape(row.home)}\t"
    places = re.findall(line, _text()) if row.home else []
    if row.home and row.kind in _DEFINED:
        places.insert(0, row.home)
    return [place for place in dict.fromkeys(places) if place != row.module]


@cache
def homes() -> dict[str, dict[str, str]]:
    """By module and name: which module of PyTorch defines a class or function."""
    found: dict[str, dict[str, str]] = {}
    for each in torch_table():
        if each.home and each.kind in _DEFINED:
            found.setdefault(each.module, {})[each.name] = each.home
    return found
