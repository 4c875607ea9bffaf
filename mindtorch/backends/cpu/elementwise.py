"""Elementwise kernels: from a NumPy computation per dtype to a kernel that promotes, broadcasts and lays out as torch.

A kernel is made by a factory from an `Op`. Its first lines are the short cut: same dtype, layouts that NumPy and torch
treat alike, no `out`; one quiet call of the computation, and done. Everything else, and every error, goes the long way
through `compute`, which gives the same result.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import copysign
from typing import Any

import numpy as np

from mindtorch import iterator, state
from mindtorch.backends.cpu.quiet import quiet, run_quietly
from mindtorch.backends.cpu.refusals import Refusal, no_loop
from mindtorch.backends.cpu.strided import allocate
from mindtorch.kinds import KINDS, Kind
from mindtorch.promotion import BFLOAT16, BOOL, COMPLEX, DOUBLE, FLOAT, HALF, INTEGRAL, common_dtype

Array = np.ndarray
NumpyDtype = np.dtype[Any]
Loop = Callable[..., Array]

FLOATS = (FLOAT, DOUBLE)
NUMBERS = (*INTEGRAL, *FLOATS, *COMPLEX)
REAL_NUMBERS = (*INTEGRAL, *FLOATS)
ALL = (BOOL, *NUMBERS)

# What a short cut raises when the long way must decide: no loop for the dtype or the kind of number (KeyError), shapes
# that don't broadcast (ValueError), arrays of another backend (TypeError), a quiet context that is in use and the
# errors of the computation itself (RuntimeError), numbers that don't fit (OverflowError).
SHORT_CUT_FAILED = (KeyError, ValueError, TypeError, RuntimeError, OverflowError)


def loops(function: Loop, supported: Iterable[NumpyDtype] = ALL) -> dict[NumpyDtype, Loop]:
    """The same computation for all these dtypes."""
    return dict.fromkeys(supported, function)


@dataclass(frozen=True, slots=True)
class Op:
    """How an elementwise op computes.

    `loops` holds the computations by dtype, called with arrays and perhaps `out`. float16 and bfloat16 have none: they
    are computed in float32 and rounded once. `compute_dtype` gives the dtype of the computation from the operands,
    `result_dtype` that of the result from it. `refusals` holds the exceptions for the dtypes that torch refuses;
    other dtypes without a computation have the text of `no_loop`.
    `exact_numbers`: with float16 and bfloat16 a number that is not the first operand is not rounded to the dtype first.
    `same_dtype_out`: `out` must
    have the dtype of the result, as it must for ops of one operand that don't promote. `plain_numbers`: a number is a
    parameter, and not an operand without dimensions that the others are broadcast with.
    """

    loops: Mapping[NumpyDtype, Loop]
    compute_dtype: Callable[..., NumpyDtype] = common_dtype
    result_dtype: Callable[[NumpyDtype], NumpyDtype] | None = None
    refusals: Mapping[NumpyDtype, Refusal] = field(default_factory=dict)
    exact_numbers: bool = False
    same_dtype_out: bool = False
    plain_numbers: bool = False


# -------------------- numbers as arrays --------------------


class _Constants(dict[Any, Array]):
    """0-d arrays of one dtype by number: an array costs a ufunc half of what a Python number does."""

    def __init__(self, dtype: NumpyDtype) -> None:
        super().__init__()
        self.dtype = dtype
        self._zeros = {sign: np.asarray(sign * 0.0).astype(dtype) for sign in (1.0, -1.0)}

    def __missing__(self, number: complex) -> Array:
        if type(number) is float and not number:  # 0.0 and -0.0 would be the same key
            return self._zeros[copysign(1.0, number)]
        array = constant(number, self.dtype)
        if len(self) >= 1024:
            self.clear()
        self[number] = array
        return array


def constant(number: complex, dtype: NumpyDtype) -> Array:
    """A 0-d array. Integers that don't fit wrap around, as in torch, if they have 64 bits at most."""
    if isinstance(number, int) and not -(1 << 63) <= number < 1 << 64:
        raise OverflowError("int too big to convert" if number > 0 else "can't convert negative int to unsigned")
    return quiet(np.asarray(number).astype, dtype)


# Only pairs of number and dtype whose result has the dtype of the array.
CONSTANTS: dict[type, dict[NumpyDtype, _Constants]] = {
    float: {dtype: _Constants(dtype) for dtype in (*FLOATS, *COMPLEX)},
    int: {dtype: _Constants(dtype) for dtype in NUMBERS},
    bool: {dtype: _Constants(dtype) for dtype in ALL},
}


# -------------------- kernels --------------------


def unary(op: Op) -> Callable[..., Array]:
    """A kernel of one operand."""
    fast, float_loop = op.loops, op.loops.get(FLOAT)

    def kernel(input: Array, out: Array | None = None) -> Array:
        dtype = input.dtype
        loop = float_loop if dtype is FLOAT else fast.get(dtype)
        if loop and out is None:
            ndim = input.ndim
            if ndim == 1 or (ndim and input.flags.c_contiguous):
                try:
                    return run_quietly(loop, input)
                except SHORT_CUT_FAILED:
                    pass
        return compute(op, (input,), out)

    kernel.computes = op
    kernel.plain = {kind: _plain_unary(op.loops[kind.dtype], kernel) for kind in KINDS if kind.dtype in op.loops}
    return kernel


def _plain_unary(loop: Loop, kernel: Callable[..., Array]) -> Callable[..., Array]:
    """What is left of a kernel of one operand if that is known to be plain."""

    def plain(input: Array) -> Array:
        try:
            return run_quietly(loop, input)
        except SHORT_CUT_FAILED:
            return kernel(input)

    return plain


def binary(op: Op) -> Callable[..., Array]:
    """A kernel of an array and an array or a Python number."""
    fast, float_loop = op.loops, op.loops.get(FLOAT)
    may_write_in_place = op.result_dtype is None

    def kernel(input: Array, other: Any, out: Array | None = None) -> Array:
        dtype = input.dtype
        if loop := float_loop if dtype is FLOAT else fast.get(dtype):
            try:
                if type(other) is Array:
                    operand = other
                    friendly = other.dtype is dtype and (
                        input.ndim == 1 == other.ndim or out is input or are_plain(input, other)
                    )
                else:
                    operand = CONSTANTS[type(other)][dtype][other]
                    friendly = input.ndim == 1 or out is input or is_plain(input)
                if friendly:
                    if out is None:
                        return run_quietly(loop, input, operand)
                    if out is input and may_write_in_place and out.base is None is operand.base:
                        return run_quietly(loop, input, operand, out=out)
            except SHORT_CUT_FAILED:
                pass
        return compute(op, (input, other), out)

    kernel.computes = op
    kernel.plain = {kind: _plain_binary(op.loops[kind.dtype], kind, kernel) for kind in KINDS if kind.dtype in op.loops}
    return kernel


def _plain_binary(loop: Loop, kind: Kind, kernel: Callable[..., Array]) -> Callable[..., Array]:
    """What is left of a kernel if its array and the other one are known to be plain, of one dtype."""
    constants = {number: of_dtype[kind.dtype] for number, of_dtype in CONSTANTS.items()}

    def plain(input: Array, other: Any) -> Array:
        try:
            return run_quietly(loop, input, other if type(other) is Array else constants[type(other)][other])
        except SHORT_CUT_FAILED:
            return kernel(input, other)

    return plain


def binary_with_alpha(op: Op, scaled: Callable[[Array, Any, Any, Array | None], Array]) -> Callable[..., Array]:
    """A kernel of `input + alpha * other`: the short cut of `binary` when alpha is 1, else all of `scaled`."""
    fast, plain = op.loops, binary(op)

    def kernel(input: Array, other: Any, alpha: Any = 1, out: Array | None = None) -> Array:
        if alpha != 1 or type(alpha) is not int:
            return scaled(input, other, alpha, out)
        if type(other) is Array and input.ndim == 1 == other.ndim and input.dtype is other.dtype is FLOAT:
            try:
                if out is None:
                    return run_quietly(fast[FLOAT], input, other)
                if out is input and out.base is None is other.base:
                    return run_quietly(fast[FLOAT], input, other, out)
            except SHORT_CUT_FAILED:
                pass
        return plain(input, other, out)

    kernel.computes = op
    kernel.plain = {kind: _plain_with_alpha(op.loops[kind.dtype], kernel) for kind in plain.plain}
    return kernel


def _plain_with_alpha(loop: Loop, kernel: Callable[..., Array]) -> Callable[..., Array]:
    """What is left of it if the two arrays are known to be plain, of one dtype."""

    def plain(input: Array, other: Any, alpha: Any) -> Array:
        if type(other) is Array and alpha == 1 and type(alpha) is int:
            try:
                return run_quietly(loop, input, other)
            except SHORT_CUT_FAILED:
                pass
        return kernel(input, other, alpha)

    return plain


def is_plain(array: Array) -> bool:
    """Row-major, and no strides of dimensions of size 1 or 0 that could matter for the order of dimensions."""
    return array.size > 1 and array.flags.c_contiguous and 1 not in array.shape


def are_plain(a: Array, b: Array) -> bool:
    """Whether NumPy lays out a result for these two as torch does: row-major. Two 0-d arrays make a scalar."""
    if not (a.flags.c_contiguous and b.flags.c_contiguous):
        return False
    shape, other = a.shape, b.shape
    return bool(shape) if shape == other else not (1 in shape or 1 in other or 0 in shape or 0 in other)


def are_apart(out: Array, operand: Array) -> bool:
    """Whether `out` can be written while `operand` is read: surely, when both own their memory."""
    return out is operand or (out.base is None and operand.base is None)


# -------------------- the long way --------------------

_WIDE = {HALF: FLOAT, BFLOAT16: FLOAT}


def widened(dtype: NumpyDtype) -> NumpyDtype:
    """The dtype in which an op on arrays of `dtype` is computed."""
    return _WIDE.get(dtype, dtype)


def compute(op: Op, operands: tuple[Any, ...], out: Array | None = None, *params: Any) -> Array:
    """Runs an op on arrays and Python numbers; `params` are handed to the computation as they are."""
    if (loop := _direct_loop(op, operands)) is not None:
        if out is None:
            result = quiet(loop, *operands, *params)
            return result if type(result) is Array else np.asarray(result)
        if out is operands[0] and op.result_dtype is None and all([are_apart(out, each) for each in operands]):
            return quiet(loop, *operands, *params, out=out)
    plan = _plan_of(op, operands)
    refusal = op.refusals.get(plan.dtype)
    if refusal is not None and refusal.early:
        raise refusal(plan.dtype)
    if out is None:
        target = plan.new_array()
    else:
        arrays = _for_layout(op, operands)
        if op.same_dtype_out or _keeps_dtype(op, operands):
            iterator.check_overlap(out, arrays)
            iterator.check_same_dtype(out.dtype, plan.result_dtype)
        target = destination(arrays, plan.dtype, plan.result_dtype, out)
    if refusal is not None:
        raise refusal(plan.dtype)
    if plan.working not in op.loops:
        raise no_loop(op, plan.dtype)
    if plan.working != plan.dtype and target.size > BLOCK and _run_widened(op, plan, operands, params, target):
        return target
    inputs = [
        _convert(operand, plan.dtype, plan.working, op.exact_numbers and place > 0)
        for place, operand in enumerate(operands)
    ]
    may_overlap = out is not None and not all([out is each or are_apart(out, each) for each in inputs])
    _run(op.loops[plan.working], (*inputs, *params), target, plan.result_dtype, may_overlap)
    return target


def _direct_loop(op: Op, operands: tuple[Any, ...]) -> Loop | None:
    """The computation, when all operands are row-major arrays of one shape and of a dtype that it takes as it is."""
    first = operands[0]
    if type(first) is not Array or not first.flags.c_contiguous:
        return None
    for operand in operands[1:]:
        if type(operand) is not Array or operand.dtype is not first.dtype or operand.shape != first.shape:
            return None
        if not operand.flags.c_contiguous:
            return None
    return op.loops.get(first.dtype)


@dataclass(slots=True)
class _Plan:
    """What follows from the operands' dtypes, shapes and strides alone."""

    dtype: NumpyDtype
    working: NumpyDtype
    result_dtype: NumpyDtype
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None

    def new_array(self) -> Array:
        return new_array(self.shape, self.strides, self.result_dtype)


_plans: dict[Any, _Plan] = {}


def _plan_of(op: Op, operands: tuple[Any, ...]) -> _Plan:
    """The plan for operands like these, remembered."""
    looks = [(each.dtype, each.shape, each.strides) if type(each) is Array else type(each) for each in operands]
    key = (op.compute_dtype, op.result_dtype, op.plain_numbers, state.default_dtype, *looks)
    plan = _plans.get(key)
    if plan is None:
        plan = _make_plan(op, operands)
        if len(_plans) >= 4096:
            _plans.clear()
        _plans[key] = plan
    return plan


def _make_plan(op: Op, operands: tuple[Any, ...]) -> _Plan:
    arrays = [operand for operand in operands if hasattr(operand, "ndim")]
    iterator.check_devices(arrays)
    dtype = op.compute_dtype(*operands)
    result_dtype = op.result_dtype(dtype) if op.result_dtype else dtype
    return _Plan(dtype, widened(dtype), result_dtype, *iterator.result_layout(_for_layout(op, operands), dtype))


def _for_layout(op: Op, operands: tuple[Any, ...]) -> list[Array]:
    """What the others are broadcast with: an array without dimensions in the place of a number that is an operand."""
    arrays = [operand if hasattr(operand, "ndim") else _NUMBER for operand in operands]
    return [array for array in arrays if array is not _NUMBER] if op.plain_numbers else arrays


_NUMBER = np.empty(())


def _keeps_dtype(op: Op, operands: tuple[Any, ...]) -> bool:
    return len(operands) == 1 and op.compute_dtype is common_dtype and op.result_dtype is None


def _convert(operand: Any, dtype: NumpyDtype, working: NumpyDtype, exact_numbers: bool) -> Array:
    """An operand as an array of the dtype in which the op computes."""
    if not hasattr(operand, "ndim"):
        return constant(operand, working) if exact_numbers else constant(operand, dtype).astype(working, copy=False)
    if operand.dtype != dtype and not (exact_numbers and operand.ndim == 0):
        operand = quiet(operand.astype, dtype)
    return operand if operand.dtype == working else _widen(operand, working)


# Every float16 as a float32: looking it up is twice as fast as NumPy's conversion.
_FROM_HALF = quiet(np.arange(1 << 16, dtype=np.uint16).view(HALF).astype, FLOAT)


def _widen(array: Array, working: NumpyDtype) -> Array:
    if array.dtype == HALF and array.ndim:
        return _FROM_HALF.take(array.view(np.uint16))
    return quiet(array.astype, working)


def destination(arrays: list[Array], dtype: NumpyDtype, result_dtype: NumpyDtype, out: Array | None) -> Array:
    """The array that takes the result of computing in `dtype`: `out` if it can, else a new one with torch's strides."""
    shape, strides = iterator.result_layout(arrays, dtype)
    if out is not None:
        iterator.check_overlap(out, arrays)
        if any(out is array for array in arrays):
            iterator.check_inplace_shape(out, shape)
        iterator.check_result_dtype(result_dtype, out.dtype)
        if not iterator.needs_resize(out, shape):
            return out
        result_dtype = out.dtype
    return new_array(shape, strides, result_dtype)


def new_array(shape: tuple[int, ...], strides: tuple[int, ...] | None, dtype: NumpyDtype) -> Array:
    """An array with these strides, in elements; None stands for row-major."""
    if strides is None:
        return np.empty(shape, dtype)
    if 0 in shape or 1 in shape:  # NumPy has strides of its own for these dimensions
        return allocate(shape, tuple([stride * dtype.itemsize for stride in strides]), dtype)
    ordered, places = _memory_axes(shape, strides)
    return np.empty(ordered, dtype).transpose(places)


@lru_cache(maxsize=4096)
def _memory_axes(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape with the outermost dimension first, and where each dimension has gone."""
    order = sorted(range(len(shape)), key=lambda dim: (-strides[dim], -shape[dim]))
    places = sorted(range(len(shape)), key=order.__getitem__)
    return tuple([shape[dim] for dim in order]), tuple(places)


def _run(loop: Loop, inputs: tuple[Any, ...], target: Array, dtype: NumpyDtype, may_overlap: bool) -> None:
    """Computes into `target`; `dtype` is that of the result before it is converted to the dtype of `target`."""
    if target.dtype == dtype and widened(dtype) == dtype and (isinstance(loop, np.ufunc) or not may_overlap):
        quiet(loop, *inputs, out=target)
        return
    result = quiet(loop, *inputs)
    if result.dtype != dtype:
        result = quiet(result.astype, dtype)
    quiet(np.copyto, target, result, casting="unsafe")


def _run_widened(op: Op, plan: _Plan, operands: tuple[Any, ...], params: tuple[Any, ...], target: Array) -> bool:
    """Computes float16 and bfloat16 in blocks whose float32 copies stay in the cache, if the layouts allow it."""
    arrays = [each for each in operands if getattr(each, "ndim", 0)]
    flat = _flattened((target, *arrays))
    if flat is None or not all([target is each or are_apart(target, each) for each in arrays]):
        return False
    whole = [
        None if getattr(each, "ndim", 0) else _convert(each, plan.dtype, plan.working, op.exact_numbers and place > 0)
        for place, each in enumerate(operands)
    ]
    for start in range(0, target.size, BLOCK):
        out, *parts = [each[start : start + BLOCK] for each in flat]
        rest = iter(parts)
        inputs = [_convert(next(rest), plan.dtype, plan.working, False) if each is None else each for each in whole]
        _run(op.loops[plan.working], (*inputs, *params), out, plan.result_dtype, False)
    return True


# -------------------- computations of several passes --------------------

BLOCK = 1 << 14  # elements: a handful of such arrays fit into the level-2 cache


def blockwise(arrays: int) -> Callable[[Callable[..., None]], Loop]:
    """Makes a computation of a `step(out, *arrays, *params)` that writes `out`, and runs it block by block.

    What a step allocates stays in the cache that way. The decorated function takes `arrays` arrays, then the params.
    """

    def decorate(step: Callable[..., None]) -> Loop:
        def loop(*args: Any, out: Array | None = None) -> Array:
            inputs, params = args[:arrays], args[arrays:]
            if out is None:
                out = np.empty(np.broadcast_shapes(*[each.shape for each in inputs]), inputs[0].dtype)
            flat = _flattened((out, *inputs)) if out.size > BLOCK else None
            if flat is None:  # NumPy makes 0-d intermediates scalars, which a step cannot write to
                step(*[each if each.ndim else each.reshape(1) for each in (out, *inputs)], *params)
                return out
            for start in range(0, out.size, BLOCK):
                step(*[each[start : start + BLOCK] for each in flat], *params)
            return out

        return loop

    return decorate


def _flattened(arrays: tuple[Array, ...]) -> list[Array] | None:
    """1-d views of arrays of one shape in their common memory order, or None."""
    order = sorted(range(arrays[0].ndim), key=lambda dim: -arrays[0].strides[dim])
    turned = [array.transpose(order) for array in arrays if array.shape == arrays[0].shape]
    if len(turned) < len(arrays) or not all(array.flags.c_contiguous for array in turned):
        return None
    return [array.reshape(-1) for array in turned]
