"""The data model: what ops.yaml and derivatives.yaml say, as immutable objects.

Only load.py makes these objects; the validator and the emitters read them. ``str(schema)`` gives back the schema string
exactly as it was read.
"""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from .aclnn_signature import Signature
from .project import Project

Kind = Literal["functional", "inplace", "out", "mutable"]
View = Literal["single", "multi", "detach"]
FormulaKind = Literal["expression", "non_differentiable", "not_implemented", "auto_linear", "auto_element_wise"]
# The word for a derivative that PyTorch has not either: not_implemented for good.
REFUSED = "refused"
# The word for an argument that takes no part in a graph, and must not: the call refuses one that requires grad.
CONSTANT = "constant"
SavedKind = Literal["input", "output", "metadata", "value"]


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a source file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


# -------------------- types --------------------


@dataclass(frozen=True, slots=True)
class Alias:
    """The annotation of ``Tensor(a! -> b|c)``: alias sets before and after the call, and whether the call writes."""

    before: tuple[str, ...]
    write: bool = False
    after: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = "|".join(self.before) + ("!" if self.write else "")
        return f"{text} -> {'|'.join(self.after)}" if self.after else text


@dataclass(frozen=True, slots=True)
class Type:
    """A node of the type tree: a base type, or ``element?`` or ``element[size]`` around another node."""

    def spelled(self, alias: Alias | None = None) -> str:
        """The type as a schema writes it, with the alias annotation behind the base type."""
        raise NotImplementedError

    @property
    def base(self) -> str:
        """The name of the innermost type: ``Tensor`` for ``Tensor?[]``."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.spelled()

    @property
    def is_optional(self) -> bool:
        return isinstance(self, OptionalType)

    @property
    def is_list(self) -> bool:
        """A list, optional or not."""
        return isinstance(self.without_optional, ListType)

    @property
    def without_optional(self) -> Type:
        return self.element if isinstance(self, OptionalType) else self

    @property
    def holds_tensors(self) -> bool:
        """Any type built on Tensor: ``Tensor Tensor? Tensor[] Tensor?[]``."""
        return self.base == "Tensor"

    @property
    def is_tensor(self) -> bool:
        """``Tensor`` or ``Tensor?``."""
        return self.holds_tensors and not self.is_list

    @property
    def is_tensor_list(self) -> bool:
        """``Tensor[]`` or ``Tensor?[]``."""
        return self.holds_tensors and self.is_list


@dataclass(frozen=True, slots=True)
class BaseType(Type):
    """``Tensor``, ``int``, ``ScalarType`` ..."""

    name: str

    def spelled(self, alias: Alias | None = None) -> str:
        return f"{self.name}({alias})" if alias else self.name

    @property
    def base(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class OptionalType(Type):
    """``element?``"""

    element: Type

    def spelled(self, alias: Alias | None = None) -> str:
        return f"{self.element.spelled(alias)}?"

    @property
    def base(self) -> str:
        return self.element.base


@dataclass(frozen=True, slots=True)
class ListType(Type):
    """``element[]`` or ``element[size]``"""

    element: Type
    size: int | None = None

    def spelled(self, alias: Alias | None = None) -> str:
        return f"{self.element.spelled(alias)}[{'' if self.size is None else self.size}]"

    @property
    def base(self) -> str:
        return self.element.base


# -------------------- schemas --------------------


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a schema. ``default`` is its source text, None when the argument is required.

    ``renamed``: what Python calls it, where PyTorch's Python does not call it as its schema does.
    """

    name: str
    type: Type
    location: Location
    default: str | None = None
    alias: Alias | None = None
    kwarg_only: bool = False
    renamed: str | None = field(default=None, compare=False)

    def __str__(self) -> str:
        text = f"{self.type.spelled(self.alias)} {self.name}"
        return text if self.default is None else f"{text}={self.default}"

    @property
    def python_name(self) -> str:
        """The name in generated Python: ``self`` is ``input``, as in torch; keywords get an underscore."""
        if self.renamed is not None:
            return self.renamed
        if self.name == "self":
            return "input"
        return f"{self.name}_" if keyword.iskeyword(self.name) else self.name

    @property
    def is_written(self) -> bool:
        return self.alias is not None and self.alias.write


@dataclass(frozen=True, slots=True)
class Return:
    """One result of a schema; ``name`` is None when the schema gives none."""

    type: Type
    name: str | None = None
    alias: Alias | None = None

    def __str__(self) -> str:
        text = self.type.spelled(self.alias)
        return text if self.name is None else f"{text} {self.name}"


@dataclass(frozen=True, slots=True)
class FunctionSchema:
    """``base[_].overload(arguments) -> returns``. ``tuple_return`` tells ``-> (Tensor a)`` from ``-> Tensor a``."""

    base: str
    inplace: bool
    overload: str
    arguments: tuple[Argument, ...]
    returns: tuple[Return, ...]
    location: Location
    tuple_return: bool = False

    @property
    def name(self) -> str:
        """The name without the overload: ``mul_``."""
        return f"{self.base}_" if self.inplace else self.base

    @property
    def full_name(self) -> str:
        """The name that identifies an op: ``mul_.Tensor``."""
        return f"{self.name}.{self.overload}" if self.overload else self.name

    def __str__(self) -> str:
        returns = ", ".join(str(result) for result in self.returns)
        if self.tuple_return or len(self.returns) != 1:
            returns = f"({returns})"
        return f"{self.full_name}({self._argument_text()}) -> {returns}"

    def _argument_text(self) -> str:
        words = [str(argument) for argument in self.arguments]
        first = next((i for i, argument in enumerate(self.arguments) if argument.kwarg_only), None)
        if first is not None:
            words.insert(first, "*")
        return ", ".join(words)

    @property
    def positional(self) -> tuple[Argument, ...]:
        return tuple(argument for argument in self.arguments if not argument.kwarg_only)

    @property
    def kwarg_only(self) -> tuple[Argument, ...]:
        return tuple(argument for argument in self.arguments if argument.kwarg_only)

    @property
    def separate_ints(self) -> Argument | None:
        """The list argument that a method takes as separate ints, too, ``x.view(2, 3)``, or a factory, ``zeros(2, 3)``.

        As in torch, that is the only positional argument besides ``self``.
        """
        others = [argument for argument in self.positional if argument.name != "self"]
        kind = others[0].type if len(others) == 1 else None
        is_ints = isinstance(kind, ListType) and kind.base in ("int", "SymInt")
        return others[0] if is_ints else None

    @property
    def self_argument(self) -> Argument | None:
        return self.argument("self")

    @property
    def out_arguments(self) -> tuple[Argument, ...]:
        """What an ``out=`` variant writes to: keyword-only arguments that are written."""
        return tuple(argument for argument in self.arguments if argument.kwarg_only and argument.is_written)

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """Every argument but the ``out`` ones."""
        return tuple(argument for argument in self.arguments if not (argument.kwarg_only and argument.is_written))

    @property
    def tensor_arguments(self) -> tuple[Argument, ...]:
        """The inputs built on Tensor, lists and optional ones too."""
        return tuple(argument for argument in self.inputs if argument.type.holds_tensors)

    @property
    def written_arguments(self) -> tuple[Argument, ...]:
        return tuple(argument for argument in self.arguments if argument.is_written)

    @property
    def changed_inputs(self) -> tuple[Argument, ...]:
        """The inputs that a call changes besides what it is called for: all that it writes but ``out`` and the ``self``
        of ``name_``."""
        return tuple(a for a in self.inputs if a.is_written and not (self.inplace and a.name == "self"))

    def argument(self, name: str) -> Argument | None:
        return next((argument for argument in self.arguments if argument.name == name), None)

    @property
    def result_names(self) -> tuple[str, ...]:
        """What formulas call the outputs: their names, ``result`` for a single one, ``result0`` ... otherwise."""
        if len(self.returns) == 1:
            return (self.returns[0].name or "result",)
        return tuple(result.name or f"result{i}" for i, result in enumerate(self.returns))

    @property
    def kind(self) -> Kind:
        if self.out_arguments:
            return "out"
        if self.inplace:
            return "inplace"
        return "mutable" if self.written_arguments else "functional"


# -------------------- ops --------------------


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
class Text:
    """A value of ops.yaml: its text and where it stands."""

    text: str
    location: Location


@dataclass(frozen=True, slots=True)
class ScalarExpression:
    """What an op computes for one element.

    ``code`` is ``source`` with the functions of ``m``. ``operands`` are the arguments that it computes with, tensors
    first, and ``choices`` the values of those that it chooses by, that of a call without them first.
    """

    source: str
    code: str
    operands: tuple[str, ...]
    choices: Mapping[str, tuple[str | bool, ...]] = field(default_factory=dict)


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


# -------------------- derivatives --------------------


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


@dataclass(frozen=True, slots=True)
class Model:
    """Everything that the emitters need.

    ``ops``        by full name, in the order of ops.yaml, derived variants behind the op they come from
    ``families``   the ops of each family, in that order
    ``groups``     the ops that share a Python name (``sum``, ``add_``), without ``out=`` variants: the overloads
    ``kernels``    the hand-written kernels: by backend and family, then by name
    ``composites`` the hand-written composite functions: by family, then by name
    ``project``    the package that the ops belong to, and where its files are
    ``helpers``    the module of each helper of formulas, ``helper_files`` the file
    ``parts``      the same two of each helper of decompositions
    ``sources``    the hand-written files of the project: by path, then by name, the statements that define something
    ``extensions`` the hand-written classes whose methods are put on Tensor: by name, the module
    ``batching``   the names of the batching rules, which `shape` and `batch` refer to
    ``signatures`` the functions of ACLNN that `aclnn` may call
    ``variants``   the derived variants: by the name of the op that they come from, and by kind
    """

    ops: Mapping[str, Op]
    derivatives: Mapping[str, Derivative]
    families: Mapping[str, tuple[Op, ...]]
    groups: Mapping[str, tuple[Op, ...]]
    kernels: Mapping[tuple[str, str], Mapping[str, Kernel]]
    composites: Mapping[str, Mapping[str, Kernel]]
    project: Project
    helpers: Mapping[str, str]
    sources: Mapping[str, Mapping[str, ast.stmt]]
    helper_files: Mapping[str, str] = field(default_factory=dict)
    extensions: Mapping[str, str] = field(default_factory=dict)
    batching: frozenset[str] = frozenset()
    signatures: Mapping[str, Signature] = field(default_factory=dict)
    variants: Mapping[tuple[str, Kind], Op] = field(default_factory=dict)
    parts: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def derivative_of(self, op: Op) -> Derivative | None:
        """The derivative that a call of ``op`` records: its own, or for an in-place variant the functional op's."""
        own = self.derivatives.get(op.name)
        if own is None and op.kind == "inplace" and op.derived_from:
            return self.derivatives.get(op.derived_from)
        return own

    def variant(self, op: Op, kind: Kind) -> Op | None:
        """The variant of ``op`` that was derived from it: ``variant(mul, "inplace")`` is ``mul_``.

        Functions of Python and their kernels do not know of an ``out=`` that only copies.
        """
        return self.variants.get((op.name, kind))


def grouped(pairs: Iterable[tuple[str, Op]]) -> dict[str, tuple[Op, ...]]:
    """The ops of each name, in their order: of a family, or the overloads of a Python name."""
    groups: dict[str, list[Op]] = {}
    for name, op in pairs:
        groups.setdefault(name, []).append(op)
    return {name: tuple(ops) for name, ops in groups.items()}
