"""The emitters: one module per kind of output. Each is a pure function from the model to texts by path."""

from __future__ import annotations

from ..json_schema import json_schemas
from ..model import Model
from . import (
    batching,
    cpu_kernels,
    diff_schema,
    docs,
    forward_ad,
    functions_index,
    methods,
    nodes,
    npu_kernels,
    op_table,
    ops,
    packages,
    registry,
    return_types,
    schemas,
    stubs,
    type_stubs,
)

_EMITTERS = (
    *(
        ops,
        nodes,
        forward_ad,
        stubs,
        npu_kernels,
        schemas,
        registry,
        batching,
        functions_index,
        return_types,
        type_stubs,
    ),
    docs,
)
# What else mindtorch gets, and what else a package that extends it.
_OF_LIBRARY = (methods, diff_schema, cpu_kernels)
_OF_EXTENSIONS = (op_table,)


def emit_all(model: Model) -> dict[str, str]:
    """Every generated file, before black.

    Emitters call files by the paths that they have in mindtorch; other projects keep them in folders of their own.
    """
    files: dict[str, str] = {}
    for emitter in (*_EMITTERS, *(_OF_LIBRARY if model.project.is_library else _OF_EXTENSIONS)):
        files |= emitter.emit(model)
    files |= packages.emit(model.project, files) | json_schemas(model.project)
    return {model.project.placed(path): text for path, text in files.items()}
