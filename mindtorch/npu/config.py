"""What programs choose for all ops of the device, under torch_npu's names."""

from typing import Any

from mindtorch.backends.npu.launch import settings


class Config:
    """`torch.npu.config`. There are no internal formats here, so that allowing them changes nothing."""

    allow_internal_format = False


class _Hf32:
    """Whether products of float32 matrices may be computed with fewer bits."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def allow_hf32(self) -> bool:
        return getattr(settings, self._name)

    @allow_hf32.setter
    def allow_hf32(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(f"expected a bool, but got {type(value).__name__}")
        setattr(settings, self._name, value)


config = Config()
matmul = _Hf32("matmul_hf32")
conv = _Hf32("conv_hf32")


def set_compile_mode(jit_compile: Any = None) -> None:
    """Accepted, and without effect: ops are ready-made kernels, which compute the same."""


def is_jit_compile_false() -> bool:
    """Whether ops are ready-made kernels: always."""
    return True
