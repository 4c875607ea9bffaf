"""The loops of a generalized `np.ufunc`, `(n),()->(n)` or `(n)->()`, around what a row kernel does with each row.

A row is one behind the other in memory, or spread, as the columns of a matrix are: then as many of them as stay in the
cache are computed with at once, place after place. So the same kernel is written up to three times, with one row at a
time and with many, and for distances in memory that are known when it is compiled and those that are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
    places = range(len(kernel.arguments))
    starts = [_item(builder, addresses, each) for each in places]
    distances = [_item(builder, strides, each) for each in range(len(places) + _rows(kernel))]
    count, length = [_item(builder, counts, each) for each in range(2)]
    size = int_constant(values.size_of(format))
    side_by_side = [int_constant(0) if each in kernel.shared else size for each in places]
    cases = {
        _IN_CHAINS if kernel.is_running else _ONE_BY_ONE: _are(
            builder, distances[len(places) :], _rows(kernel) * [size]
        ),
        _SIDE_BY_SIDE: _are(builder, distances[: len(places)], side_by_side),
    }
    arguments = [*starts, count, length, *distances]
    for layout, fits in cases.items():
        with builder.if_then(fits):
            builder.call(_body(module, name, format, kernel, layout), arguments)
            builder.ret_void()
    builder.call(_body(module, name, format, kernel, _ANYHOW), arguments)
    builder.ret_void()


def _rows(kernel: RowKernel) -> int:
    """How many of the operands and results are rows."""
    return sum(kernel.arguments)


def _are(builder: ir.IRBuilder, numbers: Any, expected: Any) -> Any:
    """Whether some numbers are all what they are expected to be."""
    return reduce(builder.and_, [builder.icmp_signed("==", *each) for each in zip(numbers, expected)])


def _item(builder: ir.IRBuilder, table: Any, place: int) -> Any:
    return builder.load(builder.gep(table, [int_constant(place)]))


def _body(module: ir.Module, name: str, format: Format, kernel: RowKernel, layout: _Layout) -> ir.Function:
    """A function for one layout. NumPy has made sure that its results share no memory with its operands."""
    arguments = len(kernel.arguments)
    types = [BYTES] * arguments + [INT] * (2 + arguments + _rows(kernel))
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), types), f"{name}.{layout.name}")
    function.linkage = "internal"
    function.attributes.add("noinline")
    for each in function.args[:arguments]:
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
        places = range(len(kernel.arguments))
        size = int_constant(values.size_of(format))
        self._starts = arguments[: len(places)]
        self._count, self._length = arguments[len(places) : len(places) + 2]
        apart, steps = arguments[len(places) + 2 : 2 * len(places) + 2], iter(arguments[2 * len(places) + 2 :])
        self._apart = [
            (int_constant(0) if each in kernel.shared else size) if layout.are_columns else apart[each]
            for each in places
        ]
        self._steps = [(next(steps) if is_row else None) for is_row in kernel.arguments]
        if layout.is_dense:
            self._steps = [size if each is not None else None for each in self._steps]
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
            inputs = [self._argument(each) for each in range(self._kernel.operands)]
            result = self._kernel.function(vector_math, self, *inputs)
            if result is not None:
                self._store(result if isinstance(result, tuple) else (result,))

    # -------------------- what kernels call --------------------

    def length(self) -> Element:
        """How many elements a row has."""
        code = self._builder.sitofp(self._length, self._format.type)
        return lambda place: Value(self._builder, self._format, code)

    def total(self, of: Element) -> Element:
        """The sum over each row; that of its parts is in float64, as rounding errors grow with the number of parts."""
        return self.totals(of)[0]

    def totals(self, *of: Element) -> list[Element]:
        """Several sums, for which the row is read once."""
        return self._folded(of, 0.0, _add, values.DOUBLE)

    def product(self, of: Element) -> Element:
        return self._folded([of], 1.0, _multiply, values.DOUBLE)[0]

    def largest(self, of: Element) -> Element:
        """nan if there is one."""
        return self._folded([of], float("-inf"), _maximum, self._format)[0]

    def each_row(self, function: Callable[..., Value], *numbers: Element) -> Element:
        """What a function makes of the numbers of each row."""
        made = self._numbers(self._format, 0.0)
        for row in self._each_row():
            place = Place(int_constant(0), row)
            self._builder.store(function(*[each(place) for each in numbers]).code, self._cell(made, place))
        return lambda place: self._at(made, self._format, place)

    def stored(self, of: Element) -> Element:
        """The same elements, which are kept in the row of the first result as they are first computed."""

        def of_place(place: Place) -> Value:
            value = of(place)
            self._builder.store(value.code, self._address(self._kernel.operands, place))
            return value

        return of_place

    def result(self) -> Element:
        """What is in the row of the first result."""
        return self._argument(self._kernel.operands)

    def running(self, of: Element, start: float, combine: Callable[[Value, Value], Value]) -> None:
        """Stores what has been combined so far, in float64, at each place of a row."""
        state = self._numbers(values.DOUBLE, start)
        for place in self._places():
            total = combine(self._at(state, values.DOUBLE, place), of(place).to(values.DOUBLE))
            self._builder.store(total.code, self._cell(state, place))
            self._builder.store(total.to(self._format).code, self._address(self._kernel.operands, place))

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

    def _folded(
        self, of: Sequence[Element], start: float, combine: Callable[[Value, Value], Value], format: Format
    ) -> list[Element]:
        totals, parts = [[self._numbers(each, start) for _ in of] for each in (format, self._format)]
        builder, whole = self._builder, int_constant(self._layout.part)
        with counting(builder, self._length, self._layout.part) as first:
            left = builder.sub(self._length, first)
            end = builder.add(first, builder.select(builder.icmp_signed("<", left, whole), left, whole))
            for part in parts:
                self._fill(part, self._format, start)
            for place in self._places(first, end):
                for part, each in zip(parts, [element(place) for element in of]):
                    self._combine_into(part, each, place, combine)
            for row in self._each_row():
                place = Place(None, row)
                for total, part in zip(totals, parts):
                    self._combine_into(total, self._at(part, self._format, place).to(format), place, combine)
        return [lambda place, each=each: self._at(each, format, place).to(self._format) for each in totals]

    def _combine_into(self, cells: Any, value: Value, place: Place, combine: Callable[[Value, Value], Value]) -> None:
        combined = combine(self._at(cells, value.format, place), value)
        self._builder.store(combined.code, self._cell(cells, place))

    def _store(self, results: tuple[Element, ...]) -> None:
        """Those that are rows in one pass, whose places are all read before they are written."""
        numbered = list(enumerate(results, self._kernel.operands))
        rows = [each for each in numbered if self._kernel.arguments[each[0]]]
        if rows:
            for place in self._places():
                self._write(rows, place)
        singles = [each for each in numbered if not self._kernel.arguments[each[0]]]
        for row in self._each_row() if singles else ():
            self._write(singles, Place(int_constant(0), row))

    def _write(self, numbered: list[tuple[int, Element]], place: Place) -> None:
        found = [(number, of(place)) for number, of in numbered]
        for number, value in found:
            self._builder.store(value.code, self._address(number, place))

    # -------------------- memory --------------------

    def _argument(self, number: int) -> Element:
        return lambda place: Value(self._builder, self._format, self._builder.load(self._address(number, place)))

    def _address(self, number: int, place: Place) -> Any:
        builder = self._builder
        offset = builder.mul(builder.add(self._first, place.row), self._apart[number])
        if self._kernel.arguments[number]:
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
