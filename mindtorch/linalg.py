"""Linear algebra, as `torch.linalg` names it."""

from mindtorch._generated.ops.linalg import linalg_vecdot as vecdot
from mindtorch._generated.ops.linalg import matmul
from mindtorch._generated.ops.reduction import linalg_vector_norm as vector_norm

__all__ = ["matmul", "vecdot", "vector_norm"]
