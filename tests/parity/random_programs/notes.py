"""What a random program writes down while it runs, and how numbers of it are compared."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch

from tests.harness import value_difference


def noted(value: Any, T: Any) -> Any:
    """What can be compared of a value while the program runs."""
    if isinstance(value, (list, tuple)):
        return [noted(each, T) for each in value]
    if not isinstance(value, T.Tensor):
        return value
    if value.dtype is torch.complex32:
        return Unknown()
    facts = (str(value.dtype), tuple(value.shape), value.requires_grad, value.grad_fn is None)
    try:
        with T.no_grad():  # of the tensor itself: see `view_from_inference_mode_in_a_transform`
            plain = (
                T.zeros(value.shape) if T is torch and value._is_zerotensor() else value
            )  # see `gradient_that_is_zero`
            return (*facts, Numbers(plain.tolist(), str(value.dtype)))
    except RuntimeError:  # the samples of a vmap
        return facts


class Unknown:
    """A tensor of the dtype that mindtorch has not, which stands for whatever is in its place there."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None


class Numbers:
    """The elements of a tensor, which equal others that differ by rounding in the precision of the program."""

    precision = "float64"

    def __init__(self, numbers: Any, dtype: str):
        self.numbers, self.dtype = np.array(numbers), dtype.removeprefix("torch.")

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Numbers)
        return value_difference(self.numbers, other.numbers, coarser(self.dtype, self.precision), 8.0) is None

    __hash__ = None

    def __repr__(self) -> str:
        return str(self.numbers.tolist())


def coarser(dtype: str, precision: str) -> str:
    """The dtype whose tolerance holds for numbers of one dtype that may have been computed in another precision."""
    given = getattr(torch, dtype)
    is_coarse = given.is_floating_point or given.is_complex
    if not is_coarse or torch.finfo(given).eps >= torch.finfo(getattr(torch, precision)).eps:
        return dtype
    return "complex64" if given.is_complex else precision


def in_threads(*functions: Any) -> list[Any]:
    """What functions give, each of which runs in a thread of its own when the one before has ended."""
    results = []
    for function in functions:
        with ThreadPoolExecutor(1) as pool:
            results.append(pool.submit(function).result())
    return results
