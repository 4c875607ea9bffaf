"""Writes programs to files: zip archives with `program.json`, which docs/programs.md describes, and `constants.pt`."""

import io
import json
import zipfile
from os import PathLike
from typing import TYPE_CHECKING, Any, BinaryIO

from mindtorch import serialization
from mindtorch.program.codec import encode

if TYPE_CHECKING:
    from mindtorch.program.model import Program, Step

FORMAT = "mindtorch program"
FORMAT_VERSION = 1
PROGRAM, CONSTANTS = "program.json", "constants.pt"


def write(program: "Program", file: str | PathLike | BinaryIO) -> None:
    """Write a program to a file."""
    document = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "inputs": program.inputs,
        "constants": list(program.constants),
        "scratch": sorted(program.scratch),
        "steps": [_step(step) for step in program.steps],
        "result": encode(program.result),
    }
    tensors = io.BytesIO()
    serialization.save(list(program.constants.values()), tensors)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(PROGRAM, json.dumps(document, indent=1))
        archive.writestr(CONSTANTS, tensors.getvalue())


def _step(step: "Step") -> dict[str, Any]:
    return {
        "op": step.op,
        "version": step.version,
        "arguments": {name: encode(value) for name, value in step.arguments.items()},
        "results": list(step.results),
        **({"without_grad": True} if step.without_grad else {}),
    }
