"""`torch.utils._python_dispatch`: modes that see every op below autograd, and what helps with tensor subclasses."""

from mindtorch.dispatch.modes import torch_dispatch

TorchDispatchMode = torch_dispatch.TorchDispatchMode
_disable_current_modes = torch_dispatch.without_modes
_get_current_dispatch_mode = torch_dispatch.current_mode
