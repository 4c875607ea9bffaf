"""The shapes of the transforms: one dimension is halved or doubled."""

from mindtorch.backends.meta.results import deliver_all, new


def haar(input, dim, out=None):
    shape = _scaled(input.shape, dim, 0.5)
    return deliver_all(out, [(shape, input.dtype, None)] * 2)


def inverse_haar(approximation, detail, dim):
    return new(_scaled(approximation.shape, dim, 2), approximation.dtype)


def _scaled(shape, dim, factor):
    axis = dim % len(shape)
    return (*shape[:axis], int(shape[axis] * factor), *shape[axis + 1 :])
