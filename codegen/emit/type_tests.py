"""The tests by which resolvers tell what an argument of a call is for."""

from __future__ import annotations

from ..model import Argument
from .signatures import is_int_list

_TYPE_TESTS = {
    "Tensor": "isinstance({}, Tensor)",
    "Scalar": "as_operand({}) is not None",
    "float": "as_operand({}) is not None",
    "int": "is_int({})",
    "SymInt": "is_index({})",
    "str": "isinstance({}, str)",
    "ScalarType": "isinstance({}, Dtype)",
}


def has_test(argument: Argument) -> bool:
    """A list of numbers looks like a list of tensors."""
    return argument.type.base != "Scalar" if argument.type.is_list else argument.type.base in _TYPE_TESTS


def is_of_type(argument: Argument, name: str, exact: bool = False) -> str:
    """A test that a value fits an argument; ``exact``: a tensor is no number."""
    kind = argument.type
    if is_int_list(argument) and "[]" not in str(kind):
        test = f"(isinstance({name}, (tuple, list)) or is_single_int({name}))"
    elif kind.is_list:
        test = f"isinstance({name}, (tuple, list))"
    else:
        test = _TYPE_TESTS[kind.base].format(name)
    if exact and kind.base == "Scalar":
        test = f"isinstance(as_operand({name}), WrappedNumber)"
    if exact and kind.base in ("int", "SymInt") and not kind.is_list:
        test += f" and not isinstance({name}, Tensor)"
    return f"({name} is None or {test})" if kind.is_optional else test
