"""The names of generated things: one rule for each, used by every emitter."""

from __future__ import annotations

from collections.abc import Iterable

from ..model import Argument, Model, Op
from ..model.function_names import overload_function, visible


def root_of(model: Model, op: Op) -> Op:
    """The entry of ops.yaml that an op stands in: itself, or the op it was derived from."""
    return model.ops[op.derived_from] if op.derived_from else op


def visible_overloads(model: Model, name: str) -> tuple[Op, ...]:
    """The overloads of a Python name that a caller can mean."""
    return visible(model.groups.get(name, ()))


def function_name(model: Model, op: Op) -> str:
    """The generated function of an op: ``mul``, ``sum_dim_IntList``, ``mul_``, ``mul_out``, ``max_dim_out``."""
    if op.kind == "out":
        return f"{function_name(model, root_of(model, op))}_out"
    return overload_function(op, model.groups)


def op_reference(model: Model, name: str) -> str:
    """How a formula's code calls an op, or one overload; the project's own ones hide those of mindtorch."""
    is_own = not model.project.is_library and (name in model.groups or bool(ops_of_function(model, name)))
    return f"own_ops.{name}" if is_own else f"ops.{name}"


def ops_of_function(model: Model, name: str) -> list[Op]:
    """The op whose function has a name, if there is one."""
    return [op for op in model.ops.values() if op.kind != "out" and function_name(model, op) == name]


def registered_name(model: Model, op: Op) -> str:
    """The name under which the dispatcher knows an op: ``mul.Tensor``, ``wavelets::haar``."""
    return model.project.registered_name(op.name)


def qualified_base(model: Model, op: Op) -> str:
    """What torch calls an op that it has no formulas of: the name with its namespace, and without the overload."""
    name = registered_name(model, op).partition(".")[0]
    return name if "::" in name else f"aten::{name}"


def kernel_table(model: Model, op: Op) -> str:
    """The module variable that holds the op's kernels; its in-place and out= variants share them."""
    return f"_{function_name(model, root_of(model, op))}_kernels"


def array_name(argument: Argument) -> str:
    """The local variable for the array, or the list of arrays, of a tensor argument."""
    return f"{argument.python_name}_array{'s' if argument.type.is_tensor_list else ''}"


def edge_name(argument: Argument) -> str:
    """The local variable for the place of a tensor argument in the graph."""
    return f"{argument.python_name}_edge{'s' if argument.type.is_tensor_list else ''}"


def comma_separated(words: Iterable[str]) -> str:
    return ", ".join(words)
