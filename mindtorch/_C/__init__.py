"""The names of `torch._C` that programs with tensor subclasses use."""

from mindtorch._C import _fft as _fft
from mindtorch._C import _linalg as _linalg
from mindtorch._C import _nn as _nn
from mindtorch._C import _special as _special
from mindtorch._C._keys import DispatchKey as DispatchKey
from mindtorch._C._keys import DispatchKeySet as DispatchKeySet
from mindtorch._C._keys import _ExcludeDispatchKeyGuard as _ExcludeDispatchKeyGuard
from mindtorch._core import state
from mindtorch._core.device import device, get_default_device
from mindtorch._core.generator import Generator as Generator
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import torch_function
from mindtorch.dispatch.modes import torch_dispatch

DisableTorchFunction = torch_function.without_torch_function_and_modes
DisableTorchFunctionSubclass = torch_function.without_torch_function
_DisableTorchDispatch = torch_dispatch.without_torch_dispatch
_disabled_torch_dispatch_impl = torch_dispatch.disabled_torch_dispatch
_disabled_torch_function_impl = torch_function.disabled_torch_function

_TensorMeta = type(Tensor)


def _are_functorch_transforms_active() -> bool:
    """Whether a transform of `torch.func` is running in this thread."""
    return state.thread.transforms > 0


def _get_accelerator() -> device:
    """The device to use."""
    return device("cpu")


def _is_tracing() -> bool:
    return False


def _get_default_device() -> str:
    """Where tensors are made."""
    return str(get_default_device())


def _get_tracing_state() -> None:
    """Nothing is traced."""


def _log_api_usage_once(event: str) -> None:
    """Nothing is logged."""


class Value:
    """A value in a graph of TorchScript, for programs that import the name; nothing is one."""
