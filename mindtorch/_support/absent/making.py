"""Makes what stands for a name of PyTorch's."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from enum import Enum
from functools import cache
from importlib import import_module
from threading import local
from typing import Any, NoReturn

from mindtorch._support import torch_names
from mindtorch._support.absent.reasons import BUILT, DECORATORS, IMPORTED, REASONS
from mindtorch._support.torch_names import TorchName

_searches = local()  # the names that are looked for in other places


def _torch(module: str) -> str:
    return "torch" + module.removeprefix("mindtorch")


def _own(module: str) -> str:
    return "mindtorch" + module.removeprefix("torch")


# -------------------- modules --------------------


def stands_for_module(module: str) -> bool:
    """Whether PyTorch has a module of that name, so that there is a stand-in."""
    path = _torch(module)
    return not _is_in(path, BUILT) and torch_names.find(path, "") is not None


def is_package(module: str) -> bool:
    return torch_names.has_module_below(_torch(module))


def names_of(module: str) -> list[str]:
    """The names in a module of PyTorch's."""
    return sorted({row.name for row in torch_names.names_in(_torch(module))} - {""})


def _is_in(path: str, modules: tuple[str, ...]) -> bool:
    return any(path == each or path.startswith(f"{each}.") for each in modules)


# -------------------- names --------------------


def name_in(module: str, name: str) -> Any:
    """What a module of the library has for a name of PyTorch's; AttributeError if there is no such name."""
    path = _torch(module)
    row = None if name.startswith("__") or _is_in(path, BUILT) else torch_names.find(path, name)
    made = _module_below(path, name) if row is None or row.kind == "module" else _found_elsewhere(row)
    if made is None and row is not None:
        made = _made(row)
    if made is None:
        raise AttributeError(f"module '{module}' has no attribute '{name}'")
    setattr(sys.modules[module], name, made)
    return made


def _module_below(path: str, name: str) -> Any:
    """A module that PyTorch imports with the package that it lies in, so that programs do not import it themselves."""
    below = f"{path}.{name}"
    return import_module(_own(below)) if _is_in(below, IMPORTED) and torch_names.find(below, "") else None


def _found_elsewhere(row: TorchName) -> Any:
    """The same thing where it is real."""
    busy = vars(_searches).setdefault("rows", set())
    key = row.name, row.home
    if key in busy:
        return None
    busy.add(key)
    try:
        for place in torch_names.other_places(row):
            found = _in_module(place, row.name)
            if found is not None and refusal_of(found) is None:
                return found
    finally:
        busy.remove(key)
    return None


def _in_module(place: str, name: str) -> Any:
    try:
        return getattr(import_module(_own(place)), name, None)
    except ModuleNotFoundError:
        return None


def _made(row: TorchName) -> Any:
    if row.kind in _MAKERS:
        return _stand_in(row.home or row.module, row.name, row.module)
    if row.kind == "value" and row.home.startswith("torch."):
        path, _, member = row.home.rpartition(".")
        module, _, name = path.rpartition(".")
        return getattr(getattr(import_module(_own(module)), name), member)
    if row.kind == "value" and row.home:
        return ast.literal_eval(row.home)
    return None


@cache
def _stand_in(home: str, name: str, module: str) -> Any:
    row = torch_names.find(home, name) or torch_names.find(module, name)
    assert row is not None
    made = _MAKERS[row.kind](row, reason(_own(row.module), name))
    if row.kind != "type":
        made.__module__ = _own(home)
    return made


# -------------------- what refuses --------------------


def reason(module: str, name: str) -> str:
    """Why something is not here, and what there is instead."""
    path = f"{_torch(module)}.{name}".rstrip(".")
    fitting = [each for each in REASONS if path == each or path.startswith((f"{each}.", f"{each}_"))]
    known = max(fitting, key=len, default="")
    instead = REASONS.get(known, "it is one of PyTorch's own parts")
    return f"mindtorch does not have {path}: {instead}"


def refusal_of(thing: Any) -> str | None:
    """The text with which something refuses to be used; None if it does not."""
    return getattr(thing, "_mt_refusal", None) if isinstance(thing, (type, _Refusing, _FUNCTION)) else None


class _Refusing:
    """A function that refuses to be called."""

    def __init__(self, name: str, text: str) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = text
        self._mt_refusal = text

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(self._mt_refusal)


def _function(row: TorchName, text: str) -> Any:
    is_decorator = not DECORATORS.isdisjoint((f"{row.home}.{row.name}", f"{row.module}.{row.name}"))
    return _decorator if is_decorator else _Refusing(row.name, text)


def _decorator(*args: Any, **kwargs: Any) -> Any:
    """A decorator, or what gives one, that leaves functions as they are."""
    return args[0] if len(args) == 1 and not kwargs and isinstance(args[0], (type, _FUNCTION)) else lambda each: each


_FUNCTION = type(_decorator)


def _class(row: TorchName, text: str, base: type = object) -> type:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(text)

    members = {"__init__": __init__, "__class_getitem__": classmethod(lambda cls, item: cls), "_mt_refusal": text}
    return type(row.name, (base,), {**members, "__doc__": text})


def _exception(row: TorchName, text: str) -> type:
    return type(row.name, (RuntimeError,), {"__doc__": text})


def _enum(row: TorchName, text: str) -> Any:
    members = [
        (each.name, ast.literal_eval(each.home))
        for each in torch_names.names_in(f"{row.home or row.module}.{row.name}")
    ]
    return Enum(row.name, members)


_MAKERS: dict[str, Callable[[TorchName, str], Any]] = {
    "class": _class,
    "exception": _exception,
    "enum": _enum,
    "function": _function,
    "type": lambda row, text: Any,
}
