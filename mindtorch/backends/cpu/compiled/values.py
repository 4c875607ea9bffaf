"""Numbers and conditions that write LLVM's code: what is computed with them is computed by the loop, for each element.

Python's operators do what NumPy's do with arrays of one dtype, and Python numbers have that dtype. Nothing branches, so
that LLVM can compute many elements at once. Products and sums may be contracted to one rounding; nothing else about the
order of operations, nan and inf is changed.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, TypeAlias

from llvmlite import ir

Operand: TypeAlias = "Value | float"

_FLAGS = ("contract",)


@dataclass(frozen=True, slots=True)
class Format:
    """A binary floating-point format, as LLVM's types and as the parts of its bits."""

    name: str
    type: Any
    bits: Any
    fraction: int  # bits of it
    bias: int

    def constant(self, number: float) -> Any:
        return ir.Constant(self.type, _rounded(float(number)) if self.fraction == 23 else float(number))


def _rounded(number: float) -> float:
    """To float32, in which a number that is too large is infinite."""
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


FLOAT = Format("float32", ir.FloatType(), ir.IntType(32), 23, 127)
DOUBLE = Format("float64", ir.DoubleType(), ir.IntType(64), 52, 1023)
FORMATS = (FLOAT, DOUBLE)


def size_of(format: Format) -> int:
    """In bytes."""
    return int(format.bits.width) // 8


@dataclass(frozen=True, slots=True)
class Condition:
    """Whether something is so of numbers of one format."""

    builder: ir.IRBuilder
    format: Format
    code: Any

    def __and__(self, other: Condition) -> Condition:
        return Condition(self.builder, self.format, self.builder.and_(self.code, other.code))

    def __or__(self, other: Condition) -> Condition:
        return Condition(self.builder, self.format, self.builder.or_(self.code, other.code))

    def __invert__(self) -> Condition:
        return Condition(self.builder, self.format, self.builder.not_(self.code))

    def choose(self, a: Operand, b: Operand) -> Value:
        """`a` where it is so, else `b`: both are computed."""
        codes = [each.code if isinstance(each, Value) else self.format.constant(each) for each in (a, b)]
        return Value(self.builder, self.format, self.builder.select(self.code, *codes))

    def choose_bits(self, a: Bits, b: Bits) -> Bits:
        return Bits(a.value, self.builder.select(self.code, a.code, b.code))


@dataclass(frozen=True, slots=True, eq=False)
class Bits:
    """The bits of a number, as an integer of the same length."""

    value: Value
    code: Any

    def __add__(self, other: Bits | int) -> Bits:
        return Bits(self.value, self.value.builder.add(self.code, self._code_of(other)))

    def __sub__(self, other: Bits | int) -> Bits:
        return Bits(self.value, self.value.builder.sub(self.code, self._code_of(other)))

    def __or__(self, other: Bits | int) -> Bits:
        return Bits(self.value, self.value.builder.or_(self.code, self._code_of(other)))

    def __and__(self, other: int) -> Bits:
        return Bits(self.value, self.value.builder.and_(self.code, self._code_of(other)))

    def __lshift__(self, count: int) -> Bits:
        return Bits(self.value, self.value.builder.shl(self.code, self._code_of(count)))

    def __rshift__(self, count: int) -> Bits:
        return Bits(self.value, self.value.builder.ashr(self.code, self._code_of(count)))

    def _code_of(self, other: Bits | int) -> Any:
        return other.code if isinstance(other, Bits) else ir.Constant(self.value.format.bits, other)

    def as_number(self) -> Value:
        """The number that has these bits."""
        value = self.value
        return Value(value.builder, value.format, value.builder.bitcast(self.code, value.format.type))


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A number of one format."""

    builder: ir.IRBuilder
    format: Format
    code: Any

    def number(self, other: Operand) -> Value:
        """Another number in the same format."""
        if isinstance(other, Value):
            return other
        return Value(self.builder, self.format, self.format.constant(other))

    def intrinsic(self, name: str, *others: Operand) -> Value:
        """A function that LLVM has itself: `fabs`."""
        codes = [self.code, *[self.number(each).code for each in others]]
        types = [self.format.type] * len(codes)
        function = self.builder.module.declare_intrinsic(
            f"llvm.{name}", types[:1], ir.FunctionType(self.format.type, types)
        )
        return Value(self.builder, self.format, self.builder.call(function, codes, fastmath=_FLAGS))

    def to(self, format: Format) -> Value:
        """The same number in another format, rounded if that is smaller."""
        if format is self.format:
            return self
        convert = self.builder.fpext if format.bits.width > self.format.bits.width else self.builder.fptrunc
        return Value(self.builder, format, convert(self.code, format.type))

    def bits(self) -> Bits:
        return Bits(self, self.builder.bitcast(self.code, self.format.bits))

    def __add__(self, other: Operand) -> Value:
        return self._of("fadd", self, other)

    def __radd__(self, other: Operand) -> Value:
        return self._of("fadd", other, self)

    def __sub__(self, other: Operand) -> Value:
        return self._of("fsub", self, other)

    def __rsub__(self, other: Operand) -> Value:
        return self._of("fsub", other, self)

    def __mul__(self, other: Operand) -> Value:
        return self._of("fmul", self, other)

    def __rmul__(self, other: Operand) -> Value:
        return self._of("fmul", other, self)

    def __truediv__(self, other: Operand) -> Value:
        return self._of("fdiv", self, other)

    def __rtruediv__(self, other: Operand) -> Value:
        return self._of("fdiv", other, self)

    def __neg__(self) -> Value:
        return Value(self.builder, self.format, self.builder.fneg(self.code))

    def _of(self, operation: str, a: Operand, b: Operand) -> Value:
        codes = self.number(a).code, self.number(b).code
        return Value(self.builder, self.format, getattr(self.builder, operation)(*codes, flags=_FLAGS))

    def __lt__(self, other: Operand) -> Condition:
        return self._compared("<", other)

    def __le__(self, other: Operand) -> Condition:
        return self._compared("<=", other)

    def __gt__(self, other: Operand) -> Condition:
        return self._compared(">", other)

    def __ge__(self, other: Operand) -> Condition:
        return self._compared(">=", other)

    def __eq__(self, other: Operand) -> Condition:  # type: ignore[override]
        return self._compared("==", other)

    def __ne__(self, other: Operand) -> Condition:  # type: ignore[override]
        return Condition(
            self.builder, self.format, self.builder.fcmp_unordered("!=", self.code, self.number(other).code)
        )

    def _compared(self, sign: str, other: Operand) -> Condition:
        code = self.builder.fcmp_ordered(sign, self.code, self.number(other).code)
        return Condition(self.builder, self.format, code)
