"""Special functions, as `torch.special` names them."""

from mindtorch._generated.ops.pointwise import expm1, log1p, round
from mindtorch._generated.ops.reduction import log_softmax, logsumexp, softmax
from mindtorch._generated.ops.special import digamma, erf, erfc, erfinv, polygamma, xlogy
from mindtorch._generated.ops.special import digamma as psi
from mindtorch._generated.ops.special import lgamma as gammaln
from mindtorch._generated.ops.special import special_expit as expit

__all__ = [
    "digamma", "erf", "erfc", "erfinv", "expit", "expm1", "gammaln", "log1p", "log_softmax", "logsumexp", "polygamma",
    "psi", "round", "softmax", "xlogy",
]  # fmt: skip
