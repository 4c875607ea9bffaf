"""einsum: parse the equation, bring all operands to one order of labels, contract them from left to right.

The common order is: the labels of the output, then those that are summed. An operand without a label has size 1 there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import NamedTuple

from mindtorch._core.fast_path import has_bare_array
from mindtorch._core.tensor import Tensor, wrap
from mindtorch.autograd._engine.history import edge_of
from mindtorch.dispatch import ops

Ints = tuple[int, ...]

_ELLIPSIS = "..."


@dataclass(frozen=True)
class Equation:
    """Labels of each operand and of the output; an ellipsis is expanded to labels "0", "1" ... from the right."""

    operands: tuple[tuple[str, ...], ...]
    output: tuple[str, ...]


def einsum(equation, tensors, path=None):
    if not tensors:
        raise RuntimeError("einsum(): must provide at least one operand")
    if len(tensors) == 2 and not path and (product := _unseen_product(equation, *tensors)) is not None:
        return product
    parsed, labels = parse(equation, tuple([tensor._mt_array.ndim for tensor in tensors]))
    operands = [_aligned(tensor, own, labels) for tensor, own in zip(tensors, parsed.operands, strict=True)]
    _check_sizes(tensors, parsed.operands)
    return _contracted(operands, len(parsed.output), path)


# -------------------- the equation --------------------


@lru_cache(maxsize=256)
def parse(equation: str, ranks: tuple[int, ...]) -> tuple[Equation, tuple[str, ...]]:
    """The labels of an equation for operands of these ranks, and the common order of all labels."""
    parsed = _parsed(equation, ranks)
    known = {label for labels in parsed.operands for label in labels}
    return parsed, (*parsed.output, *sorted(known.difference(parsed.output)))


def _parsed(equation: str, ranks: tuple[int, ...]) -> Equation:
    left, arrow, right = equation.partition("->")
    texts = left.split(",")
    if len(texts) > len(ranks):
        raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
    if len(texts) < len(ranks):
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    words = [_words(text, f"for operand {place}", equation) for place, text in enumerate(texts)]
    covered = [_covered(own, rank, place) for place, (own, rank) in enumerate(zip(words, ranks, strict=True))]
    depth = max(covered)
    operands = [_expanded(own, count, depth) for own, count in zip(words, covered, strict=True)]
    if not arrow:
        return Equation(tuple(operands), _implicit_output(operands, depth))
    output = _expanded(_words(right, "in the output", equation), depth, depth)
    _check_output(output, operands)
    return Equation(tuple(operands), output)


def _words(text: str, where: str, equation: str) -> list[str]:
    """The letters of one term, and "..." for an ellipsis."""
    words: list[str] = []
    position = 0
    while position < len(text):
        letter = text[position]
        if letter == ".":
            if text[position : position + 3] != _ELLIPSIS or _ELLIPSIS in words:
                seen = _ELLIPSIS in words
                problem = "for which an ellipsis was already found" if seen else "that is not part of any ellipsis"
                raise RuntimeError(f"einsum(): found '.' {where} {problem}")
            words.append(_ELLIPSIS)
            position += 3
            continue
        if letter.isascii() and letter.isalpha():
            words.append(letter)
        elif letter != " ":
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {equation.index(letter)} in the equation string, "
                "subscripts must be in [a-zA-Z]"
            )
        position += 1
    return words


def _covered(words: list[str], rank: int, place: int) -> int:
    """How many dimensions the ellipsis of an operand stands for."""
    named = len(words) - (_ELLIPSIS in words)
    if _ELLIPSIS not in words and named != rank:
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({named}) does not match the number of dimensions "
            f"({rank}) for operand {place} and no ellipsis was given"
        )
    if named > rank:
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({named}) is more than the number of dimensions "
            f"({rank}) for operand {place}"
        )
    return rank - named


def _expanded(words: list[str], count: int, depth: int) -> tuple[str, ...]:
    """Labels with the ellipsis written out: its last dimension is always the label depth - 1."""
    labels: list[str] = []
    for word in words:
        labels += [str(place) for place in range(depth - count, depth)] if word == _ELLIPSIS else [word]
    return tuple(labels)


def _implicit_output(operands: Sequence[tuple[str, ...]], depth: int) -> tuple[str, ...]:
    """The ellipsis, then the letters that occur once, in alphabetical order."""
    letters = [label for labels in operands for label in labels if label.isalpha()]
    once = sorted(label for label in set(letters) if letters.count(label) == 1)
    return (*map(str, range(depth)), *once)


def _check_output(output: tuple[str, ...], operands: Sequence[tuple[str, ...]]) -> None:
    known = {label for labels in operands for label in labels}
    for label in output:
        if output.count(label) > 1:
            raise RuntimeError(f"einsum(): output subscript {label} appears more than once in the output")
        if label not in known:
            raise RuntimeError(
                f"einsum(): output subscript {label} does not appear in the equation for any input operand"
            )


# -------------------- operands --------------------


def _aligned(tensor: Tensor, own: tuple[str, ...], labels: tuple[str, ...]) -> Tensor:
    """An operand with the dimensions of all labels, in the common order; a repeated label takes the diagonal."""
    remaining = list(own)
    for label in own if len(set(own)) < len(own) else ():
        while remaining.count(label) > 1:
            first = remaining.index(label)
            second = remaining.index(label, first + 1)
            _check_diagonal(tensor, label, first, second)
            tensor = tensor.diagonal(0, first, second).movedim(-1, first)
            del remaining[second]
    missing = [label for label in labels if label not in remaining]
    for _ in missing:
        tensor = tensor.unsqueeze(tensor.ndim)
    places = remaining + missing
    return tensor.permute(tuple([places.index(label) for label in labels]))


def _check_diagonal(tensor: Tensor, label: str, first: int, second: int) -> None:
    if tensor.size(first) != tensor.size(second):
        raise RuntimeError(
            f"einsum(): subscript {label} is repeated for operand 0 but the sizes don't match, {tensor.size(second)} "
            f"!= {tensor.size(first)}"
        )


def _check_sizes(tensors: Sequence[Tensor], operands: Sequence[tuple[str, ...]]) -> None:
    seen: dict[str, int] = {}
    for place, (tensor, labels) in enumerate(zip(tensors, operands, strict=True)):
        for label, extent in zip(labels, tensor._mt_array.shape, strict=True):
            known = seen.get(label, 1)
            if extent not in (1, known) and known != 1:
                raise RuntimeError(
                    f"einsum(): subscript {label} has size {extent} for operand {place} which does not broadcast with "
                    f"previously seen size {known}"
                )
            seen[label] = known if extent == 1 else extent


# -------------------- contraction --------------------


def _contracted(operands: list[Tensor], kept: int, path: Sequence[int] | None) -> Tensor:
    """All operands multiplied and summed over the dimensions behind the first `kept`."""
    several = len(operands) > 1
    rank = operands[0].ndim
    steps = list(path or ())
    while len(operands) > 1:
        first, second = steps[:2] or (0, 1)
        del steps[:2]
        pair = [operands.pop(place) for place in sorted((first, second), reverse=True)][::-1]
        left, right = _contract_pair(pair[0], pair[1], operands, kept)
        operands.insert(
            len(operands) if path else 0, multiply_and_sum(left, right, _shared(left, right, operands, kept))
        )
    result = operands[0]
    if rank == kept:
        return result
    return result.view(result._mt_array.shape[:kept]) if several else result.sum(tuple(range(kept, rank)))


def _contract_pair(left: Tensor, right: Tensor, others: list[Tensor], kept: int) -> tuple[Tensor, Tensor]:
    """Sums beforehand what only one of the two has and the result lacks."""
    alone_left, alone_right = [], []
    left_shape, right_shape = left._mt_array.shape, right._mt_array.shape
    for dim in range(kept, len(left_shape)):
        if _is_done(dim, others):
            if left_shape[dim] != 1 and right_shape[dim] == 1:
                alone_left.append(dim)
            elif right_shape[dim] != 1 and left_shape[dim] == 1:
                alone_right.append(dim)
    if alone_left:
        left = left.sum(tuple(alone_left), True)
    if alone_right:
        right = right.sum(tuple(alone_right), True)
    return left, right


def _shared(left: Tensor, right: Tensor, others: list[Tensor], kept: int) -> list[int]:
    """The dimensions to sum in this product: both have them, and no later operand does."""
    left_shape, right_shape = left._mt_array.shape, right._mt_array.shape
    dims = range(kept, len(left_shape))
    return [dim for dim in dims if left_shape[dim] != 1 and right_shape[dim] != 1 and _is_done(dim, others)]


def _is_done(dim: int, others: list[Tensor]) -> bool:
    """Whether no later operand needs a dimension."""
    return all(other._mt_array.shape[dim] == 1 for other in others)


def multiply_and_sum(left: Tensor, right: Tensor, summed: Sequence[int]) -> Tensor:
    """The product of two tensors of one rank, summed over `summed` (which become size 1), as one batched product."""
    if not summed:
        return left * right
    plan = _plan_of(tuple(left._mt_array.shape), tuple(right._mt_array.shape), tuple(summed))  # samples' know levels
    if plan.is_swapped:
        left, right = right, left
    first = left.permute(plan.orders[0]).reshape(plan.shapes[0])
    second = right.permute(plan.orders[1]).reshape(plan.shapes[1])
    return ops.bmm(first, second).view(plan.shape).permute(plan.order)


class _Plan(NamedTuple):
    """How a product becomes a batched one: how its operands lie there, in their order or `is_swapped`, and the result
    of that."""

    is_swapped: bool
    orders: tuple[Ints, Ints]
    shapes: tuple[Ints, Ints]
    shape: Ints
    order: Ints


@lru_cache(maxsize=1024)
def _plan_of(left: Ints, right: Ints, summed: Ints) -> _Plan:
    pairs = list(enumerate(zip(left, right, strict=True)))
    both = [dim for dim, (a, b) in pairs if dim not in summed and a != 1 and b != 1]
    left_only = [dim for dim, (a, b) in pairs if dim not in summed and a != 1 and b == 1]
    right_only = [dim for dim, (a, b) in pairs if dim not in summed and a == 1]
    sizes = [b if a == 1 else a for _, (a, b) in pairs]
    is_swapped = bool(left_only and right_only and right_only[-1] < left_only[-1])
    if is_swapped:  # then the result needs no permutation
        left_only, right_only = right_only, left_only
    batch, rows, inner, columns = [
        prod([sizes[dim] for dim in group]) for group in (both, left_only, summed, right_only)
    ]
    order = (*both, *left_only, *summed, *right_only)
    return _Plan(
        is_swapped,
        (order, (*both, *summed, *right_only, *left_only)),
        ((batch, rows, inner), (batch, inner, columns)),
        tuple([1 if dim in summed else sizes[dim] for dim in order]),
        tuple([order.index(dim) for dim in range(len(sizes))]),
    )


# -------------------- two operands whose views stay inside --------------------


def _unseen_product(equation: str, left: Tensor, right: Tensor) -> Tensor | None:
    """The same for two arrays of the CPU of which nothing is recorded, so that no tensors are made of how they lie in
    the batched product. None if something is, or if they need more than a product."""
    arrays = left._mt_array, right._mt_array
    if not (has_bare_array(left) and has_bare_array(right)):
        return None
    if edge_of(left) is not None or edge_of(right) is not None:
        return None
    plan = _whole_plan(equation, arrays[0].shape, arrays[1].shape)
    if plan is None:
        return None
    product, shape = plan
    if product.is_swapped:
        arrays = arrays[::-1]
    factors = [
        wrap(array.transpose(order).reshape(size)) for array, order, size in zip(arrays, product.orders, product.shapes)
    ]
    result = ops.bmm(*factors).view(product.shape).permute(product.order)
    return result if len(product.shape) == len(shape) else result.view(shape)


@lru_cache(maxsize=1024)
def _whole_plan(equation: str, left: Ints, right: Ints) -> tuple[_Plan, Ints] | None:
    """The plan, in which the orders are those of the operands' own dimensions, and the shape of the result."""
    if 0 in left or 0 in right:
        return None
    parsed, labels = parse(equation, (len(left), len(right)))
    if any([len(set(own)) < len(own) for own in parsed.operands]):
        return None
    known = [dict(zip(own, shape, strict=True)) for own, shape in zip(parsed.operands, (left, right), strict=True)]
    sizes = [tuple([own.get(label, 1) for label in labels]) for own in known]
    kept = len(parsed.output)
    if any([1 not in pair and pair[0] != pair[1] for pair in zip(*sizes)]):
        return None
    pairs = list(zip(*sizes))[kept:]
    if not pairs or any([a != b or a == 1 for a, b in pairs]):
        return None
    plan = _plan_of(*sizes, tuple(range(kept, len(labels))))
    owners = parsed.operands[::-1] if plan.is_swapped else parsed.operands
    orders = [
        tuple([own.index(labels[dim]) for dim in order if labels[dim] in own])
        for own, order in zip(owners, plan.orders, strict=True)
    ]
    shape = tuple([b if a == 1 else a for a, b in zip(*sizes)])[:kept]
    return plan._replace(orders=(orders[0], orders[1])), shape
