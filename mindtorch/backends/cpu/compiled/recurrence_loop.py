"""The loop of a `np.ufunc` of x and degrees, around a recurrence: all elements of a block take a step at once, as many
as the highest of their degrees asks for, and keep the value of their own."""

from __future__ import annotations

from functools import partial
from typing import Any

from llvmlite import ir

from mindtorch.backends.cpu.compiled import vector_math
from mindtorch.backends.cpu.compiled.inner_loop import INT, add_block_loop, block_of, counting, int_constant
from mindtorch.backends.cpu.compiled.recurrences import Recurrence
from mindtorch.backends.cpu.compiled.values import Condition, Format, Value

_TOO_HIGH = 2.0**63  # no whole number of the machine


def add_recurrence_loop(module: ir.Module, name: str, format: Format, recurrence: Recurrence) -> None:
    """Writes the loop into a module, as a function of this name."""
    add_block_loop(module, name, format, [False, False], partial(_compute, recurrence))


def _compute(
    recurrence: Recurrence, builder: ir.IRBuilder, format: Format, inputs: list[Any], out: Any, length: Any
) -> None:
    _Steps(recurrence, builder, format, inputs, out).write(length)


class _Steps:
    """The elements of a block: what the steps need of each is in memory of its own, which nothing else shares."""

    def __init__(self, recurrence: Recurrence, builder: ir.IRBuilder, format: Format, inputs: Any, out: Any) -> None:
        self._recurrence, self._builder, self._format = recurrence, builder, format
        self._inputs, self._out = inputs, out
        with builder.goto_entry_block():
            self._x, self._last, self._before = [block_of(builder, format.type) for _ in range(3)]
            self._degrees = block_of(builder, INT)
            self._highest = builder.alloca(INT)

    def write(self, length: Any) -> None:
        builder = self._builder
        builder.store(int_constant(0), self._highest)
        with counting(builder, length) as place:
            self._write_first(place)
        end = builder.add(builder.load(self._highest), int_constant(1))
        with counting(builder, end, start=2) as number:
            as_number = Value(builder, self._format, builder.sitofp(number, self._format.type))
            with counting(builder, length) as place:
                self._write_step(number, as_number, place)

    def _write_first(self, place: Any) -> None:
        """The values of degrees 0 and 1, and those that no step gives."""
        builder, recurrence = self._builder, self._recurrence
        argument, given = [self._load(each, place) for each in self._inputs]
        x, degree = recurrence.given(argument), vector_math.trunc(given)
        counted = (degree > 0) & (degree < _TOO_HIGH)
        linear = recurrence.linear(x)
        result = counted.choose(linear, (degree == 0).choose(1, 0))
        if recurrence.is_elsewhere is not None and recurrence.elsewhere is not None:
            elsewhere = counted & recurrence.is_elsewhere(vector_math, argument, x, degree)
            result = elsewhere.choose(recurrence.elsewhere(vector_math, argument, x, degree), result)
            counted = counted & ~elsewhere
        for block, value in ((self._x, x), (self._last, linear), (self._out, result)):
            self._store(value, block, place)
        self._store(linear.number(1), self._before, place)
        steps = builder.fptosi(counted.choose(degree, 0).code, INT)
        builder.store(steps, builder.gep(self._degrees, [place]))
        highest = builder.load(self._highest)
        builder.store(builder.select(builder.icmp_signed(">", steps, highest), steps, highest), self._highest)

    def _write_step(self, number: Any, as_number: Value, place: Any) -> None:
        builder = self._builder
        x, last, before, result = [self._load(each, place) for each in (self._x, self._last, self._before, self._out)]
        value = self._recurrence.step(x, as_number, last, before)
        is_own = builder.icmp_signed("==", builder.load(builder.gep(self._degrees, [place])), number)
        self._store(Condition(builder, self._format, is_own).choose(value, result), self._out, place)
        self._store(last, self._before, place)
        self._store(value, self._last, place)

    def _load(self, block: Any, place: Any) -> Value:
        return Value(self._builder, self._format, self._builder.load(self._builder.gep(block, [place])))

    def _store(self, value: Value, block: Any, place: Any) -> None:
        self._builder.store(value.code, self._builder.gep(block, [place]))
