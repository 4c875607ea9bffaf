"""Where programs find `PixelShuffle` and `PixelUnshuffle` in torch."""

from mindtorch.nn.modules.upsampling import PixelShuffle, PixelUnshuffle

__all__ = ["PixelShuffle", "PixelUnshuffle"]
