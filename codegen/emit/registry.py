"""generated/registry/<family>.py: which function, forward derivative and kernels belong to each op.

``generated/npu_kernels.py`` is the same for the NPU backend, which loads it when there is a device.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..model import Model, Op
from ..render import python_module, render, tuple_of
from .forward_ad import has_jvp
from .names import function_name, root_of
from .stubs import folder_of, is_written, kernel_package

_ALWAYS_THERE = ("CPU", "SparseCPU", "Meta")


@dataclass(frozen=True, slots=True)
class Row:
    """One op: the key of its schema, its function, and the other fields of its entry."""

    name: str
    function: str
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Binding:
    """A kernel of an op."""

    op: str
    kernel: str


@dataclass(frozen=True, slots=True)
class Backend:
    name: str
    bindings: tuple[Binding, ...]


def emit(model: Model) -> dict[str, str]:
    files = {f"generated/registry/{family}.py": _family(model, family) for family in model.families}
    files["generated/registry/__init__.py"] = _package(model)
    files["generated/npu_kernels.py"] = _npu(model)
    return files


def _family(model: Model, family: str) -> str:
    backends = [Backend(name, tuple(_bindings(model, name, family))) for name in _ALWAYS_THERE]
    body = render(
        "registry.py.jinja",
        rows=[_row(model, op) for op in model.families[family]],
        backends=[backend for backend in backends if backend.bindings],
    )
    imports = {
        "SCHEMAS": "mindtorch._generated.schemas",
        "forward_ad": f"mindtorch._generated.forward_ad import {family} as forward_ad",
        "functions": f"mindtorch._generated.ops import {family} as functions",
        "rules": "mindtorch.backends.meta",
    }
    for backend in _ALWAYS_THERE:
        imports[_module(backend)] = f"{kernel_package(backend)} import {family} as {_module(backend)}"
        stubs = f"mindtorch._generated.stubs.{folder_of(backend)}"
        imports[_stubs(backend)] = f"{stubs} import {family} as {_stubs(backend)}"
    return python_module("registry", "ops.yaml", f"What belongs to each of the {family} ops.", body, imports)


def _row(model: Model, op: Op) -> Row:
    derivative = model.derivative_of(op)
    details = []
    if derivative is not None and has_jvp(derivative) and op.kind != "out":
        details.append(f'"jvp": forward_ad.{function_name(model, derivative.op)}')
    if op.view and op.kind == "functional":
        details.append(f'"view": "{op.view}"')
    if root_of(model, op).is_composite:
        details.append('"composite": True')
    if derivative is not None and derivative.edges:
        details.append('"differentiable": True')
    if op.numbers:
        details.append('"takes_numbers": True')
    if op.tags:
        tags = tuple_of(f'"{tag}"' for tag in op.tags)
        details.append(f'"tags": {tags}')
    return Row(op.name, f"functions.{function_name(model, op)}", tuple(details))


# -------------------- kernels --------------------


def _module(backend: str) -> str:
    return f"{folder_of(backend)}_kernels"


def _stubs(backend: str) -> str:
    return f"{folder_of(backend)}_stubs"


def _bindings(model: Model, backend: str, family: str) -> Iterator[Binding]:
    for op in model.families[family]:
        if op.derived_from is not None or op.dispatch is None:
            continue
        kernel = _kernel(model, backend, op)
        if kernel is not None:
            yield Binding(op.name, kernel)


def _kernel(model: Model, backend: str, op: Op) -> str | None:
    """The hand-written kernel, its stub, or for the meta backend the shape rule with the promotion."""
    name = (op.dispatch or {}).get(backend)
    if name is not None:
        return f"{_module(backend) if is_written(model, backend, op) else _stubs(backend)}.{name}"
    if backend == "Meta" and op.shape is not None:
        return f"rules.{op.shape}({_promotion_or_kernel(model, op)})"
    return None


def _promotion_or_kernel(model: Model, op: Op) -> str:
    """What a shape rule is made from: the promotion; for a view the CPU kernel, which looks at the geometry only."""
    if op.shape == "view":
        return _kernel(model, "CPU", op) or "None"
    return _quoted(op.promotion)


def _quoted(word: str | None) -> str:
    return "None" if word is None else f'"{word}"'


def _npu(model: Model) -> str:
    families = []
    imports = {}
    for family in model.families:
        bindings = []
        for binding in _bindings(model, "NPU", family):
            module, _, kernel = binding.kernel.partition(".")
            bindings.append(Binding(binding.op, f"{family}_{module}.{kernel}"))
        families.append(Backend(family, tuple(bindings)))
        imports[f"{family}_npu_kernels"] = f"{kernel_package('NPU')} import {family} as {family}_npu_kernels"
        imports[f"{family}_npu_stubs"] = f"mindtorch._generated.stubs.npu import {family} as {family}_npu_stubs"
    body = render("npu_kernels.py.jinja", families=[family for family in families if family.bindings])
    return python_module("registry", "ops.yaml", "The kernels of the NPU backend, by op.", body, imports)


def _package(model: Model) -> str:
    families = list(model.families)
    body = render("registry_package.py.jinja", families=families)
    imports = dict.fromkeys(families, "mindtorch._generated.registry") | {
        "FunctionType": "types",
        "ops": "mindtorch.dispatch",
        "register_kernels": "mindtorch.dispatch.registry",
        "register_ops": "mindtorch.dispatch.registry",
    }
    purpose = "Makes all ops and kernels known: importing this fills `mindtorch.dispatch`."
    return python_module("registry", "ops.yaml", purpose, body, imports)
