"""Computations of several passes over arrays, in blocks: what a pass leaves for the next one stays in the cache."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np

from mindtorch._core import aligned

Array = np.ndarray

_BLOCK = 1 << 15  # elements: more than on an iterator, because a step makes many calls


_ndim_of = attrgetter("ndim")


def in_one_go(loop: Callable[..., Array]) -> Callable[..., Array]:
    """Marks a computation that needs no memory but its output, which can be its first input, too.

    Large arrays need not be cut for it.
    """
    loop.in_one_go = True  # type: ignore[attr-defined]
    return loop


def _shape_of(arrays: tuple[Array, ...]) -> tuple[int, ...]:
    shape = arrays[0].shape
    for each in arrays:
        if each.shape != shape:
            return np.broadcast_shapes(*[each.shape for each in arrays])
    return shape


def _are_few(first: Array, others: tuple[Array, ...]) -> bool:
    """Whether arrays of one shape, of which one block is enough, are all that there is."""
    if not 0 < first.size <= _BLOCK or not first.ndim:
        return False
    for each in others:
        if each.shape != first.shape:
            return False
    return True


def blockwise(arrays: int, temporaries: int = 0) -> Callable[[Callable[..., None]], Callable[..., Array]]:
    """Makes a computation of a `step(out, *arrays, *params, *temporaries)` that writes `out`, and runs it in blocks.

    The decorated function takes `arrays` arrays, then the params. Where they are large and not all row-major, an
    iterator calls it with small parts of them. The temporaries are arrays like `out` for what a step computes in
    between: the same ones for all blocks, as new ones would have to come from the system each time. They are None where
    there is one block, so a step writes `t = np.negative(x, t)`.
    """
    none = (None,) * temporaries

    def decorate(step: Callable[..., None]) -> Callable[..., Array]:
        def loop(*args: Any, out: Array | None = None) -> Array:
            if out is None and _are_few(args[0], args[1:arrays]):
                out = np.empty(args[0].shape, args[0].dtype)
                step(out, *args, *none)
                return out
            inputs = args[:arrays]
            if out is None:
                out = aligned.empty(_shape_of(inputs), inputs[0].dtype)
            if out.size <= _BLOCK and (out.ndim if arrays == 1 else 0 not in map(_ndim_of, inputs)):
                step(out, *args, *none)
            elif out.size > _BLOCK and all([_can_be_cut(each, out.shape) for each in (out, *inputs)]):
                _run_in_blocks(step, (out, *inputs), args[arrays:], temporaries)
            elif 0 in map(_ndim_of, inputs):  # NumPy makes intermediates scalars, which no step can write to
                step(*[each if each.ndim else each.reshape(1) for each in (out, *inputs)], *args[arrays:], *none)
            else:
                step(out, *args, *none)
            return out

        return loop

    return decorate


def _can_be_cut(array: Array, shape: tuple[int, ...]) -> bool:
    """Whether it is row-major like the output, or a single number."""
    return not array.ndim or (array.flags.c_contiguous and array.shape == shape)


def _run_in_blocks(step: Callable[..., None], arrays: tuple[Array, ...], params: tuple[Any, ...], count: int) -> None:
    flat = [each.reshape(-1) for each in arrays]
    spare = [aligned.scratch(_BLOCK, arrays[0].dtype) for _ in range(count)]
    for start in range(0, flat[0].size, _BLOCK):
        parts = [each[start : start + _BLOCK] if each.size > 1 else each for each in flat]
        step(*parts, *params, *[each[: parts[0].size] for each in spare])
