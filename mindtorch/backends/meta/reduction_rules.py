"""Shape rules of ranks, extremes, histograms and searches, as those of rules.py."""

from typing import Any

from mindtorch import iterator
from mindtorch._core.promotion import INT32, INT64, real_of
from mindtorch.backends.meta.results import Kernel, deliver, deliver_all, is_array


def aminmax(promotion: str) -> Kernel:
    def kernel(input: Any, dim: int | None = None, keepdim: bool = False, out: Any = None) -> Any:
        shape = _reduced(input, dim, keepdim)
        return deliver_all(out, [(shape, input.dtype, None)] * 2)

    return kernel


def spread_and_mean(promotion: str) -> Kernel:
    def kernel(input: Any, dim: Any = None, correction: Any = None, keepdim: bool = False, out: Any = None) -> Any:
        shape = _reduced(input, dim, keepdim)
        return deliver_all(out, [(shape, real_of(input.dtype), None), (shape, input.dtype, None)])

    return kernel


def rank(promotion: str) -> Kernel:
    """The values at a rank and their indices, by default along the last dimension."""

    def kernel(input: Any, dim: int = -1, keepdim: bool = False, out: Any = None) -> Any:
        shape = _reduced(input, dim, keepdim)
        return deliver_all(out, [(shape, input.dtype, None), (shape, INT64, None)])

    return kernel


def kthvalue(promotion: str) -> Kernel:
    along_dim = rank(promotion)

    def kernel(input: Any, k: int, dim: int = -1, keepdim: bool = False, out: Any = None) -> Any:
        (axis,) = iterator.reduced_dims(dim, input.ndim) or (0,)
        if not 1 <= k <= (input.shape[axis] if input.ndim else 1):
            raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {axis}")
        return along_dim(input, dim, keepdim, out)

    return kernel


def _reduced(input: Any, dim: int | None, keepdim: bool) -> tuple[int, ...]:
    return iterator.reduced_shape(input.shape, iterator.reduced_dims(dim, input.ndim), keepdim)


def histc(promotion: str) -> Kernel:
    def kernel(input: Any, bins: int = 100, min: Any = 0, max: Any = 0, out: Any = None) -> Any:
        return deliver(out, (bins,), input.dtype)

    return kernel


def histogram(promotion: str) -> Kernel:
    def kernel(input: Any, bins: Any = 100, *options: Any, out: Any = None) -> Any:
        count = bins if isinstance(bins, int) else bins.shape[0] - 1
        return deliver_all(out, [((size,), input.dtype, None) for size in (count, count + 1)])

    return kernel


def searchsorted(promotion: str) -> Kernel:
    def kernel(sorted_sequence: Any, input: Any, out_int32: bool = False, *options: Any, out: Any = None) -> Any:
        return deliver(out, _shape_of(input), INT32 if out_int32 else INT64)

    return kernel


def bucketize(promotion: str) -> Kernel:
    def kernel(input: Any, boundaries: Any, out_int32: bool = False, right: bool = False, out: Any = None) -> Any:
        return deliver(out, _shape_of(input), INT32 if out_int32 else INT64)

    return kernel


def _shape_of(value: Any) -> tuple[int, ...]:
    return value.shape if is_array(value) else ()
