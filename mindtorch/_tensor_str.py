"""The names of `torch._tensor_str` with which tensor subclasses of other libraries print themselves."""

from mindtorch._core.tensor import Tensor
from mindtorch._functions.printing import array_str, host_array, options, printoptions, tensor_str, with_facts

__all__ = ["PRINT_OPTS", "_add_suffixes", "_str", "_str_intern", "_tensor_str", "printoptions"]

PRINT_OPTS = options


def _add_suffixes(tensor_str: str, suffixes: list[str], indent: int, force_newline: bool) -> str:
    """The text with what else is to say of a tensor, and the closing bracket."""
    return with_facts(tensor_str, suffixes, indent, force_newline)


def _tensor_str(self: Tensor, indent: int) -> str:
    """The elements in brackets."""
    return array_str(host_array(self), indent)


def _str(self: Tensor, *, tensor_contents: str | None = None) -> str:
    """The text of `repr`, with other elements if they are given."""
    return tensor_str(self, tensor_contents)


_str_intern = _str
