"""`Plan`: what follows from the dtypes, shapes and strides of operands, whatever memory they lie in.

The steps are in torch's order: which of several errors is raised depends on it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from mindtorch._core import geometry
from mindtorch.iterator import layout
from mindtorch.iterator.checks import check_devices, check_result_dtype, check_same_dtype
from mindtorch.iterator.options import Options
from mindtorch.iterator.shapes import Shape, broadcast_shapes, check_inplace_shape

NumpyDtype = np.dtype[Any]
Arrays = Sequence[Any]

NUMBER = np.empty(())  # stands for a Python number: an operand without dimensions


@dataclass(frozen=True, slots=True)
class NewArray:
    """An output that is to be made; strides in elements, None stands for row-major."""

    strides: Shape | None
    dtype: NumpyDtype


@dataclass(frozen=True, slots=True)
class Plan:
    """The shape and the dtype of the computation, None if inputs of several dtypes are taken as they are.

    `result_dtype` is that of the results, before they are converted to the dtypes of outputs. `made` has an entry per
    output: None if the caller's is right as it is. `is_uniform`: the inputs are arrays that need no conversion.
    `only_numpy`: no array is of another backend.
    """

    shape: Shape
    numel: int
    dtype: NumpyDtype | None
    result_dtype: NumpyDtype | None
    made: tuple[NewArray | None, ...]
    is_uniform: bool
    only_numpy: bool


def make_plan(outputs: Arrays, inputs: Arrays, options: Options) -> Plan:
    """The plan for these operands. An output that is None is to be made."""
    operands = _operands_of(inputs, options)
    shape = _shape_of(outputs, operands, options)
    resized = [output is None or _is_resized(output, inputs, shape, options) for output in outputs]
    dtype = _common_dtype(outputs, inputs, options)
    arrays = [each for each in (*outputs, *inputs) if hasattr(each, "dtype")]
    only_numpy = all(isinstance(each, np.ndarray) for each in arrays)
    if options.same_device and not only_numpy:
        check_devices(arrays, options.cpu_scalars)
    result_dtype = _result_dtype(dtype, options)
    dtypes = [_output_dtype(output, result_dtype, options) for output in outputs]
    kept = [output for output, is_new in zip(outputs, resized, strict=True) if not is_new]
    strides = _new_strides(shape, kept, operands, dtype, options) if any(resized) else None
    made = [NewArray(strides, own) if is_new else None for own, is_new in zip(dtypes, resized, strict=True)]
    is_uniform = options.promotion is None or all(hasattr(each, "dtype") and each.dtype == dtype for each in inputs)
    return Plan(shape, prod(shape), dtype, result_dtype, tuple(made), is_uniform, only_numpy)


def _operands_of(inputs: Arrays, options: Options) -> list[Any]:
    """What is broadcast."""
    if options.plain_numbers:
        return [each for each in inputs if hasattr(each, "ndim")]
    return [each if hasattr(each, "ndim") else NUMBER for each in inputs]


# -------------------- shape --------------------


def _shape_of(outputs: Arrays, operands: Arrays, options: Options) -> Shape:
    """The shape that the operands have in common; outputs that may be resized have no say."""
    if options.static_shape is not None:
        return options.static_shape
    counted = operands if options.resize_outputs else [*outputs, *operands]
    shapes = [each.shape for each in counted if each is not None]
    return broadcast_shapes(*shapes) if shapes else ()


def _is_resized(output: Any, inputs: Arrays, shape: Shape, options: Options) -> bool:
    """Whether an output gives way to a new one. One that is an input, too, cannot."""
    if output.shape == shape or options.static_shape is not None:
        return False
    if options.resize_outputs and not any(each is output for each in inputs):
        return True
    if not options.is_reduction:
        check_inplace_shape(output, shape)
    return False


# -------------------- dtype and device --------------------


def _common_dtype(outputs: Arrays, inputs: Arrays, options: Options) -> NumpyDtype | None:
    """The dtype of the computation."""
    arrays = [each for each in (*inputs, *outputs) if hasattr(each, "dtype")]
    if options.same_dtype:
        for each in arrays:
            check_same_dtype(each.dtype, arrays[0].dtype)
    if options.promotion is not None and inputs:
        return options.promotion(*inputs)
    dtypes = {each.dtype for each in inputs if hasattr(each, "dtype")}
    return dtypes.pop() if len(dtypes) == 1 else None


def _result_dtype(common: NumpyDtype | None, options: Options) -> NumpyDtype | None:
    if options.static_dtype is not None or common is None:
        return options.static_dtype
    return options.result_dtype(common) if options.result_dtype else common


def _output_dtype(output: Any, result: NumpyDtype | None, options: Options) -> NumpyDtype:
    """The dtype that an output has, or is made with."""
    if output is None:
        if result is None:
            raise ValueError(
                "the dtype of an output is not known: give the output, declare_static_dtype() or, with inputs of "
                "several dtypes, promote_inputs_to_common_dtype()"
            )
        return result
    if options.same_dtype_out and result is not None:
        check_same_dtype(output.dtype, result)
    if options.safe_casting and result is not None:
        check_result_dtype(result, output.dtype)
    return output.dtype


# -------------------- strides --------------------


def _new_strides(
    shape: Shape, kept: Arrays, operands: Arrays, dtype: NumpyDtype | None, options: Options
) -> Shape | None:
    """The strides of new outputs. An output in the place of a temporary array of another dtype counts as row-major."""
    casts = options.cast_outputs and dtype is not None
    outputs = [
        (each.shape, geometry.contiguous_strides(each.shape)) if casts and each.dtype != dtype else _own(each)
        for each in kept
    ]
    inputs = [layout.geometry_of(each, dtype) if options.promotion else _own(each) for each in operands]
    return layout.new_strides(shape, (*outputs, *inputs))


def _own(array: Any) -> layout.Geometry:
    return layout.geometry_of(array, None)
