"""Tensors inside transforms: how they are printed, and what they refuse."""

import copy
import pickle

import numpy as np
import pytest

import mindtorch
from tests.parity.support.programs import assert_same, programs, sample

program, test_program = programs()


def numbers(T, *shape):
    return sample(T, *shape, requires_grad=False)


@program
def printed_inside_grad(T):
    texts = []

    def f(x):
        texts.extend([str(x), repr(x * 2), str(x.detach()), str(T.ones(2)), str(outside)])
        return x.sum()

    outside = T.zeros(2)
    T.func.grad(f)(T.ones(2))
    T.func.jvp(f, (T.ones(2),), (T.ones(2),))
    T.func.vjp(f, T.ones(2))
    return texts


@program
def printed_inside_several(T):
    texts = []

    def f(x):
        texts.extend([str(x), repr(x * 2)])
        return x.sum()

    T.func.grad(lambda x: T.func.grad(f)(x).sum())(T.ones(2))
    T.vmap(T.func.grad(f))(T.ones(2, 2))
    T.func.grad(lambda x: T.vmap(f)(x).sum())(T.ones(2, 2))
    T.vmap(T.vmap(f))(T.ones(2, 2, 2))
    T.func.jacrev(T.func.jacfwd(lambda x: f(x) * x))(T.ones(2))
    return texts


@program
def captured_tensors_of_an_outer_level(T):
    texts = []

    def outer(x):
        def inner(y):
            texts.extend([str(x), str(y), str(x * y)])
            return (x * y).sum()

        return T.func.grad(inner)(x * 2).sum()

    T.func.grad(outer)(T.ones(2))
    return texts


OF_SAMPLES = {
    "equal": lambda T, x: T.equal(x, x),
    "allclose": lambda T, x: T.allclose(x, x),
    "unique": lambda T, x: T.unique(x),
    "unique along a dim": lambda T, x: T.unique(x, dim=0),
    "unique_consecutive": lambda T, x: T.unique_consecutive(x),
    "deepcopy": lambda T, x: copy.deepcopy(x),
    "copy": lambda T, x: copy.copy(x),
    "pickle": lambda T, x: pickle.dumps(x),
    "data": lambda T, x: x.data,
    "data of a gradient": lambda T, x: T.func.grad(lambda y: (y.data * y).sum())(x),
    "data written": lambda T, x: setattr(x, "data", T.ones(2)),
    "item": lambda T, x: x[0].item(),
    "bool": lambda T, x: x if x.sum() > 0 else -x,
    "numpy": lambda T, x: x.numpy(),
    "storage": lambda T, x: x.untyped_storage(),
    "data_ptr": lambda T, x: x.data_ptr(),
    "inverse": lambda T, x: T.linalg.inv(T.eye(2) * x.exp()).diagonal().clone(),
    "inverse of a singular one": lambda T, x: T.linalg.inv(T.eye(2) * x * 0),
}


# A sample is no number, and no data of programs.
AS_NUMBERS = {
    "item of several": lambda T, x: x.item(),
    "bool of several": lambda T, x: bool(x),
    "float": lambda T, x: float(x[0]),
    "int": lambda T, x: int(x[0]),
    "complex": lambda T, x: complex(x[0]),
    "index": lambda T, x: [1, 2][x[0].long()],
    "float of several": lambda T, x: float(x),
    "tolist": lambda T, x: x.tolist(),
    "array": lambda T, x: np.asarray(x),
    "in a text": lambda T, x: f"{x[0]:.2f}",
    "while": lambda T, x: next(iter(())) if (x > 0).any() else x,
    "is_nonzero": lambda T, x: x.is_nonzero(),
    "contains": lambda T, x: 1.0 in x,
    "retain_grad": lambda T, x: x.retain_grad(),
    "requires_grad_": lambda T, x: x.requires_grad_(),
    "backward": lambda T, x: x.sum().backward(),
    "item of one that is captured": lambda T, x: x + T.ones(1).item(),
}


@pytest.mark.parametrize("name", OF_SAMPLES)
def test_samples_of_vmap(name):
    assert_same(lambda T: T.vmap(lambda x: OF_SAMPLES[name](T, x))(numbers(T, 3, 2)))


@pytest.mark.parametrize("requires_grad", [False, True], ids=["plain", "requires grad"])
@pytest.mark.parametrize("name", AS_NUMBERS)
def test_samples_as_numbers(name, requires_grad):
    def program(T):
        return T.vmap(lambda x: AS_NUMBERS[name](T, x))(numbers(T, 3, 2).requires_grad_(requires_grad))

    assert_same(program)


@program
def history_of_samples(T):
    """Autograd sees a sample only inside a transform that differentiates."""
    leaf = numbers(T, 3, 2).requires_grad_()
    seen = []

    def f(x):
        for each in (x, x * 2, x[0], x.detach(), x * leaf[0], leaf):
            seen.append((each.requires_grad, each.is_leaf, each.grad_fn is None))
        return x.sum()

    T.vmap(f)(leaf)
    T.vmap(T.vmap(f))(leaf.unsqueeze(1))
    T.vmap(T.func.grad(f))(leaf)
    T.func.grad(lambda x: T.vmap(f)(x).sum())(leaf)
    T.vmap(lambda x: T.vmap(T.func.grad(f))(x).sum())(leaf.unsqueeze(1))
    T.vmap(lambda x: seen.append(str(x * 2)) or f(x))(leaf).sum().backward()
    return seen, leaf.grad


def test_bincount_of_samples():
    """torch does the same, and warns that it has no rule for it."""
    counts = mindtorch.vmap(lambda x: mindtorch.bincount(x, minlength=4))(mindtorch.tensor([[0, 3], [1, 1]]))
    assert counts.tolist() == [[1, 0, 0, 1], [0, 2, 0, 0]]


@pytest.mark.parametrize("transform", ["grad", "jvp", "vmap of grad"])
def test_data_is_not_replaced(transform):
    def program(T):
        def f(x):
            x.data = T.zeros(2)
            return x.sum()

        if transform == "jvp":
            return T.func.jvp(f, (T.ones(2),), (T.ones(2),))
        return T.func.grad(f)(T.ones(2)) if transform == "grad" else T.vmap(T.func.grad(f))(T.ones(3, 2))

    assert_same(program)
