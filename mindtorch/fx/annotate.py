"""Types on values inside of a traced function."""

from typing import Any, TypeVar

from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.proxy import Proxy

__all__ = ["annotate"]

Value = TypeVar("Value")


@compatibility(is_backward_compatible=False)
def annotate(val: Value, type: Any) -> Value:
    """Give a traced value a type, which generated code shows; any other value is left alone."""
    if isinstance(val, Proxy):
        if val.node.type:
            raise RuntimeError(
                "Tried to annotate a value that already had a type on it!"
                f" Existing type is {val.node.type} and new type is {type}. This could happen if you tried to "
                "annotate a function parameter value (in which case you should use the type slot on the function "
                "signature) or you called annotate on the same value twice"
            )
        val.node.type = type
    return val
