"""`load`: objects from files."""

import io
import os
import pickle
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, BinaryIO

from mindtorch._core.storage import UntypedStorage, storage_of
from mindtorch._core.typed_storage import TypedStorage
from mindtorch._support.warnings import warn
from mindtorch.serialization import allowed, config, legacy, settings, tar
from mindtorch.serialization.archive import check_size
from mindtorch.serialization.locations import MAP_LOCATION, is_meta, restorer, typed
from mindtorch.serialization.names import UNTYPED, StorageType
from mindtorch.serialization.settings import LoadEndianness
from mindtorch.serialization.unpickler import Error, SafeUnpickler, Survey, as_text, full_unpickler
from mindtorch.serialization.versions import check_dill
from mindtorch.serialization.zip_reader import ZipReader

UNSAFE_MESSAGE = (
    "With `weights_only=False`, which was the default before PyTorch 2.6, `torch.load` will likely succeed, but then "
    "the file can execute arbitrary code. Do that only if you got the file from a trusted source."
)


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

    With `weights_only=False` the file may run any code; use it only with files that you trust. With `mmap=True` the
    tensors of a file are read when they are looked at.
    """
    weights_only = _only_weights(weights_only, pickle_module)
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if weights_only and pickle_load_args:
        warn("pickle_load_args only works if `weights_only=False`.")
    check_dill(pickle_module)
    maps = config.load.mmap if mmap is None else mmap
    loader = _Loader(map_location, None if weights_only else pickle_module or pickle, pickle_load_args)
    if not isinstance(f, (str, os.PathLike)):
        _check_seekable(f)
        return loader.load(f, None, maps)
    _check_no_safetensors(os.fspath(f))
    with open(f, "rb") as file:
        return loader.load(file, os.fspath(f), maps)


_TRUE = frozenset(("1", "y", "yes", "true"))


def _is_set(name: str) -> bool:
    return os.getenv(name, "0").lower() in _TRUE


def _only_weights(wanted: bool | None, pickle_module: Any) -> bool:
    """Whether to load safely: the environment may insist on it, or make the other way the default."""
    always, never = _is_set("TORCH_FORCE_WEIGHTS_ONLY_LOAD"), _is_set("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    if always and never:
        raise RuntimeError(
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be set, but both "
            "were set."
        )
    if always:
        return True
    if never and wanted is None:
        warn(
            "Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the`weights_only` argument was not "
            "explicitly passed to `torch.load`, forcing weights_only=False."
        )
        return False
    return pickle_module is None if wanted is None else bool(wanted)


def _check_seekable(file: Any) -> None:
    try:
        file.seek(file.tell())
    except (io.UnsupportedOperation, AttributeError) as error:
        if not any(name in str(error) for name in ("seek", "tell")):
            raise
        raise type(error)(
            f"{error}. You can only torch.load from a file that is seekable. Please pre-load the data into a buffer "
            "like io.BytesIO and try to load from it instead."
        ) from None


def _check_no_safetensors(path: str) -> None:
    if path.endswith(".safetensors"):
        raise RuntimeError(
            "Attempting to load a safetensors file but safetensors is not installed. mindtorch reads files of "
            "torch.save; safetensors.numpy gives arrays for torch.from_numpy"
        )


def is_zip(file: BinaryIO) -> bool:
    """Whether an archive begins where the file stands."""
    start = file.tell()
    signature = file.read(4)
    file.seek(start)
    return signature == b"PK\x03\x04"


class _Loader:
    """How one call of `load` reads its file."""

    def __init__(self, map_location: MAP_LOCATION, pickle_module: Any, arguments: dict) -> None:
        self._map_location = map_location
        self._pickle_module = pickle_module  # None: only what is harmless
        self._arguments = {"encoding": "utf-8", **arguments}

    def load(self, file: BinaryIO, path: str | None, maps: bool) -> Any:
        try:
            return self._zipped(file, path, maps) if is_zip(file) else self._old(file, path, maps)
        except pickle.UnpicklingError as error:
            if self._pickle_module is not None:
                raise
            raise pickle.UnpicklingError(_safe_message(str(error))) from error

    def _unpickler(self, file: BinaryIO, persistent_load: Callable[[Any], Any]) -> Any:
        if self._pickle_module is None:
            return SafeUnpickler(file, persistent_load, self._arguments["encoding"])
        return full_unpickler(file, self._pickle_module, persistent_load, self._arguments)

    # -------------------- archives --------------------

    def _zipped(self, file: BinaryIO, path: str | None, maps: bool) -> Any:
        archive = ZipReader(file)
        self._check_no_script(archive)
        if maps and path is None:
            raise ValueError("f must be a file path in order to use the mmap argument")
        storages = _Storages(archive, path if maps else None, self._map_location)
        data = io.BytesIO(archive.read("data.pkl").tobytes())
        return self._unpickler(data, storages.persistent_load).load()

    def _check_no_script(self, archive: ZipReader) -> None:
        if not archive.has("constants.pkl"):
            return
        if self._pickle_module is None:
            raise RuntimeError(
                f"Cannot use ``weights_only=True`` with TorchScript archives passed to ``torch.load``. {UNSAFE_MESSAGE}"
            )
        raise RuntimeError("the file is a TorchScript archive, which mindtorch does not run")

    # -------------------- older formats --------------------

    def _old(self, file: BinaryIO, path: str | None, maps: bool) -> Any:
        if maps:
            name = "" if path is None else f"{path}, "
            raise RuntimeError(
                f"mmap can only be used with files saved with `torch.save({name}_use_new_zipfile_serialization=True), "
                "please torch.save your checkpoint with this option in order to use mmap."
            )
        restore = restorer(self._map_location)
        if file.tell() or not tar.is_tar(file):
            return legacy.load(file, self._unpickler, restore, self._arguments["encoding"])
        if self._pickle_module is None:
            raise RuntimeError(
                "Cannot use ``weights_only=True`` with files saved in the legacy .tar format. " + UNSAFE_MESSAGE
            )
        return tar.load(file, self._next_pickle, restore)

    def _next_pickle(self, file: BinaryIO, persistent_load: Callable[[Any], Any] = legacy.no_storage) -> Any:
        return self._unpickler(file, persistent_load).load()


def _safe_message(message: str) -> str:
    """torch's frame around what was refused."""
    if "was not an allowed global by default" in message:
        advice = f"There are two ways to load it all the same, if you trust the file.\n\t(1) {UNSAFE_MESSAGE}\n\t(2)"
        return f"Weights only load failed. {advice} Follow the message below.\n\tWeightsUnpickler error: {message}"
    return f"Weights only load failed. {UNSAFE_MESSAGE}\nWeightsUnpickler error: {message}"


# -------------------- the storages of an archive --------------------


class _Storages:
    """Gives the unpickler the storages of an archive, each once."""

    def __init__(self, archive: ZipReader, mapped_path: str | None, map_location: MAP_LOCATION) -> None:
        self._archive = archive
        self._is_swapped = _is_of_other_order(archive)
        self._file = _mapped(mapped_path)
        self._is_meta = is_meta(map_location)
        self._restore = restorer(map_location)
        self._restored: dict[str, Any] = {}

    def persistent_load(self, identity: Any) -> TypedStorage:
        kind, key, location, count = _parts(identity)
        self._check_size(key, kind, count)
        if key not in self._restored:
            storage = self._storage(kind, f"data/{key}")
            self._restored[key] = storage if self._is_meta else self._restore(storage, location)
        return typed(self._restored[key], kind.dtype)

    def _check_size(self, key: str, kind: StorageType, count: int) -> None:
        """The record is as large as it is said to be here. (Some bytes may be left over if others say it, too.)"""
        size = self._archive.entry(f"data/{key}").size
        check_size(size - size % kind.dtype.itemsize, count, kind.dtype)

    def _storage(self, kind: StorageType, name: str) -> UntypedStorage:
        size = self._archive.entry(name).size
        if self._is_meta:
            return UntypedStorage(size, device="meta")
        if settings.skips_data():
            return UntypedStorage(size)
        storage = self._from_file(name, size) or storage_of(self._archive.read(name))
        if self._is_swapped:
            _swap(storage, kind)
        return storage

    def _from_file(self, name: str, size: int) -> UntypedStorage | None:
        """A part of the mapped file, if it is mapped and numbers of any dtype can be read there."""
        place = None if self._file is None else self._archive.file_place_of(name)
        if place is None or place % _ALIGNMENT:
            return None
        return self._file[place : place + size]


_ALIGNMENT = 16  # that of the largest numbers


def _mapped(path: str | None) -> Any:
    if path is None:
        return None
    shared = settings.get_default_mmap_options() == settings.MAP_SHARED
    return UntypedStorage.from_file(path, shared, os.path.getsize(path))


def _parts(identity: Any) -> tuple[StorageType, str, str, int]:
    """Kind, key, location and number of elements of a storage."""
    if not isinstance(identity, tuple) or len(identity) != 5 or as_text(identity[0]) != "storage":
        raise Error(f"a storage is described by {identity!r}")
    _, kind, key, location, count = identity
    location = as_text(location)
    if not isinstance(kind, StorageType) or not isinstance(location, str):
        raise Error(f"a storage of kind {kind!r} at {location!r} cannot be")
    if type(count) is not int or count < 0:
        raise TypeError(f"get_storage_from_record(): the number of elements cannot be {count!r}")
    return kind, str(key), location, count


# -------------------- byte order --------------------


def _is_of_other_order(archive: ZipReader) -> bool:
    """Whether the numbers of a file have to be turned around."""
    if archive.has("byteorder"):
        order = archive.read("byteorder").tobytes().decode(errors="replace")
        if order not in ("little", "big"):
            raise ValueError(f"Unknown endianness type: {order}")
        return order != sys.byteorder
    default = settings.get_default_load_endianness() or LoadEndianness.LITTLE
    return default is not LoadEndianness.NATIVE and default.name.lower() != sys.byteorder


def _swap(storage: UntypedStorage, kind: StorageType) -> None:
    if kind is UNTYPED:
        raise RuntimeError("the file is of the other byte order, and of some storages it does not say what they hold")
    storage.byteswap(kind.dtype)


# -------------------- what is in a file --------------------


def get_unsafe_globals_in_checkpoint(f: str | os.PathLike | BinaryIO) -> list[str]:
    """The functions and classes that a file refers to and `load(weights_only=True)` refuses."""
    opened: AbstractContextManager = open(f, "rb") if isinstance(f, (str, os.PathLike)) else nullcontext(f)
    with opened as file:
        if not is_zip(file):
            raise ValueError("Expected input to be a checkpoint returned by torch.save")
        archive = ZipReader(file)
        if archive.has("constants.pkl"):
            raise ValueError(
                "Expected input to be a checkpoint returned by torch.save but got a torchscript checkpoint"
            )
        survey = Survey(io.BytesIO(archive.read("data.pkl").tobytes()), lambda identity: None)
    survey.load()
    return sorted(survey.names - set(allowed.BY_NAME) - set(allowed.marked_names()))
