"""The names of `torch._C` that programs with tensor subclasses use."""

from mindtorch.dispatch import torch_dispatch, torch_function

DisableTorchFunction = torch_function.without_torch_function_and_modes
DisableTorchFunctionSubclass = torch_function.without_torch_function
_DisableTorchDispatch = torch_dispatch.without_torch_dispatch
_disabled_torch_dispatch_impl = torch_dispatch.disabled_torch_dispatch
_disabled_torch_function_impl = torch_function.disabled_torch_function


def _get_tracing_state() -> None:
    """Nothing is traced."""


def _log_api_usage_once(event: str) -> None:
    """Nothing is logged."""
