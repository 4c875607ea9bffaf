"""What `ShapeProp` notes of the tensors of a graph."""

from typing import Any, NamedTuple

from mindtorch._core.dtype import dtype
from mindtorch._core.memory_format import memory_format
from mindtorch._core.size import Size


class TensorMetadata(NamedTuple):
    """Facts about a tensor that a program passes on."""

    shape: Size
    dtype: dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: memory_format | None
    is_quantized: bool
    qparams: dict[str, Any]
