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


# Headers call what is written `out`, `valuesOut`, `selfRef` or the like, but for these. `gradOut` is a gradient.
_WRITTEN = frozenset(
    {"out", "result", "output", "gradInput", "gradWeight", "gradBias", "gradIn", "inputGrad", "gridGrad"}
    | {"weightGrad", "Q", "R", "u", "sigma", "v", "offset2bag", "bagSize", "maxIndices"}
)
_READ = frozenset({"gradOut"})
_WRITTEN_FORWARD = frozenset({"runningMean", "runningVar"})


@dataclass(frozen=True, slots=True)
class Signature:
    """A function: a letter for the kind of each parameter, and their names in the header."""

    name: str
    kinds: str
    parameters: tuple[str, ...]

    @property
    def written(self) -> tuple[int, ...]:
        """The places of the tensors that the function writes: behind a result only others come."""
        tensors = [place for place, kind in enumerate(self.kinds) if kind == "T"]
        if self.name.startswith("aclnnInplace"):
            return tuple(tensors[:1])
        named = [place for place in tensors if self._is_written(self.parameters[place])]
        results = [place for place in named if self.parameters[place] not in _WRITTEN_FORWARD]
        first = next((place for place in results if not self.parameters[place].endswith("Ref")), None)
        if first is None:
            return tuple(named or tensors[-1:])
        return tuple([place for place in tensors if place >= first or place in named])

    def _is_written(self, name: str) -> bool:
        if name in _WRITTEN_FORWARD:
            return not self.name.endswith("Backward")
        return name in _WRITTEN or name.endswith(("Out", "OutOptional", "Ref")) and name not in _READ

    def __str__(self) -> str:
        """As the header has it, without `workspaceSize` and `executor`."""
        written = (_declared(KINDS[kind], name) for kind, name in zip(self.kinds, self.parameters, strict=True))
        return f"{self.name}({', '.join(written)})"


def _declared(kind: str, name: str) -> str:
    return f"{kind}{name}" if kind.endswith("*") else f"{kind} {name}"
