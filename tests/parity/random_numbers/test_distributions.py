"""Distributions have the samples, densities, gradients and texts of PyTorch's."""

import pytest
import torch

from tests.parity.support.programs import assert_same, outcome, programs


@pytest.fixture(autouse=True)
def torch_validates():
    """torch's compiler, which other tests call, switches the validation of all distributions off."""
    torch.distributions.Distribution.set_default_validate_args(True)


# By name: the distribution, made of a parameter that requires grad.
MAKERS = {
    "Normal": lambda D, T, p: D.Normal(p - 1, p),
    "Normal of numbers": lambda D, T, p: D.Normal(0.5, 2),
    "LogNormal": lambda D, T, p: D.LogNormal(p, p / 3),
    "HalfNormal": lambda D, T, p: D.HalfNormal(p),
    "HalfCauchy": lambda D, T, p: D.HalfCauchy(p),
    "Cauchy": lambda D, T, p: D.Cauchy(p, 2 * p),
    "Laplace": lambda D, T, p: D.Laplace(p, p),
    "Gumbel": lambda D, T, p: D.Gumbel(p, 2.0),
    "Gumbel of numbers": lambda D, T, p: D.Gumbel(1.0, 2.0),
    "Uniform": lambda D, T, p: D.Uniform(p, 3 * p),
    "Exponential": lambda D, T, p: D.Exponential(p),
    "Gamma": lambda D, T, p: D.Gamma(p, 2 * p),
    "Gamma of integers": lambda D, T, p: D.Gamma(3, 2),
    "Chi2": lambda D, T, p: D.Chi2(3 * p),
    "InverseGamma": lambda D, T, p: D.InverseGamma(3 * p, p),
    "Beta": lambda D, T, p: D.Beta(p, 2.0),
    "Beta of numbers": lambda D, T, p: D.Beta(0.5, 2),
    "Dirichlet": lambda D, T, p: D.Dirichlet(p),
    "Kumaraswamy": lambda D, T, p: D.Kumaraswamy(p, 2 * p),
    "StudentT": lambda D, T, p: D.StudentT(3 * p, p, 2.0),
    "FisherSnedecor": lambda D, T, p: D.FisherSnedecor(6 * p, 5 * p),
    "Weibull": lambda D, T, p: D.Weibull(p, 2.0),
    "Pareto": lambda D, T, p: D.Pareto(1.0, 3 * p),
    "Poisson": lambda D, T, p: D.Poisson(5 * p),
    "Bernoulli": lambda D, T, p: D.Bernoulli(p / 3),
    "Bernoulli of logits": lambda D, T, p: D.Bernoulli(logits=p),
    "Bernoulli of a number": lambda D, T, p: D.Bernoulli(0.3),
    "Binomial": lambda D, T, p: D.Binomial(12, p / 3),
    "Binomial of logits": lambda D, T, p: D.Binomial(T.tensor([3.0, 8.0, 4.0]), logits=p),
    "Geometric": lambda D, T, p: D.Geometric(p / 3),
    "Geometric of logits": lambda D, T, p: D.Geometric(logits=p),
    "NegativeBinomial": lambda D, T, p: D.NegativeBinomial(4, p / 3),
    "NegativeBinomial of logits": lambda D, T, p: D.NegativeBinomial(4, logits=-p),
    "Categorical": lambda D, T, p: D.Categorical(p),
    "Categorical of logits": lambda D, T, p: D.Categorical(logits=p.expand(2, 3)),
    "OneHotCategorical": lambda D, T, p: D.OneHotCategorical(p),
    "OneHotCategoricalStraightThrough": lambda D, T, p: D.OneHotCategoricalStraightThrough(logits=p),
    "Multinomial": lambda D, T, p: D.Multinomial(6, p),
    "MultivariateNormal": lambda D, T, p: D.MultivariateNormal(p, p.diag() + 0.1),
    "MultivariateNormal of a factor": lambda D, T, p: D.MultivariateNormal(T.zeros(2, 3), scale_tril=p.diag().tril()),
    "MultivariateNormal of precisions": lambda D, T, p: D.MultivariateNormal(T.zeros(3), precision_matrix=p.diag()),
    "LowRankMultivariateNormal": lambda D, T, p: D.LowRankMultivariateNormal(p, p.view(3, 1).expand(3, 2).tril(), p),
    "LowRankMultivariateNormal of a batch": lambda D, T, p: D.LowRankMultivariateNormal(
        T.zeros(2, 3), p.view(3, 1), p + T.ones(2, 1)
    ),
    "VonMises": lambda D, T, p: D.VonMises(p, 3 * p),
    "VonMises of numbers": lambda D, T, p: D.VonMises(0.5, 1e-6),
    "ContinuousBernoulli": lambda D, T, p: D.ContinuousBernoulli(p.double() / 2),
    "ContinuousBernoulli of logits": lambda D, T, p: D.ContinuousBernoulli(logits=p - 0.3),
    "ContinuousBernoulli of a number": lambda D, T, p: D.ContinuousBernoulli(0.5, lims=(0.4, 0.6)),
    "GeneralizedPareto": lambda D, T, p: D.GeneralizedPareto(p, 2 * p, p - 0.9),
    "GeneralizedPareto of numbers": lambda D, T, p: D.GeneralizedPareto(-2.0, 1.0, -0.5),
    "LKJCholesky": lambda D, T, p: D.LKJCholesky(3, p),
    "LKJCholesky of a number": lambda D, T, p: D.LKJCholesky(2, 0.5),
    "Wishart": lambda D, T, p: D.Wishart(4.5, p.diag() + 0.1),
    "Wishart of a batch": lambda D, T, p: D.Wishart(2 + p.double(), scale_tril=p.double().diag().tril()),
    "Wishart of precisions": lambda D, T, p: D.Wishart(T.tensor([5.0, 8.0]), precision_matrix=p.diag()),
    "LogisticNormal": lambda D, T, p: D.LogisticNormal(p.double(), p.double()),
    "RelaxedBernoulli": lambda D, T, p: D.RelaxedBernoulli(T.tensor(0.7), p / 3),
    "RelaxedOneHotCategorical": lambda D, T, p: D.RelaxedOneHotCategorical(T.tensor(0.7), logits=p),
    "Independent": lambda D, T, p: D.Independent(D.Normal(p, p), 1),
    "Independent of a class": lambda D, T, p: D.Independent(D.Bernoulli(p / 3), 0),
    "MixtureSameFamily": lambda D, T, p: D.MixtureSameFamily(
        D.Categorical(p.expand(2, 3)), D.Normal(p.expand(2, 3), p)
    ),
    "MixtureSameFamily of vectors": lambda D, T, p: D.MixtureSameFamily(
        D.Categorical(p), D.Independent(D.Normal(p.expand(2, 3).T, 1.0), 1)
    ),
    "TransformedDistribution": lambda D, T, p: D.TransformedDistribution(
        D.Normal(p, 1.0), [D.AffineTransform(1.0, -p), D.SigmoidTransform()]
    ),
    "TransformedDistribution with tanh": lambda D, T, p: D.TransformedDistribution(
        D.Independent(D.Normal(p, p), 1), D.TanhTransform(cache_size=1)
    ),
    "TransformedDistribution that grows": lambda D, T, p: D.TransformedDistribution(
        D.Normal(0.0, 1.0), [D.AffineTransform(p, 2 * p)]
    ),
}  # fmt: skip


def _gradient(T, result, p):
    if not result.requires_grad:
        return "no gradient"
    (slope,) = T.autograd.grad(result.sum(), p, allow_unused=True, retain_graph=True)
    return slope


def _with_gradient(T, result, p):
    return result, _gradient(T, result, p)


# By name: what is looked at. Samples are from the distribution itself, after the same seed.
LOOKS = {
    "repr": lambda T, d, p: [repr(d), d.batch_shape, d.event_shape, d.has_rsample, d.has_enumerate_support],
    "support": lambda T, d, p: [repr(d.support), d.support.is_discrete, d.support.event_dim],
    "arguments": lambda T, d, p: repr(d.arg_constraints),
    "sample": lambda T, d, p: [d.sample(), d.sample((3,)), d.sample(T.Size([2, 2])), T.rand(2)],
    "rsample": lambda T, d, p: [_with_gradient(T, d.rsample((4,)), p), T.rand(2)],
    "log_prob": lambda T, d, p: _with_gradient(T, d.log_prob(d.sample((4,))), p),
    "cdf": lambda T, d, p: _with_gradient(T, d.cdf(d.sample((4,))), p),
    "icdf": lambda T, d, p: _with_gradient(T, d.icdf(T.tensor(0.3)), p),
    "entropy": lambda T, d, p: _with_gradient(T, d.entropy(), p),
    "perplexity": lambda T, d, p: d.perplexity(),
    "mean": lambda T, d, p: d.mean,
    "mode": lambda T, d, p: tried(lambda: d.mode),
    "variance": lambda T, d, p: [d.variance, d.stddev],
    "enumerate_support": lambda T, d, p: [d.enumerate_support(), d.enumerate_support(expand=False)],
    "expand": lambda T, d, p: [
        repr(e := d.expand((2, *d.batch_shape))), e.batch_shape, e.sample(), e.log_prob(e.sample()), e.mean
    ],
    "a value outside": lambda T, d, p: d.log_prob(T.full(d.batch_shape + d.event_shape, -1.5)),
    "a value of another shape": lambda T, d, p: d.log_prob(T.full((7, 5), 0.5)),
    "a value that is no tensor": lambda T, d, p: d.log_prob("one"),
}  # fmt: skip


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", MAKERS)
def test_distribution(name, look):
    def program(T):
        T.manual_seed(4)
        p = T.tensor([0.3, 0.9, 1.7], requires_grad=True)
        return LOOKS[look](T, MAKERS[name](T.distributions, T, p), p)

    assert_same(program)


# -------------------- divergences --------------------


def _divergence(name, other):
    def program(T):
        D, p = T.distributions, T.tensor([0.3, 0.9, 1.7], requires_grad=True)
        q = T.tensor([1.1, 0.4, 0.8])
        result = D.kl_divergence(MAKERS[name](D, T, p), MAKERS[other](D, T, q))
        return _with_gradient(T, result, p)

    return program


@pytest.mark.parametrize("name", MAKERS)
def test_divergence_of_one_kind(name):
    assert_same(_divergence(name, name))


KINDS = (
    "Normal", "Laplace", "Gumbel", "Uniform", "Exponential", "Gamma", "Beta", "Pareto", "Bernoulli", "Binomial",
    "Poisson", "ContinuousBernoulli", "MultivariateNormal", "LowRankMultivariateNormal",
)  # fmt: skip


@pytest.mark.parametrize("other", KINDS)
@pytest.mark.parametrize("name", KINDS)
def test_divergence_of_two_kinds(name, other):
    assert_same(_divergence(name, other))


# -------------------- transforms --------------------

TRANSFORMS = {
    "exp": (lambda D, T: D.ExpTransform(), (3,)),
    "power": (lambda D, T: D.PowerTransform(T.tensor([2.0, -0.5, 3.0])), (3,)),
    "sigmoid": (lambda D, T: D.SigmoidTransform(), (3,)),
    "softplus": (lambda D, T: D.SoftplusTransform(), (3,)),
    "tanh": (lambda D, T: D.TanhTransform(), (3,)),
    "abs": (lambda D, T: D.AbsTransform(), (3,)),
    "affine": (lambda D, T: D.AffineTransform(1.0, -2.0), (3,)),
    "affine of vectors": (lambda D, T: D.AffineTransform(T.ones(3), T.tensor([1.0, -2.0, 3.0]), event_dim=1), (2, 3)),
    "softmax": (lambda D, T: D.SoftmaxTransform(), (3,)),
    "stick breaking": (lambda D, T: D.StickBreakingTransform(), (2, 3)),
    "lower Cholesky": (lambda D, T: D.LowerCholeskyTransform(), (3, 3)),
    "positive definite": (lambda D, T: D.PositiveDefiniteTransform(), (3, 3)),
    "reshape": (lambda D, T: D.ReshapeTransform((6,), (2, 3)), (4, 6)),
    "independent": (lambda D, T: D.IndependentTransform(D.ExpTransform(), 1), (2, 3)),
    "compose": (lambda D, T: D.ComposeTransform([D.AffineTransform(0.5, 2.0), D.SigmoidTransform()]), (2, 3)),
    "compose of vectors": (
        lambda D, T: D.ComposeTransform([D.ExpTransform(), D.IndependentTransform(D.AffineTransform(0, 3), 1)]), (2, 3)
    ),
    "cat": (lambda D, T: D.CatTransform([D.ExpTransform(), D.TanhTransform()], dim=-1, lengths=[1, 2]), (2, 3)),
    "stack": (lambda D, T: D.StackTransform([D.ExpTransform(), D.TanhTransform()], dim=0), (2, 3)),
    "distribution function": (lambda D, T: D.CumulativeDistributionTransform(D.Normal(0.0, 2.0)), (3,)),
    "nothing": (lambda D, T: D.identity_transform, (3,)),
}  # fmt: skip

TRANSFORM_LOOKS = {
    "repr": lambda T, t, x: repr(t),
    "domain": lambda T, t, x: [repr(t.domain), repr(t.codomain), t.bijective],
    "event_dim": lambda T, t, x: t.event_dim,
    "sign": lambda T, t, x: t.sign,
    "values": lambda T, t, x: [t(x), t.inv(t(x))],
    "volumes": lambda T, t, x: [t.log_abs_det_jacobian(x, t(x)), t.inv.log_abs_det_jacobian(t(x), x)],
    "shapes": lambda T, t, x: [t.forward_shape(x.shape), t.inverse_shape(t(x).shape)],
    "inverse": lambda T, t, x: [t.inv.inv is t, t.inv == t.inv, t == t, repr(t.inv.domain)],
    "cache": lambda T, t, x: [(c := t.with_cache())(x), c.inv(c(x)) is x],
}


@pytest.mark.parametrize("look", TRANSFORM_LOOKS)
@pytest.mark.parametrize("name", TRANSFORMS)
def test_transform(name, look):
    make, shape = TRANSFORMS[name]

    def program(T):
        T.manual_seed(1)
        return TRANSFORM_LOOKS[look](T, make(T.distributions, T), T.rand(shape) + 0.1)

    assert_same(program)


CONSTRAINTS = {
    "real": lambda C: C.real,
    "positive": lambda C: C.positive,
    "nonnegative": lambda C: C.nonnegative,
    "greater_than": lambda C: C.greater_than(2.0),
    "less_than": lambda C: C.less_than(-2.0),
    "unit_interval": lambda C: C.unit_interval,
    "interval": lambda C: C.interval(-2.0, 5.0),
    "half_open_interval": lambda C: C.half_open_interval(0.0, 3.0),
    "simplex": lambda C: C.simplex,
    "lower_cholesky": lambda C: C.lower_cholesky,
    "positive_definite": lambda C: C.positive_definite,
    "real_vector": lambda C: C.real_vector,
    "boolean": lambda C: C.boolean,
    "one_hot": lambda C: C.one_hot,
    "square": lambda C: C.square,
    "symmetric": lambda C: C.symmetric,
    "positive_semidefinite": lambda C: C.positive_semidefinite,
    "corr_cholesky": lambda C: C.corr_cholesky,
    "lower_triangular": lambda C: C.lower_triangular,
    "integers": lambda C: C.integer_interval(0, 3),
    "nonnegative_integer": lambda C: C.nonnegative_integer,
    "multinomial": lambda C: C.multinomial(4),
    "dependent": lambda C: C.dependent,
    "cat": lambda C: C.cat([C.positive, C.real], -1, [1, 2]),
    "stack": lambda C: C.stack([C.positive, C.real, C.unit_interval], -1),
}


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constraint(name):
    def program(T):
        D, constraint = T.distributions, CONSTRAINTS[name](T.distributions.constraints)
        values = [T.eye(3), T.arange(9.0).reshape(3, 3), -T.ones(3, 3), T.tensor([[0.2, 0.3, 0.5]])]
        shown = [repr(constraint), *(tried(constraint.check, value) for value in values)]
        for registry in (D.transform_to, D.biject_to):
            shown.append(tried(lambda registry=registry: registry(constraint)(T.eye(3) * 0.5)))
        return shown

    assert_same(program)


def tried(function, *args):
    try:
        return function(*args)
    except Exception as error:  # noqa: BLE001  (whatever torch raises is compared)
        return f"{type(error).__name__}: {error}".replace("<class 'mindtorch.", "<class 'torch.")


# -------------------- wrong arguments, and programs --------------------

MISTAKES = {
    "a negative scale": lambda D, T: D.Normal(T.zeros(2), T.tensor([1.0, -1.0])),
    "not a number": lambda D, T: D.Normal(float("nan"), 1.0),
    "text": lambda D, T: D.Normal("a", 1.0),
    "both": lambda D, T: D.Bernoulli(0.5, 0.5),
    "neither": lambda D, T: D.Categorical(),
    "a scalar of classes": lambda D, T: D.Categorical(T.tensor(1.0)),
    "a scalar of logits": lambda D, T: D.Categorical(logits=T.tensor(1.0)),
    "bounds that are swapped": lambda D, T: D.Uniform(1.0, 0.0),
    "a probability above one": lambda D, T: D.Bernoulli(T.tensor([0.5, 1.5])),
    "a probability of zero": lambda D, T: D.Geometric(T.tensor([0.5, 0.0])),
    "a scalar Dirichlet": lambda D, T: D.Dirichlet(T.tensor(1.0)),
    "a scalar location": lambda D, T: D.MultivariateNormal(T.tensor(1.0), T.eye(2)),
    "no covariance": lambda D, T: D.MultivariateNormal(T.zeros(2)),
    "a flat covariance": lambda D, T: D.MultivariateNormal(T.zeros(2), T.zeros(2)),
    "a flat factor": lambda D, T: D.MultivariateNormal(T.zeros(2), scale_tril=T.zeros(2)),
    "no positive definite covariance": lambda D, T: D.MultivariateNormal(T.zeros(2), -T.eye(2)),
    "too many dimensions": lambda D, T: D.Independent(D.Normal(0.0, 1.0), 1),
    "a mixture of nothing": lambda D, T: D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(T.zeros(2), 1.0)),
    "a mixture of a tensor": lambda D, T: D.MixtureSameFamily(D.Categorical(T.ones(2)), T.ones(2)),
    "a mixture of too many": lambda D, T: D.MixtureSameFamily(D.Categorical(T.ones(3)), D.Normal(T.zeros(2), 1.0)),
    "no transform": lambda D, T: D.TransformedDistribution(D.Normal(0.0, 1.0), 3),
    "a list of no transforms": lambda D, T: D.TransformedDistribution(D.Normal(0.0, 1.0), [3]),
    "too few dimensions": lambda D, T: D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform()),
    "no divergence": lambda D, T: D.kl_divergence(D.Cauchy(0.0, 1.0), D.Normal(0.0, 1.0)),
    "a count that is a tensor": lambda D, T: D.Multinomial(T.tensor(3), T.ones(2)),
    "a temperature": lambda D, T: D.RelaxedBernoulli(T.tensor(1.0)),
    "no transform to": lambda D, T: D.transform_to(D.constraints.boolean),
    "no cache": lambda D, T: D.ExpTransform(cache_size=2),
    "unchecked": lambda D, T: D.Normal(0.0, -1.0, validate_args=False).log_prob(T.tensor(1.0)),
    "a correlation of one": lambda D, T: D.LKJCholesky(1),
    "too few degrees of freedom": lambda D, T: D.Wishart(1.0, T.eye(2)),
    "few degrees of freedom": lambda D, T: D.Wishart(T.tensor(1.5), T.eye(2)).df,
    "two covariances": lambda D, T: D.Wishart(3.0, T.eye(2), T.eye(2)),
    "a flat Wishart": lambda D, T: D.Wishart(3.0, T.ones(2)),
    "a scalar location of low rank": lambda D, T: D.LowRankMultivariateNormal(T.tensor(1.0), T.ones(2, 1), T.ones(2)),
    "a flat factor of low rank": lambda D, T: D.LowRankMultivariateNormal(T.zeros(2), T.ones(2), T.ones(2)),
    "a factor of another size": lambda D, T: D.LowRankMultivariateNormal(T.zeros(2), T.ones(3, 1), T.ones(2)),
    "a diagonal of another size": lambda D, T: D.LowRankMultivariateNormal(T.zeros(2), T.ones(2, 1), T.ones(3)),
    "batches that do not fit": lambda D, T: D.LowRankMultivariateNormal(T.zeros(3, 2), T.ones(2, 2, 1), T.ones(2)),
    "a divergence of other sizes": lambda D, T: D.kl_divergence(
        D.LowRankMultivariateNormal(T.zeros(2), T.ones(2, 1), T.ones(2)),
        D.LowRankMultivariateNormal(T.zeros(3), T.ones(3, 1), T.ones(3)),
    ),
    "a divergence of another size": lambda D, T: D.kl_divergence(
        D.LowRankMultivariateNormal(T.zeros(2), T.ones(2, 1), T.ones(2)), D.MultivariateNormal(T.zeros(3), T.eye(3))
    ),
    "a probability above one, checked": lambda D, T: D.ContinuousBernoulli(T.tensor(1.5), validate_args=True),
    "a probability above one, clamped": lambda D, T: D.ContinuousBernoulli(T.tensor(1.5)).probs,
    "float64 of a generalized Pareto": lambda D, T: D.GeneralizedPareto(T.zeros(2).double(), 1.0, 0.0).log_prob(
        T.ones(2).double()
    ),
    "sample_n": lambda D, T: D.Normal(0.0, 1.0).sample_n(3).shape,
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(name):
    assert_same(lambda T: MISTAKES[name](T.distributions, T))


program, test_program = programs()


@program
def a_class_of_ones_own(T):
    class Shifted(T.distributions.Distribution):
        support = T.distributions.constraints.real

        def __init__(self, by):
            self.by = by
            super().__init__(validate_args=False)

        def rsample(self, sample_shape=()):
            return T.randn(sample_shape) + self.by

    T.manual_seed(0)
    shifted = Shifted(2.0)
    return [shifted.sample((3,)), shifted.batch_shape, outcome(lambda T: shifted.mean, T)[0]]


@program
def triangles_of_matrices(T):
    utils = T.distributions.utils
    matrices = T.arange(18.0).view(2, 3, 3)
    vectors = {diag: utils.tril_matrix_to_vec(matrices, diag) for diag in (-3, -1, 0, 1, 2)}
    back = [utils.vec_to_tril_matrix(vectors[diag], diag) for diag in (-1, 0, 1, 2)]
    wrong = [tried(utils.tril_matrix_to_vec, matrices, 3), tried(utils.vec_to_tril_matrix, T.zeros(5))]
    return [vectors, back, wrong]


@program
def a_generalized_pareto_has_logarithms(T):
    values, d = T.tensor([2.0, 3.5]), T.distributions.GeneralizedPareto(1.0, 2.0, T.tensor([0.5, 0.0]))
    return [d.log_survival_function(values), d.log_cdf(values)]


@program
def a_subclass_of_normal(T):
    class Standard(T.distributions.Normal):
        def __init__(self, count):
            super().__init__(T.zeros(count), T.ones(count))

    return [Standard(3), Standard(3).log_prob(T.ones(3))]


@program
def a_divergence_of_ones_own(T):
    D = T.distributions

    class Mine(D.Normal):
        pass

    @D.register_kl(Mine, D.Normal)
    def kl(p, q):
        return T.tensor(7.0)

    return [D.kl_divergence(Mine(0.0, 1.0), D.Normal(1.0, 1.0)), D.kl_divergence(D.Normal(0.0, 1.0), Mine(0.0, 2.0))]


@program
def gradients_through_lazy_probabilities(T):
    logits = T.tensor([0.1, 0.5, -1.0], requires_grad=True)
    d = T.distributions.Categorical(logits=logits)
    with T.no_grad():
        before = d.probs
    before[0].backward()
    return logits.grad


@program
def the_default_of_checks_can_be_set(T):
    D = T.distributions
    D.Distribution.set_default_validate_args(False)
    try:
        return [repr(D.Normal(0.0, -1.0)), outcome(lambda T: D.Distribution.set_default_validate_args(3), T)[0]]
    finally:
        D.Distribution.set_default_validate_args(True)


# Uniform distributions that begin or end where the other does.
@pytest.mark.parametrize("kind", ["Beta", "Chi2", "Exponential", "Gamma", "Pareto", "ContinuousBernoulli", "Normal"])
@pytest.mark.parametrize("bounds", [(0.0, 1.0), (0.0, 0.5), (0.5, 1.0), (-1.0, 1.0), (0.0, 2.0)])
def test_divergence_at_the_ends_of_the_support(kind, bounds):
    def run(T):
        D, p = T.distributions, T.tensor([0.4, 0.9], requires_grad=True)
        count = {"Chi2": 1, "Exponential": 1, "ContinuousBernoulli": 1}.get(kind, 2)
        divergence = D.kl_divergence(D.Uniform(*map(T.tensor, bounds)), getattr(D, kind)(*[p] * count))
        return divergence, T.autograd.grad(divergence.sum(), p) if divergence.requires_grad else None

    assert_same(run)


@pytest.mark.parametrize("kind", ["Bernoulli", "Beta", "Dirichlet", "Poisson", "StudentT", "VonMises", "Gumbel"])
@pytest.mark.parametrize("value", [0.5, None, "nan", "wide"])
def test_the_cdf_of_a_value_outside_the_support(kind, value):
    """A distribution without one refuses before it looks at the value."""

    def run(T):
        of = [T.tensor([0.3, 0.7])] * (1 if kind in ("Bernoulli", "Dirichlet", "Poisson", "StudentT") else 2)
        given = {0.5: T.tensor(-0.5), None: 0.5, "nan": T.tensor(float("nan")), "wide": T.ones(5, 7)}[value]
        return getattr(T.distributions, kind)(*of).cdf(given)

    assert_same(run)
