"""Linear algebra, as `torch.linalg` names it. The functions are the ops of this module in ops.yaml."""

from mindtorch._generated.modules import linalg as _ops
from mindtorch._generated.modules.linalg import *  # noqa: F403
from mindtorch._support.errors import LinAlgError

__all__ = ["LinAlgError"]
__all__ += _ops.__all__
