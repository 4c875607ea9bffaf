"""Probability distributions: samples, densities and divergences, with gradients of their parameters."""

from mindtorch.distributions import bernoulli as bernoulli
from mindtorch.distributions import beta as beta
from mindtorch.distributions import binomial as binomial
from mindtorch.distributions import categorical as categorical
from mindtorch.distributions import cauchy as cauchy
from mindtorch.distributions import chi2 as chi2
from mindtorch.distributions import constraint_registry as constraint_registry
from mindtorch.distributions import constraints, kl_different, kl_low_rank, kl_same, transforms  # noqa: F401
from mindtorch.distributions import continuous_bernoulli as continuous_bernoulli
from mindtorch.distributions import dirichlet as dirichlet
from mindtorch.distributions import distribution as distribution
from mindtorch.distributions import exp_family as exp_family
from mindtorch.distributions import exponential as exponential
from mindtorch.distributions import fishersnedecor as fishersnedecor
from mindtorch.distributions import gamma as gamma
from mindtorch.distributions import generalized_pareto as generalized_pareto
from mindtorch.distributions import geometric as geometric
from mindtorch.distributions import gumbel as gumbel
from mindtorch.distributions import half_cauchy as half_cauchy
from mindtorch.distributions import half_normal as half_normal
from mindtorch.distributions import independent as independent
from mindtorch.distributions import inverse_gamma as inverse_gamma
from mindtorch.distributions import kl as kl
from mindtorch.distributions import kumaraswamy as kumaraswamy
from mindtorch.distributions import laplace as laplace
from mindtorch.distributions import lkj_cholesky as lkj_cholesky
from mindtorch.distributions import log_normal as log_normal
from mindtorch.distributions import logistic_normal as logistic_normal
from mindtorch.distributions import lowrank_multivariate_normal as lowrank_multivariate_normal
from mindtorch.distributions import mixture_same_family as mixture_same_family
from mindtorch.distributions import multinomial as multinomial
from mindtorch.distributions import multivariate_normal as multivariate_normal
from mindtorch.distributions import negative_binomial as negative_binomial
from mindtorch.distributions import normal as normal
from mindtorch.distributions import one_hot_categorical as one_hot_categorical
from mindtorch.distributions import pareto as pareto
from mindtorch.distributions import poisson as poisson
from mindtorch.distributions import relaxed_bernoulli as relaxed_bernoulli
from mindtorch.distributions import relaxed_categorical as relaxed_categorical
from mindtorch.distributions import studentT as studentT
from mindtorch.distributions import transformed_distribution as transformed_distribution
from mindtorch.distributions import uniform as uniform
from mindtorch.distributions import von_mises as von_mises
from mindtorch.distributions import weibull as weibull
from mindtorch.distributions import wishart as wishart
from mindtorch.distributions.bernoulli import Bernoulli
from mindtorch.distributions.beta import Beta
from mindtorch.distributions.binomial import Binomial
from mindtorch.distributions.categorical import Categorical
from mindtorch.distributions.cauchy import Cauchy
from mindtorch.distributions.chi2 import Chi2
from mindtorch.distributions.constraint_registry import biject_to, transform_to
from mindtorch.distributions.continuous_bernoulli import ContinuousBernoulli
from mindtorch.distributions.dirichlet import Dirichlet
from mindtorch.distributions.distribution import Distribution
from mindtorch.distributions.exp_family import ExponentialFamily
from mindtorch.distributions.exponential import Exponential
from mindtorch.distributions.fishersnedecor import FisherSnedecor
from mindtorch.distributions.gamma import Gamma
from mindtorch.distributions.generalized_pareto import GeneralizedPareto
from mindtorch.distributions.geometric import Geometric
from mindtorch.distributions.gumbel import Gumbel
from mindtorch.distributions.half_cauchy import HalfCauchy
from mindtorch.distributions.half_normal import HalfNormal
from mindtorch.distributions.independent import Independent
from mindtorch.distributions.inverse_gamma import InverseGamma
from mindtorch.distributions.kl import kl_divergence, register_kl
from mindtorch.distributions.kumaraswamy import Kumaraswamy
from mindtorch.distributions.laplace import Laplace
from mindtorch.distributions.lkj_cholesky import LKJCholesky
from mindtorch.distributions.log_normal import LogNormal
from mindtorch.distributions.logistic_normal import LogisticNormal
from mindtorch.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from mindtorch.distributions.mixture_same_family import MixtureSameFamily
from mindtorch.distributions.multinomial import Multinomial
from mindtorch.distributions.multivariate_normal import MultivariateNormal
from mindtorch.distributions.negative_binomial import NegativeBinomial
from mindtorch.distributions.normal import Normal
from mindtorch.distributions.one_hot_categorical import OneHotCategorical, OneHotCategoricalStraightThrough
from mindtorch.distributions.pareto import Pareto
from mindtorch.distributions.poisson import Poisson
from mindtorch.distributions.relaxed_bernoulli import RelaxedBernoulli
from mindtorch.distributions.relaxed_categorical import RelaxedOneHotCategorical
from mindtorch.distributions.studentT import StudentT
from mindtorch.distributions.transformed_distribution import TransformedDistribution
from mindtorch.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)
from mindtorch.distributions.uniform import Uniform
from mindtorch.distributions.von_mises import VonMises
from mindtorch.distributions.weibull import Weibull
from mindtorch.distributions.wishart import Wishart

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Binomial",
    "CatTransform",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ComposeTransform",
    "ContinuousBernoulli",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "IndependentTransform",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "LowerCholeskyTransform",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "constraints",
    "identity_transform",
    "kl_divergence",
    "register_kl",
    "transform_to",
    "transforms",
]
