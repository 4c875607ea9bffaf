"""Formulas of grids that matrices move."""

from mindtorch.autograd.formulas.common import in_rows_of_samples
from mindtorch.dispatch import ops


def affine_grid_backward(grad, size, align_corners):
    """Gradient of the matrices by which a grid was moved."""
    dims = len(size) - 2
    identity = ops.eye(dims, dims + 1, dtype=grad.dtype, device=grad.device)
    places = ops.affine_grid_generator(identity.unsqueeze(0), (1, 1, *size[2:]), align_corners)
    base = ops.cat([places.reshape(-1, dims), places.new_ones(places.numel() // dims, 1)], 1)
    return in_rows_of_samples((base.t() @ grad.reshape(size[0], -1, dims)).transpose(1, 2))
