"""What the texts about kernels share: where kernels are, what they take, and schemas in lines of a docstring."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from textwrap import wrap

from ..model import Kernel, Model, Op
from ..npu.kernels import BACKEND, is_view, npu_kernel

WIDTH = 109  # of 120, without indentation and quotes


def folder_of(backend: str) -> str:
    """The folder of a backend's stubs, which begins the names of its modules: ``cpu``."""
    return backend.lower()


def written_kernel(model: Model, backend: str, op: Op) -> Kernel | None:
    """The kernel of an op that a backend's sources define."""
    return model.kernels.get((backend, op.family), {}).get((op.dispatch or {}).get(backend, ""))


def module_name(whole: str, part: str, family: str, file: str) -> str:
    """What generated code calls the module of a family's functions: ``whole`` where the family has this one file.

    Of the files in a folder each has a name of its own, which begins with ``part``: ``cpu_sorting``.
    """
    stem = PurePosixPath(file).stem
    return whole if stem == family and PurePosixPath(file).parent.name != family else f"{part}_{stem}"


def module_import(model: Model, file: str, name: str) -> str:
    """Where that module comes from, as an entry of the imports of a generated module."""
    package, _, module = model.project.module_of(file).rpartition(".")
    return f"{package} import {module} as {name}"


def is_written(model: Model, backend: str, op: Op) -> bool:
    """Whether a backend has the kernel of an op: its sources define it, or it is generated, or a device needs none."""
    if written_kernel(model, backend, op) is not None:
        return True
    kernel = npu_kernel(model, op) if backend == BACKEND else None
    return kernel is not None and (kernel.is_generated or is_view(op))


def kernel_parameters(model: Model, *ops: Op) -> str:
    """The parameters of the kernel that some ops share, as they are written in its ``def``."""
    first = ops[0]
    parameters = [argument.python_name for argument in first.schema.inputs]
    if any(model.variant(op, "inplace") or model.variant(op, "out") for op in ops) and not first.view:
        parameters.append("out=None")
    return ", ".join(parameters)


def folded(text: str) -> list[str]:
    """A text in lines of a docstring, broken behind commas; those that go on are indented."""
    unbroken = re.sub("(?<!,) ", "\0", text)
    lines = wrap(unbroken, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]
