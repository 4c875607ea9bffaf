"""Mixed precision."""

from mindtorch.amp import autocast_mode as autocast_mode
from mindtorch.amp import grad_scaler as grad_scaler
from mindtorch.amp.autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from mindtorch.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
