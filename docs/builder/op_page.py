"""What the page of an op says: everything that the two YAML files, the stubs and the kernels tell of its overloads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape

from markupsafe import Markup

from codegen.emit.shown_calls import shown_new_call, shown_old_call
from codegen.keys import TORCH
from codegen.model import Derivative, Kernel, Location, Model, Op, SavedUse
from codegen.project import Project
from tests.samples import DTYPE_GROUPS

from . import formula_math
from .definitions import definition
from .examples import example
from .helpers import HelperText, read_helpers
from .places import function_of
from .signatures import Signatures, read_signatures, signatures_of
from .sources import Sources
from .words import Words, read_words

UP = "../"  # from the page of an op to the top of the site


@dataclass(frozen=True, slots=True)
class Equation:
    """A formula: what it is for, as MathML or in words, and its source."""

    title: str
    math: str
    remark: str
    source: str


@dataclass(frozen=True, slots=True)
class Binding:
    """What a backend does for an op: ``state`` is kernel, stub, rule or composite."""

    backend: str
    state: str
    text: str
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a YAML file, as it stands there."""

    location: Location
    text: str


@dataclass(frozen=True, slots=True)
class Deprecated:
    """An old call that still works: its schema, what it looks like and the new one, and since when and how long."""

    schema: str
    call: str
    replacement: str
    since: str
    removal: str


@dataclass(frozen=True, slots=True)
class Overload:
    """One entry of ops.yaml with its variants."""

    op: Op
    schemas: tuple[str, ...]
    deprecated: tuple[Deprecated, ...]
    facts: Mapping[str, str]
    equations: tuple[Equation, ...]
    helpers: tuple[HelperText, ...]
    bindings: tuple[Binding, ...]
    example: str
    entries: tuple[Entry, ...]

    @property
    def anchor(self) -> str:
        return anchor_of(self.op)


@dataclass(frozen=True, slots=True)
class Page:
    """All overloads of a name; ``places`` is where Python finds them."""

    name: str
    family: str
    places: tuple[str, ...]
    signatures: tuple[str, ...]
    overloads: tuple[Overload, ...]

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(tag for overload in self.overloads for tag in overload.op.tags))


class Reference:
    """Makes the pages from the model."""

    def __init__(self, project: Project, model: Model, sources: Sources) -> None:
        self._project = project
        self._model = model
        self._sources = sources
        self._words: Words = read_words(project.root)
        self._helpers = read_helpers(project)
        self._signatures: Signatures = read_signatures(project.root)

    def pages(self) -> list[Page]:
        return [self._page(ops) for ops in grouped(self._model).values()]

    def _page(self, ops: list[Op]) -> Page:
        name = page_name(ops)
        variants = [variant for op in ops for variant in self._with_variants(op)]
        names = dict.fromkeys(variant.schema.name for variant in variants if variant.kind != "out")
        return Page(
            name,
            ops[0].family,
            tuple(dict.fromkeys(place for variant in variants for place in _places(variant))),
            tuple(signature for each in names for signature in self._of_name(each, ops)),
            tuple(self._overload(op) for op in ops),
        )

    def _with_variants(self, op: Op) -> list[Op]:
        found = (self._model.variant(op, kind) for kind in ("inplace", "out"))
        return [op, *(variant for variant in found if variant)]

    def _of_name(self, name: str, ops: list[Op]) -> Iterator[str]:
        """The signatures of a name: as a function, where it is one, and as a method."""
        place = function_of(next((op for op in ops if op.schema.name == name), ops[0]))
        prefix = "torch" if name.endswith("_") else place.rpartition(".")[0]
        stubs = self._signatures.functions.get(name)
        yield from [f"{prefix}.{text}" for text in stubs] if stubs else signatures_of(place)
        yield from (f"Tensor.{text}" for text in self._signatures.methods.get(name, ()))

    def _overload(self, op: Op) -> Overload:
        derivative = self._model.derivatives.get(op.name)
        return Overload(
            op=op,
            schemas=tuple(str(variant.schema) for variant in self._with_variants(op)),
            deprecated=tuple(self._deprecated(op)),
            facts={label: text for label, text in self._facts(op, derivative).items() if text},
            equations=tuple(_equations(derivative)) if derivative else (),
            helpers=tuple(self._used_helpers(derivative)) if derivative else (),
            bindings=tuple(self._bindings(op)),
            example=example(self._model, op),
            entries=tuple(self._entries(op, derivative)),
        )

    def _facts(self, op: Op, derivative: Derivative | None) -> dict[str, str]:
        return {
            "Dtypes": _codes(DTYPE_GROUPS[op.dtypes]) if op.dtypes != "all" else "all",
            "Result's dtype": self._rule(op.promotion, self._words.promotion, "promotion"),
            "Result's shape": self._rule(op.shape, self._words.shape, "shape"),
            "View": _VIEWS[op.view] if op.view else "",
            "Numbers": f"{_codes(op.numbers)} may be a Python number" if op.numbers else "",
            "Differentiable": differentiability(op, derivative),
            "Saved for backward": _saved(derivative) if derivative and derivative.edges else "",
            "Graph node": f"<code>{derivative.node}</code>" if derivative and derivative.edges else "",
            "Tags": _codes(op.tags),
            "Differs from PyTorch": escape(op.divergence or ""),
        }

    def _deprecated(self, op: Op) -> Iterator[Deprecated]:
        """The calls are shown as the warning at run time shows them."""
        for form in op.deprecated:
            release = form.since and form.since.text
            since = "in PyTorch" if release == TORCH else f"since {release}"
            removal = f"; it is to go in {form.removal.text}" if form.removal else ""
            calls = shown_old_call(self._model, op, form), shown_new_call(self._model, op, form)
            yield Deprecated(str(form.schema), *calls, since, removal)

    @staticmethod
    def _rule(word: str | None, meanings: Mapping[str, str], section: str) -> str:
        return f"{_code_spans(meanings[word])} ({_rule_link(word, section)})" if word is not None else ""

    def _used_helpers(self, derivative: Derivative) -> Iterator[HelperText]:
        formulas = (*derivative.backward, *derivative.forward)
        names = dict.fromkeys(name for formula in formulas for name in formula.helpers)
        return (self._helpers[name] for name in names if name in self._helpers and name not in formula_math.EXPLAINED)

    def _bindings(self, op: Op) -> Iterator[Binding]:
        if op.decomposition is not None:
            yield Binding("all", "composite", Markup("decomposition: <code>{}</code>").format(op.decomposition.source))
            return
        if op.composite is not None:
            yield self._bound("all", "composite", self._model.composites[op.family][op.composite])
            return
        for backend, name in (op.dispatch or {}).items():
            yield self._binding(op, backend, name)
        if op.shape is not None and "Meta" not in (op.dispatch or {}):
            yield Binding("Meta", "rule", Markup(f"made by the shape rule {_rule_link(op.shape, 'shape')}"))

    def _binding(self, op: Op, backend: str, name: str) -> Binding:
        kernel = self._model.kernels.get((backend, op.family), {}).get(name)
        if kernel is None:
            return Binding(
                backend, "stub", f"to be written: {name} in {self._project.kernel_place(backend, op.family)}"
            )
        return self._bound(backend, "kernel", kernel)

    def _bound(self, backend: str, state: str, kernel: Kernel) -> Binding:
        location = definition(self._project.root, kernel.location, kernel.name)
        return Binding(backend, state, f"{kernel.name} in {location.file}", location)

    def _entries(self, op: Op, derivative: Derivative | None) -> Iterator[Entry]:
        for location in (op.location, *([derivative.location] if derivative else [])):
            yield Entry(location, self._sources.entry(location))


def _rule_link(word: str, section: str) -> str:
    """A word of `promotion` or `shape`, and what the page of the rules says of it."""
    anchor = {
        "promotion": "promotion-the-dtype-of-the-result",
        "shape": "shape-the-shape-and-the-strides-of-the-result",
    }
    return f'<a href="{UP}rules.html#{anchor[section]}"><code>{word}</code></a>'


def grouped(model: Model) -> dict[str, list[Op]]:
    """The entries of ops.yaml by page: the overloads of a name, in-place ones included."""
    groups: dict[str, list[Op]] = {}
    for op in model.ops.values():
        if op.derived_from is None:
            groups.setdefault(op.schema.base, []).append(op)
    return groups


def anchor_of(op: Op) -> str:
    """Where an overload is on its page; Markdown takes what is between two underscores for emphasis."""
    name = op.name.replace(".", "-")
    return f"{name[:-1]}-in-place" if name.endswith("_") else name


def page_name(ops: Iterable[Op]) -> str:
    """The name of a page: ``uniform_`` if there is no ``uniform``."""
    return min({op.schema.name for op in ops}, key=len)


def differentiability(op: Op, derivative: Derivative | None) -> str:
    """In which ways an op can be differentiated, in words."""
    if op.is_composite and derivative is None:
        return "as the ops that it calls"
    if derivative is None or not derivative.edges:
        return "no"
    refused = all(formula.kind in ("not_implemented", "non_differentiable") for formula in derivative.backward)
    forward = any(formula.kind != "not_implemented" for formula in derivative.forward)
    ways = "not implemented" if refused else "backward and forward" if forward else "backward"
    flags = dict(zip(op.schema.result_names, derivative.output_differentiability))
    outputs = [name for name, has_gradient in flags.items() if has_gradient]
    return f"{ways}; of the outputs, {_codes(outputs)} has a gradient" if len(outputs) < len(flags) else ways


_VIEWS = {
    "single": "the result shares the memory of the input",
    "multi": "the results share the memory of the input",
    "detach": "the result shares the memory and the version of the input, but not its history",
}


def _places(op: Op) -> Iterator[str]:
    """Where Python finds an op."""
    if op.is_function and not op.hidden and op.kind != "out":
        yield function_of(op)
    if op.is_method and op.kind != "out":
        yield f"Tensor.{op.schema.name}"
    yield from op.operators
    if op.kind == "out":
        yield "out="


def _equations(derivative: Derivative) -> Iterator[Equation]:
    for formula in derivative.backward:
        names = _codes(formula.targets)
        math = formula_math.gradient(derivative, formula) if formula.is_expression else ""
        yield Equation(f"Gradient of {names}", math, _REMARKS.get(formula.kind, ""), formula.source)
    for formula in derivative.forward:
        shown = formula.kind not in ("not_implemented", "non_differentiable")
        math = formula_math.tangent(derivative, formula) if shown else ""
        yield Equation(f"Tangent of {_codes(formula.targets)}", math, _REMARKS.get(formula.kind, ""), formula.source)


_REMARKS = {
    "auto_linear": "The op is linear: it is called on the tangents.",
    "auto_element_wise": "Element by element, from the formula of the gradient.",
    "non_differentiable": "Has no gradient.",
    "not_implemented": "Is not implemented: asking for it is an error.",
}


def _saved(derivative: Derivative) -> str:
    return ", ".join(_saved_use(derivative, use) for use in derivative.saved) or "nothing"


def _saved_use(derivative: Derivative, use: SavedUse) -> str:
    """A value that is kept, and for which gradients if not for all."""
    wanted = [edge.name for edge in derivative.edges if edge.name in use.arguments]
    text = f"<code>{escape(use.value.expression)}</code>"
    return text if len(wanted) == len(derivative.edges) else f"{text} (for the gradient of {_codes(wanted)})"


def _codes(words: Iterable[str]) -> str:
    return ", ".join(f"<code>{escape(word)}</code>" for word in words)


def _code_spans(text: str) -> str:
    """Markdown's code spans as HTML."""
    return "".join(part if i % 2 == 0 else f"<code>{part}</code>" for i, part in enumerate(escape(text).split("`")))
