"""generated/registry/<family>.py: which function, forward derivative and kernels belong to each op.

``generated/npu_kernels.py`` is the same for the NPU backend, whose kernels are loaded when there is a device.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from ..model import Argument, Model, Op
from ..render import python_module, render, tuple_of
from .batching import batched_ops
from .forward_ad import has_jvp
from .names import function_name, registered_name, root_of
from .old_forms import IMPORTS as OLD_FORM_IMPORTS
from .old_forms import old_call_rows, version_rows
from .stubs import backends_with_stubs, folder_of, is_written, kernel_package

_LOADED_LATER = "NPU"


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
    if _LOADED_LATER in model.project.backends:
        files["generated/npu_kernels.py"] = _npu(model)
    return files


def _backends_at_start(model: Model) -> list[str]:
    """The backends whose kernels are registered with the ops. Meta kernels are made of shape rules."""
    return [*(name for name in backends_with_stubs(model) if name != _LOADED_LATER), "Meta"]


def _family(model: Model, family: str) -> str:
    backends = [Backend(name, tuple(_bindings(model, name, family))) for name in _backends_at_start(model)]
    body = render(
        "registry.py.jinja",
        rows=[_row(model, op) for op in model.families[family]],
        backends=[backend for backend in backends if backend.bindings],
        old_calls=old_call_rows(model, family),
        versions=version_rows(model, family),
    )
    package = model.project.generated_package
    imports = {
        "CopiedOut": "mindtorch.autograd.copied_out",
        "SCHEMAS": f"{package}.schemas",
        "forward_ad": f"{package}.forward_ad import {family} as forward_ad",
        "functions": f"{package}.ops import {family} as functions",
        "rules": "mindtorch.backends.meta",
        **OLD_FORM_IMPORTS,
        "own_ops": package,
    }
    for backend in model.project.backends:
        imports[_module(backend)] = f"{kernel_package(model, backend)} import {family} as {_module(backend)}"
        stubs = f"{package}.stubs.{folder_of(backend)}"
        imports[_stubs(backend)] = f"{stubs} import {family} as {_stubs(backend)}"
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
    if op.numbers:
        details.append('"takes_numbers": True')
    if op.python_names:
        details.append(f'"python_names": {json.dumps(dict(op.python_names))}')
    if op.tags:
        tags = tuple_of(f'"{tag}"' for tag in op.tags)
        details.append(f'"tags": {tags}')
    if op.autocast and op.kind == "functional":
        details.append(f'"autocast": "{op.autocast}"')
    return Row(registered_name(model, op), f"functions.{function_name(model, op)}", tuple(details))


# -------------------- kernels --------------------


def _module(backend: str) -> str:
    return f"{folder_of(backend)}_kernels"


# The shape rules that look at the first arguments of an op, and how many at most.
_ELEMENTWISE = ("broadcast", "broadcast_reversed")
_MOST_OPERANDS = 3


def _stubs(backend: str) -> str:
    return f"{folder_of(backend)}_stubs"


def _bindings(model: Model, backend: str, family: str) -> Iterator[Binding]:
    for op in model.families[family]:
        if op.derived_from is not None or op.dispatch is None:
            continue
        kernel = _kernel(model, backend, op)
        if kernel is not None:
            yield Binding(registered_name(model, op), kernel)


def _kernel(model: Model, backend: str, op: Op) -> str | None:
    """The hand-written kernel, its stub, or for the meta backend the shape rule with the promotion."""
    name = (op.dispatch or {}).get(backend)
    if name is not None:
        return f"{_module(backend) if is_written(model, backend, op) else _stubs(backend)}.{name}"
    if backend == "Meta" and op.shape is not None:
        return f"rules.{op.shape}({_promotion_or_kernel(model, op)}{_operands(op)})"
    return None


def _operands(op: Op) -> str:
    """How many arguments take part in promotion, where the rule would also count a factor behind them (`alpha`)."""
    factors = [each for each in op.schema.inputs if _is_factor(each)]
    count = len([each for each in op.schema.positional if each not in factors])
    return f", operands={count}" if factors and op.shape in _ELEMENTWISE and count < _MOST_OPERANDS else ""


def _is_factor(argument: Argument) -> bool:
    """A number that is given by name, or called as the factor of sums is, which some ops take by position."""
    return argument.type.base == "Scalar" and (argument.kwarg_only or argument.name == "alpha")


def _promotion_or_kernel(model: Model, op: Op) -> str:
    """What a shape rule is made from: the promotion; for a view the CPU kernel, which looks at the geometry only."""
    if op.shape == "view":
        return _kernel(model, "CPU", op) or "None"
    return _quoted(op.promotion)


def _quoted(word: str | None) -> str:
    return "None" if word is None else f'"{word}"'


def _npu(model: Model) -> str:
    package = model.project.generated_package
    families = []
    imports = {}
    for family in model.families:
        bindings = []
        for binding in _bindings(model, "NPU", family):
            module, _, kernel = binding.kernel.partition(".")
            bindings.append(Binding(binding.op, f"{family}_{module}.{kernel}"))
        families.append(Backend(family, tuple(bindings)))
        imports[f"{family}_npu_kernels"] = f"{kernel_package(model, 'NPU')} import {family} as {family}_npu_kernels"
        imports[f"{family}_npu_stubs"] = f"{package}.stubs.npu import {family} as {family}_npu_stubs"
    body = render("npu_kernels.py.jinja", families=[family for family in families if family.bindings])
    return python_module(model.project, "registry", "ops.yaml", "The kernels of the NPU backend, by op.", body, imports)


def _package(model: Model) -> str:
    families = list(model.families)
    loads_later = not model.project.is_library and _LOADED_LATER in model.project.backends
    body = render(
        "registry_package.py.jinja",
        families=families,
        project=model.project,
        loads_later=loads_later,
        batches=batched_ops(model),
        with_old_calls=[family for family in families if old_call_rows(model, family)],
        with_versions=[family for family in families if version_rows(model, family)],
    )
    package = model.project.generated_package
    imports = dict.fromkeys(families, f"{package}.registry") | {
        "FunctionType": "types",
        "ops": "mindtorch.dispatch",
        "own_ops": package,
        "register_kernels": "mindtorch.dispatch.registry",
        "register_kernels_of": "mindtorch.dispatch.registry",
        "register_old_calls": "mindtorch.dispatch.deprecation",
        "register_ops": "mindtorch.dispatch.registry",
        "register_versions": "mindtorch.dispatch.versions",
    }
    purpose = "Makes all ops and kernels known: importing this fills `mindtorch.dispatch`."
    return python_module(model.project, "registry", "ops.yaml", purpose, body, imports)
