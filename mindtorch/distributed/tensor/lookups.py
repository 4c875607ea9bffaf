"""Ops whose result from a part of the first input is not what they compute: indices are about the whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch._core.tensor import Tensor


def _embedding(
    function: Any, start: Sequence[int], whole: Sequence[int], weight: Tensor, indices: Tensor, *more: Any
) -> Tensor:
    """The vectors that are in this part, and zeros for the others: a summand of the result."""
    count = weight.shape[0]
    if count == whole[0]:
        return function(weight, indices, *more)
    at = indices - start[0]
    is_here = (at >= 0) & (at < count)
    if not count:
        return weight.new_zeros((*indices.shape, weight.shape[1]))
    found = function(weight, at.masked_fill(~is_here, 0), *more)
    return found.masked_fill(~is_here.unsqueeze(-1), 0)


ON_PARTS: dict[str, Callable[..., Any]] = {"embedding": _embedding}
