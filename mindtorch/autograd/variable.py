"""`Variable`: what a tensor with a gradient was in old programs. Now it is another name of the tensor."""

from typing import Any

from mindtorch._core.tensor import Tensor, alias_of, autograd_meta
from mindtorch._functions.creation import tensor
from mindtorch._support import errors
from mindtorch._support.warnings import warn
from mindtorch._tensor_methods.autograd import ExecutionEngine


class VariableMeta(type):
    """Makes every tensor an instance of `Variable`."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=VariableMeta):
    """`Variable(data)` is a tensor on the memory of another one, outside of its graph."""

    _execution_engine = ExecutionEngine()

    def __new__(
        cls, data: Any = None, requires_grad: bool = False, volatile: Any = None, *, name: str | None = None
    ) -> Any:
        if volatile:
            message = "volatile was removed and now has no effect. Use `with torch.no_grad():` instead."
            warn(message, UserWarning)
        if not (data is None or isinstance(data, Tensor)):
            raise TypeError(f"Variable data has to be a tensor, but got {errors.type_name(data)}")
        variable: Any = tensor([]) if data is None else alias_of(data)
        if name is not None:
            autograd_meta(variable).name = name
        return variable.requires_grad_(requires_grad)
