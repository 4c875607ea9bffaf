"""Neural networks: layers, their functions, initial values and helpers."""

from mindtorch.nn import common_types as common_types
from mindtorch.nn import functional, init, parallel, utils
from mindtorch.nn.lazy_parameters import UninitializedBuffer, UninitializedParameter
from mindtorch.nn.modules import *  # noqa: F403
from mindtorch.nn.modules import __all__ as _layers
from mindtorch.nn.parallel import DataParallel
from mindtorch.nn.parameter import Buffer, Parameter

__all__ = [
    "Buffer",
    "DataParallel",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "functional",
    "init",
    "parallel",
    "utils",
    *_layers,
]
