"""The order in which torch tries the overloads of a Python function, and lists them in its errors.

They are sorted as text, with the types spelled as in C++. Then an overload that takes whatever another one takes goes
behind that one: a number could stand for a tensor, an int for a list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mindtorch.dispatch.schema.function_schema import Argument


_CPP_TYPES = {"int": "int64_t", "float": "double", "str": "c10::string_view"}
_CPP_LISTS = {
    "int": "IntArrayRef",
    "SymInt": "SymIntArrayRef",
    "Tensor": "TensorList",
    "Scalar": "ScalarList",
    "float": "ArrayRef<double>",
}
_LIST = re.compile(r"(?P<element>\w+)\??\[(?P<size>\d*)\](?P<optional>\??)")


def in_torch_order(overloads: Sequence[Sequence[Argument]]) -> list[int]:
    """The places of the overloads, each given by its arguments, in torch's order."""
    by_text = sorted(range(len(overloads)), key=lambda place: _text(overloads[place]))
    waiting = {
        place: {other for other in by_text if _goes_behind(overloads[place], overloads[other])} for place in by_text
    }
    ordered = [place for place in by_text if not waiting[place]]
    for place in ordered:  # grows while it is read
        for other in by_text:
            if place in waiting[other]:
                waiting[other].remove(place)
                ordered += [other] * (not waiting[other])
    return ordered


def _text(arguments: Sequence[Argument]) -> str:
    texts = [f"{_cpp_type(each.type)} {each.name}{_default(each)}" for each in arguments]
    positional = sum(not each.keyword_only for each in arguments)
    if positional < len(texts):
        texts.insert(positional, "*")
    return f"({', '.join(texts)})"


def _default(argument: Argument) -> str:
    return "" if argument.default is None else f"={argument.default}"


def _cpp_type(schema_type: str) -> str:
    found = _LIST.fullmatch(schema_type)
    if found is None:
        plain = schema_type.rstrip("?")
        return _CPP_TYPES.get(plain, plain) + schema_type[len(plain) :]
    size = f"[{found['size']}]" if found["size"] else ""
    return _CPP_LISTS.get(found["element"], f"ArrayRef<{found['element']}>") + size + found["optional"]


def _goes_behind(arguments: Sequence[Argument], others: Sequence[Argument]) -> bool:
    arguments, others = ([each for each in some if each.name != "out"] for some in (arguments, others))
    if len(arguments) != len(others):
        return False
    pairs = [(one.type, other.type) for one, other in zip(arguments, others) if one.type != other.type]
    return bool(pairs) and all(_stands_for(one, other) for one, other in pairs)


def _stands_for(one: str, other: str) -> bool:
    """Whether torch tries an argument of the other type first."""
    return (
        (one, other) in (("Scalar", "Tensor"), ("Scalar?", "Tensor?"), ("SymInt", "Tensor"), ("int", "Tensor"))
        or (one, other) in (("int[]", "int"), ("int[]", "int?"), ("SymInt[]", "int[]"))
        or (one == "Tensor[]" and "[]" in other)
    )
