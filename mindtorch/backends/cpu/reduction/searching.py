"""Kernels of searchsorted and bucketize: where numbers belong among sorted ones."""

from typing import Any

import numpy as np

from mindtorch._core.promotion import INT32, INT64, common_dtype
from mindtorch._support.numpy_functions import is_within, ndindex, take_along_last
from mindtorch._support.warnings import warn_once
from mindtorch.backends.cpu.common.casting import deliver, deliver_same
from mindtorch.backends.cpu.common.checks import not_implemented, scalar_name
from mindtorch.backends.cpu.common.precision import widen

Array = np.ndarray


def searchsorted(
    sorted_sequence: Array,
    input: Array,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Array | None = None,
    out: Array | None = None,
) -> Array:
    _check_side(side, right)
    _check_shapes(sorted_sequence, input)
    _check_sorter(sorted_sequence, sorter)
    dtype = INT32 if out_int32 else INT64
    _check_out(out, out_int32, dtype)
    common = common_dtype(sorted_sequence, input)
    ordered, values = (widen(each.astype(common, copy=False)) for each in (sorted_sequence, input))
    if common.kind in "bc" and input.size:
        raise not_implemented("searchsorted_out_cpu", ordered)
    _warn_of_copies({"input value": input, "boundary": sorted_sequence, "sorter": sorter})
    if sorter is not None:
        ordered = take_along_last(ordered, sorter)
    places = _places(ordered, values, "right" if right or side == "right" else "left")
    return deliver(places.astype(dtype, order="C", copy=False), out)


def searchsorted_number(
    sorted_sequence: Array,
    input: Any,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Array | None = None,
    out: Array | None = None,
) -> Array:
    return searchsorted(sorted_sequence, _as_array(input, sorted_sequence), out_int32, right, side, sorter, out)


def bucketize(
    input: Array, boundaries: Array, out_int32: bool = False, right: bool = False, out: Array | None = None
) -> Array:
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return searchsorted(boundaries, input, out_int32, right, out=out)


def bucketize_number(
    input: Any, boundaries: Array, out_int32: bool = False, right: bool = False, out: Array | None = None
) -> Array:
    return deliver_same(bucketize(_as_array(input, boundaries), boundaries, out_int32, right), out)


def _as_array(number: Any, ordered: Array) -> Array:
    return np.asarray(number).astype(common_dtype(ordered, number))


def _places(ordered: Array, values: Array, side: Any) -> Array:
    """Each row of values is looked for in the row beside it, or all of them in the only one."""
    if ordered.ndim == 1:
        return np.asarray(ordered.searchsorted(values, side))
    result = np.empty(values.shape, np.int64)
    for row in ndindex(values.shape[:-1]):
        result[row] = ordered[row].searchsorted(values[row], side)
    return result


def _warn_of_copies(given: dict[str, Array | None]) -> None:
    for name, array in given.items():
        if array is not None and not array.flags.c_contiguous:
            warn_once(
                f"torch.searchsorted(): {name} tensor is non-contiguous, this will lower the performance due to extra "
                "data copy when converting non-contiguous tensor to contiguous, please use contiguous "
                f"{name} tensor if possible. This message will only appear once per program."
            )


def _check_side(side: str | None, right: bool) -> None:
    if side not in (None, "left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        )


def _check_shapes(ordered: Array, values: Array) -> None:
    if not values.ndim and ordered.ndim != 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got "
            f"boundaries tensor dim({ordered.ndim}) and input value's dim({values.ndim}) numel({values.size})"
        )
    if not ordered.ndim:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension"
        )
    if ordered.ndim > 1 and ordered.shape[:-1] != values.shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            f"tensor and input value tensor must match, but we got boundaries tensor {list(ordered.shape)} and input "
            f"value tensor {list(values.shape)}"
        )


def _check_sorter(ordered: Array, sorter: Array | None) -> None:
    if sorter is None:
        return
    if sorter.shape != ordered.shape:
        raise RuntimeError(
            "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
            f"{list(ordered.shape)}and got sorter tensor {list(sorter.shape)}"
        )
    if sorter.dtype != INT64:
        raise RuntimeError(
            f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {scalar_name(sorter)}"
        )
    if not is_within(sorter, 0, ordered.shape[-1]):
        raise RuntimeError("torch.searchsorted(): sorter index out of range")


def _check_out(out: Array | None, out_int32: bool, dtype: np.dtype[Any]) -> None:
    if out is not None and out.dtype != dtype:
        raise RuntimeError(
            "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending "
            f"on whether out_int32 flag is True, but we got output tensor's dtype {scalar_name(out)} and out_int32 "
            f"flag is {out_int32}"
        )
