"""Reads what ops were before: the keys ``deprecated`` and ``versions`` of ops.yaml."""

from __future__ import annotations

from dataclasses import replace

from ..errors import Problems
from ..keys import DEPRECATED_KEYS, VERSION_KEYS, Key
from ..model import FunctionSchema, OldForm, Text
from .entries import Checker
from .expressions import is_call_on_self
from .schema_parser import read_schema
from .variants import inplace_schema, out_schema
from .yaml_source import Mapping, Node, Scalar, Sequence


def read_history(values: dict[str, Node], problems: Problems) -> tuple[tuple[OldForm, ...], tuple[OldForm, ...]]:
    """The deprecated calls and the old versions of an entry, as far as they can be read."""
    deprecated = _forms(values.get("deprecated"), DEPRECATED_KEYS, "replacement", problems)
    return deprecated, _forms(values.get("versions"), VERSION_KEYS, "upgrade", problems)


def _forms(node: Node | None, keys: tuple[Key, ...], expression: str, problems: Problems) -> tuple[OldForm, ...]:
    """The items of a list; none if one of them is wrong, which would make others seem wrong."""
    checker = Checker(keys, problems)
    items = node.items if isinstance(node, Sequence) else ()
    forms = [_form(item, checker, expression, problems) for item in items if isinstance(item, Mapping)]
    right = tuple(form for form in forms if form is not None)
    return right if len(right) == len(items) else ()


def _form(item: Mapping, checker: Checker, expression: str, problems: Problems) -> OldForm | None:
    """One item of the list; None, with a diagnostic, when something is missing or wrong."""
    right = checker.values(item)
    values = {name: Text(value.text, value.location) for name, value in right.items() if isinstance(value, Scalar)}
    unknown = [name for name, _ in checker.unknown_keys(item)]
    for name in unknown:
        checker.report_unknown(name)
    source = item.text("func") if "func" in values else None
    schema = read_schema(source, problems) if source is not None else None
    if schema is None or expression not in values or len(values) + len(unknown) < len(item.items):
        return None
    version = int(values["version"].text) if "version" in values else 0
    return OldForm(schema, values[expression], values.get("since"), values.get("removal"), version)


def variant_forms(forms: tuple[OldForm, ...], variant: FunctionSchema) -> tuple[OldForm, ...]:
    """The same old forms of a derived variant, where the expression is nothing but a call of the op on ``self``."""
    plain = (form for form in forms if is_call_on_self(form.expression.text, variant.base))
    schemas = ((form, _variant_schema(form.schema, variant)) for form in plain)
    return tuple(replace(form, schema=schema) for form, schema in schemas if schema is not None)


def _variant_schema(schema: FunctionSchema, variant: FunctionSchema) -> FunctionSchema | None:
    if variant.kind == "inplace":
        return inplace_schema(schema, schema.location)
    return replace(out_schema(schema, schema.location), overload=variant.overload)
