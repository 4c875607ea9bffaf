"""Special functions, as `torch.special` names them."""

from mindtorch._generated.ops.pointwise import exp2, expm1, log1p, logit, round, sinc
from mindtorch._generated.ops.reduction import log_softmax, logsumexp, softmax
from mindtorch._generated.ops.special import digamma, erf, erfc, erfinv, i0, polygamma, xlogy
from mindtorch._generated.ops.special import digamma as psi
from mindtorch._generated.ops.special import lgamma as gammaln
from mindtorch._generated.ops.special import special_entr as entr
from mindtorch._generated.ops.special import special_erfcx as erfcx
from mindtorch._generated.ops.special import special_expit as expit
from mindtorch._generated.ops.special import special_gammainc as gammainc
from mindtorch._generated.ops.special import special_gammaincc as gammaincc
from mindtorch._generated.ops.special import special_i0e as i0e
from mindtorch._generated.ops.special import special_i1 as i1
from mindtorch._generated.ops.special import special_i1e as i1e
from mindtorch._generated.ops.special import special_log_ndtr as log_ndtr
from mindtorch._generated.ops.special import special_multigammaln as multigammaln
from mindtorch._generated.ops.special import special_ndtr as ndtr
from mindtorch._generated.ops.special import special_ndtri as ndtri
from mindtorch._generated.ops.special import special_xlog1py as xlog1py
from mindtorch._generated.ops.special import special_zeta as zeta

__all__ = [
    "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1", "gammainc", "gammaincc", "gammaln",
    "i0", "i0e", "i1", "i1e", "log1p", "log_ndtr", "log_softmax", "logit", "logsumexp", "multigammaln", "ndtr", "ndtri",
    "polygamma", "psi", "round", "sinc", "softmax", "xlog1py", "xlogy", "zeta",
]  # fmt: skip
