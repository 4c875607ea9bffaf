"""`torch.utils._python_dispatch`: modes that see every op below autograd, and what helps with tensor subclasses."""

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch.modes import torch_dispatch

TorchDispatchMode = torch_dispatch.TorchDispatchMode
_disable_current_modes = torch_dispatch.without_modes
_get_current_dispatch_mode = torch_dispatch.current_mode


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Whether a tensor of a subclass tells how it is taken apart into plain tensors, and made of them again."""
    if not isinstance(t, Tensor) or type(t) is Tensor:
        return False
    return hasattr(type(t), "__tensor_flatten__") and hasattr(type(t), "__tensor_unflatten__")
