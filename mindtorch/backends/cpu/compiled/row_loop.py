"""The loops of a generalized `np.ufunc`, `(n),(n)->(n)` or `(n)->()`, around what a row kernel does with each row.

A row is one behind the other in memory, or spread, as the columns of a matrix are: then as many of them as stay in the
cache are computed with at once, place after place. So the same kernel is written up to three times, with one row at a
time and with many, and for distances in memory that are known when it is compiled and those that are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any, NamedTuple

from llvmlite import ir

from mindtorch.backends.cpu.compiled import values, vector_math
from mindtorch.backends.cpu.compiled.inner_loop import ALIGNMENT, BYTES, INT, SIGNATURE, counting, int_constant
from mindtorch.backends.cpu.compiled.row_kernels import RowKernel
from mindtorch.backends.cpu.compiled.values import Format, Value

_COLUMNS = 256  # rows at a time where these lie side by side,
_CHAINS = 8  # and where they do not: as many running sums are computed while one waits for the last
_SUM = ("reassoc", "nsz", "contract")


class Place(NamedTuple):
    """Of an element: its place in the row, and which row of those that are computed with at once."""

    in_row: Any
    row: Any


Element = Callable[[Place], Value]


class _Layout(NamedTuple):
    """What is known of distances in memory: that elements of a row, or neighbouring rows, lie side by side."""

    name: str
    is_dense: bool
    are_columns: bool
    rows: int
    part: int  # places of which the sum is made before it is added to that of the places before


_ONE_BY_ONE = _Layout("dense", True, False, 1, 512)  # of which a register has many
_IN_CHAINS = _Layout("dense", True, False, _CHAINS, 64)
_SIDE_BY_SIDE = _Layout("columns", False, True, _COLUMNS, 64)
_ANYHOW = _Layout("spread", False, False, _CHAINS, 64)


def add_row_loop(module: ir.Module, name: str, format: Format, kernel: RowKernel) -> None:
    """Writes the loop into a module, as a function of this name that chooses one for the layout."""
    function = ir.Function(module, SIGNATURE, name)
    builder = ir.IRBuilder(function.append_basic_block())
    addresses, counts, strides, _ = function.args
    operands = _operands(kernel)
    starts = [_item(builder, addresses, each) for each in range(operands)]
    distances = [_item(builder, strides, each) for each in range(operands + _rows(kernel))]
    count, length = [_item(builder, counts, each) for each in range(2)]
    size = int_constant(values.size_of(format))
    cases = {
        _IN_CHAINS if kernel.is_running else _ONE_BY_ONE: _are(builder, distances[operands:], size),
        _SIDE_BY_SIDE: _are(builder, distances[:operands], size),
    }
    arguments = [*starts, count, length, *distances]
    for layout, fits in cases.items():
        with builder.if_then(fits):
            builder.call(_body(module, name, format, kernel, layout), arguments)
            builder.ret_void()
    builder.call(_body(module, name, format, kernel, _ANYHOW), arguments)
    builder.ret_void()


def _operands(kernel: RowKernel) -> int:
    """How many arrays there are, with the result."""
    return kernel.operands + 1


def _rows(kernel: RowKernel) -> int:
    """How many of them have rows."""
    return kernel.operands + kernel.gives_rows


def _are(builder: ir.IRBuilder, numbers: Any, size: Any) -> Any:
    """Whether all of some numbers are the same."""
    return reduce(builder.and_, [builder.icmp_signed("==", each, size) for each in numbers])


def _item(builder: ir.IRBuilder, table: Any, place: int) -> Any:
    return builder.load(builder.gep(table, [int_constant(place)]))


def _body(module: ir.Module, name: str, format: Format, kernel: RowKernel, layout: _Layout) -> ir.Function:
    """A function for one layout. NumPy has made sure that its result shares no memory with its operands."""
    operands = _operands(kernel)
    types = [BYTES] * operands + [INT] * (2 + operands + _rows(kernel))
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), types), f"{name}.{layout.name}")
    function.linkage = "internal"
    function.attributes.add("noinline")
    for each in function.args[:operands]:
        each.add_attribute("noalias")
    builder = ir.IRBuilder(function.append_basic_block())
    _Rows(builder, format, kernel, layout, function.args).write()
    builder.ret_void()
    return function


class _Rows:
    """What a row kernel calls while its loops are written."""

    def __init__(
        self, builder: ir.IRBuilder, format: Format, kernel: RowKernel, layout: _Layout, arguments: Any
    ) -> None:
        self._builder, self._format, self._kernel, self._layout = builder, format, kernel, layout
        operands = _operands(kernel)
        size = int_constant(values.size_of(format))
        self._starts = arguments[:operands]
        self._count, self._length = arguments[operands : operands + 2]
        self._apart = [size if layout.are_columns else each for each in arguments[operands + 2 : 2 * operands + 2]]
        self._steps = [size if layout.is_dense else each for each in arguments[2 * operands + 2 :]]
        self._entry = builder.block
        self._first: Any = None
        self._rows: Any = None

    def write(self) -> None:
        builder, rows = self._builder, int_constant(self._layout.rows)
        body = builder.append_basic_block()
        builder.branch(body)  # memory on the stack is asked for before it
        builder.position_at_end(body)
        with counting(builder, self._count, self._layout.rows) as self._first:
            left = builder.sub(self._count, self._first)
            self._rows = builder.select(builder.icmp_signed("<", left, rows), left, rows)
            inputs = [self._operand(each) for each in range(self._kernel.operands)]
            result = self._kernel.function(vector_math, self, *inputs)
            if result is not None:
                self._store(result)

    # -------------------- what kernels call --------------------

    def length(self) -> Element:
        """How many elements a row has."""
        code = self._builder.sitofp(self._length, self._format.type)
        return lambda place: Value(self._builder, self._format, code)

    def total(self, of: Element) -> Element:
        """The sum over each row; that of its parts is in float64, as rounding errors grow with the number of parts."""
        return self._folded(of, 0.0, _add, values.DOUBLE)

    def product(self, of: Element) -> Element:
        return self._folded(of, 1.0, _multiply, self._format)

    def largest(self, of: Element) -> Element:
        """nan if there is one."""
        return self._folded(of, float("-inf"), _maximum, self._format)

    def each_row(self, function: Callable[[Value], Value], number: Element) -> Element:
        """What a function makes of the number of each row."""
        made = self._numbers(self._format, 0.0)
        for row in self._each_row():
            place = Place(int_constant(0), row)
            self._builder.store(function(number(place)).code, self._cell(made, place))
        return lambda place: self._at(made, self._format, place)

    def stored(self, of: Element) -> Element:
        """The same elements, which are kept in the row of the result as they are first computed."""

        def of_place(place: Place) -> Value:
            value = of(place)
            self._builder.store(value.code, self._address(-1, place))
            return value

        return of_place

    def result(self) -> Element:
        """What is in the row of the result."""
        return self._operand(-1)

    def running(self, of: Element, start: float, combine: Callable[[Value, Value], Value]) -> None:
        """Stores what has been combined so far, in float64, at each place of a row."""
        state = self._numbers(values.DOUBLE, start)
        for place in self._places():
            total = combine(self._at(state, values.DOUBLE, place), of(place).to(values.DOUBLE))
            self._builder.store(total.code, self._cell(state, place))
            self._builder.store(total.to(self._format).code, self._address(-1, place))

    # -------------------- loops --------------------

    def _places(self, first: Any = None, end: Any = None) -> Iterator[Place]:
        """What is written for the one item runs for all elements between two places of a row."""
        begin = int_constant(0) if first is None else first
        count = self._length if end is None else self._builder.sub(end, begin)
        with counting(self._builder, count) as number:
            in_row = self._builder.add(begin, number)
            for row in self._each_row():
                yield Place(in_row, row)

    def _each_row(self) -> Iterator[Any]:
        if self._layout.rows == 1:
            yield int_constant(0)
            return
        with counting(self._builder, self._rows) as row:
            yield row

    def _folded(self, of: Element, start: float, combine: Callable[[Value, Value], Value], format: Format) -> Element:
        total, part = self._numbers(format, start), self._numbers(self._format, start)
        builder, whole = self._builder, int_constant(self._layout.part)
        with counting(builder, self._length, self._layout.part) as first:
            left = builder.sub(self._length, first)
            end = builder.add(first, builder.select(builder.icmp_signed("<", left, whole), left, whole))
            self._fill(part, self._format, start)
            for place in self._places(first, end):
                self._combine_into(part, of(place), place, combine)
            for row in self._each_row():
                place = Place(None, row)
                self._combine_into(total, self._at(part, self._format, place).to(format), place, combine)
        return lambda place: self._at(total, format, place).to(self._format)

    def _combine_into(self, cells: Any, value: Value, place: Place, combine: Callable[[Value, Value], Value]) -> None:
        combined = combine(self._at(cells, value.format, place), value)
        self._builder.store(combined.code, self._cell(cells, place))

    def _store(self, result: Element) -> None:
        if self._kernel.gives_rows:
            for place in self._places():
                self._builder.store(result(place).code, self._address(-1, place))
            return
        for row in self._each_row():
            place = Place(int_constant(0), row)
            self._builder.store(result(place).code, self._address(-1, place))

    # -------------------- memory --------------------

    def _operand(self, number: int) -> Element:
        return lambda place: Value(self._builder, self._format, self._builder.load(self._address(number, place)))

    def _address(self, number: int, place: Place) -> Any:
        builder = self._builder
        offset = builder.mul(builder.add(self._first, place.row), self._apart[number])
        if number >= 0 or self._kernel.gives_rows:
            offset = builder.add(offset, builder.mul(place.in_row, self._steps[number]))
        return builder.bitcast(builder.gep(self._starts[number], [offset]), self._format.type.as_pointer())

    def _numbers(self, format: Format, start: float) -> Any:
        """Memory on the stack for a number of each row."""
        with self._builder.goto_block(self._entry):
            memory = self._builder.alloca(ir.ArrayType(format.type, self._layout.rows))
            memory.align = ALIGNMENT
        self._fill(memory, format, start)
        return memory

    def _fill(self, cells: Any, format: Format, number: float) -> None:
        for row in self._each_row():
            self._builder.store(format.constant(number), self._cell(cells, Place(None, row)))

    def _cell(self, cells: Any, place: Place) -> Any:
        return self._builder.gep(cells, [int_constant(0), place.row])

    def _at(self, cells: Any, format: Format, place: Place) -> Value:
        return Value(self._builder, format, self._builder.load(self._cell(cells, place)))


def _add(a: Value, b: Value) -> Value:
    return Value(a.builder, a.format, a.builder.fadd(a.code, b.code, flags=_SUM))


def _multiply(a: Value, b: Value) -> Value:
    return Value(a.builder, a.format, a.builder.fmul(a.code, b.code, flags=_SUM))


def _maximum(a: Value, b: Value) -> Value:
    return a.intrinsic("maximum", b)
