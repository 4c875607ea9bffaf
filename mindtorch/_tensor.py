"""The class of tensors, under the name of the module that PyTorch has it in."""

from mindtorch._core.tensor import Tensor as Tensor
