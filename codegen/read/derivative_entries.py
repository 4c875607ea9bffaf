"""Reads derivatives.yaml: every entry becomes the derivative of an op."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import Problems, did_you_mean, did_you_mean_op
from ..keys import DERIVATIVE_KEYS, FORMS
from ..model import Derivative, Formula, FunctionSchema, Op
from ..sources.hand_written import HandWritten
from .entries import Checker, read_entries
from .formula import Role, read_formula
from .known_calls import known_calls
from .op_entries import OpEntry
from .schema_parser import SchemaError, parse_schema
from .scope import Scope, other_name, output_names, renamed_arguments
from .yaml_source import Mapping, Node, Scalar, Sequence


@dataclass(frozen=True, slots=True)
class DerivativeEntry:
    """One entry: the YAML it was read from and the derivative it gives."""

    yaml: Mapping
    derivative: Derivative
    has_unknown_keys: bool


class DerivativeReader:
    """Reads the entries one after the other; node names are counted in their order."""

    def __init__(self, ops: list[OpEntry], hand_written: HandWritten, problems: Problems) -> None:
        self._ops = {op.name: op for entry in reversed(ops) for op in entry.ops}
        self._differentiable = [name for name, op in self._ops.items() if op.kind != "out"]
        self._unreadable = {entry.title for entry in ops if not entry.ops}
        self._calls = known_calls(ops, hand_written)
        self._helpers = hand_written.helpers
        self._project = hand_written.project
        self._problems = problems
        self._checker = Checker(DERIVATIVE_KEYS, problems)
        self._counters: Counter[str] = Counter()

    def read(self, path: Path, file: str) -> list[DerivativeEntry]:
        entries = (self._entry(entry) for entry in read_entries(path, file, self._problems))
        return [entry for entry in entries if entry is not None]

    def _entry(self, yaml: Mapping) -> DerivativeEntry | None:
        values = self._checker.values(yaml)
        name = values.get("name")
        op = self._op(name) if isinstance(name, Scalar) else None
        if op is None or not isinstance(name, Scalar):
            return None
        differentiability = self._differentiability(op.schema, values)
        outputs = [name for name, has in zip(op.schema.result_names, differentiability) if has]
        scope = Scope(
            op.schema,
            self._helpers,
            self._calls.functions,
            tuple(outputs),
            self._calls.attributes,
            self._project.formula_place(op.family),
            _renamed(name, op.schema),
        )
        backward, forward, has_unknown_keys = self._formulas(yaml, scope)
        when = values.get("when")
        derivative = Derivative(
            op=op,
            node="",
            backward=backward,
            forward=forward,
            output_differentiability=differentiability,
            when=read_formula(when, (), "when", scope, self._problems) if isinstance(when, Scalar) else None,
            location=yaml.location,
            refuses_complex="complex" in values,
        )
        return DerivativeEntry(yaml, self._named(derivative, values), has_unknown_keys)

    def _op(self, name: Scalar) -> Op | None:
        """The op whose schema string is ``name``."""
        title = name.text.partition("(")[0].strip()
        op = self._ops.get(title)
        if op is None:
            if not {title, ""} & self._unreadable:
                hint = (
                    f"{did_you_mean_op(title, self._differentiable)} if the op is gone, remove this entry, too".lstrip()
                )
                self._problems.add("E050", f"no op '{title}' in ops.yaml", name.location, hint)
            return None
        if str(op.schema) != name.text:
            message = f"the schema of '{title}' is not the one in ops.yaml"
            self._problems.add("E051", message, name.location, f"write {op.schema}")
        return op

    def _differentiability(self, schema: FunctionSchema, values: dict[str, Node]) -> tuple[bool, ...]:
        """Which outputs have a gradient: what the entry says, else all that are tensors."""
        default = tuple(result.type.holds_tensors for result in schema.returns)
        given = values.get("output_differentiability")
        if not isinstance(given, Sequence):
            return default
        if len(given.items) != len(default):
            message = f"'output_differentiability' has {len(given.items)} values for {len(default)} outputs"
            self._problems.add("E056", message, given.location, "one True or False for each output")
            return default
        return tuple(isinstance(item, Scalar) and item.text in ("True", "true") for item in given.items)

    def _formulas(self, yaml: Mapping, scope: Scope) -> tuple[tuple[Formula, ...], tuple[Formula, ...], bool]:
        """The backward and the forward formulas of an entry, in its order, and whether there are keys of no meaning."""
        found: dict[Role, list[Formula]] = {"backward": [], "forward": []}
        taken: set[str] = set()
        has_unknown_keys = False
        for key, value in self._checker.unknown_keys(yaml):
            role, targets = self._targets(key, scope)
            has_unknown_keys |= not targets
            if not targets or not self._is_formula(key, value) or not self._are_free(key, targets, taken):
                continue
            assert isinstance(value, Scalar)
            taken.update(targets)
            found[role].append(read_formula(value, targets, role, scope, self._problems))
        return tuple(found["backward"]), tuple(found["forward"]), has_unknown_keys

    def _targets(self, key: Scalar, scope: Scope) -> tuple[Role, tuple[str, ...]]:
        """What a key stands for: arguments (backward) or an output (forward); arguments come first."""
        outputs = output_names(scope.schema)
        words = list(key.words())
        if len(words) == 1 and words[0].text in outputs and scope.schema.argument(words[0].text) is None:
            return "forward", (outputs[words[0].text],)
        if all([self._is_differentiable_argument(word, scope) for word in words]):
            return "backward", tuple(word.text for word in words)
        return "backward", ()

    def _is_differentiable_argument(self, word: Scalar, scope: Scope) -> bool:
        schema = scope.schema
        argument = schema.argument(word.text)
        if argument is None or argument not in schema.inputs:
            names = [tensor.name for tensor in schema.tensor_arguments]
            known = [*names, *output_names(schema), *(key.name for key in DERIVATIVE_KEYS)]
            message = f"'{word.text}' is no argument or output of {schema.full_name}, and no key"
            hint = did_you_mean(word.text, known) or f"tensor arguments: {', '.join(names)}"
            if word.text in output_names(schema):
                hint = "every output has a key of its own"
            else:
                hint = other_name(word.text, scope) or hint
            self._problems.add("E053", message, word.location, hint)
        elif not argument.type.holds_tensors:
            message = f"'{word.text}' is no tensor but {argument.type}: it has no gradient"
            self._problems.add("E057", message, word.location, "remove the formula")
        else:
            return True
        return False

    def _is_formula(self, key: Scalar, value: Node) -> bool:
        if isinstance(value, Scalar) and value.text:
            return True
        message = f"the formula of '{key.text}' must be {FORMS['expression']}"
        is_empty = isinstance(value, Scalar)
        hint = "put it in quotes if it starts with a sign or bracket"
        if is_empty:
            hint = "write a formula, or non_differentiable or not_implemented, which say that there is none"
        self._problems.add("E014", message, value.location, hint)
        return False

    def _are_free(self, key: Scalar, targets: tuple[str, ...], taken: set[str]) -> bool:
        doubled = [name for name in targets if name in taken or targets.count(name) > 1]
        if doubled:
            message = f"a second formula for '{doubled[0]}'"
            self._problems.add("E055", message, key.location, "every argument and output has one formula")
        return not doubled

    def _named(self, derivative: Derivative, values: dict[str, Node]) -> Derivative:
        """Give the node its name: the entry's, or CamelCase(op)Backward<n> as in PyTorch."""
        given = values.get("node")
        if isinstance(given, Scalar):
            return replace(derivative, node=given.text)
        if not derivative.edges:
            return derivative
        prefix = node_prefix(derivative.op.schema.base)
        name = f"{prefix}{self._counters[prefix]}"
        self._counters[prefix] += 1
        return replace(derivative, node=name)


def _renamed(name: Scalar, schema: FunctionSchema) -> dict[str, str]:
    """The arguments of the op that the entry knows by the names that they had before."""
    if str(schema) == name.text:
        return {}
    try:
        return renamed_arguments(parse_schema(name), schema)
    except SchemaError:
        return {}


def node_prefix(base: str) -> str:
    """``max_pool2d_forward`` gives ``MaxPool2DBackward``."""
    camel = "".join(word.title() for word in base.split("_"))
    return f"{camel}Backward".replace("ForwardBackward", "Backward")
