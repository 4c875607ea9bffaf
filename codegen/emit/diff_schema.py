"""schemas/diff.schema.json: the JSON Schema of what ``diff --format json`` prints."""

from __future__ import annotations

import json

from ..diff.formats.json import SCHEMA
from ..model import Model


def emit(model: Model) -> dict[str, str]:
    return {"schemas/diff.schema.json": json.dumps(SCHEMA, indent=2) + "\n"}
