"""Formulas of derivatives and decompositions, and what they need from the forward call."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from .source import Location

FormulaKind = Literal["expression", "non_differentiable", "not_implemented", "auto_linear", "auto_element_wise"]
# The word for a derivative that PyTorch has not either: not_implemented for good.
REFUSED = "refused"
# The word for an argument that takes no part in a graph, and must not: the call refuses one that requires grad.
CONSTANT = "constant"
SavedKind = Literal["input", "output", "metadata", "value"]


@dataclass(frozen=True, slots=True)
class SavedValue:
    """A value that a formula needs from the forward call.

    ``input``     the tensor argument (or tensor list) ``name`` itself
    ``output``    the output ``name``
    ``metadata``  ``expression`` of the tensor argument ``name``: ``self.shape``, ``self.stride()``, ``tensors.dtypes``;
                  there is none when an optional tensor is absent
    ``value``     the argument ``name``, which is no tensor
    """

    name: str
    kind: SavedKind
    attribute: str = ""

    @property
    def expression(self) -> str:
        """What is evaluated when the graph is built, in the schema's names."""
        return f"{self.name}.{self.attribute}" if self.attribute else self.name

    @property
    def field(self) -> str:
        """A name for the node's attribute: ``self_shape`` for ``self.shape``."""
        return self.expression.replace(".", "_").removesuffix("()")


class Reference(ast.Name):
    """In the tree of a formula, a name whose meaning is known: ``id`` is a word of ``Formula.names``.

    ``written`` is what the formula has there.
    """

    written: ast.expr


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula or a decomposition, and everything that can be known of it without running it.

    ``targets``           the arguments whose gradient it gives; for a forward formula the output whose tangent it gives
    ``names``             the names it uses: ``alpha``, ``self.shape``, ``needs_input_grad.self``, ``grads[0]`` for any
                          spelling of that gradient, ``sum`` for a function
    ``saved``             what it needs from the forward call
    ``grads``             the indices of the output gradients it uses
    ``primals tangents``  the arguments used as ``<name>_p`` and ``<name>_t`` (forward formulas)
    ``helpers ops``       the helpers and the ops that it calls
    ``constants``         the dtypes, layouts and memory formats that a decomposition uses
    ``tree``              its syntax tree, with a `Reference` for each of ``names``; None of what is no expression
    """

    kind: FormulaKind
    source: str
    location: Location
    targets: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    saved: tuple[SavedValue, ...] = ()
    grads: tuple[int, ...] = ()
    primals: tuple[str, ...] = ()
    tangents: tuple[str, ...] = ()
    helpers: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    tree: ast.expr | None = field(default=None, compare=False)

    @property
    def uses_grad(self) -> bool:
        return bool(self.grads)

    @property
    def is_expression(self) -> bool:
        return self.kind == "expression"

    @property
    def is_constant(self) -> bool:
        """Whether it says that the argument must not require grad."""
        return self.kind == "non_differentiable" and self.source == CONSTANT

    @property
    def is_to_write(self) -> bool:
        """Whether the formula is still to be written."""
        return self.kind == "not_implemented" and self.source != REFUSED

    def rewritten(self, names: Mapping[str, str]) -> str:
        """The source with every name that ``names`` has replaced by the text that stands for it.

        Keys are the words of ``names``: ``rewritten({"grads[0]": "grad", "self": "x"})``.
        """
        return self.source if self.tree is None else ast.unparse(_replaced(self.tree, names))


def _replaced(node: Any, names: Mapping[str, str]) -> Any:
    """A copy of a tree, or of a list or value in it, with what stands for its references."""
    if isinstance(node, Reference):
        return _parsed(names[node.id]) if node.id in names else node.written
    if isinstance(node, list):
        return [_replaced(each, names) for each in node]
    if isinstance(node, ast.AST):
        return type(node)(**{name: _replaced(value, names) for name, value in ast.iter_fields(node)})
    return node


@cache
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
