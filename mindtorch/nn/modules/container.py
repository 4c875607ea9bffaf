"""Modules that hold other modules: in a row, in a list, by name."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from itertools import chain
from typing import Any, TypeVar, overload

from mindtorch.nn.modules.container_arguments import pairs_of, position
from mindtorch.nn.modules.module import Module
from mindtorch.nn.modules.parameter_container import ParameterDict as ParameterDict
from mindtorch.nn.modules.parameter_container import ParameterList as ParameterList

Self = TypeVar("Self", bound="_Row")


class _Row(Module):
    """Modules in an order, which are named by their numbers."""

    _modules: dict[str, Module]  # type: ignore[assignment]  # never None

    def _at(self, index: Any) -> str:
        return list(self._modules)[position(index, len(self._modules))]

    def _renumber(self, modules: Iterable[Module]) -> None:
        self.__dict__["_modules"] = {str(number): module for number, module in enumerate(modules)}

    @overload
    def __getitem__(self: Self, index: slice) -> Self: ...
    @overload
    def __getitem__(self, index: int) -> Module: ...
    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice):
            return self._modules[self._at(index)]
        return self._of_slice(list(self._modules.items())[index])

    def _of_slice(self: Self, members: list[tuple[str, Module]]) -> Self:
        raise NotImplementedError

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._at(index), module)

    def __delitem__(self, index: Any) -> None:
        modules = list(self._modules.values())
        if not isinstance(index, slice):
            index = position(index, len(modules))
        del modules[index]
        self._renumber(modules)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self: Self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def _insert(self, index: int, module: Module) -> None:
        modules = list(self._modules.values())
        modules.insert(index, module)
        self._renumber(modules)

    def extend(self: Self, modules: Iterable[Module]) -> Self:
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

    @overload
    def __init__(self, *args: Module) -> None: ...
    @overload
    def __init__(self, arg: OrderedDict[str, Module], /) -> None: ...
    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            members: Iterable[tuple[str, Module]] = args[0].items()
        else:
            members = ((str(number), module) for number, module in enumerate(args))
        for name, module in members:
            self.add_module(name, module)

    def _of_slice(self, members: list[tuple[str, Module]]) -> Sequential:
        return Sequential(OrderedDict(members))

    def __delitem__(self, index: Any) -> None:
        if isinstance(index, slice):
            for name in list(self._modules)[index]:
                del self._modules[name]
        else:
            del self._modules[self._at(index)]
        if all(name.isdigit() for name in self._modules):
            self._renumber(list(self._modules.values()))

    def insert(self, index: int, module: Module) -> Sequential:
        """Add a module in front of another one."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        self._insert(index, module)
        return self

    def __add__(self, other: Any) -> Sequential:
        return Sequential(*self).__iadd__(other)

    def __iadd__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return self.extend(list(other))

    def __mul__(self, times: Any) -> Sequential:
        return Sequential(*self).__imul__(times)

    def __rmul__(self, times: Any) -> Sequential:
        return self * times

    def __imul__(self, times: Any) -> Sequential:
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")
        return self.extend(list(self) * (times - 1))

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

    def insert(self, index: int, module: Module) -> None:
        """Add a module in front of another one."""
        self._insert(index, module)

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

    _modules: dict[str, Module]  # type: ignore[assignment]  # never None

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

    def keys(self) -> KeysView[str]:
        return self._modules.keys()

    def items(self) -> ItemsView[str, Module]:
        return self._modules.items()

    def values(self) -> ValuesView[Module]:
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
        for name, module in pairs_of(modules, "ModuleDict"):
            self[name] = module
