"""Kernels of ops that are called in several ways."""

import numpy as np

from mindtorch.backends.writing import deliver


def stretch(input, by):
    return np.asarray(input * by)


def either(input, other):
    return np.maximum(input, other)


def spelled(input, out=None):
    return deliver(input + 1, out)


def handed(input):
    return input[...]
