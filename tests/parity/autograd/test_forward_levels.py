"""Tangents are recorded as any computation is; the flags of tensors are those of the innermost transform."""

from itertools import product

import numpy as np
import pytest
import torch

import mindtorch
from tests.harness import to_numpy

ERRORS = (RuntimeError, NotImplementedError)


# -------------------- the graph of a tangent --------------------

# Functions of a dual tensor and of a constant: products with numbers and with tensors without a tangent, sums, ops made
# of others, views, writes in place.
FUNCTIONS = {
    "mul": lambda T, d, c: d * c,
    "mul by a number": lambda T, d, c: d * 2,
    "number first": lambda T, d, c: 3 / d,
    "add": lambda T, d, c: d + c,
    "sub": lambda T, d, c: c - d,
    "div": lambda T, d, c: d / c,
    "div by the dual": lambda T, d, c: c / d,
    "div with a mode": lambda T, d, c: T.div(d, 4, rounding_mode=None),
    "pow": lambda T, d, c: d**c,
    "pow of a constant": lambda T, d, c: c**d,
    "square": lambda T, d, c: d**2,
    "atan2": lambda T, d, c: T.atan2(d, c),
    "hypot": lambda T, d, c: T.hypot(c, d),
    "lerp": lambda T, d, c: T.lerp(d, c, 0.3),
    "lerp by a tensor": lambda T, d, c: T.lerp(c, c * 2, d),
    "addcmul": lambda T, d, c: T.addcmul(d, c, c, value=2),
    "addcdiv": lambda T, d, c: T.addcdiv(c, d, c),
    "where": lambda T, d, c: T.where(d > 2, d, c),
    "clamp": lambda T, d, c: d.clamp(c, c * 2),
    "maximum": lambda T, d, c: T.maximum(d, c),
    "logaddexp": lambda T, d, c: T.logaddexp(d, c),
    "xlogy": lambda T, d, c: T.xlogy(c, d),
    "dot": lambda T, d, c: d.dot(c),
    "mv": lambda T, d, c: T.outer(c, c) @ d,
    "einsum": lambda T, d, c: T.einsum("i,i->i", d, c),
    "linear": lambda T, d, c: T.nn.functional.linear(d, T.outer(c, c), c),
    "mse_loss": lambda T, d, c: T.nn.functional.mse_loss(d, c),
    "sin": lambda T, d, c: d.sin(),
    "sum": lambda T, d, c: (d * c).sum(),
    "var": lambda T, d, c: d.var(),
    "cumsum": lambda T, d, c: d.cumsum(0),
    "logsumexp of a number": lambda T, d, c: d[0].logsumexp(0),
    "logcumsumexp of a number": lambda T, d, c: d[0].logcumsumexp(0),
    "cumprod of a number": lambda T, d, c: d[0].cumprod(0),
    "view": lambda T, d, c: d.view(3, 1)[1:],
    "view of a product": lambda T, d, c: (d * c)[1:],
    "detach": lambda T, d, c: d.detach(),
    "cat": lambda T, d, c: T.cat([d, c]),
    "copy": lambda T, d, c: T.zeros_like(d).copy_(d),
    "mul_": lambda T, d, c: d.clone().mul_(c),
    "mul_ of a constant": lambda T, d, c: c.clone().mul_(d),
    "add_ to a view": lambda T, d, c: _written(d.clone(), c),
    "itself": lambda T, d, c: d,
}


def _written(tensor, number):
    tensor[1:].add_(number[1:] * 3)
    return tensor


def graph_of_tangent(T, function, recorded, mode):
    """Whether primal and tangent require grad, and what the gradients of the tangent are."""
    fw = T.autograd.forward_ad
    inputs = [T.tensor(each, dtype=T.float64, requires_grad=on) for each, on in zip(_NUMBERS, recorded, strict=True)]
    x, c, direction = inputs
    with fw.dual_level(), T.set_grad_enabled(mode):
        primal, tangent = fw.unpack_dual(function(T, fw.make_dual(x, direction), c))
    wanted = [each for each in inputs if each.requires_grad]
    gradients = [None] * len(wanted)
    if tangent is not None and tangent.requires_grad:
        try:
            gradients = T.autograd.grad(tangent.sum(), wanted, allow_unused=True)
        except RuntimeError as error:  # a formula of torch (logsumexp) writes to what it has saved
            assert T is torch and "modified by an inplace operation" in str(error), error
            return primal.requires_grad, True, None
    known = [None if each is None else (each * 1 + T.zeros(3)).tolist() for each in gradients]
    return primal.requires_grad, None if tangent is None else tangent.requires_grad, known


_NUMBERS = [1.5, 2.0, 3.0], [2.5, 1.0, 3.5], [1.0, -2.0, 0.5]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_graphs_of_tangents(name):
    for recorded in product((False, True), repeat=3):
        for mode in (True, False):
            ours, theirs = (graph_of_tangent(T, FUNCTIONS[name], recorded, mode) for T in (mindtorch, torch))
            assert ours[:2] == theirs[:2], recorded
            for mine, other in zip(ours[2], theirs[2] or ours[2], strict=True):
                assert (mine is None) == (other is None), recorded
                assert mine is None or np.allclose(mine, other, 1e-6, 1e-9), recorded


def test_factor_of_a_missing_tangent_may_be_infinite():
    fw = mindtorch.autograd.forward_ad
    x = mindtorch.tensor([np.inf, 2.0], requires_grad=True)
    with fw.dual_level():
        tangent = fw.unpack_dual(fw.make_dual(x, mindtorch.ones(2)) * 3).tangent
    assert tangent.requires_grad
    assert tangent.tolist() == [3.0, 3.0]


# -------------------- flags inside of transforms --------------------


def flags(tensor):
    return tensor.requires_grad, tensor.is_leaf, tensor.grad_fn is not None


def made_inside(T, x, c):
    """What a function sees of its input, of what it has captured, of leaves of its own and of what it makes of them."""
    leaf = T.ones(2, requires_grad=True)
    with T.no_grad():
        unrecorded = x * c
    return [
        x,
        x * 2,
        x[0],
        x.detach(),
        c,
        c * 2,
        c[0],
        x * c,
        c.sum() * 1,
        T.ones(2),
        leaf,
        leaf * 2,
        leaf * x,
        unrecorded,
    ]


def forward(T, function):
    return lambda x: T.func.jvp(function, (x,), (T.ones_like(x),))[1]


def backward(T, function):
    return T.func.grad(lambda x: function(x).sum())


def mapped(T, function):
    return T.vmap(function)


NESTED = [levels for length in (1, 2, 3) for levels in product((forward, backward, mapped), repeat=length)]
NESTED = [levels for levels in NESTED if forward in levels and levels.count(mapped) < 2]


@pytest.mark.parametrize("levels", NESTED, ids=lambda levels: "-".join(each.__name__ for each in levels))
def test_flags_are_those_of_the_innermost_transform(levels):
    for recorded in product((False, True), repeat=2):
        seen = {}
        for T in (mindtorch, torch):
            x, c = (T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=on) for on in recorded)

            def function(x, c=c, T=T, seen=seen):
                seen[T] = [flags(each) for each in made_inside(T, x, c)]
                return x * c

            transformed = function
            for level in reversed(levels):
                transformed = level(T, transformed)
            transformed(x)
        assert seen[mindtorch] == seen[torch], recorded


# -------------------- out= --------------------

WITH_OUT = {
    "abs": lambda T, x, out: T.abs(x, out=out),
    "maximum": lambda T, x, out: T.maximum(x, x, out=out),
    "cumsum": lambda T, x, out: T.cumsum(x, 0, out=out),
    "amax": lambda T, x, out: T.amax(x, 0, out=out),
}


@pytest.mark.parametrize("name", WITH_OUT)
def test_out_of_a_dual_tensor(name):
    """It is refused for being recorded first, else for its tangent, when it has been written."""
    for level, recorded in product((forward, None, backward), (False, True)):
        seen = []
        for T in (mindtorch, torch):
            x, out = T.tensor([1.0, -2.0], requires_grad=recorded), T.zeros(() if name == "amax" else 2)

            def function(x, T=T, out=out, level=level):
                return WITH_OUT[name](T, x, T.empty(0) if level is backward else out)

            with pytest.raises(ERRORS) as caught:
                if level is None:
                    with T.autograd.forward_ad.dual_level():
                        function(T.autograd.forward_ad.make_dual(x, T.ones(2)))
                else:
                    forward(T, function if level is forward else backward(T, function))(x)
            seen.append((type(caught.value), str(caught.value), to_numpy(out).tolist()))
        assert seen[0] == seen[1], (level, recorded)


# -------------------- where tangents lie in memory --------------------

PRIMALS = {
    "plain": lambda T: T.ones(2, 3),
    "offset": lambda T: T.arange(24.0).reshape(4, 6)[1:3, 2:5],
    "stepped": lambda T: T.arange(24.0).reshape(4, 6)[::2, ::2],
    "one row": lambda T: T.arange(6.0)[3:].reshape(1, 3),
    "column": lambda T: T.arange(24.0).reshape(4, 6)[:, 2:3],
}
VIEWS = {
    "itself": lambda a: a,
    "alias": lambda a: a[...],
    "select": lambda a: a[0],
    "product": lambda a: a * 2,
    "view": lambda a: a.view(a.shape),
    "chunk": lambda a: a.chunk(2, 0)[-1],
    "unsqueeze": lambda a: a.unsqueeze(0),
}
TRANSFORMS = {
    "jvp": lambda T, f, x, v: T.func.jvp(f, (x,), (v,))[1],
    "mapped jvp": lambda T, f, x, v: T.vmap(lambda a, b: T.func.jvp(f, (a,), (b,))[1])(x, v),
    "jacfwd": lambda T, f, x, v: T.func.jacfwd(f)(x),
    "mapped jacfwd": lambda T, f, x, v: T.vmap(T.func.jacfwd(f))(x),
}


def place_in_memory(tensor, x, direction):
    shared = [tensor.untyped_storage().data_ptr() == each.untyped_storage().data_ptr() for each in (x, direction)]
    size = tensor.untyped_storage().nbytes()
    return tensor.stride(), tensor.storage_offset(), size, tensor._base is not None, tensor is direction, shared


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("layout", PRIMALS)
def test_tangents_lie_as_their_primals_do(transform, layout):
    for name, function in VIEWS.items():
        for factor in (None, 2):
            seen = []
            for T in (mindtorch, torch):
                x = PRIMALS[layout](T)
                direction = x if factor is None else x * factor
                tangent = TRANSFORMS[transform](T, function, x, direction)
                seen.append((tangent.tolist(), place_in_memory(tangent, x, direction)))
            assert seen[0] == seen[1], (name, factor)
