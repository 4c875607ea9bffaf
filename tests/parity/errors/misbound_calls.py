"""Wrong calls of all public functions and methods, of the table and by hand: arguments that are missing, too many,
unknown, given twice, or of another type.

A right call is made up of the parameters that the library shows, and tried with PyTorch until it takes one.
"""

from collections.abc import Iterator
from inspect import Parameter, signature
from itertools import islice, product
from keyword import iskeyword
from typing import Any, NamedTuple

import numpy as np
import torch

import mindtorch

MODULES = ("torch", "torch.linalg", "torch.fft", "torch.special", "torch.nn.functional")

# By what a parameter may be; the first that PyTorch takes is used.
GUESSES = ("x", "1", "(1,)", "0.5", "'sum'", "[x, x]", "torch.float32", "xi", "True", "b")
WRONG = ("None", "'a'", "1.5", "3", "0", "[x]", "[1.5]", "x", "True", "obj", "1j", "torch.float32", "array")
SURPLUS = 12

_BY_POSITION = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_BY_NAME = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)

# What changes the process, ends it, needs a device or a file, or never returns.
LEFT_OUT = ("set_", "_", "save", "load", "compile", "import_", "init_", "fork", "seed", "initial_seed", "manual_seed")


class Call(NamedTuple):
    """`kind`: what is wrong with it."""

    function: str
    kind: str
    text: str


def names(T: Any) -> dict[str, Any]:
    """What the text of a call refers to."""
    return {
        "torch": T,
        "x": T.ones(2, 2),
        "xi": T.tensor([[1, 0], [0, 1]]),
        "b": T.tensor([[True, False], [False, True]]),
        "obj": object(),
        "array": np.ones(2),
    }


def functions() -> Iterator[str]:
    """Everything that both libraries have."""
    for module in MODULES:
        peer, own = (eval(module, {"torch": T}) for T in (torch, mindtorch))
        for name in sorted(set(dir(peer)) & set(dir(own))):
            if _is_function(getattr(peer, name)) and not name.startswith(LEFT_OUT):
                yield f"{module}.{name}"
    for name in sorted(set(dir(torch.Tensor)) & set(dir(mindtorch.Tensor))):
        if callable(getattr(torch.Tensor, name)) and not name.startswith(LEFT_OUT):
            yield f"x.{name}"


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, type)


def parameters_of(function: str) -> list[Parameter] | None:
    found = eval(function, names(mindtorch))
    try:
        return list(signature(found).parameters.values())
    except (TypeError, ValueError):
        return None


def _right_call(function: str, needed: list[str]) -> list[str] | None:
    """Arguments for what is required, which PyTorch takes."""
    peer = names(torch)
    for values in islice(product(GUESSES, repeat=len(needed)), 400):
        try:
            eval(f"{function}({', '.join(values)})", dict(peer))
        except Exception:  # noqa: BLE001  (the next guess may do)
            continue
        return list(values)
    return None


def calls(function: str) -> Iterator[Call]:
    """All wrong calls of a function."""
    parameters = parameters_of(function)
    if parameters is None:
        return
    positional = [each for each in parameters if each.kind in _BY_POSITION]
    needed = [each.name for each in positional if each.default is Parameter.empty]
    right = _right_call(function, needed)
    yield from _without_right_arguments(function)
    if right is None:
        return
    written = ", ".join(right)
    more = f"{written}, " if written else ""
    for count in range(1, len(needed)):
        yield Call(function, "missing", f"{function}({', '.join(right[:count])})")
    yield Call(function, "surplus", f"{function}({more}{', '.join(['None'] * SURPLUS)})")
    yield Call(function, "surplus", f"{function}({more}{', '.join(['x'] * (len(positional) - len(needed) + 1))})")
    yield Call(function, "unknown", f"{function}({more}foo=1)")
    if needed and not iskeyword(needed[0]):
        yield Call(function, "twice", f"{function}({written}, {needed[0]}={right[0]})")
    for place, wrong in product(range(len(needed)), WRONG):
        values = ", ".join([*right[:place], wrong, *right[place + 1 :]])
        yield Call(function, "type", f"{function}({values})")
    options = [each.name for each in parameters if each.kind in _BY_NAME and each.name not in needed]
    for name, wrong in product(options, WRONG):
        yield Call(function, "option", f"{function}({more}{name}={wrong})")


def _without_right_arguments(function: str) -> Iterator[Call]:
    yield Call(function, "missing", f"{function}()")
    yield Call(function, "surplus", f"{function}({', '.join(['x'] * SURPLUS)})")
    yield Call(function, "unknown", f"{function}(foo=1)")
