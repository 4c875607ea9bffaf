"""The `reduction` argument of losses: its words, and the numbers that ops take."""

from __future__ import annotations

from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn

_NUMBERS = {"none": 0, "mean": 1, "sum": 2}


def reduction_number(reduction: str) -> int:
    """The number of a reduction's word."""
    if reduction == "elementwise_mean":
        warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.")
        return 1
    if not isinstance(reduction, str) or reduction not in _NUMBERS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _NUMBERS[reduction]


def reduced(losses: Tensor, number: int) -> Tensor:
    """The losses, or their mean or sum, by the number of the reduction."""
    return losses if number == 0 else losses.mean() if number == 1 else losses.sum()


def legacy_reduction(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction that the two arguments from before `reduction` mean; they win when either is given."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is not None and not reduce:
        meant = "none"
    else:
        meant = "mean" if size_average is None or size_average else "sum"
    warn(f"size_average and reduce args will be deprecated, please use reduction='{meant}' instead.")
    return meant
