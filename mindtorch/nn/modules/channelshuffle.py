"""Where programs find `ChannelShuffle` in torch."""

from mindtorch.nn.modules.upsampling import ChannelShuffle

__all__ = ["ChannelShuffle"]
