"""torch_npu, as far as mindtorch has it: the device module, the ops besides torch's, and what programs import of it.

It is not installed under this name: `mindtorch.npu.as_torch_npu()` makes it importable.
"""

from mindtorch import npu as npu
from mindtorch._core.tensor import Tensor
from mindtorch.npu import amp as amp
from mindtorch.version import __version__ as __version__
from torch_npu import profiler as profiler
from torch_npu._generated import registry as registry  # makes the ops known to mindtorch
from torch_npu._generated.functions import *  # noqa: F403

_ND = 2  # the format of memory that strides describe


def get_npu_format(self: Tensor) -> int:
    """The format of a tensor's memory, which is always ND."""
    if self.device.type != "npu":
        raise RuntimeError(f"Expected all tensors to be on npu, but got {self.device}")
    return _ND


def npu_format_cast_(self: Tensor, acl_format: int) -> Tensor:
    """The tensor itself: memory is always ND, and kernels convert what they need."""
    return self
