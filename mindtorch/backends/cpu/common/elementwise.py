"""Elementwise kernels: from a NumPy computation per dtype to a kernel that promotes, broadcasts and lays out as torch.

A kernel is made by a factory from an `Op`. Its first lines are the fast path: same dtype, layouts that NumPy and torch
treat alike, no `out`; one quiet call of the computation, and done. Everything else, and every error, takes the slow
path through `compute`, on an iterator, which gives the same result.
"""

from collections.abc import Callable
from functools import cache, partial, wraps
from typing import Any

import numpy as np

from mindtorch._core.fast_path import FAST_PATH_FAILED, KINDS, Kind
from mindtorch._core.promotion import FLOAT, to_bool
from mindtorch._support.float_errors import run_quietly
from mindtorch._support.numpy_functions import copyto, may_share_memory
from mindtorch.backends.cpu.common.computing import ALL, Loop, Op, compute, loops
from mindtorch.backends.cpu.common.numbers import wide_parameter
from mindtorch.backends.cpu.compiled.choice import decide, is_undecided
from mindtorch.iterator import BLOCK
from mindtorch.iterator.constants import CONSTANTS, kept_constant

Array = np.ndarray


# -------------------- kernels --------------------


def _made_when_called(factory: Callable[[Op], Callable[..., Array]]) -> Callable[[Op], Callable[..., Array]]:
    """A kernel keeps the loops that it finds in the op. So it is made at the first call of an op of which it is known
    only then which loops it has."""

    @wraps(factory)
    def make(op: Op) -> Callable[..., Array]:
        if not is_undecided(op.loops):
            return factory(op)

        @cache
        def made() -> Callable[..., Array]:
            decide(op.loops)
            return factory(op)

        def first(*args: Any, **kwargs: Any) -> Array:
            return made()(*args, **kwargs)

        first.computes, first.made = op, made
        return first

    return make


@_made_when_called
def unary(op: Op) -> Callable[..., Array]:
    """A kernel of one operand."""
    fast, float_loop, result_dtypes = op.loops, op.loops.get(FLOAT), op.result_dtypes

    def kernel(input: Array, out: Array | None = None) -> Array:
        dtype = input.dtype
        loop = float_loop if dtype is FLOAT else fast.get(dtype)
        if loop:
            try:
                if out is None:
                    ndim = input.ndim
                    if ndim == 1 or (ndim and input.flags.c_contiguous):
                        return run_quietly(loop, input)
                elif _takes(out, result_dtypes[dtype], input):
                    return run_quietly(loop, input, out=out)
                elif out is input and dtype in op.fits_itself and out.size <= BLOCK and out.flags.c_contiguous:
                    copyto(out, run_quietly(loop, input), "unsafe")
                    return out
            except FAST_PATH_FAILED:
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
        except FAST_PATH_FAILED:
            return kernel(input)

    return plain


@_made_when_called
def binary(op: Op) -> Callable[..., Array]:
    """A kernel of an array and an array or a Python number."""
    fast, float_loop, result_dtypes = op.loops, op.loops.get(FLOAT), op.result_dtypes
    keeps_dtype = op.result_dtype is None

    def kernel(input: Array, other: Any, out: Array | None = None) -> Array:
        dtype = input.dtype
        if loop := float_loop if dtype is FLOAT else fast.get(dtype):
            try:
                if type(other) is Array:
                    if out is not None and _are_three(input, other, out, result_dtypes[dtype]):
                        return run_quietly(loop, input, other, out=out)
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
                    if out is input:
                        if keeps_dtype:
                            if _is_written_safely(out, operand):
                                return run_quietly(loop, input, operand, out=out)
                        elif dtype in op.fits_itself and out.size <= BLOCK and _is_written_safely(out, operand):
                            result = run_quietly(loop, input, operand)
                            if result.shape == out.shape:
                                copyto(out, result, "unsafe")
                                return out
                    elif _takes(out, result_dtypes[dtype], input) and _is_alike_or_single(operand, out):
                        return run_quietly(loop, input, operand, out=out)
            except FAST_PATH_FAILED:
                pass
        return compute(op, (input, other), out)

    kernel.computes = op
    kernel.plain = {kind: _plain_binary(op.loops[kind.dtype], kind, kernel) for kind in KINDS if kind.dtype in op.loops}
    kernel.direct = _direct(op, kernel)
    return kernel


def _direct(op: Op, kernel: Callable[..., Array]) -> Callable[..., Array]:
    """What to call with plain arrays alone: the computation itself, no function of ours in between, if it is the same
    for all of them. Its errors are those of NumPy: who calls it then asks the kernel."""
    loop = op.loops.get(FLOAT)
    same = all(op.loops.get(kind.dtype) is loop for kind in KINDS)
    return partial(run_quietly, loop) if same and loop is not None else kernel


def _plain_binary(loop: Loop, kind: Kind, kernel: Callable[..., Array]) -> Callable[..., Array]:
    """What is left of a kernel if its array and the other one are known to be plain, of one dtype."""
    constants = {number: of_dtype[kind.dtype] for number, of_dtype in CONSTANTS.items()}

    def plain(input: Array, other: Any) -> Array:
        try:
            return run_quietly(loop, input, other if type(other) is Array else constants[type(other)][other])
        except FAST_PATH_FAILED:
            return kernel(input, other)

    return plain


def binary_with_alpha(op: Op, scaled: Callable[[Array, Any, Any, Array | None], Array]) -> Callable[..., Array]:
    """A kernel of `input + alpha * other`: the fast path of `binary` when alpha is 1, else all of `scaled`."""
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
            except FAST_PATH_FAILED:
                pass
        return plain(input, other, out)

    kernel.computes = op
    kernel.plain = {kind: _plain_with_alpha(op.loops[kind.dtype], kernel) for kind in plain.plain}
    kernel.direct = plain.direct
    return kernel


def _plain_with_alpha(loop: Loop, kernel: Callable[..., Array]) -> Callable[..., Array]:
    """What is left of it if the two arrays are known to be plain, of one dtype."""

    def plain(input: Array, other: Any, alpha: Any) -> Array:
        if type(other) is Array and alpha == 1 and type(alpha) is int:
            try:
                return run_quietly(loop, input, other)
            except FAST_PATH_FAILED:
                pass
        return kernel(input, other, alpha)

    return plain


# -------------------- with numbers --------------------


class _Parameters(dict[tuple[Any, ...], tuple[Array, ...]]):
    """The numbers of calls as arrays of a dtype, which fit into it."""

    def __init__(self, dtype: np.dtype) -> None:
        super().__init__()
        self._dtype = dtype

    def __missing__(self, numbers: tuple[Any, ...]) -> tuple[Array, ...]:
        made = tuple([kept_constant(wide_parameter(each, self._dtype), self._dtype) for each in numbers])
        if len(self) >= 1024:
            self.clear()
        if 0 not in numbers:  # 0.0 and -0.0 would be the same key
            self[numbers] = made
        return made


def _parameters_of(op: Op) -> _Parameters | None:
    """Arrays in the place of numbers take a compiled loop half of the time; NumPy's loops look at the numbers."""
    return _Parameters(FLOAT) if type(op.loops.get(FLOAT)) is np.ufunc else None


@_made_when_called
def unary_with_numbers(op: Op) -> Callable[..., Array]:
    """A kernel of one operand and a tuple of numbers, which are refused if they do not fit into the dtype."""
    loop, parameters = op.loops.get(FLOAT), _parameters_of(op)

    def kernel(input: Array, numbers: tuple[Any, ...], out: Array | None = None) -> Array:
        if parameters is not None and out is None and input.dtype is FLOAT:
            try:
                ndim = input.ndim
                if ndim == 1 or (ndim and input.flags.c_contiguous):
                    return run_quietly(loop, input, *parameters[numbers])
            except FAST_PATH_FAILED:
                pass
        return compute(op, (input,), out, *[wide_parameter(each, input.dtype) for each in numbers])

    return kernel


@_made_when_called
def binary_with_numbers(op: Op) -> Callable[..., Array]:
    """The same of two operands."""
    loop, parameters = op.loops.get(FLOAT), _parameters_of(op)

    def kernel(input: Array, other: Array, numbers: tuple[Any, ...], out: Array | None = None) -> Array:
        if parameters is not None and out is None and input.dtype is FLOAT is other.dtype:
            try:
                if are_plain(input, other):
                    return run_quietly(loop, input, other, *parameters[numbers])
            except FAST_PATH_FAILED:
                pass
        return compute(op, (input, other), out, *[wide_parameter(each, input.dtype) for each in numbers])

    return kernel


def _are_three(a: Array, b: Array, out: Array, result_dtype: np.dtype) -> bool:
    """Whether they are the plain case, without a look at what it could be otherwise: three row-major arrays of one
    shape, each with few elements in memory of its own, the operands of one dtype."""
    return (
        out.base is None is a.base is b.base
        and out is not a
        and out is not b
        and a.shape == b.shape == out.shape
        and b.dtype is a.dtype
        and out.dtype is result_dtype
        and 0 < out.ndim
        and out.size <= BLOCK
        and a.flags.c_contiguous
        and b.flags.c_contiguous
        and out.flags.c_contiguous
    )


def _takes(out: Array, result_dtype: np.dtype, input: Array) -> bool:
    """Whether results, as many as there are elements of `input`, can be written to `out` as it is: its elements lie
    apart, and there is nothing to warn of, to refuse or to convert. Many are for the iterator, which has threads."""
    if out is input:
        return out.dtype is result_dtype and (out.base is None or out.flags.c_contiguous)
    if type(out) is not Array or out.dtype is not result_dtype or out.shape != input.shape:
        return False
    return out.base is None and out.size <= BLOCK and _is_apart(input, out)


def _is_apart(operand: Array, out: Array) -> bool:
    """Whether an operand, which is another array, can be read while `out` is written."""
    return operand.base is None is out.base or not may_share_memory(operand, out)


def _is_written_safely(out: Array, operand: Array) -> bool:
    """Whether the first operand can take the results: its elements lie apart, and the other one elsewhere."""
    if out.base is None is operand.base:
        return True
    return operand is not out and (out.base is None or out.flags.c_contiguous) and not may_share_memory(operand, out)


def _is_alike_or_single(operand: Array, out: Array) -> bool:
    """The same of a further operand, which must not make the result larger either."""
    return operand is not out and (not operand.ndim or operand.shape == out.shape) and _is_apart(operand, out)


def predicate(function: Any, factory: Any = unary, supported: Any = ALL) -> Any:
    """The kernel of a function of elements that is true or false, with `binary` as the factory of pairs."""
    return factory(Op(loops(function, supported), result_dtype=to_bool))


def is_plain(array: Array) -> bool:
    """Row-major, and no strides of dimensions of size 1 or 0 that could matter for the order of dimensions."""
    return array.size > 1 and array.flags.c_contiguous and 1 not in array.shape


def are_plain(a: Array, b: Array) -> bool:
    """Whether NumPy lays out a result for these two as torch does: row-major. Two 0-d arrays make a scalar."""
    if not (a.flags.c_contiguous and b.flags.c_contiguous):
        return False
    shape, other = a.shape, b.shape
    return bool(shape) if shape == other else not (1 in shape or 1 in other or 0 in shape or 0 in other)
