"""The scalar expressions of ops.yaml, from the modules that the generator has written for them."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import get_data
from types import ModuleType
from typing import Any, NamedTuple

from mindtorch.backends.cpu.compiled import scatters
from mindtorch.backends.cpu.compiled.conversions import CONVERSIONS
from mindtorch.backends.cpu.compiled.recurrences import RECURRENCES
from mindtorch.backends.cpu.compiled.row_kernels import ROW_KERNELS

_PACKAGE = "mindtorch._generated.kernels.cpu"
_FILES: tuple[tuple[Mapping[str, Any], str], ...] = (
    (ROW_KERNELS, "row_kernels.py"),
    (RECURRENCES, "recurrences.py"),
    (CONVERSIONS, "conversions.py"),
)


class Expression(NamedTuple):
    """`function(m, *operands, **choices)`, where `m` has the functions that it calls. Operands in `masks` are bools."""

    function: Callable[..., Any]
    operands: tuple[str, ...]
    choices: dict[str, Any] = {}
    masks: tuple[str, ...] = ()

    @property
    def are_masks(self) -> list[bool]:
        """Whether each operand is one."""
        return [each in self.masks for each in self.operands]

    def of(self, m: ModuleType, *operands: Any) -> Any:
        return self.function(m, **dict(zip(self.operands, operands)), **self.choices)


@cache
def families() -> dict[str, str]:
    """Which module has which expression."""
    return import_module(_PACKAGE).FAMILIES


def names() -> list[str]:
    return sorted(families())


def all_names() -> list[str]:
    """Of what can be compiled: expressions, kernels for rows, recurrences, conversions, and additions to rows."""
    return sorted([*families(), *ROW_KERNELS, *RECURRENCES, *CONVERSIONS, scatters.ADD_ROWS])


def expression(name: str) -> Expression:
    module = import_module(f"{_PACKAGE}.{families()[name]}")
    return Expression(*module.EXPRESSIONS[name])


def source(name: str) -> bytes:
    """The text that it is in."""
    for table, file in _FILES:
        if name in table:
            return get_data(__package__, file) or b""
    if name == scatters.ADD_ROWS:
        return get_data(__package__, "scatters.py") or b""
    return get_data(_PACKAGE, f"{families()[name]}.py") or b""
