"""How PyTorch calls what is in its files, and what these names stand for here."""

import sys
from importlib import import_module
from typing import Any

from mindtorch._core.device import device
from mindtorch._core.dtype import ALL_DTYPES, NAMES_ONLY, dtype
from mindtorch._core.generator import Generator
from mindtorch._core.layout import COMPRESSED, layout, sparse_coo, strided
from mindtorch._core.named_result import NamedResult
from mindtorch._core.size import Size
from mindtorch._core.storage import UntypedStorage
from mindtorch._core.tensor import Tensor
from mindtorch._core.typed_storage import LegacyStorage
from mindtorch._functions.overridable import OverridableFunction
from mindtorch._support.own_names import is_own
from mindtorch._tensor_methods import rebuilding
from mindtorch.nn import parameter

Name = tuple[str, str]

_DTYPES: dict[str, dtype] = {str(each).removeprefix("torch."): each for each in (*ALL_DTYPES, *NAMES_ONLY)}
_LAYOUTS = {str(each): each for each in (strided, sparse_coo, *COMPRESSED)}


def layout_named(name: str) -> layout:
    """The layout of a name such as `torch.sparse_coo`."""
    return _LAYOUTS[name]


# -------------------- kinds of storages --------------------


_STORAGE_DTYPES = {f"{each.storage_name}Storage": each for each in _DTYPES.values()}


class StorageType:
    """What `torch.FloatStorage` is in a file: a dtype."""

    def __init__(self, name: str) -> None:
        self._dtype = _STORAGE_DTYPES[name]

    @property
    def dtype(self) -> dtype:
        return self._dtype

    def __str__(self) -> str:
        return f"StorageType(dtype={self.dtype})"


_STORAGE_TYPES = {name: StorageType(name) for name in _STORAGE_DTYPES}
UNTYPED = StorageType("ByteStorage")  # what an untyped storage is in a file

# Dtypes of PyTorch's that are in none of the tensors here: of quantized ones, of bits, of few bits.
_FOREIGN_STORAGES = {
    "QInt8Storage": "qint8", "QInt32Storage": "qint32", "QUInt8Storage": "quint8", "QUInt4x2Storage": "quint4x2",
    "QUInt2x4Storage": "quint2x4",
}  # fmt: skip
_FOREIGN_DTYPES = {
    *_FOREIGN_STORAGES.values(), "bits1x8", "bits2x4", "bits4x2", "bits8", "bits16", "float4_e2m1fn_x2",
    *(f"{kind}{bits}" for kind in ("int", "uint") for bits in range(1, 8)),
}  # fmt: skip
_FOREIGN_TENSORS = {"_rebuild_qtensor": "quantized tensors", "_rebuild_nested_tensor": "nested tensors in files"}


def check_known(module: str, name: str) -> None:
    """An error that says what of PyTorch's is not to be had here."""
    foreign = _FOREIGN_STORAGES.get(name) or (name if name in _FOREIGN_DTYPES else None)
    if module == "torch" and foreign:
        raise RuntimeError(f"mindtorch has no tensors of dtype torch.{foreign}, and the file refers to it")
    if module == "torch._utils" and name in _FOREIGN_TENSORS:
        raise RuntimeError(f"mindtorch has no {_FOREIGN_TENSORS[name]}, and this file has one")


# -------------------- functions and classes --------------------

# What pickles of tensors call.
_REBUILDING: dict[Name, Any] = {
    ("torch._utils", "_rebuild_tensor"): rebuilding.rebuild_tensor,
    ("torch._utils", "_rebuild_tensor_v2"): rebuilding.rebuild_tensor_v2,
    ("torch._utils", "_rebuild_tensor_v3"): rebuilding.rebuild_tensor_v3,
    ("torch._utils", "_rebuild_sparse_tensor"): rebuilding.rebuild_sparse_tensor,
    ("torch._utils", "_rebuild_meta_tensor_no_storage"): rebuilding.rebuild_meta_tensor_no_storage,
    ("torch._utils", "_rebuild_wrapper_subclass"): rebuilding.rebuild_wrapper_subclass,
    ("torch._utils", "_rebuild_parameter"): parameter.rebuild_parameter,
    ("torch._utils", "_rebuild_parameter_with_state"): parameter.rebuild_parameter_with_state,
    ("torch._tensor", "_rebuild_from_type_v2"): rebuilding.rebuild_from_type_v2,
    ("torch.serialization", "_get_layout"): layout_named,
}
_CLASSES: dict[Name, Any] = {
    ("torch", "Size"): Size,
    ("torch", "device"): device,
    ("torch", "Tensor"): Tensor,
    ("torch.nn.parameter", "Parameter"): parameter.Parameter,
}
_DTYPE_NAMES: dict[Name, Any] = {("torch", name): each for name, each in _DTYPES.items()}
_STORAGE_NAMES: dict[Name, Any] = {
    **{("torch", name): kind for name, kind in _STORAGE_TYPES.items()},
    ("torch.storage", "UntypedStorage"): UNTYPED,
    ("torch", "UntypedStorage"): UNTYPED,
}

# All that files of tensors need; none of it does harm, whatever it is called with.
TENSOR_NAMES = {**_REBUILDING, **_CLASSES, **_DTYPE_NAMES, **_STORAGE_NAMES}

_OTHERS: dict[Name, Any] = {("torch._C", "Generator"): Generator, ("torch.storage", "UntypedStorage"): UntypedStorage}
_NAMED: dict[Name, Any] = {**_REBUILDING, **_CLASSES, **_DTYPE_NAMES, **_OTHERS}
_NAMES = {id(thing): name for name, thing in _NAMED.items()}


def torch_names() -> dict[Name, Any]:
    """What pickles of tensors refer to, by PyTorch's names."""
    return _NAMED


# Files of torch's packages from which programs import classes. What is in none of them here is in its package.
_FILES = {
    "nn": "parameter",
    "nn.modules": "activation batchnorm channelshuffle container conv distance dropout flatten fold instancenorm "
    "linear loss module normalization padding pixelshuffle pooling rnn sparse transformer upsampling",
    "nn.parallel": "data_parallel distributed",
    "distributed.checkpoint": "metadata filesystem",
    "optim": "adadelta adagrad adam adamw adamax asgd lbfgs lr_scheduler nadam optimizer radam rmsprop rprop sgd "
    "sparse_adam swa_utils",
}  # fmt: skip

_ONLY_OTHERS = ("channelshuffle", "fold", "pixelshuffle")  # of these files, all classes are from other ones here


def torch_name(thing: Any) -> Name | None:
    """PyTorch's name of a function, class or constant of the library, if it has one there."""
    if isinstance(thing, OverridableFunction):
        thing = thing.function
    if id(thing) in _NAMES:
        return _NAMES[id(thing)]
    if isinstance(thing, LegacyStorage):
        return "torch", thing.__name__
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    if is_of_torch(module):  # with the library in its place
        return (module, name) if is_own(module) and _in_library(module.split(".")[1:], name) is thing else None
    if not is_own(module):
        return None
    if isinstance(thing, type):
        return ("torch.return_types", name) if issubclass(thing, NamedResult) else _name_of_class(thing, module, name)
    return _name_of_function(thing, name)


def _name_of_class(cls: type, module: str, name: str) -> Name | None:
    package, _, file = module.removeprefix("mindtorch.").rpartition(".")
    files = _FILES.get(package, "").split()
    likely = [name.lower(), *_ONLY_OTHERS, "loss" if name.endswith("Loss") else file]
    for each in sorted(files, key=lambda each: likely.index(each) if each in likely else len(likely)):
        if getattr(_loaded(f"mindtorch.{package}.{each}"), name, None) is cls:
            return f"torch.{package}.{each}", name
    has_place = files and getattr(sys.modules[f"mindtorch.{package}"], name, None) is cls
    return (f"torch.{package}", name) if has_place else None


def _loaded(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError:
        return None


def _name_of_function(function: Any, name: str) -> Name | None:
    for module in ("nn.functional", "nn.init", "special", "linalg"):
        if _stands_for(getattr(_loaded(f"mindtorch.{module}"), name, None), function):
            return f"torch.{module}", name
    return ("torch", name) if _stands_for(getattr(sys.modules["mindtorch"], name, None), function) else None


def _stands_for(found: Any, function: Any) -> bool:
    """Whether it is a function, or what lets others take over its calls."""
    return (found.function if isinstance(found, OverridableFunction) else found) is function


def thing_named(module: str, name: str) -> Any:
    """What a name of PyTorch's stands for here. PyTorch itself is not imported."""
    check_known(module, name)
    for table in (TENSOR_NAMES, _OTHERS):
        if (module, name) in table:
            return table[module, name]
    path = module.split(".")
    for length in range(len(path), 1, -1):
        found = _in_library(path[1:length], name)
        if found is not None:
            return found
    found = _in_library([], name)
    if found is None:
        raise AttributeError(f"the file refers to {module}.{name}, which mindtorch does not have")
    return found


def _in_library(path: list[str], name: str) -> Any:
    """A name in a module of the library, or None."""
    try:
        found = import_module(".".join(["mindtorch", *path]))
    except ModuleNotFoundError:
        return _attribute(sys.modules["mindtorch"], [*path, *name.split(".")])
    return _attribute(found, name.split("."))


def _attribute(thing: Any, path: list[str]) -> Any:
    for name in path:
        thing = getattr(thing, name, None)
    return thing


def is_of_torch(module: str) -> bool:
    """Whether a module is one of PyTorch's."""
    return module == "torch" or module.startswith("torch.")
