"""Small questions about objects: `is_tensor`, `is_floating_point`, `typename` and their like."""

from typing import TYPE_CHECKING, Any

from mindtorch._core import promotion
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.dtype import int64
from mindtorch._core.storage import UntypedStorage
from mindtorch._core.tensor import Tensor
from mindtorch._core.typed_storage import TypedStorage
from mindtorch._functions.creation import tensor
from mindtorch._support import errors
from mindtorch.dispatch.arguments.conversions import checked_tensor
from mindtorch.dispatch.arguments.overload_texts import no_overload
from mindtorch.dispatch.arguments.types import is_number

if TYPE_CHECKING:
    from typing_extensions import TypeIs


# The names that `result_type` has for its operands, by whether each is a tensor.
_OPERANDS = {
    (True, True): ("tensor", "other"),
    (False, True): ("scalar", "tensor"),
    (True, False): ("tensor", "other"),
    (False, False): ("scalar1", "scalar2"),
}


def result_type(*operands: Any, **named: Any) -> Dtype:
    """The dtype that an arithmetic operation on two tensors or numbers has."""
    for kinds, names in _OPERANDS.items():
        if {*names[len(operands) :]} == named.keys() and len(operands) <= 2:
            given = (*operands, *[named[name] for name in names[len(operands) :]])
            if all(isinstance(each, Tensor) if tensor else _is_number(each) for each, tensor in zip(given, kinds)):
                return promotion.result_type(*given)
    shown = [
        [f"{'Tensor' if tensor else 'Number'} {name}" for name, tensor in zip(names, kinds)]
        for kinds, names in _OPERANDS.items()
    ]
    raise no_overload("result_type", shown, operands, named)


def _is_number(value: Any) -> bool:
    return not isinstance(value, Tensor) and is_number(value)


def is_tensor(obj: Any) -> "TypeIs[Tensor]":
    return isinstance(obj, Tensor)


def is_storage(obj: Any) -> bool:
    return isinstance(obj, (UntypedStorage, TypedStorage))


def is_floating_point(input: Tensor) -> bool:
    """Whether the tensor's dtype is a floating-point one."""
    return checked_tensor(input, "is_floating_point").is_floating_point()


def is_complex(input: Tensor) -> bool:
    """Whether the tensor's dtype is a complex one."""
    return checked_tensor(input, "is_complex").is_complex()


def is_nonzero(input: Tensor) -> bool:
    """Whether the only element of the tensor is not zero."""
    return bool(checked_tensor(input, "is_nonzero"))


def get_device(input: Tensor) -> int:
    """The number of the tensor's device, -1 for the CPU."""
    return checked_tensor(input, "get_device").get_device()


def numel(input: Tensor) -> int:
    """How many elements the tensor has."""
    return checked_tensor(input, "numel").numel()


def _shape_as_tensor(self: Tensor) -> Tensor:
    """The sizes as a tensor."""
    return tensor(list(self.shape), dtype=int64)


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have one shape."""
    checked_tensor(input, "is_same_size")
    if not isinstance(other, Tensor):
        raise errors.argument_type("is_same_size", "other", 2, "Tensor", other)
    return input.shape == other.shape


def is_signed(input: Tensor) -> bool:
    """Whether the tensor's dtype has negative numbers."""
    return checked_tensor(input, "is_signed").is_signed()


def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode."""
    return checked_tensor(input, "is_inference").is_inference()


def is_conj(input: Tensor) -> bool:
    """Whether the tensor waits to be conjugated, which none does here: `conj` conjugates at once."""
    return checked_tensor(input, "is_conj").is_conj()


def is_neg(input: Tensor) -> bool:
    """Whether the tensor waits to be negated, which none does here."""
    return checked_tensor(input, "is_neg").is_neg()


def is_distributed(input: Tensor) -> bool:
    """Whether the tensor is spread over several processes."""
    return checked_tensor(input, "is_distributed").is_distributed()


def typename(obj: Any) -> str:
    """The name of a class or function, else of the object's type, with its module; of a tensor the legacy name."""
    if isinstance(obj, Tensor):
        return obj.type()
    name = getattr(type(obj), "torch_name", None)
    if name is not None:
        return name
    module = getattr(obj, "__module__", None)
    name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None) or type(obj).__name__
    return name if module in (None, "builtins") else f"{module}.{name}"
