"""How elementwise ops compute: `Op`, and `compute`, which runs one on an iterator.

An op has a computation, a *loop*, per dtype: a NumPy ufunc or a function of arrays of one dtype that takes `out`, too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from mindtorch._core.promotion import (
    BFLOAT16,
    BOOL,
    COMPLEX,
    DOUBLE,
    FLOAT,
    HALF,
    INTEGRAL,
    UNSIGNED,
    can_convert,
    common_dtype,
)
from mindtorch._support.float_errors import quiet
from mindtorch._support.numpy_functions import may_share_memory
from mindtorch.backends.cpu.common import halves
from mindtorch.backends.cpu.common.unsupported_dtypes import UnsupportedDtype, no_loop
from mindtorch.iterator import BLOCK, Builder, Options, Plan, TensorIterator, is_apart, is_at_hand, may_share, new_array
from mindtorch.iterator.constants import kept_constant

Array = np.ndarray
NumpyDtype = np.dtype[Any]
Loop = Callable[..., Array]

FLOATS = (FLOAT, DOUBLE)
NUMBERS = (*INTEGRAL, *FLOATS, *COMPLEX)
REAL_NUMBERS = (*INTEGRAL, *FLOATS)
ALL = (BOOL, *NUMBERS)
# With the wide unsigned integers, which few ops take.
ALL_AND_UNSIGNED = (*ALL, *UNSIGNED)
WHOLE_AND_UNSIGNED = (BOOL, *INTEGRAL, *UNSIGNED)


def loops(function: Loop, supported: Iterable[NumpyDtype] = ALL) -> dict[NumpyDtype, Loop]:
    """The same computation for all these dtypes."""
    return dict.fromkeys(supported, function)


def loops_of_truth(function: Loop, supported: Iterable[NumpyDtype] = ALL) -> dict[NumpyDtype, Loop]:
    """The same for a function that compares truth by bytes where NumPy repeats an operand.

    Any byte but 0 is true, as in a mask that is a view of bytes. NumPy sees to that element by element only.
    """

    def of_bools(a: Array, b: Array, out: Array | None = None) -> Array:
        if a.shape != b.shape or 0 in a.strides or 0 in b.strides:
            a, b = a.view(np.uint8) != 0, b.view(np.uint8) != 0
        return function(a, b) if out is None else function(a, b, out=out)

    return loops(function, supported) | loops(of_bools, (BOOL,))


@dataclass(frozen=True, slots=True)
class Op:
    """How an elementwise op computes.

    `loops` holds the computations by dtype, called with arrays and perhaps `out`. float16 and bfloat16 rarely have one:
    they are computed in float32 and rounded once. `compute_dtype` gives the dtype of the computation from the operands,
    `result_dtype` that of the result from it. `unsupported` holds the exceptions for unsupported dtypes;
    other dtypes without a computation have the text of `no_loop`.
    `exact_numbers`: with float16 and bfloat16 a number that is not the first operand is not rounded to the dtype first.
    `same_dtype_out`: `out` must have the dtype of the result, as it must for ops of one operand that don't promote.
    `plain_numbers`: a number is a parameter, and not an operand without dimensions that the others are broadcast with.
    `check_overlap`: refuse an `out` whose elements share memory, as nearly all ops do.
    """

    loops: Mapping[NumpyDtype, Loop]
    compute_dtype: Callable[..., NumpyDtype] = common_dtype
    result_dtype: Callable[[NumpyDtype], NumpyDtype] | None = None
    unsupported: Mapping[NumpyDtype, UnsupportedDtype] = field(default_factory=dict)
    exact_numbers: bool = False
    same_dtype_out: bool = False
    plain_numbers: bool = False
    check_overlap: bool = True
    result_dtypes: Mapping[NumpyDtype, NumpyDtype] = field(init=False)  # by the dtype of the computation
    fits_itself: frozenset[NumpyDtype] = field(init=False)  # dtypes to which results of another dtype are converted
    builders: tuple[Builder, Builder] = field(init=False)  # for several operands and for one
    rejects_early: bool = field(init=False)

    def __post_init__(self) -> None:
        results = {dtype: self.result_dtype(dtype) if self.result_dtype else dtype for dtype in self.loops}
        object.__setattr__(self, "result_dtypes", results)
        fitting = [] if self.same_dtype_out else [each for each in results if can_convert(results[each], each)]
        object.__setattr__(self, "fits_itself", frozenset(fitting))
        object.__setattr__(self, "builders", tuple([Builder(self._options(is_one)) for is_one in (False, True)]))
        object.__setattr__(self, "rejects_early", any(each.early for each in self.unsupported.values()))

    def _options(self, of_one_operand: bool) -> Options:
        keeps_dtype = of_one_operand and self.compute_dtype is common_dtype and self.result_dtype is None
        return Options(
            same_dtype=False,
            same_dtype_out=self.same_dtype_out or keeps_dtype,
            cpu_scalars=True,
            promotion=self.compute_dtype,
            result_dtype=self.result_dtype,
            cast_outputs=True,
            safe_casting=True,
            plain_numbers=self.plain_numbers,
            check_overlap=self.check_overlap,
        )


_WIDE = {HALF: FLOAT, BFLOAT16: FLOAT}
_MANY_HALVES = 1 << 19  # elements from which on a table of all results pays


# What computes an op of a dense array and one of another class, `mixed(op, dense, other, out)`, by that class.
MIXED: dict[type, Callable[..., Any]] = {}


def widened(dtype: NumpyDtype) -> NumpyDtype:
    """The dtype in which an op on arrays of `dtype` is computed."""
    return _WIDE.get(dtype, dtype)


def compute(op: Op, operands: tuple[Any, ...], out: Array | None = None, *params: Any) -> Array:
    """Runs an op on arrays and Python numbers; `params` are handed to the computation as they are."""
    if (arrays := _direct_operands(op, operands)) is not None:
        loop = op.loops[arrays[0].dtype]
        if out is None:
            result = quiet(loop, *arrays, *params)
            return result if type(result) is Array else np.asarray(result)
        if out is arrays[0] and op.result_dtype is None and is_apart(out, arrays[1:]):
            return quiet(loop, *arrays, *params, out=out)
        if (writer := _writer(op, loop, out, arrays[0].shape, arrays)) is not None:
            return quiet(writer, *arrays, *params, out=out)
    if getattr(operands[0], "dtype", None) in _WIDE:
        loop = _loop_of_few_halves(op, operands, out)
        if loop is not None:
            return quiet(_run_few_halves, op, loop, operands, out, *params)
    if len(operands) == 2 and not params and (result := _broadcast(op, *operands, out)) is not None:
        return result
    if op.rejects_early and any([getattr(each, "dtype", None) in op.unsupported for each in operands]):
        reject(op, op.compute_dtype(*operands), early=True)
    builder = op.builders[len(operands) == 1]
    if out is None or _is_for_few(out, operands):
        plan = builder.plan((None,), operands)
        if (loop := op.loops.get(plan.dtype)) is not None and plan.numel <= BLOCK and plan.only_numpy:
            if out is None:
                return _run_few(loop, plan, operands, params, None)
            if out.shape == plan.shape and out.dtype is plan.result_dtype:
                return _write_few(loop, plan, operands, params, out)
    iterator = builder.iterator(plan, (None,), operands) if out is None else builder.build((out,), operands)
    plan = iterator.plan
    if not plan.only_numpy and not iterator.has_data():
        return iterator.arrays[0]
    loop = op.loops.get(plan.dtype)
    if type(loop) is np.ufunc and plan.is_uniform and (plan.numel <= BLOCK or not plan.only_numpy):
        quiet(_run_ufunc, loop, params, plan.result_dtype, *iterator.arrays)
    else:
        reject(op, plan.dtype, early=False)
        quiet(_run, op, iterator, params, out is not None)
    return iterator.arrays[0]


def _direct_operands(op: Op, operands: tuple[Any, ...]) -> list[Array] | None:
    """The operands if there is nothing to prepare: row-major arrays of one shape and of a dtype that has a computation,
    and numbers, which leave the dtype of a float array as it is."""
    first = operands[0]
    if type(first) is not Array or first.dtype not in op.loops or not first.flags.c_contiguous:
        return None
    dtype, shape, arrays = first.dtype, first.shape, [first]
    for operand in operands[1:]:
        if type(operand) is not Array:
            if type(operand) is not float and type(operand) is not int or dtype not in FLOATS or not shape:
                return None
            if 0 in shape or 1 in shape:  # the strides of a result are a longer story there
                return None
            operand = kept_constant(operand, dtype)
        elif operand.dtype is not dtype or operand.shape != shape or not operand.flags.c_contiguous:
            return None
        arrays.append(operand)
    return arrays


def _broadcast(op: Op, a: Any, b: Any, out: Array | None) -> Array | None:
    """The result if two small arrays of one dtype, whose dimensions lie in order, are all that there is: whatever
    their shapes are, it is row-major. None in any other case."""
    if type(a) is not Array or type(b) is not Array or a.dtype is not b.dtype:
        mixed = MIXED.get(type(b))
        return None if mixed is None else mixed(op, a, b, out)
    loop = op.loops.get(a.dtype)
    if type(loop) is not np.ufunc:
        return None
    shape = _shape_in_order(a.shape, a.strides, b.shape, b.strides)
    if shape is None:
        return None
    if out is None:
        out = np.empty(shape, op.result_dtypes[a.dtype])
    elif (loop := _writer(op, loop, out, shape, [a, b])) is None:
        return None
    return quiet(loop, a, b, out=out)


@lru_cache(maxsize=1024)
def _shape_in_order(
    a: tuple[int, ...], a_strides: tuple[int, ...], b: tuple[int, ...], b_strides: tuple[int, ...]
) -> tuple[int, ...] | None:
    """The shape that two arrays are broadcast to; None if they can't be, if that is large, or if torch would look for
    another order of the dimensions."""
    try:
        shape = np.broadcast_shapes(a, b)
    except ValueError:
        return None
    is_in_order = _is_in_order(a, a_strides) and _is_in_order(b, b_strides)
    return shape if is_in_order and 0 < prod(shape) <= BLOCK else None


def _is_in_order(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether every dimension lies inside the one before it, as the sort of `geometry.memory_order` has it."""
    sides = [(stride, extent) for stride, extent in zip(strides, shape) if stride]
    return all(
        stride > inner > 0 or (stride == inner and inner_extent <= extent)
        for (stride, extent), (inner, inner_extent) in pairwise(sides)
    )


def _writer(op: Op, loop: Loop, out: Any, shape: tuple[int, ...], operands: list[Array]) -> Loop | None:
    """What computes few elements into an array that was given; None if there may be something to warn of or to refuse.

    Many elements are for the iterator, which has threads.
    """
    if type(out) is not Array or out.shape != shape or out.size > BLOCK or not out.flags.c_contiguous:
        return None
    dtype, is_ufunc = operands[0].dtype, type(loop) is np.ufunc
    for each in operands:
        if each is out:
            if not is_ufunc:
                return None
        elif (out.base is not None or each.base is not None) and may_share_memory(out, each):
            return None
    result_dtype = op.result_dtypes[dtype]
    if out.dtype is result_dtype:
        return loop
    converts = is_ufunc and not op.builders[len(operands) == 1].options.same_dtype_out
    return partial(loop, casting="unsafe") if converts and can_convert(result_dtype, out.dtype) else None


def reject(op: Op, dtype: NumpyDtype, early: bool) -> None:
    """Raises the error for a dtype that an op does not take: some ops raise it before any other check."""
    unsupported = op.unsupported.get(dtype)
    if unsupported is not None and unsupported.early >= early:
        raise unsupported(dtype)
    if not early and widened(dtype) not in op.loops:
        raise no_loop(op, dtype)


# -------------------- on the iterator --------------------


def _is_for_few(out: Any, operands: Sequence[Any]) -> bool:
    """Whether an array that was given is one for few elements, and there may be nothing to warn of or to refuse: no
    operand shares its memory, but for the first one, which may be the array itself."""
    if type(out) is not Array or out.size > BLOCK or not out.flags.c_contiguous:
        return False
    others = operands[1:] if operands[0] is out else operands
    return is_apart(out, [each for each in others if type(each) is Array])


def _write_few(loop: Loop, plan: Plan, operands: Sequence[Any], params: tuple[Any, ...], out: Array) -> Array:
    """The same into an array of the shape and dtype of the result, which can be the first operand."""
    if operands[0] is not out or type(loop) is np.ufunc:
        return _run_few(loop, plan, operands, params, out)
    np.copyto(out, _run_few(loop, plan, operands, params, None))
    return out


def _run_few(loop: Loop, plan: Plan, operands: Sequence[Any], params: tuple[Any, ...], out: Array | None) -> Array:
    """Computes into a new array, or into a given one that shares no memory, what the loop can take whole."""
    if not plan.is_uniform:
        operands = [_few_converted(each, plan.dtype) for each in operands]
    if out is None:
        new = plan.made[0]
        out = new_array(plan.shape, new.strides, new.dtype)
    quiet(loop, *operands, *params, out=out)
    return out


def _few_converted(operand: Any, dtype: NumpyDtype) -> Array:
    if type(operand) is not Array:
        return kept_constant(operand, dtype)
    return operand if operand.dtype is dtype else quiet(operand.astype, dtype)


def _run(op: Op, iterator: TensorIterator, params: tuple[Any, ...], is_given: bool) -> None:
    """Computes into the output, which may share memory with the inputs if it `is_given`."""
    plan, arrays = iterator.plan, iterator.arrays
    dtype = plan.dtype
    working = dtype if dtype in op.loops else _WIDE.get(dtype, dtype)
    if not plan.is_uniform:
        _convert_single_elements(op, arrays, dtype, working)
    loop = op.loops[working]
    if working is not dtype and plan.numel > BLOCK and plan.result_dtype is dtype is arrays[0].dtype:
        if not (is_given and may_share(arrays[0], [each for each in arrays[1:] if each is not arrays[0]])):
            _run_halves(loop, iterator, params)
            return
    is_ufunc = type(loop) is np.ufunc
    fits = working is dtype and all([each.dtype == dtype for each in arrays[1:]])
    if is_ufunc and working is dtype and plan.numel > BLOCK:
        run = (
            partial(_run_ufunc, loop, params, plan.result_dtype)
            if fits
            else partial(_run_converting, loop, params, dtype)
        )
        iterator.apply(run)
        return
    in_one_go = hasattr(loop, "in_one_go")
    others = [each for each in arrays[1:] if not (in_one_go and each is arrays[0])]
    shares = is_given and not is_ufunc and may_share(arrays[0], others)
    if plan.numel <= BLOCK or (fits and in_one_go):
        _run_part(loop, params, plan, working, shares, *arrays)
    else:
        iterator.apply(partial(_run_part, loop, params, plan, working, shares), BLOCK)


def _run_ufunc(ufunc: np.ufunc, params: tuple[Any, ...], dtype: NumpyDtype, out: Array, *inputs: Array) -> None:
    """Everything in one call; with `casting`, which an output of another dtype than the result needs, it is slower."""
    if out.dtype is dtype:
        ufunc(*inputs, *params, out=out)
    else:
        ufunc(*inputs, *params, out=out, casting="unsafe")


def _run_converting(ufunc: np.ufunc, params: tuple[Any, ...], dtype: NumpyDtype, out: Array, *inputs: Array) -> None:
    """Everything in one call: NumPy converts as it goes, a few thousand elements at a time."""
    signature = (dtype,) * ufunc.nin + (None,) * ufunc.nout
    ufunc(*inputs, *params, out=out, casting="unsafe", signature=signature)


def _run_part(
    loop: Loop, params: tuple[Any, ...], plan: Plan, working: NumpyDtype, shares: bool, out: Array, *inputs: Array
) -> None:
    """A part that is small enough for copies: they stay in the cache."""
    dtype, result_dtype = plan.dtype, plan.result_dtype
    values = [each if each.dtype is working else _convert(each, dtype, working) for each in inputs]
    if out.dtype is result_dtype and working is dtype and not shares:
        loop(*values, *params, out=out)
        return
    result = loop(*values, *params)
    if result.dtype != result_dtype and out.dtype != result_dtype:
        result = halves.astype(result, result_dtype)
    halves.copyto(out, result)


# -------------------- in 16 bits --------------------


def _loop_of_few_halves(op: Op, operands: tuple[Any, ...], out: Array | None) -> Loop | None:
    """The float32 computation if there is nothing to prepare but the widening: as in `_direct_operands`, for row-major
    arrays of 16-bit numbers that are few enough to be converted whole. None in any other case."""
    first = operands[0]
    if type(first) is not Array or first.size > BLOCK or not first.flags.c_contiguous:
        return None
    dtype, shape = first.dtype, first.shape
    if dtype in op.loops or dtype in op.unsupported:
        return None
    if out is not None:
        others = [each for each in operands if type(each) is Array and each is not out]
        if not is_at_hand(out, shape, _narrow_result(op, dtype), others):
            return None
    for operand in operands[1:]:
        if type(operand) is Array:
            if operand.dtype is not dtype or operand.shape != shape or not operand.flags.c_contiguous:
                return None
        elif type(operand) is not float and type(operand) is not int or not shape or 0 in shape or 1 in shape:
            return None
    return op.loops.get(FLOAT)


def _run_few_halves(op: Op, loop: Loop, operands: tuple[Any, ...], out: Array | None, *params: Any) -> Array:
    first = operands[0]
    dtype, wide = first.dtype, halves.astype(first, FLOAT)
    values = [wide]
    for operand in operands[1:]:
        if operand is first:
            values.append(wide)
        elif type(operand) is Array:
            values.append(halves.astype(operand, FLOAT))
        elif op.exact_numbers:
            values.append(kept_constant(operand, FLOAT))
        else:
            values.append(kept_constant(operand, dtype).astype(FLOAT))
    result = np.asarray(loop(*values, *params))
    if out is None:
        return halves.astype(result, _narrow_result(op, dtype))
    halves.copyto(out, result)
    return out


def _narrow_result(op: Op, dtype: NumpyDtype) -> NumpyDtype:
    return dtype if op.result_dtype is None else op.result_dtype(dtype)


def _run_halves(loop: Loop, iterator: TensorIterator, params: tuple[Any, ...]) -> None:
    """Computes many numbers of 16 bits: of one array by a table of the results, if it is large, else in blocks."""
    plan, inputs = iterator.plan, iterator.arrays[1:]
    places = [place for place, each in enumerate(inputs) if each.ndim]
    if plan.numel >= _MANY_HALVES and len(places) == 1 and inputs[places[0]].dtype == plan.dtype:
        table = _table(loop, params, plan, *inputs)
        iterator.apply(partial(halves.look_up, table, places[0]), BLOCK)
    else:
        iterator.apply(partial(_run_widened, loop, params, plan.dtype), halves.BLOCK)


def _table(loop: Loop, params: tuple[Any, ...], plan: Plan, *inputs: Array) -> Array:
    """The results for all numbers of a dtype."""
    table = np.empty(1 << 16, plan.dtype)
    numbers = np.arange(1 << 16, dtype=np.uint16).view(plan.dtype)
    for start in range(0, table.size, BLOCK):
        part = slice(start, start + BLOCK)
        operands = [numbers[part] if each.ndim else each for each in inputs]
        _run_part(loop, params, plan, FLOAT, True, table[part], *operands)
    return table


def _run_widened(loop: Loop, params: tuple[Any, ...], dtype: NumpyDtype, out: Array, *inputs: Array) -> None:
    kept = halves.scratch.take(2 + len(inputs))
    spare, result, *rows = [row[: out.size].reshape(out.shape) for row in kept]
    values = [_widened_to(row, each, dtype) for row, each in zip(rows, inputs, strict=True)]
    halves.narrow_into(out, loop(*values, *params, out=result), spare)
    halves.scratch.give_back(kept)


def _widened_to(row: Array, array: Array, dtype: NumpyDtype) -> Array:
    if array.dtype != dtype or 0 in array.strides:
        return _convert(array, dtype, FLOAT)
    halves.widen_into(row, array)
    return row


# -------------------- operands --------------------


def _convert_single_elements(op: Op, arrays: list[Any], dtype: NumpyDtype, working: NumpyDtype) -> None:
    """Puts 0-d arrays of the dtype that is computed in into the places of numbers and other 0-d arrays."""
    for place, each in enumerate(arrays):
        if place and (type(each) is not Array or not each.ndim):
            is_exact = op.exact_numbers and place > 1
            single = each if hasattr(each, "ndim") else kept_constant(each, working if is_exact else dtype)
            arrays[place] = (single if is_exact else single.astype(dtype, copy=False)).astype(working, copy=False)


def _convert(array: Array, dtype: NumpyDtype, working: NumpyDtype) -> Array:
    """An operand in the dtype that is computed in, by way of the dtype of the op."""
    if working is dtype or array.dtype == working:
        return array.astype(working, copy=False)
    narrow = array if array.dtype == dtype else halves.astype(array, dtype)
    return halves.expanded_as(narrow, working)
