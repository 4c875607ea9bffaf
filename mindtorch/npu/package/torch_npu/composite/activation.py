"""Activations, and products of one half with the other one activated."""

from mindtorch.dispatch import ops


def npu_swiglu(input, dim):
    """silu of the first half along `dim`, times the second one."""
    first, second = ops.chunk(input, 2, dim)
    return ops.silu(first) * second


def npu_geglu(input, dim, approximate, activate_left):
    """The first half times gelu of the second one (`activate_left`: the other way round), and that gelu."""
    first, second = ops.chunk(input, 2, dim)
    if activate_left:
        first, second = second, first
    activated = ops.gelu(second, approximate="tanh" if approximate == 1 else "none")
    return first * activated, activated


def npu_fast_gelu(input):
    """`x * sigmoid(1.702 * x)`."""
    return input * ops.sigmoid(1.702 * input)
