"""What is timed, as plain data that a process with another checkout understands: a call, and numbers to make for it."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

FORWARD, BACKWARD, IN_PLACE, OUT = "forward", "forward + backward", "in place", "out="
STRIDED, DOUBLE, BFLOAT16 = "strided", "float64", "bfloat16"
DIRECTIONS = (FORWARD, BACKWARD, IN_PLACE, OUT, STRIDED, DOUBLE, BFLOAT16)
# The last three ask for the forward pass with other inputs, in which small calls differ as with the usual ones.
LARGE_ONLY = (STRIDED, DOUBLE, BFLOAT16)
# The families that have no samples (layers.py), and what is timed of them.
WRITTEN = {
    "layers": (FORWARD, BACKWARD), "functions": (FORWARD, BACKWARD), "losses": (FORWARD, BACKWARD),
    "optimizers": (FORWARD,),
}  # fmt: skip
OTHER_DTYPE = {DOUBLE: "float64", BFLOAT16: "bfloat16"}


@dataclass(frozen=True)
class Numbers:
    """A tensor to make: its shape and dtype, between which bounds its elements are, and of what kind it is.

    `kind`: uniform, sorted, or what a matrix is: hermitian, lower, upper. `strided`: no dimension is contiguous.
    """

    shape: tuple[int, ...]
    dtype: str = "float32"
    low: float = -4.0
    high: float = 4.0
    kind: str = "uniform"
    strided: bool = False
    grad: bool = False


@dataclass(frozen=True)
class Dtype:
    """A dtype among the arguments, by name."""

    name: str


@dataclass(frozen=True)
class Recipe:
    """A call: `place` is the function's path in the library, or `layers` and the name of a builder there.

    `inplace`: the method that writes into the first tensor; `has_out`: whether the function takes `out=`.
    """

    name: str
    family: str
    place: str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    inplace: str = ""
    has_out: bool = False
    elements: int = 0


def replaced(value: Any, change: Callable[[Any], Any]) -> Any:
    """Nested arguments with every value that is no container changed."""
    if isinstance(value, (list, tuple)):
        return type(value)(replaced(item, change) for item in value)
    if isinstance(value, dict):
        return {name: replaced(item, change) for name, item in value.items()}
    return change(value)


def numbers_in(value: Any) -> Iterator[Numbers]:
    """Every tensor among nested arguments, in order."""
    if isinstance(value, Numbers):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from numbers_in(item)
    elif isinstance(value, dict):
        yield from numbers_in(list(value.values()))


def is_float(numbers: Numbers) -> bool:
    return numbers.dtype.startswith(("float", "bfloat", "complex"))


def turned(value: Any, direction: str) -> Any:
    """Nested arguments with the inputs that a direction asks for."""

    def change(value: Any) -> Any:
        if isinstance(value, Dtype):
            return Dtype(OTHER_DTYPE.get(direction, value.name))
        if isinstance(value, Numbers) and is_float(value):
            dtype = OTHER_DTYPE.get(direction, value.dtype) if value.dtype == "float32" else value.dtype
            grad = value.grad and direction == BACKWARD
            return replace(value, dtype=dtype, strided=direction == STRIDED, grad=grad)
        return value

    return replaced(value, change)


def directions_of(family: str) -> tuple[str, ...]:
    """Layers have no other form than the call."""
    return WRITTEN.get(family, DIRECTIONS)


def seed_of(*words: object) -> int:
    """A number that belongs to these words, in every process."""
    return int.from_bytes(hashlib.blake2b(repr(words).encode(), digest_size=4).digest(), "big")


# -------------------- the elements --------------------


def _hermitian(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Positive definite."""
    values = random.random(shape, np.float32) / shape[-1]
    return values + np.swapaxes(values, -1, -2) + 4 * np.eye(shape[-1], dtype=np.float32)


def _triangle(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return random.random(shape, np.float32) / shape[-1] + 4 * np.eye(shape[-1], dtype=np.float32)


_MATRICES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "hermitian": _hermitian,
    "lower": lambda random, shape: np.tril(_triangle(random, shape)),
    "upper": lambda random, shape: np.triu(_triangle(random, shape)),
}


def array_of(numbers: Numbers) -> np.ndarray:
    """The elements, the same in every process; bfloat16 as float32."""
    random = np.random.default_rng(seed_of(numbers.shape, numbers.low, numbers.high))
    dtype = np.dtype("float32" if numbers.dtype == "bfloat16" else numbers.dtype)
    if numbers.kind in _MATRICES:
        return _MATRICES[numbers.kind](random, numbers.shape).astype(dtype)
    if dtype.kind in "biu":
        values: np.ndarray = random.integers(int(numbers.low), int(numbers.high) + 1, numbers.shape)
    else:
        values = random.random(numbers.shape, np.float32) * np.float32(numbers.high - numbers.low) + numbers.low
    if dtype.kind == "c":
        values = values * np.complex64(0.6 + 0.8j)
    return (np.sort(values) if numbers.kind == "sorted" else values).astype(dtype)
