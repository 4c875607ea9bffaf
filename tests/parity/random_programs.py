"""Random programs: statements on a handful of tensors, written as text so that a failing one can be read and shrunk.

A statement is chosen by looking at torch's tensors as they are after the statements before it, so that most are legal
and a few are not. `Program` is the list of statements; `python -m tests.parity.random_programs FIRST COUNT` prints the
programs whose runs differ, shrunk.
"""

import random
from collections.abc import Callable
from typing import Any

import torch

from tests.harness import LAYOUTS

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
          "complex64", "complex128")  # fmt: skip
COMMON_DTYPES = ("float32",) * 8 + ("float64",) * 4
SHAPES = [(), (3,), (2, 3), (1, 3), (3, 1), (2, 3, 4), (0,), (2, 0), (4, 4), (1,), (3, 2), (2, 1, 3)]

UNARY = (
    "neg abs exp sin cos tanh sigmoid relu square sqrt rsqrt log log1p expm1 reciprocal sign floor ceil round trunc "
    "erf atan sgn frac positive logical_not bitwise_not angle real imag conj isnan isfinite signbit clone"
).split()
UNARY_IN_PLACE = (
    "neg_ abs_ exp_ sin_ cos_ tanh_ sigmoid_ relu_ square_ sqrt_ floor_ round_ zero_ reciprocal_ sign_ log_ trunc_ "
    "logical_not_ bitwise_not_ erf_ expm1_"
).split()
BINARY = (
    "add sub mul div maximum minimum atan2 fmod remainder floor_divide eq ne lt le gt ge logical_and logical_or "
    "logical_xor bitwise_and bitwise_or bitwise_xor hypot copysign fmax fmin pow"
).split()
BINARY_IN_PLACE = (
    "add_ sub_ mul_ div_ copy_ eq_ gt_ le_ logical_and_ bitwise_or_ fmod_ remainder_ floor_divide_ atan2_ copysign_"
).split()
REDUCTIONS = (
    "sum mean prod amax amin any all argmax argmin max min std var logsumexp cumsum cumprod softmax log_softmax norm "
    "median count_nonzero nansum sort flip cummax"
).split()
NUMBERS = ("2", "-1", "0.5", "3.0", "0", "True", "1", "-2.5", "(1+2j)")
MODES = ("T.no_grad()", "T.inference_mode()", "T.enable_grad()", "T.set_grad_enabled(False)")


class Env(dict):
    """The names that a program sees in one library: the library, `make`, and the tensors made so far."""

    def __init__(self, T: Any):
        super().__init__(T=T, make=lambda *spec: make(T, *spec), calls=[])
        self.T = T

    def tensors(self) -> dict[str, Any]:
        return {name: value for name, value in self.items() if name[0] == "t" and isinstance(value, self.T.Tensor)}


def make(T: Any, shape: tuple[int, ...], dtype: str, layout: str, seed: int, requires_grad: bool) -> Any:
    """A tensor of small numbers, the same in both libraries."""
    import numpy as np

    numbers = np.random.RandomState(seed)
    data = numbers.randint(-6, 7, size=shape) / 2
    if dtype == "bool":
        data = data > 0
    elif "int" in dtype:
        data = np.abs(data) if dtype == "uint8" else np.trunc(data)
    elif "complex" in dtype:
        data = data + 1j * numbers.randint(-6, 7, size=shape) / 2
    tensor = LAYOUTS[layout](T, np.asarray(data), dtype).detach()
    return tensor.requires_grad_() if requires_grad else tensor
