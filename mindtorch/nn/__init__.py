"""Neural networks: layers, their functions, initial values and helpers."""

from mindtorch.nn import functional, init, utils
from mindtorch.nn.modules import *  # noqa: F403
from mindtorch.nn.modules import __all__ as _layers
from mindtorch.nn.parameter import Buffer, Parameter

__all__ = ["Buffer", "Parameter", "functional", "init", "utils", *_layers]
