"""Random tensors in every layout, as text that means the same in both libraries, and how cases made of them are run."""

import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import mindtorch

DTYPES = ["float32"] * 6 + "float64 int64 bool float16 bfloat16 complex64 uint8 int32".split()
EXTENTS = [1, 2, 3, 2, 3, 4, 1, 2, 3, 0]


@dataclass(frozen=True)
class Case:
    """Tensors by name, and what is computed of them."""

    tensors: dict[str, str]
    expression: str

    def __str__(self) -> str:
        return "\n".join([*(f"{name} = {value}" for name, value in self.tensors.items()), self.expression])


# -------------------- tensors --------------------


class Tensors:
    """Writes expressions that make tensors; every choice comes from one random generator."""

    def __init__(self, choose: random.Random) -> None:
        self.choose = choose

    def shape(self, least: int = 0, most: int = 5) -> tuple[int, ...]:
        ndim = self.choose.choice([each for each in (0, 1, 2, 2, 3, 3, 4, 4, 4, 5) if least <= each <= most])
        return tuple(self.choose.choice(EXTENTS) for _ in range(ndim))

    def broadcastable(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape, or one that expands to it."""
        if self.choose.random() < 0.6:
            return shape
        cut = self.choose.randint(0, len(shape))
        return tuple(1 if self.choose.random() < 0.3 else extent for extent in shape[cut:])

    def tensor(self, shape: tuple[int, ...], dtype: str | None = None) -> str:
        """An expression for a tensor of this shape, in a random layout."""
        dtype = dtype or self.choose.choice(DTYPES)
        return self.choose.choice(LAYOUTS)(self, shape, dtype)


def dense(shape: tuple[int, ...], dtype: str, start: int) -> str:
    return f"T.arange({start}, {start + int(np.prod(shape))}).remainder(7).sub(2).to(T.{dtype}).reshape({shape})"


def plain(tensors: Tensors, shape: tuple[int, ...], dtype: str) -> str:
    return dense(shape, dtype, tensors.choose.randint(0, 6))


def permuted(tensors: Tensors, shape: tuple[int, ...], dtype: str) -> str:
    order = list(range(len(shape)))
    tensors.choose.shuffle(order)
    places = [order.index(dim) for dim in range(len(shape))]
    return plain(tensors, tuple([shape[dim] for dim in order]), dtype) + f".permute({places})"


def stepped(tensors: Tensors, shape: tuple[int, ...], dtype: str) -> str:
    """Every so many elements of some dimensions of a larger tensor, from some place on."""
    steps = [tensors.choose.choice([1, 1, 2, 3]) for _ in shape]
    starts = [tensors.choose.choice([0, 0, 1]) for _ in shape]
    large = tuple([start + step * extent for start, step, extent in zip(starts, steps, shape, strict=True)])
    index = ", ".join(f"{start}::{step}" for start, step in zip(starts, steps, strict=True))
    ends = "".join(f".narrow({dim}, 0, {extent})" for dim, extent in enumerate(shape))
    return permuted(tensors, large, dtype) + (f"[{index}]{ends}" if shape else "")


def expanded(tensors: Tensors, shape: tuple[int, ...], dtype: str) -> str:
    small = tuple([1 if tensors.choose.random() < 0.4 else extent for extent in shape])
    if 0 in shape:  # strides that are all 0 cannot be told from those of a new array without elements
        small = shape
    small = small[tensors.choose.choice([0, 0, 1]) :] if len(shape) > 1 and 0 not in shape else small
    return permuted(tensors, small, dtype) + f".expand({shape})"


def channels_last(tensors: Tensors, shape: tuple[int, ...], dtype: str) -> str:
    form = {4: "channels_last", 5: "channels_last_3d"}.get(len(shape))
    made = plain(tensors, shape, dtype)
    return f"{made}.to(memory_format=T.{form})" if form else made


def odd_strides(tensors: Tensors, shape: tuple[int, ...], dtype: str) -> str:
    """Any strides, also overlapping ones, and any in dimensions of one element."""
    strides = tuple([tensors.choose.choice([0, 1, 1, 2, 3, 4, 6, 12] if extent else [1, 2]) for extent in shape])
    return plain(tensors, (150,), dtype) + f".as_strided({shape}, {strides}, {tensors.choose.randint(0, 3)})"


def without_a_dimension(tensors: Tensors, shape: tuple[int, ...], dtype: str) -> str:
    dim = tensors.choose.randint(0, len(shape))
    large = (*shape[:dim], 2, *shape[dim:])
    return permuted(tensors, large, dtype) + f".select({dim}, 1)"


LAYOUTS: list[Callable[[Tensors, tuple[int, ...], str], str]] = [
    plain,
    permuted,
    permuted,
    stepped,
    expanded,
    channels_last,
    channels_last,
    odd_strides,
    without_a_dimension,
]


# -------------------- running --------------------


def observed(value: Any) -> Any:
    """What is compared of a value: of a tensor its dtype, shape, strides and elements."""
    if isinstance(value, (tuple, list)) and not isinstance(value, (torch.Size, mindtorch.Size)):
        return tuple([observed(each) for each in value])
    if not isinstance(value, (torch.Tensor, mindtorch.Tensor)):
        return value
    return str(value.dtype), tuple(value.shape), tuple(value.stride()), elements(value)


def elements(tensor: Any) -> list[Any]:
    """Rounded, so that a last digit that differs does not count."""
    wide = tensor.detach().reshape(-1).tolist()
    return [float(f"{each:.3g}") if isinstance(each, float) else _rounded(each) for each in wide]


def _rounded(value: Any) -> Any:
    return (float(f"{value.real:.3g}"), float(f"{value.imag:.3g}")) if isinstance(value, complex) else value


def run(case: Case, library: Any) -> dict[str, Any]:
    """What is observed of the tensors of a case and of its expression; of an error its type and first line."""
    names: dict[str, Any] = {"T": library, "F": library.nn.functional}
    seen: dict[str, Any] = {}
    text = ""
    try:
        for name, text in case.tensors.items():
            names[name] = eval(text, names)
            seen[name] = observed(names[name])
        text = case.expression
        seen[text] = observed(eval(text, names))
    except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError) as error:
        seen[text] = type(error).__name__, str(error).split("\n")[0]
    return seen


def first_difference(case: Case) -> str | None:
    """None when both libraries do the same; else the case, and what each of them made of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, ours = (run(case, library) for library in (torch, mindtorch))
    for text, expected in theirs.items():
        if not same(ours.get(text), expected):
            return f"{case}\n{text}\ntorch:     {expected}\nmindtorch: {ours.get(text)}"
    return None


def same(a: Any, b: Any) -> bool:
    """Equality in which a number that is none equals itself, and floats may differ a little."""
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b) or abs(a - b) <= 0.02 * max(abs(a), abs(b)) + 1e-5
    return type(a) is type(b) and a == b
