"""Where storages were when they were saved, and where they go when they are loaded."""

from collections.abc import Callable
from typing import Any

from mindtorch._core.buffers import maker_of
from mindtorch._core.device import device
from mindtorch._core.dtype import dtype
from mindtorch._core.storage import UntypedStorage
from mindtorch._core.typed_storage import TypedStorage, typed_view
from mindtorch._support import errors

MAP_LOCATION = Callable[[UntypedStorage, str], Any] | device | str | dict[str, str] | None
Restore = Callable[[UntypedStorage, str], Any]

# By priority, lowest first: what gives a storage its tag, or None, and what takes a storage to a tag, or gives None.
_packages: list[tuple[int, Callable[[Any], str | None], Restore]] = []


def register_package(priority: int, tagger: Callable[[Any], str | None], deserializer: Restore) -> None:
    """Have files tag storages, and put tagged storages where they belong, by functions of your own."""
    _packages.append((priority, tagger, deserializer))
    _packages.sort(key=lambda package: package[0])


def location_tag(storage: Any) -> str:
    """What a file says of where a storage is."""
    for _, tagger, _ in _packages:
        location = tagger(storage)
        if location:
            return location
    raise RuntimeError(f"don't know how to determine data location of {errors.type_name(storage)}")


def default_restore_location(storage: Any, location: str) -> Any:
    """The storage where its tag says."""
    for _, _, deserializer in _packages:
        result = deserializer(storage, location)
        if result is not None:
            return result
    raise RuntimeError(
        f"don't know how to restore data location of {errors.type_name(storage)} (tagged with {location})"
    )


def restorer(wanted: MAP_LOCATION) -> Restore:
    """What takes a storage from where it was saved to where `map_location` says."""
    if wanted is None:
        return default_restore_location
    if isinstance(wanted, dict):
        return lambda storage, location: default_restore_location(storage, wanted.get(location, location))
    if isinstance(wanted, (str, bytes, device)):
        place = wanted.decode("ascii") if isinstance(wanted, bytes) else str(wanted)
        return lambda storage, location: default_restore_location(storage, place)
    return lambda storage, location: _or_default(wanted(storage, location), storage, location)


def _or_default(result: Any, storage: Any, location: str) -> Any:
    return default_restore_location(storage, location) if result is None else result


def is_meta(wanted: MAP_LOCATION) -> bool:
    """Whether all storages become ones without data, so that none has to be read."""
    return isinstance(wanted, (str, device)) and str(wanted) == "meta"


# -------------------- the devices --------------------


def typed(restored: Any, element_type: dtype) -> TypedStorage:
    """What `map_location` and the registered functions have given, as what tensors are made on."""
    storage = restored.untyped() if isinstance(restored, TypedStorage) else restored
    if not isinstance(storage, UntypedStorage):
        raise TypeError(f"map_location must give a storage or None, but gave {errors.type_name(restored)}")
    return typed_view(storage, element_type)


def _tag_of(kind: str) -> Callable[[Any], str | None]:
    return lambda storage: str(storage.device) if storage.device.type == kind else None


def _to_cpu(storage: Any, location: str) -> Any:
    return storage if location == "cpu" else None


def _to_meta(storage: Any, location: str) -> Any:
    return UntypedStorage(storage.nbytes(), device="meta") if location == "meta" else None


def validate_cuda_device(location: Any) -> None:
    """The number of a CUDA device; there is none here."""
    raise _absent("cuda")


def validate_hpu_device(location: Any) -> None:
    """The number of an HPU device; there is none here."""
    raise _absent("hpu")


def _absent(kind: str) -> RuntimeError:
    return RuntimeError(
        f"Attempting to deserialize object on a {kind.upper()} device but torch.{kind}.is_available() is False. If you "
        "are running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your "
        "storages to the CPU."
    )


def _to_absent(kind: str) -> Restore:
    def restore(storage: Any, location: str) -> None:
        if location.partition(":")[0] == kind:
            raise _absent(kind)

    return restore


def _tag_of_backend(storage: Any) -> str | None:
    return str(storage.device) if maker_of(storage.device.type) else None


def _to_backend(storage: Any, location: str) -> Any:
    if maker_of(location.partition(":")[0]) is None:
        return None
    return UntypedStorage(storage.nbytes(), device=location).copy_(storage)


register_package(10, _tag_of("cpu"), _to_cpu)
register_package(20, _tag_of("cuda"), _to_absent("cuda"))
register_package(22, _tag_of("meta"), _to_meta)
register_package(23, _tag_of_backend, _to_backend)
for _priority, _kind in enumerate(("hpu", "xpu", "mtia", "npu"), 24):
    register_package(_priority, _tag_of(_kind), _to_absent(_kind))
