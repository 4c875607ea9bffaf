"""Test inputs."""

from mindtorch.testing.ops import call


def unary(make):
    yield call(make(2, 3))


def with_state(make):
    yield call(make(2, 3), make(2, 3, differentiable=False))


def with_momentum(make):
    yield from with_state(make)
    yield call(make(2, 3), make(2, 3, differentiable=False), 0.25)
