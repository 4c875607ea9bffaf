"""What the `jvp` of a custom Function may return, for every kind of output, and what becomes of it."""

import pytest

from tests.parity.support.programs import assert_same

# forward(T, ctx, x) and jvp(T, ctx, tangent); x is dual.
CASES = {
    "one output": (lambda T, ctx, x: x * 2, lambda T, ctx, t: t * 2),
    "a tuple of one": (lambda T, ctx, x: (x * 2,), lambda T, ctx, t: (t,)),
    "too few": (lambda T, ctx, x: (x * 2, x * 3), lambda T, ctx, t: t),
    "None for a constant": (lambda T, ctx, x: (x * 2, T.arange(2)), lambda T, ctx, t: (t, None)),
    "a tangent for integers": (lambda T, ctx, x: (x * 2, T.arange(2)), lambda T, ctx, t: (t, t)),
    "None for a marked output": (lambda T, ctx, x: (x * 2, marked(ctx, x * 3)), lambda T, ctx, t: (t, None)),
    "a tangent for a marked output": (lambda T, ctx, x: (x * 2, marked(ctx, x * 3)), lambda T, ctx, t: (t, t)),
    "None for no tensor": (lambda T, ctx, x: (x * 2, 5), lambda T, ctx, t: (t, None)),
    "a tangent for no tensor": (lambda T, ctx, x: (x * 2, 5), lambda T, ctx, t: (t, t)),
    "a number": (lambda T, ctx, x: x * 2, lambda T, ctx, t: 3.0),
    "another shape": (lambda T, ctx, x: x * 2, lambda T, ctx, t: t[:1]),
    "another dtype": (lambda T, ctx, x: x * 2, lambda T, ctx, t: t.double()),
    "a complex tangent": (lambda T, ctx, x: x * 2, lambda T, ctx, t: t.to(T.complex64)),
    "a view": (lambda T, ctx, x: x.view(2, 1), lambda T, ctx, t: t.view(2, 1)),
    "a copy for a view": (lambda T, ctx, x: x.view(2, 1), lambda T, ctx, t: t.view(2, 1).clone()),
    "the input": (lambda T, ctx, x: x, lambda T, ctx, t: t),
    "the input, other tangent": (lambda T, ctx, x: x, lambda T, ctx, t: t * 2),
    "a written input": (lambda T, ctx, x: dirty(ctx, x).mul_(2), lambda T, ctx, t: t.mul_(2)),
    "a written input, new tangent": (lambda T, ctx, x: dirty(ctx, x).mul_(2), lambda T, ctx, t: t * 2),
    "a written input and more": (lambda T, ctx, x: (dirty(ctx, x).mul_(2), x * 3), lambda T, ctx, t: (t.mul_(2), t)),
}


def marked(ctx, tensor):
    ctx.mark_non_differentiable(tensor)
    return tensor


def dirty(ctx, tensor):
    ctx.mark_dirty(tensor)
    return tensor


def tangents(T, forward, jvp, *inputs):
    function = type(
        "F",
        (T.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, *args: forward(T, ctx, *args)),
            "jvp": staticmethod(lambda ctx, *args: jvp(T, ctx, *args)),
        },
    )
    outputs = function.apply(*inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    return [T.autograd.forward_ad.unpack_dual(each)[1] if isinstance(each, T.Tensor) else each for each in outputs]


@pytest.mark.parametrize("name", CASES)
def test_outputs_of_jvp(name):
    def program(T):
        with T.autograd.forward_ad.dual_level():
            x = T.autograd.forward_ad.make_dual(T.ones(2), T.full((2,), 3.0))
            return tangents(T, *CASES[name], x)

    assert_same(program)


@pytest.mark.parametrize("materialize", [True, False])
def test_a_written_input_gets_its_first_tangent(materialize):
    def forward(T, ctx, x, y):
        ctx.set_materialize_grads(materialize)
        return dirty(ctx, x).mul_(y)

    def program(T):
        with T.autograd.forward_ad.dual_level():
            x, y = T.ones(2), T.autograd.forward_ad.make_dual(T.ones(2), T.ones(2))
            results = tangents(T, forward, lambda T, ctx, a, b: b * 2, x, y)
            return results, T.autograd.forward_ad.unpack_dual(x)[1]

    assert_same(program)


@pytest.mark.parametrize("outputs", [1, 2])
def test_a_missing_tangent_is_refused(outputs):
    """The rest of torch's text is about its own sources."""

    def program(T):
        with T.autograd.forward_ad.dual_level():
            x = T.autograd.forward_ad.make_dual(T.ones(2), T.ones(2))
            try:
                tangents(T, lambda T, ctx, x: (x * 2,) * outputs, lambda T, ctx, t: (None,) * outputs, x)
            except RuntimeError as error:
                return "Expected both tensor and its forward grad to be floating point or complex" in str(error)

    assert_same(program)


CHANGES = {
    "resize_": lambda T, x: x.resize_(4),
    "resize_as_": lambda T, x: x.resize_as_(T.ones(3)),
    "set_": lambda T, x: x.set_(T.ones(3)),
    "set_ to a storage": lambda T, x: x.set_(T.ones(3).untyped_storage()),
    "set_ to a dual": lambda T, x: T.ones(3).set_(x),
}


@pytest.mark.parametrize("name", CHANGES)
def test_duals_keep_their_memory(name):
    def program(T):
        with T.autograd.forward_ad.dual_level():
            CHANGES[name](T, T.autograd.forward_ad.make_dual(T.ones(2), T.ones(2)))

    assert_same(program)
