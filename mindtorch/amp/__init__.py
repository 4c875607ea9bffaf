"""Mixed precision."""

from mindtorch.amp.autocast_mode import autocast, is_autocast_available
from mindtorch.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "is_autocast_available"]
