"""Custom Functions: the context, what forward and backward may return, and how they fit into the graph."""

import pytest

import mindtorch as torch
from mindtorch.autograd import Function
from mindtorch.autograd.function import once_differentiable


def leaf(*numbers):
    return torch.tensor([float(number) for number in numbers]).requires_grad_()


def make(forward, backward=None, **methods):
    """A Function made of Python functions."""
    if backward is not None:
        methods["backward"] = backward
    return type("Custom", (Function,), {name: staticmethod(f) for name, f in {"forward": forward, **methods}.items()})


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x * 2


class TestGraph:
    def test_gradient_and_name(self):
        x = leaf(1, 2)
        y = Square.apply(x)
        assert y.grad_fn.name() == "SquareBackward" and isinstance(y.grad_fn, torch.autograd.graph.Node)
        assert repr(y.grad_fn).startswith("<torch.autograd.function.SquareBackward object at 0x")
        y.sum().backward()
        assert x.grad.tolist() == [2, 4]

    def test_second_derivative(self):
        x = leaf(3)
        (first,) = torch.autograd.grad(Square.apply(x), x, create_graph=True)
        assert torch.autograd.grad(first, x)[0].tolist() == [2]

    def test_the_context_is_the_node(self):
        y = make(lambda ctx, x: (setattr(ctx, "note", 5), x * 1)[1]).apply(leaf(1))
        assert y.grad_fn.note == 5 and y.grad_fn.saved_tensors == ()

    def test_released(self):
        y = Square.apply(leaf(1)).sum()
        y.backward()
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
            y.backward()

    def test_nothing_is_recorded_without_grad(self):
        assert not Square.apply(torch.ones(1)).requires_grad
        with torch.no_grad():
            assert not Square.apply(leaf(1)).requires_grad

    def test_forward_runs_unrecorded(self):
        seen = []
        make(lambda ctx, x: (seen.append((torch.is_grad_enabled(), ctx.needs_input_grad)), x * 1)[1]).apply(leaf(1))
        assert seen == [(False, (True,))]

    def test_other_arguments(self):
        x = leaf(2)
        function = make(lambda ctx, a, x, b: x * a * b["factor"], lambda ctx, grad: (None, grad * 12, None))
        y = function.apply(3, x, {"factor": 4})
        assert y.tolist() == [24] and len(y.grad_fn.next_functions) == 1
        y.backward()
        assert x.grad.tolist() == [12]

    def test_keyword_arguments(self):
        assert make(lambda ctx, x, factor=2: x * factor).apply(leaf(1), factor=5).tolist() == [5]
        with pytest.raises(TypeError, match=r"forward\(\) got an unexpected keyword argument 'other'"):
            make(lambda ctx, x: x).apply(leaf(1), other=5)

    def test_hooks(self):
        x, seen = leaf(1), []
        y = Square.apply(x)
        y.register_hook(lambda grad: grad * 10)
        y.grad_fn.register_hook(lambda results, grads: seen.append((results[0].item(), grads[0].item())))
        y.backward()
        assert seen == [(20, 10)] and x.grad.tolist() == [20]


class TestSetupContext:
    def test_defaults_and_keywords(self):
        seen = []

        def setup(ctx, inputs, output):
            seen.append((inputs[1:], output.tolist()))
            ctx.save_for_backward(inputs[0])

        function = make(
            lambda x, factor=2, unused=None: x * factor,
            lambda ctx, grad: (grad * ctx.saved_tensors[0], None, None),
            setup_context=setup,
        )
        x = leaf(5)
        function.apply(x).backward()
        function.apply(x, unused=1)
        assert seen == [((2, None), [10]), ((2, 1), [10])] and x.grad.tolist() == [5]
        with pytest.raises(TypeError, match="got an unexpected keyword argument 'other'"):
            function.apply(x, other=1)


class TestContext:
    def test_save_for_backward_takes_tensors(self):
        with pytest.raises(TypeError, match="save_for_backward can only save variables, but argument 1 is of type int"):
            make(lambda ctx, x: (ctx.save_for_backward(x, 3), x * 1)[1]).apply(leaf(1))

    def test_saved_outputs(self):
        def forward(ctx, x):
            result = x.exp()
            ctx.save_for_backward(result)
            return result

        x = leaf(0)
        function = make(forward, lambda ctx, grad: grad * ctx.saved_tensors[0])
        y = function.apply(x)
        assert y.grad_fn.saved_tensors[0].grad_fn is y.grad_fn
        (first,) = torch.autograd.grad(y, x, create_graph=True)
        assert torch.autograd.grad(first, x)[0].tolist() == [1]
        y = function.apply(x)
        y.add_(1)
        with pytest.raises(RuntimeError, match="which is output 0 of Custom, is at version 1; expected version 0"):
            y.backward()

    def test_raw_saved_tensors(self):
        y = Square.apply(leaf(3))
        y.grad_fn._raw_saved_tensors[0].register_hooks(lambda t: t, lambda t: t * 10)
        assert y.grad_fn.saved_tensors[0].tolist() == [30]

    def test_undefined_gradients_become_zeros(self):
        seen = []
        function = make(lambda ctx, x: (x * 1, x * 2, 3), lambda ctx, *grads: (seen.append(grads), grads[0])[1])
        function.apply(leaf(1))[0].backward()
        assert seen[0][1].tolist() == [0] and seen[0][2] is None

    def test_undefined_gradients_stay_none_on_request(self):
        seen = []

        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        function = make(forward, lambda ctx, *grads: (seen.append(grads), grads[0])[1])
        function.apply(leaf(1))[0].backward()
        assert seen[0][1] is None

    def test_mark_non_differentiable(self):
        def forward(ctx, x):
            order = x.argsort()
            rounded = x.round()
            ctx.mark_non_differentiable(order, rounded)
            return x * 1, order, rounded

        values, order, rounded = make(forward, lambda ctx, *grads: grads[0]).apply(leaf(2, 1))
        assert values.requires_grad and not order.requires_grad and not rounded.requires_grad

    def test_mark_dirty(self):
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(3)

        x = leaf(1, 2)
        y = x * 1
        output = make(forward, lambda ctx, grad: grad * 3).apply(y[:1])
        assert output._base is y and y.grad_fn.name() == "torch::autograd::CopySlices"
        y.sum().backward()
        assert x.grad.tolist() == [3, 1]

    @pytest.mark.parametrize(
        ("forward", "text"),
        [
            (lambda ctx, x: (ctx.mark_dirty(x), x * 1)[1], "Some elements marked as dirty during the forward method"),
            (
                lambda ctx, x: (ctx.mark_dirty(x), x)[1],
                "a leaf Variable that requires grad has been used in an in-place",
            ),
            (lambda ctx, x: (ctx.mark_dirty(3), x * 1)[1], "mark_dirty can only accept variables"),
        ],
    )
    def test_mark_dirty_errors(self, forward, text):
        with pytest.raises(RuntimeError, match=text):
            make(forward).apply(leaf(1))

    def test_several_outputs_and_a_dirty_view(self):
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x, x * 1

        with pytest.raises(RuntimeError, match="your Function cannot return more than one Tensor"):
            make(forward).apply((leaf(1, 2) * 1)[:1])


class TestReturnedViews:
    def test_an_input_is_returned_as_a_view(self):
        x = leaf(1)
        y = make(lambda ctx, x: x, lambda ctx, grad: grad * 7).apply(x)
        assert y is not x and y._base is x and y.grad_fn.name() == "CustomBackward"
        y.backward()
        assert x.grad.tolist() == [7]

    def test_views_may_not_be_written(self):
        y = leaf(1) * 2
        view = make(lambda ctx, x: x.view(1, 1), lambda ctx, grad: grad.view(1)).apply(y)
        with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
            view.add_(1)

    def test_an_input_without_gradient(self):
        x = leaf(1)
        with torch.no_grad():
            y = make(lambda ctx, x: x).apply(x)
        assert y is not x and not y.requires_grad and x.requires_grad


class TestBackwardResults:
    @pytest.mark.parametrize(
        ("result", "text"),
        [
            (lambda grad: (grad, grad), r"returned an incorrect number of gradients \(expected 1, got 2\)"),
            (lambda grad: 3, r"expected Variable or None \(got int\)"),
        ],
    )
    def test_errors(self, result, text):
        with pytest.raises(RuntimeError, match=text):
            make(lambda ctx, x: x * 1, lambda ctx, grad: result(grad)).apply(leaf(1)).backward()

    def test_more_nones_than_inputs(self):
        x = leaf(1)
        make(lambda ctx, x: x * 1, lambda ctx, grad: (grad, None, None)).apply(x).backward()
        assert x.grad.tolist() == [1]

    def test_a_gradient_for_a_number(self):
        with pytest.raises(RuntimeError, match="returned a gradient different than None at position 2"):
            make(lambda ctx, x, n: x * n, lambda ctx, grad: (grad, grad)).apply(leaf(1), 2).backward()

    def test_missing_methods(self):
        with pytest.raises(NotImplementedError, match="You must implement the forward function"):
            type("Custom", (Function,), {}).apply(leaf(1))
        with pytest.raises(NotImplementedError, match="You must implement either the backward or vjp method"):
            make(lambda ctx, x: x * 1).apply(leaf(1)).backward()
        with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
            make(lambda ctx, x: x * 1, lambda ctx, grad: grad, vjp=lambda ctx, grad: grad).apply(leaf(1)).backward()

    def test_instances(self):
        with pytest.warns(DeprecationWarning, match="should not be instantiated"):
            instance = Square()
        with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward method is deprecated"):
            instance(leaf(1))


def test_once_differentiable():
    x, weight = leaf(3), leaf(1)
    function = make(Square.forward, once_differentiable(Square.backward))
    (first,) = torch.autograd.grad(function.apply(x), x, weight, create_graph=True)
    assert first.tolist() == [6]
    with pytest.raises(RuntimeError, match="trying to differentiate twice a function that was marked with @once_diff"):
        first.backward()
    function.apply(x).backward()
    assert x.grad.tolist() == [6]


class TestForwardMode:
    def test_jvp(self):
        def forward(ctx, x, y):
            ctx.save_for_forward(x, y)
            return x * y

        def jvp(ctx, x_t, y_t):
            x, y = ctx.saved_tensors
            return x_t * y + x * y_t

        with torch.autograd.forward_ad.dual_level():
            x = torch.autograd.forward_ad.make_dual(torch.ones(1) * 2, torch.ones(1))
            output = make(forward, jvp=jvp).apply(x, torch.ones(1) * 5)
            assert torch.autograd.forward_ad.unpack_dual(output).tangent.tolist() == [5]
            with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
                make(lambda ctx, x: x * 1).apply(x)
