"""Random permutations: the Fisher-Yates shuffle as torch draws it, step by step or for all steps at once."""

import numpy as np

from mindtorch.generator import Generator, default_generator

Array = np.ndarray

_FEW = 64  # places up to which the steps are quicker than the whole


def permutation(count: int, generator: Generator | None) -> Array:
    """A random order of `range(count)`: each place in turn swaps with itself or a later one."""
    places = np.arange(count)
    if count < 2:
        return places
    others = (generator or default_generator).draws(count - 1).view(np.int64)
    others %= np.arange(count, 1, -1)
    others += places[:-1]
    return np.array(_stepwise(others.tolist())) if count <= _FEW else _at_once(others)


def _stepwise(others: list[int]) -> list[int]:
    order = list(range(len(others) + 1))
    for place, other in enumerate(others):
        order[place], order[other] = order[other], order[place]
    return order


def _at_once(others: Array) -> Array:
    """The result of the steps that swap place `i` with place `others[i]`, for i = 0, 1, ...

    Step i leaves in place i what was in `others[i]`. That had been put there by the last step before that swapped with
    the same place, and is what its own place held then; with no such step it is the place's own number.
    """
    held = _held(others)
    previous = _previous_equal(others)
    return np.append(np.where(previous < 0, others, held[previous]), held[-1])


def _held(others: Array) -> Array:
    """What each place holds when its own step begins: what the last step that swapped with it held, or itself."""
    source = np.arange(len(others) + 1)
    swaps = np.flatnonzero(others != source[:-1])
    source[others[swaps]] = swaps  # of several with the same other place NumPy stores the last
    while True:
        further = source[source]
        if np.array_equal(further, source):
            return source
        source = further


def _previous_equal(values: Array) -> Array:
    """For each element the index of the last equal one before it, or -1."""
    width = len(values).bit_length()
    keys = (values << width) | np.arange(len(values))
    keys.sort()
    indices = keys & ((1 << width) - 1)
    keys >>= width
    repeated = np.flatnonzero(keys[1:] == keys[:-1])
    previous = np.full(len(values), -1)
    previous[indices[repeated + 1]] = indices[repeated]
    return previous
