"""Reads ops.yaml: every entry becomes an op and the variants derived from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from ..errors import Problems
from ..keys import INPLACE_OPERATORS
from ..model import FunctionSchema, Op, ScalarExpression, View
from ..sources.hand_written import HandWritten
from .entries import Checker, read_entries
from .old_entries import read_history, variant_forms
from .places import by_hand, is_shown
from .scalars import read_scalar
from .schema_parser import read_schema
from .variants import generated_out_schema, inplace_schema, out_schema
from .yaml_source import Mapping, Node, Scalar


@dataclass(frozen=True, slots=True)
class OpEntry:
    """One entry: the YAML it was read from, the ``values`` that have the right form, and the ops it gives.

    ``ops`` is empty when the entry's schema cannot be read; ``title`` is the op's name as far as it can be told.
    """

    yaml: Mapping
    values: dict[str, Node]
    title: str
    ops: tuple[Op, ...]

    @property
    def op(self) -> Op:
        return self.ops[0]

    def scalar(self, key: str) -> Scalar | None:
        value = self.values.get(key)
        return value if isinstance(value, Scalar) else None


def read_ops(hand_written: HandWritten, problems: Problems) -> list[OpEntry]:
    """The entries of ops.yaml, in their order."""
    project, reader = hand_written.project, _OpReader(hand_written, problems)
    return [reader.entry(entry) for entry in read_entries(project.root / project.ops, project.ops, problems)]


class _OpReader:
    def __init__(self, hand_written: HandWritten, problems: Problems) -> None:
        self._project = hand_written.project
        self._hand_written = hand_written
        self._problems = problems
        self._checker = Checker(hand_written.project.op_keys, problems)

    def entry(self, yaml: Mapping) -> OpEntry:
        values = self._checker.values(yaml)
        for name, _ in self._checker.unknown_keys(yaml):
            self._checker.report_unknown(name)
        title = _title(yaml)
        schema = self._schema(values, "func")
        if schema is None:
            return OpEntry(yaml, values, title, ())
        deprecated, versions = read_history(values, self._problems)
        op = replace(_op(schema, _Values(values), yaml), deprecated=deprecated)
        op = replace(op, versions=versions, version=len(versions) + 1, package=self._project.shown_package)
        op = replace(op, scalar=self._scalar(op, values))
        ops = _without_inplace_operators(op), *self._variants(op, values)
        return OpEntry(yaml, values, title, tuple(self._placed(op) for op in ops))

    def _placed(self, op: Op) -> Op:
        """The op, with what the hand-written code shows of it."""
        sources = self._hand_written
        own = by_hand(op, sources.by_hand, sources.methods)
        return replace(op, is_shown=is_shown(op, sources.functional), by_hand=own)

    def _scalar(self, op: Op, values: dict[str, Node]) -> ScalarExpression | None:
        """Those of another package are refused elsewhere."""
        source = values.get("scalar")
        if not isinstance(source, Scalar) or not self._project.is_library:
            return None
        return read_scalar(source, op.schema, self._hand_written.scalar_names, self._problems)

    def _schema(self, values: dict[str, Node], key: str) -> FunctionSchema | None:
        source = values.get(key)
        return read_schema(source, self._problems) if isinstance(source, Scalar) else None

    def _variants(self, op: Op, values: dict[str, Node]) -> Iterator[Op]:
        for schema in (self._inplace(op, values), self._out(op, values)):
            if schema is not None:
                yield _variant(op, schema, self._project.is_library)

    def _inplace(self, op: Op, values: dict[str, Node]) -> FunctionSchema | None:
        if "inplace" in values:
            return self._schema(values, "inplace")
        if "inplace" not in op.autogen:
            return None
        location = values["autogen"].location
        schema = inplace_schema(op.schema, location)
        if schema is None:
            hint = "an in-place op writes to a tensor named 'self'"
            self._problems.add("E025", f"no in-place variant can be derived from {op.name}", location, hint)
        return schema

    def _out(self, op: Op, values: dict[str, Node]) -> FunctionSchema | None:
        if "out" in values:
            return self._schema(values, "out")
        if "copied_out" in op.autogen:
            return generated_out_schema(op.schema, values["autogen"].location)
        return out_schema(op.schema, values["autogen"].location) if "out" in op.autogen else None


def _title(yaml: Mapping) -> str:
    """The name in ``func``, or in the first value that looks like a schema, whatever its key is called."""
    texts = ((key.text, value.text) for key, value in yaml.items if isinstance(value, Scalar))
    schemas = (text for key, text in texts if "(" in text and ("->" in text or key == "func"))
    return next((text.partition("(")[0].rstrip(".") for text in schemas), "")


class _Values:
    """Values of an entry as plain Python, with the model's defaults for keys that are absent."""

    def __init__(self, values: dict[str, Node]) -> None:
        self._values = values

    def text(self, key: str) -> str | None:
        value = self._values.get(key)
        return value.text if isinstance(value, Scalar) else None

    def words(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        value = self._values.get(key)
        return tuple(word.text for word in value.words()) if isinstance(value, Scalar) else default

    def mapping(self, key: str) -> dict[str, str] | None:
        value = self._values.get(key)
        if not isinstance(value, Mapping):
            return None
        return {name.text: meant.text for name, meant in value.items if isinstance(meant, Scalar)}


def _op(schema: FunctionSchema, values: _Values, yaml: Mapping) -> Op:
    python_names = values.mapping("python_names") or {}
    return Op(
        schema=_renamed(schema, python_names),
        family=values.text("family") or "",
        location=yaml.location,
        variants=values.words("variants", ("function",)),
        python_module=values.text("python_module"),
        hidden=values.text("python") is not None,
        absent_in_torch=values.text("python") == "absent",
        autogen=values.words("autogen"),
        inplace=values.text("inplace"),
        out=values.text("out"),
        python_names=python_names,
        numbers=values.words("numbers"),
        writes=values.words("writes"),
        other_devices=values.words("other_devices"),
        operators=values.words("operators"),
        promotion=values.text("promotion"),
        shape=_unless_none(values.text("shape")),
        batch=values.text("batch"),
        view=cast("View | None", values.text("view")),
        factory=values.text("factory") is not None,
        copies=values.text("copies") is not None,
        short_cut=values.text("short_cut") is not None,
        shares_memory=values.text("shares_memory") is not None,
        dispatch=values.mapping("dispatch"),
        composite=values.text("composite"),
        aclnn=values.text("aclnn"),
        tags=values.words("tags"),
        autocast=values.text("autocast"),
        autocast_npu=values.text("autocast_npu"),
        dtypes=values.text("dtypes") or "all",
        samples=_unless_none(values.text("samples")),
        divergence=values.text("divergence"),
        doc=values.text("doc"),
    )


def _renamed(schema: FunctionSchema, python_names: dict[str, str]) -> FunctionSchema:
    """The schema with what Python calls its arguments."""
    if not python_names:
        return schema
    arguments = [replace(each, renamed=python_names.get(each.name)) for each in schema.arguments]
    return replace(schema, arguments=tuple(arguments))


def _unless_none(word: str | None) -> str | None:
    """``none`` says that the key was not forgotten."""
    return None if word == "none" else word


def _without_inplace_operators(op: Op) -> Op:
    if not op.operators or "inplace" not in op.autogen and op.inplace is None:
        return op
    return replace(op, operators=tuple(name for name in op.operators if name not in INPLACE_OPERATORS))


def _variant(op: Op, schema: FunctionSchema, has_methods: bool) -> Op:
    """A variant of ``op``; only the in-place one has Python operators, and only it can be a method."""
    inplace = schema.kind == "inplace"
    operators = tuple(name for name in op.operators if name in INPLACE_OPERATORS) if inplace else ()
    variants = _inplace_variants(op, schema) if inplace and has_methods else ("function",)
    return replace(
        op,
        schema=_renamed(schema, dict(op.python_names)),
        derived_from=op.name,
        operators=operators,
        variants=variants,
        deprecated=variant_forms(op.deprecated, schema),
        versions=variant_forms(op.versions, schema),
    )


def _inplace_variants(op: Op, schema: FunctionSchema) -> tuple[str, ...]:
    """An in-place op is a method of the tensor it writes to, unless the op is hidden away in a module or private."""
    is_public = op.python_module is None and not schema.name.startswith("_")
    if is_public and schema.self_argument is not None and op.schema.self_argument is not None:
        return tuple(dict.fromkeys((*op.variants, "method")))
    return op.variants
