"""Dictionaries and references that do not keep tensors alive; keys are compared by identity."""

from __future__ import annotations

from weakref import ref

from mindtorch._core.tensor import Tensor
from mindtorch._support.weak_keys import WeakIdKeyDictionary as WeakIdKeyDictionary
from mindtorch._support.weak_keys import WeakIdRef as WeakIdRef

WeakRef = ref


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor; calling it gives the tensor, or None when it is gone."""

    def __init__(self, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise AssertionError(f"expected torch.Tensor, got {type(tensor)}.")
        self.ref = ref(tensor)

    def __call__(self) -> Tensor | None:
        return self.ref()
