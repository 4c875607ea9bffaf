"""Products of matrices, and what little there is of linear algebra."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.npu_simulator.evaluate.contract import Evaluator, broadcast, refuse, require, same_dtype, store, wide

EVALUATORS: dict[str, Evaluator] = {}


def _product(one: Any, other: Any, cube: int, ranks: tuple[tuple[int, ...], ...]) -> tuple[np.dtype, np.ndarray]:
    # cubeMathType: 0 KEEP_DTYPE, 1 ALLOW_FP32_DOWN_PRECISION, 2 USE_FP16, 3 USE_HF32, 4 FP32_ADD
    require(cube in range(5), f"cubeMathType {cube}")
    if one is None or other is None:
        refuse("a matrix is null", 161001)
    require(not ranks or (one.ndim, other.ndim) in ranks, f"{one.ndim} and {other.ndim} dimensions")
    x, y = wide(one), wide(other)
    inner = x.shape[-1] if x.ndim else 0, y.shape[-2 if y.ndim > 1 else -1] if y.ndim else 0
    require(x.ndim and y.ndim and inner[0] == inner[1], f"{one.shape} times {other.shape}")
    broadcast(x.shape[:-2], y.shape[:-2])
    return same_dtype(one, other), np.matmul(x, y)


def _matmul(*ranks: tuple[int, ...]) -> Evaluator:
    def evaluate(self: Any, mat2: Any, out: Any, cube: int) -> None:
        dtype, result = _product(self, mat2, cube, ranks)
        store(out, result, dtype=dtype)

    return evaluate


def _add_product(self: Any, result: np.ndarray, beta: float, alpha: float, dtype: np.dtype, out: Any) -> None:
    require(broadcast(self.shape, result.shape) == result.shape, f"{self.shape} for {result.shape}")
    # With beta 0 self takes no part, NaN or not.
    own = wide(self) * beta if beta else 0
    store(out, own + alpha * result, dtype=same_dtype(self, np.empty(0, dtype)))


def _add_matmul(rank: int) -> Evaluator:
    def evaluate(self: Any, one: Any, other: Any, beta: float, alpha: float, out: Any, cube: int) -> None:
        dtype, result = _product(one, other, cube, ((rank, rank),))
        _add_product(self, result, beta, alpha, dtype, out)

    return evaluate


def _addbmm(self: Any, one: Any, other: Any, beta: float, alpha: float, out: Any, cube: int) -> None:
    dtype, result = _product(one, other, cube, ((3, 3),))
    _add_product(self, result.sum(0), beta, alpha, dtype, out)


def _addmv(self: Any, mat: Any, vec: Any, alpha: float, beta: float, out: Any, cube: int) -> None:
    # alpha stands before beta here, and only here
    dtype, result = _product(mat, vec, cube, ((2, 1),))
    _add_product(self, result, beta, alpha, dtype, out)


def _addr(self: Any, one: Any, other: Any, beta: float, alpha: float, out: Any) -> None:
    _add_product(self, np.outer(wide(one), wide(other)), beta, alpha, same_dtype(one, other), out)


def _dot(self: Any, tensor: Any, out: Any) -> None:
    require(self.ndim == tensor.ndim == 1, "vectors are needed")
    store(out, _product(self, tensor, 0, ())[1].reshape(out.shape if out is not None else ()), dtype=self.dtype)


def _gemm(a: Any, b: Any, c: Any, alpha: float, beta: float, trans_a: int, trans_b: int, out: Any, cube: int) -> None:
    dtype, result = _product(a.T if trans_a else a, b.T if trans_b else b, cube, ((2, 2),))
    _add_product(c, result, beta, alpha, dtype, out)


def _ger(self: Any, vec2: Any, out: Any) -> None:
    store(out, np.outer(wide(self), wide(vec2)), dtype=same_dtype(self, vec2))


def _each(function: Callable[[np.ndarray], np.ndarray], matrices: np.ndarray) -> np.ndarray:
    """Of each matrix; not a number where there is no result. (The documents do not say what is given then.)"""
    found = np.full_like(matrices, np.nan)
    for place in np.ndindex(matrices.shape[:-2]):
        try:
            found[place] = function(matrices[place])
        except np.linalg.LinAlgError:
            continue
    return found


def _inverse(self: Any, out: Any) -> None:
    store(out, _each(np.linalg.inv, wide(self)), dtype=self.dtype)


def _slogdet(self: Any, sign: Any, log: Any) -> None:
    found = np.linalg.slogdet(wide(self))
    store(sign, found[0], dtype=self.dtype)
    store(log, found[1])


def _logdet(self: Any, out: Any) -> None:
    sign, log = np.linalg.slogdet(wide(self))
    store(out, np.where(sign < 0, np.nan, log), dtype=self.dtype)


def _cholesky(self: Any, upper: bool, out: Any) -> None:
    factor = _each(np.linalg.cholesky, wide(self))
    store(out, np.swapaxes(factor, -1, -2) if upper else factor, dtype=self.dtype)


def _cross(self: Any, other: Any, dim: int, out: Any) -> None:
    x, y = np.broadcast_arrays(wide(self), wide(other))
    store(out, np.cross(x, y, axis=dim), dtype=same_dtype(self, other))


EVALUATORS |= {
    "aclnnMatmul": _matmul(),
    "aclnnMm": _matmul((2, 2)),
    "aclnnBatchMatMul": _matmul((3, 3)),
    "aclnnMv": _matmul((2, 1)),
    "aclnnDot": _dot,
    "aclnnAddmm": _add_matmul(2),
    "aclnnBaddbmm": _add_matmul(3),
    "aclnnAddbmm": _addbmm,
    "aclnnAddmv": _addmv,
    "aclnnAddr": _addr,
    "aclnnGemm": _gemm,
    "aclnnGer": _ger,
    "aclnnInverse": _inverse,
    "aclnnSlogdet": _slogdet,
    "aclnnLogdet": _logdet,
    "aclnnLinalgCholesky": _cholesky,
    "aclnnLinalgCross": _cross,
}


def _qr(self: Any, complete: bool, q: Any, r: Any) -> None:
    found = np.linalg.qr(wide(self), "complete" if complete else "reduced")
    store(q, found[0], dtype=self.dtype)
    store(r, found[1], dtype=self.dtype)


def _qr_some(self: Any, some: bool, q: Any, r: Any) -> None:
    # "some false: Q is square"
    _qr(self, not some, q, r)


def _linalg_qr(self: Any, mode: int, q: Any, r: Any) -> None:
    # "mode: 0 reduced, 1 complete, 2 R only"
    require(mode in (0, 1, 2), f"mode {mode}")
    if mode == 2:
        return store(r, np.linalg.qr(wide(self), "r"), dtype=self.dtype)
    _qr(self, mode == 1, q, r)


def _svd(input: Any, full: bool, compute: bool, sigma: Any, u: Any, v: Any) -> None:
    # input = U diag(sigma) V^T: v is V, not its transpose; "computeUV false: u and v are not looked at"
    found = np.linalg.svd(wide(input), full)
    store(sigma, found[1], dtype=input.dtype)
    if compute:
        store(u, found[0], dtype=input.dtype)
        store(v, np.conj(np.swapaxes(found[2], -1, -2)), dtype=input.dtype)


def _triangular_solve(self: Any, a: Any, upper: bool, transpose: bool, unit: bool, x: Any, m: Any) -> None:
    # A X = self, or A^T X = self; mOut: the triangle of A that counts, broadcast
    dtype = same_dtype(self, a)
    shape = broadcast(self.shape[:-2], a.shape[:-2])
    triangle = (np.triu if upper else np.tril)(np.broadcast_to(wide(a), (*shape, *a.shape[-2:])))
    used = triangle.copy()
    if unit:
        used[..., range(a.shape[-1]), range(a.shape[-1])] = 1
    right = np.broadcast_to(wide(self), (*shape, *self.shape[-2:]))
    store(m, triangle, dtype=dtype)
    store(x, np.linalg.solve(np.swapaxes(used, -1, -2) if transpose else used, right), dtype=dtype)


def _einsum(tensors: Any, equation: str | None, out: Any) -> None:
    # "at present only abcd,abced->abce and a,b->ab"
    text = (equation or "").replace(" ", "")
    require(text in ("abcd,abced->abce", "a,b->ab"), f"equation {equation!r}")
    store(out, np.einsum(text, *map(wide, tensors)), dtype=same_dtype(*tensors))


EVALUATORS |= {
    "aclnnQr": _qr_some,
    "aclnnLinalgQr": _linalg_qr,
    "aclnnSvd": _svd,
    "aclnnTriangularSolve": _triangular_solve,
    "aclnnEinsum": _einsum,
}
