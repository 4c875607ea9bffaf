"""Reductions on the NPU by hand: what ACLNN does for some arguments only, or with a size that numbers decide."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch.backends.meta import rules
from mindtorch.backends.npu.array import NpuArray, new
from mindtorch.backends.npu.fallback import kernel_for
from mindtorch.backends.npu.launch import aclnn, copied, delivered, operands, placed, placed_all, remembered
from mindtorch.backends.npu.values import dims_of
from mindtorch.promotion import INT64

_argmax = aclnn("aclnnArgMax", "TlbT")
_argmin = aclnn("aclnnArgMin", "TlbT")
_bincount = aclnn("aclnnBincount", "TTlT")
_max = aclnn("aclnnMax", "TT")
_search = aclnn("aclnnSearchSorted", "TTbbTT")
_search_number = aclnn("aclnnSearchSorteds", "TSbbTT")
_std = aclnn("aclnnStd", "TIlbT")
_std_mean = aclnn("aclnnStdMeanCorrection", "TIlbTT")
_var = aclnn("aclnnVarCorrection", "TIlbT")
_var_mean = aclnn("aclnnVarMean", "TIlbTT")
_index_rule = remembered(rules.reduce("index"))
_search_rule = remembered(rules.searchsorted("first"))
_spread_rule = remembered(rules.reduce("complex_to_real"))
_spread_and_mean_rule = remembered(rules.spread_and_mean("first"))


# -------------------- places of extremes --------------------


def argmax(input, dim, keepdim, out=None):
    return _place(_argmax, input, dim, keepdim, out)


def argmin(input, dim, keepdim, out=None):
    return _place(_argmin, input, dim, keepdim, out)


def _place(call: Callable, input: NpuArray, dim: int | None, keepdim: bool, out: Any) -> NpuArray:
    """Without a dimension, the place in the flattened input."""
    result = placed(_index_rule(input, dim, keepdim, out=out), input)
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
    on_cpu = kernel_for(op)

    def kernel(input, dim, correction, keepdim, out=None):
        number = _whole(correction)
        if number is None or input.dtype.kind == "c":
            return on_cpu(input, dim, correction, keepdim, out=out)
        result = placed(_spread_rule(input, dim, keepdim, out=out), input)
        call(input, dims_of(dim, input.ndim), number, keepdim, result)
        return result if out is None else delivered(result, out)

    return kernel


def _spread_with_mean(call: Callable, op: str) -> Callable:
    on_cpu = kernel_for(op)

    def kernel(input, dim, correction, keepdim):
        number = _whole(correction)
        if number is None or input.dtype.kind == "c":
            return on_cpu(input, dim, correction, keepdim)
        results = placed_all(_spread_and_mean_rule(input, dim, correction, keepdim), input)
        call(input, dims_of(dim, input.ndim), number, keepdim, *results)
        return results

    return kernel


var = _spread(_var, "var.correction")
std = _spread(_std, "std.correction")
var_mean = _spread_with_mean(_var_mean, "var_mean.correction")
std_mean = _spread_with_mean(_std_mean, "std_mean.correction")


# -------------------- counting and searching --------------------

_bincount_on_cpu = kernel_for("bincount")


def bincount(input, weights, minlength):
    is_right = input.ndim == 1 and input.dtype.kind in "iu" and minlength >= 0
    if not is_right or (weights is not None and weights.shape != input.shape):
        return _bincount_on_cpu(input, weights, minlength)  # which says what is wrong
    size = max(_largest(input) + 1 if input.size else 0, minlength)
    dtype = INT64 if weights is None else np.dtype(np.float32 if weights.dtype == np.float32 else np.float64)
    result = new((size,), dtype, input.root.index)
    if size:
        _bincount(input, weights, minlength, result)
    return result


def _largest(input: NpuArray) -> int:
    found = new((), input.dtype, input.root.index)
    _max(input, found)
    return int(found.item())


def searchsorted(sorted_sequence, input, out_int32, right, side, sorter, out=None):
    sorted_sequence, input = operands(sorted_sequence, input)
    result = placed(_search_rule(sorted_sequence, input, out_int32, right, side, sorter, out=out), sorted_sequence)
    if result.size:
        _search(sorted_sequence, input, out_int32, right or side == "right", sorter, result)
    return result if out is None else delivered(result, out)


def searchsorted_number(sorted_sequence, input, out_int32, right, side, sorter, out=None):
    result = placed(_search_rule(sorted_sequence, input, out_int32, right, side, sorter, out=out), sorted_sequence)
    _search_number(sorted_sequence, input, out_int32, right or side == "right", sorter, result)
    return result if out is None else delivered(result, out)
