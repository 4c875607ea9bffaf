"""Compares the flight recorders of several processes: which is behind at which call, and where they differ."""

from __future__ import annotations

import html
import json
import pickle
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_LATE = 0.5  # seconds
_KEPT = 8  # calls before the first that went wrong, on the page


@dataclass
class Finding:
    """What was found at one call of one group."""

    group: str
    sequence: int
    kind: str  # missing, differs, unfinished
    text: str
    ranks: Sequence[int] = ()


@dataclass
class Group:
    """What the processes of one group have recorded: each rank's calls by their number."""

    name: str
    description: str
    ranks: list[int]
    calls: dict[int, dict[int, dict[str, Any]]] = field(default_factory=dict)
    messages: dict[int, list[dict[str, Any]]] = field(default_factory=dict)


class _Data(pickle.Unpickler):
    """Reads what a dump is made of, and calls nothing that it names."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"a dump of the flight recorder has no {module}.{name} in it")


def read(paths: Iterable[Path]) -> dict[int, dict[str, Any]]:
    """The dumps by rank: pickles or JSON, in files whose names end in the rank; folders stand for what is in them."""
    found = {}
    for path in sorted(_files(paths)):
        rank = re.search(r"(\d+)(\.json|\.pickle|\.pkl)?$", path.name)
        if rank is None:
            raise ValueError(f"the name of a dump ends in the rank of its process, but this is {path.name!r}")
        with path.open("rb") as file:
            found[int(rank[1])] = json.load(file) if path.suffix == ".json" else _Data(file).load()
    if not found:
        raise ValueError("there are no dumps")
    return found


def _files(paths: Iterable[Path]) -> list[Path]:
    return [each for path in paths for each in (path.iterdir() if path.is_dir() else [path]) if each.is_file()]


def groups(dumps: Mapping[int, Mapping[str, Any]]) -> list[Group]:
    """The process groups, and who has recorded what in them."""
    found: dict[tuple[str, str], Group] = {}
    for rank, dump in sorted(dumps.items()):
        for name, told in dump["pg_config"].items():
            ranks = json.loads(told["ranks"])
            found.setdefault((name, told["ranks"]), Group(name, told["desc"], ranks))
        for entry in dump["entries"]:
            group = _group_of(found, entry, rank)
            if entry["is_p2p"]:
                group.messages.setdefault(rank, []).append(entry)
            else:
                group.calls.setdefault(rank, {}).setdefault(entry["collective_seq_id"], entry)
    return list(found.values())


def _group_of(found: dict[tuple[str, str], Group], entry: Mapping[str, Any], rank: int) -> Group:
    name, description = entry["process_group"]
    for group in found.values():
        if group.name == name and rank in group.ranks:
            return group
    group = Group(name, description, [])
    found[name, ""] = group
    return group


# -------------------- what is wrong --------------------


def findings(group: Group, dumps: Mapping[int, Any]) -> list[Finding]:
    """What is wrong in a group, the first call first."""
    present = [rank for rank in group.ranks if rank in dumps]
    silent = [rank for rank in group.ranks if rank not in dumps]
    found = []
    if silent:
        text = f"{_ranks(silent)} left no dump: ended, killed or stopped"
        found.append(Finding(group.name, 0, "missing", text, silent))
    numbers = sorted({number for calls in group.calls.values() for number in calls})
    first = max((min(calls) for calls in group.calls.values() if calls), default=0)  # older ones have left the ring
    for number in numbers:
        if number >= first:
            found += _at(group, number, present)
    return found + _messages(group)


def _at(group: Group, number: int, present: Sequence[int]) -> list[Finding]:
    came = {rank: group.calls[rank][number] for rank in present if number in group.calls.get(rank, {})}
    absent = [rank for rank in present if rank not in came]
    found = []
    if absent:
        last = {rank: max(group.calls.get(rank, {0: None})) for rank in absent}
        behind = ", ".join(f"rank {rank} ended with call {last[rank]}" for rank in absent)
        text = f"{_ranks(came)} entered {_called(next(iter(came.values())))}, {_ranks(absent)} did not: {behind}"
        found.append(Finding(group.name, number, "missing", text, absent))
    kinds = {rank: _facts(entry) for rank, entry in came.items()}
    if len(set(kinds.values())) > 1:
        text = "; ".join(f"{_ranks(ranks)}: {fact}" for fact, ranks in _by_value(kinds).items())
        found.append(Finding(group.name, number, "differs", f"the processes differ: {text}", list(came)))
    waiting = [rank for rank, entry in came.items() if entry["state"] != "completed"]
    if waiting and not absent and len(set(kinds.values())) == 1:
        text = f"{_ranks(waiting)} did not come back from {_called(came[waiting[0]])}{_late(came)}"
        found.append(Finding(group.name, number, "unfinished", text, waiting))
    return found


def _late(came: Mapping[int, Mapping[str, Any]]) -> str:
    """Who came to a call long after the first."""
    since = min(entry["time_created_ns"] for entry in came.values())
    waited = {rank: (entry["time_created_ns"] - since) / 1e9 for rank, entry in came.items()}
    return "".join(f"; rank {rank} came {seconds:.1f} s late" for rank, seconds in waited.items() if seconds > _LATE)


def _messages(group: Group) -> list[Finding]:
    found = []
    for rank, entries in group.messages.items():
        for entry in entries:
            if entry["state"] != "completed":
                text = f"rank {rank}: {_called(entry)} was not finished"
                found.append(Finding(group.name, entry["p2p_seq_id"], "unfinished", text, [rank]))
    return found


def _by_value(found: Mapping[int, str]) -> dict[str, list[int]]:
    turned: dict[str, list[int]] = {}
    for rank, value in found.items():
        turned.setdefault(value, []).append(rank)
    return turned


def _facts(entry: Mapping[str, Any]) -> str:
    """What all processes have to agree on: kind, sizes and dtypes of what goes in."""
    name = entry["profiling_name"].partition(":")[2]
    if name in ("scatter", "gather", "broadcast") and not entry["input_sizes"]:
        return name
    parts = [f"{dtype}{sizes}" for sizes, dtype in zip(entry["input_sizes"], entry["input_dtypes"], strict=True)]
    return f"{name}({', '.join(parts)})" if name != "all_to_all" else name


def _called(entry: Mapping[str, Any]) -> str:
    number = entry["p2p_seq_id"] if entry["is_p2p"] else entry["collective_seq_id"]
    return f"{'message' if entry['is_p2p'] else 'call'} {number}, {_facts(entry)}"


def _ranks(ranks: Iterable[int]) -> str:
    chosen = sorted(ranks)
    return f"rank{'s' if len(chosen) > 1 else ''} {', '.join(map(str, chosen))}"


# -------------------- text and page --------------------


def text(dumps: Mapping[int, Mapping[str, Any]]) -> str:
    """What was found, as text."""
    lines = []
    for group in groups(dumps):
        lines.append(f"group {group.name} ({group.description}), {_ranks(group.ranks)}")
        lines += [f"  rank {rank}: {_progress(group, rank, rank in dumps)}" for rank in group.ranks]
        found = findings(group, dumps)
        lines += [f"  {_line(each)}" for each in found]
        if not found:
            lines.append("  nothing is wrong")
    return "\n".join(lines)


def _line(found: Finding) -> str:
    return f"call {found.sequence}: {found.text}" if found.sequence else found.text


def _progress(group: Group, rank: int, is_there: bool) -> str:
    if not is_there:
        return "no dump"
    calls = group.calls.get(rank, {})
    if not calls:
        return "no calls"
    last = calls[max(calls)]
    return f"{'completed' if last['state'] == 'completed' else 'is in'} {_called(last)}"


_STYLE = """body{font:14px/1.5 system-ui,sans-serif;margin:2rem;color:#222}
table{border-collapse:collapse;margin:.5rem 0}th{background:#f4f4f4}
th,td{border:1px solid #ccc;padding:.25rem .6rem;text-align:left;font-size:13px}
.completed{background:#e6f4ea}.started{background:#fef7e0}.missing{background:#fce8e6}
.differs{outline:2px solid #c5221f}
li{color:#a50e0e}"""


def page(dumps: Mapping[int, Mapping[str, Any]]) -> str:
    """What was found, as one page that needs no other file."""
    parts = [_section(group, dumps) for group in groups(dumps)]
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>Flight recorder</title>"
        f"<style>{_STYLE}</style><h1>Flight recorder of {_ranks(dumps)}</h1>{''.join(parts)}</html>\n"
    )


def _section(group: Group, dumps: Mapping[int, Any]) -> str:
    found = findings(group, dumps)
    items = "".join(f"<li>{html.escape(_line(each))}" for each in found)
    title = f"group {group.name} ({html.escape(group.description)}), {_ranks(group.ranks)}"
    told = f"<ul>{items}</ul>" if items else "<p>Nothing is wrong.</p>"
    return f"<h2>{title}</h2>{told}{_table(group, dumps, found)}"


def _table(group: Group, dumps: Mapping[int, Any], found: Sequence[Finding]) -> str:
    numbers = sorted({number for calls in group.calls.values() for number in calls})
    if not numbers:
        return ""
    wrong = [each.sequence for each in found if each.sequence]
    numbers = [each for each in numbers if each > (min(wrong) if wrong else numbers[-1]) - _KEPT]
    differing = {each.sequence for each in found if each.kind == "differs"}
    head = "".join(f"<th>rank {rank}" for rank in group.ranks)
    rows = "".join(_table_row(group, number, number in differing) for number in numbers)
    return f"<table><tr><th>call{head}{rows}</table>"


def _table_row(group: Group, number: int, differs: bool) -> str:
    cells = [_cell(group.calls.get(rank, {}).get(number)) for rank in group.ranks]
    return f"<tr{' class=differs' if differs else ''}><th>{number}{''.join(cells)}"


def _cell(entry: Mapping[str, Any] | None) -> str:
    if entry is None:
        return "<td class=missing>-"
    took = entry.get("duration_ms")
    shown = _facts(entry) + (f", {took:.1f} ms" if took is not None else f", {entry['state']}")
    return f"<td class={'completed' if entry['state'] == 'completed' else 'started'}>{html.escape(shown)}"
