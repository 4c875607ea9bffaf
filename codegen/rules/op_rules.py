"""The rules that entries of ops.yaml must follow: one small function each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from ..errors import Problems, did_you_mean
from ..keys import INPLACE_OPERATORS
from ..model import Alias, Argument, FunctionSchema, Location, Op
from ..read.op_entries import OpEntry
from ..read.yaml_source import Mapping, Scalar
from ..sources.hand_written import HandWritten
from . import history_rules
from .fit_rules import check_words
from .source_rules import check_sources

DENSE_BACKENDS = frozenset(("CPU", "NPU"))


def check(entries: list[OpEntry], hand_written: HandWritten, problems: Problems) -> None:
    """Report every rule of ops.yaml that is broken."""
    for entry in entries:
        for entry_rule in ENTRY_RULES if entry.ops else ():
            entry_rule(entry, problems)
        for op in entry.ops:
            for schema_rule in SCHEMA_RULES:
                schema_rule(op.schema, problems)
        if entry.ops:
            check_sources(entry, hand_written, problems)
            check_words(entry, hand_written, problems)
    unique_ops(entries, problems)
    unique_operators(entries, problems)
    one_family_per_name(entries, problems)
    history_rules.check(entries, hand_written, problems)


# -------------------- schemas --------------------


def returned_aliases(schema: FunctionSchema, problems: Problems) -> None:
    """What a result aliases is an argument, annotated in the same way."""
    given = {_key(argument.alias) for argument in schema.arguments if argument.alias}
    for result in schema.returns:
        if result.alias and _key(result.alias) not in given and "*" not in result.alias.before:
            message = f"{schema.full_name} returns an alias '{result.alias}' that no argument has"
            problems.add("E024", message, schema.location, "annotate the argument in the same way")


def argument_aliases(schema: FunctionSchema, problems: Problems) -> None:
    """An alias that is only read must be returned; one that is written belongs to one argument."""
    returned = {name for result in schema.returns if result.alias for name in result.alias.before}
    writers = Counter(argument.alias.before for argument in schema.arguments if argument.alias and argument.alias.write)
    for argument in schema.arguments:
        alias = argument.alias
        if alias is None:
            continue
        if not argument.type.holds_tensors:
            problems.add("E024", f"'{argument.name}' is no tensor and cannot be an alias", argument.location)
        elif not alias.write and not returned.intersection(alias.before):
            hint = "remove the annotation, or add it to a result"
            problems.add("E024", f"the alias '{alias}' of '{argument.name}' is not returned", argument.location, hint)
        elif alias.write and writers[alias.before] > 1:
            message = f"two arguments are written under the alias '{alias}'"
            problems.add("E024", message, argument.location, "give each its own letter")


def _key(alias: Alias) -> tuple[tuple[str, ...], bool]:
    return alias.before, alias.write


def inplace_writes_self(schema: FunctionSchema, problems: Problems) -> None:
    """``name_`` writes to ``self`` and returns it, or returns nothing when it writes to a list."""
    if not schema.inplace:
        return
    target = schema.self_argument
    if target is None or not target.is_written:
        message = f"{schema.full_name} is in-place but writes to no argument 'self'"
        problems.add("E025", message, schema.location, "write 'Tensor(a!) self'")
        return
    returns = [(result.type, result.alias) for result in schema.returns]
    expected = [] if target.type.is_list else [(target.type, target.alias)]
    if returns != expected:
        hint = "-> ()" if target.type.is_list else f"-> {target.type.spelled(target.alias)}"
        problems.add("E025", f"{schema.full_name} does not return 'self'", schema.location, f"end it with '{hint}'")


def out_order(schema: FunctionSchema, problems: Problems) -> None:
    """The ``out`` arguments come last, and are the results in the same order."""
    outs = schema.out_arguments
    if not outs:
        return
    if schema.arguments[-len(outs) :] != outs:
        stray = next(argument for argument in reversed(schema.arguments) if argument not in outs)
        message = f"'{stray.name}' follows an output of {schema.full_name}"
        problems.add("E026", message, stray.location, "the out arguments come last")
    expected = [(out.type, out.alias) for out in outs]
    returns = [(result.type, result.alias) for result in schema.returns]
    if returns and returns != expected or not returns and not outs[0].type.is_list:
        words = ", ".join(out.type.spelled(out.alias) for out in outs)
        hint = f"end it with '-> {words if len(outs) == 1 else f'({words})'}'"
        if not any(result.alias for result in schema.returns):
            hint += "; if it writes them besides giving results, write them in front of the '*'"
        problems.add("E026", f"{schema.full_name} does not return its out arguments in order", schema.location, hint)


def outputs_differ(schema: FunctionSchema, problems: Problems) -> None:
    """Each output is a field of the result, and a key of derivatives.yaml."""
    names = [result.name for result in schema.returns if result.name]
    for name in sorted({each for each in names if names.count(each) > 1}):
        message = f"{schema.full_name} has two outputs that are called '{name}'"
        problems.add("E023", message, schema.location, "rename one of the two")


def out_is_free(schema: FunctionSchema, problems: Problems) -> None:
    """An input cannot be called like an output: both are keywords of one call."""
    outs = [each.name for each in schema.out_arguments]
    for argument in schema.inputs:
        if argument.name in outs:
            message = f"'{argument.name}' is what an output of {schema.full_name} is called"
            problems.add("E028", message, argument.location, "give the input another name, or remove the out= variant")


SCHEMA_RULES: tuple[Callable[[FunctionSchema, Problems], None], ...] = (
    returned_aliases,
    argument_aliases,
    inplace_writes_self,
    out_order,
    outputs_differ,
    out_is_free,
)


# -------------------- entries --------------------


def results_are_returned(entry: OpEntry, problems: Problems) -> None:
    """The functional op is the entry, and what writes its results to ``out`` is a variant of it."""
    schema = entry.op.schema
    outs = schema.out_arguments
    is_right = schema.arguments[-len(outs) :] == outs and [(each.type, each.alias) for each in outs] == [
        (result.type, result.alias) for result in schema.returns
    ]
    if entry.op.kind == "out" and is_right:  # otherwise `out_order` has said what is wrong with the schema itself
        message = f"{entry.op.name} writes its results to arguments, and no schema of the entry returns them"
        hint = "'func' is the schema without out arguments; this one goes under 'out', if 'autogen: out' gives another"
        problems.add("E027", message, entry.op.schema.location, hint)


def explicit_variants(entry: OpEntry, problems: Problems) -> None:
    """A schema under ``inplace`` or ``out`` is of that kind and has the functional op's name and inputs."""
    for key in ("inplace", "out"):
        source = entry.scalar(key)
        given = (op for op in entry.ops[1:] if source is not None and op.schema.location == source.at(0))
        for variant in given:
            _check_base(entry.op, variant, problems)
            _check_kind(variant, key, problems)
            _check_inputs(entry.op, variant, problems)


def _check_base(op: Op, variant: Op, problems: Problems) -> None:
    if variant.schema.base != op.schema.base:
        message = f"'{variant.schema.base}' is another op than '{op.schema.base}'"
        problems.add("E027", message, variant.schema.location, "list it as an entry of its own")


def _check_kind(variant: Op, key: str, problems: Problems) -> None:
    if variant.kind != key:
        message = f"the schema under '{key}' is not that of an {key} variant but {variant.kind}"
        hint = "it needs a name that ends in '_'" if key == "inplace" else "it needs '*, Tensor(a!) out'"
        problems.add("E027", message, variant.schema.location, hint)


def _check_inputs(op: Op, variant: Op, problems: Problems) -> None:
    """The order may differ (polygamma_); names may not, for the variant passes its inputs on by name."""
    own = [argument for argument in op.schema.inputs if not _is_option(op, argument.name)]
    types, given = Counter(each.type for each in own), Counter(each.type for each in variant.schema.inputs)
    if types != given:
        message = f"{variant.name} does not take the same inputs as {op.name}"
        problems.add("E027", message, variant.schema.location, f"the functional schema is {op.schema}")
        return
    names = [argument.python_name for argument in own]
    for argument in variant.schema.inputs:
        if argument.python_name not in names:
            message = f"{variant.name} has an argument '{argument.name}' that {op.name} does not have"
            hint = f"use the names of the functional schema, {op.schema}"
            problems.add("E027", message, argument.location, hint)


def _is_option(op: Op, name: str) -> bool:
    options = ("dtype", "layout", "device", "pin_memory")
    return name in options and all(op.schema.argument(option) for option in options)


def variant_once(entry: OpEntry, problems: Problems) -> None:
    autogen = entry.scalar("autogen")
    for word in autogen.words() if autogen else ():
        if word.text in entry.values:
            message = f"'{word.text}' is both derived and given"
            problems.add("E037", message, word.location, f"remove it from autogen, or remove the key '{word.text}'")


def one_out_variant(entry: OpEntry, problems: Problems) -> None:
    """An ``out=`` variant writes where it is told to, or copies what the op returns."""
    autogen = entry.scalar("autogen")
    words = list(autogen.words()) if autogen else []
    copied = next((word for word in words if word.text == "copied_out"), None)
    if copied is not None and any(word.text == "out" for word in words):
        message = f"{entry.op.name} has two out= variants: 'out' and 'copied_out'"
        problems.add("E037", message, copied.location, "remove 'copied_out': the kernel writes to out")


def one_implementation(entry: OpEntry, problems: Problems) -> None:
    """An op has kernels, or is composite: made of other ops."""
    op = entry.op
    others = [key for key in ("composite", "decomposition") if key in entry.values]
    if op.dispatch is not None and others:
        location = entry.yaml.key(others[0]).location
        hint = "an op made of other ops has no kernels: keep one of the two"
        problems.add("E031", f"{op.name} has both 'dispatch' and '{others[0]}'", location, hint)
    elif all(entry.yaml.get(key) is None for key in ("dispatch", "composite", "decomposition")):
        hint = "name its kernels (dispatch), or write it in other ops: as an expression (decomposition) or a function "
        message = f"{op.name} has no 'dispatch', 'composite' or 'decomposition'"
        problems.add("E031", message, entry.yaml.location, hint + "(composite)")


def composite_has_no_kernel_keys(entry: OpEntry, problems: Problems) -> None:
    for key in ("view", "shares_memory", "shape", "batch", "promotion", "aclnn", "writes", "other_devices"):
        if entry.op.is_composite and entry.op.dispatch is None and key in entry.values:
            message = f"'{key}' is about a kernel, and {entry.op.name} is composite"
            problems.add("E040", message, entry.yaml.key(key).location, f"remove '{key}'")


def hidden_writes_are_hidden(entry: OpEntry, problems: Problems) -> None:
    """``writes`` names what only the kernel knows of: a schema that says what is written is enough."""
    writes = entry.scalar("writes")
    for word in writes.words() if writes else ():
        argument = entry.op.schema.argument(word.text)
        if argument is None or not argument.type.holds_tensors or entry.op.dispatch is None:
            names = [tensor.name for tensor in entry.op.schema.tensor_arguments]
            hint = did_you_mean(word.text, names) or f"tensor arguments: {', '.join(names)}"
            message = f"'{word.text}' is nothing that a kernel of {entry.op.name} can change"
            problems.add("E049", message, word.location, hint)
        elif argument.is_written:
            message = f"the schema of {entry.op.name} says that '{word.text}' is written"
            problems.add("E049", message, word.location, f"remove '{word.text}'")


def other_devices_have_tensors(entry: OpEntry, problems: Problems) -> None:
    """``other_devices`` names some of several tensors: with one there is no other device."""
    named = entry.scalar("other_devices")
    tensors = [tensor.name for tensor in entry.op.schema.tensor_arguments]
    for word in named.words() if named and entry.op.dispatch else ():
        if word.text not in tensors:
            hint = did_you_mean(word.text, tensors) or f"tensor arguments: {', '.join(tensors)}"
            problems.add("E049", f"'{word.text}' is no tensor of {entry.op.name}", word.location, hint)
        elif len(tensors) < 2:
            message = f"'{word.text}' is the only tensor of {entry.op.name}"
            problems.add("E049", message, word.location, "remove 'other_devices'")


def view_has_alias(entry: OpEntry, problems: Problems) -> None:
    """A view op says in its schema that the result aliases the input: a list of views when there are several."""
    view = entry.scalar("view")
    if view is None:
        return
    results = [result for result in entry.op.schema.returns if result.alias and not result.alias.write]
    if not results:
        hint = "write 'Tensor(a) self' and '-> Tensor(a)'"
        problems.add("E032", f"{entry.op.name} is a view but returns no alias", view.location, hint)
    elif (view.text == "multi") != results[0].type.is_list:
        hint = "multi: a list of views; single and detach: one view"
        problems.add("E032", f"{entry.op.name} returns {results[0].type}: not '{view.text}'", view.location, hint)


def alias_is_view(entry: OpEntry, problems: Problems) -> None:
    """An op with dense kernels that returns an alias is a view op. The parts of a sparse tensor are no views of it."""
    op = entry.op
    aliases = any(result.alias and not result.alias.write for result in op.schema.returns)
    dense = DENSE_BACKENDS.intersection(op.dispatch or ())
    if aliases and dense and op.view is None and "view" not in (name.text for name, _ in entry.yaml.items):
        hint = "add 'view: single' (or multi, detach)"
        problems.add("E033", f"{op.name} returns an alias but has no 'view'", op.schema.location, hint)


def numbers_are_tensors(entry: OpEntry, problems: Problems) -> None:
    numbers = entry.scalar("numbers")
    for word in numbers.words() if numbers else ():
        argument = entry.op.schema.argument(word.text)
        if argument is None or not argument.type.is_tensor:
            names = [tensor.name for tensor in entry.op.schema.tensor_arguments]
            hint = did_you_mean(word.text, names) or f"tensor arguments: {', '.join(names)}"
            problems.add("E034", f"'{word.text}' is no tensor argument of {entry.op.name}", word.location, hint)


def aclnn_is_of_npu(entry: OpEntry, problems: Problems) -> None:
    if "aclnn" in entry.values and entry.op.dispatch is not None and "NPU" not in entry.op.dispatch:
        location = entry.yaml.key("aclnn").location
        hint = "add the kernel to dispatch, NPU: ..., or remove 'aclnn'"
        problems.add("E040", f"'aclnn' is the call behind an NPU kernel, and {entry.op.name} has none", location, hint)


def views_call_nothing(entry: OpEntry, problems: Problems) -> None:
    if "aclnn" in entry.values and "view" in entry.values and entry.op.dispatch is not None:
        message = f"{entry.op.name} is a view, which computes nothing"
        problems.add("E040", message, entry.yaml.key("aclnn").location, "remove 'aclnn': its kernel makes no call")


def python_names_are_of_arguments(entry: OpEntry, problems: Problems) -> None:
    """What has another name in Python is an argument, and no other argument has that name."""
    python_names = entry.yaml.get("python_names")
    names = [argument.name for argument in entry.op.schema.arguments]
    for name, meant in python_names.items if isinstance(python_names, Mapping) else ():
        if name.text not in names:
            hint = did_you_mean(name.text, names) or f"arguments: {', '.join(names)}"
            problems.add("E042", f"'{name.text}' is no argument of {entry.op.name}", name.location, hint)
        elif isinstance(meant, Scalar) and meant.text in names:
            message = f"{entry.op.name} has another argument '{meant.text}'"
            problems.add("E042", message, meant.location, "names of arguments differ")


def inplace_operators_have_variant(entry: OpEntry, problems: Problems) -> None:
    """``__iadd__`` calls the in-place variant, so there must be one."""
    operators = entry.scalar("operators")
    if any(op.schema.inplace for op in entry.ops):
        return
    for word in operators.words() if operators else ():
        if word.text in INPLACE_OPERATORS:
            message = f"'{word.text}' needs an in-place variant, and {entry.op.name} has none"
            problems.add("E035", message, word.location, "add 'autogen: inplace'")


def methods_have_self(entry: OpEntry, problems: Problems) -> None:
    target = entry.op.schema.self_argument
    if entry.op.is_method and (target is None or not target.type.holds_tensors):
        location = entry.values["variants"].location
        hint = "a method is called on the tensor argument 'self'"
        problems.add("E039", f"{entry.op.name} cannot be a method: it has no tensor 'self'", location, hint)


def factories_have_dtype(entry: OpEntry, problems: Problems) -> None:
    if entry.op.factory and entry.op.schema.argument("dtype") is None:
        location = entry.yaml.key("factory").location
        problems.add("E040", f"{entry.op.name} is no factory: it has no 'dtype' argument", location, "remove 'factory'")


def arguments_leave_names_free(entry: OpEntry, problems: Problems) -> None:
    """An argument is a variable of the generated function, which has others, too."""
    for argument in entry.op.schema.inputs:
        for name in sorted({argument.name, argument.python_name} & _VARIABLES):
            message = f"'{name}' is a name that the generated code needs"
            problems.add("E028", message, argument.location, f"give the argument of {entry.op.name} another name")


# What functions and nodes look at, or assign to, on the way from the arguments to the result.
_VARIABLES = frozenset(
    "state thread call intercepts node nodes kind edge edges array arrays operand composite return_types grads ops"
    " own_ops".split()
)


def kernels_give_tensors(entry: OpEntry, problems: Problems) -> None:
    """What a kernel gives becomes a tensor, a list of them, or a tensor for each of several results."""
    op = entry.op
    types = [result.type for result in op.schema.returns]
    if op.dispatch is None or op.view is not None or op.schema.inplace:
        return
    for kind in types:
        if len(types) > 1 and not kind.is_tensor:
            message = f"the kernels of {op.name} cannot return {kind} among other results"
            hint = "return tensors, or make the op composite: a function that calls other ops"
            problems.add("E049", message, op.schema.location, hint)
            return


def written_arguments_fit(entry: OpEntry, problems: Problems) -> None:
    """Generated code sees to what kernels write: versions are raised, and tensors that require grad refused."""
    for op in entry.ops:
        schema, target = op.schema, op.schema.self_argument
        if op.is_composite or schema.inplace and (target is None or schema.returns and target.type.is_list):
            continue  # the latter has been reported
        if schema.inplace and target is not None and target.type.is_list:
            message = f"{op.name} writes a list that it is called on: kernels write one tensor"
            problems.add("E049", message, schema.location, "make the op composite, or name it without the underscore")
        for argument in schema.changed_inputs:
            _check_written(entry, op, argument, problems)


def _check_written(entry: OpEntry, op: Op, argument: Argument, problems: Problems) -> None:
    name = argument.name
    if name in op.numbers:
        message = f"{op.name} writes '{name}', so that it cannot be a number"
        problems.add("E049", message, entry.values["numbers"].location, f"remove '{name}'")
    for key, trouble in _TROUBLE.items():
        if key in entry.values:
            message = f"{op.name} writes '{name}', {trouble}"
            problems.add("E049", message, entry.yaml.key(key).location, f"remove '{key}'")
    if "?" in str(argument.type) and argument.type.is_list:
        message = f"{op.name} writes '{name}', a list that may have gaps or not be there"
        problems.add("E049", message, argument.location, "write Tensor[], and () for none")
    aliases = [result.alias for result in op.schema.returns]
    if argument.alias in aliases:
        message = f"{op.name} returns '{name}', which it writes"
        hint = "callers have it already: leave it out of the results"
        problems.add("E049", message, op.schema.location, hint)


# What the values of keys are about, where an argument is written besides `self`.
_TROUBLE = {
    "autocast": "and would write to a copy in another dtype",
    "autocast_npu": "and would write to a copy in another dtype",
    "batch": "which the samples of vmap would share",
    "view": "and a view is taken again from its base without being written",
}

ENTRY_RULES: tuple[Callable[[OpEntry, Problems], None], ...] = (
    results_are_returned,
    explicit_variants,
    variant_once,
    one_out_variant,
    one_implementation,
    arguments_leave_names_free,
    kernels_give_tensors,
    written_arguments_fit,
    composite_has_no_kernel_keys,
    view_has_alias,
    alias_is_view,
    numbers_are_tensors,
    hidden_writes_are_hidden,
    other_devices_have_tensors,
    aclnn_is_of_npu,
    views_call_nothing,
    python_names_are_of_arguments,
    inplace_operators_have_variant,
    methods_have_self,
    factories_have_dtype,
)


# -------------------- all entries --------------------


def unique_ops(entries: Iterable[OpEntry], problems: Problems) -> None:
    """An op that is listed twice is reported once, without the variants that are doubled with it."""
    seen: dict[str, Location] = {}
    for entry in entries:
        doubled = [op for op in entry.ops if seen.setdefault(op.name, op.schema.location) is not op.schema.location]
        for op in doubled[:1] if entry.ops[:1] == tuple(doubled[:1]) else doubled:
            hint = f"it is already listed on line {seen[op.name].line}"
            problems.add("E030", f"a second op '{op.name}'", op.schema.location, hint)


def unique_operators(entries: Iterable[OpEntry], problems: Problems) -> None:
    owners: dict[str, str] = {}
    for entry in entries:
        operators = entry.scalar("operators")
        for word in operators.words() if operators and entry.ops else ():
            owner = owners.setdefault(word.text, entry.op.name)
            if owner != entry.op.name:
                message = f"'{word.text}' is already bound to {owner}"
                problems.add("E035", message, word.location, "a Python operator calls one op")


def one_family_per_name(entries: Iterable[OpEntry], problems: Problems) -> None:
    """A call chooses among the overloads of a name, so they are in one file."""
    homes: dict[str, Op] = {}
    for entry in entries:
        family = entry.scalar("family")
        if entry.ops and family is not None:
            home = homes.setdefault(entry.op.schema.base, entry.op)
            if home.family != family.text:
                message = f"{entry.op.name} is in another family than {home.name}"
                problems.add("E041", message, family.location, f"overloads stay together: write {home.family}")
