"""Calls with a value of another kind for one argument, in each form that a program may write them in.

A sample of an op is called as a function and as a method; each of its arguments, and each that it leaves out, is given
every kind of value, by position and by keyword. PyTorch decides whether that is a call, of which overload, and what it
gives.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from types import SimpleNamespace
from typing import Any

import numpy as np

from codegen.model import Op
from tests.harness import arguments_of, dtypes_of, model, samples_of
from tests.samples import TensorSpec

# Values by what they are, each made for a library.
KINDS: dict[str, Callable[[Any], Any]] = {
    "1": lambda T: 1,
    "1.5": lambda T: 1.5,
    "1j": lambda T: 1j,
    "True": lambda T: True,
    "None": lambda T: None,
    "'a'": lambda T: "a",
    "tensor(1)": lambda T: T.tensor(1),
    "tensor(1.5)": lambda T: T.tensor(1.5),
    "tensor(True)": lambda T: T.tensor(True),
    "tensor(1.5, requires_grad)": lambda T: T.tensor(1.5, requires_grad=True),
    "tensor([1])": lambda T: T.tensor([1]),
    "[]": lambda T: [],
    "[1]": lambda T: [1],
    "(1,)": lambda T: (1,),
    "(0, 1)": lambda T: (0, 1),
    "Size([1])": lambda T: T.Size([1]),
    "[1.5]": lambda T: [1.5],
    "[True]": lambda T: [True],
    "['a']": lambda T: ["a"],
    "[None]": lambda T: [None],
    "[1, 1.5]": lambda T: [1, 1.5],
    "[tensor(1)]": lambda T: [T.tensor(1)],
    "(tensor([1.5]),)": lambda T: (T.tensor([1.5]),),
    "np.int64(1)": lambda T: np.int64(1),
    "np.float64(1.5)": lambda T: np.float64(1.5),
    "np.bool_(True)": lambda T: np.bool_(True),
    "np.array(1)": lambda T: np.array(1),
    "np.array([1])": lambda T: np.array([1]),
    "range(1, 2)": lambda T: range(1, 2),
    "a generator": lambda T: (number for number in (1,)),
    "Generator()": lambda T: T.Generator(),
    "int32": lambda T: T.int32,
    "float": lambda T: float,
    "strided": lambda T: T.strided,
    "'cpu'": lambda T: "cpu",
    "device('cpu')": lambda T: T.device("cpu"),
    "'sum'": lambda T: "sum",
    "object()": lambda T: SimpleNamespace(),
}

# Those that keywords and methods are given, whose conversions are the same.
_FEW = (
    *("1", "1.5", "True", "None", "'a'", "tensor(1)", "tensor([1])", "[1]", "(0, 1)", "[1.5]", "np.int64(1)"),
    *("np.array(1)", "int32"),
)


@dataclass(frozen=True)
class Call:
    """A call of a function, or of a method of its first argument, with specs in the place of tensors.

    `place`: the number or the keyword of the argument that is of another kind.
    """

    path: str
    is_method: bool
    args: tuple
    kwargs: dict[str, Any]
    place: int | str
    kind: str

    def __str__(self) -> str:
        return f"{'method' if self.is_method else 'function'} {self.path}, {self.place!r}: {self.kind}"

    def run(self, T: Any) -> Any:
        """Make the call with library T."""
        args, kwargs = arguments_of(T, list(self.args)), arguments_of(T, self.kwargs)
        value = KINDS[self.kind](T)
        if isinstance(self.place, str):
            kwargs[self.place] = value
        else:
            args[self.place : self.place + 1] = [value]
        return _found(T, self.path, self.is_method)(*args, **kwargs)


def _found(T: Any, path: str, is_method: bool) -> Any:
    found = T.Tensor if is_method else T
    for name in path.split("."):
        found = getattr(found, name)
    return found


def _dtype(op: Op) -> str:
    return next((dtype for dtype in ("float32", "int64") if dtype in dtypes_of(op)), dtypes_of(op)[0])


def _fullest(op: Op) -> Any:
    """The sample with the most arguments."""
    found = list(islice(samples_of(op, _dtype(op)), 12))
    return max(found, key=lambda sample: len(sample.args) + len(sample.kwargs), default=None)


def function_path(T: Any, op: Op) -> str | None:
    """Where users of a library find the function of an op."""
    name = op.schema.name
    for place in ("", "linalg.", "special.", "fft.", "nn.functional."):
        short = name.removeprefix(place.replace(".", "_")) if place != "nn.functional." else name
        if (short != name or place in ("", "nn.functional.")) and _has(T, place + short):
            return place + short
    return None


def _has(T: Any, path: str) -> bool:
    for name in path.split("."):
        T = getattr(T, name, None)
    return T is not None


def calls(op: Op, T: Any) -> Iterator[Call]:
    """The calls of one overload, of which library T has the function or the method."""
    sample = _fullest(op)
    if sample is None:
        return
    positional = [argument.name for argument in op.schema.positional]
    keywords = [argument.name for argument in op.schema.kwarg_only if not argument.is_written]
    args = sample.args[: len(positional)]
    path = function_path(T, op) if op.kind == "functional" else None
    if path is not None:
        shown = ["input" if name == "self" else name for name in positional]
        yield from _forms(path, False, args, sample.kwargs, shown, keywords)
    is_method = positional[:1] == ["self"] and args and isinstance(args[0], TensorSpec)
    if is_method and hasattr(T.Tensor, op.schema.name):
        yield from _forms(op.schema.name, True, args, sample.kwargs, positional, keywords)


def _forms(path: str, is_method: bool, args: tuple, kwargs: dict, positional: list, keywords: list) -> Iterator[Call]:
    for place in range(int(is_method), min(len(args) + 1, len(positional))):
        for kind in _FEW if is_method else KINDS:
            yield Call(path, is_method, args, kwargs, place, kind)
        rest = dict(zip(positional[place + 1 :], args[place + 1 :]))  # it has to be given by keyword, too
        for kind in _FEW:
            yield Call(path, is_method, args[:place], {**kwargs, **rest}, positional[place], kind)
    for name in keywords:
        for kind in _FEW if is_method else KINDS:
            yield Call(path, is_method, args, {k: v for k, v in kwargs.items() if k != name}, name, kind)


def ops_of(name: str) -> list[Op]:
    """The op and its in-place variant."""
    table = model()
    op = table.ops[name]
    return [each for each in (op, table.variant(op, "inplace")) if each]
