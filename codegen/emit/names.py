"""The names of generated things: one rule for each, used by every emitter."""

from __future__ import annotations

from collections.abc import Iterable

from ..model import Argument, Model, Op


def root_of(model: Model, op: Op) -> Op:
    """The entry of ops.yaml that an op stands in: itself, or the op it was derived from."""
    return model.ops[op.derived_from] if op.derived_from else op


def visible_overloads(model: Model, name: str) -> tuple[Op, ...]:
    """The overloads of a Python name that a caller can mean."""
    return tuple(op for op in model.groups.get(name, ()) if not op.hidden)


def function_name(model: Model, op: Op) -> str:
    """The generated function of an op: ``mul``, ``sum_dim_IntList``, ``mul_``, ``mul_out``, ``max_dim_out``.

    ``scatter.reduce`` leaves the name ``scatter_reduce`` to the op that is called so.
    """
    if op.kind == "out":
        return f"{function_name(model, root_of(model, op))}_out"
    name = op.schema.name
    if visible_overloads(model, name) == (op,):
        return name
    full = f"{name}_{op.schema.overload or 'default'}"
    return f"{full}_overload" if full in model.groups else full


def op_reference(model: Model, name: str) -> str:
    """How a formula's code calls an op: the project's own ones hide those of mindtorch."""
    return f"own_ops.{name}" if name in model.groups and not model.project.is_library else f"ops.{name}"


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
