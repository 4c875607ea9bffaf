"""Reductions on the NPU by hand: what ACLNN does for some arguments only, or with a size that numbers decide."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch._core.promotion import INT64
from mindtorch.backends.fallback import cpu_kernel_for
from mindtorch.backends.meta import rules
from mindtorch.backends.npu.array import NpuArray, new
from mindtorch.backends.npu.fallback import kernel_for
from mindtorch.backends.npu.launch import (
    aclnn,
    copied,
    delivered,
    delivered_all,
    operands,
    placed,
    placed_all,
    remembered,
)
from mindtorch.backends.npu.values import dims_of

_argmax = aclnn("aclnnArgMax", "TlbT")
_argmin = aclnn("aclnnArgMin", "TlbT")
_bincount = aclnn("aclnnBincount", "TTlT")
_histc = aclnn("aclnnHistc", "TlSST")
_max = aclnn("aclnnMax", "TT")
_min = aclnn("aclnnMin", "TT")
_search = aclnn("aclnnSearchSorted", "TTbbTT")
_search_number = aclnn("aclnnSearchSorteds", "TSbbTT")
_topk = aclnn("aclnnTopk", "TllbbTT")
_zero = aclnn("aclnnInplaceZero", "T")
_std = aclnn("aclnnStd", "TIlbT")
_std_mean = aclnn("aclnnStdMeanCorrection", "TIlbTT")
_var = aclnn("aclnnVarCorrection", "TIlbT")
_var_mean = aclnn("aclnnVarMean", "TIlbTT")
_argmax_rule, _argmin_rule = [remembered(rules.reduce("index"), op) for op in ("argmax", "argmin")]
_histc_rule = remembered(rules.histc("first"), "histc")
_topk_rule = remembered(rules.topk("first_index"), "topk")
_search_rule = remembered(rules.searchsorted("first"), "searchsorted.Tensor")
_search_number_rule = remembered(rules.searchsorted("first"), "searchsorted.Scalar")


# -------------------- places of extremes --------------------


def argmax(input: NpuArray, dim: int | None, keepdim: bool, out: Any = None) -> NpuArray:
    return _place(_argmax, _argmax_rule, input, dim, keepdim, out)


def argmin(input: NpuArray, dim: int | None, keepdim: bool, out: Any = None) -> NpuArray:
    return _place(_argmin, _argmin_rule, input, dim, keepdim, out)


def _place(call: Callable, rule: Callable, input: NpuArray, dim: int | None, keepdim: bool, out: Any) -> NpuArray:
    """Without a dimension, the place in the flattened input."""
    result = placed(rule(input, dim, keepdim, out=out), input)
    if dim is not None and input.ndim:
        call(input, dim, keepdim, result)
    else:
        call(_flat(input), 0, False, result.part((), result.dtype, (), result.byte_offset))
    return result if out is None else delivered(result, out)


def _flat(input: NpuArray) -> NpuArray:
    """The elements in one dimension, copied if they do not follow each other."""
    if not input.flags.c_contiguous:
        input = copied(new(input.shape, input.dtype, input.root.index), input)
    return input.part((input.size,), input.dtype, (input.itemsize,), input.byte_offset)


# -------------------- variances --------------------


def _whole(correction: Any) -> int | None:
    """A correction as ACLNN takes it, or None if it does not take it."""
    if correction is None:
        return 1
    return int(correction) if correction == int(correction) else None


def _spread(call: Callable, op: str) -> Callable:
    on_cpu, rule = kernel_for(op), remembered(rules.reduce("complex_to_real"), op)

    def kernel(
        input: NpuArray, dim: Sequence[int] | None, correction: float | None, keepdim: bool, out: Any = None
    ) -> NpuArray:
        number = _whole(correction)
        if number is None or input.dtype.kind == "c":
            return on_cpu(input, dim, correction, keepdim, out=out)
        result = placed(rule(input, dim, correction, keepdim, out=out), input)
        call(input, dims_of(dim, input.ndim), number, keepdim, result)
        return result if out is None else delivered(result, out)

    return kernel


def _spread_with_mean(call: Callable, op: str) -> Callable:
    on_cpu, rule = kernel_for(op), remembered(rules.spread_and_mean("first"), op)

    def kernel(
        input: NpuArray, dim: Sequence[int] | None, correction: float | None, keepdim: bool
    ) -> tuple[NpuArray, ...]:
        number = _whole(correction)
        if number is None or input.dtype.kind == "c":
            return on_cpu(input, dim, correction, keepdim)
        results = placed_all(rule(input, dim, correction, keepdim), input)
        call(input, dims_of(dim, input.ndim), number, keepdim, *results)
        return results

    return kernel


var = _spread(_var, "var.correction")
std = _spread(_std, "std.correction")
var_mean = _spread_with_mean(_var_mean, "var_mean.correction")
std_mean = _spread_with_mean(_std_mean, "std_mean.correction")


def topk(input: NpuArray, k: int, dim: int, largest: bool, sorted: bool, out: Any = None) -> tuple[NpuArray, ...]:
    """Of an array without dimensions there is always one."""
    values, indices = placed_all(_topk_rule(input, k, dim, largest, sorted, out=out), input)
    if input.ndim:
        _topk(input, k, dim, largest, sorted, values, indices)
    else:
        copied(values, input)
        _zero(indices)
    return (values, indices) if out is None else delivered_all((values, indices), out)


# -------------------- counting and searching --------------------

_bincount_on_cpu = cpu_kernel_for("bincount")


def bincount(input: NpuArray, weights: NpuArray | None, minlength: int) -> NpuArray:
    is_right = input.ndim == 1 and input.dtype.kind in "iu" and minlength >= 0
    if not is_right or (weights is not None and weights.shape != input.shape):
        return _bincount_on_cpu(input, weights, minlength)  # which says what is wrong
    smallest, largest = _extremes(input) if input.size else (0, -1)
    if smallest < 0:
        return _bincount_on_cpu(input, weights, minlength)
    size = max(largest + 1, minlength)
    dtype = INT64 if weights is None else np.dtype(np.float32 if weights.dtype == np.float32 else np.float64)
    result = new((size,), dtype, input.root.index)
    if size:
        _bincount(input, weights, minlength, result)
    return result


def _extremes(input: NpuArray) -> list:
    """The smallest and the largest number, waited for once."""
    found = new((2,), input.dtype, input.root.index)
    for place, call in enumerate((_min, _max)):
        call(input, found.part((), found.dtype, (), place * found.itemsize))
    return found.to_numpy().tolist()


_histc_on_cpu = cpu_kernel_for("histc")


def histc(input: NpuArray, bins: int, min: float, max: float, out: Any = None) -> NpuArray:
    result = placed(_histc_rule(input, bins, min, max, out=out), input)
    if min == max and input.size and not np.isfinite(_extremes(input)).all():
        return _histc_on_cpu(input, bins, min, max, out=out)  # which says what the bounds are
    _histc(input, bins, min, max, result)
    return result if out is None else delivered(result, out)


def searchsorted(
    sorted_sequence: NpuArray,
    input: NpuArray,
    out_int32: bool,
    right: bool,
    side: str | None,
    sorter: NpuArray | None,
    out: Any = None,
) -> NpuArray:
    sorted_sequence, input = operands(sorted_sequence, input)
    result = placed(_search_rule(sorted_sequence, input, out_int32, right, side, sorter, out=out), sorted_sequence)
    if result.size:
        _search(sorted_sequence, input, out_int32, right or side == "right", sorter, result)
    return result if out is None else delivered(result, out)


def searchsorted_number(
    sorted_sequence: NpuArray,
    input: float,
    out_int32: bool,
    right: bool,
    side: str | None,
    sorter: NpuArray | None,
    out: Any = None,
) -> NpuArray:
    meta = _search_number_rule(sorted_sequence, input, out_int32, right, side, sorter, out=out)
    result = placed(meta, sorted_sequence)
    _search_number(sorted_sequence, input, out_int32, right or side == "right", sorter, result)
    return result if out is None else delivered(result, out)
