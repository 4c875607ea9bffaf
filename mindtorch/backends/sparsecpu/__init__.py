"""The backend of sparse tensors on the CPU: COO, coordinates and values."""

# Their kernels register themselves.
from mindtorch.backends.sparsecpu import arithmetic as arithmetic
from mindtorch.backends.sparsecpu import copies as copies
from mindtorch.backends.sparsecpu import products as products
from mindtorch.backends.sparsecpu import reductions as reductions
from mindtorch.backends.sparsecpu import shapes as shapes
