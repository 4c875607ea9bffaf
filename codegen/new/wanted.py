"""What is asked for: a schema string, or the name of an op of PyTorch.

The schema of an op of PyTorch is as good as its name: variants and tags are PyTorch's either way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..errors import Problems, did_you_mean
from ..model import FunctionSchema, Location
from ..read.schema_parser import SchemaError, parse_schema, read_schema
from ..read.yaml_source import Scalar
from .torch_facts import TorchDerivative, TorchFacts, TorchFunction

COMMAND_LINE = "the command line"
START = Location(COMMAND_LINE, 1, 1)
_PREFIXES = ("aten::", "torch.ops.aten.", "aten.", "torch.nn.functional.", "torch.")
_SCHEMA_HINT = "give the schema instead: new 'name(Tensor self) -> Tensor'"


@dataclass(frozen=True, slots=True)
class Wanted:
    """An op to add, with the variants and the facts that PyTorch has; ``function`` is None without PyTorch's help.

    ``names`` are those of PyTorch's schemas, if a list of them is at hand: then at least its variants are known.
    ``parts`` are ops that PyTorch has for the sake of this one: ``_pdist_forward``. ``dtypes`` are those that it takes.
    """

    schema: FunctionSchema
    inplace: FunctionSchema | None = None
    out: FunctionSchema | None = None
    function: TorchFunction | None = None
    derivative: TorchDerivative | None = None
    names: frozenset[str] = frozenset()
    parts: tuple[str, ...] = ()
    dtypes: frozenset[str] | None = None

    @property
    def is_of_pytorch(self) -> bool:
        return self.function is not None or self.schema.full_name in self.names


def read_wanted(
    text: str, facts: TorchFacts | None, problems: Problems, *, names: frozenset[str] = frozenset(), own: bool = False
) -> list[Wanted]:
    """The ops that ``text`` stands for: one for a schema, one per overload for a name.

    ``own`` is for packages, where a schema is that of an op of theirs even if PyTorch has one of that name.
    """
    problems.know(COMMAND_LINE, text)
    if "(" not in text:
        return _of_torch(text, facts, problems)
    schema = read_schema(_without_namespace(text), problems)
    if schema is None:
        return []
    return [Wanted(schema) if own else _known(schema, facts, names)]


def option(name: str, text: str, problems: Problems) -> Location:
    """The place of what an option says."""
    place = Location(f"the option --{name}", 1, 1)
    problems.know(place.file, text)
    return place


def _known(schema: FunctionSchema, facts: TorchFacts | None, names: frozenset[str]) -> Wanted:
    """An op given by its schema, with what is known of it if PyTorch has it."""
    listed = _grouped(facts.functions.get(schema.base, ()), facts) if facts else ()
    found = next((each for each in listed if str(each.schema) == str(schema)), None)
    return replace(found, schema=schema) if found else Wanted(schema, names=names)


def _without_namespace(text: str) -> Scalar:
    return Scalar(text.removeprefix("aten::"), START, 6 if text.startswith("aten::") else 0)


def _of_torch(text: str, facts: TorchFacts | None, problems: Problems) -> list[Wanted]:
    if facts is None:
        problems.add("E110", f"cannot look up '{text}': PyTorch is not installed", START, _SCHEMA_HINT)
        return []
    base, overload = _find(text, facts)
    found = list(_grouped(facts.functions.get(base, ()), facts))
    chosen = [each for each in found if overload in (None, each.schema.overload)]
    if not found and base in facts.functions:
        problems.add("E110", f"PyTorch has '{base}' only as an out= op", START, _SCHEMA_HINT)
    elif not found:
        hint = did_you_mean(base, facts.functions) or _SCHEMA_HINT
        problems.add("E110", f"PyTorch has no op '{base}'", START, hint)
    elif not chosen:
        overloads = ", ".join(each.schema.full_name for each in found)
        problems.add("E110", f"PyTorch has no op '{base}.{overload}' to list on its own", START, f"it has: {overloads}")
    return chosen


def _find(text: str, facts: TorchFacts) -> tuple[str, str | None]:
    """The base name and the overload, if any, of ``add``, ``add.Tensor``, ``aten::add`` or ``linalg.inv``."""
    name = next((text.removeprefix(prefix) for prefix in _PREFIXES if text.startswith(prefix)), text)
    base, _, overload = name.partition(".")
    if base not in facts.functions and name.replace(".", "_") in facts.functions:
        return name.replace(".", "_"), None
    return base, {"": None, "default": ""}.get(overload, overload)


def _grouped(functions: tuple[TorchFunction, ...], facts: TorchFacts) -> Iterator[Wanted]:
    """The functional ops, each with its in-place and out= variant; without a functional one, the in-place ops."""
    read = [(function, schema) for function in functions if (schema := _parsed(function.schema)) is not None]
    main = [(function, schema) for function, schema in read if schema.kind == "functional"] or [
        (function, schema) for function, schema in read if schema.kind in ("inplace", "mutable")
    ]
    for function, schema in main:
        others = [other for _, other in read if other is not schema and _inputs(other) == _inputs(schema)]
        variants = {other.kind: other for other in others if schema.kind == "functional"}
        derivative = facts.derivatives.get(str(schema))
        parts = tuple(_parts(schema.base, facts))
        yield Wanted(schema, variants.get("inplace"), variants.get("out"), function, derivative, parts=parts)


def _parts(base: str, facts: TorchFacts) -> Iterator[str]:
    """The private ops that are called like an op; what only backward passes call is none of its parts."""
    for name in facts.functions:
        if (name == f"_{base}" or name.startswith(f"_{base}_")) and not name.endswith("backward"):
            yield name


def _parsed(text: str) -> FunctionSchema | None:
    try:
        return parse_schema(Scalar(text, Location("native_functions.yaml", 1, 1)))
    except SchemaError:
        return None


def _inputs(schema: FunctionSchema) -> list[tuple[str, str, str | None]]:
    options = ("dtype", "layout", "device", "pin_memory")
    has_options = all(schema.argument(name) for name in options)
    inputs = [argument for argument in schema.inputs if not (has_options and argument.name in options)]
    return [(argument.name, str(argument.type), argument.default) for argument in inputs]
