"""Where programs find `Fold` and `Unfold` in torch."""

from mindtorch.nn.modules.upsampling import Fold, Unfold

__all__ = ["Fold", "Unfold"]
