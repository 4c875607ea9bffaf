"""Divergences of distributions of different kinds."""

from __future__ import annotations

import math
from math import inf, pi
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.distributions.bernoulli import Bernoulli
from mindtorch.distributions.beta import Beta
from mindtorch.distributions.binomial import Binomial
from mindtorch.distributions.continuous_bernoulli import ContinuousBernoulli
from mindtorch.distributions.exponential import Exponential
from mindtorch.distributions.gamma import Gamma
from mindtorch.distributions.gumbel import Gumbel
from mindtorch.distributions.kl import register_kl
from mindtorch.distributions.laplace import Laplace
from mindtorch.distributions.normal import Normal
from mindtorch.distributions.pareto import Pareto
from mindtorch.distributions.poisson import Poisson
from mindtorch.distributions.uniform import Uniform
from mindtorch.distributions.utils import euler_constant

# Samples of p can be where q has none.
_INFINITE: list[tuple[type, tuple[type, ...]]] = [
    (Beta, (Pareto,)),
    (ContinuousBernoulli, (Pareto,)),
    (Exponential, (Beta, ContinuousBernoulli, Pareto, Uniform)),
    (Gamma, (Beta, ContinuousBernoulli, Pareto, Uniform)),
    (Gumbel, (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Laplace, (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Normal, (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Pareto, (Beta, ContinuousBernoulli, Uniform)),
    (Poisson, (Bernoulli, Binomial)),
]


def _infinite(p: Any, q: Any) -> Tensor:
    (own,) = (getattr(p, name) for name in list(p.arg_constraints)[:1])
    return ops.full_like(own, inf)


for _p, _others in _INFINITE:
    for _q in _others:
        register_kl(_p, _q)(_infinite)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Tensor:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, Exponential)
def _beta_exponential(p: Any, q: Any) -> Tensor:
    return -p.entropy() - q.rate.log() + q.rate * (p.concentration1 / (p.concentration1 + p.concentration0))


@register_kl(Beta, Normal)
def _beta_normal(p: Any, q: Any) -> Tensor:
    mean, variance = p.mean, q.scale.pow(2)
    second = (p.variance + mean.pow(2)) * 0.5
    return -p.entropy() + 0.5 * (variance * 2 * pi).log() + (second - mean * q.loc + q.loc.pow(2) * 0.5) / variance


@register_kl(Beta, Uniform)
def _beta_uniform(p: Any, q: Any) -> Tensor:
    result = -p.entropy() + (q.high - q.low).log()
    result[(q.low > p.support.lower_bound) | (q.high < p.support.upper_bound)] = inf
    return result


@register_kl(Beta, Gamma)
def _beta_gamma(p: Any, q: Any) -> Tensor:
    total = p.concentration1 + p.concentration0
    normalizer = q.concentration.lgamma() - q.concentration * q.rate.log()
    logs = (q.concentration - 1) * (p.concentration1.digamma() - total.digamma())
    return -p.entropy() + normalizer - logs + q.rate * p.concentration1 / total


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Any, q: Any) -> Tensor:
    ratio = q.rate / p.rate
    logs = ops.log(ratio)
    return (
        -q.concentration * logs
        + ratio
        + q.concentration.lgamma()
        + q.concentration * euler_constant
        - (1 + euler_constant)
    )


@register_kl(Gamma, Exponential)
def _gamma_exponential(p: Any, q: Any) -> Tensor:
    return -p.entropy() - q.rate.log() + q.rate * p.concentration / p.rate


@register_kl(Exponential, Normal)
def _exponential_normal(p: Any, q: Any) -> Tensor:
    variance, squared = q.scale.pow(2), p.rate.pow(2)
    log_ratio = ops.log(squared * variance * 2 * pi)
    return 0.5 * (log_ratio - 2 + (2 / squared - 2 * q.loc / p.rate + q.loc.pow(2)) / variance)


@register_kl(Gamma, Normal)
def _gamma_normal(p: Any, q: Any) -> Tensor:
    variance, mean = q.scale.pow(2), p.concentration / p.rate
    second = (p.variance + mean.pow(2)) * 0.5
    return -p.entropy() + 0.5 * (variance * 2 * pi).log() + (second - mean * q.loc + q.loc.pow(2) * 0.5) / variance


@register_kl(Laplace, Normal)
def _laplace_normal(p: Any, q: Any) -> Tensor:
    variance = q.scale.pow(2)
    ratio = p.scale.pow(2) / variance
    logs = 0.5 * ops.log(2 * ratio / pi)
    return -logs + ratio + (0.5 * p.loc.pow(2) - p.loc * q.loc + 0.5 * q.loc.pow(2)) / variance - 1


@register_kl(Normal, Gumbel)
def _normal_gumbel(p: Any, q: Any) -> Tensor:
    shift, ratio = (p.loc - q.loc) / q.scale, (p.scale / q.scale).pow(2)
    power = ops.exp(-shift + 0.5 * ratio)
    return -0.5 * ops.log(ratio * 2 * pi) + shift + power - 0.5


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Tensor:
    distance = p.loc - q.loc
    scaled = distance / p.scale
    near = math.sqrt(2 / pi) * p.scale * ops.exp(-0.5 * scaled.pow(2))
    far = distance * ops.erf(math.sqrt(0.5) * scaled)
    return -ops.log(p.scale / q.scale) + (near + far) / q.scale - 0.5 * (1 + math.log(0.5 * pi))


@register_kl(Uniform, Normal)
def _uniform_normal(p: Any, q: Any) -> Tensor:
    width = p.high - p.low
    second = width.pow(2) / 12 + ((p.high + p.low - 2 * q.loc) / 2).pow(2)
    logs = math.log(2 * pi) + 2 * q.scale.log() - 2 * width.log()
    return 0.5 * (logs + second / q.scale.pow(2))


@register_kl(Uniform, Beta)
def _uniform_beta(p: Any, q: Any) -> Tensor:
    width = p.high - p.low
    logs = (q.concentration1 - 1) * (_x_log_x(p.high) - _x_log_x(p.low) - width) / width
    mirrored = (q.concentration0 - 1) * (_x_log_x(1 - p.high) - _x_log_x(1 - p.low) + width) / width
    normalizer = q.concentration1.lgamma() + q.concentration0.lgamma() - (q.concentration1 + q.concentration0).lgamma()
    result = normalizer - width.log() - logs + mirrored
    result[(p.high > q.support.upper_bound) | (p.low < q.support.lower_bound)] = inf
    return result


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Any, q: Any) -> Tensor:
    result = q.rate * (p.high + p.low) / 2 - ((p.high - p.low) * q.rate).log()
    result[p.low < q.support.lower_bound] = inf
    return result


@register_kl(Uniform, Gamma)
def _uniform_gamma(p: Any, q: Any) -> Tensor:
    width = p.high - p.low
    logs = (1 - q.concentration) * (_x_log_x(p.high) - _x_log_x(p.low) - width) / width
    linear = q.rate * (p.high + p.low) / 2
    result = -width.log() + q.concentration.lgamma() - q.concentration * q.rate.log() + logs + linear
    result[p.low < q.support.lower_bound] = inf
    return result


def _x_log_x(value: Tensor) -> Tensor:
    return ops.xlogy(value, value)


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p: Any, q: Any) -> Tensor:
    share = q.scale / (p.high - p.low)
    high, low = (p.high - q.loc) / q.scale, (p.low - q.loc) / q.scale
    return share.log() + 0.5 * (high + low) - share * (ops.exp(-high) - ops.exp(-low))


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Any, q: Any) -> Tensor:
    width = p.high - p.low
    logs = (_x_log_x(p.high) - _x_log_x(p.low) - width) / width
    result = logs * (q.alpha + 1) - (q.alpha * q.scale.pow(q.alpha) * width).log()
    result[p.low < q.support.lower_bound] = inf
    return result


# -------------------- the continuous Bernoulli distribution --------------------


@register_kl(ContinuousBernoulli, Exponential)
def _continuous_bernoulli_exponential(p: Any, q: Any) -> Tensor:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(ContinuousBernoulli, Normal)
def _continuous_bernoulli_normal(p: Any, q: Any) -> Tensor:
    logs = 0.5 * (math.log(2 * pi) + (q.loc / q.scale).square()) + q.scale.log()
    second = p.variance + p.mean.square() - 2 * q.loc * p.mean
    return -p.entropy() + logs + second / (2 * q.scale.square())


@register_kl(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(p: Any, q: Any) -> Tensor:
    result = -p.entropy() + (q.high - q.low).log()
    covered = (q.low >= p.support.lower_bound) | (q.high <= p.support.upper_bound)
    return ops.where(covered, inf, result)


@register_kl(Beta, ContinuousBernoulli)
def _beta_continuous_bernoulli(p: Any, q: Any) -> Tensor:
    return -p.entropy() - p.mean * q.logits - ops.log1p(-q.probs) - q._cont_bern_log_norm()


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p: Any, q: Any) -> Tensor:
    result = -p.entropy() - p.mean * q.logits - ops.log1p(-q.probs) - q._cont_bern_log_norm()
    outside = (p.high >= q.support.upper_bound) | (p.low <= q.support.lower_bound)
    return ops.where(outside, inf, result)


# -------------------- long tails --------------------


@register_kl(Gumbel, Normal)
def _gumbel_normal(p: Any, q: Any) -> Tensor:
    ratio = p.scale / q.scale
    away = ((p.loc + p.scale * euler_constant - q.loc) / q.scale).pow(2) * 0.5
    return -(ratio / math.sqrt(2 * pi)).log() + (pi * ratio * 0.5).pow(2) / 3 + away - (euler_constant + 1)


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p: Any, q: Any) -> Tensor:
    product, shift = p.rate * q.scale, q.loc / q.scale
    return product.log() - 1 - shift + ops.exp(shift) * product / (product + 1) + product.reciprocal()


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p: Any, q: Any) -> Tensor:
    product, shift, shape = p.rate * q.scale, q.loc / q.scale, p.concentration
    own = (shape - 1) * shape.digamma() - shape.lgamma() - shape
    power = ops.exp(shift) * (1 + product.reciprocal()).pow(-shape)
    return own + product.log() + shape / product + power - shift


@register_kl(Pareto, Exponential)
def _pareto_exponential(p: Any, q: Any) -> Tensor:
    product = p.scale * q.rate
    result = (p.alpha / product).log() - p.alpha.reciprocal() + p.alpha * product / (p.alpha - 1) - 1
    result[p.alpha <= 1] = inf
    return result


@register_kl(Pareto, Gamma)
def _pareto_gamma(p: Any, q: Any) -> Tensor:
    log_mean = p.scale.log() + p.alpha.reciprocal()
    normalizer = q.concentration.lgamma() - q.concentration * q.rate.log()
    linear = q.rate * p.alpha * p.scale / (p.alpha - 1)
    result = p.alpha.log() - log_mean + normalizer + (1 - q.concentration) * log_mean + linear - 1
    result[p.alpha <= 1] = inf
    return result


@register_kl(Pareto, Normal)
def _pareto_normal(p: Any, q: Any) -> Tensor:
    share = p.scale / (p.alpha - 1)
    squares = p.alpha * share.pow(2) / (p.alpha - 2) + (p.alpha * share - q.loc).pow(2)
    logs = (math.sqrt(2 * pi) * q.scale * p.alpha / p.scale).log()
    result = logs - p.alpha.reciprocal() + squares / (2 * q.scale.pow(2)) - 1
    result[p.alpha <= 2] = inf
    return result
