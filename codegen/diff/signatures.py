"""What a changed signature of a Python function means for its callers: rule by rule, as for the schema of an op."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..model import Location
from .definitions import Function
from .marks import mark
from .report import Finding, Marked
from .rules import RULES

_Kind = Literal["positional-only", "positional", "keyword-only"]


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    kind: _Kind
    default: ast.expr | None

    @property
    def text(self) -> str:
        return ast.unparse(self.default) if self.default is not None else ""


@dataclass(frozen=True, slots=True)
class Signature:
    """``others`` and ``keywords``: whether it takes ``*args`` and ``**kwargs``."""

    parameters: tuple[Parameter, ...]
    others: bool
    keywords: bool
    text: str

    @property
    def positional(self) -> list[str]:
        return [each.name for each in self.parameters if each.kind != "keyword-only"]

    def get(self, name: str) -> Parameter | None:
        return next((each for each in self.parameters if each.name == name), None)


def signature_of(function: Function, is_method: bool) -> Signature:
    """The signature as callers see it: without ``self``."""
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    defaults = [*[None] * (len(positional) - len(given.defaults)), *given.defaults]
    first = 1 if is_method and positional and not _is_static(function) else 0
    only: list[_Kind] = ["positional-only"] * len(given.posonlyargs)
    either: list[_Kind] = ["positional"] * len(given.args)
    parameters = [Parameter(each.arg, kind, d) for each, kind, d in zip(positional, [*only, *either], defaults)][first:]
    parameters += [Parameter(each.arg, "keyword-only", d) for each, d in zip(given.kwonlyargs, given.kw_defaults)]
    return Signature(tuple(parameters), given.vararg is not None, given.kwarg is not None, _text(function, first))


def _is_static(function: Function) -> bool:
    return any(getattr(each, "id", "") == "staticmethod" for each in function.decorator_list)


def _text(function: Function, first: int) -> str:
    given = function.args
    plain = ast.arguments(
        posonlyargs=[ast.arg(each.arg) for each in given.posonlyargs],
        args=[ast.arg(each.arg) for each in given.args],
        vararg=ast.arg(given.vararg.arg) if given.vararg else None,
        kwonlyargs=[ast.arg(each.arg) for each in given.kwonlyargs],
        kw_defaults=given.kw_defaults,
        kwarg=ast.arg(given.kwarg.arg) if given.kwarg else None,
        defaults=given.defaults,
    )
    text = ast.unparse(plain)
    return text.partition(",")[2].strip() if first and "," in text else "" if first else text


def signature_findings(shown: str, old: Signature, new: Signature, where: Location | None) -> Iterator[Finding]:
    """What callers of ``shown``, "torch.nn.functional.embedding", see of a changed signature."""
    if _essence(old) == _essence(new):
        return
    before, after = mark(f"{shown}({old.text})", f"{shown}({new.text})")
    judge = _Judge(shown, old, new, before, after, where)
    yield from judge.findings()


def _essence(signature: Signature) -> object:
    parameters = [(each.name, each.kind, _value(each.default)) for each in signature.parameters]
    return parameters, signature.others, signature.keywords


def _value(default: ast.expr | None) -> str | None:
    """What a default is: numbers may be written differently."""
    if default is None:
        return None
    try:
        return repr(ast.literal_eval(default))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return ast.dump(default)


@dataclass(frozen=True, slots=True)
class _Judge:
    shown: str
    old: Signature
    new: Signature
    before: Marked
    after: Marked
    where: Location | None

    def _finding(self, code: str, message: str, caller: str = "", remedy: str = "") -> Finding:
        rule = RULES[code]
        location = self.where
        return Finding(rule, self.shown, message, caller, remedy or rule.remedy, self.before, self.after, location)

    def findings(self) -> Iterator[Finding]:
        renamed = dict(self._renamed())
        yield from (self._rename(before, after) for before, after in renamed.items())
        yield from self._removed(renamed)
        yield from self._added(renamed)
        yield from self._order(renamed)
        for before in self.old.parameters:
            after = self.new.get(renamed.get(before.name, before.name))
            if after is not None:
                yield from self._kind(before, after)
                yield from self._default(before, after)
        yield from self._more()

    def _renamed(self) -> Iterator[tuple[str, str]]:
        """Old and new names of what stands in one place, where each is in one state only."""
        old, new = self.old.positional, self.new.positional
        # From the end, too: with one removed in front of it the place is another.
        for before, after in zip(self.old.parameters, self.new.parameters):
            if self.new.get(before.name) is None and self.old.get(after.name) is None and before.kind == after.kind:
                if len(old) == len(new) or _value(before.default) == _value(after.default):
                    yield before.name, after.name

    def _rename(self, before: str, after: str) -> Finding:
        parameter = self.old.get(before)
        message = f"argument `{before}` is now called `{after}`"
        if parameter is not None and parameter.kind == "positional-only":
            return self._finding("F015", message)
        return self._finding("F003", message, f"`{self.shown}({before}=...)` stops working")

    def _removed(self, renamed: dict[str, str]) -> Iterator[Finding]:
        for each in self.old.parameters:
            if self.new.get(renamed.get(each.name, each.name)) is None:
                is_taken = self.new.keywords or (each.kind == "positional-only" and self.new.others)
                if is_taken:
                    yield self._finding("F015", f"argument `{each.name}` is taken by `**`")
                else:
                    caller = f"`{self.shown}({each.name}=...)` stops working"
                    yield self._finding("F004", f"argument `{each.name}` is removed", caller)

    def _added(self, renamed: dict[str, str]) -> Iterator[Finding]:
        names = {*renamed.values()}
        for each in self.new.parameters:
            if self.old.get(each.name) is not None or each.name in names:
                continue
            if each.default is None:
                caller = f"`{self.shown}({self._required()})` stops working: `{each.name}` is missing"
                yield self._finding("F006", f"there is a new required argument `{each.name}`", caller)
            elif self._is_in_front(each, renamed):
                caller = f"what is passed by position after `{each.name}` goes to another argument"
                yield self._finding("F007", f"argument `{each.name}` is inserted in front of others", caller)
            else:
                yield self._finding("F008", f"argument `{each.name}` is added, with a default")

    def _required(self) -> str:
        return ", ".join(
            each.name if each.kind != "keyword-only" else f"{each.name}=..."
            for each in self.old.parameters
            if each.default is None
        )

    def _is_in_front(self, parameter: Parameter, renamed: dict[str, str]) -> bool:
        if parameter.kind == "keyword-only":
            return False
        after = self.new.positional[self.new.positional.index(parameter.name) + 1 :]
        known = {renamed.get(name, name) for name in self.old.positional}
        return any(name in known for name in after)

    def _order(self, renamed: dict[str, str]) -> Iterator[Finding]:
        old = [
            name for name in (renamed.get(each, each) for each in self.old.positional) if name in self.new.positional
        ]
        new = [name for name in self.new.positional if name in old]
        if old != new:
            caller = f"`{self.shown}({', '.join(self.old.positional)})` gives its values to other arguments"
            yield self._finding("F005", f"the order of arguments is {', '.join(new)}; it was {', '.join(old)}", caller)

    def _kind(self, before: Parameter, after: Parameter) -> Iterator[Finding]:
        if before.kind == after.kind:
            return
        if after.kind == "positional" or after.kind == "positional-only" and before.kind == "keyword-only":
            yield self._finding("F013", f"argument `{after.name}` may be passed by position")
        elif after.kind == "keyword-only":
            caller = f"`{self.shown}` no longer takes `{after.name}` by position"
            yield self._finding("F012", f"argument `{after.name}` is now keyword-only", caller)
        else:
            caller = f"`{self.shown}({after.name}=...)` stops working"
            yield self._finding("F012", f"argument `{after.name}` is now positional-only", caller)

    def _default(self, before: Parameter, after: Parameter) -> Iterator[Finding]:
        if _value(before.default) == _value(after.default):
            return
        if before.default is None:
            yield self._finding("F011", f"argument `{after.name}` has the default `{after.text}`")
        elif after.default is None:
            caller = f"calls of `{self.shown}` without `{after.name}` stop working"
            yield self._finding("F010", f"argument `{after.name}` has no default any more", caller)
        else:
            caller = f"calls of `{self.shown}` without `{after.name}` now mean `{after.name}={after.text}`"
            message = f"the default of `{after.name}` is `{after.text}`, it was `{before.text}`"
            yield self._finding("F009", message, caller)

    def _more(self) -> Iterator[Finding]:
        for had, has, sign in (
            (self.old.others, self.new.others, "*args"),
            (self.old.keywords, self.new.keywords, "**kwargs"),
        ):
            if had and not has:
                yield self._finding("F014", f"`{sign}` is gone", f"calls of `{self.shown}` with others stop working")
            elif has and not had:
                yield self._finding("F008", f"`{sign}` is added")
