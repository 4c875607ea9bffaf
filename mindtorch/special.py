"""Special functions, as `torch.special` names them: the ops of this module in ops.yaml, and others that it has, too."""

from mindtorch._generated.functions import (
    digamma,
    erf,
    erfc,
    erfinv,
    exp2,
    expm1,
    i0,
    log1p,
    log_softmax,
    logit,
    logsumexp,
    polygamma,
    round,
    sinc,
    softmax,
    xlogy,
)
from mindtorch._generated.functions import digamma as psi
from mindtorch._generated.functions import lgamma as gammaln
from mindtorch._generated.modules import special as _ops
from mindtorch._generated.modules.special import *  # noqa: F403

__all__ = [
    "digamma", "erf", "erfc", "erfinv", "exp2", "expm1", "gammaln", "i0", "log1p", "log_softmax", "logit", "logsumexp",
    "polygamma", "psi", "round", "sinc", "softmax", "xlogy",
]  # fmt: skip
__all__ += _ops.__all__
