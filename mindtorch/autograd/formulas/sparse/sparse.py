"""Formulas of sparse tensors."""

from mindtorch._core.layout import strided
from mindtorch.dispatch import ops


def sparse_values_backward(grad, indices):
    """Gradient of a sparse tensor's values: the gradient at its places."""
    dense = grad.to_dense() if grad.is_sparse else grad
    return dense.index(list(indices.unbind(0)))


def to_dense_backward(grad, self, masked_grad):
    """Gradient of to_dense: at the input's places, or everywhere if the others are not to count as constants."""
    if masked_grad is False:
        return grad.to_sparse(self.sparse_dim()) if self.is_sparse else to_layout_of(grad, self)
    return grad.sparse_mask(self.coalesce() if self.is_sparse else self)


def values_backward(grad, self):
    """Gradient of the values: a sparse tensor that has it in their place."""
    if self.is_sparse:
        return ops._sparse_coo_tensor_unsafe(self._indices(), grad, self.shape, is_coalesced=self.is_coalesced())
    if self.layout.by_rows:
        indices = ops.crow_indices(self), ops.col_indices(self)
    else:
        indices = ops.ccol_indices(self), ops.row_indices(self)
    return ops.sparse_compressed_tensor_comp_plain_value_size(*indices, grad, self.shape, layout=self.layout)


def to_layout_of(grad, self):
    """The gradient in the layout of the input."""
    layout = self.layout
    if layout is strided:
        return grad.to_dense()
    if grad.layout is layout:
        return grad
    return grad.to_sparse(layout=layout, blocksize=self._mt_array.blocksize if layout.is_blocked else None)
