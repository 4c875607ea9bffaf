"""`lobpcg`: a few eigenvalues and eigenvectors of a large symmetric matrix, which is only ever multiplied with vectors.

Each step looks for better vectors in the space of the present ones, of their residuals and of the directions of the
last step (the locally optimal block preconditioned conjugate gradient method).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from mindtorch._core.dtype import float16, float32, float64
from mindtorch._core.tensor import Tensor
from mindtorch.autograd.function import Function
from mindtorch.dispatch import ops

_PRECISIONS = {float32: 1.2e-07, float64: 2.23e-16}

Pairs = tuple[Tensor, Tensor]


def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Callable[[Any], None] | None = None,
    ortho_iparams: Mapping[str, int] | None = None,
    ortho_fparams: Mapping[str, float] | None = None,
    ortho_bparams: Mapping[str, bool] | None = None,
) -> Pairs:
    """The `k` largest (or smallest) eigenvalues of `A x = E B x`, and their vectors as columns.

    `X` has the vectors to begin with, else `n` random ones; `iK` is a preconditioner, about the inverse of A.
    """
    others = (X, n, iK, niter, tol, largest, method, tracker, ortho_iparams, ortho_fparams, ortho_bparams)
    if A.requires_grad or (B is not None and B.requires_grad):
        symmetric = (A + A.mT) / 2
        return _Differentiable.apply(symmetric, k, None if B is None else (B + B.mT) / 2, *others)
    return _pairs(A, k, B, *others)


def _pairs(
    A: Tensor,
    k: int | None,
    B: Tensor | None,
    X: Tensor | None,
    n: int | None,
    iK: Tensor | None,
    niter: int | None,
    tol: float | None,
    largest: bool | None,
    method: str | None,
    *others: Any,
) -> Pairs:
    _check_matrices(A, B)
    dtype = A.dtype if A.dtype in (float16, float32, float64) else float32
    tol = _PRECISIONS[dtype] ** 0.5 if tol is None else tol
    rows = A.shape[-1]
    k = (1 if X is None else X.shape[-1]) if k is None else k
    n = (k if n is None else n) if X is None else X.shape[-1]
    if rows < 3 * n:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={rows}) is smaller than 3 x the number of "
            f"requested eigenpairs (={n})"
        )
    iparams = {"m": rows, "n": n, "k": k, "niter": 1000 if niter is None else niter}
    bparams = {"largest": True if largest is None else largest}

    def search(A: Tensor, B: Tensor | None, X: Tensor | None, number: int | None) -> Pairs:
        X = ops.randn((rows, n), dtype=dtype, device=A.device) if X is None else X
        if tuple(X.shape) != (rows, n):
            raise AssertionError(f"X shape mismatch: got {X.shape}, expected {(rows, n)}")
        numbered = iparams if number is None else {**iparams, "batch_index": number}
        worker = LOBPCG(A, B, X, iK, numbered, {"tol": tol}, bparams, method or "ortho", *others)
        worker.run()
        return worker.E[:k], worker.X[:, :k]

    if A.ndim == 2:
        return search(A, B, X, None)
    return _batched(search, A, B, X)


def _check_matrices(A: Tensor, B: Tensor | None) -> None:
    if A.shape[-2] != A.shape[-1]:
        raise AssertionError(f"A must be square, got shape {A.shape}")
    if B is not None and A.shape != B.shape:
        raise AssertionError(f"A and B must have same shape, got {A.shape} vs {B.shape}")


def _batched(search: Callable[..., Pairs], A: Tensor, B: Tensor | None, X: Tensor | None) -> Pairs:
    """One matrix after the other."""
    batch = A.shape[:-2]
    flat = [None if each is None else each.reshape(prod(batch), *each.shape[-2:]) for each in (A, B, X)]
    found = [search(*(each if each is None else each[i] for each in flat), i) for i in range(prod(batch))]
    values, vectors = (ops.stack([pair[part] for pair in found]) for part in (0, 1))
    return values.reshape(*batch, *values.shape[1:]), vectors.reshape(*batch, *vectors.shape[1:])


class LOBPCG:
    """The state of a search, which trackers look at."""

    def __init__(
        self,
        A: Tensor,
        B: Tensor | None,
        X: Tensor,
        iK: Tensor | None,
        iparams: Mapping[str, int],
        fparams: Mapping[str, float],
        bparams: Mapping[str, bool],
        method: str,
        tracker: Callable[[LOBPCG], None] | None,
        *ortho: Mapping[str, Any] | None,
    ) -> None:
        self.A, self.B, self.iK, self.method, self.tracker = A, B, iK, method, tracker
        tol = fparams["tol"]
        given_i, given_f, given_b = (each or {} for each in ortho)
        self.iparams = {**iparams, "ortho_i_max": 3, "ortho_j_max": 3, **given_i}
        tolerances = dict.fromkeys(("ortho_tol", "ortho_tol_drop", "ortho_tol_replace"), tol)
        self.fparams = {**fparams, **tolerances, **given_f}
        self.bparams = {**bparams, "ortho_use_drop": False, **given_b}
        rows, width = iparams["m"], iparams["n"]
        self.X = X.clone()
        self.E = X.new_zeros(width)
        self.R = X.new_zeros(rows, width)
        self.S = X.new_zeros(rows, 3 * width)
        self.tvars: dict[str, Tensor] = {}
        self.ivars = {"istep": 0, "iterations_left": self.iparams["niter"], "converged_count": 0, "converged_end": 0}
        self.bvars: dict[str, bool] = {}
        length = float(ops.norm(self.X))
        self.fvars = {
            "X_norm": length,
            "A_norm": float(ops.norm(_times(A, self.X))) / length,
            "B_norm": float(ops.norm(_times(B, self.X))) / length,
        }

    def run(self) -> None:
        """Step by step, until enough vectors are exact enough."""
        step = self._step_in_orthogonal_space if self.method == "ortho" else self._step
        while True:
            step()
            self.ivars["iterations_left"] -= 1
            self.ivars["istep"] += 1
            if self.tracker is not None:
                self.tracker(self)
            if self._is_over():
                return

    def _is_over(self) -> bool:
        is_exact = self.ivars["converged_count"] >= self.iparams["k"]
        return self.bvars.get("force_stop", False) or self.ivars["iterations_left"] == 0 or is_exact

    # -------------------- steps --------------------

    def _step_in_orthogonal_space(self) -> None:
        width, done = self.iparams["n"], self.ivars["converged_count"]
        if not self.ivars["istep"]:
            self._begin()
            self._continue(None, 0, lambda known: self._orthogonal(self.R, known))
            return
        space = self.S[:, done : self.ivars["converged_end"]]
        values, Z = _eigenpairs(_form(self.A, space), self.bparams["largest"])
        split = width - done
        self.X[:, done:] = space @ Z[:, :split]
        self.E[done:] = values[:split]
        directions = space @ (Z[:, split:] @ ops.linalg_qr(Z[:split, split:].mT)[0])
        done = self._update_residual()
        self._continue(directions, done, lambda known: self._orthogonal(self.R[:, done:], known))

    def _step(self) -> None:
        width, done = self.iparams["n"], self.ivars["converged_count"]
        if not self.ivars["istep"]:
            self._begin()
            self._continue(None, 0, lambda known: _times(self.iK, self.R))
            return
        space = self.S[:, done : self.ivars["converged_end"]]
        turn = self._to_orthonormal(space)
        values, Z = _eigenpairs(_form(_form(self.A, space), turn), self.bparams["largest"])
        split = width - done
        self.X[:, done:] = space @ (turn @ Z[:, :split])
        self.E[done:] = values[:split]
        directions = space @ (turn @ Z[:, width : 2 * width - done])
        done = self._update_residual()
        self._continue(directions, done, lambda known: _times(self.iK, self.R[:, done:]))

    def _begin(self) -> None:
        """The eigenvectors in the space of the first vectors."""
        turn = self._to_orthonormal(self.X)
        values, Z = _eigenpairs(_form(_form(self.A, self.X), turn), self.bparams["largest"])
        self.X = self.X @ (turn @ Z)
        if self.method != "ortho":
            self.E = values
        self._update_residual()

    def _continue(self, directions: Tensor | None, done: int, more: Callable[[Tensor], Tensor]) -> None:
        """Put together the space of the next step: vectors, directions, and `more` that is new."""
        end = self.iparams["n"]
        self.S[:, :end] = self.X
        if directions is not None:
            self.S[:, end : end + directions.shape[-1]] = directions
            end += directions.shape[-1]
        new = more(self.S[:, :end])
        self.ivars["converged_end"] = end + new.shape[-1]
        self.S[:, end : end + new.shape[-1]] = new

    def _update_residual(self) -> int:
        """How wrong the vectors are, and how many from the first on are exact enough."""
        self.R = _times(self.A, self.X) - _times(self.B, self.X) * self.E
        scale = self.fvars["A_norm"] + self.E[: self.X.shape[-1]].abs() * self.fvars["B_norm"]
        self.tvars["rerr"] = error = self.R.norm(2, (0,)) / (self.X.norm(2, (0,)) * scale)
        exact = (error < self.fparams["tol"]).tolist()
        count = exact.index(False) if False in exact else len(exact)
        before = self.ivars["converged_count"]
        if count < before:
            raise AssertionError(f"the number of converged eigenpairs (was {before}, got {count}) cannot decrease")
        self.ivars["converged_count"] = count
        return count

    # -------------------- orthogonal vectors --------------------

    def _to_orthonormal(self, space: Tensor) -> Tensor:
        """What makes the columns orthonormal with respect to B, multiplied from the right."""
        products = _form(self.B, space)
        scale = products.diagonal(0, -2, -1) ** -0.5
        factor = ops.linalg_cholesky(products * scale * scale.unsqueeze(-1), upper=True)
        return ops.linalg_solve_triangular(factor, scale.diag_embed(), upper=True, left=False)

    def _orthogonal(self, U: Tensor, V: Tensor) -> Tensor:
        """The columns of U made orthogonal to those of V and to each other."""
        length = ops.norm(_times(self.B, V))
        products = V.mT @ _times(self.B, U)
        for _ in range(self.iparams["ortho_i_max"]):
            U = self._orthonormal(U - V @ products)
            if not U.numel():
                return U
            products = V.mT @ _times(self.B, U)
            if float(ops.norm(products)) / float(length * ops.norm(U)) < self.fparams["ortho_tol"]:
                return U
            if self.iparams["m"] < U.shape[-1] + V.shape[-1]:
                raise ValueError(
                    f"Overdetermined shape of U: #B-cols(={self.iparams['m']}) >= #U-cols(={U.shape[-1]}) + "
                    f"#V-cols(={V.shape[-1]}) must hold"
                )
        return U

    def _orthonormal(self, U: Tensor) -> Tensor:
        use_drop = self.bparams["ortho_use_drop"]
        threshold = self.fparams["ortho_tol_drop" if use_drop else "ortho_tol_replace"]
        for number in range(self.iparams["ortho_j_max"]):
            U = self._scaled_by_eigenvectors(U, use_drop and number > 0, threshold)
            threshold = self.fparams["ortho_tol_replace"]
            if not U.numel():
                return U
            products, weighted = _form(self.B, U), _times(self.B, U)
            error = products - ops.eye(products.shape[-1], dtype=U.dtype)
            if float(ops.norm(error)) / float(ops.norm(weighted) * ops.norm(U)) < self.fparams["ortho_tol"]:
                break
        return U

    def _scaled_by_eigenvectors(self, U: Tensor, drop: bool, tolerance: float) -> Tensor:
        """One round of it: by the eigenvectors of the products of all columns. Columns that are 0 are left out."""
        U = U[:, _form(self.B, U).diagonal() != 0]
        if not U.numel():
            return U
        products = _form(self.B, U)
        scale = products.diagonal() ** -0.5
        E, Z = ops.linalg_eigh(products * scale.unsqueeze(-1) * scale)
        least = tolerance * E.abs().max()
        if drop:
            kept = E > least
            E, Z = E[kept], Z[:, kept]
        else:
            E = ops.where(E < least, least, E)
        return (U * scale) @ (Z * E**-0.5)


def _times(A: Tensor | None, X: Tensor) -> Tensor:
    return X if A is None else ops.matmul(A, X)


def _form(A: Tensor | None, X: Tensor) -> Tensor:
    return X.mT @ _times(A, X)


def _eigenpairs(A: Tensor, largest: bool) -> Pairs:
    values, vectors = ops.linalg_eigh(A)
    return (values.flip(-1), vectors.flip(-1)) if largest else (values, vectors)


class _Differentiable(Function):
    """With gradients, for which all other eigenvectors are needed as well."""

    @staticmethod
    def forward(ctx: Any, A: Tensor, k: int | None, B: Tensor | None, *others: Any) -> Pairs:
        values, vectors = _pairs(A.contiguous(), k, B, *others)
        ctx.save_for_backward(A, B, values, vectors)
        return values, vectors

    @staticmethod
    def backward(ctx: Any, grad_values: Tensor, grad_vectors: Tensor) -> Any:
        A, B, values, vectors = ctx.saved_tensors
        if A.is_sparse or B is not None:
            what = "sparse input yet" if A.is_sparse else "B != I yet"
            raise ValueError(f"lobpcg.backward does not support {what}")
        all_values, basis = ops.linalg_eigh(A)
        distances = values.unsqueeze(-2) - all_values.unsqueeze(-1)
        is_own = distances.abs() == distances.abs().amin(-2, keepdim=True)
        rates = distances.masked_fill(is_own, float("inf")).reciprocal() * (basis.mT @ grad_vectors)
        grad = (basis @ rates + vectors * grad_values.unsqueeze(-2)) @ vectors.mT
        return (grad + grad.mT) / 2, *[None] * 13
