"""What changed in what is written by hand: functions and classes that users call, and all code that ops pass through.

Signatures are judged rule by rule, as those of ops are. What changed code does cannot be known from its text: it is
said which functions changed, and which ops and public functions come to run them. Nothing of either state is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..model import Location, Model
from .code import CodeChanges
from .definitions import MODULE, Definition, definitions, same_code
from .generated import generated_changes
from .public_names import PublicNames
from .reach import GENERATOR, PUBLIC, Area, Reach, Reached, area_of, is_generator
from .report import Finding, OpChange
from .rules import RULES
from .signatures import signature_findings, signature_of
from .source_files import Files, imports_of, is_source, tree_of
from .state import State

_MOST_NAMED = 6


@dataclass(slots=True)
class HandWrittenChanges:
    """``changes``: the entries of the report. ``ops``: the ops whose code has changed, by name, for a run of both."""

    changes: list[OpChange] = field(default_factory=list)
    ops: set[str] = field(default_factory=set)
    public: set[str] = field(default_factory=set)


def by_hand_changes(base: State, head: State, known: CodeChanges) -> HandWrittenChanges:
    """Of two states with files. ``known`` is what has been said of the code that entries of ops name."""
    found = HandWrittenChanges()
    if base.model is None or head.model is None or not base.files or not head.files:
        return found
    comparison = _Comparison(base.files, head.files, base.model, head.model, known, found)
    comparison.run()
    return found


@dataclass(slots=True)
class _File:
    """A file of both states: what each defines. A file that one of them lacks defines nothing there."""

    file: str
    old: Mapping[str, Definition]
    new: Mapping[str, Definition]


class _Comparison:
    def __init__(
        self, old: Files, new: Files, old_model: Model, new_model: Model, known: CodeChanges, found: HandWrittenChanges
    ) -> None:
        self._old, self._new = old, new
        self._old_model, self._new_model = old_model, new_model
        self._known, self._found = known, found
        self._old_names, self._new_names = PublicNames(old, old_model), PublicNames(new, new_model)
        self._reach = Reach(new, new_model)

    def run(self) -> None:
        changed = [file for file in {**self._old, **self._new} if self._old.get(file) != self._new.get(file)]
        sources = [file for file in changed if is_source(file, self._new_model)]
        self._moved = self._definitions_of(sources)
        for each in self._moved:
            self._compare(each)
        generator = [file for file in changed if is_generator(file)]
        made = generated_changes(self._old, self._new, self._new_model)
        if generator:
            self._generator(generator, made)

    def _definitions_of(self, files: Iterable[str]) -> list[_File]:
        found = []
        for file in files:
            old, new = (definitions_of(files.get(file)) for files in (self._old, self._new))
            if new is None:
                self._unreadable(file)
            elif old is not None:
                found.append(_File(file, old, new))
        return found

    def _unreadable(self, file: str) -> None:
        finding = Finding(
            RULES["F020"], file, "the file is not Python", f"`import {self._module(file)}` raises an error"
        )
        finding = _at(finding, Location(file, 1, 1))
        self._found.changes.append(OpChange(file, "", None, None, (finding,)))

    def _module(self, file: str) -> str:
        return self._new_model.project.module_of(file)

    # -------------------- one file --------------------

    def _compare(self, each: _File) -> None:
        findings: dict[str, list[Finding]] = {}
        code: list[str] = []
        for name, old in each.old.items():
            new = each.new.get(name) or self._moved_to(each, name)
            if new is None:
                self._add(findings, self._gone(each, old))
                continue
            shown = self._shown(self._old_names, each.file, each.old, old)
            if shown is not None:
                where = self._location(each, new)
                self._add(findings, [*self._signature(shown, old, new, where), *_docs(shown, old, new, where)])
            if name in each.new and not same_code(old, new) and not self._is_known(each.file, name):
                code.append(name)
        self._add(findings, self._new_things(each))
        self._add(findings, self._lost_exports(each))
        for shown, found in findings.items():
            self._found.public.add(shown)
            self._found.changes.append(OpChange(shown, "", None, None, tuple(found)))
        code += [name for name in each.new if name == MODULE and name not in each.old]
        if code:
            self._code(each, code)

    def _add(self, findings: dict[str, list[Finding]], more: Iterable[Finding]) -> None:
        for finding in more:
            findings.setdefault(finding.op, []).append(finding)

    def _shown(self, names: PublicNames, file: str, all_: Mapping[str, Definition], each: Definition) -> str | None:
        return names.of(file, each, all_.get(each.name.partition(".")[0]))

    def _location(self, each: _File, definition: Definition) -> Location | None:
        """A definition that has moved is looked for where it was."""
        if each.new.get(definition.name) is not definition:
            return None
        return Location(each.file, definition.node.lineno, definition.node.col_offset + 1)

    def _moved_to(self, each: _File, name: str) -> Definition | None:
        """The definition of that name in another changed file, which users may reach as before."""
        found = (other.new.get(name) for other in self._moved if other is not each and name not in other.old)
        return next((definition for definition in found if definition), None)

    def _gone(self, each: _File, old: Definition) -> Iterator[Finding]:
        owner = old.name.partition(".")[0]
        if owner != old.name and owner not in each.new:
            return  # with its class, which is reported
        shown = self._shown(self._old_names, each.file, each.old, old)
        if shown is None or old.name.endswith(("__init__", "__new__", "__call__")) or self._is_bound(each.file, old):
            return
        what = "class" if old.kind == "class" else "method" if "." in old.name else old.kind
        yield Finding(RULES["F001"], shown, f"the {what} is gone", f"`{shown}` stops working", RULES["F001"].remedy)

    def _is_bound(self, file: str, old: Definition) -> bool:
        """Whether the module has the name all the same: from another one, or made by a call."""
        first, _, member = old.name.partition(".")
        text = self._new.get(file)
        return not member and text is not None and any(each.alias == first for each in imports_of(file, text))

    def _new_things(self, each: _File) -> Iterator[Finding]:
        for name, new in each.new.items():
            owner = name.partition(".")[0]
            if name in each.old or (owner != name and owner not in each.old) or new.kind == "value":
                continue
            shown = self._shown(self._new_names, each.file, each.new, new)
            if shown and "__" not in name and not any(name in other.old for other in self._moved):
                yield _at(Finding(RULES["F002"], shown, f"the {_what(new)} is added"), self._location(each, new))

    def _lost_exports(self, each: _File) -> Iterator[Finding]:
        """Names that a module for users imported from where they are written, and no longer has."""
        had, has = (
            {i.alias: i for i in imports_of(each.file, files.get(each.file, b"")) if i.is_export}
            for files in (self._old, self._new)
        )
        package = self._new_model.project.package
        for alias, was in had.items():
            if alias in has or alias in each.new or alias.startswith("_") or not was.module.startswith(package):
                continue
            module = self._old_model.project.module_of(each.file)
            if not any(part.startswith("_") for part in module.split(".")):
                shown = f"{self._new_model.project.shown_package}{module.removeprefix(package)}.{alias}"
                message, rule = f"the name is no longer exported by `{module}`", RULES["F001"]
                where = Location(each.file, 1, 1) if each.file in self._new else None
                yield _at(Finding(rule, shown, message, f"`{shown}` stops working"), where)

    def _signature(self, shown: str, old: Definition, new: Definition, where: Location | None) -> Iterator[Finding]:
        if old.kind != new.kind:
            caller = f"calls and uses of `{shown}` may stop working"
            yield _at(Finding(RULES["F016"], shown, f"it is a {_what(new)}, it was a {_what(old)}", caller), where)
        elif old.function is not None and new.function is not None and old.kind == "function":
            is_method = "." in old.name
            yield from signature_findings(
                shown, signature_of(old.function, is_method), signature_of(new.function, is_method), where
            )

    def _is_known(self, file: str, name: str) -> bool:
        """Whether it has been said with the ops that run it."""
        return (file, name.partition(".")[0]) in self._known.places

    # -------------------- code --------------------

    def _code(self, each: _File, names: Sequence[str]) -> None:
        area, reached = area_of(each.file), self._reach.of(each.file, names)
        public = self._public(reached, each, names)
        self._found.ops.update(op.name for op in reached.ops)
        self._found.public.update(public)
        definition = each.new[names[0]]
        place = Location(each.file, max(definition.node.lineno, 1), 1)
        module = self._module(each.file)
        message = f"{_of(area, names, module)}; {_runs(reached, public)}"
        ops = tuple(op.name for op in reached.ops)
        finding = Finding(RULES[area.rule], module, message, location=place, ops=ops, is_public=bool(public) or not ops)
        self._found.changes.append(OpChange(module, "", None, None, (finding,)))

    def _public(self, reached: Reached, each: _File, names: Sequence[str]) -> list[str]:
        """The public functions that run it, itself among them."""
        own = (self._shown(self._new_names, each.file, each.new, each.new[name]) for name in names)
        users = () if reached.is_everything else (self._new_names.of_name(*place) for place in sorted(reached.places))
        return list(dict.fromkeys(name for name in (*own, *users) if name))

    def _generator(self, files: Sequence[str], made: Mapping[str, str]) -> None:
        """What the generator newly writes is in the generated files, where both states have them."""
        names = [file.removeprefix("codegen/") for file in files]
        named = ", ".join(f"`{name}`" for name in names[:_MOST_NAMED]) + _others(len(names))
        ops = [op for op in self._new_model.ops.values() if op.derived_from is None and op.schema.name in made]
        if made:
            shown = "; ".join(f"`{name}` {what}" for name, what in list(made.items())[:3])
            does = f"the generated code of {len(made)} functions differs: {shown}{_others(len(made), 3)}"
            reached = Reached(ops)
        else:
            reached = Reached(list(self._reach.of("codegen/", ()).ops), is_everything=True)
            does = "the generated files are the same, so far: they may not be up to date"
        self._found.ops.update(op.name for op in reached.ops)
        message = f"the generator has changed ({named}), which writes the code of every op; {does}"
        where = Location(files[0], 1, 1) if files[0] in self._new else None
        finding = Finding(
            RULES[GENERATOR.rule], "codegen", message, location=where, ops=tuple(op.name for op in reached.ops)
        )
        self._found.changes.append(OpChange("codegen", "", None, None, (finding,)))


def definitions_of(text: bytes | None) -> dict[str, Definition] | None:
    """What a file defines; nothing if it is not there, None if it is no Python."""
    tree = tree_of(text) if text is not None else None
    return definitions(tree) if tree is not None else ({} if text is None else None)


def _at(finding: Finding, where: Location | None) -> Finding:
    rule = finding.rule
    return Finding(
        rule,
        finding.op,
        finding.message,
        finding.caller,
        finding.remedy or rule.remedy,
        finding.old,
        finding.new,
        where,
    )


def _docs(shown: str, old: Definition, new: Definition, where: Location | None) -> Iterator[Finding]:
    if old.docstring and not new.docstring:
        yield _at(Finding(RULES["Q004"], shown, "the docstring is gone"), where)


def _what(definition: Definition) -> str:
    return "method" if "." in definition.name and definition.kind == "function" else definition.kind


def _of(area: Area, names: Sequence[str], module: str) -> str:
    """ "the code of 2 functions of autocast has changed: `cast`, `settings`" """
    own = [name for name in names if name != MODULE]
    what = f" of {area.what}" if area is not PUBLIC else ""
    if not own:
        return f"what the import of `{module}` runs has changed"
    count = "1 definition" if len(own) == 1 else f"{len(own)} definitions"
    shown = ", ".join(f"`{name}`" for name in own[:_MOST_NAMED])
    return f"the code of {count}{what} has changed: {shown}{_others(len(own))}"


def _runs(reached: Reached, public: Sequence[str]) -> str:
    ops = len(reached.ops)
    if reached.is_everything:
        return f"every op runs it ({ops})"
    shown = ", ".join(f"`{op.name}`" for op in reached.ops[:_MOST_NAMED])
    parts = [f"{'1 op reaches' if ops == 1 else f'{ops} ops reach'} it: {shown}{_others(ops)}"] if ops else []
    if public:
        names = ", ".join(f"`{name}`" for name in public[:_MOST_NAMED])
        parts.append(f"users reach it as {names}{_others(len(public))}")
    return "; ".join(parts) or "no op and no public function was found that reaches it"


def _others(count: int, shown: int = _MOST_NAMED) -> str:
    return f" and {count - shown} more" if count > shown else ""
