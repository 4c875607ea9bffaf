"""An op in a wider dtype than that of its tensors: a product of int8 matrices in int32, which has no overflow."""

from functools import reduce
from typing import Any

from mindtorch._core.dtype import dtype as DType
from mindtorch._core.promotion import promote_types
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch.overloads import OpOverload


def out_dtype(op: OpOverload, output_dtype: DType, *args: Any) -> Tensor:
    """Call `op` on tensors of the dtype that theirs and `output_dtype` promote to; the result has `output_dtype`.

    Raises ValueError if `op` is no overload of an operator, or writes to its arguments.
    """
    if not isinstance(op, OpOverload):
        raise ValueError("out_dtype's first argument must be an OpOverload")
    if op._schema.is_mutable:
        raise ValueError("out_dtype's first argument needs to be a functional operator")
    wide = reduce(promote_types, [each.dtype for each in args if isinstance(each, Tensor)], output_dtype)
    return op(*[each.to(wide) if isinstance(each, Tensor) else each for each in args]).to(output_dtype)
