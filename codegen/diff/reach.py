"""Which ops and public functions a piece of code reaches, found from the texts alone.

A definition is used by those of its own file that name it, and by those of other files that import it. From what has
changed this is followed until it comes to what runs an op: a kernel, a formula, a rule, or the function that is
generated for the op. Code that every op passes through is not followed: ``AREAS`` says what runs it.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ..model import Model, Op
from ..sources.hand_written import BATCHING_RULES, PROMOTION_RULES
from .definitions import MODULE
from .source_files import Files, Import, imports_of, is_source, tree_of
from .users import Place, named_by

_HEAD = re.compile(rb"^(?:(?:async )?def|class) (\w+)|^(\w+)(?:: [^=\n]+)? =|^@", re.MULTILINE)
_MOST_FOLLOWED = 1_500  # what more than so many definitions use is what everything uses


@dataclass(frozen=True, slots=True)
class Area:
    """A part of the library that ops run without naming it. ``runs``: the ops that do."""

    rule: str
    what: str
    runs: Callable[[Op, Model], bool]


def _every(op: Op, model: Model) -> bool:
    return True


def _autocast(op: Op, model: Model) -> bool:
    return bool(op.autocast or op.autocast_npu)


def _differentiable(op: Op, model: Model) -> bool:
    derivative = model.derivative_of(op)
    return derivative is not None and bool(derivative.edges)


def _batched(op: Op, model: Model) -> bool:
    return op.is_composite is False and bool(op.batch or op.shape)


# The first that a file lies in counts. None: what runs it is found by following its users.
_PROMOTION = Area("C002", "promotion", _every)
AREAS: dict[str, Area] = {
    PROMOTION_RULES: _PROMOTION,
    "mindtorch/dispatch/modes/autocast.py": Area("C003", "autocast", _autocast),
    "mindtorch/amp/": Area("C003", "autocast", _autocast),
    "mindtorch/dispatch/modes/batching.py": Area("C004", "vmap", _batched),
    "mindtorch/backends/batched/": Area("C004", "vmap rules", _batched),
    "mindtorch/_functorch/vmap.py": Area("C004", "vmap", _batched),
    "mindtorch/autograd/_engine/": Area("C005", "the autograd engine", _differentiable),
    "mindtorch/dispatch/": Area("C006", "the dispatcher", _every),
    "mindtorch/_core/": Area("C006", "the core", _every),
}
# What is followed by name, although it lies in an area: each of its functions is one of some ops.
_FOLLOWED = (PROMOTION_RULES, "mindtorch/backends/batched/")
GENERATOR = Area("C007", "the generator", _every)
# The parts of the generator that write no files of the library.
_OTHER_COMMANDS = ("codegen/diff/", "codegen/commands/", "codegen/new/", "codegen/statistics.py", "codegen/__main__.py")
PUBLIC = Area("C001", "", _every)


def area_of(file: str) -> Area:
    """The area of a file; that of public functions where there is none."""
    return next((area for start, area in AREAS.items() if file.startswith(start)), PUBLIC)


def is_generator(file: str) -> bool:
    """Whether a change of the file may change what is generated."""
    return file.startswith("codegen/") and file.endswith((".py", ".jinja")) and not file.startswith(_OTHER_COMMANDS)


@dataclass(slots=True)
class Reached:
    """The ops that run some code, by name in the order of ops.yaml, and the definitions that come to use it."""

    ops: list[Op] = field(default_factory=list)
    places: set[Place] = field(default_factory=set)
    is_everything: bool = False


class Reach:
    """Follows uses in one state of the files."""

    def __init__(self, files: Files, model: Model) -> None:
        self._files, self._model = files, model
        self._outlines: dict[str, _Outline] = {}

    def of(self, file: str, names: Iterable[str]) -> Reached:
        """What some definitions of a file reach. A member of a class counts as the class."""
        area = area_of(file)
        if area is not PUBLIC and not file.startswith(_FOLLOWED):
            return Reached(self._selected(area.runs), is_everything=area.runs is _every)
        starts = {name.split(".")[0] for name in names}
        if MODULE in starts:  # what runs when the file is imported may be anything of it
            starts = {*starts, *self._defined(file)} - {MODULE}
        places = self._followed(Place(file, name) for name in starts)
        if len(places) > _MOST_FOLLOWED:
            return Reached(self._roots, places, is_everything=True)
        names_of_ops = {op.name for place in places for op in self._ops_at.get(place, ())}
        names_of_ops |= {op.name for place in places for op in self._generated(place)}
        if not names_of_ops and area is not PUBLIC:
            return Reached(self._selected(area.runs), places)
        return Reached([op for op in self._roots if op.name in names_of_ops], places)

    @cached_property
    def _roots(self) -> list[Op]:
        return [op for op in self._model.ops.values() if op.derived_from is None]

    def _selected(self, runs: Callable[[Op, Model], bool]) -> list[Op]:
        return [op for op in self._roots if runs(op, self._model)]

    # -------------------- uses --------------------

    def _followed(self, starts: Iterable[Place]) -> set[Place]:
        found = set(starts)
        waiting = [*found]
        while waiting and len(found) <= _MOST_FOLLOWED:
            new = [place for place in self._users(waiting.pop()) if place not in found]
            found.update(new)
            waiting += new
        return found

    def _users(self, place: Place) -> Iterator[Place]:
        """What uses a definition directly. The ends are not followed: what is generated, and the table of rules."""
        file, name = place
        if self._is_generated(file) or (file == PROMOTION_RULES and name == "RULES"):
            return
        yield from self._naming(file, name)
        module = self._model.project.module_of(file)
        for each in self._importers.get(module, ()):
            if each.name == name:
                yield from self._uses_of(each.file, each.alias)
                if each.is_export:
                    yield Place(each.file, each.alias)
        parent, _, last = module.rpartition(".")
        for each in self._importers.get(parent, ()):
            if each.name == last:
                yield from self._attributes(each.file, each.alias, name)

    def _uses_of(self, file: str, alias: str) -> Iterator[Place]:
        yield from self._naming(file, alias)
        if file.endswith("rules.py"):  # a table of rules has them under their names
            yield Place(file, alias)

    def _naming(self, file: str, word: str) -> Iterator[Place]:
        yield from (Place(file, name) for name in self._outline(file).naming(word) if name != word)

    def _attributes(self, file: str, module: str, word: str) -> Iterator[Place]:
        outline = self._outline(file)
        yield from (Place(file, name) for name in outline.naming(module) & outline.naming(word))

    def _defined(self, file: str) -> Collection[str]:
        return self._outline(file).names

    def _outline(self, file: str) -> _Outline:
        if file not in self._outlines:
            self._outlines[file] = _Outline(self._files.get(file, b""))
        return self._outlines[file]

    @cached_property
    def _importers(self) -> dict[str, list[Import]]:
        """By module, who has names from it. Generated files import from what they call by their own package's name."""
        found = defaultdict(list)
        for file, text in self._files.items():
            if is_source(file, self._model) or self._is_generated(file):
                for each in imports_of(file, text):
                    found[each.module].append(each)
        return found

    # -------------------- ends --------------------

    @cached_property
    def _ops_at(self) -> dict[Place, list[Op]]:
        """The ops whose entries name a function."""
        found: dict[Place, list[Op]] = defaultdict(list)
        words = self._promotion_words
        for op in self._roots:
            for _, place in named_by(op, self._model):
                found[place].append(op)
            if op.promotion in words:
                found[Place(PROMOTION_RULES, words[op.promotion])].append(op)
            if op.batch:
                found[Place(BATCHING_RULES, op.batch)].append(op)
        return found

    @cached_property
    def _promotion_words(self) -> dict[str, str]:
        """The function behind each word of the key ``promotion``."""
        tree = tree_of(self._files.get(PROMOTION_RULES, b""))
        for statement in tree.body if tree else ():
            value = getattr(statement, "value", None)
            target = getattr(statement, "target", None) or next(iter(getattr(statement, "targets", ())), None)
            if getattr(target, "id", "") == "RULES" and isinstance(value, ast.Dict):
                pairs = zip(value.keys, value.values)
                return {str(getattr(key, "value", "")): getattr(each, "id", "") for key, each in pairs}
        return {}

    def _is_generated(self, file: str) -> bool:
        return file.startswith(f"{self._model.project.generated}/")

    def _generated(self, place: Place) -> Iterable[Op]:
        """The ops that a generated function or node is made for."""
        start = f"{self._model.project.generated}/"
        if not place.file.startswith((f"{start}ops/", f"{start}forward_ad/", f"{start}nodes/")):
            return ()
        return self._ops_by_name.get(place.name, ())

    @cached_property
    def _ops_by_name(self) -> dict[str, list[Op]]:
        """By the name of the generated function or class."""
        found: dict[str, list[Op]] = defaultdict(list)
        for op in self._roots:
            for name in (op.schema.name, f"{op.schema.name}_"):
                found[name].append(op)
            derivative = self._model.derivatives.get(op.name)
            if derivative is not None and derivative.node:
                found[derivative.node].append(op)
        return found


class _Outline:
    """The definitions at the top level of a file, by where each begins: with its first decorator.

    A word in a comment counts as one of the code, which names an op too many at most.
    """

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._starts: list[int] = []
        self.names: list[str] = []
        decorated = None
        for head in _HEAD.finditer(text):
            if head[0] == b"@":
                decorated = head.start() if decorated is None else decorated
                continue
            self._starts.append(head.start() if decorated is None else decorated)
            self.names.append((head[1] or head[2]).decode())
            decorated = None

    def naming(self, word: str) -> set[str]:
        """The definitions that contain a word."""
        if not word:
            return set()
        found = re.finditer(rb"\b%s\b" % re.escape(word.encode()), self._text)
        places = (bisect_right(self._starts, each.start()) - 1 for each in found)
        return {self.names[place] for place in places if place >= 0}
