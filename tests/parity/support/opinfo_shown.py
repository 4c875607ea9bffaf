"""What is compared of a result of one of torch's samples: the same code looks at both libraries'."""

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.parity.support import opinfo
from tests.parity.support.programs import every_warning

# How far two libraries' results may be apart, relative to the largest number of the result.
TOLERANCES = {
    "float16": 4e-3,
    "bfloat16": 3e-2,
    "float32": 2e-4,
    "float64": 1e-7,
    "complex64": 2e-4,
    "complex128": 1e-7,
}
# Results below this are what is left when larger numbers cancel.
_SMALLEST = 1e-2
_NEUTRAL = (
    (re.compile(r"0x[0-9a-f]+"), "@"),
    (re.compile(r" \(Triggered internally at .*\)$", re.DOTALL), ""),
    (re.compile(r"\bmindtorch\b"), "torch"),
    # Which class of a family has the constructor, and where it is.
    (re.compile(r"\btorch\.nn\.modules\.\w+\."), ""),
    (re.compile(r"\w+\.__init__\(\)"), "__init__()"),
    # Optimizers write to complex parameters as such or through a view of their real and imaginary parts.
    (re.compile(r"a view of a leaf Variable"), "a leaf Variable"),
)

# Parts of texts about what torch does not do, though it could be done.
_NOT_YET = (
    "not implemented",
    "does not support automatic differentiation",
    "Trying to use forward AD with",
    "we do not yet support",
    "not yet have a batching rule",
)


def tensors(value: Any, T: Any) -> Iterator[Any]:
    """The tensors in nested tuples, lists and dicts, each once."""
    found = {id(each): each for each in _tensors(value, T)}
    return iter(found.values())


def _tensors(value: Any, T: Any) -> Iterator[Any]:
    if isinstance(value, T.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _tensors(each, T)
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()), T)


@dataclass(frozen=True, slots=True)
class Shown:
    """A tensor: what it is like, and its numbers."""

    dtype: str
    shape: tuple
    strides: tuple
    requires_grad: bool
    numbers: Any


def visible(value: Any, T: Any) -> Any:
    """A result with its tensors as `Shown`, for they outlive neither the check nor the dual level."""
    if isinstance(value, T.Tensor):
        return _shown(value, T)
    if isinstance(value, (list, tuple)):
        return [visible(each, T) for each in value]
    if isinstance(value, dict):
        return [[neutral(str(key)), visible(each, T)] for key, each in value.items()]
    if isinstance(value, (bool, int, float, Shown)) or value is None:
        return value
    return neutral(str(value))


def values_only(value: Any) -> Any:
    """Without what the place of a batch dimension in memory decides."""
    if isinstance(value, Shown):
        return replace(value, strides=(), requires_grad=False)
    return [values_only(each) for each in value] if isinstance(value, list) else value


def without_strides(value: Any) -> Any:
    """Without the order of elements in memory."""
    if isinstance(value, Shown):
        return replace(value, strides=())
    return [without_strides(each) for each in value] if isinstance(value, list) else value


def _shown(tensor: Any, T: Any) -> Any:
    plain = tensor.detach()
    if plain.layout is not T.strided:
        plain = plain.to_dense()
    numbers = plain.to(T.complex128).resolve_conj().numpy().copy()
    shape = tuple(tensor.shape)
    strides = tuple(plain.stride()) if plain.numel() else ()
    kept = tuple(stride for stride, length in zip(strides, shape) if length != 1)
    return Shown(str(tensor.dtype).removeprefix("mind"), shape, kept, tensor.requires_grad, numbers)


def attempt(T: Any, function: Callable, *args: Any) -> Any:
    """What a call returns, or its error as text."""
    try:
        return visible(function(*args), T)
    except opinfo.NoCounterpart:
        raise
    except Exception as error:  # noqa: BLE001  (whatever torch raises is compared)
        return f"{type(error).__name__}: {neutral(str(error))}"


def neutral(text: str) -> str:
    for pattern, replacement in _NEUTRAL:
        text = pattern.sub(replacement, text)
    return text


def is_more(own: Any, other: Any) -> bool:
    """Whether mindtorch has an answer where torch says that it has not got one yet."""
    if isinstance(own, list) and isinstance(other, list):
        return any(map(is_more, own, other))
    return isinstance(other, str) and not isinstance(own, str) and any(text in other for text in _NOT_YET)


def outcome(T: Any, function: Callable, *args: Any) -> Any:
    """The same without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return attempt(T, function, *args)


def outcome_and_warnings(T: Any, function: Callable, *args: Any) -> list:
    """The same, and its warnings, also those that come once in a program."""
    with warnings.catch_warnings(record=True) as caught, every_warning(T):
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", message=".*oneDNN")  # what computes it
        result = attempt(T, function, *args)
    return [result, [f"{each.category.__name__}: {neutral(str(each.message))}" for each in caught]]


def difference(own: Any, other: Any, tolerance: float = 0.0, place: str = "") -> str | None:
    """Where two outcomes differ first, and how; `tolerance` is for results that are less exact than their dtype."""
    if isinstance(own, Shown) and isinstance(other, Shown):
        return _difference_of_tensors(own, other, tolerance, place)
    if isinstance(own, list) and isinstance(other, list) and len(own) == len(other):
        found = (difference(*each, tolerance, f"{place}[{n}]") for n, each in enumerate(zip(own, other, strict=True)))
        return next(filter(None, found), None)
    if own == other or _close(own, other):
        return None
    return f"{place}: {_brief(own)}, torch {_brief(other)}"


def _close(own: Any, other: Any) -> bool:
    """Whether two numbers differ by rounding only."""
    both_floats = type(own) is float and type(other) is float
    return both_floats and bool(np.isclose(own, other, rtol=1e-5, atol=1e-7, equal_nan=True))


def _difference_of_tensors(own: Shown, other: Shown, tolerance: float, place: str) -> str | None:
    for fact in ("dtype", "shape", "strides", "requires_grad"):
        if getattr(own, fact) != getattr(other, fact):
            return f"{place}: {fact} {getattr(own, fact)}, torch {getattr(other, fact)}"
    tolerance = max(tolerance, TOLERANCES.get(other.dtype.removeprefix("torch."), 0.0))
    if np.allclose(own.numbers, other.numbers, rtol=tolerance, atol=tolerance * _largest(other), equal_nan=True):
        return None
    return f"{place}: values {_brief(own)}, torch {_brief(other)}"


def movement(value: Any, other: Any) -> float:
    """The largest distance of the numbers of two outcomes of one call, relative to the largest number of each."""
    if isinstance(value, Shown) and isinstance(other, Shown) and value.shape == other.shape:
        same = (value.numbers == other.numbers) | (np.isnan(value.numbers) & np.isnan(other.numbers))
        with np.errstate(invalid="ignore"):
            distances = np.where(same, 0.0, np.abs(value.numbers - other.numbers))
        return float(np.nan_to_num(distances, nan=np.inf).max(initial=0.0)) / _largest(value)
    if isinstance(value, list) and isinstance(other, list):
        return max(map(movement, value, other), default=0.0)
    return 0.0


def is_as_near(truth: Any, own: Any, other: Any, step: float = 0.0) -> bool:
    """Whether an outcome is about as near as torch's to what torch computes more exactly, which is not far.

    `step` is that of the dtype between neighbouring numbers, which is always near.
    """
    distance = movement(truth, other)
    return distance < _FAR and movement(truth, own) <= max(2 * distance, step)


_FAR = 0.5  # relative to the largest number: what is further off has been computed of something else


def _largest(value: Shown) -> float:
    finite = value.numbers[np.isfinite(value.numbers)]
    return float(np.abs(finite).max(initial=_SMALLEST))


def _brief(value: Any) -> str:
    if isinstance(value, Shown):
        numbers = np.array2string(value.numbers, precision=5, threshold=8).replace("\n", "")
        return f"{value.dtype}{list(value.shape)} {numbers[:160]}"
    if isinstance(value, list):
        return f"[{', '.join(map(_brief, value))}]"
    return str(value)[:400]
