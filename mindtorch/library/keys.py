"""Dispatch keys: the words by which users say what a kernel is for."""

from collections.abc import Iterable
from typing import Any

from mindtorch._core.device import device
from mindtorch.dispatch.keys import backend_names, key_of_device

AUTOGRAD = "Autograd"
EXPLICIT = "CompositeExplicitAutograd"
IMPLICIT = "CompositeImplicitAutograd"
BATCHED = "FuncTorchBatched"
AUTOCAST = "Autocast"  # the beginning of the keys of kernels that run instead of others inside `amp.autocast`

# torch knows the backend of devices that it does not know under this name; here that is the NPU.
_ALIASES = {"PrivateUse1": "NPU", "PRIVATEUSEONE": "NPU", "AutogradNPU": "AutogradPrivateUse1"}
# Keys of torch that stand for things which do not exist here.
_NOT_HERE = frozenset(
    (
        "ADInplaceOrView", "AutogradFunctionality", "AutogradNestedTensor", "AutogradOther", "BackendSelect",
        "CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutogradNestedTensor", "Conjugate", "Dense",
        "FuncTorchBatched", "FuncTorchBatchedDecomposition", "FuncTorchDynamicLayerBackMode",
        "FuncTorchDynamicLayerFrontMode", "FuncTorchGradWrapper", "FuncTorchVmapMode", "Functionalize", "Negative",
        "NestedTensor", "PreDispatch", "Python", "PythonDispatcher", "PythonTLSSnapshot", "Quantized", "Sparse",
        "SparseCsr", "ZeroTensor",
    )
)  # fmt: skip
_OTHER_BACKENDS = frozenset(("CUDA", "HIP", "IPU", "XPU", "XLA", "MPS", "HPU", "VE", "MTIA", "MAIA", "Lazy", "NPU"))


def parse_key(name: str) -> str:
    """The key that a name stands for. Kernels for backends that are not here can be registered, and wait."""
    key = _ALIASES.get(name, name)
    if key in _NOT_HERE:
        raise NotImplementedError(f"mindtorch has no layer for the dispatch key {name}")
    if key in (AUTOGRAD, EXPLICIT, IMPLICIT) or _is_of_device(key):
        return key
    raise RuntimeError(f"could not parse dispatch key: {name}")


def _is_of_device(key: str) -> bool:
    """Whether a key is that of a device, or of what is above the kernels of one."""
    return any(is_backend_key(key.removeprefix(layer)) for layer in (AUTOGRAD, AUTOCAST))


def is_backend_key(name: str) -> bool:
    return name in _OTHER_BACKENDS or name == "PrivateUse1" or name in backend_names()


def is_key(name: str) -> bool:
    """Whether a name is a dispatch key, and not that of a device."""
    return name in (AUTOGRAD, EXPLICIT, IMPLICIT) or name in _NOT_HERE or _is_of_device(name)


def key_for_device(device_type: str) -> str:
    """The key for kernels of a device; torch's error for a device that does not exist."""
    parsed = device(device_type)
    if parsed.index is not None:
        raise RuntimeError(f"Expected device_type string to not have a device index; got {device_type}")
    key = key_of_device(parsed.type)
    return _ALIASES.get(key, key)


def device_types(types: str | Iterable[str] | None) -> list[Any]:
    """What a `device_types` argument lists; None, for all devices, is kept."""
    return [types] if types is None or isinstance(types, str) else list(types)
