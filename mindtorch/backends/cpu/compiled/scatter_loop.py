"""The loop of a generalized `np.ufunc`, `(m),(m,k)->(n,k)`, that adds rows to those of its result that are meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from mindtorch.backends.cpu.compiled.inner_loop import BYTES, INT, SIGNATURE, counting, int_constant
from mindtorch.backends.cpu.compiled.values import Format, size_of

_COUNTS, _STRIDES = 3, 8  # how many rows of how many elements, how often; apart, and within each operand


def add_scatter_loop(module: ir.Module, name: str, format: Format) -> None:
    """Writes the loop into a module, as a function of this name."""
    function = ir.Function(module, SIGNATURE, name)
    builder = ir.IRBuilder(function.append_basic_block())
    addresses, counts, strides, _ = function.args
    starts, numbers = _items(builder, addresses, 3), _items(builder, counts, _COUNTS)
    distances = _items(builder, strides, _STRIDES)
    size = int_constant(size_of(format))
    is_dense = builder.and_(*[builder.icmp_signed("==", distances[each], size) for each in (5, 7)])
    is_one = builder.icmp_signed("==", numbers[2], int_constant(1))
    for case, elements, step in ((is_one, int_constant(1), size), (is_dense, None, size)):
        with builder.if_then(case):
            _call(builder, format, starts, numbers, distances, elements, step)
            builder.ret_void()
    _call(builder, format, starts, numbers, distances, None, None)
    builder.ret_void()


def _items(builder: ir.IRBuilder, table: Any, count: int) -> list[Any]:
    return [builder.load(builder.gep(table, [int_constant(place)])) for place in range(count)]


def _call(
    builder: ir.IRBuilder,
    format: Format,
    starts: Sequence[Any],
    numbers: Sequence[Any],
    distances: Sequence[Any],
    elements: Any,
    step: Any,
) -> None:
    """Calls a function of its own for a number of elements, and a step between them, that are known or not."""
    types = [BYTES] * 3 + [INT] * (_COUNTS + _STRIDES)
    name = f"{builder.function.name}.{'one' if elements else 'dense' if step else 'spread'}"
    function = ir.Function(builder.module, ir.FunctionType(ir.VoidType(), types), name)
    function.linkage = "internal"
    function.attributes.add("noinline")
    for each in function.args[:3]:
        each.add_attribute("noalias")
    inside = ir.IRBuilder(function.append_basic_block())
    own = function.args
    _add(inside, format, own[:3], own[3 : 3 + _COUNTS], own[3 + _COUNTS :], elements, step)
    inside.ret_void()
    builder.call(function, [*starts, *numbers, *distances])


def _add(
    builder: ir.IRBuilder,
    format: Format,
    starts: Sequence[Any],
    numbers: Sequence[Any],
    distances: Sequence[Any],
    elements: Any,
    step: Any,
) -> None:
    times, rows, length = numbers
    index_apart, source_apart, target_apart, index_step, source_row, source_step, target_row, target_step = distances
    length = length if elements is None else elements
    steps = (source_step, target_step) if step is None else (step, step)
    with counting(builder, times) as number:
        index, source, target = [
            builder.gep(start, [builder.mul(number, apart)])
            for start, apart in zip(starts, (index_apart, source_apart, target_apart))
        ]
        with counting(builder, rows) as row:
            place = builder.load(builder.bitcast(builder.gep(index, [builder.mul(row, index_step)]), INT.as_pointer()))
            given = builder.gep(source, [builder.mul(row, source_row)])
            written = builder.gep(target, [builder.mul(place, target_row)])
            with counting(builder, length) as element:
                added, cell = [
                    builder.bitcast(builder.gep(each, [builder.mul(element, step)]), format.type.as_pointer())
                    for each, step in zip((given, written), steps)
                ]
                builder.store(builder.fadd(builder.load(cell), builder.load(added)), cell)
