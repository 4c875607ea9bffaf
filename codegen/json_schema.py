"""JSON Schemas of the YAML files, for editors: they complete keys and mark wrong values while one types.

They are made from the key tables and say no more than it does; ``python -m codegen`` checks everything else.
"""

from __future__ import annotations

import json
from typing import Any

from .diff.allowed import KEYS as ALLOWED_KEYS
from .keys import DERIVATIVE_KEYS, FORMULA_KEYS, Key
from .project import Project

_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"


def json_schemas(project: Project) -> dict[str, str]:
    """The schema files by path."""
    package = project.package
    formulas = {"type": "string", "minLength": 1, "description": f"The formula of {FORMULA_KEYS}"}
    return {
        "schemas/ops.schema.json": _document(f"The ops of {package}", project.op_keys, False),
        "schemas/derivatives.schema.json": _document(f"The derivatives of {package}'s ops", DERIVATIVE_KEYS, formulas),
        "schemas/allowed.schema.json": _document(f"Changes of {package}'s ops that are wanted", ALLOWED_KEYS, False, 0),
    }


def _document(title: str, keys: tuple[Key, ...], other_keys: bool | dict[str, Any], least: int = 1) -> str:
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "array",
        "minItems": least,
        "items": _mapping(keys, other_keys),
    }
    return json.dumps(document, indent=2) + "\n"


def _mapping(keys: tuple[Key, ...], other_keys: bool | dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": [key.name for key in keys if key.required],
        "properties": {key.name: {**_form(key), "description": key.description} for key in keys},
        "additionalProperties": other_keys,
    }


def _form(key: Key) -> dict[str, Any]:
    """What the form of a key's value is called in JSON Schema."""
    match key.form:
        case "rule":
            return {"enum": list(key.values)}
        case "day":
            return {"type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
        case "word":
            return {"enum": list(key.values)} if key.values else {"type": "string", "pattern": f"^{_IDENTIFIER}$"}
        case "words" | "names":
            word = f"({'|'.join(key.values)})" if key.values else _IDENTIFIER
            return {"type": "string", "pattern": f"^{word}(, *{word})*$"}
        case "flag":
            return {"const": True}
        case "booleans":
            return {"type": "array", "items": {"type": "boolean"}}
        case "backends":
            function = {"type": "string", "pattern": f"^{_IDENTIFIER}$"}
            properties = {backend: function for backend in key.values}
            return {"type": "object", "properties": properties, "additionalProperties": False}
        case "renames":
            name = {"type": "string", "pattern": f"^{_IDENTIFIER}$"}
            return {"type": "object", "minProperties": 1, "additionalProperties": name}
        case "release":
            words = "|".join(("[0-9]+(\\.[0-9]+)+", *key.values))
            return {"type": "string", "pattern": f"^({words})$"}
        case "number":
            return {"type": "integer", "minimum": 1}
        case "entries":
            return {"type": "array", "minItems": 1, "items": _mapping(key.keys, False)}
        case "schema" | "text" | "expression":
            return {"type": "string", "minLength": 1}
