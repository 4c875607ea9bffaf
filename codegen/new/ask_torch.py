"""Calls an op of PyTorch with tensors of each dtype and prints those that it takes. Run by torch_dtypes.py.

    python ask_torch.py pdist default float32 float64 ...

The tensors have the first of a few shapes with which the op works at all. PyTorch is no dependency of the generator, so
this is a program of its own, which fails where there is none.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

_SHAPES = ((2, 3), (3, 3), (3,), (1, 2, 4), (1, 2, 4, 4), (1, 2, 4, 4, 4), ())
_INDICES = ("index", "indices", "target")
_VALUES: dict[str, Any] = {"int": 1, "float": 0.5, "number": 1, "bool": False, "List[int]": [1]}


def accepted(torch: Any, op: Any, dtypes: Iterable[str]) -> list[str]:
    """The dtypes that the op takes, in tensors of the shape with which it takes most."""
    names = list(dtypes)
    found = ([name for name in names if works(torch, op, shape, name)] for shape in _SHAPES)
    return max(found, key=len)


def works(torch: Any, op: Any, shape: tuple[int, ...], dtype: str) -> bool:
    """Whether a call succeeds. PyTorch refuses with errors of several types, its own asserts among them."""
    try:
        op(**arguments(torch, op, shape, getattr(torch, dtype)))
    except (RuntimeError, ValueError, TypeError, IndexError, AssertionError):
        return False
    return True


def arguments(torch: Any, op: Any, shape: tuple[int, ...], dtype: Any) -> dict[str, Any]:
    """What the op cannot do without."""
    needed = [argument for argument in op._schema.arguments if not argument.has_default_value()]
    return {argument.name: value_of(torch, argument, shape, dtype) for argument in needed}


def value_of(torch: Any, argument: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    kind = str(argument.type)
    if kind.startswith("Optional"):
        return None
    if argument.name in _INDICES:
        return torch.zeros(shape, dtype=torch.int64)
    if kind == "List[Tensor]":
        return [tensor(torch, shape, dtype)] * 2
    return tensor(torch, shape, dtype) if kind == "Tensor" else 0 if argument.name == "dim" else _VALUES.get(kind)


def tensor(torch: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Ones; of a square matrix only the diagonal, so that it has an inverse."""
    is_square = len(shape) == 2 and shape[0] == shape[1]
    return torch.eye(shape[0]).to(dtype) if is_square else torch.ones(shape, dtype=dtype)


def main(name: str, overload: str, *dtypes: str) -> None:
    torch = import_module("torch")
    print(*accepted(torch, getattr(getattr(torch.ops.aten, name), overload), dtypes))


if __name__ == "__main__":
    main(*sys.argv[1:])
