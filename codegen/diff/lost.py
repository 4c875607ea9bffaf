"""What no longer watches the code: tests that are gone or skipped, samples switched off, pages that are gone."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from ..model import Location, Model, Op
from .definitions import Definition, decorators, definitions, same_code
from .marks import mark, marked_whole
from .report import Finding, Marked, OpChange
from .rules import RULES
from .source_files import Files, tree_of
from .state import State

_NO_SAMPLES = (None, "none")
_MOST_NAMED = 5
_SWITCHES = ("skip", "skipif", "xfail")


def lost_changes(base: State, head: State) -> Iterator[OpChange]:
    if base.model is None or head.model is None:
        return
    yield from _samples(base.model, head.model)
    if base.files and head.files:
        yield from _generators(base, head)
        yield from _tests(base.files, head.files)
        yield from _pages(base.files, head.files, head.model)


def _change(
    op: str, code: str, message: str, where: Location | None, texts: tuple[Marked | None, ...] = ()
) -> OpChange:
    rule = RULES[code]
    old, new = texts or (None, None)
    return OpChange(op, "", None, None, (Finding(rule, op, message, "", rule.remedy, old, new, where),))


# -------------------- samples --------------------


def _samples(old: Model, new: Model) -> Iterator[OpChange]:
    for name, op in new.ops.items():
        before = old.ops.get(name)
        if before is None or op.derived_from is not None or before.samples == op.samples:
            continue
        if op.samples in _NO_SAMPLES:
            message = f"its tests are switched off: `samples` is `none`, it was `{before.samples}`"
            whole = marked_whole(f"samples: {before.samples}"), marked_whole("samples: none")
            yield _change(name, "Q001", message, op.location, whole)
        elif before.samples not in _NO_SAMPLES:
            message = f"its samples are made by `{op.samples}`, they were by `{before.samples}`"
            yield _change(
                name, "Q005", message, op.location, mark(f"samples: {before.samples}", f"samples: {op.samples}")
            )


def _generators(base: State, head: State) -> Iterator[OpChange]:
    """Generators of samples whose code has changed."""
    assert base.model is not None and head.model is not None
    file = head.model.project.samples
    if base.files.get(file) == head.files.get(file):
        return
    old, new = (_definitions(state.files.get(file)) for state in (base, head))
    for name, each in new.items():
        users = [op for op in head.model.ops.values() if op.samples == name and op.derived_from is None]
        if users and name in old and not same_code(old[name], each):
            was, now = _calls(old[name]), _calls(each)
            fewer = f"; it makes {now} calls, it made {was}" if now < was else ""
            message = f"`{name}` has changed, which makes the samples of {_ops(users)}{fewer}"
            yield _change(f"{name}()", "Q005", message, Location(file, each.node.lineno, 1))


def _calls(definition: Definition) -> int:
    """How many places yield a sample."""
    return sum(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in ast.walk(definition.node))


def _ops(ops: list[Op]) -> str:
    names = ", ".join(f"`{op.name}`" for op in ops[:_MOST_NAMED])
    more = f" and {len(ops) - _MOST_NAMED} more" if len(ops) > _MOST_NAMED else ""
    return f"{len(ops)} ops: {names}{more}" if len(ops) > 1 else names


# -------------------- tests --------------------


def _tests(old: Files, new: Files) -> Iterator[OpChange]:
    changed = [file for file in old if _is_test(file) and old[file] != new.get(file)]
    added = {name for file in new if _is_test(file) and old.get(file) != new[file] for name in _tests_of(new[file])}
    for file in changed:
        before, after = _tests_of(old[file]), _tests_of(new.get(file))
        gone = [name for name in before if name not in after and name not in added]
        where = Location(file, 1, 1) if file in new else None
        if gone:
            yield _change(file, "Q002", f"{_counted(gone)} gone: {_named(gone)}", where)
        off = [name for name, each in after.items() if name in before and _is_off(each) and not _is_off(before[name])]
        if off:
            first = after[off[0]].node
            message = f"{_counted(off)} skipped or expected to fail: {_named(off)}"
            yield _change(file, "Q003", message, Location(file, first.lineno, 1))


def _is_test(file: str) -> bool:
    return file.startswith("tests/") and file.rpartition("/")[2].startswith("test_") and file.endswith(".py")


def _tests_of(text: bytes | None) -> Mapping[str, Definition]:
    found = _definitions(text)
    return {name: each for name, each in found.items() if name.rpartition(".")[2].startswith("test_")}


def _definitions(text: bytes | None) -> Mapping[str, Definition]:
    tree = tree_of(text) if text is not None else None
    return definitions(tree) if tree is not None else {}


def _is_off(test: Definition) -> bool:
    return any(name in _SWITCHES for name in decorators(test))


def _counted(names: Iterable[str]) -> str:
    count = len([*names])
    return "1 test is" if count == 1 else f"{count} tests are"


def _named(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_MOST_NAMED])
    return f"{shown} and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else shown


# -------------------- pages --------------------


def _pages(old: Files, new: Files, model: Model) -> Iterator[OpChange]:
    """Pages written by hand; those of ops come and go with them."""
    for file in old:
        is_page = file.startswith("docs/") and file.endswith(".md") and not file.startswith(f"{model.project.docs}/")
        if is_page and file not in new:
            yield _change(file, "Q004", "the page is gone", None)
