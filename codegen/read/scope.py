"""The names that a formula may use: the op's own, the helpers of formulas, ops and Python builtins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..model import FunctionSchema
from ..sources.call_forms import ANY_CALL, CallForm, CallForms

_DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
_FORMATS = "contiguous_format preserve_format channels_last channels_last_3d".split()
_LAYOUTS = "strided sparse_coo sparse_csr sparse_csc sparse_bsr sparse_bsc".split()
# What decompositions may use besides functions, and where it comes from.
CONSTANTS = {
    **dict.fromkeys(_DTYPES, "mindtorch._core.dtype"),
    **dict.fromkeys(_FORMATS, "mindtorch._core.memory_format"),
    **dict.fromkeys(_LAYOUTS, "mindtorch._core.layout"),
}
BUILTINS = frozenset("abs bool enumerate float int isinstance len list max min range reversed slice tuple zip".split())


@dataclass(frozen=True, slots=True)
class Helper:
    """A public name of ``module``, which is ``file``. ``form`` is None for what is no function, or made by one."""

    name: str
    form: CallForm | None = None
    module: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that the formulas of one op may use, and how those that are called are called.

    ``attributes`` of tensors are not checked when it is empty.
    ``helper_place`` is where helpers are written. ``renamed`` has the arguments of an entry whose schema is not that of
    the op any more: the name there to the one of today. ``constants`` are values with a name, and their modules.
    """

    schema: FunctionSchema
    helpers: Mapping[str, Helper]
    ops: Mapping[str, CallForms]
    differentiable: tuple[str, ...]
    attributes: Mapping[str, CallForms] = field(default_factory=dict)
    helper_place: str = "formulas"
    renamed: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)

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

    def forms_of(self, function: str) -> CallForms:
        """How a helper, builtin or op is called; helpers hide builtins, and builtins hide ops."""
        if function in self.helpers:
            form = self.helpers[function].form
            return (form,) if form else ANY_CALL
        return self.ops[function] if function in self.ops and function not in BUILTINS else ANY_CALL

    def own_names(self) -> set[str]:
        """The names that mean something in the formulas of this op only."""
        return {argument.name for argument in self.schema.inputs} | self.gradients.keys() | self.outputs.keys()

    def dual_names(self) -> set[str]:
        """What forward formulas call the primals and tangents of the tensors."""
        tensors = [argument.name for argument in self.schema.inputs if argument.type.holds_tensors]
        return {f"{name}{end}" for name in tensors for end in ("_p", "_t")}

    def all_names(self) -> set[str]:
        return self.own_names() | self.helpers.keys() | self.ops.keys() | BUILTINS | {"grads", "needs_input_grad"}


def python_names(schema: FunctionSchema) -> dict[str, str]:
    """The arguments that have another name in Python, ``input`` for ``self``: Python name to the one in formulas."""
    return {each.python_name: each.name for each in schema.inputs if each.python_name != each.name}


_OF_OUTPUTS = frozenset("out output outputs results".split())
_OF_GRADIENTS = frozenset("grad_out grad_output grad_outputs gradient".split())


def other_name(name: str, scope: Scope) -> str:
    """A hint on what is called otherwise in formulas: arguments, tangents, outputs and gradients; or nothing."""
    in_python, end = python_names(scope.schema), name[-2:]
    if name in scope.renamed:
        return f"the argument is called '{scope.renamed[name]}' now"
    if name in in_python:
        return f"in formulas the argument is called '{in_python[name]}'"
    if end in ("_p", "_t"):
        return _name_of_dual(name[:-2], end, scope)
    if name in _OF_OUTPUTS:
        return _called("output", scope.schema.result_names)
    if name in _OF_GRADIENTS:
        return _called("gradient", ["grads" if scope.returns_list or len(scope.differentiable) > 1 else "grad"])
    return ""


def _name_of_dual(name: str, end: str, scope: Scope) -> str:
    argument, renamed = scope.schema.argument(name), {**python_names(scope.schema), **scope.renamed}
    if name in renamed:
        return f"in formulas the argument is called '{renamed[name]}', so write '{renamed[name]}{end}'"
    if argument is not None:
        return f"'{name}' is {argument.type} and no tensor: write '{name}', it has no tangent"
    return ""


def _called(what: str, names: Iterable[str]) -> str:
    words = " or ".join(map(repr, names))
    return words and f"in formulas the {what} is called {words}"


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
