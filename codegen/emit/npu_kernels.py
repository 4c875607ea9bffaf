"""generated/kernels/npu/<family>.py: a function for each kernel that is nothing but a call of ACLNN.

Where the result goes follows from the op's shape rule; what the call gives, from `aclnn` in ops.yaml. Kernels that need
more have a stub (stubs.py) until they are written; then a function in generated/kernels/npu/by_hand/<family>.py calls
them. All these functions answer for what ACLNN does not take.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from ..model import Argument, ListType, Model, Op
from ..npu.aclnn import result_names
from ..npu.aclnn_call import AclnnCall, Value
from ..npu.kernels import BACKEND, NpuKernel, npu_kernels
from ..render import python_module, render, tuple_of
from .kernel_texts import folded, kernel_parameters, module_import
from .meta_kernels import kernel_modules, kernel_source, meta_imports, meta_kernel
from .names import registered_name

_RUNTIME = "mindtorch.backends.npu.launch"
_VALUES = "mindtorch.backends.npu.values"
_UNSUPPORTED_CALLS = "mindtorch.backends.npu.unsupported_calls"
_FROM_RUNTIME = (
    *("NpuArray", "aclnn", "copied", "delivered", "delivered_all", "operands", "placed", "placed_all", "placed_on"),
    *("remembered", "seed_and_offset", "settings"),
)
# What programs choose for all calls.
_SETTINGS = {"cubeMathType": "settings.cube_math_type", "convMathType": "settings.conv_math_type"}
_PARTS_OF_A_NAME = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class Function:
    """A kernel: its ``def``, the lines of its docstring, and its body; then what it comes to where ACLNN refuses.

    ``changes`` says that the body may give its parameters other values.
    """

    name: str
    parameters: str
    explanation: tuple[str, ...]
    body: tuple[str, ...]
    answer: str
    changes: bool = False


@dataclass(slots=True)
class _Module:
    """What stands above the functions of a module: calls, rules and tables, each made once."""

    constants: dict[str, str]

    def call(self, model: Model, function: str) -> str:
        """The name of a prepared call."""
        name = f"_{_PARTS_OF_A_NAME.sub('_', function.removeprefix('aclnn')).lower()}"
        self.constants[name] = f'aclnn("{function}", "{model.signatures[function].kinds}")'
        return name

    def constant(self, name: str, source: str) -> str:
        self.constants[name] = source
        return name


def emit(model: Model) -> dict[str, str]:
    files = {}
    for family in model.families if BACKEND in model.project.backends else ():
        kernels = [kernel for kernel in npu_kernels(model, family) if kernel.is_generated]
        if kernels:
            files[f"generated/kernels/npu/{family}.py"] = _file(model, family, kernels)
        by_hand = [kernel for kernel in npu_kernels(model, family) if kernel.is_by_hand]
        if by_hand:
            files[f"generated/kernels/npu/by_hand/{family}.py"] = _file_by_hand(model, family, by_hand)
    if files and model.project.is_library:
        files["generated/kernels/npu/written.py"] = _written(model)
    return files


def _written(model: Model) -> str:
    """Which arguments each function of CANN writes, the functions together that write the same ones."""
    by_places: dict[tuple[int, ...], list[str]] = {}
    for name, signature in sorted(model.signatures.items()):
        if signature.written:
            by_places.setdefault(signature.written, []).append(name)
    body = render("npu_written.py.jinja", by_places=sorted(by_places.items()))
    purpose = "The arguments that functions of ACLNN write, by their places: what their headers call out and the like."
    return python_module(model.project, "npu_kernels", "codegen/aclnn_signatures.tsv", purpose, body, {})


def _file(model: Model, family: str, kernels: list[NpuKernel]) -> str:
    module = _Module({})
    functions = [_function(model, module, kernel) for kernel in kernels]
    body = render("npu_module.py.jinja", constants=sorted(module.constants.items()), functions=functions)
    imports = dict.fromkeys(_FROM_RUNTIME, _RUNTIME) | dict.fromkeys(("Codes", "dims_of", "sized"), _VALUES)
    imports |= dict.fromkeys(("UNANSWERED", "answered"), _UNSUPPORTED_CALLS) | meta_imports(model, family)
    purpose = f"The {family} kernels of the NPU backend that are one call of ACLNN each."
    return python_module(model.project, "npu_kernels", "ops.yaml", purpose, body, imports)


def _function(model: Model, module: _Module, kernel: NpuKernel) -> Function:
    forms = _forms(model, module, kernel)
    body = forms[0].lines() if len(forms) == 1 else list(_choice(forms))
    changes = any(form.operands for form in forms)
    return _answering(model, kernel, body, changes)


def _answering(model: Model, kernel: NpuKernel, body: list[str], changes: bool = False) -> Function:
    """The function of a kernel around its body."""
    parameters = kernel_parameters(model, *kernel.ops)
    lines = [line for op in kernel.ops for line in folded(str(op.schema))]
    given = tuple_of(argument.python_name for argument in kernel.ops[0].schema.inputs)
    ops = ", ".join(f'"{registered_name(model, op)}"' for op in kernel.ops)
    out = "out" if parameters.endswith("out=None") else "None"
    more = ", is_one_call=False" if kernel.is_by_hand else ""
    answer = f"answered(error, {f'given or {given}' if changes else given}, {out}, {ops}{more})"
    return Function(kernel.name, parameters, tuple(lines), tuple(body), answer, changes)


# -------------------- kernels that are written by hand --------------------


def _file_by_hand(model: Model, family: str, kernels: list[NpuKernel]) -> str:
    functions = [_function_by_hand(model, kernel) for kernel in kernels]
    body = render("npu_module.py.jinja", constants=(), functions=functions)
    imports = dict.fromkeys(("UNANSWERED", "answered"), _UNSUPPORTED_CALLS)
    modules = kernel_modules(model, BACKEND, family)
    imports |= {name: module_import(model, file, name) for name, file in modules.items()}
    purpose = f"The {family} kernels of the NPU backend that are written by hand: calls that answer for them."
    return python_module(model.project, "npu_kernels", "ops.yaml", purpose, body, imports)


def _function_by_hand(model: Model, kernel: NpuKernel) -> Function:
    parameters = kernel_parameters(model, *kernel.ops).removesuffix("=None")
    return _answering(model, kernel, [f"return {kernel_source(model, BACKEND, kernel.ops[0])}({parameters})"])


# -------------------- one call --------------------


@dataclass(frozen=True)
class _Form:
    """A call of a kernel, with the names that its function has for the op's arguments."""

    model: Model
    module: _Module
    kernel: NpuKernel
    op: Op
    call: AclnnCall

    @cached_property
    def variables(self) -> dict[str, str]:
        """The parameter for each argument of the op: those of the kernel's first op."""
        parameters = [argument.python_name for argument in self.kernel.ops[0].schema.inputs]
        return {argument.name: name for argument, name in zip(self.op.schema.inputs, parameters, strict=True)}

    @cached_property
    def results(self) -> dict[str, str]:
        """The variable for each result: the input of an op that writes it in place."""
        names = result_names(self.op.schema)
        if len(names) == 1:
            return {names[0]: "result"}
        taken = set(self.variables.values())
        return {name: f"{name}_result" if name in taken else name for name in names}

    @property
    def first_result(self) -> str:
        return next(iter(self.results.values()), self.variables["self"] if "self" in self.variables else "")

    @cached_property
    def tensors(self) -> list[Argument]:
        return [argument for argument in self.op.schema.inputs if argument.type.is_tensor]

    @property
    def like(self) -> str:
        """An array on the device where the result belongs; "" for an op that makes a tensor from nothing."""
        given = [argument for argument in self.op.schema.tensor_arguments if not argument.type.is_optional]
        name = self.variables[given[0].name] if given else ""
        return f"{name}[0]" if given and given[0].type.is_list else name

    @cached_property
    def operands(self) -> list[str]:
        """The parameters that may be a number, or on the CPU, and have to be on the device."""
        made = [value.name for value in self.call.values if value.function == "tensor"] + [*self.op.other_devices]
        if not made and (not self.op.is_elementwise or len(self.tensors) < 2 or self.op.schema.inplace):
            return []
        tensors = [argument.name for argument in self.tensors]
        return [self.variables[name] for name in self.variables if name in (*tensors, *made)]

    @cached_property
    def rule(self) -> str:
        """The name of the shape rule, made for this op."""
        source = meta_kernel(self.model, self.op) or "None"
        same = [op for op in self.kernel.ops if meta_kernel(self.model, op) == source]
        overload = "" if same[0] is self.kernel.ops[0] else f"_{same[0].schema.overload.lower()}"
        name = registered_name(self.model, max(same, key=lambda op: len(op.schema.tensor_arguments)))
        return self.module.constant(f"_{self.kernel.name}{overload}_rule", f'remembered({source}, "{name}")')

    # ---- its lines ----

    def lines(self) -> list[str]:
        if self.op.schema.inplace:
            return [*self._numbers(), self.launched, f"return {self.variables['self']}"]
        rule = self.ruled
        if not self.operands:
            return [f"{', '.join(self.results.values())} = {self._placed(rule)}", *self.after_placing, self.returned]
        return [f"result = {rule}", *self.placing(()), *self.after_placing, self.returned]

    @property
    def ruled(self) -> str:
        """What the rule says of the result, or `out`, if that is fit for it."""
        given = [*self.variables.values()] + ["out=out"] * self.has_out
        return f"{self.rule}({', '.join(given)})"

    def placing(self, known: Collection[str]) -> list[str]:
        """Operands that are on the device, as the ``known`` ones are already, and the result."""
        lines = []
        unsure = [name for name in self.operands if name not in known]
        if unsure:
            names = ", ".join(self.operands)
            same = " is ".join(f"type({name})" for name in unsure)
            other = f"{same} is not NpuArray" if len(unsure) == 1 else f"not ({same} is NpuArray)"
            given = tuple_of(self.variables.values())
            lines = [f"if {other}:", f"    given = {given}", f"    {names} = operands({names})"]
        return [*lines, f"result = {self._placed('result')}"]

    def _placed(self, meta: str) -> str:
        if not self.like:
            return f"placed_on({meta}, device)"
        return f"{'placed' if len(self.results) == 1 else 'placed_all'}({meta}, {self.like})"

    @property
    def after_placing(self) -> list[str]:
        cloned = [self.variables[value.name] for value in self.call.values if value.function == "clone"]
        return [*(f"copied({self.first_result}, {name})" for name in cloned), *self._numbers(), self.launched]

    def _numbers(self) -> Iterator[str]:
        """Where random numbers begin."""
        if any(value.name == "seed" for value in self.call.values):
            generator = "generator" if "generator" in self.variables else "None"
            yield f"seed, offset = seed_and_offset({generator}, {self.first_result})"

    @property
    def launched(self) -> str:
        kinds = self.model.signatures[self.call.function].kinds
        given = (self._expression(value, kind) for value, kind in zip(self.call.values, kinds, strict=True))
        return f"{self.module.call(self.model, self.call.function)}({', '.join(given)})"

    @property
    def returned(self) -> str:
        names = list(self.results.values())
        value = names[0] if len(names) == 1 else f"({', '.join(names)})"
        delivered = "delivered" if len(names) == 1 else "delivered_all"
        return f"return {value} if out is None else {delivered}({value}, out)" if self.has_out else f"return {value}"

    @cached_property
    def has_out(self) -> bool:
        return kernel_parameters(self.model, *self.kernel.ops).endswith("out=None")

    # ---- values ----

    def _expression(self, value: Value, kind: str) -> str:
        if value.is_constant:
            return repr(value.constant)
        if value.function == "dims":
            return f"dims_of({self.variables.get(value.name)}, {self.like}.ndim)"
        if value.function == "sizes":
            return f"sized({self.variables[value.name]}, {self.like}.ndim - 2)"
        if value.function == "code":
            return self._code(value)
        if value.function == "clone":
            return self.first_result
        return self._name(value, kind)

    def _name(self, value: Value, kind: str) -> str:
        argument = self.op.schema.argument(value.name)
        if value.name == "dtype":
            return f"{self.first_result}.dtype"
        if value.name in _SETTINGS:
            return _SETTINGS[value.name]
        if argument is None:
            return self.results.get(value.name, value.name)
        name = self.variables[value.name]
        if value.otherwise is not None:
            other = self._expression(value.otherwise, kind)
            name = f"{name} or {other}" if argument.type.is_list else f"{other} if {name} is None else {name}"
        size = getattr(argument.type.without_optional, "size", None) or 1
        return f"sized({name}, {size})" if isinstance(argument.type, ListType) and kind == "I" and size > 1 else name

    def _code(self, value: Value) -> str:
        codes = ", ".join(f'"{word}": {constant.text}' for word, constant in value.codes)
        none = f"None: {value.otherwise.text}, " if value.otherwise else ""
        table = self.module.constant(f"_{self.kernel.name}_{value.name}", f'Codes("{value.name}", {{{none}{codes}}})')
        return f"{table}[{self.variables[value.name]}]"


# -------------------- one of several calls --------------------


def _forms(model: Model, module: _Module, kernel: NpuKernel) -> list[_Form]:
    """The calls that differ, those with the most numbers among their arguments first."""
    forms: dict[tuple[str, tuple[str, ...]], _Form] = {}
    for op, call in zip(kernel.ops, kernel.calls, strict=True):
        if call is not None:
            form = _Form(model, module, kernel, op, call)
            forms.setdefault((form.launched, (*form.operands, form.ruled)[-1:] if form.operands else ()), form)
    return sorted(forms.values(), key=lambda form: len(form.op.schema.tensor_arguments))


def _choice(forms: list[_Form]) -> Iterator[str]:
    """By what is on the device: a number, or a 0-dim tensor of the CPU, is given as a number."""
    same_rule = len({form.ruled for form in forms}) == 1
    if same_rule:
        yield f"result = {forms[0].ruled}"
    known: list[str] = []
    for place, form in enumerate(forms):
        numbers = [name for name in form.variables.values() if name in _deciding(forms) and not _is_tensor(form, name)]
        conditions = " and ".join(f"type({name}) is not NpuArray" for name in numbers)
        yield f"{'el' if place else ''}if {conditions}:" if conditions else "else:"
        lines = ([] if same_rule else [f"result = {form.ruled}"]) + form.placing(known) + form.after_placing
        yield from (f"    {line}" for line in lines)
        known += numbers if len(numbers) == 1 else []
    yield forms[-1].returned


def _deciding(forms: list[_Form]) -> set[str]:
    """The parameters that are a tensor in one form and none in another."""
    names = forms[0].variables.values()
    return {name for name in names if len({_is_tensor(form, name) for form in forms}) == 2}


def _is_tensor(form: _Form, parameter: str) -> bool:
    return any(form.variables[argument.name] == parameter for argument in form.tensors)
