"""The families of ops. One is loaded when an op of it is first asked for, so that `import mindtorch` stays quick.

The generated registry of a package names the functions of each family (`register_families`). Until a family is loaded,
stand-ins are in the places of its functions, in what `functions_of` gives, and of its methods, on Tensor. To load it is
to import its module of functions, whose last line is `complete`: that imports what belongs to them, the registry of the
family, which makes ops and kernels known, and then has functions and methods take the places of the stand-ins
(`publish`). So later calls find nothing of this; and who imports a module of functions has all that belongs to them.
"""

from collections.abc import Mapping
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

from mindtorch._support.lazy import Unloaded
from mindtorch._support.op_names import base_of, namespace_of

_functions: dict[str, Any] = {}  # by namespace
_unloaded: dict[str, tuple[str, ...]] = {}  # by the module of functions of a family, their names and those of its ops
_registries: dict[str, str] = {}  # by the package of functions, that of registries, with modules of the same names


def functions_of(namespace: str) -> Any:
    """The functions of the ops of a namespace as attributes."""
    if namespace not in _functions:
        _functions.setdefault(namespace, type("Functions", (), {})())  # a class of its own, for the stand-ins
    return _functions[namespace]


def register_families(package: str, namespace: str, families: Mapping[str, tuple[str, ...]]) -> None:
    """Have the families of a generated package be loaded when one of these names is asked for."""
    functions = functions_of(namespace)
    place = type(functions)
    _registries[f"{package}.ops"] = f"{package}.registry"
    for family, names in families.items():
        module = f"{package}.ops.{family}"
        _unloaded[module] = names
        for name in names:
            known = vars(functions).get(name) or vars(place).get(name)
            first = known.module if type(known) is Unloaded else getattr(known, "__module__", module)
            if first != module:
                raise registered_twice(f"{namespace}::{name}", first, module)
            setattr(place, name, Unloaded(module, name))


def registered_twice(op: str, first: str, second: str) -> ValueError:
    """The error for an op that two modules of functions have."""
    return ValueError(
        f"two packages have an op {op!r}: it is registered by {first} and by {second}; a `namespace` of its own in one "
        "of them keeps them apart"
    )


def complete(module: str) -> None:
    """Make known what belongs to the functions of a module: its last line."""
    package, _, family = module.rpartition(".")
    if package in _registries:
        import_module(f"{_registries[package]}.{family}")


def publish(module: ModuleType, functions: Any) -> None:
    """Have the functions of a family, of which everything else is known by now, be found."""
    own = vars(module).items()
    vars(functions).update(
        (name, value) for name, value in own if isinstance(value, FunctionType) and value.__module__ == module.__name__
    )
    for name in _unloaded.pop(module.__name__, ()):
        delattr(type(functions), name)


def load_op(name: str) -> None:
    """Load the family of an op such as "mul.Tensor", if there is one that is not loaded yet."""
    place = type(_functions.get(namespace_of(name)))
    stand_in = vars(place).get(base_of(name))
    if type(stand_in) is Unloaded:
        import_module(stand_in.module)


def load_families() -> None:
    """Load all that there are."""
    for module in list(_unloaded):
        import_module(module)
