"""What a function of ACLNN takes: the kinds and names of its arguments."""

from __future__ import annotations

from dataclasses import dataclass

# What the letters stand for in C. `h` and `u` are listed for completeness: no op of ours has such an argument.
KINDS = {
    "T": "aclTensor *",
    "L": "aclTensorList *",
    "S": "aclScalar *",
    "R": "aclScalarList *",
    "I": "aclIntArray *",
    "F": "aclFloatArray *",
    "B": "aclBoolArray *",
    "d": "aclDataType",
    "z": "char *",
    "b": "bool",
    "c": "int8_t",
    "h": "int16_t",
    "i": "int32_t",
    "u": "uint32_t",
    "l": "int64_t",
    "q": "uint64_t",
    "g": "double",
    "f": "float",
}


@dataclass(frozen=True, slots=True)
class Signature:
    """A function: a letter for the kind of each parameter, and their names in the header."""

    name: str
    kinds: str
    parameters: tuple[str, ...]

    def __str__(self) -> str:
        """As the header has it, without `workspaceSize` and `executor`."""
        written = (_declared(KINDS[kind], name) for kind, name in zip(self.kinds, self.parameters, strict=True))
        return f"{self.name}({', '.join(written)})"


def _declared(kind: str, name: str) -> str:
    return f"{kind}{name}" if kind.endswith("*") else f"{kind} {name}"
