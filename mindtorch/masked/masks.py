"""Masks of inputs and results, and what takes the place of masked-out elements."""

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch._core.dtype import bool as boolean
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.dtype import float32, iinfo, uint8
from mindtorch._core.layout import strided
from mindtorch._core.tensor import Tensor
from mindtorch._functions.creation import tensor
from mindtorch.autograd import Function
from mindtorch.dispatch import ops
from mindtorch.masked.data import is_masked_tensor

Dims = int | Sequence[int] | None
_INFINITY = float("inf")

_REDUCTIONS = set("sum prod amax amin argmax argmin mean median norm var std logsumexp".split())
_NORMALIZATIONS = set("softmax log_softmax softmin normalize cumsum cumprod".split())


# -------------------- the element that changes nothing --------------------


def identity_of(op: str, input: Tensor, ord: Any = 2) -> Tensor | None:
    """The value that a reduction ignores, as a tensor without dimensions; None if there is no such value."""
    find = _IDENTITIES.get(op)
    value = find(input.dtype, ord) if find is not None else NotImplemented
    if value is NotImplemented:
        raise NotImplementedError(f"identity of {op} on {input.dtype} input")
    if value is None:
        return None
    dtype = float32 if op == "median" and not input.is_floating_point() else input.dtype
    return tensor(value, dtype=dtype, device=input.device)


def _lowest(dtype: Dtype, ord: Any) -> Any:
    if dtype.is_floating_point:
        return -_INFINITY
    return iinfo(dtype).min if _has_bounds(dtype) else NotImplemented


def _highest(dtype: Dtype, ord: Any) -> Any:
    if dtype.is_floating_point:
        return _INFINITY
    return iinfo(dtype).max if _has_bounds(dtype) else NotImplemented


def _has_bounds(dtype: Dtype) -> bool:
    return dtype.is_signed or dtype is uint8


def _log_of_zero(dtype: Dtype, ord: Any) -> Any:
    return complex(-_INFINITY, 0) if dtype.is_complex else _lowest(dtype, ord)


def _of_norm(dtype: Dtype, ord: Any) -> Any:
    if ord != -_INFINITY:
        return 0
    if not dtype.is_floating_point:
        raise AssertionError(f"input must be floating point, got {dtype}")
    return _INFINITY


_IDENTITIES: dict[str, Callable[[Dtype, Any], Any]] = {
    "amax": _lowest,
    "amin": _highest,
    "argmax": _lowest,
    "argmin": _highest,
    "cumprod": lambda dtype, ord: 1,
    "cumsum": lambda dtype, ord: 0,
    "logaddexp": _lowest,
    "logsumexp": _log_of_zero,
    "mean": lambda dtype, ord: None,
    "median": lambda dtype, ord: float("nan"),
    "norm": _of_norm,
    "prod": lambda dtype, ord: 1,
    "std": lambda dtype, ord: None,
    "sum": lambda dtype, ord: 0,
    "var": lambda dtype, ord: None,
}


# -------------------- masks --------------------


def canonical_dims(dim: Dims, ndim: int) -> tuple[int, ...]:
    """The dimensions counted from the front, in order; none means all."""
    if dim is None or (not isinstance(dim, int) and tuple(dim) == ()):
        return tuple(range(ndim))
    found: list[int] = []
    ndim = max(ndim, 1)
    for each in (dim,) if isinstance(dim, int) else dim:
        if each in found:
            raise RuntimeError(f"dim={each} appears multiple times in the list of dims")
        if not -ndim <= each < ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {each})"
            )
        found.append(each)
    return tuple(sorted(each % ndim for each in found))


def input_mask(input: Tensor, mask: Tensor | None) -> Tensor:
    """The mask as booleans of the input's shape and layout."""
    if mask is None:
        raise ValueError("_input_mask requires explicit mask")
    if mask.shape != input.shape:
        if mask.ndim > input.ndim:
            raise IndexError(
                "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)"
            )
        mask = ops.broadcast_to(mask.to_dense(), input.shape)
    if mask.layout is not input.layout:
        mask = mask.to_dense() if input.layout is strided else mask.to_sparse(layout=input.layout)
    return mask.coalesce().to(boolean) if mask.is_sparse else mask.to(boolean)


def output_mask(op: Any, input: Tensor, *args: Any, **options: Any) -> Tensor:
    """Which elements of a masked operation's result come from any input element at all."""
    if not callable(op):
        raise ValueError(f"_output_mask expected masked operation (got {type(op).__name__} object)")
    mask = options.get("mask")
    if op.__name__ in _NORMALIZATIONS:
        return input_mask(input, mask)
    if op.__name__ not in _REDUCTIONS:
        raise ValueError(f"_output_mask expected masked operation (got callable {op.__module__}.{op.__name__})")
    others = args[1:] if op.__name__ == "norm" else args
    dim = others[0] if others else options.get("dim")
    result = input_mask(input, mask)
    for each in reversed(canonical_dims(dim, input.ndim)):
        result = result.any(dim=each, keepdim=bool(options.get("keepdim", False)))
    return result


def filled(op: str, input: Any, mask: Tensor | None, ord: Any = 2) -> Tensor:
    """The input with what the operation ignores in the place of masked-out elements."""
    if is_masked_tensor(input):
        data, mask = input.get_data(), input.get_mask()
        return _Filled.apply(data, mask, identity_of(op, data, ord))
    if mask is None:
        return input
    canonical, ignored = input_mask(input, mask), identity_of(op, input, ord)
    assert ignored is not None  # mean, std and var have none: they are made of sums
    return ops.where(canonical, input, ignored)


class _Filled(Function):
    """Gradients come back without a mask, or with that of the result: the data of the input has its own."""

    @staticmethod
    def forward(ctx: Any, data: Tensor, mask: Tensor, value: Tensor) -> Tensor:
        return ops.where(mask, data, value)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output._masked_data if is_masked_tensor(grad_output) else grad_output, None, None


def filled_strided(op: str, input: Any, mask: Tensor | None, ord: Any = 2, ignoring: str = "") -> Tensor:
    """The same for an operation on dense tensors only, which may ignore what another one, `ignoring`, does."""
    data = filled(ignoring or op, input, mask, ord)
    if data.layout is not strided:
        raise ValueError(f"masked {op} expects strided tensor (got {data.layout} tensor)")
    return data
