"""Methods that compare whole tensors or look for elements; the functions are in `comparison` and `searching`."""

from typing import Any

from mindtorch import comparison, searching
from mindtorch.tensor import Tensor, extend_tensor


@extend_tensor
class ComparingMethods:
    """`equal`, `isclose`, `allclose`."""

    def equal(self: Any, other: Tensor) -> bool:
        return comparison.equal(self, other)

    def isclose(self, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
        return comparison.isclose(self, other, rtol, atol, equal_nan)

    def allclose(self, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
        return comparison.allclose(self, other, rtol, atol, equal_nan)


@extend_tensor
class SearchingMethods:
    """`nonzero`, `unique`, `bincount`."""

    def nonzero(self: Any, *, as_tuple: bool = False) -> Any:
        return searching.nonzero(self, as_tuple=as_tuple)

    def unique(
        self: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
    ) -> Any:
        return searching.unique(self, sorted, return_inverse, return_counts, dim)

    def unique_consecutive(
        self: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
    ) -> Any:
        return searching.unique_consecutive(self, return_inverse, return_counts, dim)

    def bincount(self: Any, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
        return searching.bincount(self, weights, minlength)
