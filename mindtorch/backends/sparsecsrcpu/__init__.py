"""The backend of compressed sparse tensors on the CPU: CSR, CSC and their blocked forms."""

from mindtorch.backends.sparsecsrcpu import arithmetic as arithmetic  # its kernels register themselves
