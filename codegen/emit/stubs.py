"""generated/stubs/<backend>/<family>.py: for every kernel that is still to be written, a function that says so."""

from __future__ import annotations

import re
from dataclasses import dataclass
from textwrap import wrap

from ..model import Model, Op
from ..render import python_module, render
from .names import registered_name

_WIDTH = 109  # of 120, without indentation and quotes


@dataclass(frozen=True, slots=True)
class Stub:
    """A missing kernel: its ``def``, what its docstring says in lines, and its signature as parts of one string."""

    name: str
    op_name: str
    parameters: str
    explanation: tuple[str, ...]
    signature: tuple[str, ...]


def emit(model: Model) -> dict[str, str]:
    files = {}
    for backend in backends_with_stubs(model):
        for family in model.families:
            stubs = _stubs(model, backend, family)
            if stubs:
                files[f"generated/stubs/{folder_of(backend)}/{family}.py"] = _module(model, backend, family, stubs)
    return files


def backends_with_stubs(model: Model) -> list[str]:
    """All backends but the one whose kernels are shape rules."""
    return [backend for backend in model.project.backends if backend != "Meta"]


def folder_of(backend: str) -> str:
    """The folder of a backend's stubs, which begins the names of its modules: ``cpu``."""
    return backend.lower()


def kernel_package(model: Model, backend: str) -> str:
    """The package of a backend's kernels: ``mindtorch.backends.cpu``."""
    return model.project.module_of(model.project.backends[backend])


def is_written(model: Model, backend: str, op: Op) -> bool:
    """Whether the backend's sources define the kernel of an op."""
    name = (op.dispatch or {}).get(backend)
    return name in model.kernels.get((backend, op.family), {})


def kernel_parameters(model: Model, *ops: Op) -> str:
    """The parameters of the kernel that some ops share, as they are written in its ``def``."""
    first = ops[0]
    parameters = [argument.python_name for argument in first.schema.inputs]
    if any(model.variant(op, "inplace") or model.variant(op, "out") for op in ops) and not first.view:
        parameters.append("out=None")
    return ", ".join(parameters)


def _stubs(model: Model, backend: str, family: str) -> list[Stub]:
    """One stub per missing kernel function; several ops may share one."""
    served: dict[str, list[Op]] = {}
    for op in model.families[family]:
        name = (op.dispatch or {}).get(backend)
        if op.derived_from is None and name is not None and not is_written(model, backend, op):
            served.setdefault(name, []).append(op)
    return [_stub(model, backend, name, ops) for name, ops in served.items()]


def _stub(model: Model, backend: str, name: str, ops: list[Op]) -> Stub:
    """What it says are the schemas of the ops that the kernel would serve, and the ACLNN call to make."""
    first = ops[0]
    lines = [line for op in ops for line in _folded(str(op.schema))]
    if backend == "NPU" and first.aclnn:
        lines += ["", *_folded(f"ACLNN: {first.aclnn}")]
    parameters = kernel_parameters(model, *ops)
    signature = wrap(f"{name}({parameters})", _WIDTH, drop_whitespace=False)
    return Stub(name, registered_name(model, first), parameters, tuple(lines), tuple(signature))


def _folded(text: str) -> list[str]:
    """A text in lines of a docstring, broken behind commas; those that go on are indented."""
    unbroken = re.sub("(?<!,) ", "\0", text)
    lines = wrap(unbroken, _WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]


def _module(model: Model, backend: str, family: str, stubs: list[Stub]) -> str:
    file = model.project.kernel_file(backend, family)
    body = render("stubs.py.jinja", stubs=stubs, backend=backend, file=file)
    purpose = f"The {family} kernels that the {backend} backend has not got yet. They belong in {file}."
    return python_module(model.project, "stubs", "ops.yaml", purpose, body, {"missing_kernel": "mindtorch.errors"})
