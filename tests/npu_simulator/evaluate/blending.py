"""Element by element: functions of three tensors and more."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.npu_simulator.evaluate.contract import (
    BOOL,
    INT32,
    Evaluator,
    axis,
    broadcast,
    expect,
    promote,
    promote_scalar,
    refuse,
    require,
    same_dtype,
    store,
    wide,
)
from tests.npu_simulator.evaluate.pointwise import Function

EVALUATORS: dict[str, Evaluator] = {}


def _three(*tensors: Any) -> tuple[np.dtype, list[np.ndarray]]:
    if any(tensor is None for tensor in tensors):
        refuse("a required tensor is null", 161001)
    dtype = tensors[0].dtype
    for tensor in tensors[1:]:
        dtype = promote(dtype, tensor.dtype)
    computed = wide(np.empty((), dtype)).dtype
    shape = broadcast(*(tensor.shape for tensor in tensors))
    return dtype, [np.broadcast_to(tensor.astype(computed), shape) for tensor in tensors]


def _addc(function: Function) -> Evaluator:
    def evaluate(self: Any, tensor1: Any, tensor2: Any, value: Any, out: Any) -> None:
        dtype, (x, one, two) = _three(self, tensor1, tensor2)
        store(out, function(x, one, two, value), castable_from=dtype)

    return evaluate


def _lerp(self: Any, end: Any, weight: Any, out: Any) -> None:
    dtype, (x, y, w) = _three(self, end, weight)
    store(out, x + w * (y - x), castable_from=dtype)


def _lerps(self: Any, end: Any, weight: Any, out: Any) -> None:
    dtype, (x, y) = _three(self, end)
    store(out, x + weight * (y - x), castable_from=dtype)


def _where(condition: Any, self: Any, other: Any, out: Any) -> None:
    require(condition is not None and condition.dtype in (BOOL, np.uint8), "the condition is neither bool nor uint8")
    dtype = promote(self.dtype, other.dtype)
    x, y = (tensor.astype(wide(np.empty((), dtype)).dtype) for tensor in (self, other))
    broadcast(condition.shape, x.shape, y.shape)
    store(out, np.where(condition != 0, x, y), castable_from=dtype)


def _clamp(self: Any, low: Any, high: Any, out: Any) -> None:
    # Either bound may be null. Where the lower one is above the upper one, the upper one counts.
    require(low is not None or high is not None, "both bounds are null")
    values, dtype = wide(self), self.dtype
    for bound, function in ((low, np.maximum), (high, np.minimum)):
        if bound is not None:
            dtype = promote(dtype, bound.dtype) if isinstance(bound, np.ndarray) else promote_scalar(dtype, bound)
            values = function(values, wide(bound) if isinstance(bound, np.ndarray) else bound)
    store(out, values, castable_from=dtype)


EVALUATORS |= {
    "aclnnAddcmul": _addc(lambda x, one, two, value: x + value * one * two),
    "aclnnAddcdiv": _addc(lambda x, one, two, value: x + value * one / two),
    "aclnnLerp": _lerp,
    "aclnnLerps": _lerps,
    "aclnnSWhere": _where,
    "aclnnClamp": _clamp,
    "aclnnClampTensor": _clamp,
    "aclnnHardtanh": _clamp,
}


def _xlog1py(x: Any, y: Any, z: Any) -> None:
    # "0 where x = 0, else x log(1 + y); where y is NaN, y itself"; x, y and z have one dtype
    dtype = same_dtype(x, y)
    broadcast(x.shape, y.shape)
    one, other = np.broadcast_arrays(wide(x), wide(y))
    with np.errstate(all="ignore"):
        store(z, np.where((one == 0) & ~np.isnan(other), 0, one * np.log1p(other)), dtype=dtype)


def _fake_quant(self: Any, scale: Any, zero: Any, at: int, low: int, high: int, out: Any, mask: Any) -> None:
    # qval = nearbyint(self / scale) + zeroPoint; out = (min(max(qval, low), high) - zeroPoint) scale
    require(self.dtype in (np.float32, np.float16), f"numbers of {self.dtype}")
    require(low <= high, "quantMin is larger than quantMax")
    at = axis(at, self.ndim)
    for each, dtype in ((scale, scale.dtype), (zero, INT32)):
        expect(each, (self.shape[at],), dtype=dtype)
    shape = [-1 if d == at else 1 for d in range(self.ndim)]
    step, origin = wide(scale).reshape(shape), wide(zero).reshape(shape)
    found = np.rint(wide(self) / step) + origin
    store(out, (np.clip(found, low, high) - origin) * step, dtype=self.dtype)
    store(mask, (low <= found) & (found <= high), dtype=BOOL)


EVALUATORS |= {"aclnnXlog1py": _xlog1py, "aclnnFakeQuantPerChannelAffineCachemask": _fake_quant}
