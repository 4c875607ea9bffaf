"""The shapes of results that no rule gives."""

from mindtorch.backends.meta.results import new


def absorb_all(input, running, seen):
    return new(input.shape, input.dtype), new(input.shape, input.dtype)
