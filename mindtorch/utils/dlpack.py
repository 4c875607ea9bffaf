"""Exchange of tensors through DLPack capsules."""

from mindtorch._core.interop import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
