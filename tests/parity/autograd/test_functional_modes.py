"""`torch.autograd.functional` in all its modes: vectorized, forward over reverse, strict, with and without a graph."""

import itertools

import pytest

from tests.parity.support.programs import assert_same, sample

FUNCTIONS = {
    "square": lambda T, x: x * x,
    "two results": lambda T, x: (x * x, x.sum()),
    "constant": lambda T, x: T.ones(2),
    "constant and not": lambda T, x: (T.ones(2), x.exp()),
    "other dtype": lambda T, x: x.double() * 2,
    "view": lambda T, x: x.view(3, 1) * x,
    "in place": lambda T, x: x.clone().mul_(x),
    "number": lambda T, x: x.prod(),
    "linear": lambda T, x: 3 * x,
    "detached": lambda T, x: x.detach() * x,
}
PAIRS = {
    "product": lambda T, x, y: x * y,
    "two results": lambda T, x, y: (x * y.sin(), y.sum()),
    "first only": lambda T, x, y: x * x,
}
SCALARS = {
    "cubic": lambda T, x: (x**3).sum(),
    "linear": lambda T, x: x.sum(),
    "product": lambda T, x: x.prod() * x.sin().sum(),
    "constant": lambda T, x: T.ones(()),
    "detached": lambda T, x: (x * x).detach().sum(),
    "no scalar": lambda T, x: x * x,
    "tuple": lambda T, x: (x.sum(),),
    "no tensor": lambda T, x: 3,
}
MODES = [
    {"vectorize": True},
    {"vectorize": True, "strategy": "forward-mode"},
    {"vectorize": True, "create_graph": True},
    {"vectorize": True, "strict": True},
    {"strict": True},
    {"create_graph": True},
    {"create_graph": True, "strict": True},
]
HESSIAN_MODES = [
    {},
    {"vectorize": True},
    {"vectorize": True, "outer_jacobian_strategy": "forward-mode"},
    {"outer_jacobian_strategy": "forward-mode"},
    {"create_graph": True, "outer_jacobian_strategy": "forward-mode"},
    {"vectorize": True, "strict": True},
    {"vectorize": True, "create_graph": True},
    {"strict": True},
]
PRODUCT_MODES = [{}, {"strict": True}, {"create_graph": True}, {"strict": True, "create_graph": True}]
VECTORS = {
    "none": lambda T: None,
    "fitting": lambda T: T.tensor([1.0, -1.0, 2.0]),
    "number": lambda T: T.tensor(2.0),
    "pair": lambda T: (T.ones(3), T.ones(3)),
    "too short": lambda T: T.ones(2),
}


def plain(result):
    """Results without strides, which depend on how `vmap` works."""
    if isinstance(result, (tuple, list)):
        return tuple(plain(each) for each in result)
    return result.contiguous()


def each(*tables):
    return list(itertools.product(*[table if isinstance(table, list) else table.keys() for table in tables]))


def short(mode):
    return "-".join(str(value) for pair in mode.items() for value in pair) or "plain"


@pytest.mark.parametrize("mode", MODES, ids=short)
@pytest.mark.parametrize("leaf", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_jacobian(name, leaf, mode):
    def run(T):
        x = sample(T, 3, requires_grad=leaf and "strategy" not in mode)
        return plain(T.autograd.functional.jacobian(lambda x: FUNCTIONS[name](T, x), x, **mode))

    assert_same(run)


@pytest.mark.parametrize(("name", "mode"), each(PAIRS, MODES))
def test_jacobian_of_two(name, mode):
    def run(T):
        x = sample(T, 3), sample(T, 3, seed=1)
        return plain(T.autograd.functional.jacobian(lambda x, y: PAIRS[name](T, x, y), x, **mode))

    assert_same(run)


@pytest.mark.parametrize(("name", "mode"), each(SCALARS, HESSIAN_MODES))
def test_hessian(name, mode):
    def run(T):
        x = sample(T, 3, requires_grad=False)
        return plain(T.autograd.functional.hessian(lambda x: SCALARS[name](T, x), x, **mode))

    assert_same(run)


@pytest.mark.parametrize("mode", HESSIAN_MODES, ids=short)
def test_hessian_of_two(mode):
    def run(T):
        x = sample(T, 2, requires_grad=False), sample(T, 2, requires_grad=False, seed=1)
        return plain(T.autograd.functional.hessian(lambda x, y: (x * x * y.exp()).sum(), x, **mode))

    assert_same(run)


@pytest.mark.parametrize("vector", VECTORS)
@pytest.mark.parametrize("mode", PRODUCT_MODES, ids=short)
@pytest.mark.parametrize("name", SCALARS)
@pytest.mark.parametrize("product", ["vjp", "jvp", "vhp", "hvp"])
def test_products(product, name, mode, vector):
    def run(T):
        x = sample(T, 3, requires_grad="create_graph" in mode)
        return getattr(T.autograd.functional, product)(lambda x: SCALARS[name](T, x), x, VECTORS[vector](T), **mode)

    assert_same(run)


@pytest.mark.parametrize("name", ["jacobian", "hessian", "vjp", "jvp", "vhp", "hvp"])
def test_without_grad_mode(name):
    def run(T):
        x, v = sample(T, 3), sample(T, 3, seed=1, requires_grad=False)
        function = getattr(T.autograd.functional, name)
        rest = () if name in ("jacobian", "hessian") else (T.tensor(1.0) if name == "vjp" else v,)
        with T.no_grad():
            return function(lambda x: (x**3).sum(), x, *rest), function(lambda x: x.sin().prod(), x, *rest, True)

    assert_same(run)
