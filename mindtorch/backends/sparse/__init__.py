"""The backend of sparse tensors on the CPU: COO, coordinates and values."""
