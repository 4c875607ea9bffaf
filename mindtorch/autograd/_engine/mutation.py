"""`allow_mutation_on_saved_tensors`: tensors that the graph keeps are copied when they are about to be written."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from mindtorch._core.tensor import Tensor, share_version
from mindtorch.autograd._engine.saved_hooks import saved_tensors_hooks
from mindtorch.dispatch.modes.torch_dispatch import TorchDispatchMode


class Handle:
    """What a node keeps in place of a tensor."""

    __slots__ = ("__weakref__",)


class SavedOriginals:
    """What one block knows of the tensors that were saved in it: `original` if they are as they were, else `cloned`."""

    enabled = False  # whether there is such a block

    def __init__(self) -> None:
        self.original: WeakKeyDictionary[Handle, Any] = WeakKeyDictionary()
        self.cloned: WeakKeyDictionary[Handle, Any] = WeakKeyDictionary()
        self.by_memory: dict[int, WeakSet[Handle]] = (
            {}
        )  # the handles, by what tells of shared memory: the version counter

    def clear(self) -> None:
        for each in (self.original, self.cloned, self.by_memory):
            each.clear()

    def pack(self, tensor: Tensor) -> Handle:
        """A handle; the same one for a tensor that is saved again, so that it is copied once."""
        handles = self.by_memory.setdefault(id(share_version(tensor)), WeakSet())
        for handle in handles:
            if self.original.get(handle) is tensor:
                return handle
        handle = Handle()
        self.original[handle] = tensor
        handles.add(handle)
        return handle

    def unpack(self, handle: Handle) -> Tensor:
        tensor = self.cloned.get(handle, self.original.get(handle))
        if tensor is None or not SavedOriginals.enabled:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was "
                "originally recorded."
            )
        return tensor

    def before_write(self, tensor: Tensor) -> None:
        """Copy what is kept of the memory that is about to be written."""
        if tensor.is_inference():
            raise RuntimeError("Inference tensors do not track version counter.")
        for handle in self.by_memory.pop(id(tensor._mt_version), ()):
            self.cloned[handle] = self.original.pop(handle).clone()


class CopyBeforeWrite(TorchDispatchMode):
    """Looks at the ops of a block for those that write."""

    def __init__(self, saved: SavedOriginals) -> None:
        self.saved = saved

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        for place, argument in enumerate(func._schema.arguments):
            if argument.written:
                for tensor in _listed(args[place] if place < len(args) else kwargs.get(argument.name)):
                    self.saved.before_write(tensor)
        return func(*args, **kwargs)


def _listed(value: Any) -> Iterable[Tensor]:
    return [value] if isinstance(value, Tensor) else value or ()


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[SavedOriginals]:
    """In this block, which has to contain the backward pass too, tensors that the graph keeps may be written."""
    if SavedOriginals.enabled:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    saved = SavedOriginals()
    SavedOriginals.enabled = True
    try:
        with saved_tensors_hooks(saved.pack, saved.unpack), CopyBeforeWrite(saved):
            yield saved
    finally:
        saved.clear()
        SavedOriginals.enabled = False
