"""einsum: parse the equation, bring all operands to one order of labels, contract them from left to right.

The common order is: the labels of the output, then those that are summed. An operand without a label has size 1 there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops

_ELLIPSIS = "..."


@dataclass(frozen=True)
class Equation:
    """Labels of each operand and of the output; an ellipsis is expanded to labels "0", "1" ... from the right."""

    operands: tuple[tuple[str, ...], ...]
    output: tuple[str, ...]


def einsum(equation, tensors, path=None):
    if not tensors:
        raise RuntimeError("einsum(): must provide at least one operand")
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
    """Sums beforehand what only one of the two has and nobody else needs."""
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
    pairs = list(enumerate(zip(left._mt_array.shape, right._mt_array.shape, strict=True)))
    both = [dim for dim, (a, b) in pairs if dim not in summed and a != 1 and b != 1]
    left_only = [dim for dim, (a, b) in pairs if dim not in summed and a != 1 and b == 1]
    right_only = [dim for dim, (a, b) in pairs if dim not in summed and a == 1]
    sizes = [b if a == 1 else a for _, (a, b) in pairs]
    if left_only and right_only and right_only[-1] < left_only[-1]:  # then the result needs no permutation
        left, right, left_only, right_only = right, left, right_only, left_only

    def count(group: Sequence[int]) -> int:
        return prod([sizes[dim] for dim in group])

    first = left.permute((*both, *left_only, *summed, *right_only)).reshape(
        (count(both), count(left_only), count(summed))
    )
    second = right.permute((*both, *summed, *right_only, *left_only)).reshape(
        (count(both), count(summed), count(right_only))
    )
    order = [*both, *left_only, *summed, *right_only]
    shape = tuple([1 if dim in summed else sizes[dim] for dim in order])
    return ops.bmm(first, second).view(shape).permute(tuple([order.index(dim) for dim in range(len(sizes))]))
