"""Snapshots of releases: schemas/v<version>.txt, every schema of a release on a line of its own, sorted."""

from __future__ import annotations

import re
from pathlib import Path

from ..errors import Problems
from ..model import FunctionSchema, Location, Model
from ..read.schema_parser import read_schema
from ..read.yaml_source import Scalar, read_text
from ..rules.history_rules import order

_NAME = re.compile(r"v(\d+(?:\.\d+)*)\.txt")
VERSION = re.compile(r"\d+(\.\d+)+")


def snapshot_text(model: Model) -> str:
    return "".join(f"{schema}\n" for schema in sorted(str(op.schema) for op in model.ops.values()))


def snapshot_path(folder: Path, version: str) -> Path:
    return folder / f"v{version}.txt"


def last_release(folder: Path, before: str | None = None) -> str | None:
    """The version of the newest snapshot in a folder, or of the newest that is older than a version."""
    found = (_NAME.fullmatch(path.name) for path in sorted(folder.glob("v*.txt")))
    versions = [match[1] for match in found if match]
    older = [each for each in versions if before is None or order(each) < order(before)]
    return max(older, key=order, default=None)


def read_snapshot(path: Path, file: str) -> dict[str, FunctionSchema]:
    """The schemas of a snapshot by name; raises InvalidInput."""
    problems = Problems()
    text = read_text(path, file, problems) or ""
    schemas: dict[str, FunctionSchema] = {}
    for number, line in enumerate(text.splitlines(), 1):
        schema = read_schema(Scalar(line, Location(file, number, 1)), problems)
        if schema is not None and schema.full_name in schemas:
            hint = f"it is already on line {schemas[schema.full_name].location.line}"
            problems.add("E030", f"duplicate op '{schema.full_name}'", schema.location, hint)
        if schema is not None:
            schemas.setdefault(schema.full_name, schema)
    if not schemas and not problems:
        problems.add("E005", f"{file} is empty", Location(file, 1, 1), "a snapshot has a schema on every line")
    problems.raise_if_any()
    return schemas
