"""Activation functions that the NPU has kernels written by hand for."""

from mindtorch.backends.npu.pointwise import prelu as prelu
