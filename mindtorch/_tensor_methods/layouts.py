"""Tensor methods for layouts, and for dtypes that torch has and this library has not: plain answers, clear refusals."""

from typing import Any

from mindtorch._core.dtype import float32
from mindtorch._core.layout import sparse_coo, sparse_csr
from mindtorch._core.tensor import Tensor, extend_tensor, read_only  # type: ignore[attr-defined]


@extend_tensor
class LayoutMethods:
    """Compressed sparse layouts, quantized and half complex numbers."""

    is_mtia = is_ipu = is_maia = False

    @read_only
    def is_sparse_csr(self: Any) -> bool:
        return self.layout is sparse_csr

    def to_sparse_coo(self: Any) -> Tensor:
        """A sparse tensor in coordinate form."""
        return self.to_sparse(layout=sparse_coo)

    def dequantize(self: Any) -> Tensor:
        """The numbers as float32; no tensor is quantized here."""
        return self.to(float32)

    def chalf(self: Any, *, memory_format: Any = None) -> Tensor:
        """Not supported: use `cfloat`."""
        raise NotImplementedError("chalf: there is no dtype complex32; use cfloat(), whose parts are float32")
