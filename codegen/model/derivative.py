"""Derivatives of ops: their formulas, and what their nodes save."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .formula import Formula, SavedValue
from .op import Op
from .schema import Argument
from .source import Location


@dataclass(frozen=True, slots=True)
class SavedUse:
    """A saved value and the arguments whose gradients need it: it is kept only when one of those is wanted."""

    value: SavedValue
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Derivative:
    """An entry of derivatives.yaml: how to differentiate ``op`` (and its in-place variant).

    ``refuses_complex``: of complex tensors it is an error to ask for gradients.
    """

    op: Op
    node: str
    backward: tuple[Formula, ...]
    forward: tuple[Formula, ...]
    output_differentiability: tuple[bool, ...]
    when: Formula | None
    location: Location
    refuses_complex: bool = False

    @property
    def edges(self) -> tuple[Argument, ...]:
        """The arguments that get an edge in the graph: those with a formula other than ``non_differentiable``."""
        names = {name for formula in self.backward if formula.kind != "non_differentiable" for name in formula.targets}
        return tuple(argument for argument in self.op.schema.inputs if argument.name in names)

    @property
    def is_implemented(self) -> bool:
        """Whether there is a formula that computes something."""
        return any(formula.kind == "expression" for formula in self.backward)

    @property
    def has_formulas(self) -> bool:
        """Whether torch has formulas for it, be it one that refuses, as it has where it asks for complex tensors."""
        return self.is_implemented or self.refuses_complex

    @property
    def is_refused(self) -> bool:
        """Whether there is none for any argument: then a node of no class of its own refuses the backward pass."""
        return bool(self.edges) and not self.is_implemented

    def backward_of(self, argument: str) -> Formula | None:
        return next((formula for formula in self.backward if argument in formula.targets), None)

    def forward_of(self, output: str) -> Formula | None:
        return next((formula for formula in self.forward if output in formula.targets), None)

    @property
    def saved(self) -> tuple[SavedUse, ...]:
        """Everything the backward formulas save, each value once, with the gradients that need it."""
        users: dict[SavedValue, list[str]] = {}
        for formula in self.backward:
            for value in formula.saved:
                users.setdefault(value, []).extend(formula.targets)
        return tuple(SavedUse(value, tuple(arguments)) for value, arguments in users.items())

    @property
    def saved_before(self) -> tuple[SavedUse, ...]:
        """The tensors that are saved before the op runs, and come first among those that a node keeps."""
        return _by_name(use for use in self.saved if use.value.kind == "input" and not self._is_changed(use))

    @property
    def saved_after(self) -> tuple[SavedUse, ...]:
        """Those that are there when the op has run: outputs, and the inputs that it changes."""
        return _by_name(use for use in self.saved if use.value.kind == "output" or self._is_changed(use))

    def _is_changed(self, use: SavedUse) -> bool:
        return use.value.kind == "input" and use.value.name in {each.name for each in self.op.schema.changed_inputs}


def _by_name(uses: Iterable[SavedUse]) -> tuple[SavedUse, ...]:
    """In the order in which hooks on saved tensors see them."""
    return tuple(sorted(uses, key=lambda use: use.value.name))
