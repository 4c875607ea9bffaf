"""`save` and `load`.

A file is a zip archive in PyTorch's format: `data.pkl` holds the objects, `data/<key>` the bytes of each storage, once,
however many tensors look at it. PyTorch and mindtorch read each other's files, as far as tensors, parameters and plain
Python containers go. Loading is safe by default: `weights_only=True` makes nothing but those and what
`add_safe_globals` allows.
"""

import io
import os
import pickle
import sys
import zipfile
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np

from mindtorch.backends.sparsecpu.array import SparseArray
from mindtorch.backends.sparsecsrcpu.array import CompressedArray
from mindtorch.device import as_device, device
from mindtorch.dispatch import ops
from mindtorch.dtype import ALL_DTYPES, dtype
from mindtorch.layout import COMPRESSED, layout, sparse_coo, strided
from mindtorch.nn.parameter import Parameter
from mindtorch.size import Size
from mindtorch.storage import UntypedStorage, array_on, storage_of
from mindtorch.tensor import Tensor, wrap

FORMAT_VERSION = b"3\n"

MAP_LOCATION = Callable[[UntypedStorage, str], Any] | device | str | dict[str, str] | None


# -------------------- PyTorch's names in the files --------------------


class TorchName:
    """A name of PyTorch's that is written to the file although no such module has to exist here."""

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name

    def __call__(self) -> None:
        """pickle wants what it is told to call to be callable."""


class TypedBytes:
    """A storage and the element type that its tensor reads it with: what PyTorch's files call a typed storage."""

    def __init__(self, storage: UntypedStorage, element_type: dtype, location: str) -> None:
        self.storage = storage
        self.dtype = element_type
        self.location = location


def _load_tensor(
    typed: TypedBytes, offset: int, size: tuple, stride: tuple, grad: bool, hooks: Any = None, metadata: Any = None
) -> Tensor:
    tensor = wrap(array_on(typed.storage, typed.dtype, offset, tuple(size), tuple(stride)))
    if typed.location != "cpu":
        tensor = tensor.to(device=typed.location)
    return tensor.requires_grad_() if grad else tensor


def _load_meta(element_type: dtype, size: tuple, stride: tuple, grad: bool) -> Tensor:
    tensor = ops.empty_strided(size, stride, dtype=element_type, device="meta")
    return tensor.requires_grad_() if grad else tensor


def _load_parameter(data: Tensor, requires_grad: bool, hooks: Any = None) -> Parameter:
    return Parameter(data, requires_grad)


def _load_sparse(layout: layout, data: tuple) -> Tensor:
    if layout.is_compressed:
        *parts, size = data
        return wrap(CompressedArray(*(part._mt_array for part in parts), tuple(size), layout))
    indices, values, size, *coalesced = data
    return wrap(SparseArray(indices._mt_array, values._mt_array, tuple(size), bool(coalesced and coalesced[0])))


def _storage_from_bytes(data: bytes) -> UntypedStorage:
    return storage_of(np.frombuffer(bytearray(data), np.uint8))


_LAYOUTS = {str(each): each for each in (strided, sparse_coo, *COMPRESSED)}
_STORAGE_TYPES = {each.storage_name + "Storage": each for each in ALL_DTYPES}

# What the names in a file stand for. All of it is safe to call with any arguments.
SAFE_GLOBALS: dict[tuple[str, str], Any] = {
    ("torch._utils", "_rebuild_tensor_v2"): _load_tensor,
    ("torch._utils", "_rebuild_parameter"): _load_parameter,
    ("torch._utils", "_rebuild_sparse_tensor"): _load_sparse,
    ("torch._utils", "_rebuild_meta_tensor_no_storage"): _load_meta,
    ("torch.serialization", "_get_layout"): _LAYOUTS.__getitem__,
    ("torch.storage", "UntypedStorage"): UntypedStorage,
    ("torch", "Size"): Size,
    ("torch", "device"): device,
    ("torch", "Tensor"): Tensor,
    ("torch.nn.parameter", "Parameter"): Parameter,
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "Counter"): Counter,
    ("collections", "defaultdict"): defaultdict,
    ("builtins", "set"): set,
    ("builtins", "bytearray"): bytearray,
    ("builtins", "complex"): complex,
    ("__builtin__", "set"): set,
    ("_codecs", "encode"): lambda text, encoding: text.encode(encoding),
    **{("torch", name): element_type for name, element_type in _STORAGE_TYPES.items()},
    **{("torch", str(each).removeprefix("torch.")): each for each in ALL_DTYPES},
}

# The types whose objects may be given attributes.
_WITH_STATE = (OrderedDict, Counter, defaultdict, Tensor, Parameter)

_user_globals: dict[tuple[str, str], Any] = {}


def add_safe_globals(safe_globals: Iterable[Any]) -> None:
    """Let `load(weights_only=True)` make objects of these classes and call these functions."""
    _user_globals.update({(each.__module__, each.__qualname__): each for each in safe_globals})


def clear_safe_globals() -> None:
    """Forget what `add_safe_globals` allowed."""
    _user_globals.clear()


def get_safe_globals() -> list[Any]:
    """What `add_safe_globals` allowed."""
    return list(_user_globals.values())


@contextmanager
def safe_globals(safe_globals: Iterable[Any]) -> Iterator[None]:
    """Within it, `load(weights_only=True)` also makes objects of these classes and calls these functions."""
    before = dict(_user_globals)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        _user_globals.clear()
        _user_globals.update(before)


# -------------------- saving --------------------


def save(obj: Any, f: str | os.PathLike | BinaryIO, pickle_module: Any = None, pickle_protocol: int = 2) -> None:
    """Write an object to a file or a file-like object. `pickle_module` is accepted for old programs and not used."""
    buffer = io.BytesIO()
    pickler = TorchPickler(buffer, pickle_protocol)
    pickler.dump(obj)
    root = os.path.splitext(os.path.basename(f))[0] if isinstance(f, str | os.PathLike) else "archive"
    with zipfile.ZipFile(f, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(f"{root}/data.pkl", buffer.getvalue())
        archive.writestr(f"{root}/byteorder", sys.byteorder)
        for key, storage in enumerate(pickler.storages):
            archive.writestr(f"{root}/data/{key}", storage.bytes_view().tobytes())
        archive.writestr(f"{root}/version", FORMAT_VERSION)


class TorchPickler(pickle._Pickler):
    """Writes tensors under PyTorch's names, and their storages by key. (The C pickler looks every name up.)"""

    dispatch = pickle._Pickler.dispatch.copy()

    def __init__(self, file: BinaryIO, protocol: int) -> None:
        super().__init__(file, protocol)
        self.storages: list[UntypedStorage] = []
        self._keys: dict[int, str] = {}

    def save_torch_name(self, name: TorchName) -> None:
        self.write(pickle.GLOBAL + f"{name.module}\n{name.name}\n".encode())

    def save_dtype(self, element_type: dtype) -> None:
        self.save_torch_name(TorchName("torch", str(element_type).removeprefix("torch.")))

    dispatch[TorchName] = save_torch_name
    dispatch[dtype] = save_dtype

    def persistent_id(self, obj: Any) -> tuple | None:
        if isinstance(obj, TypedBytes):
            kind = TorchName("torch", obj.dtype.storage_name + "Storage")
            return ("storage", kind, self._key(obj.storage), obj.location, len(obj.storage) // obj.dtype.itemsize)
        if isinstance(obj, UntypedStorage):
            return ("storage", TorchName("torch.storage", "UntypedStorage"), self._key(obj), "cpu", len(obj))
        return None

    def _key(self, storage: UntypedStorage) -> str:
        if id(storage) not in self._keys:
            self._keys[id(storage)] = str(len(self.storages))
            self.storages.append(storage)
        return self._keys[id(storage)]

    def reducer_override(self, obj: Any) -> Any:
        reduce = _TORCH_REDUCERS.get(type(obj))
        return NotImplemented if reduce is None else reduce(obj)


def _torch_tensor(tensor: Tensor) -> Any:
    if tensor.__dict__:
        return NotImplemented  # attributes of its own: pickled like any other object
    if tensor.layout is not strided:
        return _torch_sparse(tensor)
    if tensor.is_meta:
        arguments = (tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.requires_grad)
        return TorchName("torch._utils", "_rebuild_meta_tensor_no_storage"), arguments
    host = tensor if tensor.is_cpu else tensor.detach().cpu()
    typed = TypedBytes(host.untyped_storage(), host.dtype, str(tensor.device))
    arguments = (typed, host.storage_offset(), tuple(host.shape), host.stride(), tensor.requires_grad, OrderedDict())
    return TorchName("torch._utils", "_rebuild_tensor_v2"), arguments


def _torch_sparse(tensor: Tensor) -> tuple:
    array = tensor._mt_array
    if tensor.is_sparse:
        parts = (wrap(array.indices), wrap(array.values), Size(array.shape), array.coalesced)
    else:
        parts = (wrap(array.compressed), wrap(array.plain), wrap(array.values), Size(array.shape))
    return TorchName("torch._utils", "_rebuild_sparse_tensor"), (tensor.layout, parts)


def _torch_parameter(parameter: Parameter) -> tuple:
    arguments = (parameter.data, parameter.requires_grad, OrderedDict())
    return TorchName("torch._utils", "_rebuild_parameter"), arguments


_TORCH_REDUCERS: dict[type, Callable[[Any], Any]] = {
    Tensor: _torch_tensor,
    Parameter: _torch_parameter,
    Size: lambda size: (TorchName("torch", "Size"), (tuple(size),)),
    device: lambda place: (TorchName("torch", "device"), place.__reduce__()[1]),
    layout: lambda value: (TorchName("torch.serialization", "_get_layout"), (str(value),)),
}


# -------------------- loading --------------------


def load(
    f: str | os.PathLike | BinaryIO,
    map_location: MAP_LOCATION = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """What `save` wrote. `map_location` says where tensors go: a device, a dictionary from old to new, or a function.

    With `weights_only=False` the file may run any code; use it only with files that you trust. `mmap` is accepted and
    not used.
    """
    unpickler_class = FullUnpickler if weights_only is False else SafeUnpickler
    try:
        archive = zipfile.ZipFile(f)
    except zipfile.BadZipFile:
        raise RuntimeError("Invalid magic number; corrupt file?") from None
    with archive:
        root = archive.namelist()[0].split("/")[0]
        data = io.BytesIO(archive.read(f"{root}/data.pkl"))
        _check_byte_order(archive, root)
        return unpickler_class(data, archive, root, map_location, pickle_load_args).load()


def _check_byte_order(archive: zipfile.ZipFile, root: str) -> None:
    name = f"{root}/byteorder"
    if name in archive.namelist() and archive.read(name).decode() != sys.byteorder:
        raise ValueError("the file was written on a machine of the other byte order")


class FullUnpickler(pickle._Unpickler):
    """Reads a file's objects: PyTorch's names are translated, all others imported."""

    def __init__(
        self, data: BinaryIO, archive: zipfile.ZipFile, root: str, map_location: MAP_LOCATION, arguments: dict
    ) -> None:
        super().__init__(data, **arguments)
        self._archive = archive
        self._root = root
        self._map_location = map_location
        self._storages: dict[str, tuple[UntypedStorage, str]] = {}

    def find_class(self, module: str, name: str) -> Any:
        known = SAFE_GLOBALS.get((module, name))
        return super().find_class(module, name) if known is None else known

    def persistent_load(self, saved: tuple) -> Any:
        _, element_type, key, location, _ = saved
        if key not in self._storages:
            storage = _storage_from_bytes(self._archive.read(f"{self._root}/data/{key}"))
            self._storages[key] = storage, _new_location(self._map_location, storage, location)
        storage, location = self._storages[key]
        return storage if element_type is UntypedStorage else TypedBytes(storage, element_type, location)


class SafeUnpickler(FullUnpickler):
    """Reads a file's objects as far as they are known to be harmless. (The C unpickler has no way to check states.)"""

    dispatch = pickle._Unpickler.dispatch.copy()

    def load_build(self) -> None:
        """Give an object its state: not a class, a function or a constant, which other code uses too."""
        kind = type(self.stack[-2])
        if kind not in _WITH_STATE and kind not in _user_globals.values():
            name = kind.__name__
            raise pickle.UnpicklingError(f"Weights only load failed. The file changes an object of type {name}.")
        super().load_build()

    dispatch[pickle.BUILD[0]] = load_build

    def find_class(self, module: str, name: str) -> Any:
        for known in (SAFE_GLOBALS, _user_globals):
            if (module, name) in known:
                return known[module, name]
        raise pickle.UnpicklingError(
            f"Weights only load failed. The file refers to {module}.{name}, which is not one of the types that are "
            "allowed by default. If you trust the file, allow it with `torch.serialization.add_safe_globals"
            f"([{name}])`, or allow everything with `weights_only=False`, which may run any code that is in the file."
        )


def _new_location(wanted: MAP_LOCATION, storage: UntypedStorage, location: str) -> str:
    """Where a storage that was saved on `location` goes."""
    if wanted is None:
        return location
    if isinstance(wanted, dict):
        return wanted.get(location, location)
    if isinstance(wanted, str | device):
        return str(as_device(wanted))
    result = wanted(storage, location)
    return location if result is None else str(result.device)
