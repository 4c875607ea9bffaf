"""From an expression to object code, with a loop for each format."""

from functools import partial

from llvmlite import ir

from mindtorch.backends.cpu.compiled import machine, vector_math
from mindtorch.backends.cpu.compiled.expressions import expression
from mindtorch.backends.cpu.compiled.inner_loop import add_loop
from mindtorch.backends.cpu.compiled.values import FORMATS


def text(name: str) -> str:
    """The loops in LLVM's language: functions that are called like the formats."""
    found = expression(name)
    module = ir.Module(name)
    for format in FORMATS:
        add_loop(module, format.name, format, partial(found.of, vector_math), len(found.operands))
    return str(module)


def build(name: str) -> bytes:
    return machine.object_code(text(name))
