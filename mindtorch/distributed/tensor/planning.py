"""Which way of computing an op on spread tensors is taken: the one for which the least has to be sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mindtorch.dispatch.overloads import OpOverload
from mindtorch.distributed.device_mesh import DeviceMesh
from mindtorch.distributed.tensor.placement_types import (
    NormPartial,
    Partial,
    Placement,
    Replicate,
    Shard,
    _StridedShard,
)
from mindtorch.distributed.tensor.rules import LINEAR_IN_ALL, LINEAR_IN_FIRST, RULES, Letters, Rule, pointwise

Way = tuple[tuple[Placement, ...], Placement]  # the placements of the inputs, and of the result


@dataclass(frozen=True)
class Input:
    """What is known of a spread tensor among the arguments."""

    shape: tuple[int, ...]
    count: int
    placements: tuple[Placement, ...]


@dataclass(frozen=True)
class Plan:
    """How an op is computed."""

    letters: Letters
    inputs: list[tuple[Placement, ...]]
    output: tuple[Placement, ...]

    def result(self, place: int) -> tuple[Placement, ...]:
        """How one of several results is spread: as the first is, or a sum where it lacks the first one's letter."""
        letters = self.letters.result(place)
        return tuple(self._as_first(each, letters) for each in self.output)

    def _as_first(self, placement: Placement, letters: str) -> Placement:
        if not isinstance(placement, Shard):
            return placement
        letter = self.letters.output[placement.dim]
        return placement.along(letters.index(letter)) if letter in letters else self.letters.reduction


def name_of(function: OpOverload) -> str:
    """The name in the table of rules."""
    return str(function).removeprefix("aten.").removesuffix(".default")


def rule_of(function: OpOverload) -> Rule:
    """The rule of an op; an error if it has none."""
    rule = RULES.get(name_of(function))
    if rule is None and any(tag.name == "pointwise" for tag in function.tags):
        rule = pointwise
    if rule is None:
        raise NotImplementedError(
            f"Operator {function} does not have a sharding strategy registered. Take the local tensors with "
            "`to_local()`, or the whole ones with `full_tensor()`."
        )
    return rule


def plan(
    function: OpOverload, mesh: DeviceMesh, inputs: Sequence[Input], args: Sequence[Any], kwargs: dict[str, Any]
) -> Plan:
    """The way that each dimension of the mesh takes."""
    letters = rule_of(function)([each.shape for each in inputs], args, kwargs)
    name = name_of(function)
    is_inplace = name.split(".")[0].endswith("_")
    ways = []
    for dim in range(mesh.ndim):
        current = [each.placements[dim] for each in inputs]
        possible = _ways(name, letters, inputs, mesh, len(args), current)
        if is_inplace:
            in_place = [way for way in possible if way[0][0] == way[1]]
            possible = [way for way in in_place if way[1] == current[0]]
            if not possible and current[0].is_partial():
                possible = in_place  # it is reduced first
            if not possible:
                raise RuntimeError(f"{function} can't be computed in the place of a tensor with {current[0]!r}")
        ways.append(min(possible, key=lambda way: _cost(way[0], current, inputs)))
    return Plan(
        letters,
        [tuple(way[0][place] for way in ways) for place in range(len(inputs))],
        tuple(way[1] for way in ways),
    )


def _ways(
    name: str,
    letters: Letters,
    inputs: Sequence[Input],
    mesh: DeviceMesh,
    arguments: int,
    current: Sequence[Placement],
) -> list[Way]:
    whole = tuple(Replicate() for _ in inputs)
    ways: list[Way] = [(whole, Replicate())]
    for letter in sorted(set("".join(letters.inputs)) - {"."}):
        if letters.size is not None and letter not in letters.output:
            continue
        if _can_be_spread(letter, letters, _size(letter, letters, inputs), mesh.size()):
            ways.append(_along(letter, letters))
    strided = next((each for each in current if isinstance(each, _StridedShard)), None)
    if strided is not None:
        ways += [(tuple(_strided(each, strided) for each in way[0]), _strided(way[1], strided)) for way in ways[1:]]
    first = next((each for each in current if each.is_partial()), None)
    if type(first) is Partial and first.reduce_op in ("sum", "avg"):
        if name in LINEAR_IN_FIRST and current[0] == first:
            ways.append(((first, *whole[1:]), first))
        if name in LINEAR_IN_ALL and (len(inputs) == arguments or arguments <= 2 and len(inputs) > 1):
            ways.append(((first,) * len(inputs), first))
    return ways


def _strided(placement: Placement, strided: _StridedShard) -> Placement:
    return strided.along(placement.dim) if isinstance(placement, Shard) else placement


def _can_be_spread(letter: str, letters: Letters, size: int, parts: int) -> bool:
    if letter in letters.even:
        afterwards = letters.size[letters.output.index(letter)] if letters.size else size
        if size % parts or afterwards % parts:
            return False
    return letter not in letters.filled or -(-size // parts) * (parts - 1) < size


def _along(letter: str, letters: Letters) -> Way:
    given = tuple(Shard(each.index(letter)) if letter in each else Replicate() for each in letters.inputs)
    if letter in letters.output:
        return given, Shard(letters.output.index(letter))
    # What is added to a sum is added once.
    added = tuple(
        Partial() if isinstance(each, Replicate) and set(spelt) <= set(letters.output) else each
        for each, spelt in zip(given, letters.inputs, strict=True)
    )
    is_sum = type(letters.reduction) is Partial and letters.reduction.reduce_op == "sum"
    return (added if is_sum and len(given) > 2 else given), letters.reduction


def _size(letter: str, letters: Letters, inputs: Sequence[Input]) -> int:
    return next(
        each.shape[spelt.index(letter)] for spelt, each in zip(letters.inputs, inputs, strict=True) if letter in spelt
    )


def _cost(wanted: Sequence[Placement], current: Sequence[Placement], inputs: Sequence[Input]) -> float:
    return sum(
        each.count * _price(found, given) + 0.5
        for given, found, each in zip(wanted, current, inputs, strict=True)
        if given != found
    )


def _price(found: Placement, wanted: Placement) -> float:
    """How much has to be sent for each element; nothing to take a part of what is whole."""
    if isinstance(found, Replicate):
        return 0.01
    if isinstance(found, NormPartial):
        return 2
    if isinstance(found, Partial):
        return 1 if isinstance(wanted, Shard) else 2
    return 1
