"""Functions whose call differs from that of their op: einsum and tensordot."""

from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support.errors import type_name
from mindtorch.dispatch import ops

_LETTERS = ascii_uppercase + ascii_lowercase


def einsum(*args: Any) -> Tensor:
    """Sums of products by an equation: `einsum("ij,jk->ik", a, b)` or `einsum(a, [0, 1], b, [1, 2], [0, 2])`."""
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list"
        )
    if isinstance(args[0], Tensor):
        return ops.einsum(*_from_sublists(args))
    equation, operands = args[0], list(args[1:])
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = list(operands[0])
    if not isinstance(equation, str):
        raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {type_name(equation)}")
    return ops.einsum(equation, operands)


def _from_sublists(args: Sequence[Any]) -> tuple[str, list[Tensor]]:
    """The equation and the operands of a call with lists of numbers or Ellipsis for labels."""
    terms = ",".join(_term(labels) for labels in args[1::2])
    if len(args) % 2:
        terms = ",".join(_term(labels) for labels in args[1:-1:2]) + "->" + _term(args[-1])
    return terms, list(args[: len(args) // 2 * 2 : 2])


def _term(labels: Sequence[Any]) -> str:
    return "".join("..." if label is Ellipsis else _letter(label) for label in labels)


def _letter(label: int) -> str:
    if not 0 <= label < len(_LETTERS):
        raise ValueError(f"einsum(): subscript {label} is not within the valid range [0, 52)")
    return _LETTERS[label]


def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """Contracts the last `dims` dimensions of `a` with the first of `b`, or those in two lists `dims`."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        first, second = list(range(-dims, 0)), list(range(dims))
    elif isinstance(dims, (list, tuple)):
        first, second = dims
    else:
        raise RuntimeError(
            "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] containing two lists, "
            f"but got dims={dims}"
        )
    return ops.tensordot(a, b, first, second, out=out)
