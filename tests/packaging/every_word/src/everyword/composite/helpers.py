"""What decompositions use besides ops."""

from mindtorch.dispatch import ops


def number_beside(number, tensor):
    return ops.scalar_tensor(number, dtype=tensor.dtype)
