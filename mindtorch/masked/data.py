"""How a `MaskedTensor` is recognized where its class is not known yet."""

from typing import Any


def is_masked_tensor(obj: Any, /) -> bool:
    """Whether the object is a `MaskedTensor`."""
    return getattr(type(obj), "is_masked", False)
