"""The loop of a `np.ufunc` around an expression, as NumPy calls it: addresses, a count, and strides in bytes.

There is one body for all layouts. Operands are computed with in blocks that stay in the first cache: in place where
their elements lie one behind the other, else copied onto the stack. So are the results, and the operands of a block
are all read before its results are written: LLVM needs not ask whether arrays share memory, and computes many elements
at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from mindtorch.backends.cpu.compiled.values import Format, Value, size_of

Expression = Callable[..., Value]

_BLOCK = 256
ALIGNMENT = 64
INT = ir.IntType(64)
BYTES = ir.IntType(8).as_pointer()
SIGNATURE = ir.FunctionType(
    ir.VoidType(), [BYTES.as_pointer(), INT.as_pointer(), INT.as_pointer(), ir.IntType(8).as_pointer()]
)


def add_loop(module: ir.Module, name: str, format: Format, expression: Expression, operands: int) -> None:
    """Writes the loop into a module, as a function of this name."""
    function = ir.Function(module, SIGNATURE, name)
    builder = ir.IRBuilder(function.append_basic_block())
    _Loop(builder, format, operands, function.args).write(expression)
    builder.ret_void()


class _Loop:
    """The loop while it is written; the operands come first in its lists, and the result last."""

    def __init__(self, builder: ir.IRBuilder, format: Format, operands: int, arguments: Any) -> None:
        addresses, counts, strides, _ = arguments
        self._builder, self._format = builder, format
        self._size = int_constant(size_of(format))
        self._count = builder.load(counts)
        self._starts = [self._item(addresses, place) for place in range(operands + 1)]
        self._strides = [self._item(strides, place) for place in range(operands + 1)]
        self._blocks = [self._block() for _ in range(operands + 1)]

    def write(self, expression: Expression) -> None:
        builder = self._builder
        for start, stride, block in self._operands():
            with builder.if_then(builder.icmp_signed("==", stride, int_constant(0))):
                self._fill(block, start)
        with counting(builder, self._count, _BLOCK) as first:
            left = builder.sub(self._count, first)
            length = builder.select(builder.icmp_signed("<", left, int_constant(_BLOCK)), left, int_constant(_BLOCK))
            inputs = [self._at_hand(*each, first, length) for each in self._operands()]
            with counting(builder, length) as place:
                values = [Value(builder, self._format, builder.load(builder.gep(each, [place]))) for each in inputs]
                builder.store(expression(*values).code, builder.gep(self._blocks[-1], [place]))
            self._write_results(first, length)

    def _operands(self) -> Iterator[tuple[Any, Any, Any]]:
        return zip(self._starts[:-1], self._strides[:-1], self._blocks[:-1])

    def _item(self, table: Any, place: int) -> Any:
        return self._builder.load(self._builder.gep(table, [int_constant(place)]))

    def _block(self) -> Any:
        """Memory for the elements of a block, on the stack."""
        memory = self._builder.alloca(ir.ArrayType(self._format.type, _BLOCK))
        memory.align = ALIGNMENT
        return self._builder.bitcast(memory, self._format.type.as_pointer())

    def _element(self, start: Any, offset: Any) -> Any:
        """The address of the element so many bytes behind a start."""
        return self._builder.bitcast(self._builder.gep(start, [offset]), self._format.type.as_pointer())

    def _fill(self, block: Any, start: Any) -> None:
        """An operand that is one number for all elements."""
        number = self._builder.load(self._element(start, int_constant(0)))
        with counting(self._builder, int_constant(_BLOCK)) as place:
            self._builder.store(number, self._builder.gep(block, [place]))

    def _at_hand(self, start: Any, stride: Any, block: Any, first: Any, length: Any) -> Any:
        """Where the elements of an operand lie one behind the other: in place, or in its block."""
        builder = self._builder
        is_dense = builder.icmp_signed("==", stride, self._size)
        in_block = builder.or_(is_dense, builder.icmp_signed("==", stride, int_constant(0)))
        with builder.if_then(builder.not_(in_block)), counting(builder, length) as place:
            offset = builder.mul(builder.add(first, place), stride)
            builder.store(builder.load(self._element(start, offset)), builder.gep(block, [place]))
        return builder.select(is_dense, self._element(start, builder.mul(first, self._size)), block)

    def _write_results(self, first: Any, length: Any) -> None:
        builder, block, start, stride = self._builder, self._blocks[-1], self._starts[-1], self._strides[-1]
        with builder.if_else(builder.icmp_signed("==", stride, self._size)) as (dense, spread):
            with dense:
                out = self._element(start, builder.mul(first, self._size))
                with counting(builder, length) as place:
                    builder.store(builder.load(builder.gep(block, [place])), builder.gep(out, [place]))
            with spread, counting(builder, length) as place:
                offset = builder.mul(builder.add(first, place), stride)
                builder.store(builder.load(builder.gep(block, [place])), self._element(start, offset))


def int_constant(number: int) -> Any:
    return ir.Constant(INT, number)


@contextmanager
def counting(builder: ir.IRBuilder, end: Any, step: int = 1) -> Iterator[Any]:
    """What is written inside runs for 0, `step`, 2 * `step` ... below `end`."""
    before = builder.block
    head, body, after = [builder.append_basic_block() for _ in range(3)]
    builder.branch(head)
    builder.position_at_end(head)
    number = builder.phi(INT)
    number.add_incoming(int_constant(0), before)
    builder.cbranch(builder.icmp_signed("<", number, end), body, after)
    builder.position_at_end(body)
    yield number
    number.add_incoming(builder.add(number, int_constant(step)), builder.block)
    builder.branch(head)
    builder.position_at_end(after)
