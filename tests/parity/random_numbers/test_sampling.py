"""Random numbers that are found by trial are PyTorch's for the same seed, and so are their gradients."""

import numpy as np
import pytest

from tests.parity.support.programs import assert_same, outcome, programs

program, test_program = programs()


def drawn(T, function):
    """The numbers, and one that is drawn after them."""
    T.manual_seed(3)
    return [function(T), T.rand(2), T.randn(3)]


@pytest.mark.parametrize("rate", [0.0, 0.3, 2.0, 9.9, 10.0, 55.0, 1000.0])
def test_poisson(rate):
    assert_same(lambda T: drawn(T, lambda T: T.poisson(T.full((20, 10), rate))))


@pytest.mark.parametrize("count", [0.0, 1.0, 5.0, 40.0, 1000.0])
@pytest.mark.parametrize("chance", [0.0, 0.01, 0.3, 0.5, 0.7, 0.99, 1.0, float("nan")])
def test_binomial(count, chance):
    assert_same(lambda T: drawn(T, lambda T: T.binomial(T.full((50,), count), T.full((50,), chance))))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("alpha", [0.0, 0.01, 0.5, 1.0, 3.0, 40.0])
def test_gamma_and_dirichlet(alpha, dtype):
    def run(T):
        parameter = T.full((8, 3), alpha, dtype=getattr(T, dtype))
        return [drawn(T, lambda T: T._standard_gamma(parameter)), drawn(T, lambda T: T._sample_dirichlet(parameter))]

    assert_same(run)


FILLS = {
    "cauchy_": lambda x: x.cauchy_(),
    "cauchy_ elsewhere": lambda x: x.cauchy_(1.0, 2.0),
    "cauchy_ of no width": lambda x: x.cauchy_(0, -1),
    "log_normal_": lambda x: x.log_normal_(),
    "log_normal_ elsewhere": lambda x: x.log_normal_(0.1, 0.2),
    "log_normal_ of no width": lambda x: x.log_normal_(0, -1),
    "geometric_": lambda x: x.geometric_(0.2),
    "geometric_ of 0": lambda x: x.geometric_(0.0),
    "geometric_ of 1": lambda x: x.geometric_(1),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool", "complex64"])
@pytest.mark.parametrize("name", FILLS)
def test_fill(name, dtype):
    def run(T):
        numbers = [T.empty(5, 7, dtype=getattr(T, dtype)), T.empty(4, 3, dtype=getattr(T, dtype)).t()]
        return [drawn(T, lambda T, x=x: FILLS[name](x)) for x in numbers]

    assert_same(run)


REFUSED = {
    "a negative rate": lambda T: T.poisson(T.tensor([-1.0])),
    "an integer rate": lambda T: T.poisson(T.tensor([1])),
    "integer counts": lambda T: T.binomial(T.tensor([1]), T.tensor([1])),
    "two dtypes": lambda T: T.binomial(T.ones(2), T.ones(2, dtype=T.float64)),
    "integer concentrations": lambda T: T._standard_gamma(T.tensor([1])),
    "negative counts": lambda T: T.binomial(T.full((3,), -2.0), T.full((3,), 0.2)),
    "shapes that broadcast": lambda T: drawn(T, lambda T: T.binomial(T.full((5, 4), 3.0), T.full((4,), 0.2))),
    "a generator": lambda T: T.poisson(T.ones(5), generator=T.Generator().manual_seed(5)),
    "another order in memory": lambda T: drawn(T, lambda T: T.poisson(T.arange(12.0).reshape(3, 4).t())),
    "half precision": lambda T: drawn(T, lambda T: T.poisson(T.tensor([1.0, 20.0], dtype=T.float16))),
}


@pytest.mark.parametrize("name", REFUSED)
def test_unusual_calls(name):
    assert_same(REFUSED[name])


@program
def gradients_of_samples(T):
    random = np.random.RandomState(0)
    alpha, beta = np.exp(random.uniform(-3, 4, (2, 2000)))
    x, share = random.gamma(alpha) + 1e-9, random.beta(alpha, beta).clip(1e-6, 1 - 1e-6)
    return [
        T._standard_gamma_grad(T.tensor(alpha), T.tensor(x)),
        T._dirichlet_grad(T.tensor(share), T.tensor(alpha), T.tensor(alpha + beta)),
    ]


@program
def gradients_through_samples(T):
    T.manual_seed(0)
    alpha = T.tensor([0.3, 2.0, 9.0], requires_grad=True)
    (T._standard_gamma(alpha) * T.arange(3)).sum().backward()
    slope = alpha.grad
    alpha.grad = None
    (T.poisson(alpha) * 2).sum().backward()
    counts = T.binomial(T.full((3,), 5.0), T.sigmoid(alpha))
    refusals = [
        lambda: counts.sum().backward(),
        lambda: T._sample_dirichlet(alpha).sum().backward(),
        lambda: T._dirichlet_grad(T.full((3,), 0.3), alpha, T.full((3,), 3.0)).sum().backward(),
    ]
    return [slope, alpha.grad, counts, counts.requires_grad, [outcome(lambda T, f=f: f(), T)[0] for f in refusals]]
