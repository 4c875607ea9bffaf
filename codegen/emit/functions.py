"""The functions of generated/ops/<family>.py, which users call: all that the template needs to write each of them."""

from __future__ import annotations

from dataclasses import dataclass

from ..model import Argument, BaseType, Model, Op
from ..render import fits, tuple_of
from .changes import checks, marks
from .conversions import (
    conversions,
    fails_when_number,
    has_factory_options,
    only_methods_take_ints,
    out_test,
    pins,
    takes_number,
    tensor_checks,
)
from .decomposition import as_function, derived_form, expression
from .docstrings import documentation
from .kernel_texts import module_import, module_name
from .names import array_name, comma_separated, function_name, kernel_table, registered_name, root_of
from .old_calls import OldCalls, old_calls_of
from .recording import GradCheck, Recording, grad_check_of_out, recording_of, unrecorded_write
from .signatures import (
    Signature,
    generator_counterpart,
    is_int_list,
    python_default,
    signature_of,
    takes_requires_grad,
)

# What an out= tensor already decides, so that an out= function does not take it.
_TENSOR_OPTIONS = frozenset(("dtype", "layout", "device", "pin_memory"))


@dataclass(frozen=True, slots=True)
class Array:
    """The local variable for the array of a tensor argument, and where it comes from."""

    variable: str
    source: str


@dataclass(frozen=True, slots=True)
class Result:
    """One of several outputs: its variable, that of its array, and the expression that makes the tensor."""

    variable: str
    array: str
    wrapped: str


@dataclass(frozen=True, slots=True)
class Kind:
    """The expression for the kind of array that the operands share; with two of them, when they are surely plain and
    nothing else is to be looked at, so that the computation can be called directly."""

    common: str
    first: str = ""
    is_direct: str = ""
    direct_call: str = ""


@dataclass(frozen=True, slots=True)
class Function:
    """Everything the template needs to write one function; ``shape`` is the macro that writes it."""

    op: Op
    registered_name: str
    shape: str
    name: str
    itself: str
    intercepted: str
    signature: Signature
    old_calls: OldCalls | None
    is_public: bool
    seen: str
    conversions: tuple[str, ...]
    checks: tuple[str, ...]
    marks: tuple[str, ...]
    arrays: tuple[Array, ...]
    failed: str
    may_fail: bool
    table: str
    kernel: str
    kind: Kind | None
    recording: Recording | None
    results: tuple[Result, ...]
    return_type: str | None
    has_several_outs: bool
    out: Function | None
    out_test: tuple[str, ...]
    out_function: str | None
    passed_to_out: str
    out_check: str
    generator_function: str | None
    passed_to_generator: str
    unrecorded_write: str | None
    grad_check: GradCheck | None
    marks_requires_grad: bool
    pins: bool
    composite_call: str
    recorded_call: str
    composite_is_written_out: bool
    missing_composite: str | None
    replay: str

    @property
    def definition(self) -> Signature:
        """The parameters of the ``def`` line."""
        signature = self.old_calls.signature if self.old_calls else self.signature
        return signature.taking_nothing if self.is_public and signature.rest else signature

    @property
    def documentation(self) -> tuple[str, ...]:
        """The lines of its docstring: what it computes, unless that is told by what chooses among the overloads of its
        name; and the Python call where the schema alone does not show it."""
        is_unlike = "=..." in str(self.signature)
        calls = (f"{self.name}({self.signature.shown})",) if is_unlike else ()
        told = [self.op] if self.name == self.op.schema.name else []
        return documentation(told, (str(self.op.schema), *calls))

    @property
    def ends_late(self) -> bool:
        """Whether something is to be done with the result, or with what the call has changed."""
        saves = bool(self.recording and (self.recording.after or self.recording.complex_check))
        return self.marks_requires_grad or bool(self.marks) or saves

    @property
    def call_in_mode(self) -> str:
        """The call while a mode is active. Where the line is too short for all arguments, they are read from names."""
        call = f"call({comma_separated(filter(None, (self.itself, self.intercepted)))})"
        joins_ints = self.op.separate_ints is not None and only_methods_take_ints(self.op)
        is_long = not joins_ints and not fits(f"return {call}", 8)
        return f"call_with({self.itself}, locals())" if is_long else call

    @property
    def out_arrays(self) -> tuple[Array, ...]:
        """Those of an ``out=`` form that the functional op does not have."""
        return self.arrays[len(self.op.schema.tensor_arguments) :]

    @property
    def defines_table(self) -> bool:
        return not self.op.is_composite and self.op.derived_from is None


def function_of(model: Model, op: Op) -> Function:
    name = function_name(model, op)
    composite, public = op.is_composite, is_called_by_users(model, op)
    signature = signature_of(model, op, public=public)
    itself = _itself(name, signature)
    shape, failing = _shape(model, op), f"error, {itself}"
    may_fail = _may_fail(op, shape)
    reject = "raise NotATensor" if may_fail else f"return raise_bad_argument({itself}, {signature.passed})"
    converted = [*(tensor_checks(op, reject) if composite else []), *conversions(op, reject)]
    number_first = any(fails_when_number(op, argument) for argument in op.schema.inputs)
    out, counterpart = model.variant(op, "out"), generator_counterpart(model, op)
    inner = function_of(model, out) if out and shares_code(model, out) else None
    apart = None if inner else out
    composite_call, written_out = _composite_call(model, op) if composite else ("", False)
    return Function(
        op=op,
        registered_name=registered_name(model, op),
        shape=shape,
        name=name,
        itself=itself,
        intercepted=_intercepted(op, signature),
        signature=signature,
        old_calls=old_calls_of(model, name, signature, [name]) if public else None,
        is_public=public,
        seen=_seen_by_modes(op, takes_out=inner is not None),
        conversions=tuple(line for conversion in converted for line in conversion.lines),
        checks=checks(model, op),
        marks=marks(op),
        arrays=() if composite or shape == "inplace_detach" else _arrays(op),
        failed=(
            f"failed_or_number_first({failing}, {signature.passed})" if number_first else f"failed({failing}, locals())"
        ),
        may_fail=may_fail,
        table=kernel_table(model, op),
        kernel=_kernel_call(model, op),
        kind=_kind(model, op) if shape == "functional" else None,
        recording=None if composite and op.derived_from else recording_of(model, op),
        results=_results(model, op),
        return_type=return_type(op),
        has_several_outs=len(op.schema.out_arguments) > 1,
        out=inner,
        out_test=out_test(inner.op, reject) if inner and not (may_fail and _checks_out_with_grad(inner)) else (),
        out_function=function_name(model, apart) if apart else None,
        passed_to_out=signature_of(model, apart, public=False).passed if apart else "",
        out_check=_out_check(op),
        generator_function=function_name(model, counterpart) if counterpart else None,
        passed_to_generator=signature_of(model, counterpart, public=False).passed if counterpart else "",
        unrecorded_write=unrecorded_write(model, op) if op.kind == "inplace" else None,
        grad_check=grad_check_of_out(model, op) if op.kind == "out" else None,
        marks_requires_grad=takes_requires_grad(op),
        pins=pins(op),
        composite_call=composite_call,
        recorded_call=_recorded_call(model, op, composite_call) if composite else "",
        composite_is_written_out=written_out,
        missing_composite=_missing_composite(model, op),
        replay=_replay(op),
    )


def _checks_out_with_grad(out: Function) -> bool:
    """Whether the test for gradients sees to what methods and no tensors are given for `out`, too."""
    return out.grad_check is not None and bool(out.grad_check.of_method)


def shares_code(model: Model, out: Op) -> bool:
    """Whether an ``out=`` form is the function of its functional op, which takes `out`, rather than one of its own.

    It takes the same arguments, but for a factory, whose options `out` decides.
    """
    functional = model.ops.get(out.derived_from or "")
    if functional is None or out.kind != "out" or takes_requires_grad(functional) or has_factory_options(functional):
        return False
    shapes = _shape(model, functional), _shape(model, out)
    return shapes[0] in _WITH_OUT and shapes[1] in ("out", "composite_out")


_WITH_OUT = ("functional", "several", "listed", "value", "composite_functional")


def _itself(name: str, signature: Signature) -> str:
    """What a function calls itself: another name, if a parameter has its own (`pad` of `pad`)."""
    return f"_{name}" if any(parameter.name == name for parameter in signature.parameters) else name


def _intercepted(op: Op, signature: Signature) -> str:
    """The arguments of an intercepted call, which then is one of the function: separate ints have to be a tuple."""
    argument = op.separate_ints
    if argument is None or not only_methods_take_ints(op):
        return signature.passed
    separate = f"{argument.python_name}, *more_{argument.python_name}"
    joined = f"*joined_ints({separate.replace('*', '')}, IS_METHOD)"
    return signature.passed.replace(separate, joined)


def _out_check(op: Op) -> str:
    """The call that compares the options of a factory with those of `out`; a default is not asked for."""
    if not takes_requires_grad(op):
        return ""
    default = next(python_default(each) for each in op.schema.arguments if each.name == "dtype")
    dtype = "dtype" if default == "None" else f"None if dtype is {default} else dtype"
    return f'check_out_options(out, {dtype}, layout, device, requires_grad, "{op.schema.base}")'


def _may_fail(op: Op, shape: str) -> bool:
    """Whether an error may have to be found out about: not one of the ops that a composite op without numbers calls."""
    if not op.is_composite:
        return shape != "inplace_detach"
    handed_on = any(_is_handed_on(op, argument) for argument in op.schema.inputs)
    return handed_on or any(conversion.may_refuse for conversion in conversions(op, ""))


def _is_handed_on(op: Op, argument: Argument) -> bool:
    """Whether nothing is known of an argument but its type, or that of its first element."""
    if is_int_list(argument) or takes_number(op, argument):
        return True
    return argument.type.base in _NUMBERS or (op.is_composite and argument.type.is_tensor_list)


_NUMBERS = frozenset(("int", "SymInt", "Scalar"))


def is_called_by_users(model: Model, op: Op) -> bool:
    """Whether this function is the one that a user's call reaches first, so that it has to know NumPy's spellings."""
    return function_name(model, op) == op.schema.name and op.kind != "out"


def _shape(model: Model, op: Op) -> str:
    root = root_of(model, op)
    if root.is_composite:
        return f"composite_{op.kind}" if _missing_composite(model, op) is None else "missing_composite"
    if op.kind == "out":
        return "out"
    if op.kind == "inplace":
        return {None: "inplace", "detach": "inplace_detach"}.get(root.view, "inplace_view")
    if op.view:
        return {"single": "view", "multi": "views", "detach": "detach"}[op.view]
    if op.factory and not op.schema.tensor_arguments:
        return "factory"
    if len(op.schema.returns) != 1:
        return "several" if op.schema.returns else "nothing"
    result = op.schema.returns[0].type
    if result.is_tensor_list:
        return "listed"
    return "functional" if result.holds_tensors else "value"


def _seen_by_modes(op: Op, takes_out: bool) -> str:
    """The tensors and lists of tensors of a call, as arguments of ``intercepts``."""
    takes_out = takes_out or bool(op.schema.out_arguments)
    return comma_separated([a.python_name for a in op.schema.tensor_arguments] + ["out"] * takes_out)


def _arrays(op: Op) -> tuple[Array, ...]:
    arrays = [Array(array_name(a), _array_source(a)) for a in op.schema.tensor_arguments]
    outs = op.schema.out_arguments
    if len(outs) == 1:
        arrays.append(Array("out_array", "out._mt_array"))
    elif outs:
        arrays.append(Array("out_arrays", "tuple([tensor._mt_array for tensor in out])"))
    return tuple(arrays)


def _array_source(argument: Argument) -> str:
    name = argument.python_name
    kind = argument.type
    if not kind.is_tensor_list:
        return f"None if {name} is None else {name}._mt_array" if kind.is_optional else f"{name}._mt_array"
    if "?" in str(kind):
        return f"[None if tensor is None else tensor._mt_array for tensor in {name}]"
    return f"[tensor._mt_array for tensor in {name}]"


# -------------------- the kernel --------------------


def _kernel_call(model: Model, op: Op) -> str:
    key = f"kind or {_kernel_key(op)}" if _shape(model, op) == "functional" and _kind(model, op) else _kernel_key(op)
    return f"{kernel_table(model, op)}[{key}]({comma_separated(_kernel_arguments(model, op))})"


def _kind(model: Model, op: Op) -> Kind | None:
    """How to find the kind of array that the operands share and the result has, for an op that keeps it.

    Pointwise ops of one or two tensors do; a number in a positional place could make the result complex.
    """
    tensors = op.schema.tensor_arguments
    keeps_it = op.promotion in _KEEP_FLOATS and op.shape == "broadcast" and set(tensors) == set(op.schema.positional)
    if not keeps_it or not all(argument.type == BaseType("Tensor") for argument in tensors):
        return None
    names = [argument.python_name for argument in tensors]
    if len(names) == 1:
        return Kind(f"{names[0]}._mt_kind or kind_of({names[0]})")
    if len(names) == 2:
        first, second = names
        arrays = comma_separated(map(array_name, tensors))
        call = f"{kernel_table(model, op)}.direct({arrays})"
        return Kind(f"common_kind({first}, {second})", first, _is_direct(op, second), call)
    return None


def _is_direct(op: Op, second: str) -> str:
    """The test for two plain operands: no mode is active, and the numbers besides them have their default values."""
    tests = ["kind", f"kind is {second}._mt_kind", "not state.active_modes"]
    for argument in op.schema.inputs:
        if not argument.type.holds_tensors:
            if argument.type != BaseType("Scalar") or argument.default is None:
                return ""
            name = argument.python_name
            tests += [f"{name} == {python_default(argument)}", f"{name} is not True"]
    return " and ".join(tests)


_KEEP_FLOATS = ("default", "int_to_float")


def _kernel_key(op: Op) -> str:
    """What chooses the kernel: the class of the first tensor's array; for a factory the backend that it asked for."""
    required = [a for a in op.schema.tensor_arguments if not a.type.is_optional]
    if required:
        first = required[0]
        return f"type({array_name(first)}[0])" if first.type.is_tensor_list else f"type({array_name(first)})"
    outs = op.schema.out_arguments
    return "type(out_array)" if outs else "backend"


def _kernel_arguments(model: Model, op: Op) -> list[str]:
    """The arguments of the functional schema, in order, and where to write the result."""
    root = root_of(model, op)
    own = {argument.name for argument in op.schema.inputs}
    words = []
    for argument in root.schema.inputs:
        if argument.type.holds_tensors:
            words.append(array_name(argument))
        else:
            words.append(argument.python_name if argument.name in own else python_default(argument) or "None")
    if op.kind == "out":
        words.append("out=out_array" if len(op.schema.out_arguments) == 1 else "out=out_arrays")
    elif op.derived_from and not root.view:
        words.append("out=input_array")
    return words


# -------------------- results --------------------


def _results(model: Model, op: Op) -> tuple[Result, ...]:
    derivative = model.derivative_of(op)
    recorded = derivative is not None and bool(derivative.edges)
    flags = derivative.output_differentiability if derivative and recorded else ()
    names = op.schema.result_names
    differentiable = [recorded and (not flags or flags[i]) for i in range(len(names))]
    return tuple(
        Result(name, f"{name}_array", _wrapped(f"{name}_array", differentiable, i)) for i, name in enumerate(names)
    )


def _wrapped(array: str, differentiable: list[bool], i: int) -> str:
    """The call that makes output ``i`` a tensor; outputs are numbered among those that have a gradient."""
    if not differentiable[i]:
        return f"wrap({array})"
    if sum(differentiable) == 1:
        return f"wrap({array}, node)"
    return f"wrap_output({array}, node, {sum(differentiable[:i])})"


def return_type(op: Op) -> str | None:
    """The class of a result with several named parts: ``max`` for ``max.dim``, ``max_out`` for its out= variant."""
    returns = op.schema.returns
    if len(returns) < 2 or not all(result.name for result in returns):
        return None
    return f"{op.schema.base}_out" if op.kind == "out" else op.schema.base


# -------------------- calls of other functions --------------------


def _composite_call(model: Model, op: Op) -> tuple[str, bool]:
    """The decomposition, or the call of the hand-written function; and whether it is one for this in-place or out=
    variant itself."""
    root = root_of(model, op)
    defined = model.composites.get(op.family, {})
    name = str(root.composite)
    variant = name + {"inplace": "_", "out": "_out"}.get(op.kind, "")
    if op.decomposition is not None and (op.derived_from is None or variant not in defined):
        derived = derived_form(model, op) if op.derived_from else None
        return derived or expression(model, op), derived is not None
    is_own = op.derived_from is None or variant in defined
    own = {argument.python_name for argument in op.schema.inputs}
    given = [argument for argument in root.schema.inputs if argument.python_name in own]
    words = [argument.python_name for argument in given if not argument.kwarg_only]
    words += [f"{argument.python_name}={argument.python_name}" for argument in given if argument.kwarg_only]
    if op.kind == "out" and is_own:
        words.append("out=out")
    called = name if not is_own or op.derived_from is None else variant
    kernel = defined.get(called)
    module = composite_module(op.family, kernel.file) if kernel else "composite"
    return f"{module}.{called}({comma_separated(words)})", is_own


def composite_module(family: str, file: str) -> str:
    return module_name("composite", "composite", family, file)


def composite_imports(model: Model, family: str) -> dict[str, str]:
    """The modules of a family's composite functions."""
    files = dict.fromkeys(function.file for function in model.composites.get(family, {}).values())
    modules = {composite_module(family, file): file for file in files}
    return {name: module_import(model, file, name) for name, file in modules.items()}


def _recorded_call(model: Model, op: Op, composite_call: str) -> str:
    """The call that runs a composite function below autograd and makes its results outputs of one node."""
    called = composite_call.replace("(", ", ", 1)
    if op.decomposition is not None:
        called = f"{as_function(model, op)})"
    derivative = model.derivative_of(op)
    if derivative is None or len(op.schema.returns) == 1:
        return f"recorded(node, {called}"
    flags = derivative.output_differentiability or (True,) * len(op.schema.returns)
    return f"recorded_outputs(node, {tuple_of(map(str, flags))}, {called}"


def _missing_composite(model: Model, op: Op) -> str | None:
    """The error of an op whose composite function is still to be written; None when it is there."""
    root = root_of(model, op)
    if not root.is_composite or root.decomposition or root.composite in model.composites.get(op.family, {}):
        return None
    parameters = comma_separated(argument.python_name for argument in root.schema.inputs)
    signature = f"{root.composite}({parameters})"
    place = model.project.composite_place(op.family)
    return f'missing_kernel("{registered_name(model, root)}", "composite", "{signature}", "{place}")'


def _replay(op: Op) -> str:
    """The arguments with which a view is made again from another base."""
    words = [argument.python_name for argument in op.schema.positional if argument.name != "self"]
    return tuple_of(words) if words else "()"
