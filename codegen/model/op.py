"""Ops, as ops.yaml has them, and the hand-written functions that they name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from .formula import Formula
from .schema import Argument, FunctionSchema, Kind
from .source import Location, Text

View = Literal["single", "multi", "detach"]


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function that the hand-written sources define. ``parameters`` is None when the source does not show them;
    those of a function ``made`` by a factory have the factory's names. ``unknown`` is the name of that factory if its
    file does not define it, with what was meant. ``defaults`` are those that are literals: where they are, and their
    source. ``file`` is the one that it is imported from, and ``second`` where another file of the family's folder
    defines the same name."""

    name: str
    parameters: tuple[str, ...] | None
    location: Location
    made: bool = False
    unknown: tuple[str, str] | None = None
    defaults: Mapping[str, Text] = field(default_factory=dict)
    file: str = ""
    second: Location | None = None


@dataclass(frozen=True, slots=True)
class OldForm:
    """What an op was before: a deprecated call, or a version that saved programs have.

    ``expression``  the same as a call of the op as it is now (or, of an old version, as it was in the next one): Python
                    over the arguments of ``schema``
    ``since``       a deprecated call: the release that deprecated it, or "torch" where PyTorch did
    ``removal``     a deprecated call: the release that no longer takes it; None if that is not planned
    ``version``     an old version: its number
    """

    schema: FunctionSchema
    expression: Text
    since: Text | None = None
    removal: Text | None = None
    version: int = 0


@dataclass(frozen=True, slots=True)
class ScalarExpression:
    """What an op computes for one element.

    ``code`` is ``source`` with the functions of ``m``. ``operands`` are the arguments that it computes with, tensors
    first, and ``choices`` the values of those that it chooses by, that of a call without them first. ``masks`` are the
    operands that are tensors of bools.
    """

    source: str
    code: str
    operands: tuple[str, ...]
    choices: Mapping[str, tuple[str | bool, ...]] = field(default_factory=dict)
    masks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Op:
    """An entry of ops.yaml, or a variant derived from one (``derived_from`` names the op it comes from).

    The keys of the entry are attributes. A derived variant has those of its entry, except that the in-place variant
    has the in-place Python operators, the functional op all others, and an ``out=`` variant none. ``package`` is what
    stands in front of the op where users call it; ``is_shown`` tells whether its ``python_module`` has it, ``by_hand``
    whether the function, or the method, of its name is written by hand.
    """

    schema: FunctionSchema
    family: str
    location: Location
    derived_from: str | None = None
    variants: tuple[str, ...] = ("function",)
    python_module: str | None = None
    hidden: bool = False
    absent_in_torch: bool = False
    autogen: tuple[str, ...] = ()
    inplace: str | None = None
    out: str | None = None
    python_names: Mapping[str, str] = field(default_factory=dict)
    numbers: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    other_devices: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    promotion: str | None = None
    shape: str | None = None
    batch: str | None = None
    view: View | None = None
    factory: bool = False
    copies: bool = False
    short_cut: bool = False
    shares_memory: bool = False
    dispatch: Mapping[str, str] | None = None
    composite: str | None = None
    decomposition: Formula | None = None
    scalar: ScalarExpression | None = None
    aclnn: str | None = None
    tags: tuple[str, ...] = ()
    autocast: str | None = None
    autocast_npu: str | None = None
    dtypes: str = "all"
    samples: str | None = None
    divergence: str | None = None
    doc: str | None = None
    package: str = "torch"
    is_shown: bool = field(default=True, compare=False)
    by_hand: frozenset[str] = field(default=frozenset(), compare=False)
    deprecated: tuple[OldForm, ...] = ()
    versions: tuple[OldForm, ...] = ()
    version: int = 1

    @property
    def name(self) -> str:
        """``mul_.Tensor``: unique among all ops."""
        return self.schema.full_name

    @property
    def kind(self) -> Kind:
        return self.schema.kind

    @property
    def is_composite(self) -> bool:
        return self.composite is not None or self.decomposition is not None

    @property
    def written_places(self) -> tuple[int, ...]:
        """The arguments of the kernel that it changes besides ``out``, by their numbers."""
        inputs = enumerate(self.schema.inputs)
        return tuple(place for place, argument in inputs if argument.is_written or argument.name in self.writes)

    @property
    def places_on_other_devices(self) -> tuple[int, ...]:
        """The arguments of the kernel that may be on another device, by their numbers."""
        return tuple(place for place, each in enumerate(self.schema.inputs) if each.name in self.other_devices)

    @property
    def is_elementwise(self) -> bool:
        """Whether its tensors may also be numbers, or tensors of the CPU without dimensions, which count as such."""
        return self.shape in ("broadcast", "broadcast_reversed") and len(self.schema.tensor_arguments) > 1

    @property
    def is_copied_out(self) -> bool:
        """An ``out=`` variant without code of its own: the functional op's result is copied to ``out``."""
        return self.kind == "out" and "copied_out" in self.autogen

    @property
    def is_called_as_method(self) -> bool:
        """Whether it is the op that the method of its name calls."""
        return self.is_method and "method" not in self.by_hand

    @property
    def separate_ints(self) -> Argument | None:
        """The argument that some call of the op may write as separate ints."""
        return self.schema.separate_ints if self.is_method or self.schema.self_argument is None else None

    @property
    def is_function(self) -> bool:
        return "function" in self.variants

    @property
    def is_method(self) -> bool:
        return "method" in self.variants
