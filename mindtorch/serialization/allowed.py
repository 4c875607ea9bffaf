"""Which classes and functions `load(weights_only=True)` makes use of."""

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

from mindtorch.serialization.names import TENSOR_NAMES, torch_name

_marked: dict[Any, None] = {}  # in the order in which they came


def add_safe_globals(safe_globals: Iterable[Any]) -> None:
    """Let `load(weights_only=True)` make objects of these classes and call these functions.

    An item may be a pair of a class or function and the full name that it has in files.
    """
    _marked.update(dict.fromkeys(safe_globals))


def clear_safe_globals() -> None:
    """Forget what `add_safe_globals` allowed."""
    _marked.clear()


def get_safe_globals() -> list[Any]:
    """What `add_safe_globals` allowed."""
    return list(_marked)


class safe_globals:
    """Within it, `load(weights_only=True)` also makes objects of these classes and calls these functions."""

    def __init__(self, safe_globals: Iterable[Any]) -> None:
        self.safe_globals = list(safe_globals)

    def __enter__(self) -> None:
        self._before = dict(_marked)
        add_safe_globals(self.safe_globals)

    def __exit__(self, *exception: Any) -> None:
        _marked.clear()
        _marked.update(self._before)


def marked_names() -> dict[str, Any]:
    """What was allowed, by the names that it may have in a file: PyTorch's, and its own."""
    found = {}
    for each in _marked:
        thing, *names = each if isinstance(each, tuple) else (each,)
        found.update(dict.fromkeys(_checked(names) or _names_of(thing), thing))
    return found


def _checked(names: list) -> list[str]:
    if len(names) > 1:
        raise ValueError(
            f"Expected tuple of length 2 (global, str of callable full path), but got tuple of length: {len(names) + 1}"
        )
    if names and type(names[0]) is not str:
        raise TypeError(f"Expected second item in tuple to be str of callable full path, but got: {type(names[0])}")
    return names


def _names_of(thing: Any) -> list[str]:
    known = torch_name(thing)
    own = f"{thing.__module__}.{thing.__qualname__}"
    return [own] if known is None else [own, ".".join(known)]


# -------------------- what is always allowed --------------------


def _encoded(text: str, encoding: str = "utf-8") -> bytes:
    """How Python 2's pickles have bytes: as text in latin-1."""
    return text.encode(encoding)


def _byte_array(content: Any = b"", encoding: Any = None) -> bytearray:
    """A bytearray of what pickles give: a number would be a size, of any number of gigabytes."""
    if isinstance(content, str):
        return bytearray(content, encoding)
    return bytearray(bytes(content) if isinstance(content, (bytes, bytearray)) else _listed(content))


def _listed(content: Any) -> list:
    if not isinstance(content, (list, tuple)):
        raise TypeError(f"a bytearray is made of bytes, not of {type(content).__name__}")
    return list(content)


_ON_DEVICE = ("torch._utils", "_rebuild_device_tensor_from_cpu_tensor")


def _tensor_on_device(data: Any, dtype: Any, place: Any, requires_grad: bool) -> Any:
    moved = data.to(dtype=dtype, device=place)
    moved.requires_grad = requires_grad
    return moved


BY_NAME: dict[str, Any] = {
    **{f"{module}.{name}": thing for (module, name), thing in TENSOR_NAMES.items()},
    ".".join(_ON_DEVICE): _tensor_on_device,
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": Counter,
    "builtins.set": set,
    "builtins.bytearray": _byte_array,
    "builtins.complex": complex,
    "_codecs.encode": _encoded,
}
_BLOCKED_MODULES = frozenset(("sys", "os", "posix", "nt"))


def is_blocked(module: str) -> bool:
    """Whether nothing of a module is to be had, even if it was allowed."""
    return module in _BLOCKED_MODULES


def callables() -> dict[int, Callable[..., Any]]:
    """What a file may call, by id. (Classes of tensors are for tensors that are made otherwise.)"""
    things = [*BY_NAME.values(), *marked_names().values()]
    return {id(each): each for each in things if callable(each)}
