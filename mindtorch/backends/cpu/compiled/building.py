"""From an expression or row kernel to object code, with a loop for each format."""

from functools import partial

from llvmlite import ir

from mindtorch.backends.cpu.compiled import machine, scatters, vector_math
from mindtorch.backends.cpu.compiled.conversion_loop import add_conversion_loop
from mindtorch.backends.cpu.compiled.conversions import CONVERSIONS
from mindtorch.backends.cpu.compiled.expressions import expression
from mindtorch.backends.cpu.compiled.inner_loop import add_loop
from mindtorch.backends.cpu.compiled.recurrence_loop import add_recurrence_loop
from mindtorch.backends.cpu.compiled.recurrences import RECURRENCES
from mindtorch.backends.cpu.compiled.row_kernels import ROW_KERNELS
from mindtorch.backends.cpu.compiled.row_loop import add_row_loop
from mindtorch.backends.cpu.compiled.scatter_loop import add_scatter_loop
from mindtorch.backends.cpu.compiled.values import FORMATS, Format


def text(name: str) -> str:
    """The loops in LLVM's language: functions that are called like the formats."""
    module = ir.Module(name)
    if conversion := CONVERSIONS.get(name):
        add_conversion_loop(module, FORMATS[0].name, conversion)
        return str(module)
    if name == scatters.ADD_ROWS:
        for format in FORMATS:
            add_scatter_loop(module, format.name, format)
        return str(module)
    add = _add_rows if name in ROW_KERNELS else _add_recurrence if name in RECURRENCES else _add_elements
    for format in FORMATS:
        add(module, name, format)
    return str(module)


def _add_rows(module: ir.Module, name: str, format: Format) -> None:
    add_row_loop(module, format.name, format, ROW_KERNELS[name])


def _add_recurrence(module: ir.Module, name: str, format: Format) -> None:
    add_recurrence_loop(module, format.name, format, RECURRENCES[name])


def _add_elements(module: ir.Module, name: str, format: Format) -> None:
    found = expression(name)
    add_loop(module, format.name, format, partial(found.of, vector_math), found.are_masks)


def build(name: str) -> bytes:
    return machine.object_code(text(name))
