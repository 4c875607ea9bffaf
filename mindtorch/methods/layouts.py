"""Tensor methods for layouts and dtypes that torch has and this library has not: clear refusals, and plain answers."""

from typing import Any

from mindtorch.dtype import float32
from mindtorch.tensor import extend_tensor


@extend_tensor
class LayoutMethods:
    """Compressed sparse layouts, quantized and half complex numbers."""

    is_sparse_csr = is_mtia = is_ipu = is_maia = False

    def to_sparse_coo(self: Any) -> Any:
        """A sparse tensor in coordinate form, the sparse layout that there is."""
        return self.to_sparse()

    def to_sparse_csr(self: Any, dense_dim: Any = None) -> Any:
        """Not supported: use `to_sparse`."""
        raise _no_layout("to_sparse_csr")

    def to_sparse_csc(self: Any, dense_dim: Any = None) -> Any:
        """Not supported: use `to_sparse`."""
        raise _no_layout("to_sparse_csc")

    def to_sparse_bsr(self: Any, blocksize: Any, dense_dim: Any = None) -> Any:
        """Not supported: use `to_sparse`."""
        raise _no_layout("to_sparse_bsr")

    def to_sparse_bsc(self: Any, blocksize: Any, dense_dim: Any = None) -> Any:
        """Not supported: use `to_sparse`."""
        raise _no_layout("to_sparse_bsc")

    def crow_indices(self: Any) -> Any:
        """Of compressed rows, which no tensor has here."""
        raise _not_compressed("crow_indices", "row", self)

    def col_indices(self: Any) -> Any:
        """Of compressed rows, which no tensor has here."""
        raise _not_compressed("col_indices", "row", self)

    def ccol_indices(self: Any) -> Any:
        """Of compressed columns, which no tensor has here."""
        raise _not_compressed("ccol_indices", "column", self)

    def row_indices(self: Any) -> Any:
        """Of compressed columns, which no tensor has here."""
        raise _not_compressed("row_indices", "column", self)

    def dequantize(self: Any) -> Any:
        """The numbers as float32; no tensor is quantized here."""
        return self.to(float32)

    def chalf(self: Any, *, memory_format: Any = None) -> Any:
        """Not supported: use `cfloat`."""
        raise NotImplementedError("chalf: there is no dtype complex32; use cfloat(), whose parts are float32")


def _no_layout(op: str) -> NotImplementedError:
    return NotImplementedError(f"{op}: the only sparse layout is torch.sparse_coo; use to_sparse()")


def _not_compressed(op: str, which: str, tensor: Any) -> RuntimeError:
    layout = "Sparse" if tensor.is_sparse else "Strided"
    return RuntimeError(f"{op} expected sparse {which} compressed tensor layout but got {layout}")
