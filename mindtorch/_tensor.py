"""The class of tensors, under the name of the module that PyTorch has it in."""

from mindtorch.tensor import Tensor as Tensor
