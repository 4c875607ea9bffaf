"""Small questions about objects: `is_tensor`, `is_floating_point`, `typename` and their like."""

from typing import Any

from mindtorch.dispatch.arguments import checked_tensor
from mindtorch.storage import TypedStorage, UntypedStorage
from mindtorch.tensor import Tensor


def is_tensor(obj: Any) -> bool:
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


def numel(input: Tensor) -> int:
    """How many elements the tensor has."""
    return checked_tensor(input, "numel").numel()


def typename(obj: Any) -> str:
    """The name of an object's type, with its module; for a tensor the legacy name such as torch.FloatTensor."""
    if isinstance(obj, Tensor):
        return obj.type()  # type: ignore[attr-defined]
    cls = type(obj)
    name = getattr(cls, "torch_name", None)
    if name is not None:
        return name
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
