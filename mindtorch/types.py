"""Types for annotations, as in `torch.types`."""

import builtins
import os
from collections.abc import Sequence
from typing import IO

from mindtorch._core.device import device as device_type
from mindtorch._core.dtype import dtype as dtype_type
from mindtorch._core.layout import layout as layout_type
from mindtorch._core.size import Size
from mindtorch._core.tensor import Tensor

Number = int | float | bool
Device = device_type | str | int | None
FileLike = str | os.PathLike[str] | IO[bytes]

# The underscores keep apart what would otherwise hide Python's names and those of the library.
_int, _float, _bool, _complex = builtins.int, builtins.float, builtins.bool, builtins.complex
_dtype, _device, _layout = dtype_type, device_type, layout_type
_size = Size | list[int] | tuple[int, ...]
_TensorOrTensors = Tensor | Sequence[Tensor]
