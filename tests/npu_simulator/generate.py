"""The C functions of the ops, made from the table of their signatures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).with_name("signatures.tsv")
# Ops of a library of their own, as a custom operator package has them; the last two columns as in the table.
CUSTOM = {"aclnnAddCustom": ("TTT", "x,y,z")}

# The C type of each kind, and the field of `sim_value` that takes it.
C_TYPES = {
    **{kind: ("void *", "p") for kind in "TLSRIFB"},
    "z": ("const char *", "p"),
    "d": ("int32_t ", "i"),
    "b": ("bool ", "i"),
    "c": ("int8_t ", "i"),
    "h": ("int16_t ", "i"),
    "i": ("int32_t ", "i"),
    "u": ("uint32_t ", "u"),
    "l": ("int64_t ", "i"),
    "q": ("uint64_t ", "u"),
    "g": ("double ", "d"),
    "f": ("float ", "d"),
}


@dataclass(frozen=True)
class Signature:
    """An op: a kind and a name for each argument before `workspaceSize`, and the repository that it is from."""

    name: str
    kinds: str
    parameters: tuple[str, ...]
    repository: str
    source: str = ""


def signatures() -> dict[str, Signature]:
    """The table, by name."""
    lines = [line.split("\t") for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    found = [Signature(name, kinds, tuple(names.split(",")), *rest) for name, kinds, names, *rest in lines]
    assert len({each.name for each in found}) == len(found)
    return {each.name: each for each in found}


def custom_signatures() -> list[Signature]:
    """What the library of a custom operator package has."""
    return [Signature(name, kinds, tuple(names.split(",")), "custom") for name, (kinds, names) in CUSTOM.items()]


def stub(signature: Signature) -> str:
    """Both functions of an op."""
    parameters = "".join(f"{C_TYPES[kind][0]}a{number}, " for number, kind in enumerate(signature.kinds))
    values = ", ".join(f"{{.{C_TYPES[kind][1]} = a{number}}}" for number, kind in enumerate(signature.kinds))
    name = signature.name
    return (
        f'static sim_op op_{name} = {{"{name}", "{signature.kinds}", 0, 0, {{0}}}};\n'
        f"int {name}GetWorkspaceSize({parameters}uint64_t *size, void **executor) {{\n"
        f"    sim_value values[] = {{{values}}};\n"
        f"    return sim_phase1(&op_{name}, values, size, executor);\n"
        f"}}\n"
        f"int {name}(void *workspace, uint64_t size, void *executor, void *stream) {{\n"
        f"    return sim_phase2(&op_{name}, workspace, size, executor, stream);\n"
        f"}}\n"
    )


def stubs(ops: list[Signature]) -> str:
    """The source of a library of ops."""
    return '#include "core.h"\n' + "".join(map(stub, ops))
