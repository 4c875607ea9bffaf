"""Divergences of two distributions of one kind."""

from __future__ import annotations

from math import inf
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.distributions.bernoulli import Bernoulli
from mindtorch.distributions.beta import Beta
from mindtorch.distributions.binomial import Binomial
from mindtorch.distributions.categorical import Categorical
from mindtorch.distributions.cauchy import Cauchy
from mindtorch.distributions.continuous_bernoulli import ContinuousBernoulli
from mindtorch.distributions.dirichlet import Dirichlet
from mindtorch.distributions.exp_family import ExponentialFamily
from mindtorch.distributions.exponential import Exponential
from mindtorch.distributions.gamma import Gamma
from mindtorch.distributions.geometric import Geometric
from mindtorch.distributions.gumbel import Gumbel
from mindtorch.distributions.half_normal import HalfNormal
from mindtorch.distributions.independent import Independent
from mindtorch.distributions.kl import kl_divergence, register_kl
from mindtorch.distributions.laplace import Laplace
from mindtorch.distributions.multivariate_normal import MultivariateNormal, batch_mahalanobis
from mindtorch.distributions.normal import Normal
from mindtorch.distributions.one_hot_categorical import OneHotCategorical
from mindtorch.distributions.pareto import Pareto
from mindtorch.distributions.poisson import Poisson
from mindtorch.distributions.transformed_distribution import TransformedDistribution
from mindtorch.distributions.uniform import Uniform
from mindtorch.distributions.utils import euler_constant, sum_rightmost
from mindtorch.linalg import solve_triangular
from mindtorch.nn.functional import softplus

# -------------------- of numbers --------------------


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Tensor:
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Tensor:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * ops.exp(-distance / p.scale) - 1


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Tensor:
    squares = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return squares.log() - (4 * p.scale * q.scale).log()


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Tensor:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    result[(q.low > p.low) | (q.high < p.high)] = inf
    return result


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Tensor:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Tensor:
    return (
        q.concentration * (p.rate / q.rate).log()
        + ops.lgamma(q.concentration)
        - ops.lgamma(p.concentration)
        + (p.concentration - q.concentration) * ops.digamma(p.concentration)
        + (q.rate - p.rate) * (p.concentration / p.rate)
    )


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Tensor:
    ratio = p.scale / q.scale
    from_p, from_q = p.loc / q.scale, q.loc / q.scale
    shifted = from_q - from_p
    power = ops.exp(shifted + (1 + ratio).lgamma())
    return -ratio.log() + ratio * euler_constant - shifted + power - (1 + euler_constant)


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Tensor:
    ratio, powers = p.scale / q.scale, q.alpha / p.alpha
    result = q.alpha * ratio.log() - powers.log() + powers - 1
    result[p.support.lower_bound < q.support.lower_bound] = inf
    return result


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Tensor:
    total_p, total_q = p.concentration1 + p.concentration0, q.concentration1 + q.concentration0
    normalizers = (
        q.concentration1.lgamma()
        + q.concentration0.lgamma()
        + total_p.lgamma()
        - (p.concentration1.lgamma() + p.concentration0.lgamma() + total_q.lgamma())
    )
    return (
        normalizers
        + (p.concentration1 - q.concentration1) * ops.digamma(p.concentration1)
        + (p.concentration0 - q.concentration0) * ops.digamma(p.concentration0)
        + (total_q - total_p) * ops.digamma(total_p)
    )


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Tensor:
    own = p._cont_bern_log_norm() + ops.log1p(-p.probs)
    return p.mean * (p.logits - q.logits) + own - q._cont_bern_log_norm() - ops.log1p(-q.probs)


# -------------------- of whole numbers and classes --------------------


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Tensor:
    ones = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    ones[q.probs == 0] = inf
    ones[p.probs == 0] = 0
    zeros = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    zeros[q.probs == 1] = inf
    zeros[p.probs == 1] = 0
    return ones + zeros


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    result = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    result[p.total_count > q.total_count] = inf
    return result


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Tensor:
    return -p.entropy() - ops.log1p(-q.probs) / p.probs - q.logits


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Tensor:
    terms = p.probs * (p.logits - q.logits)
    terms[(q.probs == 0).expand_as(terms)] = inf
    terms[(p.probs == 0).expand_as(terms)] = 0
    return terms.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_categorical(p: Any, q: Any) -> Tensor:
    return kl_divergence(p._categorical, q._categorical)


# -------------------- of vectors --------------------


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Tensor:
    total_p, total_q = p.concentration.sum(-1), q.concentration.sum(-1)
    normalizers = total_p.lgamma() - total_q.lgamma() - (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    logs = p.concentration.digamma() - total_p.digamma().unsqueeze(-1)
    return normalizers + ((p.concentration - q.concentration) * logs).sum(-1)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed"
        )
    factor_p, factor_q = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    half_logs = q._half_log_determinant() - p._half_log_determinant()
    trace = solve_triangular(factor_q, factor_p, upper=False).pow(2).sum((-2, -1))
    away = batch_mahalanobis(factor_q, q.loc - p.loc)
    return half_logs + 0.5 * (trace + away - p.event_shape[0])


# -------------------- of what is made of others --------------------


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    more = len(p.event_shape) - len(p.base_dist.event_shape)
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), more)


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: Any, q: Any) -> Tensor:
    if type(p) is not type(q):
        raise NotImplementedError(
            f"The cross KL-divergence between different exponential families cannot {' ' * 28}be computed using "
            "Bregman divergences"
        )
    natural_p, normalizer, slopes = p._differentiated()
    natural_q = q._natural_params
    result = q._log_normalizer(*natural_q) - normalizer
    for own, other, slope in zip(natural_p, natural_q, slopes):
        result = result - sum_rightmost((other - own) * slope, len(q.event_shape))
    return result
