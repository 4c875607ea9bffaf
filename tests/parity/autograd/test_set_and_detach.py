"""`set_` where gradients are recorded, and `detach_` in every kind of derivative, on every kind of tensor."""

import itertools

import pytest

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same, programs

program, test_program = programs()

# -------------------- set_ --------------------

TENSORS = {
    "plain": lambda T: T.ones(3),
    "leaf": lambda T: T.ones(3, requires_grad=True),
    "result": lambda T: T.ones(3, requires_grad=True) * 2,
    "view": lambda T: (T.ones(2, 3, requires_grad=True) * 2)[0],
    "view of a leaf": lambda T: T.ones(2, 3, requires_grad=True)[0],
    "plain view": lambda T: T.ones(2, 3)[0],
    "detached": lambda T: (T.ones(3, requires_grad=True) * 2).detach(),
}
FORMS = {
    "nothing": lambda tensor, source: tensor.set_(),
    "tensor": lambda tensor, source: tensor.set_(source),
    "part of a tensor": lambda tensor, source: tensor.set_(source, 0, (2,), (1,)),
    "storage": lambda tensor, source: tensor.set_(source.untyped_storage()),
    "part of a storage": lambda tensor, source: tensor.set_(source.untyped_storage(), 0, (3,), (1,)),
}


def place(tensor):
    node = tensor.grad_fn
    return tensor.requires_grad, tensor.is_leaf, node and node.name(), tensor._version, tuple(tensor.shape)


def after_set(T, first, second, form, recorded):
    tensor, source = TENSORS[first](T), TENSORS[second](T)
    with T.set_grad_enabled(recorded):
        error = tried(lambda: FORMS[form](tensor, source) is tensor)
    passes = [tried(lambda each=each: (each * 1).sum().backward()) for each in (tensor, source)]
    return error, place(tensor), place(source), passes, tried(lambda: tensor.mul_(2).requires_grad)


@pytest.mark.parametrize("form", FORMS)
def test_set(form):
    def all_pairs(T):
        pairs = itertools.product(TENSORS, TENSORS, (True, False))
        return {str(case): after_set(T, *case[:2], form, case[2]) for case in pairs}

    assert_same(all_pairs)


# -------------------- detach_ --------------------

CUTS = {
    "detach_": lambda T, y: y.detach_(),
    "torch.detach_": lambda T, y: T.detach_(y),
    "torch.ops.aten.detach_": lambda T, y: T.ops.aten.detach_(y),
    "detach": lambda T, y: y.detach(),
}
DUALS = {
    "dual": lambda T, dual: dual,
    "product": lambda T, dual: dual * 2,
    "view": lambda T, dual: (dual * 2)[:2],
    "recorded": lambda T, dual: dual * T.ones(3, requires_grad=True),
}


def tangent(T, tensor):
    found = T.autograd.forward_ad.unpack_dual(tensor).tangent
    return None if found is None else found.tolist()


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("made", DUALS)
def test_detached_dual(cut, made):
    def detached(T):
        with T.autograd.forward_ad.dual_level():
            dual = DUALS[made](T, T.autograd.forward_ad.make_dual(T.ones(3), T.tensor([1.0, 2.0, 3.0])))
            result = CUTS[cut](T, dual)
            facts = (result is dual, result.requires_grad, result._version)
            return facts, [tangent(T, each) for each in (dual, result, result * 3, dual * 3)]

    assert_same(lambda T: tried(detached, T))


def jvp(T, f):
    return lambda x: T.func.jvp(f, (x,), (T.ones_like(x),))


TRANSFORMS = {
    "jvp": jvp,
    "grad": lambda T, f: T.func.grad(f),
    "vmap": lambda T, f: lambda x: T.func.vmap(f)(T.stack([x, x + 1])).sum(),
}
DETACHED = {
    "product": lambda cut, x, y: cut(x * y) * x * y,
    "outer": lambda cut, x, y: cut(x * 1) * y * x * x * y,
    "inner": lambda cut, x, y: cut(y * 1) * y * x * x * y,
    "both": lambda cut, x, y: cut(x * y) * cut(y * 1) * x * y,
    "view": lambda cut, x, y: cut((x * y)[None]).sum() * x * y,
}


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize(
    "outer, inner", [each for each in itertools.product(TRANSFORMS, repeat=2) if "vmap" != each[0]]
)
def test_detached_in_transforms(outer, inner, cut):
    """It leaves the innermost transform, and stays in the others."""

    def run(T, f):
        def of_outer(x):
            result = TRANSFORMS[inner](T, lambda y: f(lambda z: CUTS[cut](T, z), x, y))(T.tensor(3.0))
            return sum(result) if isinstance(result, tuple) else result

        return tried(TRANSFORMS[outer](T, of_outer), T.tensor(2.0))

    assert_same(lambda T: [run(T, f) for f in DETACHED.values()])


@program
def detached_beside_a_leaf(T):
    weight = T.ones(3, requires_grad=True)
    T.func.grad(lambda x: ((x * weight).detach_() * x).sum())(T.tensor([1.0, 2.0, 3.0])).sum().backward()
    return weight.grad
