"""How an iterator comes about, step by step, in torch's order: which of several errors is raised depends on it.

The operands are marked and checked, the shape, the device and the dtype of the computation are found, and the
dimensions brought into the order of memory; outputs that are missing are made in that order.
"""

from dataclasses import dataclass

import numpy as np

from mindtorch import geometry
from mindtorch.iterator import layout
from mindtorch.iterator.checks import check_devices, check_result_dtype, check_same_dtype, needs_resize
from mindtorch.iterator.memory import allocate, converted
from mindtorch.iterator.operand import Operand
from mindtorch.iterator.overlap import check_overlap
from mindtorch.iterator.shapes import Shape, broadcast_shapes, check_inplace_shape
from mindtorch.iterator.tensor_iterator import TensorIterator
from mindtorch.promotion import common_dtype, float_of


@dataclass(slots=True)
class Options:
    """What `TensorIteratorConfig` was told."""

    same_dtype: bool = True
    same_device: bool = True
    cpu_scalars: bool = False
    promote_inputs: bool = False
    integers_to_float: bool = False
    cast_outputs: bool = False
    safe_casting: bool = False
    resize_outputs: bool = True
    check_overlap: bool = True
    is_reduction: bool = False
    static_shape: Shape | None = None
    static_dtype: np.dtype | None = None


def build(operands: list[Operand], options: Options) -> TensorIterator:
    """The iterator over these operands, outputs first."""
    result = TensorIterator(operands, is_reduction=options.is_reduction)
    _mark_outputs(result)
    if options.check_overlap:
        _check_memory(result)
    result.shape = _shape_of(result, options)
    if options.static_shape is None:
        _mark_resized(result, options)
    _set_dtypes(result, options)
    if not _set_up_fast(result, options):
        _set_strides(result, options)
        _reorder(result)
        _make_outputs(result)
        result.coalesce_dimensions()
    return result


# -------------------- operands --------------------


def _mark_outputs(result: TensorIterator) -> None:
    """An output that is the same array as an input is read and written, so it cannot be resized."""
    for output in result.outputs:
        output.is_read_write = output.array is not None and any(each.array is output.array for each in result.inputs)


def _check_memory(result: TensorIterator) -> None:
    inputs = [operand.array for operand in result.inputs]
    for output in result.outputs:
        if output.array is not None:
            check_overlap(output.array, inputs)


# -------------------- shape --------------------


def _shape_of(result: TensorIterator, options: Options) -> Shape:
    """The shape that the operands have in common; outputs that may be resized have no say."""
    if options.static_shape is not None:
        return options.static_shape
    counted = result.inputs if options.resize_outputs else result.operands
    shapes = [operand.array.shape for operand in counted if operand.array is not None]
    return broadcast_shapes(*shapes) if shapes else ()


def _mark_resized(result: TensorIterator, options: Options) -> None:
    for output in result.outputs:
        if output.array is None or output.array.shape == result.shape:
            continue
        if options.resize_outputs and not output.is_read_write:
            output.will_resize = True
        elif not options.is_reduction:
            check_inplace_shape(output.array, result.shape)


# -------------------- device and dtype --------------------


def _set_dtypes(result: TensorIterator, options: Options) -> None:
    present = [operand for operand in result.operands if operand.array is not None]
    if options.same_dtype:
        for operand in present:
            check_same_dtype(operand.array.dtype, _first_dtype(result))
    result.common_dtype = _common_dtype(result, options)
    arrays = [operand.array for operand in present if operand.number is None]
    if options.same_device and arrays:
        check_devices(arrays, options.cpu_scalars)
    for output in result.outputs:
        _set_output_dtype(output, result.common_dtype, options)
    if all(isinstance(array, np.ndarray) for array in arrays):
        _make_temporaries(result, options)


def _first_dtype(result: TensorIterator) -> np.dtype:
    """The dtype that all operands must have: that of the first input, without inputs that of the first output."""
    return next(each.array.dtype for each in (*result.inputs, *result.outputs) if each.array is not None)


def _common_dtype(result: TensorIterator, options: Options) -> np.dtype | None:
    """The dtype of the computation; None if the inputs have several and are not promoted."""
    if not result.inputs:
        return None
    if options.promote_inputs:
        dtype = common_dtype(*[operand.value for operand in result.inputs])
        return float_of(dtype) if options.integers_to_float else dtype
    dtypes = {operand.array.dtype for operand in result.inputs}
    return dtypes.pop() if len(dtypes) == 1 else None


def _set_output_dtype(output: Operand, common: np.dtype | None, options: Options) -> None:
    if output.array is None:
        output.dtype = options.static_dtype or common
        if output.dtype is None:
            raise ValueError(
                "the dtype of an output is not known: give the output, declare_static_dtype() or, with inputs of "
                "several dtypes, promote_inputs_to_common_dtype()"
            )
    elif options.safe_casting and common is not None:
        check_result_dtype(common, output.array.dtype)


def _make_temporaries(result: TensorIterator, options: Options) -> None:
    """Arrays of the common dtype take the place of those of another one, on the CPU."""
    common = result.common_dtype
    if common is None:
        return
    if options.cast_outputs:
        for output in result.outputs:
            if output.array is not None and output.dtype != common:
                output.original, output.dtype = output.array, common
                output.array = np.empty(output.array.shape, common)
    if options.promote_inputs:
        for operand in result.inputs:
            if operand.dtype != common:
                operand.array, operand.dtype = _promoted(operand, common), common


def _promoted(operand: Operand, dtype: np.dtype) -> np.ndarray:
    """Numbers are converted without a round trip through the dtype that they would have alone."""
    return converted(operand.array, dtype) if operand.number is None else np.asarray(operand.number).astype(dtype)


# -------------------- strides and order --------------------


def _set_up_fast(result: TensorIterator, options: Options) -> bool:
    """Whether the operands lie in memory alike, so that they are walked as one dimension without another look."""
    settled = [operand.array for operand in result.operands if operand.is_settled]
    if options.is_reduction or options.static_shape is not None:
        return False
    if any(array.shape != result.shape for array in settled):
        return False
    strides = layout.common_strides(result.shape, [geometry.strides_of(array) for array in settled])
    if strides is None:
        return False
    for output in result.outputs:
        if not output.is_settled:
            _make(output, result, strides)
    result.shape = (result.numel,) if result.shape else ()
    for operand in result.operands:
        operand.strides = (operand.array.itemsize,) if result.shape else ()
    return True


def _set_strides(result: TensorIterator, options: Options) -> None:
    for operand in result.operands:
        if operand.is_settled:
            array = operand.array
            own = array.shape if options.static_shape is None else result.shape
            expanded = layout.expanded_strides(result.shape, own, geometry.strides_of(array))
            operand.strides = tuple([stride * array.itemsize for stride in expanded])


def _reorder(result: TensorIterator) -> None:
    settled = [operand for operand in result.operands if operand.is_settled]
    perm = layout.iteration_order(result.shape, [operand.strides for operand in settled], _reduced_dims(result))
    result.perm = perm
    result.shape = tuple([result.shape[dim] for dim in perm])
    for operand in settled:
        operand.strides = tuple([operand.strides[dim] for dim in perm])


def _reduced_dims(result: TensorIterator) -> set[int]:
    """The dimensions that a reduction's outputs do not have; the caller has given them strides of 0."""
    if not result.is_reduction or not result.outputs[0].is_settled:
        return set()
    return {dim for dim, stride in enumerate(result.outputs[0].strides) if stride == 0}


# -------------------- outputs --------------------


def _make_outputs(result: TensorIterator) -> None:
    """New outputs in the order of memory that the operands are walked in."""
    perm = result.perm or []
    shape = tuple([size for _, size in sorted(zip(perm, result.shape, strict=True))])
    for output in result.outputs:
        if not output.is_settled:
            strides = layout.strides_of_order(shape, perm)
            _make(output, result, strides, shape)
            in_order = range(result.ndim)
            output.strides = geometry.strides_in_order(result.shape, in_order, output.array.itemsize)


def _make(output: Operand, result: TensorIterator, strides: Shape, shape: Shape | None = None) -> None:
    """A new array for an output that is missing or has another shape than the result."""
    shape = result.shape if shape is None else shape
    given = output.array if output.original is None else output.original
    if given is not None:
        needs_resize(given, shape)
    assert output.dtype is not None, "dtypes are set before outputs are made"
    output.array = allocate(_example(result), shape, strides, output.dtype)
    output.will_resize = False


def _example(result: TensorIterator) -> np.ndarray | None:
    """An array on the device of the computation: CPU scalars go with any other."""
    arrays = [operand.array for operand in result.operands if operand.array is not None]
    return next((array for array in arrays if not isinstance(array, np.ndarray)), arrays[0] if arrays else None)
