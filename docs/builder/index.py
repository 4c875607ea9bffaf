"""The index of the ops, and how much of PyTorch and of each backend there is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from codegen.emit.kernel_texts import is_written
from codegen.keys import BACKENDS, FAMILIES, TAGS
from codegen.model import Model, Op
from tests.samples import DTYPE_GROUPS

from .op_page import Page, page_name

PYTORCH_OPS = Path(__file__).parent / "pytorch_ops.txt"
_VARIANTS = ("function", "method", "operator", "in-place", "out=")
_DERIVATIVES = ("backward", "forward", "composite", "none")
_COMPOSITE = "composite"
STUBS = tuple(f"{backend}-stub" for backend in BACKENDS)
_STATES = ("all", "some", "none")


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the index: what the search looks at, and what the filters do."""

    name: str
    text: str
    facets: Mapping[str, tuple[str, ...]]
    dtypes: str


@dataclass(frozen=True, slots=True)
class Covered:
    """An op of PyTorch with its schemas; ``page`` is ours, empty if there is none."""

    name: str
    page: str
    state: str
    have: tuple[str, ...]
    lack: tuple[str, ...]
    facets: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class FamilyRow:
    """How many ops of a family each backend has."""

    family: str
    ops: int
    composite: int
    cells: tuple[str, ...]


# -------------------- the index --------------------


def rows(model: Model, pages: Iterable[Page]) -> list[Row]:
    return sorted((_row(model, page) for page in pages), key=lambda row: (row.name.startswith("_"), row.name.lower()))


def offered(rows: Iterable[Row | Covered]) -> dict[str, tuple[str, ...]]:
    """The filters and those of their values that occur, in their order."""
    found: dict[str, set[str]] = {}
    for row in rows:
        for key, values in row.facets.items():
            found.setdefault(key, set()).update(values)
    return {key: tuple(value for value in _FACETS[key] if value in found[key]) for key in found}


_FACETS: dict[str, tuple[str, ...]] = {
    "family": tuple(FAMILIES),
    "variant": _VARIANTS,
    "derivative": _DERIVATIVES,
    "backend": (*BACKENDS, _COMPOSITE, *STUBS),
    "dtype": DTYPE_GROUPS["all"],
    "tag": TAGS,
    "core": ("yes", "no"),
    "here": _STATES,
}


def _row(model: Model, page: Page) -> Row:
    ops = [overload.op for overload in page.overloads]
    found = {
        "family": {page.family},
        "variant": {variant for op in ops for variant in _variants(model, op)},
        "derivative": {way for op in ops for way in _derivatives(model, op)},
        "backend": {backend for op in ops for backend in _backends(model, op)},
        "dtype": {dtype for op in ops for dtype in DTYPE_GROUPS[op.dtypes]},
        "tag": {tag for op in ops for tag in op.tags},
    }
    ordered = {key: tuple(value for value in _FACETS[key] if value in values) for key, values in found.items()}
    if len(ordered["derivative"]) > 1:
        ordered["derivative"] = tuple(way for way in ordered["derivative"] if way != "none")
    groups = dict.fromkeys(op.dtypes.replace("_", " ") for op in ops)
    names = {op.name for op in ops} | set(page.places)
    return Row(page.name, " ".join(sorted(names)).lower(), ordered, "all" if "all" in groups else ", ".join(groups))


def _variants(model: Model, op: Op) -> Iterable[str]:
    has = {
        "function": op.is_function,
        "method": op.is_method,
        "operator": bool(op.operators),
        "in-place": op.schema.inplace or model.variant(op, "inplace") is not None,
        "out=": model.variant(op, "out") is not None,
    }
    return (name for name, is_there in has.items() if is_there)


def _derivatives(model: Model, op: Op) -> Iterable[str]:
    derivative = model.derivatives.get(op.name)
    if derivative is None:
        return ("composite",) if op.is_composite else ("none",)
    ways = {"backward": derivative.backward, "forward": derivative.forward}
    refusals = ("not_implemented", "non_differentiable")
    found = [way for way, formulas in ways.items() if any(formula.kind not in refusals for formula in formulas)]
    return found or ("none",)


def _backends(model: Model, op: Op) -> Iterable[str]:
    if op.is_composite:
        return (_COMPOSITE,)
    own = [backend for backend in BACKENDS if has_kernel(model, backend, op)]
    return own + [f"{backend}-stub" for backend in op.dispatch or () if backend not in own]


def has_kernel(model: Model, backend: str, op: Op) -> bool:
    """Whether an op has a kernel on a backend: a written one, or one that its shape rule makes."""
    return is_written(model, backend, op) or (backend == "Meta" and op.shape is not None)


# -------------------- coverage --------------------


def families(model: Model) -> list[FamilyRow]:
    """A row per family, and one for all."""
    groups = {family: [op for op in ops if op.derived_from is None] for family, ops in model.families.items()}
    every = [op for ops in groups.values() for op in ops]
    return [_family_row(model, family, ops) for family, ops in (groups | {"all": every}).items()]


def _family_row(model: Model, family: str, ops: list[Op]) -> FamilyRow:
    own = [op for op in ops if not op.is_composite]
    return FamilyRow(family, len(ops), len(ops) - len(own), tuple(_cell(model, backend, own) for backend in BACKENDS))


def _cell(model: Model, backend: str, ops: list[Op]) -> str:
    """How many kernels there are, of those that ops.yaml asks for."""
    there = [op for op in ops if has_kernel(model, backend, op)]
    asked = [op for op in ops if op in there or backend in (op.dispatch or {})]
    return f"{len(there)} of {len(asked)}" if asked else "–"


def pytorch_ops() -> dict[str, bool]:
    """PyTorch's schemas by name, and whether each is of core ATen."""
    lines = PYTORCH_OPS.read_text(encoding="utf-8").splitlines()[1:]
    return {name: bool(core) for name, _, core in (line.partition(" ") for line in lines)}


def heading() -> str:
    """What the list says of itself."""
    return PYTORCH_OPS.read_text(encoding="utf-8").partition(" Written")[0].removeprefix("# ")


def coverage(model: Model, pages: Iterable[Page]) -> list[Covered]:
    page_of = {op.schema.base: page_name(o.op for o in page.overloads) for page in pages for op in _ops(page)}
    groups: dict[str, dict[str, bool]] = {}
    names = pytorch_ops()
    for name, core in names.items():
        groups.setdefault(_row_name(name, names), {})[name] = core
    return [_covered(model, name, group, page_of) for name, group in sorted(groups.items(), key=_by_name)]


def counts(model: Model) -> dict[str, int]:
    names = pytorch_ops()
    core = [name for name, is_core in names.items() if is_core]
    return {
        "core_have": sum(name in model.ops for name in core),
        "core_all": len(core),
        "all_have": sum(name in model.ops for name in names),
        "all_all": len(names),
    }


def _ops(page: Page) -> Iterable[Op]:
    return (overload.op for overload in page.overloads)


def _by_name(group: tuple[str, object]) -> tuple[bool, str]:
    """Private ops last."""
    return group[0].startswith("_"), group[0].lower()


def _row_name(schema: str, names: Mapping[str, bool]) -> str:
    """The op of a schema; the in-place form belongs to the op without underscore if there is one."""
    op = schema.partition(".")[0]
    functional = op.removesuffix("_")
    is_op = any(name in names for name in (functional, f"{functional}.Tensor", f"{functional}.Scalar"))
    return functional if op.endswith("_") and not op.endswith("__") and is_op else op


def _covered(model: Model, name: str, group: Mapping[str, bool], page_of: Mapping[str, str]) -> Covered:
    have = tuple(sorted(schema for schema in group if schema in model.ops))
    lack = tuple(sorted(schema for schema in group if schema not in model.ops))
    state = "none" if not have else "some" if lack else "all"
    core = "yes" if any(group.values()) else "no"
    page = page_of.get(name.removesuffix("_"), page_of.get(name, "")) if have else ""
    return Covered(name, page, state, have, lack, {"core": (core,), "here": (state,)})
