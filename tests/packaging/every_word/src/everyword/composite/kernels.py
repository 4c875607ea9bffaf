"""Ops made of other ops."""

from everyword._generated import own_ops


def made_of(input, factor):
    return own_ops.halves(input) * factor


def one_node(input, other):
    return input * other


def summed(input, dtype):
    return input.sum(dtype=dtype)


def measured(input):
    return input.norm()


def measured_dtype(input, dtype):
    return input.to(dtype).norm()


def unsafe(input):
    return input * 2
