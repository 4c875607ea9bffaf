"""`rearrange`: dimensions by name, `rearrange(x, "batch (h w) c -> batch c h w", h=8)`."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops

_ELLIPSIS = "..."


class DimensionBindError(Exception):
    """The sizes of dimensions do not follow from those that are given."""


def rearrange(tensor: Any, pattern: str, **axes_lengths: int) -> Tensor:
    """The tensor (or tensors of one shape, stacked) with its dimensions split, put in another order and joined."""
    if isinstance(tensor, list | tuple):
        tensor = ops.stack(tuple(tensor))
    left, right = _sides(pattern)
    if _ELLIPSIS in _flat(right) and _ELLIPSIS not in _flat(left):
        raise ValueError(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    _check_names(left, right, axes_lengths)
    left, sizes, middle = _bound(left, tensor, axes_lengths)
    names = _flat(left)
    order = [name for group in right for name in (middle if group == [_ELLIPSIS] else _expanded(group, middle))]
    groups = [[[name] for name in middle] if group == [_ELLIPSIS] else [_expanded(group, middle)] for group in right]
    apart = tensor.reshape([sizes[name] for name in names])
    ones = [place for place, name in enumerate(names) if name not in order]
    kept = [names.index(name) for name in order]
    moved = apart.permute(*ones, *kept) if names else apart
    return moved.reshape([prod(sizes[name] for name in group) for joined in groups for group in joined])


def _expanded(group: Sequence[str], middle: Sequence[str]) -> list[str]:
    return [name for each in group for name in (middle if each == _ELLIPSIS else [each])]


# -------------------- patterns --------------------


def _sides(pattern: str) -> tuple[list[list[str]], list[list[str]]]:
    parts = pattern.split("->")
    if len(parts) != 2:
        raise ValueError("Pattern must contain a single '->' separator")
    left, right = (_groups(part) for part in parts)
    if any(_ELLIPSIS in group and group != [_ELLIPSIS] for group in left) or "(...)" in parts[0].replace(" ", ""):
        raise ValueError(f"Ellipsis is parenthesis in the left side is not allowed: {pattern}")
    return left, right


def _groups(text: str) -> list[list[str]]:
    """One list of names for each dimension; one of size 1 has none."""
    groups: list[list[str]] = []
    inside = False
    for token in text.replace("(", " ( ").replace(")", " ) ").replace(_ELLIPSIS, f" {_ELLIPSIS} ").split():
        if token in "()":
            if inside is (token == "("):
                raise ValueError(f"Brackets are not balanced: {text.strip()}")
            inside = token == "("
            if inside:
                groups.append([])
        elif inside:
            groups[-1].append(token)
        else:
            groups.append([] if token == "1" else [token])
    if inside:
        raise ValueError(f"Brackets are not balanced: {text.strip()}")
    return groups


def _flat(side: list[list[str]]) -> list[str]:
    return [name for group in side for name in group]


def _check_names(left: list[list[str]], right: list[list[str]], lengths: Mapping[str, int]) -> None:
    sides = _flat(left), _flat(right)
    for side in sides:
        twice = next((name for name in side if side.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"Indexing expression contains duplicate dimension '{twice}'")
    one_side = set(sides[0]) ^ set(sides[1])
    if one_side:
        raise ValueError(f"Identifiers only on one side of rearrange expression (should be on both): {one_side}")
    unknown = set(lengths) - set(sides[0])
    if unknown:
        raise ValueError(f"Identifiers not found in rearrange expression: {unknown}")


def _bound(
    left: list[list[str]], tensor: Tensor, lengths: Mapping[str, int]
) -> tuple[list[list[str]], dict[str, int], list[str]]:
    """The groups with names for what `...` stands for, the size of each name, and these names."""
    named = sum(group != [_ELLIPSIS] for group in left)
    has_ellipsis = named < len(left)
    if tensor.ndim < named or (tensor.ndim > named and not has_ellipsis):
        least = " at least" if has_ellipsis else ""
        raise ValueError(
            f"Number of dimensions in pattern ({named}) must be{least} equal to the number of dimensions in the tensor "
            f"({tensor.ndim})"
        )
    middle = [f"...{number}" for number in range(tensor.ndim - named)]
    groups = [each for group in left for each in ([[name] for name in middle] if group == [_ELLIPSIS] else [group])]
    sizes = dict(lengths)
    shown = {name: f"d{place}" for place, name in enumerate(_flat(left))}
    for group, size in zip(groups, tensor.shape):
        sizes.update(_sizes_in(group, size, lengths, shown))
    return groups, sizes, middle


def _sizes_in(group: Sequence[str], size: int, lengths: Mapping[str, int], shown: Mapping[str, str]) -> dict[str, int]:
    """The sizes of the names of one dimension; one of them may follow from the others.

    `shown` is what torch's messages call the names.
    """
    open_names = [name for name in group if name not in lengths]
    known = prod(lengths[name] for name in group if name in lengths)
    if len(open_names) > 1:
        first, second = (shown[name] for name in open_names[:2])
        raise DimensionBindError(f"cannot infer the sizes of two dimensions at once {first} and {second}")
    if open_names:
        if size % known:
            given = tuple(lengths.get(name, "?") for name in group)
            raise DimensionBindError(f"inferred dimension does not evenly fit into larger dimension: {size} vs {given}")
        return {open_names[0]: size // known}
    if known != size:
        pack = ", ".join(shown[name] for name in group)
        raise DimensionBindError(
            f"Dimension sizes to do not match ({size} != {known}) when matching dimension pack ({pack})"
        )
    return {}
