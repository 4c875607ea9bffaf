"""Gradient checks of functions of sparse tensors: `sparse.as_sparse_gradcheck`."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from mindtorch._core.layout import strided
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops


def as_sparse_gradcheck(gradcheck: Callable[..., bool]) -> Callable[..., bool]:
    """A gradient check that takes sparse inputs: it varies their values.

    With `masked=True` only the elements that there are count as variable, otherwise all of them.
    """

    @wraps(gradcheck)
    def check(func: Callable, inputs: Any, *, masked: bool = False, **options: Any) -> bool:
        given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
        parts = [_parts(each, masked) for each in given]

        def function_of_values(*values: Any) -> Any:
            outputs = func(*(rebuild(value) for value, (_, rebuild) in zip(values, parts)))
            if isinstance(outputs, Tensor):
                return _dense(outputs, masked)
            return tuple(_dense(each, masked) for each in outputs)

        return gradcheck(function_of_values, tuple(values for values, _ in parts), **options)

    return check


def _parts(value: Any, masked: bool) -> tuple[Any, Callable[[Any], Any]]:
    """What is varied of an input, and how the input is made of it."""
    if not isinstance(value, Tensor) or value.layout is strided or not value.requires_grad:
        return value, lambda same: same
    fixed = value.detach() if masked else _with_all_elements(value.detach())
    fixed = fixed.coalesce() if fixed.is_sparse else fixed
    return fixed.values().clone().requires_grad_(), lambda values: _with_values(fixed, values)


def _with_all_elements(value: Tensor) -> Tensor:
    blocksize = value._mt_array.blocksize if value.layout.is_compressed and value.layout.is_blocked else None
    everywhere = ops.ones(value.shape).to_sparse(layout=value.layout, blocksize=blocksize, dense_dim=value.dense_dim())
    return value.to_dense().sparse_mask(everywhere)


def _with_values(fixed: Tensor, values: Tensor) -> Tensor:
    if fixed.is_sparse:
        return ops._sparse_coo_tensor_unsafe(fixed.indices(), values, fixed.shape, is_coalesced=True)
    indices = _indices(fixed)
    return ops.sparse_compressed_tensor_comp_plain_value_size(*indices, values, fixed.shape, layout=fixed.layout)


def _indices(fixed: Tensor) -> Sequence[Tensor]:
    if fixed.layout.by_rows:
        return ops.crow_indices(fixed), ops.col_indices(fixed)
    return ops.ccol_indices(fixed), ops.row_indices(fixed)


def _dense(output: Any, masked: bool) -> Any:
    if isinstance(output, Tensor) and output.layout is not strided:
        return output.to_dense(masked_grad=masked)
    return output
