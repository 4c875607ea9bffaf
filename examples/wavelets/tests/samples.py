"""Test inputs: a function for every word of `samples:` in ops.yaml, and what some ops should give, by NumPy."""

import numpy as np

from mindtorch.testing.ops import call


def thresholds(make):
    for shape in ((), (5,), (2, 3), (0, 3)):
        yield call(make(*shape), 0.5)
    yield call(make(3, 4).t(), 1.0)


def even_signals(make):
    yield call(make(8))
    yield call(make(2, 6))
    yield call(make(4, 3), dim=0)


def even_signals_and_thresholds(make):
    for sample in even_signals(make):
        yield call(*sample.args, 0.3, **sample.kwargs)


def signals(make):
    yield from even_signals(make)
    yield call(make(2, 5))


def pairs(make):
    yield call(make(4), make(4))
    yield call(make(2, 3), make(2, 3), dim=0)


def reductions(make):
    yield call(make(4))
    yield call(make(2, 3), dim=1)
    yield call(make(2, 3, 2), dim=(0, 2), keepdim=True)


def _haar(signal, dim=-1):
    pairs = np.moveaxis(signal, dim, -1)
    pairs = pairs.reshape(*pairs.shape[:-1], -1, 2)
    matrix = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
    return tuple(np.moveaxis(pairs @ row, -1, dim) for row in matrix)


REFERENCES = {
    "soft_threshold": lambda values, threshold: values - np.clip(values, -threshold, threshold),
    "haar": _haar,
    "every_other": lambda values, dim=-1: np.take(values, range(0, values.shape[dim], 2), dim),
    "energy": lambda values, dim=None, keepdim=False: (
        np.linalg.norm(values) ** 2 if dim is None else (values**2).sum(dim, keepdims=keepdim)
    ),
}
