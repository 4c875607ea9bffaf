"""The backend of sparse tensors on the CPU: COO, coordinates and values."""

from mindtorch.backends.sparsecpu import arithmetic as arithmetic  # its kernels register themselves
