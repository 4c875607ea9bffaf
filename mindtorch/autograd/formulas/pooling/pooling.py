"""Formulas of pooling."""


def max_pool_pick(tensor, indices, dims=2):
    """From a tensor shaped like max pooling's input, the elements at the maxima; a plane has `dims` dimensions."""
    flat = tensor.reshape(*tensor.shape[:-dims], -1)
    return flat.gather(-1, indices.reshape(*indices.shape[:-dims], -1)).reshape(indices.shape)
