"""Neural networks: layers, their functions, initial values and helpers."""

from mindtorch.nn import attention as attention
from mindtorch.nn import common_types as common_types
from mindtorch.nn import functional, init, parallel, utils
from mindtorch.nn import modules as modules
from mindtorch.nn import parameter as parameter
from mindtorch.nn import quantized as quantized
from mindtorch.nn.linear_losses import LinearCrossEntropyOptions
from mindtorch.nn.modules import *  # noqa: F403
from mindtorch.nn.modules import __all__ as _layers
from mindtorch.nn.parallel import DataParallel
from mindtorch.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "Buffer",
    "DataParallel",
    "LinearCrossEntropyOptions",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "functional",
    "init",
    "parallel",
    "utils",
    *_layers,
]
