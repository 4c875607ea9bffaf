"""Copying and pickling of tensors. Tensors that share a storage still share it afterwards."""

from copy import deepcopy
from typing import Any

import numpy as np

from mindtorch.batched_array import BatchedArray
from mindtorch.dtype import dtype as Dtype
from mindtorch.storage import UntypedStorage, array_on
from mindtorch.tensor import Tensor, alias_of, extend_tensor, wrap


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

    def __reduce_ex__(self: Any, protocol: int) -> tuple:
        _check_not_batched(self)
        if type(self) is not Tensor:
            return rebuild_subclass, (type(self), alias_of(self), self.requires_grad, dict(vars(self)))
        if type(self._mt_array) is not np.ndarray:
            return rebuild_from_array, (self._mt_array, self.requires_grad, dict(vars(self)))
        geometry = (self.dtype, self.storage_offset(), tuple(self.shape), self.stride())
        return rebuild_tensor, (self.untyped_storage(), *geometry, self.requires_grad, dict(vars(self)))


def _check_not_batched(tensor: Any) -> None:
    """Inside `vmap` a tensor has no memory of its own to copy."""
    if type(tensor._mt_array) is BatchedArray:
        _ = tensor._mt_array.root


def _copy_of(tensor: Any, memo: dict) -> Any:
    if type(tensor._mt_array) is not np.ndarray:
        return tensor.detach().clone()
    storage = deepcopy(tensor.untyped_storage(), memo)
    array = array_on(storage, tensor.dtype, tensor.storage_offset(), tuple(tensor.shape), tensor.stride())
    return alias_of(wrap(array), type(tensor))


# -------------------- what pickles call --------------------


def rebuild_tensor(
    storage: UntypedStorage,
    dtype: Dtype,
    offset: int,
    shape: tuple,
    stride: tuple,
    requires_grad: bool,
    attributes: dict,
) -> Tensor:
    """A tensor on a storage."""
    return rebuild_from_array(array_on(storage, dtype, offset, shape, stride), requires_grad, attributes)


def rebuild_from_array(array: Any, requires_grad: bool, attributes: dict) -> Tensor:
    """A tensor on an array of any backend."""
    tensor: Any = wrap(array)
    tensor.requires_grad = requires_grad
    vars(tensor).update(attributes)
    return tensor


def rebuild_subclass(cls: type, tensor: Tensor, requires_grad: bool, attributes: dict) -> Tensor:
    """A tensor of a subclass, such as a Parameter."""
    result = alias_of(tensor, cls)
    result.requires_grad = requires_grad
    vars(result).update(attributes)
    return result
