"""There is no CUDA here. Its settings can be set, and change nothing."""

from contextlib import AbstractContextManager

from mindtorch._support.warnings import warn
from mindtorch.backends.attention_choice import SDPBackend, allow, is_allowed, only


class _Matmul:
    """How matrices would be multiplied."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True


matmul = _Matmul()


def is_built() -> bool:
    return False


# -------------------- attention --------------------


def flash_sdp_enabled() -> bool:
    return is_allowed(SDPBackend.FLASH_ATTENTION)


def enable_flash_sdp(enabled: bool) -> None:
    allow(SDPBackend.FLASH_ATTENTION, enabled)


def mem_efficient_sdp_enabled() -> bool:
    return is_allowed(SDPBackend.EFFICIENT_ATTENTION)


def enable_mem_efficient_sdp(enabled: bool) -> None:
    allow(SDPBackend.EFFICIENT_ATTENTION, enabled)


def math_sdp_enabled() -> bool:
    return is_allowed(SDPBackend.MATH)


def enable_math_sdp(enabled: bool) -> None:
    allow(SDPBackend.MATH, enabled)


def cudnn_sdp_enabled() -> bool:
    return is_allowed(SDPBackend.CUDNN_ATTENTION)


def enable_cudnn_sdp(enabled: bool) -> None:
    allow(SDPBackend.CUDNN_ATTENTION, enabled)


def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
) -> AbstractContextManager[None]:
    """The old name of `nn.attention.sdpa_kernel`."""
    warn(
        "`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager will be removed. Please "
        "see `torch.nn.attention.sdpa_kernel()` for the new context manager, with updated signature.",
        category=FutureWarning,
    )
    wanted = {
        SDPBackend.FLASH_ATTENTION: enable_flash,
        SDPBackend.MATH: enable_math,
        SDPBackend.EFFICIENT_ATTENTION: enable_mem_efficient,
        SDPBackend.CUDNN_ATTENTION: enable_cudnn,
    }
    return only(backend for backend, enabled in wanted.items() if enabled)
