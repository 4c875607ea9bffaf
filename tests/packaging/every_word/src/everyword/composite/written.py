"""Ops made of other ops, which write."""


def drawn_from_ops(input, noise):
    noise.fill_(3)
    return input * noise
