"""Shape rules of the elementwise ops, and of those that write to an array what is broadcast with it."""

from collections.abc import Sequence
from typing import Any

from mindtorch import iterator
from mindtorch._core.dtype import FROM_NUMPY
from mindtorch._core.promotion import BOOL, RULES
from mindtorch.backends.meta.array import MetaArray
from mindtorch.backends.meta.layout import elementwise_layout
from mindtorch.backends.meta.results import Kernel, deliver, is_array


def broadcast(promotion: str, operands: int = 3) -> Kernel:
    """All tensor arguments expand to one shape. The first few arguments, `operands`, count for the dtype."""
    rule = RULES[promotion]

    def kernel(*arguments: Any, out: Any = None) -> Any:
        arrays = [each for each in arguments if is_array(each)]
        iterator.check_devices(arrays)
        dtype = rule(*_operands(arguments[:operands], len(arrays)))
        shape, strides = elementwise_layout(arrays)
        if not is_array(arguments[0]):  # a number first: always row-major
            strides = None
        if out is not None and any(out is each for each in arrays):
            iterator.check_inplace_shape(out, shape)
        if out is not None:
            iterator.check_result_dtype(dtype, out.dtype)
        return deliver(out, shape, dtype, strides)

    return kernel


def broadcast_reversed(promotion: str, operands: int = 3) -> Kernel:
    """The second operand's strides count first: what is computed is `other - input`."""
    in_order = broadcast(promotion, operands)

    def kernel(input: Any, other: Any, *options: Any) -> Any:
        return in_order(other, input, *options) if is_array(other) else in_order(input, other, *options)

    return kernel


def _operands(arguments: Sequence[Any], arrays: int) -> list[Any]:
    """The arguments that take part in promotion. A number beside several tensors is a factor or the like."""
    return [each for each in arguments if is_array(each) or arrays == 1 or isinstance(each, str)]


def masked_fill(promotion: str) -> Kernel:
    """The input and the mask expand to one shape, which is row-major whatever their strides are."""

    def kernel(input: Any, mask: Any, value: Any, out: Any = None) -> Any:
        if mask.dtype != BOOL:
            raise RuntimeError(f"expected predicate to be bool, got {FROM_NUMPY[mask.dtype]}")
        iterator.check_devices([mask, input])
        if type(input) is MetaArray and is_array(value) and type(value) is not MetaArray:
            raise RuntimeError("Expected `value` to be on same device as `a`")
        shape = iterator.broadcast_shapes(input.shape, mask.shape)
        if out is not None:
            iterator.check_inplace_shape(out, shape)
        return deliver(out, shape, input.dtype)

    return kernel


def copy(promotion: str) -> Kernel:
    """The source expands to the target, which is given back."""

    def kernel(input: Any, src: Any, non_blocking: bool = False, out: Any = None) -> Any:
        if is_array(src):
            iterator.check_inplace_shape(input, iterator.broadcast_shapes(input.shape, src.shape))
        return input

    return kernel
