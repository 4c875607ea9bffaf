"""Writes pickles as PyTorch does: under its names, with storages by key."""

import copy
import pickle
from types import FunctionType
from typing import Any, BinaryIO

from mindtorch._core.dtype import dtype, uint8
from mindtorch._core.layout import layout
from mindtorch._core.storage import UntypedStorage
from mindtorch._core.tensor import Tensor
from mindtorch._core.typed_storage import TypedStorage, storage_type_of, typed_view
from mindtorch._functions.overridable import OverridableFunction
from mindtorch._tensor_methods.rebuilding import rebuild_from_type_v2, rebuild_tensor_v2, rebuild_tensor_v3
from mindtorch.serialization.locations import location_tag
from mindtorch.serialization.names import layout_named, torch_name


class StorageTable:
    """The storages that a pickle refers to: each once, by key, with the dtype that it was first met with."""

    def __init__(self) -> None:
        self._keys: dict[UntypedStorage, str] = {}
        self._types: dict[str, Any] = {}

    def items(self) -> list[tuple[str, UntypedStorage, dtype]]:
        return [(key, storage, self._types[key] or uint8) for storage, key in self._keys.items()]

    def type_of(self, storage: UntypedStorage, wanted: dtype | None) -> dtype | None:
        """What a storage is in this file: elements of a dtype, or bytes (None); as wanted, if it is the first time."""
        key = self._keys.setdefault(storage, str(len(self._keys)))
        return self._types.setdefault(key, wanted)

    def key_of(self, storage: UntypedStorage, element_type: dtype | None) -> str:
        if self.type_of(storage, element_type) is not element_type:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different types"
            )  # tensors can: they say which dtype they are of
        return self._keys[storage]


class TorchPickler:
    """What is added to a pickler that is written in Python. (The one in C looks every name up.)"""

    storages: StorageTable
    bytes_type: Any  # what an untyped storage is called
    _more: tuple = ()

    def save_global(self: Any, obj: Any, name: str | None = None) -> None:
        known = torch_name(obj)
        if known is None:
            super().save_global(obj, name)  # type: ignore[misc]
        else:
            self.write(pickle.GLOBAL + "{}\n{}\n".format(*known).encode())
            self.memoize(obj)

    def persistent_id(self, obj: Any) -> tuple | None:
        if isinstance(obj, TypedStorage):
            return self._identify(obj.untyped(), obj)
        return self._identify(obj, None) if isinstance(obj, UntypedStorage) else None

    def _identify(self, storage: UntypedStorage, typed: TypedStorage | None) -> tuple:
        if typed is None:
            key, kind, count = self.storages.key_of(storage, None), self.bytes_type, storage.nbytes()
        else:
            typed.pickle_storage_type()  # complains about a dtype that files have no name for
            key, kind, count = self.storages.key_of(storage, typed.dtype), storage_type_of(typed.dtype), typed.size()
        return ("storage", kind, key, location_tag(storage), count, *self._more)

    def reducer_override(self: Any, obj: Any) -> Any:
        if isinstance(obj, layout):
            return layout_named, (str(obj),)
        if isinstance(obj, OverridableFunction):
            return obj.__name__
        if not isinstance(obj, Tensor):
            return NotImplemented
        reduced = obj.__reduce_ex__(self.proto)
        return reduced if isinstance(reduced, str) else (*self._typed(*reduced[:2]), *reduced[2:])

    def _typed(self, function: Any, arguments: tuple) -> tuple:
        """The call that makes a tensor again, for a file in which its storage may be elements of another dtype."""
        if function is rebuild_from_type_v2:
            inner, cls, inner_arguments, state = arguments
            inner, inner_arguments = self._typed(inner, inner_arguments)
            return function, (inner, cls, inner_arguments, state)
        if function is rebuild_tensor_v2:
            return self._tensor_call(arguments[0], arguments[0].dtype, arguments[1:])
        if function is rebuild_tensor_v3:
            return self._tensor_call(arguments[0], None, arguments[1:-1], arguments[-1])
        return function, arguments

    def _tensor_call(self, typed: TypedStorage, wanted: Any, geometry: tuple, own: Any = None) -> tuple:
        storage = typed.untyped()
        found = self.storages.type_of(storage, wanted)
        if found is wanted and own is None:
            return rebuild_tensor_v2, (typed, *geometry)
        return rebuild_tensor_v3, (typed_view(storage, found) if found else storage, *geometry, own or wanted)


def pickler(file: BinaryIO, pickle_module: Any, protocol: int, bytes_type: Any, more: tuple = ()) -> Any:
    """A pickler for a file. One of another module is used if it is written in Python, as dill's is."""
    base = getattr(pickle_module, "Pickler", None)
    made = _pickler_class(base if isinstance(base, type) and issubclass(base, pickle._Pickler) else pickle._Pickler)
    result = made(file, protocol=protocol)
    result.storages, result.bytes_type, result._more = StorageTable(), bytes_type, more
    return result


def _pickler_class(base: Any) -> Any:
    dispatch = copy.copy(base.dispatch)
    made = type("Pickler", (TorchPickler, base), {"dispatch": dispatch})
    dispatch[FunctionType] = made.save_global  # type: ignore[attr-defined]
    return made
