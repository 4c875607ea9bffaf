"""The types of schema strings: how schemas and torch's errors write them, and the defaults that they can have."""

import re
from dataclasses import dataclass
from typing import Any

from mindtorch._core.device import device
from mindtorch._core.dtype import (
    ALL_DTYPES,
    complex32,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
)
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.layout import layout as Layout
from mindtorch._core.layout import sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr, strided
from mindtorch._core.memory_format import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    memory_format,
    preserve_format,
)

# The types that schemas are made of, and what torch's errors call them.
PLAIN_TYPES = {
    "Tensor": "Tensor", "int": "int", "SymInt": "int", "float": "float", "bool": "bool",
    "SymBool": "bool", "complex": "complex", "str": "str", "Scalar": "number", "ScalarType": "int", "Layout": "int",
    "MemoryFormat": "int", "Device": "Device", "Generator": "Generator",
}  # fmt: skip

# The numbers that stand for constants in printed schemas.
_DTYPE_NUMBERS = {
    "uint8": 0, "int8": 1, "int16": 2, "int32": 3, "int64": 4, "float16": 5, "float32": 6, "float64": 7,
    "complex64": 9, "complex128": 10, "bool": 11, "bfloat16": 15, "uint16": 27, "uint32": 28, "uint64": 29,
    "complex32": 8, "float8_e5m2": 23, "float8_e4m3fn": 24, "float8_e5m2fnuz": 25, "float8_e4m3fnuz": 26,
    "float8_e8m0fnu": 44,
}  # fmt: skip
_NAMES_ONLY = complex32, float8_e5m2, float8_e4m3fn, float8_e5m2fnuz, float8_e4m3fnuz, float8_e8m0fnu
_DTYPES = {repr(each).removeprefix("torch."): each for each in (*ALL_DTYPES, *_NAMES_ONLY)}
_NUMBERS: dict[Any, int] = {_DTYPES[name]: number for name, number in _DTYPE_NUMBERS.items()} | {
    strided: 0, sparse_coo: 1, sparse_csr: 2, sparse_csc: 4, sparse_bsr: 5, sparse_bsc: 6,
    contiguous_format: 0, preserve_format: 1, channels_last: 2, channels_last_3d: 3,
}  # fmt: skip
CONSTANTS = {"ScalarType": Dtype, "Layout": Layout, "MemoryFormat": memory_format}
_NAMED: dict[str, Any] = {"True": True, "False": False, "Mean": 1, "Sum": 2} | {
    repr(constant).removeprefix("torch."): constant for constant in _NUMBERS
}
_SHORT = {"float": "float32", "double": "float64", "half": "float16", "int": "int32", "long": "int64", "short": "int16"}
_NAMED |= {short: _DTYPES[name] for short, name in _SHORT.items()}

# Characters that have a letter of their own behind a backslash.
ESCAPES = {"\n": "n", "\t": "t", "\r": "r", "\a": "a", "\b": "b", "\f": "f", "\v": "v", "\\": "\\", "'": "'", '"': '"'}
_QUOTED = re.compile("[\\\\'\"\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class SchemaType:
    """A type such as `Tensor?[]`: a plain type and the marks behind it."""

    base: str
    marks: tuple[str, ...] = ()

    @property
    def is_list(self) -> bool:
        return any(mark != "?" for mark in self.marks)

    @property
    def optional(self) -> bool:
        return self.marks[-1:] == ("?",)

    @property
    def size(self) -> int:
        """The 2 of `int[2]`, for which one value may stand; 0 for all other types."""
        return next((int(mark[1:-1]) for mark in self.marks if len(mark) > 2), 0)

    @property
    def inner(self) -> "SchemaType":
        """What is optional, or in the list."""
        return SchemaType(self.base, self.marks[:-1])

    def with_alias(self, alias: str) -> str:
        return self.base + (f"({alias})" if alias else "") + "".join(self.marks)

    @property
    def python_name(self) -> str:
        """As torch's errors write it: `Optional[List[int]]`."""
        if not self.marks:
            return PLAIN_TYPES[self.base]
        return f"{'Optional' if self.optional else 'List'}[{self.inner.python_name}]"

    def __str__(self) -> str:
        return self.with_alias("")


def named_default(name: str) -> Any:
    """The value of a default that is a word, None for an unknown word."""
    return _NAMED.get(name)


def constant_numbered(base: str, number: int) -> Any:
    """The dtype, layout or memory format of a number; None if there is none."""
    return next((each for each, own in _NUMBERS.items() if own == number and isinstance(each, CONSTANTS[base])), None)


def default_text(value: Any) -> str:
    """A default as torch prints it."""
    if isinstance(value, list):
        return f"[{', '.join(map(default_text, value))}]"
    if isinstance(value, float):
        return f"{int(value)}." if value.is_integer() and abs(value) < 2**63 else f"{value:.17g}"
    if isinstance(value, str):
        return f'"{_QUOTED.sub(_escaped, value)}"'
    if isinstance(value, device):
        return str(value)
    return str(_NUMBERS[value]) if isinstance(value, tuple(CONSTANTS.values())) else str(value)


def _escaped(found: re.Match) -> str:
    character = found[0]
    return "\\" + (ESCAPES.get(character) or f"{ord(character):03o}")
