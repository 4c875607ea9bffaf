"""Derivative formulas and decompositions through Python's ast: which names they use, and what must be saved for them.

A formula is never run here, and never searched as text. What a name means is decided in this order: a name that is
called is a function (helper, builtin, op); any other name is a variable of a comprehension, an output gradient, an
argument, an output, a constant, a builtin, or an op passed as a value. A decomposition is a formula that knows only
the op's arguments, and no comprehensions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, cast, get_args

from ..errors import Problems, did_you_mean
from ..model import CONSTANT, REFUSED, Argument, Formula, FormulaKind, Location, Reference, SavedValue, Type
from ..sources.call_forms import CallForms, is_surely_method, mistakes
from .formula_offsets import character_offset, syntax_offset
from .formula_values import OUTSIDE_AUTOGRAD, Kind, Values
from .metadata import METADATA_ATTRIBUTES, metadata_key, owner_of, value_attributes, whole_names
from .scope import BUILTINS, Scope, other_name
from .yaml_source import Scalar

Role = Literal["backward", "forward", "when", "decomposition"]

KEYWORDS: dict[Role, frozenset[str]] = {
    "backward": frozenset(("non_differentiable", CONSTANT, "not_implemented", REFUSED)),
    "forward": frozenset(("auto_linear", "auto_element_wise", "not_implemented", REFUSED)),
    "when": frozenset(),
    "decomposition": frozenset(),
}
_NOUNS: dict[Role, str] = {
    "backward": "backward formula",
    "forward": "forward formula",
    "when": "when formula",
    "decomposition": "decomposition",
}
_RESULT_HINTS: dict[Kind, str] = {
    "a function": "call it, with its arguments in brackets",
    "a comparison": "write where(condition, grad, 0), or multiply by the comparison: grad * (self > 0)",
    "True or False": "write where(condition, grad, 0), or multiply by a mask: grad * (self > 0)",
    "None": "write non_differentiable",
    "a number": "write zeros_like(grad) + number, or non_differentiable if there is no gradient",
}
_ALL_KEYWORDS = frozenset(get_args(FormulaKind)) - {"expression"} | {REFUSED, CONSTANT}
_OF_OPS = ("torch", "mindtorch")
_MODULES = frozenset((*_OF_OPS, "math", "np", "numpy", "scipy", "cmath"))
_NAME_HINT = "here are {names}; besides there are ops, Python builtins and helpers: define one in {place}"
_DECOMPOSITION_NAME_HINT = (
    "here are {names}; besides there are ops, Python builtins, dtypes, layouts, memory formats and helpers: define one "
    "in {place}"
)
_HELPER_PLACE_HINT = "write a helper in {}"
_SYNTAX_HINT = "check operators, commas and brackets; a formula with ': ' or ' #' in it needs quotes"
_UNSUPPORTED: dict[type[ast.AST], str] = {
    ast.NamedExpr: "an assignment (:=)",
    ast.JoinedStr: "a formatted string",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    ast.Await: "await",
}
_UNSUPPORTED_IN_DECOMPOSITIONS: dict[type[ast.AST], str] = _UNSUPPORTED | {
    ast.Lambda: "a lambda",
    **dict.fromkeys((ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp), "a comprehension"),
}


def read_formula(source: Scalar, targets: tuple[str, ...], role: Role, scope: Scope, problems: Problems) -> Formula:
    """The formula of ``source``. What is wrong with it goes to ``problems``; the result is then only half filled."""
    if source.text in _ALL_KEYWORDS:
        return _keyword_formula(source, targets, role, problems)
    try:
        tree = ast.parse(source.text, mode="eval").body
        return _Analysis(source, role, scope, problems).formula(tree, targets)
    except SyntaxError as error:
        offset, is_number = syntax_offset(source.text, error), "digits" in (error.msg or "")
        message = f"the {_word(role)} is not a Python expression: {error.msg}"
        hint = "write a smaller number, or a float such as 1e20" if is_number else _SYNTAX_HINT
        problems.add("E060", message, source.at(offset), hint)
    except (ValueError, RecursionError, MemoryError):
        hint = _HELPER_PLACE_HINT.format(scope.helper_place)
        problems.add("E060", f"the {_word(role)} is too deeply nested", source.location, hint)
    return Formula("expression", source.text, source.location, targets)


def _word(role: Role) -> str:
    """What the whole is called in messages."""
    return "decomposition" if role == "decomposition" else "formula"


def _keyword_formula(source: Scalar, targets: tuple[str, ...], role: Role, problems: Problems) -> Formula:
    if source.text not in KEYWORDS[role]:
        allowed = ", ".join(sorted(KEYWORDS[role]))
        hint = f"a {_NOUNS[role]} is an expression" + (f" or one of: {allowed}" if allowed else "")
        problems.add("E065", f"'{source.text}' is no {_NOUNS[role]}", source.location, hint)
    kinds: dict[str, FormulaKind] = {kind: kind for kind in get_args(FormulaKind)}
    kinds |= {REFUSED: "not_implemented", CONSTANT: "non_differentiable"}
    return Formula(kinds[source.text], source.text, source.location, targets)


@dataclass
class _Found:
    """What an analysis has met, in the order in which it met it."""

    names: set[str] = field(default_factory=set)
    saved: dict[SavedValue, None] = field(default_factory=dict)
    grads: set[int] = field(default_factory=set)
    primals: dict[str, None] = field(default_factory=dict)
    tangents: dict[str, None] = field(default_factory=dict)
    helpers: dict[str, None] = field(default_factory=dict)
    ops: dict[str, None] = field(default_factory=dict)
    constants: dict[str, None] = field(default_factory=dict)
    references: dict[int, str] = field(default_factory=dict)
    gradient_styles: set[str] = field(default_factory=set)


class _Analysis(ast.NodeVisitor):
    """Walks one formula."""

    def __init__(self, source: Scalar, role: Role, scope: Scope, problems: Problems) -> None:
        self._source = source
        self._role = role
        self._scope = scope
        self._problems = problems
        self._found = _Found()
        self._bound: list[set[str]] = []
        self._arguments = {argument.name: argument for argument in scope.schema.inputs}
        self._whole_tensors: frozenset[str] = frozenset()
        self._unsupported = _UNSUPPORTED_IN_DECOMPOSITIONS if role == "decomposition" else _UNSUPPORTED
        self._unknown_names: set[str] = set()
        self._called: set[int] = set()

    def formula(self, tree: ast.expr, targets: tuple[str, ...]) -> Formula:
        if self._role != "decomposition":  # which asks the tensor when it runs
            self._whole_tensors = frozenset(whole_names(tree, self._metadata_key))
        before = len(self._problems)
        self.visit(tree)
        if len(self._problems) == before:  # what is wrong with a name makes other things seem wrong
            self._check_values(tree, targets)
        found = self._found
        if {"grad", "grads"} <= found.gradient_styles:
            hint = "write grads[0] instead of grad"
            self._problems.add("E064", "the formula mixes 'grad' and 'grads'", self._source.location, hint)
        return Formula(
            "expression",
            self._source.text.rstrip(),
            self._source.location,
            targets,
            frozenset(found.names),
            tuple(found.saved),
            tuple(sorted(found.grads)),
            tuple(found.primals),
            tuple(found.tangents),
            tuple(found.helpers),
            tuple(found.ops),
            tuple(found.constants),
            cast(ast.expr, _Resolver(found.references).visit(tree)),
        )

    # what the parts are

    def _check_values(self, tree: ast.expr, targets: tuple[str, ...]) -> None:
        """What is Python, and cannot be computed or is no gradient."""
        arguments = {each.arg for node in ast.walk(tree) if isinstance(node, ast.Lambda) for each in node.args.args}
        stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        values, before = Values(self._scope, self._meaning, frozenset(arguments | stored)), len(self._problems)
        for code, message, node, hint in values.mistakes(tree):
            self._problem(code, message, node, hint)
        self._check_end(tree)
        if len(self._problems) == before:
            self._check_result(values.kind(tree), tree, targets)

    def _check_end(self, tree: ast.expr) -> None:
        rest = self._source.text[self._end(tree) :]
        if "#" in rest:
            place = self._source.at(len(self._source.text) - len(rest) + rest.index("#"))
            hint = "write it behind the quotes, or on a line of its own"
            self._problems.add("E079", f"a comment inside of the {_word(self._role)}", place, hint)

    def _check_result(self, kind: Kind, tree: ast.expr, targets: tuple[str, ...]) -> None:
        """A gradient is a tensor, and those of several arguments, or of a list, are a list of them."""
        types = [each.type for each in (self._scope.schema.argument(name) for name in targets) if each is not None]
        if self._role != "backward" or not types or isinstance(tree, ast.Constant):
            return
        is_one = len(types) == 1 and types[0].is_tensor
        if is_one and isinstance(tree, ast.Tuple) and len(tree.elts) == 1:
            self._problem("E067", f"a tuple of one gradient for '{targets[0]}'", tree, "remove the comma at the end")
        elif kind not in ("unknown", "a tensor" if is_one else "a list") and not isinstance(tree, ast.Tuple):
            names, wanted = ", ".join(targets), "a tensor" if is_one else "a list of tensors"
            message = f"the gradient of '{names}' is {wanted}, and this is {kind}"
            self._problem("E075", message, tree, _RESULT_HINTS.get(kind, f"write an expression that gives {wanted}"))

    def _meaning(self, name: str) -> Type | Kind | None:
        """The type of an argument or output, or what a gradient is."""
        scope = self._scope
        if self._is_gradient(name):
            return "a list" if name == "grads" else "a tensor"
        if name in self._arguments:
            return self._arguments[name].type
        if self._dual_part(name) is not None:
            argument = self._dual_part(name)
            return argument.type if argument else None
        if name in scope.outputs:
            results = dict(zip(scope.schema.result_names, scope.schema.returns))
            return results[scope.outputs[name]].type
        return None

    # positions

    def _start(self, node: ast.expr | ast.keyword) -> int:
        return character_offset(self._source.text, node.lineno, node.col_offset)

    def _end(self, node: ast.expr) -> int:
        line, column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return character_offset(self._source.text, line, column)

    def _problem(self, code: str, message: str, node: ast.expr, hint: str = "") -> None:
        self._problems.add(code, message, self._source.at(self._start(node)), hint)

    def _record(self, key: str, node: ast.expr) -> None:
        self._found.names.add(key)
        self._found.references[id(node)] = key

    # visiting

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.expr) and type(node) in self._unsupported:
            message = f"a {_word(self._role)} cannot use {self._unsupported[type(node)]}"
            self._problem("E069", message, node, _HELPER_PLACE_HINT.format(self._scope.helper_place))
        else:
            super().visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if not self._is_bound(node.id):
            self._variable(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        key = self._metadata_key(node)
        if _is_name(node.value, "needs_input_grad"):
            self._needs_input_grad(node)
        elif self._module_of(node) is not None:
            self._of_module(node)
        elif key is None:
            self._attribute(node)
            self.generic_visit(node)
        else:
            self._metadata(key, node)

    def visit_Call(self, node: ast.Call) -> None:
        key = self._metadata_key(node)
        if key is not None:
            self._metadata(key, node)
            for argument in node.args:
                self.visit(argument)
        elif self._module_of(node.func) is not None:
            self._of_module(node.func)
            for child in (*node.args, *node.keywords):
                self.visit(child)
        elif isinstance(node.func, ast.Name) and not self._is_bound(node.func.id):
            self._call(node.func, node)
            for child in (*node.args, *node.keywords):
                self.visit(child)
        else:
            self._called.add(id(node.func))
            self.generic_visit(node)
            if isinstance(node.func, ast.Attribute):
                self._method_call(node.func, node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if _is_name(node.value, "grads") and not self._is_bound("grads"):
            self._indexed_gradient(node)
        else:
            self.generic_visit(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        with self._binding(argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)):
            self.generic_visit(node)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        targets = (name for generator in node.generators for name in ast.walk(generator.target))
        with self._binding(name.id for name in targets if isinstance(name, ast.Name)):
            self.generic_visit(node)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    @contextmanager
    def _binding(self, names: Iterable[str]) -> Iterator[None]:
        self._bound.append(set(names))
        yield
        self._bound.pop()

    def _is_bound(self, name: str) -> bool:
        return any(name in names for names in self._bound)

    # what a name means

    def _variable(self, node: ast.Name) -> None:
        name, scope = node.id, self._scope
        if self._is_gradient(name):
            self._gradient(node)
        elif name in self._arguments:
            self._argument(self._arguments[name], node)
        elif self._dual_part(name) is not None:
            self._dual(node)
        elif name in scope.outputs:
            self._output(node)
        elif name in scope.constants:
            self._constant(node)
        elif name in scope.helpers or name in BUILTINS or name in scope.ops:
            self._function(node)
        else:
            self._unknown(node)

    def _is_gradient(self, name: str) -> bool:
        """Whether it is a gradient of the results; a decomposition may call its arguments as it likes."""
        is_free = self._role != "decomposition" or name not in self._arguments
        return is_free and (name in self._scope.gradients or name == "grads")

    def _gradient(self, node: ast.Name) -> None:
        if node.id in self._arguments:
            hint = "write grads[i] for the gradient; rename the argument to use it, too"
            self._problem("E066", f"'{node.id}' is an argument, and a gradient of the results", node, hint)
        elif self._role != "backward":
            self._problem("E066", f"'{node.id}' has no meaning in a {_NOUNS[self._role]}", node, self._role_hint())
        else:
            is_all = node.id == "grads"
            self._found.gradient_styles.add("grads" if is_all else "grad")
            indices = range(len(self._scope.differentiable)) if is_all else (self._scope.gradients[node.id],)
            self._found.grads.update(indices)
            self._record("grads" if is_all else f"grads[{indices[0]}]", node)

    def _indexed_gradient(self, node: ast.Subscript) -> None:
        """``grads[1]``. With an index that is no constant, and for a list of outputs, all of ``grads`` is used."""
        index = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if self._scope.returns_list or not isinstance(index, int) or self._role != "backward":
            self.generic_visit(node)
            return
        self._found.gradient_styles.add("grads")
        count = len(self._scope.differentiable)
        if index >= count:
            hint = "grads counts the outputs that have a gradient, from 0"
            self._problem("E063", f"'grads[{index}]' is out of range: the op has {count}", node, hint)
            return
        self._found.grads.add(index)
        self._record(f"grads[{index}]", node)

    def _argument(self, argument: Argument, node: ast.Name) -> None:
        kind: Literal["input", "value"] = "input" if argument.type.holds_tensors else "value"
        self._save(SavedValue(argument.name, kind))
        self._record(argument.name, node)

    def _save(self, value: SavedValue) -> None:
        """Only a backward formula runs later than the op, so only there is something to keep."""
        if self._role == "backward":
            self._found.saved[value] = None

    def _dual_part(self, name: str) -> Argument | None:
        """The tensor argument of ``<name>_p`` or ``<name>_t``."""
        argument = self._arguments.get(name[:-2]) if name.endswith(("_p", "_t")) else None
        return argument if argument is not None and argument.type.holds_tensors else None

    def _dual(self, node: ast.Name) -> None:
        if self._role != "forward":
            hint = "only forward formulas have primals and tangents"
            self._problem("E066", f"'{node.id}' has no meaning in a {_NOUNS[self._role]}", node, hint)
            return
        parts = self._found.primals if node.id.endswith("_p") else self._found.tangents
        parts[node.id[:-2]] = None
        self._record(node.id, node)

    def _output(self, node: ast.Name) -> None:
        name = self._scope.outputs[node.id]
        if self._role in ("when", "decomposition"):
            self._problem("E066", f"'{node.id}' has no meaning in a {_NOUNS[self._role]}", node, self._role_hint())
            return
        self._save(SavedValue(name, "output"))
        self._record(name, node)

    def _function(self, node: ast.Name) -> None:
        """A helper, builtin or op by its name; helpers hide builtins, and builtins hide ops."""
        if node.id in self._scope.helpers:
            self._found.helpers[node.id] = None
        elif node.id not in BUILTINS:
            self._found.ops[node.id] = None
        self._record(node.id, node)

    def _constant(self, node: ast.Name) -> None:
        self._found.constants[node.id] = None
        self._record(f"constants.{node.id}", node)

    def _refused(self, name: str, changed: ast.expr) -> str:
        """Why a formula cannot use an attribute or function of that name, though there is one; or nothing.

        A decomposition may write to a tensor that it has made, and to what the schema says that it writes.
        """
        own = self._arguments.get(changed.id) if isinstance(changed, ast.Name) else None
        is_others = self._role != "decomposition" or own is not None and not own.is_written
        if is_others and name.endswith("_") and not name.endswith("__"):
            return f"'{name}' changes a tensor: a {_word(self._role)} computes new ones"
        if self._role in ("backward", "forward") and name in OUTSIDE_AUTOGRAD:
            return f"'{name}' is outside of what can be differentiated again"
        return ""

    def _refuse(self, name: str, message: str, place: Location) -> None:
        plain = name.rstrip("_")
        is_there = plain != name and (plain in self._scope.ops or plain in self._scope.attributes)
        hint = f"write '{plain}'" if is_there else "compute with tensors and their methods alone"
        self._problems.add("E076", message, place, hint)

    def _attribute(self, node: ast.Attribute) -> None:
        known = self._scope.attributes
        values = self._value_attributes(node)
        refused = "" if values else self._refused(node.attr, node.value)
        if refused:
            self._refuse(node.attr, refused, self._place_of_name(node))
            return
        if values:
            self._attribute_of_value(node, values)
        elif known and node.attr not in known and not node.attr.startswith("_"):
            hint = did_you_mean(node.attr, known) or "write a function of the tensor instead"
            self._problems.add("E061", f"a tensor has no attribute '{node.attr}'", self._place_of_name(node), hint)
        elif node.attr.startswith("_") and node.attr not in self._scope.ops:
            hint = "write a function of the tensor instead: formulas are made of ops"
            self._problems.add("E061", f"'{node.attr}' is private", self._place_of_name(node), hint)
        elif id(node) not in self._called and self._is_tensor(node.value) and is_surely_method(node.attr, known):
            message, hint = f"'{node.attr}' is a method, and is not called", f"write .{node.attr}(...)"
            self._problems.add("E062", message, self._place_of_name(node), hint)

    def _value_attributes(self, node: ast.Attribute) -> frozenset[str]:
        """Those of the argument in front of the dot, if it is no single tensor and they are known."""
        argument = self._owner(node)
        return value_attributes(argument.type) if argument and not argument.type.is_tensor else frozenset()

    def _attribute_of_value(self, node: ast.Attribute, known: Iterable[str]) -> None:
        argument = self._arguments[owner_of(node) or ""]
        if node.attr not in known:
            message = f"'{argument.name}' is {argument.type} and no tensor: it has no attribute '{node.attr}'"
            hint = did_you_mean(node.attr, known) or f"write '{argument.name}' alone, or a helper that takes it"
            self._problems.add("E061", message, self._place_of_name(node), hint)

    def _module_of(self, node: ast.expr) -> ast.Name | None:
        """The name of a module in front of the dots: ``math`` in ``math.pi``."""
        root = node.value if isinstance(node, ast.Attribute) else None
        while isinstance(root, ast.Attribute):
            root = root.value
        is_module = isinstance(root, ast.Name) and root.id in _MODULES and not self._is_bound(root.id)
        return root if is_module and isinstance(root, ast.Name) and root.id not in self._arguments else None

    def _of_module(self, node: ast.expr) -> None:
        """Formulas have no modules: ops and helpers are there by their names."""
        module, name = self._module_of(node), node.attr if isinstance(node, ast.Attribute) else ""
        if module is None or module.id in self._unknown_names:
            return
        self._unknown_names.add(module.id)
        if module.id in _OF_OPS and (name in self._scope.ops or name in self._scope.helpers):
            hint = f"write {name}(...)"
        elif name in self._scope.constants:
            hint = f"write {name}"
        else:
            hint = f"write the number, or a constant or function in {self._scope.helper_place} that uses {module.id}"
        self._problem("E061", f"unknown name '{module.id}': a formula has no modules", module, hint)

    def _is_tensor(self, node: ast.expr) -> bool:
        """Whether it may be one: dtypes have attributes of the same names."""
        if isinstance(node, ast.Attribute):
            return node.attr not in METADATA_ATTRIBUTES
        argument = self._arguments.get(node.id) if isinstance(node, ast.Name) else None
        return argument is None or argument.type.holds_tensors

    def _place_of_name(self, node: ast.Attribute) -> Location:
        """Where the name behind the dot is."""
        return self._source.at(self._end(node) - len(node.attr))

    def _unknown(self, node: ast.Name) -> None:
        if node.id in self._unknown_names:
            return
        self._unknown_names.add(node.id)
        self._problem("E061", f"unknown name '{node.id}'", node, self._name_hint(node.id))

    def _name_hint(self, name: str) -> str:
        """What was meant: most likely an argument, under the name that it had or has in Python."""
        scope = self._scope
        if self._role == "decomposition":
            own, template = set(self._arguments), _DECOMPOSITION_NAME_HINT
            known = own | scope.helpers.keys() | scope.ops.keys() | scope.constants.keys() | BUILTINS
        else:
            own, template = scope.own_names() | (scope.dual_names() if self._role == "forward" else set()), _NAME_HINT
            # What is not called is no function: an op of a similar name is not what was meant.
            values = {each.name for each in scope.helpers.values() if each.form is None}
            known = own | values | KEYWORDS[self._role] | {"grads", "needs_input_grad"}
        meant = other_name(name, scope) or did_you_mean(name, own)
        names = ", ".join(sorted(own))
        return meant or did_you_mean(name, known) or template.format(names=names, place=scope.helper_place)

    def _call(self, function: ast.Name, call: ast.Call) -> None:
        scope = self._scope
        if self._meaning(function.id) is not None and function.id not in {*scope.helpers, *scope.ops, *BUILTINS}:
            hint = f"to multiply, write {function.id} * (...)"
            self._problem("E062", f"'{function.id}' is no function: it cannot be called", function, hint)
            return
        is_op = function.id in scope.ops and function.id not in scope.helpers and bool(call.args)
        refused = self._refused(function.id, call.args[0]) if is_op else ""
        if refused:
            self._refuse(function.id, refused, self._source.at(self._start(function)))
            return
        if function.id not in scope.helpers and function.id not in BUILTINS and function.id not in scope.ops:
            candidates = scope.helpers.keys() | scope.ops.keys() | BUILTINS
            message = f"unknown function '{function.id}'"
            close = did_you_mean(function.id, candidates)
            place = f"define it in {scope.helper_place}"
            hint = f"{close} otherwise {place}" if close else f"it is no op, Python builtin or helper: {place}"
            self._problem("E061", message, function, hint)
            return
        self._function(function)
        self._check_call(function.id, scope.forms_of(function.id), call, self._source.at(self._start(call)))

    def _method_call(self, method: ast.Attribute, call: ast.Call) -> None:
        if self._value_attributes(method) or self._refused(method.attr, method.value):
            return
        forms = self._scope.attributes.get(method.attr)
        if forms:
            self._check_call(method.attr, forms, call, self._place_of_name(method))
        elif forms is not None:
            message = f"'{method.attr}' is an attribute and no method"
            self._problems.add("E062", message, self._place_of_name(method), f"write .{method.attr} without brackets")

    def _check_call(self, name: str, forms: CallForms, call: ast.Call, place: Location) -> None:
        for message, keyword, hint in mistakes(name, forms, call):
            where = self._source.at(self._start(keyword)) if keyword else place
            self._problems.add("E062", message, where, hint)

    def _needs_input_grad(self, node: ast.Attribute) -> None:
        argument = self._arguments.get(node.attr)
        if argument is None or not argument.type.holds_tensors:
            tensors = [tensor.name for tensor in self._scope.schema.tensor_arguments]
            message = f"'{node.attr}' is no tensor argument of {self._scope.schema.full_name}"
            hint = did_you_mean(node.attr, tensors) or f"tensor arguments: {', '.join(tensors)}"
            self._problem("E061", message, node, hint)
        elif self._role != "backward":
            message = f"'needs_input_grad' has no meaning in a {_NOUNS[self._role]}"
            self._problem("E066", message, node, self._role_hint())
        else:
            self._record(f"needs_input_grad.{node.attr}", node)

    def _role_hint(self) -> str:
        if self._role == "forward":
            return "a forward formula uses <argument>_p and <argument>_t"
        if self._role == "decomposition":
            return "it is the op itself: use its arguments, other ops and helpers"
        return "it is evaluated before the op runs: use arguments only"

    # metadata

    def _metadata_key(self, node: ast.AST) -> str | None:
        """``self.shape`` or ``self.stride()`` if the node reads only that of a tensor argument."""
        argument = self._owner(node)
        if argument is None or self._role == "decomposition" and not _is_extent(node):
            return None
        return metadata_key(node, argument)

    def _owner(self, node: ast.AST) -> Argument | None:
        """The argument in front of the dot."""
        owner = owner_of(node)
        return self._arguments.get(owner) if owner and not self._is_bound(owner) else None

    def _metadata(self, key: str, node: ast.Attribute | ast.Call) -> None:
        """Save a fact about a tensor, unless the formula needs the tensor itself anyway."""
        name, attribute = key.split(".")
        owner = node.func if isinstance(node, ast.Call) else node
        assert isinstance(owner, ast.Attribute) and isinstance(owner.value, ast.Name)
        if name in self._whole_tensors:
            self._argument(self._arguments[name], owner.value)
            return
        self._save(SavedValue(name, "metadata", attribute))
        self._record(key, node)


class _Resolver(ast.NodeTransformer):
    """Puts references where names with a meaning are; ``self.size(0)`` is an element of what is saved of a size."""

    def __init__(self, keys: Mapping[int, str]) -> None:
        self._keys = keys

    def visit(self, node: ast.AST) -> ast.AST:
        key = self._keys.get(id(node))
        if key is None:
            resolved: ast.AST = self.generic_visit(node)
            return resolved
        reference = ast.copy_location(Reference(key, ast.Load()), node)
        reference.written = cast(ast.expr, node)
        if isinstance(node, ast.Call) and node.args:
            index = cast(ast.expr, self.visit(node.args[0]))
            return ast.copy_location(ast.Subscript(reference, index, ast.Load()), node)
        return reference


def _is_extent(node: ast.AST) -> bool:
    """Whether it reads what a decomposition takes from the array, which is quicker to ask than the tensor."""
    return isinstance(node, ast.Attribute) and node.attr in ("shape", "ndim")


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
