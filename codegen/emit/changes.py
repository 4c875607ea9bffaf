"""The lines of a generated function about arguments that autograd must leave alone: what it changes, and constants.

The op's tensor ``self``, which ``name_`` writes, and ``out`` are seen to by the macros of their functions.
"""

from __future__ import annotations

from ..model import Argument, Model, Op


def checks(model: Model, op: Op) -> tuple[str, ...]:
    """Before the kernel: refuse what must not require grad, or may not be written."""
    return tuple(line for argument in _unrecorded(model, op) for line in _check(op, argument))


def marks(op: Op) -> tuple[str, ...]:
    """After the kernel: raise the versions of what it has changed. What a composite op is made of does that itself."""
    changed = () if op.is_composite else op.schema.changed_inputs
    return tuple(line for argument in changed for line in _mark(argument))


def _unrecorded(model: Model, op: Op) -> tuple[Argument, ...]:
    derivative = model.derivative_of(op)
    formulas = derivative.backward if derivative else ()
    constants = {name for formula in formulas if formula.is_constant for name in formula.targets}
    changed = op.schema.changed_inputs
    return tuple(each for each in op.schema.tensor_arguments if each in changed or each.name in constants)


def _check(op: Op, argument: Argument) -> list[str]:
    """What a composite op is made of refuses tensors of inference mode: of these only the gradient is asked for."""
    name, kind = argument.python_name, argument.type
    is_written = argument in op.schema.changed_inputs and not op.is_composite
    tests = [f"{name} is not None"] if kind.is_optional else []
    tests += [] if is_written or kind.is_list else [f"{name}._mt_edge is not None"]
    function = "check_writable" if is_written else "check_constant"
    call = f'{function}("{op.schema.name}", "{argument.name}", {"*" if kind.is_list else ""}{name})'
    return [f"if {' and '.join(tests)}:", f"    {call}"] if tests else [call]


def _mark(argument: Argument) -> list[str]:
    name = argument.python_name
    if argument.type.is_list:
        return [f"for tensor in {name}:", "    mark_written(tensor)"]
    mark = f"mark_written({name})"
    return [f"if {name} is not None:", f"    {mark}"] if argument.type.is_optional else [mark]
