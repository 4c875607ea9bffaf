"""generated/stubs/<backend>/<family>.py: for every kernel that is still to be written, a function that says so."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from ..kernels import kernel_file
from ..model import Model, Op
from ..render import python_module, render

BACKENDS = ("CPU", "NPU", "SparseCPU")


@dataclass(frozen=True, slots=True)
class Stub:
    """A missing kernel, and the ops that it would serve."""

    name: str
    parameters: str
    ops: tuple[Op, ...]
    aclnn: str


def emit(model: Model) -> dict[str, str]:
    files = {}
    for backend in BACKENDS:
        for family in model.families:
            stubs = _stubs(model, backend, family)
            if stubs:
                files[f"generated/stubs/{folder_of(backend)}/{family}.py"] = _module(backend, family, stubs)
    return files


def folder_of(backend: str) -> str:
    """The folder of a backend's kernels: ``cpu``."""
    return PurePosixPath(kernel_file(backend, "any")).parent.name


def kernel_package(backend: str) -> str:
    """The package of a backend's kernels: ``mindtorch.backends.cpu``."""
    return str(PurePosixPath(kernel_file(backend, "any")).parent).replace("/", ".")


def is_written(model: Model, backend: str, op: Op) -> bool:
    """Whether the backend's sources define the kernel of an op."""
    name = (op.dispatch or {}).get(backend)
    return name in model.kernels.get((backend, op.family), {})


def _stubs(model: Model, backend: str, family: str) -> list[Stub]:
    """One stub per missing kernel function; several ops may share one."""
    served: dict[str, list[Op]] = {}
    for op in model.families[family]:
        name = (op.dispatch or {}).get(backend)
        if op.derived_from is None and name is not None and not is_written(model, backend, op):
            served.setdefault(name, []).append(op)
    return [_stub(model, backend, name, ops) for name, ops in served.items()]


def _stub(model: Model, backend: str, name: str, ops: list[Op]) -> Stub:
    first = ops[0]
    parameters = [argument.python_name for argument in first.schema.inputs]
    if any(model.variant(op, "inplace") or model.variant(op, "out") for op in ops) and not first.view:
        parameters.append("out=None")
    call = first.aclnn or "" if backend == "NPU" else ""
    return Stub(name, ", ".join(parameters), tuple(ops), call)


def _module(backend: str, family: str, stubs: list[Stub]) -> str:
    file = kernel_file(backend, family)
    body = render("stubs.py.jinja", stubs=stubs, backend=backend, file=file)
    purpose = f"The {family} kernels that the {backend} backend has not got yet. They belong in {file}."
    return python_module("stubs", "ops.yaml", purpose, body, {"missing_kernel": "mindtorch.errors"})
