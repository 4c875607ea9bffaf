"""Which dtypes torch's kernels do not support, and the text of each error."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mindtorch._core.dtype import FROM_NUMPY
from mindtorch._core.promotion import BOOL, COMPLEX, FLOATING, INTEGRAL
from mindtorch._support.op_names import base_of
from mindtorch.dispatch.registry import ops_with_kernel

INTEGRAL_OR_BOOL = (BOOL, *INTEGRAL)
ONLY_FLOATING = (*INTEGRAL_OR_BOOL, *COMPLEX)
ONLY_INTEGRAL = (*FLOATING, *COMPLEX)


@dataclass(frozen=True, slots=True)
class UnsupportedDtype:
    """The exception for a dtype, `{dtype}` in the text standing for its name.

    `early`: the op itself raises it, before it looks at `out`; otherwise it is the kernel that is missing in the end.
    """

    kind: type[Exception]
    text: str
    early: bool

    def __call__(self, dtype: np.dtype[Any]) -> Exception:
        return self.kind(self.text.replace("{dtype}", FROM_NUMPY[dtype].storage_name))


UnsupportedDtypes = dict[np.dtype[Any], UnsupportedDtype]


def not_implemented(kernel: str, *dtypes: np.dtype[Any]) -> UnsupportedDtypes:
    """The text of a kernel that is not compiled for a dtype."""
    unsupported = UnsupportedDtype(NotImplementedError, f"\"{kernel}\" not implemented for '{{dtype}}'", early=False)
    return dict.fromkeys(dtypes, unsupported)


def no_loop(op: object, dtype: np.dtype[Any]) -> Exception:
    """The error for a dtype for which an elementwise op has neither a computation nor a text of its own."""
    names = ops_with_kernel(np.ndarray, lambda kernel: getattr(kernel, "computes", None) is op)
    return not_implemented(base_of(names[0]) if names else "elementwise", dtype)[dtype](dtype)


def raising(kind: type[Exception], text: str, *dtypes: np.dtype[Any]) -> UnsupportedDtypes:
    """A text of the op's own."""
    return dict.fromkeys(dtypes, UnsupportedDtype(kind, text, early=True))


def without_complex(text: str) -> UnsupportedDtypes:
    """Complex tensors are not supported, with a text of the op's own."""
    return raising(RuntimeError, text, *COMPLEX)


def no_complex(op: str) -> UnsupportedDtypes:
    return raising(NotImplementedError, f"{op} is not supported for complex inputs", *COMPLEX)


_SUBTRACTION = "Subtraction, the `-` operator, with {} is not supported. "
_MASK_ADVICE = "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
TWO_BOOLS_SUBTRACTED = _SUBTRACTION.format("two bool tensors") + "Use the `^` or `logical_xor()` operator instead."
BOOL_SUBTRACTED = _SUBTRACTION.format("a bool tensor") + _MASK_ADVICE
BOOL_NEGATED = "Negation, the `-` operator, on a bool tensor is not supported. " + _MASK_ADVICE
INTEGER_ADDCDIV = (
    "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true "
    "division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * "
    "torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for "
    "float inputs. The future addcdiv behavior is just the latter implementation: (input + value * tensor1 / tensor2), "
    "for all dtypes."
)
