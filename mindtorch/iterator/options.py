"""`Options`: what an iterator checks, converts and makes for its operands."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindtorch.iterator.shapes import Shape

NumpyDtype = np.dtype[Any]


@dataclass(frozen=True, slots=True)
class Options:
    """How operands may differ, and what follows for the result.

    `promotion` gives the dtype of the computation from the inputs; without it they are taken as they are.
    `result_dtype` gives the dtype of new outputs from it. `cast_outputs`: outputs of another dtype get the result
    converted; `safe_casting`: unless theirs is of a lower kind. `same_dtype`: all operands have one dtype;
    `same_dtype_out`: outputs have that of the result. `plain_numbers`: a number is a parameter that only counts for the
    dtype, not an operand without dimensions. The rest is as in `TensorIteratorConfig`.
    """

    same_dtype: bool = True
    same_dtype_out: bool = False
    same_device: bool = True
    cpu_scalars: bool = False
    promotion: Callable[..., NumpyDtype] | None = None
    result_dtype: Callable[[NumpyDtype], NumpyDtype] | None = None
    static_dtype: NumpyDtype | None = None
    cast_outputs: bool = False
    safe_casting: bool = False
    plain_numbers: bool = False
    resize_outputs: bool = True
    check_overlap: bool = True
    is_reduction: bool = False
    static_shape: Shape | None = None
