"""Ops made of other ops."""


def either_scalar(input, other):
    return input.clamp_min(other)
