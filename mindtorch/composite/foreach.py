"""Ops over lists of tensors: the op of the same name, tensor by tensor. In-place ones give back the list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch.dispatch import ops
from mindtorch.tensor import Tensor

Tensors = Sequence[Tensor]


def _check(tensors: Tensors, *others: Tensors) -> None:
    for other in others:
        if len(other) != len(tensors):
            raise RuntimeError(
                f"Tensor lists must have the same number of tensors, got {len(tensors)} and {len(other)}"
            )
    if not tensors:
        raise RuntimeError("Tensor list must have at least one tensor.")


# -------------------- by the number of lists --------------------


def _each(op: Callable[[Tensor], Tensor]) -> Callable:
    def kernel(input: Tensors) -> tuple[Tensor, ...]:
        _check(input)
        return tuple([op(tensor) for tensor in input])

    return kernel


def _each_with_number(op: Callable[[Tensor, Any], Tensor]) -> Callable:
    def kernel(input: Tensors, scalar: Any) -> tuple[Tensor, ...]:
        _check(input)
        return tuple([op(tensor, scalar) for tensor in input])

    return kernel


def _pairs(op: Callable[[Tensor, Tensor], Tensor]) -> Callable:
    def kernel(input: Tensors, other: Tensors) -> tuple[Tensor, ...]:
        _check(input, other)
        return tuple([op(a, b) for a, b in zip(input, other)])

    return kernel


def _pairs_with_alpha(op: Callable[..., Tensor]) -> Callable:
    def kernel(input: Tensors, other: Tensors, alpha: Any = 1) -> tuple[Tensor, ...]:
        _check(input, other)
        return tuple([op(a, b, alpha=alpha) for a, b in zip(input, other)])

    return kernel


def _triples(op: Callable[..., Tensor]) -> Callable:
    def kernel(input: Tensors, tensor1: Tensors, tensor2: Tensors, value: Any = 1) -> tuple[Tensor, ...]:
        _check(input, tensor1, tensor2)
        return tuple([op(a, b, c, value=value) for a, b, c in zip(input, tensor1, tensor2)])

    return kernel


def _in_place(function: Callable) -> Callable:
    """The list itself instead of the tuple of its tensors."""

    def kernel(input: Tensors, *args: Any, **kwargs: Any) -> Tensors:
        function(input, *args, **kwargs)
        return input

    return kernel


# -------------------- the ops --------------------

add_scalar = _each_with_number(lambda a, b: ops.add(a, b))
sub_scalar = _each_with_number(lambda a, b: ops.sub(a, b))
mul_scalar = _each_with_number(lambda a, b: ops.mul(a, b))
div_scalar = _each_with_number(lambda a, b: ops.div(a, b))
add_list = _pairs_with_alpha(lambda a, b, alpha: ops.add(a, b, alpha=alpha))
sub_list = _pairs_with_alpha(lambda a, b, alpha: ops.sub(a, b, alpha=alpha))
mul_list = _pairs(lambda a, b: ops.mul(a, b))
div_list = _pairs(lambda a, b: ops.div(a, b))
addcmul_scalar = _triples(lambda a, b, c, value: ops.addcmul(a, b, c, value=value))
addcdiv_scalar = _triples(lambda a, b, c, value: ops.addcdiv(a, b, c, value=value))
sqrt = _each(lambda a: ops.sqrt(a))
neg = _each(lambda a: ops.neg(a))

add_scalar_ = _in_place(_each_with_number(lambda a, b: a.add_(b)))
sub_scalar_ = _in_place(_each_with_number(lambda a, b: a.sub_(b)))
mul_scalar_ = _in_place(_each_with_number(lambda a, b: a.mul_(b)))
div_scalar_ = _in_place(_each_with_number(lambda a, b: a.div_(b)))
add_list_ = _in_place(_pairs_with_alpha(lambda a, b, alpha: a.add_(b, alpha=alpha)))
sub_list_ = _in_place(_pairs_with_alpha(lambda a, b, alpha: a.sub_(b, alpha=alpha)))
mul_list_ = _in_place(_pairs(lambda a, b: a.mul_(b)))
div_list_ = _in_place(_pairs(lambda a, b: a.div_(b)))
addcmul_scalar_ = _in_place(_triples(lambda a, b, c, value: a.addcmul_(b, c, value=value)))
addcdiv_scalar_ = _in_place(_triples(lambda a, b, c, value: a.addcdiv_(b, c, value=value)))
sqrt_ = _in_place(_each(lambda a: a.sqrt_()))
neg_ = _in_place(_each(lambda a: a.neg_()))
zero = _in_place(_each(lambda a: a.zero_()))


def norm_scalar(input: Tensors, ord: Any = 2, dtype: Any = None) -> tuple[Tensor, ...]:
    _check(input)
    return tuple([ops.linalg_vector_norm(tensor, ord, dtype=dtype) for tensor in input])
