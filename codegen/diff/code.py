"""What changed in the code that ops run: helpers of formulas, kernels, composite functions and shape rules.

Code is compared as Python reads it, without comments, docstrings and annotations, and modules may move to other
folders. An op runs the functions that its entries name, and what these use in their own file or import from the same
backend, or from the other composite functions or helpers. What has changed is reported once, however many ops run it.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from posixpath import dirname
from typing import TypeAlias

from ..model import Location, Model, Op
from ..project import Project
from ..sources.hand_written import imported_name, imported_path
from .definitions import differ
from .report import Finding, OpChange
from .rules import RULES
from .users import DECOMPOSITION, FORMULAS, Place, Use, named_by

_MOST_NAMED = 6


_Users: TypeAlias = dict[Use, list[Op]]


@dataclass(frozen=True, slots=True)
class CodeChanges:
    """``by_op``: findings about what only one op runs, by its name. ``shared``: an entry for each that several run.

    ``places`` are what these are about, and ``ops`` the names of those that run them.
    """

    by_op: dict[str, list[Finding]] = field(default_factory=dict)
    shared: list[OpChange] = field(default_factory=list)
    places: set[Place] = field(default_factory=set)
    ops: set[str] = field(default_factory=set)


def code_changes(old: Model | None, new: Model | None) -> CodeChanges:
    """What changed for the ops that both states have. A snapshot has no code."""
    changes = CodeChanges()
    changes.places.update(_excused(old, new) if old and new else ())
    places = [*_changed(old, new)] if old and new else []
    if not old or not new or not places:
        return changes
    for place, users in _users(places, old, new).items():
        for use, its_ops in users.items():
            changes.places.add(place)
            changes.ops.update(op.name for op in its_ops)
            if len(its_ops) == 1:
                changes.by_op.setdefault(its_ops[0].name, []).append(_of_one(place, use, its_ops[0], new))
            else:
                changes.shared.append(_of_several(place, use, its_ops, new))
    return changes


# -------------------- what is said --------------------


def _of_one(place: Place, use: Use, op: Op, model: Model) -> Finding:
    own = [start.name for each, start in named_by(op, model) if each == use and use not in (FORMULAS, DECOMPOSITION)]
    what = (
        f"{use.one} `{place.name}` has changed"
        if place.name in own
        else f"`{place.name}` has changed, which {use.one} uses"
    )
    return Finding(RULES[use.rule], op.name, what, location=_location(place, model))


def _of_several(place: Place, use: Use, ops: list[Op], model: Model) -> OpChange:
    name = f"{place.name}()"
    message = f"`{place.name}` has changed, which {use.many} of {len(ops)} ops use: {_listed(ops)}"
    names = tuple(op.name for op in ops)
    finding = Finding(RULES[use.rule], name, message, location=_location(place, model), ops=names)
    return OpChange(name, "", None, None, (finding,))


def _listed(ops: list[Op]) -> str:
    shown = [f"`{op.name}`" for op in ops[:_MOST_NAMED]]
    others = len(ops) - len(shown)
    return ", ".join([*shown[:-1], f"{shown[-1]} and {others} more"] if others else shown)


def _location(place: Place, model: Model) -> Location:
    statement = model.sources[place.file][place.name]
    return Location(place.file, statement.lineno, statement.col_offset + 1)


# -------------------- who runs what --------------------


def _users(places: Iterable[Place], old: Model, new: Model) -> dict[Place, _Users]:
    """The ops that run each of the places, by what of them does."""
    ops = [op for op in new.ops.values() if op.derived_from is None and op.name in old.ops]
    runs = [(op, use, place) for op in ops for use, place in named_by(op, new) if _may_stay(use, old.ops[op.name], op)]
    callers = _callers(new)
    users: dict[Place, _Users] = {}
    for place in places:
        reached = _reached(place, callers)
        for op, use, start in runs:
            if start in reached and op not in (found := users.setdefault(place, {}).setdefault(use, [])):
                found.append(op)
    return users


def _excused(old: Model, new: Model) -> Iterator[Place]:
    """What ops with other arguments run: it has to change with them."""
    for op in new.ops.values():
        if op.name in old.ops and str(old.ops[op.name].schema) != str(op.schema):
            yield from (place for use, place in named_by(op, new) if use is not FORMULAS)


def _may_stay(use: Use, old: Op, new: Op) -> bool:
    """Whether a change of the code says something: with other arguments a kernel has to change."""
    return use is FORMULAS or str(old.schema) == str(new.schema)


def _callers(model: Model) -> Mapping[Place, list[Place]]:
    """For every place those that use it."""
    callers = defaultdict(list)
    for file, definitions in model.sources.items():
        for name, statement in definitions.items():
            for used in _used(file, name, statement, model):
                callers[used].append(Place(file, name))
    return callers


def _used(file: str, name: str, statement: ast.stmt, model: Model) -> Iterator[Place]:
    if isinstance(statement, ast.ImportFrom):
        path = imported_path(file, statement, model.project.sources)
        if _folder(path, model.project) == _folder(file, model.project):
            yield Place(f"{path}.py", imported_name(statement, name))
    else:
        names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        yield from (Place(file, used) for used in names if used in model.sources[file])


def _folder(path: str, project: Project) -> str:
    """The folder of all kernels of a backend, of all composite functions or helpers; of another file its own."""
    inside = (each for each in _folders(project) if path.startswith((f"{each}/", f"{each}.py")))
    return next(inside, dirname(path))


def _folders(project: Project) -> tuple[str, ...]:
    return *project.backends.values(), project.composites, project.formulas.removesuffix(".py")


def _reached(start: Place, callers: Mapping[Place, list[Place]]) -> set[Place]:
    """The place, and all that come to use it."""
    found, waiting = {start}, [start]
    while waiting:
        new = [place for place in callers.get(waiting.pop(), ()) if place not in found]
        found.update(new)
        waiting += new
    return found


# -------------------- what has changed --------------------


def _changed(old: Model, new: Model) -> Iterator[Place]:
    """The places that both states define, otherwise than before."""
    moved = _moved_files(old, new)
    for file, definitions in new.sources.items():
        for name, statement in definitions.items():
            earlier = moved.get(file, {}).get(name, file)
            before = old.sources.get(earlier, {}).get(name)
            if before and before is not statement and _is_changed(Place(earlier, name), old, Place(file, name), new):
                yield Place(file, name)


def _moved_files(old: Model, new: Model) -> dict[str, dict[str, str]]:
    """Of the files that are new, where their names were: a file may have become several, or have got another name."""
    return {file: _formerly(file, old, new) for file in new.sources.keys() - old.sources.keys()}


def _formerly(file: str, old: Model, new: Model) -> dict[str, str]:
    """Where the names of a file were: in those files with functions of that name, the one with most of them first."""
    public = _public(new.sources[file])
    near = (each for each in old.sources if _folder(each, old.project) == _folder(file, new.project))
    shared = {each: len(public & _public(old.sources[each])) for each in near}
    likest_last = sorted(filter(shared.__getitem__, shared), key=shared.__getitem__)
    return {name: each for each in likest_last for name in old.sources[each]}


def _public(definitions: Mapping[str, ast.stmt]) -> set[str]:
    """The names that a file itself gives to something for others."""
    pairs = definitions.items()
    return {name for name, each in pairs if name[0] != "_" and not isinstance(each, ast.ImportFrom)}


def _is_changed(place: Place, old: Model, new_place: Place, new: Model) -> bool:
    """Whether the name stands for something else. What both states import is reported where it is defined."""
    statements = old.sources[place.file][place.name], new.sources[new_place.file][new_place.name]
    was_imported, is_imported = (isinstance(statement, ast.ImportFrom) for statement in statements)
    if is_imported and (was_imported or place.file != new_place.file):
        return False
    before, after = _definition(place, old), _definition(new_place, new)
    packages = tuple(f"{new.project.module_of(folder)}." for folder in _folders(new.project))
    return not isinstance(after, ast.ImportFrom) and _differ(before, after, packages)


def _definition(place: Place, model: Model) -> ast.stmt:
    """The statement behind a name, also if it is in another file of the folder."""
    statement = model.sources[place.file][place.name]
    origin = next(_used(*place, statement, model), None) if isinstance(statement, ast.ImportFrom) else None
    return model.sources.get(origin.file, {}).get(origin.name, statement) if origin else statement


def _differ(old: ast.stmt, new: ast.stmt, packages: tuple[str, ...]) -> bool:
    """Whether two statements differ in what has an effect. Modules may move inside of ``packages``."""
    return differ(old, new, lambda before, after: _is_moved(before, after, packages))


def _is_moved(before: object, after: object, packages: tuple[str, ...]) -> bool:
    """Whether both are texts with the name of one module, in another folder of the same package."""
    if not (isinstance(before, str) and isinstance(after, str)) or _last_part(before) != _last_part(after):
        return False
    return any(before.startswith(package) and after.startswith(package) for package in packages)


def _last_part(module: str) -> str:
    return module.rpartition(".")[2]
