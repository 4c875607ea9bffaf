"""Computations of several passes over arrays, in blocks: what a pass leaves for the next one stays in the cache."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch.iterator import BLOCK

Array = np.ndarray


def in_one_go(loop: Callable[..., Array]) -> Callable[..., Array]:
    """Marks a computation that needs no memory but its output, which can be its first input, too.

    Large arrays need not be cut for it.
    """
    loop.in_one_go = True  # type: ignore[attr-defined]
    return loop


def _shape_of(arrays: tuple[Array, ...]) -> tuple[int, ...]:
    shapes = {each.shape for each in arrays}
    return shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)


def blockwise(arrays: int) -> Callable[[Callable[..., None]], Callable[..., Array]]:
    """Makes a computation of a `step(out, *arrays, *params)` that writes `out`, and runs it block by block.

    The decorated function takes `arrays` arrays, then the params. Where they are large and not all row-major, an
    iterator calls it with small parts of them.
    """

    def decorate(step: Callable[..., None]) -> Callable[..., Array]:
        def loop(*args: Any, out: Array | None = None) -> Array:
            inputs, params = args[:arrays], args[arrays:]
            if out is None:
                out = np.empty(_shape_of(inputs), inputs[0].dtype)
            everything = (out, *inputs)
            if out.size > BLOCK and all([each.flags.c_contiguous and each.shape == out.shape for each in everything]):
                flat = [each.reshape(-1) for each in everything]
                for start in range(0, out.size, BLOCK):
                    step(*[each[start : start + BLOCK] for each in flat], *params)
            else:  # NumPy makes 0-d intermediates scalars, which a step cannot write to
                step(*[each if each.ndim else each.reshape(1) for each in everything], *params)
            return out

        return loop

    return decorate
