"""Flat sequences and the nested ones that they stand for: a structure has, for each value, None or a list's length."""

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch.tensor import Tensor

Structure = list[int | None]


def is_tensor_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, Tensor) for each in value)


def is_optional_tensor_list(value: Any) -> bool:
    return isinstance(value, list) and all(each is None or isinstance(each, Tensor) for each in value)


def flatten(values: Sequence[Any], is_opened: Callable[[Any], bool]) -> tuple[list[Any], Structure]:
    """The values one after the other, those lists opened for which `is_opened` says so."""
    flat: list[Any] = []
    structure: Structure = []
    for value in values:
        opened = is_opened(value)
        flat += value if opened else [value]
        structure.append(len(value) if opened else None)
    return flat, structure


def unflatten(flat: Sequence[Any], structure: Structure) -> list[Any]:
    """The nested values again."""
    rest = iter(flat)
    return [next(rest) if length is None else [next(rest) for _ in range(length)] for length in structure]


def structure_text(structure: Structure) -> str:
    """The structure as torch prints it: a tuple of leaves and lists."""
    return _tree("tuple", ["*" if length is None else _tree("list", ["*"] * length, 4) for length in structure], 2)


def _tree(kind: str, parts: list[str], indent: int) -> str:
    separator = ",\n" + " " * indent
    return f"TreeSpec({kind}, None, [{separator.join(parts)}])"
