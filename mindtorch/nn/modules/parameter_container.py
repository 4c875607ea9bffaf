"""Modules that hold parameters, in a list and by name. Other values are kept as they are."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.nn.modules.container_arguments import pairs_of, position
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter


class ParameterList(Module):
    """A list of parameters; tensors become parameters when they are added, other values are kept as they are."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return getattr(self, str(position(index, self._size)))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, str(position(index, self._size)), _as_parameter(value))

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, str(number)) for number in range(self._size))

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value: Any) -> ParameterList:
        """Add a value at the end."""
        self._size += 1
        self[-1] = value
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add several values at the end."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in values:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(_described(number, value, _dtype_name) for number, value in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


def _as_parameter(value: Any) -> Any:
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _dtype_name(value: Tensor) -> str:
    return str(value.dtype)


def _described(name: Any, value: Any, type_of: Callable[[Tensor], str]) -> str:
    """A line of what a container of parameters prints."""
    if not isinstance(value, Tensor):
        return f"  ({name}): Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"  ({name}): {kind} containing: [{type_of(value)} of size {'x'.join(map(str, value.shape))}]"


class ParameterDict(Module):
    """Parameters by name; tensors become parameters, other values are kept as they are."""

    _keys: dict[str, None]

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self.__dict__["_keys"] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, _checked_key(key))

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        setattr(self, _checked_key(key), _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, _checked_key(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def __or__(self, other: Mapping[str, Any]) -> ParameterDict:
        result = self.copy()
        result.update(other)
        return result

    def __ror__(self, other: dict[str, Any]) -> dict[str, Any]:
        result = other.copy()
        result.update(self)
        return result

    def __ior__(self, other: Mapping[str, Any]) -> ParameterDict:
        self.update(other)
        return self

    def keys(self) -> Iterable[str]:
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        return (self[key] for key in self._keys)

    def copy(self) -> ParameterDict:
        """Another dictionary with the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def clear(self) -> None:
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Take a value out."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Take out what was added last."""
        key, _ = self._keys.popitem()
        self._keys[key] = None
        return key, self.pop(key)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value of a name, which is the default if it had none."""
        if key not in self._keys:
            self[key] = default
        return self[key]

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self._keys else default

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A dictionary with one value for all names."""
        return type(self)((key, default) for key in keys)

    def update(self, parameters: Any) -> None:
        """Add the values of a mapping, or of pairs of name and value."""
        if not isinstance(parameters, Iterable):
            raise TypeError(
                "ParametersDict.update should be called with an iterable of key/value pairs, "
                f"but got {type(parameters).__name__}"
            )
        # The entries of a plain dictionary come in the order of their names.
        is_sorted = isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict)
        pairs = pairs_of(parameters, "ParameterDict")
        for key, value in sorted(pairs) if is_sorted else pairs:
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join(_described(key, value, Tensor.type) for key, value in self.items())

    def __call__(self, input: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")


def _checked_key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(
            "Index given to ParameterDict cannot be used as a key as it is not a string "
            f"(type is '{type(key).__name__}'). Open an issue on github if you need non-string keys."
        )
    return key
