"""The class of tensors, under the name of the module that PyTorch has it in."""

from mindtorch._core.tensor import Tensor as Tensor
from mindtorch._tensor_methods.rebuilding import rebuild_from_type_v2 as _rebuild_from_type_v2  # noqa: F401
