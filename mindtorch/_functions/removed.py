"""Functions of linear algebra that torch has removed, each with what to call instead, and `lu`, which is to follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch._core.tensor import Tensor, extend_tensor
from mindtorch.dispatch import ops

_REMOVED = "This function was deprecated since version 1.9 and is now removed."
_BOTH = "\n\nand\n\nL, V = torch.{name}(A, eigenvectors=True) should be replaced with:\n{vectors}"


def _removed(name: str, advice: str) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(_REMOVED + advice)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Removed from torch; the error says what to call."
    return function


solve = _removed(
    "solve",
    " `torch.solve` is deprecated in favor of `torch.linalg.solve`. `torch.linalg.solve` has its arguments reversed "
    "and does not return the LU factorization.\n\nTo get the LU factorization see `torch.lu`, which can be used with "
    "`torch.lu_solve` or `torch.lu_unpack`.\nX = torch.solve(B, A).solution should be replaced with:\n"
    "X = torch.linalg.solve(A, B)",
)
lstsq = _removed(
    "lstsq",
    " `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.\n`torch.linalg.lstsq` has reversed arguments and "
    "does not return the QR decomposition in the returned tuple (although it returns other information about the "
    "problem).\n\nTo get the QR decomposition consider using `torch.linalg.qr`.\n\nThe returned solution in "
    "`torch.lstsq` stored the residuals of the solution in the last m - n columns of the returned value whenever m > n."
    " In torch.linalg.lstsq, the residuals are in the field 'residuals' of the returned named tuple.\n\nThe unpacking "
    "of the solution, as in\nX, _ = torch.lstsq(B, A).solution[:A.size(1)]\nshould be replaced with:\n"
    "X = torch.linalg.lstsq(A, B).solution",
)
eig = _removed(
    "eig",
    " `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than real tensors mimicking "
    "complex tensors.\n\nL, _ = torch.eig(A) should be replaced with:\nL_complex = torch.linalg.eigvals(A)"
    + _BOTH.format(name="eig", vectors="L_complex, V_complex = torch.linalg.eig(A)"),
)
symeig = _removed(
    "symeig",
    " The default behavior has changed from using the upper triangular portion of the matrix by default to using the "
    "lower triangular portion.\n\nL, _ = torch.symeig(A, upper=upper) should be replaced with:\n"
    "L = torch.linalg.eigvalsh(A, UPLO='U' if upper else 'L')"
    + _BOTH.format(name="symeig", vectors="L, V = torch.linalg.eigh(A, UPLO='U' if upper else 'L')"),
)
matrix_rank = _removed(
    "matrix_rank",
    "\nPlease use the `torch.linalg.matrix_rank` function instead. The parameter 'symmetric' was renamed in "
    "`torch.linalg.matrix_rank()` to 'hermitian'.",
)


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Sequence[Tensor] | None = None) -> Any:
    """L and U in one matrix, and the rows that were exchanged; with `get_infos`, also whether that succeeded."""
    result = ops._lu_with_info(A, pivot=pivot, check_errors=not get_infos)
    given = result if get_infos else tuple(result[:2])
    if out is None:
        return given
    if len(out) != len(given):
        raise TypeError(f"expected tuple of {len(given)} elements but got {len(out)}")
    for target, value in zip(out, given, strict=True):
        target.resize_as_(value).copy_(value)
    return out


@extend_tensor
class RemovedMethods:
    """The methods of these names."""

    solve, lstsq, eig, symeig = solve, lstsq, eig, symeig

    def lu(self: Any, pivot: bool = True, get_infos: bool = False) -> Any:
        """`torch.lu` of this tensor."""
        return lu(self, pivot, get_infos)
