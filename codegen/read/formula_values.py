"""What the parts of a formula are, tensors, numbers, texts, functions ..., as far as that shows without running it.

What is Python need not be a gradient: ``grad == grad``, ``None.shape``, ``1(grad)``, ``self[::0]``. Of what is not
known for sure nothing is said.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from ..model import Type
from .metadata import METADATA_METHODS
from .scope import BUILTINS, Scope

Kind = Literal[
    "a tensor", "a number", "True or False", "a text", "None", "a list", "a dict or set", "a function", "a dtype",
    "a comparison", "...", "unknown",
]  # fmt: skip
Mistake = tuple[str, str, ast.expr, str]  # code, message, place, remedy

_OF_TYPES: dict[str, Kind] = {
    "Tensor": "a tensor", "int": "a number", "SymInt": "a number", "float": "a number", "Scalar": "a number",
    "bool": "True or False", "str": "a text",
}  # fmt: skip
_FACTS: dict[str, Kind] = {
    "shape": "a list", "ndim": "a number", "dtype": "a dtype", "device": "a dtype", "layout": "a dtype",
    "T": "a tensor", "mT": "a tensor", "H": "a tensor", "mH": "a tensor",
}  # fmt: skip
_OF_BUILTINS: dict[str, Kind] = {
    **dict.fromkeys(("len", "int", "float"), "a number"),
    **dict.fromkeys(("bool", "isinstance"), "True or False"),
    **dict.fromkeys(("list", "tuple", "range", "reversed", "enumerate", "zip"), "a list"),
}  # fmt: skip
_NO_OPERANDS = ("a text", "None", "a dict or set", "a function", "a dtype", "...")
_NOT_CALLED = ("a tensor", "a number", "True or False", "a text", "None", "a list", "a dict or set", "a comparison")
_WITHOUT_ATTRIBUTES = ("None", "...", "True or False", "a dict or set")
_WITHOUT_ELEMENTS = ("None", "...", "True or False", "a number", "a function", "a comparison")
# What gives a number or an array of what a tensor holds, or belongs to the graph that is being made.
OUTSIDE_AUTOGRAD = frozenset("backward data grad grad_fn item numpy register_hook retain_grad tolist".split())
_MOST_SHOWN = 50  # characters of a part that a message quotes


@dataclass(frozen=True, slots=True)
class Values:
    """The kinds of the parts of one formula, and what is wrong with them.

    ``meaning`` gives the type, or the kind, of an argument, output or gradient of the op, and None for other names.
    ``bound`` are the names that a lambda or comprehension gives their values.
    """

    scope: Scope
    meaning: Callable[[str], Type | Kind | None]
    bound: frozenset[str]

    def mistakes(self, tree: ast.expr) -> Iterator[Mistake]:
        """What cannot be, the inner parts first."""
        for node in reversed(list(ast.walk(tree))):
            if isinstance(node, ast.expr):
                yield from self._mistakes_of(node)

    def kind(self, node: ast.expr) -> Kind:
        match node:
            case ast.Constant(value=value):
                return _of_constant(value)
            case ast.Name(id=name):
                return self._of_name(name)
            case ast.Lambda():
                return "a function"
            case ast.List() | ast.Tuple() | ast.ListComp() | ast.GeneratorExp():
                return "a list"
            case ast.Dict() | ast.Set() | ast.DictComp() | ast.SetComp():
                return "a dict or set"
            case ast.Compare():
                return "a comparison"
            case ast.UnaryOp(op=ast.Not()):
                return "True or False"
            case ast.UnaryOp(operand=operand):
                return self.kind(operand)
            case ast.BinOp(left=left, right=right):
                return self._computed({self.kind(left), self.kind(right)})
            case ast.BoolOp(values=values):
                return _one_of({self.kind(each) for each in values})
            case ast.IfExp(body=body, orelse=other):
                return _one_of({self.kind(body), self.kind(other)} - {"None"} or {"None"})
            case ast.Attribute(attr=name, value=owner):
                return _FACTS.get(name, "unknown") if self.kind(owner) in ("a tensor", "unknown") else "unknown"
            case ast.Subscript(value=value, slice=index):
                return self._element(self.kind(value), index)
            case ast.Call():
                return self._result(node)
        return "unknown"

    def _of_name(self, name: str) -> Kind:
        if name in self.bound:
            return "unknown"
        meaning = self.meaning(name)
        if isinstance(meaning, str):
            return meaning
        if meaning is not None:
            return "a list" if meaning.is_list else self._of_type(meaning)
        scope = self.scope
        if name in scope.helpers:
            return "a function" if scope.helpers[name].form else "unknown"
        return "a function" if name in BUILTINS or name in scope.ops else "unknown"

    @staticmethod
    def _of_type(type_: Type) -> Kind:
        """Of an optional value that is no tensor nothing is sure: it may be None."""
        return "unknown" if type_.is_optional and not type_.is_tensor else _OF_TYPES.get(type_.base, "unknown")

    @staticmethod
    def _computed(kinds: set[Kind]) -> Kind:
        if "a tensor" in kinds:
            return "a tensor"
        if "unknown" in kinds:
            return "unknown"
        return "a list" if "a list" in kinds else "a number" if kinds <= {"a number", "True or False"} else "unknown"

    @staticmethod
    def _element(kind: Kind, index: ast.expr) -> Kind:
        if kind == "a tensor":
            return "a tensor"
        return "a list" if kind == "a list" and isinstance(index, ast.Slice) else "unknown"

    def _result(self, call: ast.Call) -> Kind:
        match call.func:
            case ast.Name(id=name) if name in BUILTINS and name not in self.scope.helpers and name not in self.bound:
                return _OF_BUILTINS.get(name, "unknown")
            case ast.Attribute(attr=("size" | "stride")):
                return "a number" if call.args or call.keywords else "a list"
            case ast.Attribute(attr=name) if name in METADATA_METHODS:
                return "True or False" if name.startswith("is_") else "a number"
        return "unknown"

    # ---- what is wrong ----

    def _mistakes_of(self, node: ast.expr) -> Iterator[Mistake]:
        match node:
            case ast.Constant(value=value):
                yield from _endless(node, value)
            case ast.BinOp():
                yield from self._of_operation(node)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert(), operand=operand):
                yield from self._operand(operand, node)
            case ast.IfExp(test=test):
                yield from self._truth(test, "if")
            case ast.BoolOp(op=operator, values=values):
                for each in values[:-1]:
                    yield from self._truth(each, "and" if isinstance(operator, ast.And) else "or")
            case ast.Subscript(value=value, slice=index):
                yield from self._of_subscript(value, index)
            case ast.Slice(step=ast.Constant(value=step)) if type(step) is int and step == 0:
                yield "E077", "a slice of step 0 has no end", node, "remove the step, or write another one"
            case ast.Attribute(value=owner) if self.kind(owner) in _WITHOUT_ATTRIBUTES:
                message = f"{_spelled(owner)} is {self.kind(owner)}: it has no '{node.attr}'"
                yield "E077", message, node, "write a tensor in front of the dot"
            case ast.Call(func=func) if not isinstance(func, (ast.Name, ast.Attribute)):
                yield from self._of_callee(func)

    def _of_callee(self, func: ast.expr) -> Iterator[Mistake]:
        kind = self.kind(func)
        if kind in _NOT_CALLED:
            message = f"{_spelled(func)} is {kind} and no function: it cannot be called"
            yield "E062", message, func, f"to multiply, write {_shown(func)} * (...)"
        elif isinstance(func, ast.Call):
            hint = "write one call, or the operator that is missing between the two"
            yield "E062", f"what {_spelled(func)} gives is no function: it cannot be called", func, hint

    def _of_operation(self, node: ast.BinOp) -> Iterator[Mistake]:
        yield from self._operand(node.left, node)
        yield from self._operand(node.right, node)
        kinds = {self.kind(node.left), self.kind(node.right)}
        if kinds == {"a list", "a tensor"}:
            hint = "write a number or a tensor; a list becomes one with stack(...) or cat(...)"
            yield "E077", f"{_spelled(node)} computes with a tensor and a list", node, hint
        if isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod)) and _constant(node.right) == 0:
            hint = "write what to divide by; for zeros there is zeros_like(...)"
            yield "E078", f"{_spelled(node)} divides by 0", node, hint
        if isinstance(node.op, ast.Pow) and _is_endless_power(node):
            yield "E078", f"{_spelled(node)} is larger than any float", node, "write a smaller number"

    def _operand(self, operand: ast.expr, node: ast.expr) -> Iterator[Mistake]:
        kind = self.kind(operand)
        if kind in _NO_OPERANDS:
            hint = "write a tensor or a number" + (f", or call it: {_shown(operand)}(...)" if "func" in kind else "")
            yield "E077", f"{_spelled(node)} computes with {_spelled(operand)}, which is {kind}", operand, hint

    def _truth(self, node: ast.expr, word: str) -> Iterator[Mistake]:
        if self.kind(node) == "a tensor":
            message = f"'{word}' asks whether {_spelled(node)} is true, and a tensor has many elements"
            hint = "write where(condition, a, b) for a choice of each element, or ask '... is None'"
            yield "E077", message, node, hint

    def _of_subscript(self, value: ast.expr, index: ast.expr) -> Iterator[Mistake]:
        kind = self.kind(value)
        if kind in _WITHOUT_ELEMENTS:
            yield "E077", f"{_spelled(value)} is {kind}: it has no elements", value, "write a tensor or a list there"
        for part in index.elts if isinstance(index, ast.Tuple) else [index] if kind != "a dict or set" else []:
            if isinstance(part, ast.Constant) and isinstance(part.value, (str, float, complex, bytes)):
                hint = "write a whole number, a slice, None or ..."
                yield "E077", f"{_spelled(part)} is no index", part, hint


def _of_constant(value: object) -> Kind:
    if isinstance(value, bool):
        return "True or False"
    if isinstance(value, (int, float, complex)):
        return "a number"
    return "None" if value is None else "..." if value is ... else "a text"


def _one_of(kinds: set[Kind]) -> Kind:
    return kinds.pop() if len(kinds) == 1 else "unknown"


def _endless(node: ast.Constant, value: object) -> Iterator[Mistake]:
    parts = (value.real, value.imag) if isinstance(value, complex) else (value,)
    if any(isinstance(part, float) and math.isinf(part) for part in parts):
        yield "E078", "a number that is larger than any float", node, "write a smaller number"
    elif isinstance(value, int) and value.bit_length() > 64:
        yield "E078", "a whole number that no dtype holds", node, "write a smaller one, or a float such as 1e20"


def _constant(node: ast.expr) -> float | None:
    """A number that is written out, its sign and powers included; inf if it is too large for a float."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value) if abs(value) < 1e308 else math.inf
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            number = _constant(operand)
            return -number if number is not None and isinstance(sign, ast.USub) else number
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_constant(left), _constant(right))
    return None


def _power(base: float | None, exponent: float | None) -> float | None:
    if base is None or exponent is None or base == 0:
        return None
    try:
        return math.pow(abs(base), exponent)
    except OverflowError:
        return math.inf


def _is_endless_power(node: ast.BinOp) -> bool:
    return _constant(node) == math.inf


def _shown(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) < _MOST_SHOWN else f"{text[:40]}..."


def _spelled(node: ast.expr) -> str:
    return f"'{_shown(node)}'"
