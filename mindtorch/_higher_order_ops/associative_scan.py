"""Running results of a function of two values, where the order of the calls does not matter."""

from collections.abc import Callable
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support.pytree import PyTree, tree_flatten
from mindtorch.dispatch import ops

Leaves = list[Tensor]


def associative_scan(
    combine_fn: Callable[[PyTree, PyTree], PyTree],
    xs: PyTree,
    dim: int,
    reverse: bool = False,
    combine_mode: str = "pointwise",
) -> PyTree:
    """Combine all that lies before each place along `dim`, or behind it, with what is there."""
    leaves, spec = tree_flatten(xs)
    _check(combine_fn, leaves, dim, reverse, combine_mode)

    def combine(left: Leaves, right: Leaves) -> Leaves:
        return tree_flatten(combine_fn(spec.unflatten(left), spec.unflatten(right)))[0]

    ordered = [leaf.movedim(dim, 0) for leaf in leaves]
    if reverse:
        ordered = [leaf.flip(0) for leaf in ordered]
    results = _scan(combine, ordered)
    if reverse:
        results = [leaf.flip(0) for leaf in results]
    return spec.unflatten([leaf.movedim(0, dim) for leaf in results])


def _scan(combine: Callable[[Leaves, Leaves], Leaves], leaves: Leaves) -> Leaves:
    """Neighbours are combined first, then what became of them: every second result; the others follow from these."""
    length = len(leaves[0])
    if length < 2:
        return leaves
    pairs = combine([leaf[:-1:2] for leaf in leaves], [leaf[1::2] for leaf in leaves])
    odd = _scan(combine, pairs)
    if length < 3:
        even = [leaf[:1] for leaf in leaves]
    else:
        later = combine([leaf[: (length - 1) // 2] for leaf in odd], [leaf[2::2] for leaf in leaves])
        even = [ops.cat([leaf[:1], rest]) for leaf, rest in zip(leaves, later, strict=True)]
    return [_alternating(*both) for both in zip(even, odd, strict=True)]


def _alternating(even: Tensor, odd: Tensor) -> Tensor:
    """The elements of two tensors in turn; the first has as many as the other or one more."""
    both = ops.stack([even[: len(odd)], odd], dim=1).flatten(0, 1)
    return both if len(even) == len(odd) else ops.cat([both, even[-1:]])


def _check(combine_fn: Any, leaves: list[Any], dim: Any, reverse: Any, combine_mode: str) -> None:
    if not callable(combine_fn):
        raise ValueError(f"Combine_fn must be a callable, but got {combine_fn}")
    if not isinstance(dim, int):
        raise ValueError(f"Dim must be an int, but got {type(dim)}")
    if not isinstance(reverse, bool):
        raise RuntimeError(f"Reverse must be a bool, but got {type(reverse)}")
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}")
    if combine_mode == "pointwise":
        raise ValueError("For combine_mode='pointwise', all input tensors need to be on CUDA or XPU")
    if not leaves:
        raise ValueError("Expected at least 1 xs leaf")
    if not all(isinstance(leaf, Tensor) for leaf in leaves):
        raise ValueError("xs leaves must be a Tensor")
