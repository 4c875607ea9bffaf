"""`ops`: the public functions of the library's ops by name, for layers below them; other packages' have their own."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from mindtorch._core.tensor import Tensor
from mindtorch._support.op_names import ATEN
from mindtorch.dispatch.families import functions_of
from mindtorch.dispatch.methods import is_method

if TYPE_CHECKING:
    from mindtorch._generated import namespace

    ops = namespace
else:
    ops = functions_of(ATEN)


def public_function(function: Callable) -> Callable:
    """The function a user would name: for `sum_dim_IntList` that is `sum`, or the method `Tensor.sum`."""
    entry = getattr(function, "op", None)
    if entry is None:
        return function
    if is_method(function):
        return getattr(Tensor, entry.base)
    if entry.boxed:
        return function.overload  # type: ignore[attr-defined]
    return vars(functions_of(entry.namespace)).get(entry.base, function)
