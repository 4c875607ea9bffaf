"""generated/stubs/<backend>/<family>.py: for every kernel that is still to be written, a function that raises an error.

Those of the NPU are not registered, for what has no kernel there is computed by the CPU: they are to be read and
copied.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap

from ..model import Model, Op
from ..npu.kernels import BACKEND, is_foreseen, npu_kernels
from ..render import python_module, render
from .kernel_texts import WIDTH, folded, folder_of, is_written, kernel_parameters
from .names import registered_name

_ARRAYS = """
    Tensors arrive as arrays of the class NpuArray: `root` is the memory that they lie in, `byte_offset` where they
    begin there, `shape`, `strides` (in bytes), `dtype` (NumPy's) and `device` are as in other backends. An optional
    tensor may be None. A call of ACLNN is prepared once, at the head of the module, as the stubs show it, and takes the
    arguments of the signature in their order:

        _add = aclnn("aclnnAdd", "TTST")

    The kernels in {generated}/kernels/npu/ show how results are made and `out` is given back; a kernel from its key
    to its test is in mindtorch's docs/npu.md.
"""


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


def _stubs(model: Model, backend: str, family: str) -> list[Stub]:
    """One stub per missing kernel function; several ops may share one."""
    if backend == BACKEND:
        kernels = npu_kernels(model, family)
        missing = [kernel for kernel in kernels if not any(is_written(model, backend, op) for op in kernel.ops)]
        return [_stub(model, kernel.name, kernel.ops, _calls(model, kernel.ops)) for kernel in missing]
    served: dict[str, list[Op]] = {}
    for op in model.families[family]:
        name = (op.dispatch or {}).get(backend)
        if op.derived_from is None and name is not None and not is_written(model, backend, op):
            served.setdefault(name, []).append(op)
    return [_stub(model, name, tuple(ops), ()) for name, ops in served.items()]


def _stub(model: Model, name: str, ops: tuple[Op, ...], more: tuple[str, ...]) -> Stub:
    """What it says are the schemas of the ops that the kernel would serve, and ``more``."""
    lines = [line for op in ops for line in folded(str(op.schema))]
    parameters = kernel_parameters(model, *ops)
    signature = wrap(f"{name}({parameters})", WIDTH, drop_whitespace=False)
    return Stub(name, registered_name(model, ops[0]), parameters, (*lines, *more), tuple(signature))


def _calls(model: Model, ops: tuple[Op, ...]) -> tuple[str, ...]:
    """The calls of ACLNN that may be behind a kernel, why they are not all of it, what the functions take, and what may
    arrive besides arrays of the device.
    """
    lines = [line for op in ops for line in _call(model, op, f" for {op.name}" if len(ops) > 1 else "")]
    lines += dict.fromkeys(line for op in ops for line in _arriving(op))
    return ("", *lines) if lines else ()


def _arriving(op: Op) -> Iterator[str]:
    if op.is_elementwise:
        yield "A tensor may arrive as a Python number, or as a NumPy array without dimensions: `operands` brings it"
        yield "to the device."
    if op.other_devices:
        names = ", ".join(f"'{name}'" for name in op.other_devices)
        yield f"What arrives for {names} may be a NumPy array."


def _call(model: Model, op: Op, which: str) -> Iterator[str]:
    if op.aclnn is None:
        return
    call, _, reason = op.aclnn.partition("; ")
    signature = model.signatures[call.partition("(")[0]]
    yield from folded(f"ACLNN{which}: {call}")
    yield from folded(f"    {signature}")
    yield f"    aclnn('{signature.name}', '{signature.kinds}')"
    if not reason and not is_foreseen(op):
        reason = "only the kernel knows the shape of its result"
    if reason:
        yield from wrap(f"{reason[0].upper()}{reason[1:]}.", WIDTH, initial_indent="    ", subsequent_indent="    ")


def _module(model: Model, backend: str, family: str, stubs: list[Stub]) -> str:
    place = model.project.kernel_place(backend, family)
    arrays = _ARRAYS.format(generated=model.project.placed("generated/x").removesuffix("/x"))
    body = render("stubs.py.jinja", stubs=stubs, backend=backend, file=place)
    purpose = f"The {family} kernels that the {backend} backend has not got yet. They belong in {place}."
    purpose += "\n" + "".join(f"{line[4:]}\n" for line in arrays.splitlines()) if backend == BACKEND else ""
    return python_module(
        model.project, "stubs", "ops.yaml", purpose, body, {"missing_kernel": "mindtorch._support.errors"}
    )
