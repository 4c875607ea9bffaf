"""The rules about what entries of ops.yaml name in hand-written code: kernels, composite functions, rules, samples."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from ..errors import Problems, did_you_mean
from ..keys import LIBRARY_KEYS, OP_KEYS
from ..model import Kernel, Op
from ..npu.aclnn import aclnn_call_fits
from ..read.defaults import differs
from ..read.op_entries import OpEntry
from ..read.places import name_in_module
from ..read.yaml_source import Mapping, Scalar
from ..sources.hand_written import HandWritten, expected_parameters

# The keys that say with `none` that they were not forgotten.
_MAY_BE_NONE = ("samples", "shape")


def check_sources(entry: OpEntry, hand_written: HandWritten, problems: Problems) -> None:
    for rule in SOURCE_RULES:
        rule(entry, hand_written, problems)


def rules_exist(entry: OpEntry, sources: HandWritten, problems: Problems) -> None:
    """``shape``, ``batch``, ``promotion`` and ``samples`` name what the file that they are looked for in defines."""
    for key, known in sources.rules.items():
        value = entry.scalar(key)
        is_name = value is not None and not (key in _MAY_BE_NONE and value.text == "none")
        if value is not None and is_name and known.names is not None and value.text not in known.names:
            what = "generator of samples" if key == "samples" else f"{key} rule"
            hint = _where(value.text, known.names, known.file)
            problems.add("E036", f"unknown {what} '{value.text}'", value.location, hint)


def composites_exist(entry: OpEntry, sources: HandWritten, problems: Problems) -> None:
    """There are no stubs of composite functions."""
    name = entry.scalar("composite")
    known = sources.composites.get(entry.op.family) if entry.op.dispatch is None else None
    if entry.op.decomposition is not None:
        _check_forms(entry, name, known or {}, sources, problems)
    elif name is not None and known is not None and name.text not in known:
        functions = [each.name for each in known.values() if each.parameters is not None]
        hint = _where(name.text, functions, sources.project.composite_place(entry.op.family))
        problems.add("E036", f"unknown composite function '{name.text}'", name.location, hint)


def _check_forms(
    entry: OpEntry, name: Scalar | None, known: Collection[str], sources: HandWritten, problems: Problems
) -> None:
    """Beside a decomposition the name is that of the in-place and out= forms which do not follow from it."""
    ends = {"inplace": "_", "out": "_out"}
    forms = [f"{name.text}{ends[op.kind]}" for op in entry.ops[1:] if op.kind in ends] if name else []
    if name is not None and not any(form in known for form in forms):
        hint = "remove 'composite': the decomposition is the op"
        message = f"no form '{name.text}_' or '{name.text}_out' of {entry.op.name} is written by hand"
        problems.add("E036", message, name.location, hint)


def meta_kernels_exist(entry: OpEntry, sources: HandWritten, problems: Problems) -> None:
    """Nor of the kernels of the meta backend."""
    dispatch = entry.values.get("dispatch")
    name = dispatch.text("Meta") if isinstance(dispatch, Mapping) else None
    known = sources.kernels.get(("Meta", entry.op.family))
    if name is not None and known is not None and name.text not in known:
        place = sources.project.kernel_place("Meta", entry.op.family)
        problems.add("E036", f"unknown Meta kernel '{name.text}'", name.location, _where(name.text, known, place))


def functions_are_found_once(entry: OpEntry, sources: HandWritten, problems: Problems) -> None:
    """In the folder of a family a name stands for one function."""
    for name, function in _named(entry, sources):
        if function.second is not None:
            message = f"two functions are called '{name.text}': {function.location} and {function.second}"
            problems.add("E081", message, name.location, "rename one of them, or remove it")


def _named(entry: OpEntry, sources: HandWritten) -> Iterator[tuple[Scalar, Kernel]]:
    """The names of functions that an entry has, each with what it finds."""
    composite, dispatch = entry.scalar("composite"), entry.values.get("dispatch")
    if composite is not None and composite.text in (found := sources.composites.get(entry.op.family, {})):
        yield composite, found[composite.text]
    for backend, name in dispatch.items if isinstance(dispatch, Mapping) else ():
        found = sources.kernels.get((backend.text, entry.op.family), {})
        if isinstance(name, Scalar) and name.text in found:
            yield name, found[name.text]


def _where(name: str, known: Iterable[str], place: str) -> str:
    """What a name may have been meant to be, and the file or folder that has such names."""
    close = did_you_mean(name, known)
    return f"{close} otherwise define it in {place}" if close else f"define it in {place}"


def samples_are_named(entry: OpEntry, sources: HandWritten, problems: Problems) -> None:
    """An op with kernels says how it is tested, so that forgetting it is noticed."""
    samples = sources.rules["samples"]
    if entry.op.dispatch and samples.names is not None and entry.yaml.get("samples") is None:
        hint = f"name a generator of {samples.file}, or write 'samples: none' if other tests cover it"
        problems.add("E013", f"{entry.op.name} has no 'samples'", entry.yaml.location, hint)


def shape_is_named(entry: OpEntry, sources: HandWritten, problems: Problems) -> None:
    """An op with a CPU kernel has one without data, too, or says that only the kernel knows what its results are."""
    op, dispatch = entry.op, entry.op.dispatch or {}
    has_results = any(result.type.holds_tensors for result in op.schema.returns)
    is_asked = sources.project.is_library and sources.rules["shape"].names is not None
    needs_rule = "CPU" in dispatch and "Meta" not in dispatch and has_results
    if is_asked and needs_rule and not _is_given(entry, "shape"):
        hint = "add 'shape' and 'promotion' (docs/rules.md), or name a meta kernel: dispatch: {Meta: ...}; "
        hint += "'shape: none' says that only the kernel knows"
        message = f"{op.name} has no 'shape': tensors without data cannot be given to it"
        problems.add("E048", message, entry.yaml.key("dispatch").location, hint)


def _is_given(entry: OpEntry, key: str) -> bool:
    """Whether a key is there, misspelt perhaps."""
    names = [name.text for name, _ in entry.yaml.items]
    misspelt = set(names) - {known.name for known in OP_KEYS}
    return key in names or any(did_you_mean(name, [key]) for name in misspelt)


def shape_has_promotion(entry: OpEntry, sources: HandWritten, problems: Problems) -> None:
    """Most shape rules need to know what the dtype of the result is."""
    shape = entry.scalar("shape")
    is_needed = shape is not None and shape.text in sources.rules["shape"].promoting
    if shape is not None and is_needed and not _is_given(entry, "promotion"):
        message = f"the shape rule '{shape.text}' needs a 'promotion'"
        problems.add("E040", message, shape.location, "add 'promotion': the rule that gives the result's dtype")


def belongs_to_tensor(entry: OpEntry, sources: HandWritten, problems: Problems) -> None:
    """Tensor is mindtorch's: the ops of another package are functions, so that two packages cannot collide."""
    for key in () if sources.project.is_library else LIBRARY_KEYS:
        value = entry.scalar(key)
        if value is not None and value.text != "function":
            reason = "no loops are compiled" if key == "scalar" else "call it as a function"
            hint = f"{reason} of {sources.project.package}: remove '{key}'"
            problems.add("E106", f"'{key}' is for mindtorch's own ops", entry.yaml.key(key).location, hint)


def kernel_signatures(entry: OpEntry, sources: HandWritten, problems: Problems) -> None:
    """A kernel takes the op's arguments, and ``out`` when other variants call it."""
    dispatch = entry.values.get("dispatch")
    for backend, function in dispatch.items if isinstance(dispatch, Mapping) else ():
        kernel = sources.kernels.get((backend.text, entry.op.family), {}).get(_text(function))
        if kernel is not None:
            _check_signature(entry, kernel, _kernel_signatures(entry), problems)


def composite_signatures(entry: OpEntry, sources: HandWritten, problems: Problems) -> None:
    """A composite function takes the op's arguments."""
    composite = sources.composites.get(entry.op.family, {}).get(entry.op.composite or "")
    if composite is not None:
        signatures = [expected_parameters(op.schema, False) for op in entry.ops if op.kind != "out"]
        _check_signature(entry, composite, [*signatures, expected_parameters(entry.op.schema, True)], problems)


def _text(node: object) -> str:
    return node.text if isinstance(node, Scalar) else ""


def _kernel_signatures(entry: OpEntry) -> list[tuple[str, ...]]:
    """What a kernel may look like: with ``out`` if a variant passes it. In-place variants of views write no data."""
    with_out = expected_parameters(entry.op.schema, True)
    is_view = any(result.alias and not result.alias.write for result in entry.op.schema.returns)
    needs_out = not is_view and any(not op.is_copied_out for op in entry.ops[1:])
    return [with_out] if needs_out else [expected_parameters(entry.op.schema, False), with_out]


def _check_signature(entry: OpEntry, kernel: Kernel, allowed: list[tuple[str, ...]], problems: Problems) -> None:
    if kernel.unknown is not None:
        name, hint = kernel.unknown
        problems.add("E036", f"'{kernel.name}' is made by an unknown function '{name}'", kernel.location, hint)
    elif kernel.parameters is None:
        hint = "write it with def, or have it made by a factory whose inner function is called 'kernel'; both may be "
        hint += "imported from a file of the package"
        problems.add("E038", f"the signature of '{kernel.name}' cannot be read", kernel.location, hint)
    elif not any(_fits(kernel, kernel.parameters, expected) for expected in allowed):
        takes, passes = ", ".join(kernel.parameters), ", ".join(allowed[0])
        message = f"the function '{kernel.name}' takes ({takes}) but the op {entry.op.name} passes ({passes})"
        hint = f"write def {kernel.name}({_spelled(allowed[0])})"
        if kernel.made:
            hint = f"the inner 'def kernel' of its factory takes {_counted(allowed[0])}; or {hint}"
        problems.add("E038", message, kernel.location, hint)


def defaults_agree(entry: OpEntry, sources: HandWritten, problems: Problems) -> None:
    """An argument that is left out is the same for the op, its kernels, and the function that users call."""
    for function in _functions(entry.op, sources):
        for argument in entry.op.schema.inputs:
            default = function.defaults.get(argument.python_name)
            if default is not None and differs(argument, default.text):
                message = f"'{argument.python_name}' is {default.text} by default, but {entry.op.name} has '{argument}'"
                hint = f"write the same default here and in {entry.op.location.file}, line {entry.op.location.line}"
                problems.add("E046", message, default.location, hint)


def _functions(op: Op, sources: HandWritten) -> Iterator[Kernel]:
    """What is written by hand of an op: kernels, the composite function, and what a module has in its place."""
    module = sources.functions.get(op.python_module, {})
    found = [sources.composites.get(op.family, {}).get(op.composite or "")]
    found += [sources.kernels.get((backend, op.family), {}).get(name) for backend, name in (op.dispatch or {}).items()]
    found.append(module.get(name_in_module(op.schema.name, op.python_module)))
    yield from (each for each in found if each is not None)


def _spelled(parameters: tuple[str, ...]) -> str:
    """A signature as it is written: ``out`` is optional."""
    return ", ".join("out=None" if name == "out" else name for name in parameters)


def _counted(parameters: tuple[str, ...]) -> str:
    """What a factory's kernel takes, which has names of its own except for ``out``."""
    others = [name for name in parameters if name != "out"]
    count = "1 argument" if len(others) == 1 else f"{len(others)} arguments"
    return count + " and 'out'" * (parameters[-1:] == ("out",))


def _fits(kernel: Kernel, parameters: tuple[str, ...], expected: tuple[str, ...]) -> bool:
    """Names must agree; a factory's kernel has names of its own, except ``out``."""
    if any(parameter.startswith("*") for parameter in parameters):
        return True
    if not kernel.made:
        return parameters == expected
    return len(parameters) == len(expected) and (parameters[-1:] == ("out",)) == (expected[-1:] == ("out",))


SOURCE_RULES: tuple[Callable[[OpEntry, HandWritten, Problems], None], ...] = (
    rules_exist,
    composites_exist,
    meta_kernels_exist,
    functions_are_found_once,
    samples_are_named,
    shape_is_named,
    shape_has_promotion,
    belongs_to_tensor,
    kernel_signatures,
    composite_signatures,
    defaults_agree,
    aclnn_call_fits,
)
