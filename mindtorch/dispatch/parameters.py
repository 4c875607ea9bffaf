"""The parameters of generated functions, for what looks at whole calls: modes, records, the texts of errors.

They are in generated modules of their own, which are imported when the first of their functions is asked about.
"""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple


class Parameters(NamedTuple):
    """`names`: those that are given by position, too. `rest` collects the ints of `x.view(2, 3)`, or is empty.

    `required`: those that are given by name only, and have no default.
    """

    names: tuple[str, ...] = ()
    rest: str = ""
    defaults: Mapping[str, Any] = {}
    required: tuple[str, ...] = ()

    def is_default(self, name: str, value: Any) -> bool:
        """Whether an argument is what stands for nothing given."""
        if name not in self.defaults:
            return False
        default = self.defaults[name]
        return value is default or (type(value) is type(default) and value == default)

    def _is_spelling(self, name: str) -> bool:
        """Whether a parameter stands for another one; `segment_reduce` has an `axis` that is no `dim`."""
        return SPELLINGS[name] in self.names or SPELLINGS[name] in self.defaults

    def passed(self, values: Mapping[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """The arguments with which a function would call itself, of what its names stand for."""
        args = tuple([values[name] for name in self.names])
        spellings = [name for name in SPELLINGS if self._is_spelling(name)]
        named = {*self.defaults, *self.required}.difference(self.names, spellings)
        return args + tuple(values.get(self.rest, ())), {name: each for name, each in values.items() if name in named}


# NumPy's names of parameters of generated functions, whose values are in these when a call fails.
SPELLINGS = {"axis": "dim", "keepdims": "keepdim"}

_UNKNOWN = Parameters()
_packages: dict[str, str] = {}  # by the package of functions, that of their parameters, with modules of the same names


def register_parameters(functions: str, parameters: str) -> None:
    """Have the parameters of the functions of one package be found in another."""
    _packages[functions] = parameters


def parameters_of(function: Callable) -> Parameters:
    """The parameters of a generated function, also of one that a guard stands for; none of other callables."""
    function = getattr(function, "__wrapped__", function)
    return _parameters(function.__module__, function.__name__)


@cache
def _parameters(module: str, name: str) -> Parameters:
    package, _, family = module.rpartition(".")
    if package not in _packages:
        return _UNKNOWN
    found = import_module(f"{_packages[package]}.{family}").PARAMETERS.get(name)
    return Parameters(*found) if found else _UNKNOWN
