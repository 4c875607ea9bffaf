"""Exchange of tensors through DLPack capsules."""

from mindtorch.interop import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
