"""The loop of a `np.ufunc` around an expression, as NumPy calls it: addresses, a count, and strides in bytes.

There is one body for all layouts. Operands are computed with in blocks that stay in the first cache: in place where
their elements lie one behind the other, else copied onto the stack. So are the results, and the operands of a block
are all read before its results are written: LLVM needs not ask whether arrays share memory, and computes many elements
at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from llvmlite import ir

from mindtorch.backends.cpu.compiled.values import Condition, Format, Value, size_of

Expression = Callable[..., Value]
# Writes what computes the elements of a block: `block(builder, format, inputs, out, length)`, with their addresses.
Block = Callable[[ir.IRBuilder, Format, list[Any], Any, Any], None]

_BLOCK = 256
ALIGNMENT = 64
INT = ir.IntType(64)
BOOL = ir.IntType(8)
BYTES = ir.IntType(8).as_pointer()
SIGNATURE = ir.FunctionType(
    ir.VoidType(), [BYTES.as_pointer(), INT.as_pointer(), INT.as_pointer(), ir.IntType(8).as_pointer()]
)


def add_loop(module: ir.Module, name: str, format: Format, expression: Expression, masks: Sequence[bool]) -> None:
    """Writes the loop into a module, as a function of this name. `masks` tells of each operand whether it is bools."""
    add_block_loop(module, name, format, masks, partial(_compute_elements, expression))


def add_block_loop(module: ir.Module, name: str, format: Format, masks: Sequence[bool], block: Block) -> None:
    """The same of what computes the elements of a block."""
    function = ir.Function(module, SIGNATURE, name)
    builder = ir.IRBuilder(function.append_basic_block())
    _Loop(builder, format, masks, function.args).write(block)
    builder.ret_void()


def _compute_elements(
    expression: Expression, builder: ir.IRBuilder, format: Format, inputs: list[Any], out: Any, length: Any
) -> None:
    with counting(builder, length) as place:
        values = [_value(builder, format, builder.load(builder.gep(each, [place]))) for each in inputs]
        builder.store(expression(*values).code, builder.gep(out, [place]))


def _value(builder: ir.IRBuilder, format: Format, code: Any) -> Value | Condition:
    if code.type is BOOL:
        return Condition(builder, format, builder.icmp_signed("!=", code, ir.Constant(BOOL, 0)))
    return Value(builder, format, code)


class _Loop:
    """The loop while it is written; the operands come first in its lists, and the result last."""

    def __init__(self, builder: ir.IRBuilder, format: Format, masks: Sequence[bool], arguments: Any) -> None:
        addresses, counts, strides, _ = arguments
        self._builder, self._format = builder, format
        self._count = builder.load(counts)
        self._types = [BOOL if each else format.type for each in masks] + [format.type]
        places = range(len(self._types))
        self._starts = [builder.bitcast(self._item(addresses, each), BYTES) for each in places]
        self._strides = [self._item(strides, each) for each in places]
        self._blocks = [block_of(builder, each) for each in self._types]

    def write(self, compute: Block) -> None:
        builder = self._builder
        for start, stride, block, type in self._operands():
            with builder.if_then(builder.icmp_signed("==", stride, int_constant(0))):
                self._fill(block, start, type)
        with counting(builder, self._count, _BLOCK) as first:
            left = builder.sub(self._count, first)
            length = builder.select(builder.icmp_signed("<", left, int_constant(_BLOCK)), left, int_constant(_BLOCK))
            inputs = [self._at_hand(*each, first, length) for each in self._operands()]
            compute(builder, self._format, inputs, self._blocks[-1], length)
            self._write_results(first, length)

    def _operands(self) -> Iterator[tuple[Any, Any, Any, Any]]:
        return zip(self._starts[:-1], self._strides[:-1], self._blocks[:-1], self._types[:-1])

    def _size(self, type: Any) -> Any:
        return int_constant(1 if type is BOOL else size_of(self._format))

    def _item(self, table: Any, place: int) -> Any:
        return self._builder.load(self._builder.gep(table, [int_constant(place)]))

    def _element(self, start: Any, offset: Any, type: Any) -> Any:
        """The address of the element so many bytes behind a start."""
        return self._builder.bitcast(self._builder.gep(start, [offset]), type.as_pointer())

    def _fill(self, block: Any, start: Any, type: Any) -> None:
        """An operand that is one number for all elements."""
        number = self._builder.load(self._element(start, int_constant(0), type))
        with counting(self._builder, int_constant(_BLOCK)) as place:
            self._builder.store(number, self._builder.gep(block, [place]))

    def _at_hand(self, start: Any, stride: Any, block: Any, type: Any, first: Any, length: Any) -> Any:
        """Where the elements of an operand lie one behind the other: in place, or in its block."""
        builder = self._builder
        size = self._size(type)
        is_dense = builder.icmp_signed("==", stride, size)
        in_block = builder.or_(is_dense, builder.icmp_signed("==", stride, int_constant(0)))
        with builder.if_then(builder.not_(in_block)), counting(builder, length) as place:
            offset = builder.mul(builder.add(first, place), stride)
            builder.store(builder.load(self._element(start, offset, type)), builder.gep(block, [place]))
        return builder.select(is_dense, self._element(start, builder.mul(first, size), type), block)

    def _write_results(self, first: Any, length: Any) -> None:
        builder, block, start, stride = self._builder, self._blocks[-1], self._starts[-1], self._strides[-1]
        type = self._format.type
        with builder.if_else(builder.icmp_signed("==", stride, self._size(type))) as (dense, spread):
            with dense:
                out = self._element(start, builder.mul(first, self._size(type)), type)
                with counting(builder, length) as place:
                    builder.store(builder.load(builder.gep(block, [place])), builder.gep(out, [place]))
            with spread, counting(builder, length) as place:
                offset = builder.mul(builder.add(first, place), stride)
                builder.store(builder.load(builder.gep(block, [place])), self._element(start, offset, type))


def block_of(builder: ir.IRBuilder, type: Any) -> Any:
    """Memory for the elements of a block, on the stack."""
    memory = builder.alloca(ir.ArrayType(type, _BLOCK))
    memory.align = ALIGNMENT
    return builder.bitcast(memory, type.as_pointer())


def int_constant(number: int) -> Any:
    return ir.Constant(INT, number)


@contextmanager
def counting(builder: ir.IRBuilder, end: Any, step: int = 1, start: int = 0) -> Iterator[Any]:
    """What is written inside runs for `start`, `start` + `step`, `start` + 2 * `step` ... below `end`."""
    before = builder.block
    head, body, after = [builder.append_basic_block() for _ in range(3)]
    builder.branch(head)
    builder.position_at_end(head)
    number = builder.phi(INT)
    number.add_incoming(int_constant(start), before)
    builder.cbranch(builder.icmp_signed("<", number, end), body, after)
    builder.position_at_end(body)
    yield number
    number.add_incoming(builder.add(number, int_constant(step)), builder.block)
    builder.branch(head)
    builder.position_at_end(after)
