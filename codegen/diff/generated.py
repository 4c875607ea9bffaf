"""What the generated code of ops newly does, from the generated files of both states: nothing is generated here."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..model import Model
from .definitions import Definition, definitions, same_code
from .source_files import Files, tree_of

_PARTS = ("ops", "nodes", "forward_ad", "methods")
_LONGEST = 100


def generated_changes(old: Files, new: Files, model: Model) -> dict[str, str]:
    """The generated functions of ops that differ, by name, each with the first thing that is new or gone."""
    found: dict[str, str] = {}
    start = model.project.generated
    for part in _PARTS:
        for file, text in new.items():
            before = old.get(file)
            if file.startswith(f"{start}/{part}/") and before is not None and before != text:
                found = {**dict(_differing(before, text)), **found}
    return found


def _differing(old: bytes, new: bytes) -> Iterator[tuple[str, str]]:
    trees = tree_of(old), tree_of(new)
    if trees[0] is None or trees[1] is None:
        return
    before, after = definitions(trees[0]), definitions(trees[1])
    for name, each in after.items():
        was = before.get(name)
        if was is not None and each.kind in ("function", "class") and ast.dump(was.node) != ast.dump(each.node):
            yield name, _summary(was, each)


def _summary(old: Definition, new: Definition) -> str:
    """ "newly does `x`, and no longer `y`": the first lines that only one of them has."""
    before, after = (ast.unparse(each.node).splitlines() for each in (old, new))
    added = next((line.strip() for line in after if line not in before), None)
    gone = next((line.strip() for line in before if line not in after), None)
    if same_code(old, new) and added is None and gone is None:
        return "is written differently"
    parts = [f"newly does `{_cut(added)}`"] if added else []
    parts += [f"no longer does `{_cut(gone)}`"] if gone else []
    return " and ".join(parts) or "does the same in another order"


def _cut(line: str) -> str:
    line = line.replace("`", "'")
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."
