"""Modules that hold other modules or parameters: in a row, in a list, by name."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter
from mindtorch.tensor import Tensor


def _position(index: Any, count: int) -> int:
    """A list index counted from the front."""
    index = operator.index(index)
    if not -count <= index < count:
        raise IndexError(f"index {index} is out of range")
    return index % count


class _Row(Module):
    """Modules in an order, which are named by their numbers."""

    def _at(self, index: Any) -> str:
        return list(self._modules)[_position(index, len(self._modules))]

    def _renumber(self, modules: Iterable[Module]) -> None:
        self.__dict__["_modules"] = {str(number): module for number, module in enumerate(modules)}

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice):
            return self._modules[self._at(index)]
        return self._of_slice(list(self._modules.items())[index])

    def _of_slice(self, members: list[tuple[str, Module]]) -> Any:
        raise NotImplementedError

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._at(index), module)

    def __delitem__(self, index: Any) -> None:
        modules = list(self._modules.values())
        if not isinstance(index, slice):
            index = _position(index, len(modules))
        del modules[index]
        self._renumber(modules)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, module: Module) -> Any:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> Any:
        """Add a module in front of another one."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        modules = list(self._modules.values())
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def extend(self, modules: Iterable[Module]) -> Any:
        """Add several modules at the end."""
        for module in modules:
            self.append(module)
        return self

    def pop(self, index: int) -> Module:
        """Take a module out."""
        module = self[index]
        del self[index]
        return module


class Sequential(_Row):
    """Modules that are called one after the other, each with the output of the one before."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], dict):
            members: Iterable[tuple[str, Module]] = args[0].items()
        else:
            members = ((str(number), module) for number, module in enumerate(args))
        for name, module in members:
            self.add_module(name, module)

    def _of_slice(self, members: list[tuple[str, Module]]) -> Sequential:
        return Sequential(dict(members))

    def __delitem__(self, index: Any) -> None:
        if isinstance(index, slice):
            for name in list(self._modules)[index]:
                del self._modules[name]
        else:
            del self._modules[self._at(index)]
        if all(name.isdigit() for name in self._modules):
            self._renumber(list(self._modules.values()))

    def __add__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return Sequential(*self, *other)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input


class ModuleList(_Row):
    """A list of modules."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _of_slice(self, members: list[tuple[str, Module]]) -> ModuleList:
        return type(self)(module for _, module in members)

    def __iadd__(self, modules: Iterable[Module]) -> ModuleList:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Add several modules at the end."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        return super().extend(modules)

    def __repr__(self) -> str:
        """Like any module's, with equal neighbours on one line: `(0-2): 3 x Linear(...)`."""
        runs: list[tuple[int, int, str]] = []
        for number, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], number, text)
            else:
                runs.append((number, number, text))
        if not runs:
            return f"{self._get_name()}()"
        return f"{self._get_name()}(\n" + "\n".join(map(_line_of_run, runs)) + "\n)"


def _line_of_run(run: tuple[int, int, str]) -> str:
    first, last, text = run
    head = f"({first}): " if first == last else f"({first}-{last}): {last - first + 1} x "
    return "  " + (head + text).replace("\n", "\n  ")


class ModuleDict(Module):
    """Modules by name, in the order in which they were added."""

    def __init__(self, modules: Mapping[str, Module] | Iterable | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def keys(self) -> Iterable[str]:
        return self._modules.keys()

    def items(self) -> Iterable[tuple[str, Module]]:
        return self._modules.items()

    def values(self) -> Iterable[Module]:
        return self._modules.values()

    def clear(self) -> None:
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Take a module out."""
        return self._modules.pop(key)

    def update(self, modules: Mapping[str, Module] | Iterable) -> None:
        """Add the modules of a mapping, or of pairs of name and module."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value pairs, "
                f"but got {type(modules).__name__}"
            )
        for name, module in dict(modules.items() if hasattr(modules, "items") else modules).items():
            self[name] = module


class ParameterList(Module):
    """A list of parameters; tensors become parameters when they are added."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        if values is not None:
            self.extend(values)

    def __len__(self) -> int:
        return len(self._parameters)

    def __getitem__(self, index: Any) -> Any:
        values = list(self._parameters.values())
        if isinstance(index, slice):
            return type(self)(values[index])
        return values[_position(index, len(values))]

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, str(_position(index, len(self))), _as_parameter(value))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parameters.values())

    def append(self, value: Any) -> ParameterList:
        """Add a parameter at the end."""
        self.register_parameter(str(len(self)), _as_parameter(value))
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add several parameters at the end."""
        for value in values:
            self.append(value)
        return self

    def __repr__(self) -> str:
        lines = (
            f"  ({name}): Parameter containing: [{value.dtype} of size {'x'.join(map(str, value.shape))}]"
            for name, value in self._parameters.items()
        )
        return f"{self._get_name()}({chr(10).join(lines)})"


def _as_parameter(value: Any) -> Any:
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


class ParameterDict(Module):
    """Parameters by name; tensors become parameters, other values are kept as they are."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self.__dict__["_keys"] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, str(key))

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        is_plain = isinstance(value, Tensor) and not isinstance(value, Parameter)
        setattr(self, str(key), Parameter(value) if is_plain else value)

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, str(key))

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

    def __ror__(self, other: Mapping[str, Any]) -> ParameterDict:
        result = type(self)(other)
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
        return type(self)({key: self[key] for key in self._keys})

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
        if isinstance(parameters, (Mapping, ParameterDict)):
            pairs: Iterable[Any] = list(parameters.items())
        else:
            pairs = [_checked_pair(number, pair) for number, pair in enumerate(parameters)]
        for key, value in pairs:
            self[key] = value

    def extra_repr(self) -> str:
        lines = []
        for key, value in self.items():
            if isinstance(value, Tensor):
                kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
                shape = "x".join(map(str, value.size()))
                lines.append(f"  ({key}): {kind} containing: [{value.type()} of size {shape}]")
            else:
                lines.append(f"  ({key}): Object of type: {type(value).__name__}")
        return "\n".join(lines)

    def __call__(self, input: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")


def _checked_pair(number: int, pair: Any) -> Any:
    if not isinstance(pair, Iterable):
        raise TypeError(f"ParameterDict update sequence element #{number} should be Iterable; is {type(pair).__name__}")
    if len(pair) != 2:
        raise ValueError(f"ParameterDict update sequence element #{number} has length {len(pair)}; 2 is required")
    return pair
