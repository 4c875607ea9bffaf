"""The loop of a `np.ufunc` around a conversion: from uint16, the bits of 16-bit numbers, to float32, or back."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from mindtorch.backends.cpu.compiled.conversions import Conversion
from mindtorch.backends.cpu.compiled.inner_loop import SIGNATURE, counting, int_constant
from mindtorch.backends.cpu.compiled.values import FLOAT, Bits, Value

_NARROW, _WIDE = ir.IntType(16), FLOAT.bits


def add_conversion_loop(module: ir.Module, name: str, conversion: Conversion) -> None:
    """Writes the loop into a module, as a function of this name."""
    function = ir.Function(module, SIGNATURE, name)
    builder = ir.IRBuilder(function.append_basic_block())
    addresses, counts, strides, _ = function.args
    types = (_NARROW, _WIDE) if conversion.widens else (_WIDE, _NARROW)
    starts, steps = [
        [builder.load(builder.gep(table, [int_constant(place)])) for place in range(2)]
        for table in (addresses, strides)
    ]
    sizes = [int_constant(each.width // 8) for each in types]
    are_dense = builder.and_(*[builder.icmp_signed("==", step, size) for step, size in zip(steps, sizes)])
    count = builder.load(counts)
    with builder.if_else(are_dense) as (dense, spread):
        with dense:
            _write(builder, conversion, count, starts, sizes, types)
        with spread:
            _write(builder, conversion, count, starts, steps, types)
    builder.ret_void()


def _write(builder: ir.IRBuilder, conversion: Conversion, count: Any, starts: Any, steps: Any, types: Any) -> None:
    with counting(builder, count) as place:
        source, target = [
            builder.bitcast(builder.gep(start, [builder.mul(place, step)]), each.as_pointer())
            for start, step, each in zip(starts, steps, types)
        ]
        code = builder.load(source)
        code = builder.zext(code, _WIDE) if conversion.widens else code
        anything = Value(builder, FLOAT, FLOAT.constant(0))
        result = conversion.function(Bits(anything, code)).code
        builder.store(result if conversion.widens else builder.trunc(result, _NARROW), target)
