"""The old types of sparse tensors, `sparse.FloatTensor` and the like; their constructors make what torch's make."""

from __future__ import annotations

from typing import Any

from mindtorch._core.dtype import bfloat16, dtype, float16, float32, float64, int8, int16, int32, int64, uint8
from mindtorch._core.tensor import Tensor
from mindtorch._functions.creation import sparse_coo_tensor
from mindtorch._support.warnings import warn_once


class _SparseType(type):
    """The class of these types: sparse tensors of their dtype are instances."""

    element_type: dtype

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and instance.is_sparse and instance.dtype is cls.element_type

    def __call__(cls, *args: Any) -> Tensor:
        if args and not isinstance(args[0], Tensor):
            _warn("shape, *, device=", "shape, dtype=, device=")
            return sparse_coo_tensor(args[0] if isinstance(args[0], tuple) else args, dtype=cls.element_type)
        if not args:
            _warn("", "(0,), dtype=")
            return sparse_coo_tensor((0,), dtype=cls.element_type)
        names = ", ".join(("indices", "values", "shape")[: len(args)])
        _warn(f"{names}, *, device=", f"{names}, dtype=, device=")
        return sparse_coo_tensor(*args)


def _warn(old: str, new: str) -> None:
    warn_once(f"torch.sparse.SparseTensor({old}) is deprecated.  Please use torch.sparse_coo_tensor({new}).")


def _sparse_type(name: str, element_type: dtype) -> Any:
    return _SparseType(name, (), {"element_type": element_type, "__module__": "torch.sparse"})


BFloat16Tensor = _sparse_type("BFloat16Tensor", bfloat16)
ByteTensor = _sparse_type("ByteTensor", uint8)
CharTensor = _sparse_type("CharTensor", int8)
DoubleTensor = _sparse_type("DoubleTensor", float64)
FloatTensor = _sparse_type("FloatTensor", float32)
HalfTensor = _sparse_type("HalfTensor", float16)
IntTensor = _sparse_type("IntTensor", int32)
LongTensor = _sparse_type("LongTensor", int64)
ShortTensor = _sparse_type("ShortTensor", int16)
