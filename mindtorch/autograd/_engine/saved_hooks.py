"""Hooks on the saved tensors of all graphs that are made in a block."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch._core import state
from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.saved_tensor import check_hooks

_thread = state.thread


class saved_tensors_hooks:
    """In this block, graphs keep what `pack_hook(tensor)` returns, and `unpack_hook` of that is the tensor again."""

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if _thread.saved_tensor_hooks_disabled is not None:
            raise RuntimeError(_thread.saved_tensor_hooks_disabled)
        check_hooks("_push_saved_tensors_default_hooks", self.pack_hook, self.unpack_hook)
        _thread.saved_tensor_hooks = (*_thread.saved_tensor_hooks, (self.pack_hook, self.unpack_hook))
        state.count_active_mode(1)

    def __exit__(self, *exception: Any) -> None:
        _thread.saved_tensor_hooks = _thread.saved_tensor_hooks[:-1]
        state.count_active_mode(-1)


class save_on_cpu(saved_tensors_hooks):
    """In this block, graphs keep their tensors on the CPU and bring them back for backward."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(_to_cpu, _to_device)


def _to_cpu(tensor: Tensor) -> tuple:
    return tensor.device, tensor.to("cpu")


def _to_device(packed: tuple) -> Tensor:
    device, tensor = packed
    return tensor.to(device)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """In this block, `saved_tensors_hooks` is an error with the given message."""
    if _thread.saved_tensor_hooks:
        raise RuntimeError(error_message)
    previous = _thread.saved_tensor_hooks_disabled
    _thread.saved_tensor_hooks_disabled = error_message
    try:
        yield
    finally:
        _thread.saved_tensor_hooks_disabled = previous
