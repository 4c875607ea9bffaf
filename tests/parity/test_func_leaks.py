"""Tensors that leave a transform through a list or a closure: their part in the transform is over, that in the autograd
around it is not."""

import pytest

from tests.parity.library_programs import tried
from tests.parity.programs import assert_same


def summed(f):
    return lambda x: f(x).sum()


TRANSFORMS = {
    "grad": lambda T, f, x: T.func.grad(summed(f))(x),
    "grad_and_value": lambda T, f, x: T.func.grad_and_value(summed(f))(x),
    "vjp": lambda T, f, x: T.func.vjp(f, x)[0],
    "pulled back": lambda T, f, x: T.func.vjp(f, x)[1](T.ones(3)),
    "jvp": lambda T, f, x: T.func.jvp(f, (x,), (T.ones(3),)),
    "grad of grad": lambda T, f, x: T.func.grad(lambda y: T.func.grad(summed(f))(y).sum())(x),
    "grad of vjp": lambda T, f, x: T.func.grad(lambda y: T.func.vjp(f, y)[1](y)[0].sum())(x),
    "jvp of grad": lambda T, f, x: T.func.jvp(T.func.grad(summed(f)), (x,), (T.ones(3),)),
    "grad of jvp": lambda T, f, x: T.func.grad(lambda y: T.func.jvp(f, (y,), (y,))[1].sum())(x),
}
LEAKS = {
    "input": lambda T, x, w: x,
    "product": lambda T, x, w: x * w,
    "sine": lambda T, x, w: x.sin(),
    "view": lambda T, x, w: (x * 2).view(3, 1),
    "detached": lambda T, x, w: (x * w).detach(),
    "without the input": lambda T, x, w: w * 3,
    "constant": lambda T, x, w: T.ones(3),
}
ASKED = {
    "backward": lambda T, leaked, leaf: leaked.sum().backward(),
    "backward of a product": lambda T, leaked, leaf: (leaked * 2).sum().backward(),
    "with a leaf": lambda T, leaked, leaf: (leaked.sum() * leaf).sum().backward(),
    "grad of a leaf": lambda T, leaked, leaf: T.autograd.grad(leaked.sum(), leaf, allow_unused=True)[0],
}


def asked(T, transform, leak, question, x_requires_grad, weight_requires_grad):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=x_requires_grad)
    weight = T.tensor([3.0, 1.0, 2.0], requires_grad=weight_requires_grad)
    leaf = T.tensor([1.0, 1.0, 2.0], requires_grad=True)
    leaked = []

    def f(y):
        leaked.append(LEAKS[leak](T, y, weight))
        return (y * weight).sin()

    results = T.utils._pytree.tree_leaves(TRANSFORMS[transform](T, f, x))
    answer = tried(ASKED[question], T, leaked[0], leaf)
    passes = [tried(lambda each=each: each.sum().backward()) for each in results]
    return answer, x.grad, weight.grad, leaf.grad, passes, [each.is_leaf for each in results]


@pytest.mark.parametrize("question", ASKED)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_leaks(transform, question):
    def all_cases(T):
        flags = [(first, second) for first in (False, True) for second in (False, True)]
        return {f"{leak} {each}": tried(asked, T, transform, leak, question, *each) for leak in LEAKS for each in flags}

    assert_same(all_cases)


@pytest.mark.parametrize("leak", LEAKS)
def test_leaks_into_an_outer_transform(leak):
    """What leaves the inner transform still belongs to the outer one."""

    def nested(T):
        def outer(x):
            leaked = []

            def inner(y):
                leaked.append(LEAKS[leak](T, y, x))
                return (y * x).sin().sum()

            return (T.func.grad(inner)(x * 2) * leaked[0].reshape(3)).sum()

        values = T.func.jvp(outer, (T.ones(3),), (T.ones(3),))
        return T.func.grad(outer)(T.tensor([1.0, 2.0, 3.0])), [each.detach() for each in values]

    assert_same(nested)
