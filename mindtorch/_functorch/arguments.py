"""Which arguments a transform is about, and what it refuses: shared by the transforms of functions."""

from collections.abc import Sequence
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support.pytree import tree_leaves, tree_map

Argnums = int | tuple[int, ...]


def chosen(args: tuple, argnums: Any, as_tuple: bool = True) -> Any:
    """The arguments that `argnums` names: one for an int (in a tuple, with `as_tuple`), a tuple for a tuple."""
    positions = positions_of(argnums, len(args))
    if isinstance(argnums, int):
        return (args[positions[0]],) if as_tuple else args[positions[0]]
    return tuple(args[position] for position in positions)


def positions_of(argnums: Any, count: int) -> tuple[int, ...]:
    """The positions that `argnums` names, as numbers that are not negative."""
    if not isinstance(argnums, int | tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    found = tuple(_position(each, count) for each in (argnums if isinstance(argnums, tuple) else (argnums,)))
    if not found:
        raise RuntimeError("argnums must be non-empty")
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {found}")
    return found


def _position(argnum: Any, count: int) -> int:
    if not isinstance(argnum, int):
        raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
    if not -count <= argnum < count:
        raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


def replaced(args: tuple, new: Sequence[Any], positions: tuple[int, ...]) -> tuple:
    """The arguments with other values in some positions."""
    values = dict(zip(positions, new, strict=True))
    return tuple(values.get(position, value) for position, value in enumerate(args))


def split_aux(output: Any, has_aux: bool, call: str) -> tuple[Any, Any]:
    """What a function returned, and what it returned besides (`has_aux`)."""
    if not has_aux:
        return output, None
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(f"{call}: output of function f should be a tuple: (output, aux) if has_aux is True")
    tree_map(_require_tensor, output[1])
    return output


def _require_tensor(value: Any) -> None:
    if not isinstance(value, Tensor):
        raise RuntimeError(f"Expected tensors, got unsupported type {type(value)}")


def check_outputs(outputs: list, call: str) -> None:
    """Refuse a function that returns nothing, or anything but tensors."""
    if not outputs or (len(outputs) == 1 and outputs[0] is None):
        raise RuntimeError(f"{call}: Expected f to be a function that has non-empty output (got output = {outputs})")
    for output in outputs:
        if not isinstance(output, Tensor):
            raise RuntimeError(
                f"{call}: expected f(*primals) to return only tensors, got unsupported type {type(output)}"
            )


def refuse_complex(function: str, values: Any, what: str) -> None:
    """Refuse complex `inputs` or `outputs`, for which a Jacobian is not defined."""
    for index, value in enumerate(tree_leaves(values)):
        if isinstance(value, Tensor) and value.is_complex():
            raise RuntimeError(
                f"{function}: Expected all {what} to be real but received complex tensor at flattened input idx: "
                f"{index}"
            )
