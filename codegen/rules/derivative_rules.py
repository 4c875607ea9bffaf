"""The rules that entries of derivatives.yaml must follow: one small function each."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from ..errors import Problems
from ..model import Derivative, Formula, Location, Reference
from ..read.derivative_entries import DerivativeEntry
from ..read.formula_offsets import character_offset
from ..read.formula_operators import bits_are_of_integers
from ..read.yaml_source import Scalar

# The shape rules of ops whose results have an element for each of the input's.
_ELEMENTWISE = ("broadcast", "broadcast_reversed", "copy", "like", "masked_fill", "same")


_WORDS = "a formula, non_differentiable or not_implemented"


def check(entries: list[DerivativeEntry], problems: Problems) -> None:
    """Report every rule of derivatives.yaml that is broken. What a misspelt key would give is not missing."""
    for entry in entries:
        for rule in RULES if not entry.has_unknown_keys else ():
            rule(entry, problems)
    unique_derivatives(entries, problems)
    unique_nodes(entries, problems)


def _name_location(entry: DerivativeEntry) -> Location:
    name = entry.yaml.text("name")
    return name.location if name else entry.yaml.location


def op_records_a_graph(entry: DerivativeEntry, problems: Problems) -> None:
    """The tangents of composite ops come from what they are made of, and out= ops have no derivative at all."""
    op = entry.derivative.op
    if op.is_composite and op.dispatch is None and entry.derivative.forward:
        message = f"{op.name} is composite: its tangent comes from the ops that it is made of"
        location = entry.derivative.forward[0].location
        problems.add("E058", message, location, "remove the forward formula, or give the op kernels (dispatch)")
    elif op.kind == "out":
        message = f"{op.name} is an out= op: it cannot be differentiated"
        problems.add("E058", message, _name_location(entry), "write the derivative of the functional op")
    elif not any(result.type.holds_tensors for result in op.schema.returns):
        message = f"{op.name} returns no tensor: it has no derivative"
        problems.add("E058", message, _name_location(entry), "remove the entry")


def every_tensor_has_formula(entry: DerivativeEntry, problems: Problems) -> None:
    derivative = entry.derivative
    for argument in derivative.op.schema.tensor_arguments:
        if derivative.backward_of(argument.name) is None and _is_absent(entry, argument.name):
            message = f"no formula for '{argument.name}' of {derivative.op.name}"
            words = "constant" if argument in derivative.op.schema.changed_inputs else _WORDS
            hint = f"add '{argument.name}:' with {words}"
            problems.add("E054", message, _name_location(entry), hint)


def written_arguments_are_constant(entry: DerivativeEntry, problems: Problems) -> None:
    """No history is made for what an op changes besides the tensor that ``name_`` is called on."""
    derivative = entry.derivative
    for argument in derivative.op.schema.changed_inputs:
        formula = derivative.backward_of(argument.name)
        if formula is not None and not formula.is_constant:
            message = f"{derivative.op.name} writes '{argument.name}': it has no gradient"
            hint = "write constant, or have the op return the new value instead of writing it"
            problems.add("E073", message, formula.location, hint)


def saved_results_are_tensors(entry: DerivativeEntry, problems: Problems) -> None:
    """A node keeps tensors; the results of an op that gives a list are many."""
    if not any(result.type.is_list for result in entry.derivative.op.schema.returns):
        return
    for formula in entry.derivative.backward:
        for value in formula.saved:
            if value.kind == "output":
                message = f"'{value.name}' is a list of results, which a node cannot keep"
                problems.add("E066", message, _place(entry, formula, value.name), "compute it from the arguments")


def _is_absent(entry: DerivativeEntry, argument: str) -> bool:
    """Whether no key names the argument; a key that is there but wrong has been reported."""
    return all(argument != word.text for key, _ in entry.yaml.items for word in key.words())


def gradients_are_counted(entry: DerivativeEntry, problems: Problems) -> None:
    """A formula of several arguments that is written as a tuple has one element for each."""
    for formula in entry.derivative.backward:
        count = _tuple_length(formula)
        if count is not None and count != len(formula.targets):
            if len(formula.targets) > 1 or _is_tensor(entry, formula.targets[0]):
                names = ", ".join(formula.targets)
                message = f"{count} gradients for '{names}'"
                problems.add("E067", message, formula.location, "give one for each, in the order of the key")


def _is_tensor(entry: DerivativeEntry, argument: str) -> bool:
    found = entry.derivative.op.schema.argument(argument)
    return found is not None and found.type.is_tensor


def _tuple_length(formula: Formula) -> int | None:
    try:
        tree = ast.parse(formula.source, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    is_plain = isinstance(tree, ast.Tuple) and not any(isinstance(item, ast.Starred) for item in tree.elts)
    return len(tree.elts) if isinstance(tree, ast.Tuple) and is_plain else None


def element_wise_of_one(entry: DerivativeEntry, problems: Problems) -> None:
    """``auto_element_wise`` turns the one backward formula around; ``auto_linear`` needs an input to call the op on."""
    derivative = entry.derivative
    expressions = [formula for formula in derivative.backward if formula.is_expression]
    shape = derivative.op.shape
    for formula in derivative.forward if not _has_wrong_formula(entry) else ():
        if formula.kind == "auto_element_wise" and shape is not None and shape not in _ELEMENTWISE:
            message = f"auto_element_wise is for ops that compute each element by itself: the shape rule is '{shape}'"
            problems.add("E068", message, formula.location, "write the formula out with <argument>_t and <argument>_p")
        elif formula.kind == "auto_element_wise" and [len(backward.targets) for backward in expressions] != [1]:
            message = "auto_element_wise needs exactly one argument with a formula"
            hint = "write the formula out with <argument>_t and <argument>_p, or not_implemented"
            problems.add("E068", message, formula.location, _unwritten(derivative, most=1) or hint)
        elif formula.kind == "auto_element_wise" and len(derivative.forward) > 1:
            message = "auto_element_wise is for ops with one output that has a gradient"
            hint = "write the formula out with <argument>_t and <argument>_p"
            problems.add("E068", message, formula.location, hint)
        elif formula.kind == "auto_linear" and not expressions:
            message = "auto_linear needs an argument with a formula"
            hint = _unwritten(derivative) or "remove it, or write a formula for an argument"
            problems.add("E068", message, formula.location, hint)


def _unwritten(derivative: Derivative, most: int | None = None) -> str:
    """The remedy if the formulas that the rule is derived from are still to be written, and are not too many."""
    places = [(name, each.location.line) for each in derivative.backward if each.is_to_write for name in each.targets]
    if not places or len(places) > (most or len(places)) or any(each.is_expression for each in derivative.backward):
        return ""
    names = " and ".join(f"'{name}' (line {line})" for name, line in places)
    return f"write the formula of {names} first, which is not_implemented: this one is derived from it"


def _has_wrong_formula(entry: DerivativeEntry) -> bool:
    """Whether an argument has something that is no formula, which has been reported."""
    read = {name for formula in entry.derivative.backward for name in formula.targets}
    named = {word.text for key, _ in entry.yaml.items for word in key.words()}
    return any(each.name in named - read for each in entry.derivative.op.schema.tensor_arguments)


def formulas_are_no_constants(entry: DerivativeEntry, problems: Problems) -> None:
    """A gradient is a tensor; none at all is a word."""
    for formula in (*entry.derivative.backward, *entry.derivative.forward):
        if formula.is_expression and not formula.names and _is_constant(formula.source):
            is_backward = formula in entry.derivative.backward
            hint = "write non_differentiable, or zeros_like(grad) for zeros" if is_backward else "leave it out"
            problems.add("E071", f"'{formula.source}' is no tensor", formula.location, hint)


def _is_constant(source: str) -> bool:
    try:
        return isinstance(ast.parse(source, mode="eval").body, ast.Constant)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def forward_of_differentiable_output(entry: DerivativeEntry, problems: Problems) -> None:
    derivative = entry.derivative
    outputs = dict(zip(derivative.op.schema.result_names, derivative.output_differentiability))
    for formula in derivative.forward:
        if not outputs[formula.targets[0]]:
            message = f"the output '{formula.targets[0]}' has no gradient, so it has no forward formula"
            problems.add("E070", message, formula.location, "remove it, or change output_differentiability")


def forward_uses_primals(entry: DerivativeEntry, problems: Problems) -> None:
    """A differentiable argument is ``x_p`` and ``x_t``; one without a gradient is plain ``x``.

    A constant has no gradient, but may have a tangent, unless the op writes it.
    """
    derivative = entry.derivative
    constants = {name for formula in derivative.backward if formula.is_constant for name in formula.targets}
    constants -= {argument.name for argument in derivative.op.schema.changed_inputs}
    kinds = {name: formula.kind for formula in derivative.backward for name in formula.targets}
    for formula in derivative.forward:
        for name, kind in kinds.items():
            if kind == "expression" and name in formula.names:
                message = f"'{name}' has a tangent: a forward formula cannot use it as a whole"
                hint = f"write {name}_p (its value) or {name}_t (its tangent)"
                problems.add("E066", message, _place(entry, formula, name), hint)
            elif kind == "non_differentiable" and name in formula.tangents and name not in constants:
                message = f"'{name}' is {_word(derivative, name)}: it has no tangent '{name}_t'"
                problems.add("E066", message, _place(entry, formula, f"{name}_t"), f"write {name}")


def needed_gradients_exist(entry: DerivativeEntry, problems: Problems) -> None:
    """``needs_input_grad.x`` is asked only of arguments that have an edge."""
    edges = {argument.name for argument in entry.derivative.edges}
    for formula in entry.derivative.backward:
        asked = {name.partition(".")[2] for name in formula.names if name.startswith("needs_input_grad.")}
        for name in sorted(asked - edges):
            message = f"'needs_input_grad.{name}' is never true: '{name}' is {_word(entry.derivative, name)}"
            problems.add("E066", message, _place(entry, formula, f"needs_input_grad.{name}"), "remove it")


def saved_names_are_free(entry: DerivativeEntry, problems: Problems) -> None:
    """A saved tensor is a local variable of ``apply``, beside those that the method has itself."""
    for formula in entry.derivative.backward:
        saved = {value.name for value in formula.saved if value.kind in ("input", "output")}
        for name in sorted(saved & {"edges", "node"}):
            message = f"'{name}' cannot be saved: the generated code uses that name itself"
            problems.add("E066", message, _place(entry, formula, name), "give the argument another name")


def _word(derivative: Derivative, argument: str) -> str:
    """The word that says that an argument has no gradient."""
    formula = derivative.backward_of(argument)
    return formula.source if formula else "non_differentiable"


def _place(entry: DerivativeEntry, formula: Formula, key: str) -> Location:
    """Where a formula first uses a name."""
    assert formula.tree is not None
    places = (node for node in ast.walk(formula.tree) if isinstance(node, Reference) and node.id == key)
    start = min(character_offset(formula.source, node.lineno, node.col_offset) for node in places)
    sources = (value for _, value in entry.yaml.items if isinstance(value, Scalar))
    return next(source.at(start) for source in sources if source.location == formula.location)


def node_is_class_name(entry: DerivativeEntry, problems: Problems) -> None:
    node = entry.yaml.text("node")
    if node is not None and node.text.isidentifier() and not re.fullmatch(r"[A-Z]\w*", node.text):
        problems.add("E059", f"'{node.text}' is no class name", node.location, "it starts with a capital letter")


RULES: tuple[Callable[[DerivativeEntry, Problems], None], ...] = (
    op_records_a_graph,
    every_tensor_has_formula,
    written_arguments_are_constant,
    saved_results_are_tensors,
    gradients_are_counted,
    element_wise_of_one,
    forward_of_differentiable_output,
    forward_uses_primals,
    needed_gradients_exist,
    saved_names_are_free,
    node_is_class_name,
    formulas_are_no_constants,
    bits_are_of_integers,
)


def unique_derivatives(entries: list[DerivativeEntry], problems: Problems) -> None:
    seen: dict[str, Location] = {}
    for entry in entries:
        first = seen.setdefault(entry.derivative.op.name, entry.derivative.location)
        if first is not entry.derivative.location:
            hint = f"it is already listed on line {first.line}"
            message = f"a second derivative of {entry.derivative.op.name}"
            problems.add("E052", message, _name_location(entry), hint)


def unique_nodes(entries: list[DerivativeEntry], problems: Problems) -> None:
    owners: dict[str, str] = {}
    for entry in entries:
        derivative = entry.derivative
        owner = owners.setdefault(derivative.node, derivative.op.name)
        if derivative.node and owner != derivative.op.name:
            node = entry.yaml.text("node")
            location = node.location if node else _name_location(entry)
            message = f"the node '{derivative.node}' already belongs to {owner}"
            problems.add("E059", message, location, "name another class with 'node'")
