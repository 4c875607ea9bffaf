"""`map_` and `map2_`: a Python function of the elements, one after the other."""

import math
from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

from mindtorch._core.tensor import Tensor, extend_tensor
from mindtorch._support import errors

# What an element of a dtype is made of what the function gives, by the kind of NumPy's dtype.
_ELEMENT: dict[str, Callable[[Any], Any]] = {"b": bool, "i": index, "u": index, "c": complex}


@extend_tensor
class MapMethods:
    """In place, for tensors on the CPU that need no gradients."""

    def map_(self: Any, other: Any, callable: Callable[[Any, Any], Any]) -> Tensor:
        """Replace each element by what the function makes of it and of the one of `other`."""
        others = [_tensor("map_", "other", 1, other)]
        _check("map_", self, others, ["'other'"])
        return _mapped(self, others, callable)

    def map2_(self: Any, x: Any, y: Any, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
        """Replace each element by what the function makes of it and of those of `x` and `y`."""
        others = [_tensor("map2_", "x", 1, x), _tensor("map2_", "y", 2, y)]
        _check("map2_", self, others, ["argument 'x'", "argument 'y'"])
        return _mapped(self, others, callable)


def _tensor(op: str, name: str, place: int, value: Any) -> Tensor:
    if not isinstance(value, Tensor):
        raise errors.argument_type(op, name, place, "Tensor", value)
    return value


def _check(op: str, tensor: Tensor, others: list[Tensor], names: list[str]) -> None:
    if any(each.requires_grad for each in (tensor, *others)):
        raise RuntimeError(f"Can't call {op}() on Variable that requires grad. Use var.detach().{op}() instead.")
    for name, other in zip(names, others, strict=True):
        if other.type() != tensor.type():
            raise TypeError(f"{op}: expected {tensor.type()} for {name} (got {other.type()})")


def _mapped(tensor: Tensor, others: list[Tensor], function: Callable[..., Any]) -> Tensor:
    array = tensor._mt_array
    given = [each.expand(tensor.shape)._mt_array for each in others]
    element: Any = _ELEMENT.get(array.dtype.kind, lambda number: math.ldexp(number, 0))  # a float, or TypeError
    for place in np.ndindex(array.shape):
        array[place] = element(function(array[place].item(), *[each[place].item() for each in given]))
    return tensor
