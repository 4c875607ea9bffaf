"""The emitters: one module per kind of output. Each is a pure function from the model to texts by path."""

from __future__ import annotations

from ..json_schema import json_schemas
from ..model import Model
from . import (
    docs,
    forward_ad,
    functions_index,
    methods,
    nodes,
    ops,
    packages,
    registry,
    return_types,
    schemas,
    stubs,
    type_stubs,
)

_EMITTERS = (ops, nodes, forward_ad, stubs, schemas, registry, methods, functions_index, return_types, type_stubs, docs)


def emit_all(model: Model) -> dict[str, str]:
    """Every generated file, before black."""
    files: dict[str, str] = {}
    for emitter in _EMITTERS:
        files |= emitter.emit(model)
    return files | packages.emit(files) | json_schemas()
