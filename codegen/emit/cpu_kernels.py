"""generated/kernels/cpu/<family>.py: the scalar expressions as functions, from which loops are compiled."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Model, Op, ScalarExpression
from ..read.scalars import rows
from ..render import header

_FOLDER = "generated/kernels/cpu"
_PURPOSE = """What the {family} ops compute for one element.

`m` has the functions: `vector_math` where a loop is compiled, NumPy's in tests. EXPRESSIONS has for each loop the
function, its operands in the order in which the loop takes them, the arguments that are constant in it, and which
operands are masks."""
_INDEX = "The expressions that loops of the CPU are compiled from, and the modules that they are in."


def emit(model: Model) -> dict[str, str]:
    families = {family: ops for family in model.families if (ops := list(_ops(model, family)))}
    if not families:
        return {}
    files = {f"{_FOLDER}/{family}.py": _module(model, family, ops) for family, ops in families.items()}
    places = {
        name: family for family, ops in families.items() for op, found in ops for name, _ in rows(_name(op), found)
    }
    head = header(model.project, "cpu_kernels", "ops.yaml")
    return {**files, f"{_FOLDER}/__init__.py": f'{head}"""{_INDEX}"""\n\nFAMILIES = {places!r}\n'}


def _ops(model: Model, family: str) -> Iterator[tuple[Op, ScalarExpression]]:
    for op in model.families[family]:
        if op.scalar is not None and op.derived_from is None:
            yield op, op.scalar


def _name(op: Op) -> str:
    return op.name.replace(".", "_")


def _module(model: Model, family: str, ops: list[tuple[Op, ScalarExpression]]) -> str:
    functions = [_function(op, found) for op, found in ops]
    table = [row for op, found in ops for row in _rows(op, found)]
    head = header(model.project, "cpu_kernels", "ops.yaml") + f'"""{_PURPOSE.format(family=family)}"""'
    return "\n\n\n".join([head, *functions, "EXPRESSIONS = {\n" + "\n".join(table) + "\n}\n"])


def _function(op: Op, found: ScalarExpression) -> str:
    return f"def {_name(op)}({', '.join(['m', *found.operands, *found.choices])}):\n    return {found.code}"


def _rows(op: Op, found: ScalarExpression) -> Iterator[str]:
    for name, choice in rows(_name(op), found):
        yield f'    "{name}": ({_name(op)}, {found.operands!r}, {choice!r}, {found.masks!r}),'
