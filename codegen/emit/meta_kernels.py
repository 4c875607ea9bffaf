"""The kernels of the meta backend: the shape rule of an op with its promotion, or a function of its own."""

from __future__ import annotations

from ..model import Argument, Model, Op
from .kernel_texts import folder_of, module_import, module_name, written_kernel

# The shape rules that look at the first arguments of an op, and how many at most.
_ELEMENTWISE = ("broadcast", "broadcast_reversed")
_MOST_OPERANDS = 3


def meta_kernel(model: Model, op: Op) -> str | None:
    """The source of an op's meta kernel, for a module with ``meta_imports``; None if there is none."""
    if "Meta" in (op.dispatch or {}):
        return kernel_source(model, "Meta", op)
    return f"rules.{op.shape}({_promotion_or_kernel(model, op)}{_operands(op)})" if op.shape is not None else None


def meta_imports(model: Model, family: str) -> dict[str, str]:
    modules = kernel_modules(model, "Meta", family)
    return {"rules": "mindtorch.backends.meta"} | {
        name: module_import(model, file, name) for name, file in modules.items()
    }


def kernel_source(model: Model, backend: str, op: Op) -> str | None:
    """The kernel that `dispatch` names: the hand-written one, or its stub."""
    name, kernel = (op.dispatch or {}).get(backend), written_kernel(model, backend, op)
    module = kernel_module(backend, op.family, kernel.file) if kernel else stub_module(backend)
    return f"{module}.{name}" if name else None


def kernel_module(backend: str, family: str, file: str) -> str:
    return module_name(f"{folder_of(backend)}_kernels", folder_of(backend), family, file)


def kernel_modules(model: Model, backend: str, family: str) -> dict[str, str]:
    """The files of a backend's kernels of a family, by the names of their modules in generated code."""
    files = dict.fromkeys(kernel.file for kernel in model.kernels.get((backend, family), {}).values())
    return {kernel_module(backend, family, file): file for file in files}


def stub_module(backend: str) -> str:
    return f"{folder_of(backend)}_stubs"


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
        return kernel_source(model, "CPU", op) or "None"
    return "None" if op.promotion is None else f'"{op.promotion}"'
