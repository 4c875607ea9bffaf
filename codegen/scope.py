"""The names that a formula may use: the op's own, the helpers of formulas, ops and Python builtins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .model import FunctionSchema

BUILTINS = frozenset("abs bool enumerate float int isinstance len list max min range reversed slice tuple zip".split())


@dataclass(frozen=True, slots=True)
class Helper:
    """A public name of ``module``, which is ``file``.

    ``parameters`` is None for a constant, the first ``required`` have no default.
    """

    name: str
    parameters: tuple[str, ...] | None = None
    required: int = 0
    variadic: bool = False
    module: str = ""
    file: str = ""

    def accepts(self, positional: int, keywords: Iterable[str]) -> bool:
        if self.parameters is None or self.variadic:
            return True
        given = [*self.parameters[:positional], *keywords]
        required = self.parameters[: self.required]
        return (
            positional <= len(self.parameters)
            and len(set(given)) == len(given)
            and set(required) <= set(given) <= set(self.parameters)
        )

    @property
    def signature(self) -> str:
        parameters = self.parameters or ()
        words = [name if i < self.required else f"{name}=..." for i, name in enumerate(parameters)]
        return f"{self.name}({', '.join(words)})"


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that the formulas of one op may use. ``attributes`` of tensors are not checked when it is empty.

    ``helper_place`` is where helpers are written. ``renamed`` has the arguments of an entry whose schema is not that of
    the op any more: the name there to the one of today.
    """

    schema: FunctionSchema
    helpers: Mapping[str, Helper]
    ops: frozenset[str]
    differentiable: tuple[str, ...]
    attributes: frozenset[str] = frozenset()
    helper_place: str = "formulas"
    renamed: Mapping[str, str] = field(default_factory=dict)

    @property
    def gradients(self) -> dict[str, int]:
        """The output gradients by name: ``grad``, and ``grad_<output>`` of the outputs that have a name."""
        names = {f"grad_{name}": i for i, name in enumerate(self.differentiable)}
        return names if self.returns_list else {"grad": 0, **names}

    @property
    def returns_list(self) -> bool:
        """One output that is a list of tensors: its gradients are ``grads``."""
        return len(self.schema.returns) == 1 and self.schema.returns[0].type.is_list

    @property
    def outputs(self) -> dict[str, str]:
        """Every name of an output, and the name that it has in the model."""
        return output_names(self.schema)

    def own_names(self) -> set[str]:
        """The names that mean something in the formulas of this op only."""
        return {argument.name for argument in self.schema.inputs} | self.gradients.keys() | self.outputs.keys()

    def all_names(self) -> set[str]:
        return self.own_names() | self.helpers.keys() | self.ops | BUILTINS | {"grads", "needs_input_grad"}


def python_names(schema: FunctionSchema) -> dict[str, str]:
    """The arguments that have another name in Python, ``input`` for ``self``: Python name to the one in formulas."""
    return {each.python_name: each.name for each in schema.inputs if each.python_name != each.name}


def renamed_arguments(old: FunctionSchema, new: FunctionSchema) -> dict[str, str]:
    """The arguments that have another name now, if they are as many and of the same types as before."""
    pairs = list(zip(old.inputs, new.inputs))
    same = len(old.inputs) == len(new.inputs) and all(one.type == other.type for one, other in pairs)
    return {one.name: other.name for one, other in pairs if one.name != other.name} if same else {}


def output_names(schema: FunctionSchema) -> dict[str, str]:
    """``result<i>`` and the name of each output, and ``result`` for a single one, to the name in the model."""
    names = {f"result{i}": name for i, name in enumerate(schema.result_names)}
    names.update((name, name) for name in schema.result_names)
    if len(schema.returns) == 1:
        names["result"] = schema.result_names[0]
    return names
