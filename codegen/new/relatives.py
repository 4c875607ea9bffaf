"""The listed op that is most like a new one: most of what is guessed is taken from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import takewhile

from ..model import FunctionSchema, Model, Op

# Words in a name that tell what kind of op it is.
_TELLING = frozenset("fft linalg special foreach index backward loss like sparse conv pool copy".split())
_TELLING_TAGS = frozenset(("pointwise", "reduction", "nondeterministic_seeded"))
_SHORTEST_STEM = 4


@dataclass(frozen=True, slots=True)
class Profile:
    """What is compared of two ops.

    ``tags``          PyTorch's tags; None when they are not known
    ``module``        the Python module in which the op appears; None for the top one
    ``is_composite``  None when that says nothing about the op: any op can be written in others
    ``is_special``    it has rules or a form that few ops have
    """

    schema: FunctionSchema
    tags: frozenset[str] | None = None
    module: str | None = None
    is_composite: bool | None = False
    is_differentiable: bool = True
    is_sparse: bool = False
    is_special: bool = False

    @property
    def types(self) -> list[str]:
        return [f"{'*' if each.kwarg_only else ''}{each.type.spelled(each.alias)}" for each in self.schema.inputs]

    @property
    def names(self) -> list[str]:
        return [argument.name for argument in self.schema.inputs]

    @property
    def results(self) -> list[str]:
        return [result.type.spelled(result.alias) for result in self.schema.returns]

    @property
    def words(self) -> frozenset[str]:
        return frozenset(self.schema.base.split("_"))


@dataclass(frozen=True, slots=True)
class Relative:
    """An op, and whether it takes and returns the same types, so that even its shape rule can be expected to fit."""

    op: Op
    same_types: bool


def entries(model: Model) -> list[Op]:
    """The ops that have an entry of their own, in the order of the file."""
    return [op for op in model.ops.values() if op.derived_from is None]


def closest(new: Profile, model: Model, candidates: Iterable[Op]) -> Relative | None:
    """The candidate that is most like the new op."""
    op = max(candidates, key=lambda each: _score(new, profile_of(each, model), each.hidden), default=None)
    if op is None:
        return None
    found = profile_of(op, model)
    return Relative(op, (found.types, found.results) == (new.types, new.results))


def overloads_like(schema: FunctionSchema, model_op: Op, model: Model) -> Iterator[tuple[Op, FunctionSchema]]:
    """The other overloads of the op that a new one takes after, each with the schema that the new op's would have.

    Only of an op of the same types: an argument is called as the one in its place in the new op.
    """
    if [each.type for each in schema.inputs] != [each.type for each in model_op.schema.inputs]:
        return
    names = {own.name: new.name for own, new in zip(model_op.schema.inputs, schema.inputs)}
    for op in entries(model):
        is_other = op.schema.base == model_op.schema.base and op.name not in (model_op.name, model_op.derived_from)
        like = _renamed(op.schema, schema.base, names)
        if is_other and op.kind == "functional" and like.full_name not in {schema.full_name, *model.ops}:
            yield op, like


def _renamed(schema: FunctionSchema, base: str, names: Mapping[str, str]) -> FunctionSchema:
    arguments = tuple(replace(each, name=names.get(each.name, each.name), renamed=None) for each in schema.arguments)
    return replace(schema, base=base, arguments=arguments)


def profile_of(op: Op, model: Model) -> Profile:
    derivative = model.derivatives.get(op.name)
    is_differentiable = op.is_composite or derivative is not None and bool(derivative.edges)
    return Profile(
        op.schema,
        frozenset(op.tags),
        op.python_module,
        op.is_composite,
        is_differentiable,
        is_sparse=op.family == "sparse",
        is_special=bool(op.operators) or op.kind == "functional" and not op.is_function,
    )


def _score(new: Profile, listed: Profile, hidden: bool) -> float:
    """How alike two ops are. Types and names count most, then what PyTorch's tags tell.

    Ops with a Python operator, and those that are only methods, are unlike most: they come last among equals.
    """
    return (
        4 * (new.results == listed.results)
        + 4 * _ratio(new.types, listed.types)
        + 2 * _ratio(new.names, listed.names)
        + 4 * _likeness(new.schema.base, listed.schema.base)
        + 1 * (new.schema.overload == listed.schema.overload)
        + 3 * len(new.words & listed.words & _TELLING)
        + 4 * (new.schema.kind == listed.schema.kind)
        + 3 * (new.tags is not None and new.tags & _TELLING_TAGS == (listed.tags or set()) & _TELLING_TAGS)
        + 2 * (new.module == listed.module)
        + 3 * (new.is_differentiable == listed.is_differentiable)
        + 2 * (new.is_composite in (None, listed.is_composite))
        + 4 * (new.is_sparse == listed.is_sparse)
        - 1 * listed.is_special
        - 3 * hidden
    )


def _likeness(left: str, right: str) -> float:
    """How alike two names are; a common end says what kind of op it is: `nanmedian`, `median`; `pdist`, `cdist`."""
    ends = zip(reversed(left.strip("_")), reversed(right.strip("_")))
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))
    return 1.0 if shared >= _SHORTEST_STEM else _ratio(left, right)


def _ratio(left: str | list[str], right: str | list[str]) -> float:
    return SequenceMatcher(None, left, right, autojunk=False).ratio()
