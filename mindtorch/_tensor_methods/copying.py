"""Copying and pickling of tensors. Tensors that share a storage still share it afterwards."""

import copyreg
from collections import OrderedDict
from copy import deepcopy
from typing import Any, SupportsIndex

import numpy as np

from mindtorch._core.batched_array import BatchedArray
from mindtorch._core.dtype import uint8
from mindtorch._core.layout import sparse_coo, strided
from mindtorch._core.size import Size
from mindtorch._core.storage import array_on
from mindtorch._core.tensor import Tensor, extend_tensor, fresh, wrap
from mindtorch._core.typed_storage import has_legacy_storage, typed_view
from mindtorch._tensor_methods.rebuilding import (
    rebuild_from_array,
    rebuild_from_type_v2,
    rebuild_meta_tensor_no_storage,
    rebuild_sparse_tensor,
    rebuild_tensor_v2,
    rebuild_tensor_v3,
    rebuild_wrapper_subclass,
)
from mindtorch._tensor_methods.wrapper_subclass import WrapperArray
from mindtorch.backends.device_array import DeviceArray


@extend_tensor
class CopyMethods:
    """`copy.deepcopy` and `pickle`."""

    def __deepcopy__(self: Any, memo: dict) -> Tensor:
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
                "moment.  If you were attempting to deepcopy a module, this may be because of a torch.nn.utils."
                "weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
            )
        if id(self) in memo:
            return memo[id(self)]
        _check_not_batched(self)
        copy = _copy_of(self, memo)
        memo[id(self)] = copy
        if self.requires_grad:
            copy.requires_grad = True
        if self._mt_meta is not None and self._mt_meta.grad is not None:
            copy.grad = deepcopy(self._mt_meta.grad, memo)
        vars(copy).update(deepcopy(vars(self), memo))
        return copy

    def __reduce_ex__(self: Any, protocol: SupportsIndex) -> tuple:
        _check_not_batched(self)
        function, arguments = _reduced(self)
        state = state_of(self)
        if type(self) is Tensor and not state:
            return function, arguments
        return rebuild_from_type_v2, (function, type(self), arguments, state)


def _reduced(tensor: Any) -> tuple:
    """The function and the arguments that make the tensor again, without its class and attributes."""
    array = tensor._mt_array
    if type(array) is WrapperArray:
        like = (tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.storage_offset(), tensor.layout)
        return rebuild_wrapper_subclass, (type(tensor), *like, tensor.device, tensor.requires_grad)
    if tensor.is_meta:
        arguments = (tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.requires_grad)
        return rebuild_meta_tensor_no_storage, arguments
    if tensor.layout is sparse_coo:
        parts: tuple = (wrap(array.indices), wrap(array.values), Size(array.shape), array.coalesced)
        return rebuild_sparse_tensor, (tensor.layout, parts)
    if tensor.layout.is_compressed:
        parts = (wrap(array.compressed), wrap(array.plain), wrap(array.values), Size(array.shape))
        return rebuild_sparse_tensor, (tensor.layout, parts)
    if tensor.layout is not strided:
        return rebuild_from_array, (array, tensor.requires_grad)
    return _reduced_dense(tensor)


def _reduced_dense(tensor: Any) -> tuple:
    dtype, storage = tensor.dtype, tensor.untyped_storage()
    no_hooks: OrderedDict[int, Any] = OrderedDict()
    geometry = (tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), tensor.requires_grad, no_hooks)
    if has_legacy_storage(dtype) and storage.nbytes() % dtype.itemsize == 0:
        return rebuild_tensor_v2, (typed_view(storage, dtype), *geometry)
    return rebuild_tensor_v3, (typed_view(storage, uint8), *geometry, dtype)


def state_of(tensor: Any) -> Any:
    """What a tensor of a subclass has besides its data: its attributes, and its slots if the class has some."""
    if type(tensor).__getstate__ is not object.__getstate__:  # type: ignore[attr-defined]
        return tensor.__getstate__()
    own = set(copyreg._slotnames(type(tensor))) - set(copyreg._slotnames(Tensor))  # type: ignore[attr-defined]
    slots = {name: getattr(tensor, name) for name in sorted(own) if hasattr(tensor, name)}
    attributes = dict(vars(tensor)) or None
    return (attributes, slots) if slots else attributes


def _check_not_batched(tensor: Any) -> None:
    """Inside `vmap` a tensor has no memory of its own to copy."""
    if type(tensor._mt_array) is BatchedArray:
        _ = tensor._mt_array.root


def _copy_of(tensor: Any, memo: dict) -> Any:
    if not isinstance(tensor._mt_array, (np.ndarray, DeviceArray)) or tensor.is_meta:
        return tensor.detach().clone()
    storage = deepcopy(tensor.untyped_storage(), memo)
    array = array_on(storage, tensor.dtype, tensor.storage_offset(), tuple(tensor.shape), tensor.stride())
    return fresh(array, type(tensor))
