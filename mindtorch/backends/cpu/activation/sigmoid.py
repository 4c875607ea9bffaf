"""Kernels of the logistic function and its backward."""

import numpy as np

from mindtorch._core.promotion import COMPLEX, int_to_float
from mindtorch.backends.cpu.common import activations
from mindtorch.backends.cpu.common.computing import FLOATS, Op, compute, loops
from mindtorch.backends.cpu.common.elementwise import unary
from mindtorch.backends.cpu.common.unsupported_dtypes import (
    INTEGRAL_OR_BOOL,
    not_implemented,
)
from mindtorch.backends.cpu.compiled.choice import compiled

Array = np.ndarray
_FLOAT_OR_COMPLEX = (*FLOATS, *COMPLEX)


# -------------------- functions of real and complex numbers --------------------
sigmoid = unary(
    Op(
        compiled("sigmoid", loops(activations.sigmoid, FLOATS) | loops(activations.sigmoid_of_complex, COMPLEX)),
        int_to_float,
    )
)
_SIGMOID_BACKWARD = Op(
    compiled("sigmoid_backward", loops(activations.sigmoid_backward, _FLOAT_OR_COMPLEX)),
    unsupported=not_implemented("sigmoid_backward_cpu", *INTEGRAL_OR_BOOL),
)


def sigmoid_backward(grad_output: Array, output: Array, out: Array | None = None) -> Array:
    return compute(_SIGMOID_BACKWARD, (grad_output, output), out)
