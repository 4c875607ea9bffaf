"""What a transform inside of another one gives: its results and its `aux` leave one level after the other, and are in
each of them what they are in torch, with the derivatives of those around."""

import re

import pytest
import torch

import mindtorch
from tests.parity.support.programs import outcome


def total(value):
    return value.sum() if value.ndim else value


def scalar(f, has_aux):
    """A function that returns the sum of what another one does."""
    if not has_aux:
        return lambda v: total(f(v))

    def summed(v):
        value, aux = f(v)
        return total(value), aux

    return summed


def jvp(T, f, x, has_aux):
    return T.func.jvp(f, (x,), (T.ones_like(x),), has_aux=has_aux)


def grad(T, f, x, has_aux):
    return T.func.grad_and_value(scalar(f, has_aux), has_aux=has_aux)(x)


def vjp(T, f, x, has_aux):
    result, products, *aux = T.func.vjp(f, x, has_aux=has_aux)
    return result, products(T.utils._pytree.tree_map(T.ones_like, result)), aux


def jacfwd(T, f, x, has_aux):
    return T.func.jacfwd(f, has_aux=has_aux)(x)


def jacrev(T, f, x, has_aux):
    return T.func.jacrev(f, has_aux=has_aux)(x)


def hessian(T, f, x, has_aux):
    return T.func.hessian(scalar(f, has_aux))(x)


def vmap(T, f, x, has_aux):
    return T.vmap(f)(x)


TRANSFORMS = {each.__name__: each for each in (jvp, grad, vjp, jacfwd, jacrev, hessian, vmap)}
WITHOUT_AUX = ("hessian", "vmap")
RETURNED = {
    "made": lambda v, u, w: v.sin(),
    "the input": lambda v, u, w: v,
    "a view": lambda v, u, w: v.view(-1),
    "a slice": lambda v, u, w: v[..., :1],
    "a view of what is made": lambda v, u, w: v.sin().view(-1),
    "captured": lambda v, u, w: u,
    "of both": lambda v, u, w: v * u,
    "from outside": lambda v, u, w: w,
}


# Of what is inside of another transform torch's texts also name the node.
_NODE_INSIDE = re.compile(r", (grad_fn=<\w+>|requires_grad=True)(?=\)\n)")
_TERM_OF_ZEROS = re.compile(r"Where(?=Backward)")  # which torch adds
_NUMBER_OF_NODE = re.compile(r"(?<=Backward)\d")  # that of an overload
_SIGN_OF_ZERO = re.compile(r"-(?=0\.0*[],])")
_WHITE = re.compile(r"\s+")  # columns are as wide as numbers with signs are


def plain(text):
    for pattern in (_NODE_INSIDE, _NUMBER_OF_NODE, _WHITE, _SIGN_OF_ZERO):
        text = pattern.sub("", text)
    return _TERM_OF_ZEROS.sub("Add", text)


def facts(tensor):
    return tensor.requires_grad, tensor.grad_fn and plain(tensor.grad_fn.name()), tensor.is_leaf, plain(str(tensor))


def inside(T, inner, returned, has_aux, w, seen):
    """The function of the outer transform: what the inner one gives."""

    def outer_function(u):
        def inner_function(v):
            value = RETURNED[returned](v, u, w)
            return (v.cos(), value) if has_aux else value

        results = T.utils._pytree.tree_leaves(TRANSFORMS[inner](T, inner_function, u, has_aux))
        seen.append([facts(each) for each in results])
        return tuple(results)

    return outer_function


def ending(outer, f, has_aux):
    """The same for an outer transform that takes one number only, or is to give the rest as `aux`."""
    if has_aux:
        return lambda u: ((results := f(u))[0], results[1:] or results)
    if outer in ("grad", "hessian"):
        return lambda u: sum(map(total, f(u)))
    return f


def nested(T, outer, inner, returned, has_aux, requires_grad):
    x = T.tensor([[[0.5, 1.5]], [[2.0, 0.25]]], requires_grad=requires_grad)
    w = T.tensor([[[0.75, 1.25]], [[3.0, 0.5]]], requires_grad=requires_grad)
    seen = []
    f = inside(T, inner, returned, has_aux and inner not in WITHOUT_AUX, w, seen)
    is_aux_outside = has_aux and outer not in WITHOUT_AUX
    found = TRANSFORMS[outer](T, ending(outer, f, is_aux_outside), x, is_aux_outside)
    results = T.utils._pytree.tree_leaves(found)
    shown = [facts(each) for each in results]
    ends = [each for each in results if each.requires_grad]
    gradients = ends and T.autograd.grad(sum(each.sum() for each in ends), (x, w), allow_unused=True)
    return (
        seen,
        shown,
        [each.contiguous() for each in results],
        [each is not None and each.contiguous() for each in gradients],
    )


CASES = [(returned, *how) for returned in RETURNED for how in ((False, True), (True, True), (True, False))]


@pytest.mark.parametrize("outer", TRANSFORMS)
@pytest.mark.parametrize("inner", TRANSFORMS)
def test_results_and_aux(outer, inner):
    different = []
    for case in CASES:
        own, expected = (outcome(lambda T: nested(T, outer, inner, *case), T) for T in (mindtorch, torch))  # noqa: B023
        if own != expected:
            different.append(f"{case}\nmindtorch: {own}\ntorch:     {expected}")
    assert not different, "\n".join(different)
