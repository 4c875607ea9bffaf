"""Damaged input files, 1,000 of 5,000 each day: a located message or a model, never a traceback; the diff judges it.

The damage is done to small files cut from the real ones, a handful of entries at a time, so that all entries and all
keys have their turn, and some kinds of it to the real ones, which take a hundred times as long. Every case has a
number that repeats it: ``damaged(pair, number)``.
"""

import ast
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import cache

import pytest

from codegen import load as loading
from codegen.diff.compare import compare
from codegen.diff.report import Report, Verdict, worst
from codegen.diff.state import state_of
from codegen.emit import emit_all
from codegen.errors import CODES, InvalidInput, Problems
from codegen.keys import DERIVATIVE_KEYS, OP_KEYS
from codegen.load import load
from codegen.model import Model
from codegen.project import LIBRARY_ROOT, Project
from codegen.sources.call_forms import ANY_CALL
from codegen.sources.hand_written import read_hand_written
from tests import daily
from tests.codegen.yaml_damage import DAMAGE, entries_of

CASES = 5000
CHUNKS = 25
SHARE = 5  # one of so many is tried, others each day
NEIGHBOURS = 3  # entries in a small pair of files, besides those with rare keys
LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


@dataclass(frozen=True)
class Pair:
    """The texts of the two files, and the model that they give."""

    ops: str
    derivatives: str
    model: Model


@cache
def hand_written():
    """The hand-written sources. To the small files, the ops that they lack are those of a library."""
    sources = read_hand_written(Project(LIBRARY_ROOT), Problems())
    names = re.findall(r"^- func: (\w+)", (LIBRARY_ROOT / "ops.yaml").read_text(encoding="utf-8"), re.MULTILINE)
    ops = dict.fromkeys(names, ANY_CALL)
    return replace(sources, methods={**sources.methods, **ops}, library_ops=ops)


@pytest.fixture(autouse=True)
def sources_are_read_once(monkeypatch):
    """The settings, kernels and helpers stay as they are, and to read them takes longer than all the rest."""
    monkeypatch.setattr(loading, "read_project", lambda root, problems: Project(root))
    monkeypatch.setattr(loading, "read_hand_written", lambda project, problems: hand_written())


def read(ops: str, derivatives: str) -> Model:
    """The model of two texts; what is no Unicode, such as a lone surrogate, is not part of a file."""
    return load(LIBRARY_ROOT, {"ops.yaml": ops.encode(), "derivatives.yaml": derivatives.encode()})


@cache
def real() -> Pair:
    ops, derivatives = ((LIBRARY_ROOT / name).read_text(encoding="utf-8") for name in ("ops.yaml", "derivatives.yaml"))
    return Pair(ops, derivatives, load(LIBRARY_ROOT))


@cache
def small(index: int) -> Pair:
    """A block of entries, some with rare keys, and the derivatives; those that can do without the other ops."""
    head, *entries = entries_of(real().ops)
    _, *derivatives = entries_of(real().derivatives)
    start, special = index * len(entries) // CHUNKS, special_entries(entries, derivatives)
    rare = special[index::CHUNKS]
    chosen = list(dict.fromkeys(entries[start : start + NEIGHBOURS] + rare))
    while True:
        names = {schema_of(entry) for entry in chosen}
        kept = [entry for entry in derivatives if schema_of(entry) in names]
        try:
            return with_derivatives("".join(chosen), kept)
        except InvalidInput as error:
            chosen = without_errors("ops.yaml", chosen, error)


def with_derivatives(ops: str, kept: list[str]) -> Pair:
    while True:
        text = "".join(kept) or "[]\n"
        try:
            return Pair(ops, text, read(ops, text))
        except InvalidInput as error:
            if any(found.location.file == "ops.yaml" for found in error.diagnostics):
                raise
            kept = without_errors("derivatives.yaml", kept, error)


def without_errors(file: str, entries: list[str], error: InvalidInput) -> list[str]:
    """The entries of a file of which no line has an error."""
    wrong = {found.location.line for found in error.diagnostics if found.location.file == file}
    assert wrong, error
    return [entry for entry, lines in zip(entries, line_ranges(entries), strict=True) if not wrong & set(lines)]


def schema_of(entry: str) -> str:
    return entry.partition(": ")[2].partition("\n")[0]


def special_entries(entries: list[str], derivatives: list[str]) -> list[str]:
    """The entries of ops that have one of the rarer keys."""
    in_ops = "deprecated versions divergence python_module view shares_memory factory inplace out".split()
    rare = [*in_ops, "when", "node", "complex"]
    texts = {schema_of(entry): entry for entry in derivatives}
    whole = {entry: entry + texts.get(schema_of(entry), "") for entry in entries}
    return [entry for entry, text in whole.items() if any(f"\n  {key}:" in text for key in rare)]


def line_ranges(entries: list[str]) -> Iterator[range]:
    start = 1
    for entry in entries:
        yield range(start, start + entry.count("\n"))
        start += entry.count("\n")


def damaged(pair: Pair, number: int) -> tuple[str, str]:
    """One of the two texts, or both, with some damage; ``number`` decides which, from ``CASES`` on which kind."""
    rng = random.Random(number)
    texts = [pair.ops, pair.derivatives]
    kinds = rng.choices(DAMAGE, k=rng.choice((1, 1, 1, 2, 3))) if number < CASES else [DAMAGE[number - CASES]]
    for damage in kinds:
        which = rng.randrange(2)
        texts[which] = damage(texts[which], rng)
    return texts[0], texts[1]


# ---- what must be true ----


def check_diagnostics(error: InvalidInput, texts: dict[str, str]) -> None:
    """Each has a known code, says something, and is inside the file that it names."""
    assert error.diagnostics
    assert all(character.isprintable() or character in "\n\t" for character in str(error)), error
    for file in {found.location.file for found in error.diagnostics}:
        # A kernel that does not fit is reported where it is written.
        text = texts[file] if file in texts else (LIBRARY_ROOT / file).read_text(encoding="utf-8")
        lines = LINE_END.split(text.removeprefix("\ufeff"))
        for found in (each for each in error.diagnostics if each.location.file == file):
            assert found.code in CODES and found.message.strip()
            assert 1 <= found.location.line <= len(lines), found
            assert 1 <= found.location.column <= len(lines[found.location.line - 1]) + 1, found


def check_verdict(base: Model, head: Model) -> None:
    """What the diff says of an op agrees with what a plain comparison of the two models says."""
    report = compare(state_of("base", base), state_of("head", head), date(2026, 1, 1))
    verdicts = verdicts_of(report)
    renamed = {finding.old.text for change in report.changes for finding in change.findings if finding.old}
    for name in base.ops.keys() - head.ops.keys():
        assert verdicts.get(name) is Verdict.breaking or name in renamed, f"{name} is gone: {verdicts.get(name)}"
    for name in base.ops.keys() & head.ops.keys():
        if is_same(name, base, head):
            assert name not in verdicts, f"{name} has not changed: {verdicts[name]}"
        elif str(base.ops[name].schema) != str(head.ops[name].schema):
            assert name in verdicts, f"the schema of {name} has changed"
    assert report.exit_code() == {Verdict.breaking: 1, Verdict.forward_only: 2}.get(report.verdict, 0)


def verdicts_of(report: Report) -> dict[str, Verdict]:
    """Those of all ops that are named, also as variants for which a finding is the same."""
    verdicts = {change.op: change.verdict for change in report.changes}
    for finding in (each for change in report.changes for each in change.findings):
        for variant in re.findall(r"`([^`]+)`", finding.message.partition("; the same for ")[2]):
            verdicts[variant] = worst([finding.verdict, verdicts.get(variant, finding.verdict)])
    return verdicts


def is_same(name: str, base: Model, head: Model) -> bool:
    return description(name, base) == description(name, head)


def description(name: str, model: Model) -> tuple[object, ...]:
    """Everything about an op but its place in the file."""
    op = model.ops[name]
    derivative = model.derivative_of(op)
    sources = (
        [(each.targets, each.source) for each in (*derivative.backward, *derivative.forward)] if derivative else []
    )
    parts = ()
    if derivative:
        parts = (derivative.node, derivative.output_differentiability, derivative.when, derivative.refuses_complex)
    slots = (getattr(op, slot) for slot in op.__slots__ if slot not in ("location", "schema"))
    return (str(op.schema), *map(repr, slots), repr(sources), repr(parts))


def check_code(model: Model) -> None:
    """What is generated is Python."""
    for path, text in emit_all(model).items():
        if path.endswith((".py", ".pyi")):
            ast.parse(text)


def check(pair: Pair, number: int, emits: bool = False) -> bool:
    """Whether the damaged files load."""
    ops, derivatives = damaged(pair, number)
    try:
        model = read(ops, derivatives)
    except InvalidInput as error:
        check_diagnostics(error, {"ops.yaml": ops, "derivatives.yaml": derivatives})
        return False
    check_verdict(pair.model, model)
    if emits:
        check_code(model)
    return True


# ---- the tests ----


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_damage(chunk):
    numbers = daily.some(range(chunk, CASES, CHUNKS), SHARE)
    loaded = [number for number in numbers if check(small(chunk), number, emits=number % 40 == chunk)]
    assert len(loaded) < 0.7 * len(numbers), "the damage is too harmless to test much"


@pytest.mark.parametrize("chunk", range(4))
def test_damage_of_the_real_files(chunk):
    for kind in daily.some(range(chunk, len(DAMAGE), 4), SHARE):
        check(real(), CASES + kind)


def test_the_damage_is_not_too_great_to_test_much():
    loaded = [index for index in range(CHUNKS) if check(small(index), index)]
    assert 0.1 < len(loaded) / CHUNKS < 0.7


def test_every_key_has_its_turn():
    text = "".join(small(index).ops + small(index).derivatives for index in range(CHUNKS))
    keys = [key.name for key in (*OP_KEYS, *DERIVATIVE_KEYS) if f"\n  {key.name}:" in real().ops + real().derivatives]
    assert [key for key in keys if f"\n  {key}:" not in text] == []


def test_an_entry_that_is_taken_out_is_a_break():
    head, *entries = entries_of(real().ops)
    left = [entry for entry in entries if not entry.startswith("- func: erfinv(")]
    _, *derivatives = entries_of(real().derivatives)
    kept = [entry for entry in derivatives if not entry.startswith("- name: erfinv(")]
    report = compare(
        state_of("base", real().model), state_of("head", read(head + "".join(left), "".join(kept))), date(2026, 1, 1)
    )
    assert "erfinv" in {change.op for change in report.changes if change.verdict is Verdict.breaking}
