"""generated/registry/<family>.py: which function, forward derivative and kernels belong to each op.

``generated/npu_kernels.py`` says where the kernels of the NPU backend are, which are imported when they are needed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..model import Model, Op
from ..npu.kernels import BACKEND, NpuKernel, npu_kernels
from ..render import python_module, render, tuple_of
from .batching import batched_ops
from .forward_ad import has_jvp
from .kernel_texts import folder_of
from .meta_kernels import kernel_modules, kernel_source, meta_kernel, stub_module
from .methods import has_methods
from .names import function_name, registered_name, root_of
from .old_forms import IMPORTS as OLD_FORM_IMPORTS
from .old_forms import old_call_rows, version_rows
from .stubs import backends_with_stubs


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
    if BACKEND in model.project.backends:
        files["generated/npu_kernels.py"] = _npu(model)
    return files


def _backends_at_start(model: Model) -> list[str]:
    """The backends whose kernels are registered with the ops. Meta kernels are made of shape rules."""
    return [*(name for name in backends_with_stubs(model) if name != BACKEND), "Meta"]


def _family(model: Model, family: str) -> str:
    backends = [Backend(name, tuple(_bindings(model, name, family))) for name in _backends_at_start(model)]
    body = render(
        "registry.py.jinja",
        modules=_modules(model, family, backends),
        rows=[_row(model, op) for op in model.families[family]],
        backends=[backend for backend in backends if backend.bindings],
        old_calls=old_call_rows(model, family),
        versions=version_rows(model, family),
        project=model.project,
        family=family,
        has_methods=has_methods(model, family),
    )
    package = model.project.generated_package
    imports = {
        "ops": "mindtorch.dispatch",
        "publish": "mindtorch.dispatch.families",
        "register_kernels": "mindtorch.dispatch.registry",
        "register_old_calls": "mindtorch.dispatch.arguments.deprecation",
        "register_ops": "mindtorch.dispatch.registry",
        "register_versions": "mindtorch.dispatch.versions",
        "show_signatures": "mindtorch.dispatch.shown_signature",
        "CopiedOut": "mindtorch.autograd._engine.copied_out",
        "SCHEMAS": f"{package}.schemas",
        "kernels_in": "mindtorch.dispatch.registry",
        "forward_ad": f"{package}.forward_ad import {family} as forward_ad",
        "functions": f"{package}.ops import {family} as functions",
        "rules": "mindtorch.backends.meta",
        **OLD_FORM_IMPORTS,
        "own_ops": package,
    }
    for backend in model.project.backends:
        stubs = f"{package}.stubs.{folder_of(backend)}"
        imports[stub_module(backend)] = f"{stubs} import {family} as {stub_module(backend)}"
    purpose = f"What belongs to each of the {family} ops."
    return python_module(model.project, "registry", "ops.yaml", purpose, body, imports)


def _row(model: Model, op: Op) -> Row:
    if op.is_copied_out:
        function = f"CopiedOut(functions.{function_name(model, root_of(model, op))})"
        return Row(registered_name(model, op), function, ('"boxed": True',))
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
    if op.copies:
        details.append('"copies": True')
    if op.short_cut:
        details.append('"short_cut": True')
    if op.shares_memory:
        details.append('"shares_memory": True')
    if op.absent_in_torch:
        details.append('"absent_in_torch": True')
    root = root_of(model, op)
    if root is not op and not root.is_composite:
        details.append(f'"kernels": "{registered_name(model, root)}"')
    if op.numbers:
        details.append('"takes_numbers": True')
    if op.python_names:
        details.append(f'"python_names": {json.dumps(dict(op.python_names))}')
    if op.written_places and op.dispatch and op.derived_from is None:
        details.append(f'"writes": {tuple_of(map(str, op.written_places))}')
    if op.places_on_other_devices and op.derived_from is None:
        details.append(f'"other_devices": {tuple_of(map(str, op.places_on_other_devices))}')
    if op.is_elementwise and op.dispatch and op.derived_from is None:
        details.append('"elementwise": True')
    if op.tags:
        tags = tuple_of(f'"{tag}"' for tag in op.tags)
        details.append(f'"tags": {tags}')
    policies = {device: policy for device, policy in (("cpu", op.autocast), ("npu", op.autocast_npu)) if policy}
    if policies and op.kind == "functional":
        details.append(f'"autocast": {json.dumps(policies)}')
    return Row(registered_name(model, op), f"functions.{function_name(model, op)}", tuple(details))


# -------------------- kernels --------------------


def _bindings(model: Model, backend: str, family: str) -> Iterator[Binding]:
    for op in model.families[family]:
        if op.derived_from is not None or op.dispatch is None:
            continue
        kernel = meta_kernel(model, op) if backend == "Meta" else kernel_source(model, backend, op)
        if kernel is not None:
            yield Binding(registered_name(model, op), kernel)


def _modules(model: Model, family: str, backends: list[Backend]) -> dict[str, str]:
    """The modules with hand-written kernels of a family, by the names that the bindings have for them."""
    text = " ".join(binding.kernel for backend in backends for binding in backend.bindings)
    found = (kernel_modules(model, backend, family) for backend in model.project.backends)
    files = {name: file for modules in found for name, file in modules.items()}
    return {name: model.project.module_of(file) for name, file in files.items() if re.search(rf"\b{name}\.", text)}


def _npu(model: Model) -> str:
    """The kernels of the NPU by op, in the modules that have them: these are imported when one of them is called."""
    modules: dict[str, list[Binding]] = {}
    for family in model.families:
        for kernel in npu_kernels(model, family):
            module = _module_of(model, kernel)
            for op in kernel.ops if module else ():
                modules.setdefault(module, []).append(Binding(registered_name(model, op), f'"{kernel.name}"'))
    body = render("npu_kernels.py.jinja", modules=modules)
    return python_module(
        model.project, "registry", "ops.yaml", "Where the kernels of the NPU backend are, by op.", body, {}
    )


def _module_of(model: Model, kernel: NpuKernel) -> str:
    """The module with the function of a kernel; "" if it is still to be written."""
    package = f"{model.project.generated_package}.kernels.npu"
    if kernel.is_by_hand:
        return f"{package}.by_hand.{kernel.family}"
    return f"{package}.{kernel.family}" if kernel.is_generated else ""


def _package(model: Model) -> str:
    package = model.project.generated_package
    body = render(
        "registry_package.py.jinja",
        project=model.project,
        loads_later=BACKEND in model.project.backends,
        batches=batched_ops(model),
    )
    imports = {
        "FUNCTIONS": f"{package}.families",
        "METHODS": f"{package}.families",
        "extend_tensor_later": "mindtorch._core.tensor",
        "register_families": "mindtorch.dispatch.families",
        "register_kernels_of": "mindtorch.dispatch.registry",
        "register_modules_of": "mindtorch.dispatch.registry",
        "register_parameters": "mindtorch.dispatch.parameters",
    }
    purpose = "Makes all ops and kernels known: importing this has families load when they are used."
    return python_module(model.project, "registry", "ops.yaml", purpose, body, imports)
