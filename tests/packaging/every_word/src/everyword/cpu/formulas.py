"""Kernels of ops whose derivatives are of interest."""

import numpy as np

from mindtorch.backends.writing import deliver


def product(input, other, alpha, out=None):
    return deliver(input * other * np.asarray(alpha).astype(np.result_type(input, other)), out)


def counted(input, calls):
    calls += 1
    return np.absolute(input)


def halves(input, out=None):
    return deliver(input / 2, out)


def halves_of(input, record):
    return np.asarray(input / 2)


def power(input, out=None):
    return deliver(np.exp(input), out)


def parted(input, out=None):
    whole, part = out or (None, None)
    return deliver(2 * input, whole), deliver(np.exp(input), part)


def mixed(input, other):
    return 2 * input + other, np.arange(input.size).reshape(input.shape), np.exp(input)


def pair(input, other):
    return np.asarray(input * other)


def facts(input, other):
    return np.asarray(input.sum(dtype=input.dtype))


def listed(tensors):
    return np.asarray(sum(each.sum() for each in tensors), tensors[0].dtype)


def doubles(tensors):
    return [2 * each for each in tensors]


def weighted(input, weight, bias, scale, shift):
    return np.asarray((input * weight + bias) * scale + shift)
