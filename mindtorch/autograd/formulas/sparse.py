"""Formulas of sparse tensors."""


def sparse_values_backward(grad, indices):
    """Gradient of a sparse tensor's values: the gradient at its places."""
    dense = grad.to_dense() if grad.is_sparse else grad
    return dense.index(list(indices.unbind(0)))


def to_dense_backward(grad, self, masked_grad):
    """Gradient of to_dense: at the input's places, or everywhere if the others are not to count as constants."""
    return grad.to_sparse(self.sparse_dim()) if masked_grad is False else grad.sparse_mask(self.coalesce())
