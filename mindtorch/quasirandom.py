"""Quasi-random numbers: `SobolEngine`, whose points fill the unit cube more evenly than random ones.

A Sobol' sequence is made of direction numbers, one row of bits for each dimension. Point n is the XOR of those at the
bits of the Gray code of n, so that each point is one XOR away from the one before it. Scrambling multiplies the bits of
the direction numbers by random triangular matrices and shifts all points.
"""

from typing import Any

import numpy as np
from scipy.stats import qmc

from mindtorch._core.dtype import dtype, float32, float64, get_default_dtype, int64
from mindtorch._core.generator import Generator
from mindtorch._core.tensor import Tensor, wrap
from mindtorch.dispatch import ops


class SobolEngine:
    """Draws the points of a Sobol' sequence in [0, 1), as a tensor with one row for each."""

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.seed = seed
        self.scramble = scramble
        self.dimension = dimension
        self.sobolstate = wrap(_direction_numbers(dimension, self.MAXBIT))
        self.shift = ops.zeros(dimension, dtype=int64)
        if scramble:
            self._scramble()
        self.quasi = self.shift.clone()
        self._first_point = (self.quasi / 2**self.MAXBIT).reshape(1, -1)
        self.num_generated = 0

    def _scramble(self) -> None:
        generator = None if self.seed is None else Generator().manual_seed(self.seed)
        bits = ops.randint(2, (self.dimension, self.MAXBIT), generator=generator)
        self.shift = ops.mv(bits, ops.pow(2, ops.arange(0, self.MAXBIT)))
        matrices = ops.randint(2, (self.dimension, self.MAXBIT, self.MAXBIT), generator=generator).tril()
        self.sobolstate = wrap(_multiplied(matrices._mt_array, self.sobolstate._mt_array))

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: dtype | None = None) -> Tensor:
        """The next `n` points."""
        dtype = dtype or get_default_dtype()
        if self.num_generated:
            result = self._points(n, self.num_generated - 1, dtype)
        elif n == 1:
            result = self._first_point.to(dtype)
        else:
            result = ops.cat((self._first_point.to(dtype), self._points(n - 1, 0, dtype)), dim=-2)
        self.num_generated += n
        if out is None:
            return result
        return out.resize_as_(result).copy_(result)

    def _points(self, n: int, start: int, dtype: dtype) -> Tensor:
        """The `n` points behind the one of number `start`, which is the present one."""
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {[n, self.dimension]}")
        if dtype not in (float32, float64):
            raise NotImplementedError(f"\"_sobol_engine_draw\" not implemented for '{dtype.storage_name}'")
        steps = self.sobolstate._mt_array.T[_lowest_zero_bits(start, n)]
        points = np.bitwise_xor.accumulate(np.concatenate([self.quasi._mt_array[None], steps]), axis=0)
        self.quasi = wrap(points[-1].copy())
        return wrap(points[1:]).to(dtype).mul_(1 / 2**self.MAXBIT)

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: dtype | None = None) -> Tensor:
        """The next `2**m` points; all points so far have to be a power of 2 then, for they are balanced only so."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. "
                "If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self) -> "SobolEngine":
        """Begin again."""
        self.quasi = self.shift.clone()
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> "SobolEngine":
        """Leave out the next `n` points."""
        if n <= 0:
            self.num_generated += n
            return self
        first = self.num_generated == 0
        before = 0 if first else self.num_generated - 1
        after = before + n - first
        changed = (before ^ before >> 1) ^ (after ^ after >> 1)
        places = [place for place in range(self.MAXBIT) if changed >> place & 1]
        change = np.bitwise_xor.reduce(self.sobolstate._mt_array[:, places], axis=1, initial=0)
        self.quasi = wrap(change ^ self.quasi._mt_array)
        self.num_generated += n
        return self

    def __repr__(self) -> str:
        facts = [f"dimension={self.dimension}"]
        if self.scramble:
            facts.append("scramble=True")
        if self.seed is not None:
            facts.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(facts)})"


def _direction_numbers(dimension: int, bits: int) -> np.ndarray:
    """Those of Joe and Kuo, which SciPy keeps as well; a row for each dimension."""
    return qmc.Sobol(dimension, scramble=False, bits=bits)._sv.astype(np.int64)


def _multiplied(matrices: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """The numbers of each dimension, as vectors of bits with the highest first, times its triangular matrix."""
    width = matrices.shape[-1]
    weights = np.arange(width - 1, -1, -1)
    matrices = matrices | np.eye(width, dtype=np.int64)
    vectors = numbers[..., None] >> weights & 1
    products = vectors @ matrices.swapaxes(-1, -2) & 1
    return (products << weights).sum(-1)


def _lowest_zero_bits(start: int, count: int) -> np.ndarray:
    """For each number from `start` on, which of its bits is the lowest that is 0."""
    numbers: Any = np.arange(start, start + count)
    lowest = ~numbers & (numbers + 1)
    return np.log2(lowest).astype(np.int64)
