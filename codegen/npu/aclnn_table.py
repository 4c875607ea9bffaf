"""The functions of CANN's ACLNN interface, as its headers declare them: what `aclnn` of ops.yaml is checked against.

A project that calls functions of its own (`libcust_opapi.so`) lists them in a table of the same form: the setting
`aclnn_signatures` in its pyproject.toml.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ..errors import Problems
from ..model import Location
from ..project import Project
from ..read.yaml_source import read_text
from .aclnn_signature import KINDS, Signature

_TABLE = Path(__file__).parents[1] / "aclnn_signatures.tsv"
_NAME = re.compile(r"aclnn[A-Z]\w*")


def signatures(project: Project, problems: Problems) -> Mapping[str, Signature]:
    """All functions that a project can call: those of CANN, and its own."""
    if project.aclnn_signatures is None:
        return _of_cann()
    return {**_of_cann(), **_of_file(project.root, project.aclnn_signatures, problems)}


@cache
def _of_cann() -> Mapping[str, Signature]:
    lines = _TABLE.read_text(encoding="utf-8").splitlines()
    return {signature.name: signature for line in lines if (signature := _signature(line)) is not None}


def _of_file(root: Path, file: str, problems: Problems) -> dict[str, Signature]:
    text = read_text(root / file, file, problems)
    found = {}
    for number, line in enumerate((text or "").splitlines(), 1):
        signature = _signature(line)
        if signature is not None:
            found[signature.name] = signature
        elif line and not line.startswith("#"):
            hint = "write the name, a letter for the kind of each argument, and their names: aclnnAdd, TTST,"
            hint += " self,other,alpha,out, with tabs between them; the letters are in codegen/aclnn_signatures.tsv"
            problems.add("E135", "not the signature of an ACLNN function", Location(file, number, 1), hint)
    return found


def _signature(line: str) -> Signature | None:
    """What a line declares; None for a comment, and for what is no declaration."""
    name, kinds, parameters, *_ = [*line.split("\t"), "", ""]
    names = tuple(parameters.split(","))
    is_right = _NAME.fullmatch(name) and set(kinds) <= KINDS.keys() and len(names) == len(kinds)
    return Signature(name, kinds, names) if is_right and all(map(str.isidentifier, names)) else None
