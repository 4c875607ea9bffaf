"""Comparisons that the NPU has kernels written by hand for."""

from mindtorch.backends.npu.choosing import fmax as fmax
from mindtorch.backends.npu.choosing import fmin as fmin
from mindtorch.backends.npu.pointwise import isinf as isinf
