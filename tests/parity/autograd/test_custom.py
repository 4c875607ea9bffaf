"""Custom Functions, further: arguments, contexts, outputs, gradients and texts as in PyTorch."""

import warnings

import pytest

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same, programs, sample

program, test_program = programs()


def make(T, forward, backward=None, setup=None, **others):
    """A Function of plain functions."""
    methods = {"forward": forward, "backward": backward, "setup_context": setup, **others}
    return type("Custom", (T.autograd.Function,), {key: staticmethod(value) for key, value in methods.items() if value})


def double(T):
    return make(T, lambda ctx, x: x * 2, lambda ctx, grad: grad * 2)


# -------------------- arguments --------------------


@program
def arguments_of_all_kinds(T):
    seen = []

    def forward(ctx, x, number, words, nothing, tensors, nested, flag, function):
        seen.append((ctx.needs_input_grad, x.requires_grad, T.is_grad_enabled()))
        ctx.number = number
        return x * number

    def backward(ctx, grad):
        seen.append((ctx.needs_input_grad, T.is_grad_enabled()))
        return grad * ctx.number, None, None, None, None, None, None, None

    x, y = sample(T, 3), sample(T, 3)
    make(T, forward, backward).apply(x, 3, "abc", None, [y, y], {"y": y}, True, len).sum().backward()
    return seen, x.grad, y.grad


@program
def tensors_in_lists_take_no_part(T):
    x = sample(T, 3)
    y = make(T, lambda ctx, tensors: tensors[0] * 2, lambda ctx, grad: grad).apply([x])
    return y, y.grad_fn


@program
def the_same_tensor_twice(T):
    x = sample(T, 3)
    seen = []

    def backward(ctx, grad):
        seen.append(ctx.needs_input_grad)
        return grad * 2, grad * 3

    make(T, lambda ctx, a, b: a * b, backward).apply(x, x).sum().backward()
    return x.grad, seen


@program
def no_tensor_at_all(T):
    function = make(T, lambda ctx, n: T.ones(n), lambda ctx, grad: None)
    y = function.apply(3)
    return y, y.grad_fn


@program
def no_arguments(T):
    function = make(T, lambda ctx: T.ones(2), lambda ctx, grad: None)
    return function.apply(), tried(make(T, lambda ctx, x: x).apply)


@program
def wrong_number_of_arguments(T):
    function = make(T, lambda ctx, x, y: x * y, lambda ctx, grad: (grad, grad))
    return [tried(function.apply, *args)[:9] for args in ((sample(T, 3),), (sample(T, 3),) * 3)]


@program
def keyword_arguments(T):
    def forward(x, scale=2):
        return x * scale

    def setup(ctx, inputs, output):
        ctx.scale = inputs[1] if len(inputs) > 1 else 2
        ctx.count = len(inputs)

    def backward(ctx, grad):
        return (grad * ctx.scale,) + (None,) * (ctx.count - 1)

    x = sample(T, 3)
    function = make(T, forward, backward, setup)
    first = tried(function.apply, x, 3)
    second = tried(function.apply, x, scale=3)
    return first, second


@program
def defaults(T):
    def forward(ctx, x, scale=2):
        ctx.scale = scale
        return x * scale

    x = sample(T, 3)
    function = make(T, forward, lambda ctx, grad: (grad * ctx.scale, None))
    function.apply(x).sum().backward()
    return x.grad


@program
def defaults_and_one_gradient(T):
    x = sample(T, 3)
    make(T, lambda ctx, x, scale=2: x * scale, lambda ctx, grad: grad * 2).apply(x).sum().backward()
    return x.grad


@program
def integers_and_bools(T):
    x, i = sample(T, 3), T.tensor([0, 1, 2])
    seen = []

    def backward(ctx, grad):
        seen.append(ctx.needs_input_grad)
        return grad, None

    make(T, lambda ctx, x, i: x[i], backward).apply(x, i).sum().backward()
    return x.grad, seen


@program
def a_subclass_of_a_function(T):
    class Base(T.autograd.Function):
        factor = 2

        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    class Derived(Base):
        @staticmethod
        def backward(ctx, grad):
            return grad * 5

    x = sample(T, 3)
    y = Derived.apply(x)
    y.sum().backward()
    return x.grad, y.grad_fn.name(), type(y.grad_fn).__name__


@program
def classmethods_too(T):
    class Scale(T.autograd.Function):
        factor = 3

        @classmethod
        def forward(cls, ctx, x):
            return x * cls.factor

        @classmethod
        def backward(cls, ctx, grad):
            return grad * cls.factor

    x = sample(T, 3)
    Scale.apply(x).sum().backward()
    return x.grad


@program
def instances(T):
    return tried(lambda: double(T)()(sample(T, 3))), tried(double(T))


# -------------------- the context --------------------


@program
def attributes(T):
    seen = []

    def forward(ctx, x):
        ctx.a, ctx.b = 3, [1, 2]
        seen.append(tried(lambda: ctx.missing))
        return x * 2

    def backward(ctx, grad):
        seen.append((ctx.a, ctx.b, ctx.saved_tensors, ctx.name(), type(ctx).__name__))
        return grad * 2

    y = make(T, forward, backward).apply(sample(T, 3))
    y.sum().backward()
    y.grad_fn.later = 4
    return seen, y.grad_fn.a, y.grad_fn.later


@program
def context_in_forward(T):
    seen = []

    def forward(ctx, x):
        seen.append((ctx.needs_input_grad, type(ctx).__name__, ctx.saved_tensors))
        ctx.save_for_backward(x)
        seen.append(len(ctx.to_save))
        return x * 2

    make(T, forward, lambda ctx, grad: grad).apply(sample(T, 3))
    return seen


@program
def needs_input_grad(T):
    seen = []

    def backward(ctx, grad):
        seen.append(ctx.needs_input_grad)
        return grad, grad, None

    x, y = sample(T, 3), sample(T, 3)
    function = make(T, lambda ctx, a, b, n: a * b, backward)
    function.apply(x, y.detach(), 3).sum().backward()
    function.apply(x.detach(), y, 3).sum().backward()
    T.autograd.grad(function.apply(x, y, 3).sum(), x)
    function.apply(x, y, 3).sum().backward(inputs=[y])
    return seen, x.grad, y.grad


@program
def materialized_gradients(T):
    seen = []

    def backward(ctx, a, b, c):
        seen.append((a, b, c))
        return a if a is not None else b

    def forward(ctx, x):
        return x * 2, x.double(), (x > 0)

    x = sample(T, 3)
    first, second, third = make(T, forward, backward).apply(x)
    first.sum().backward(retain_graph=True)
    return seen, third.requires_grad


@program
def gradients_that_are_not_materialized(T):
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    def backward(ctx, a, b):
        seen.append((a, b))
        return b

    x = sample(T, 3)
    first, second = make(T, forward, backward).apply(x)
    first.sum().backward(retain_graph=True)
    second.sum().backward()
    return seen, x.grad


@program
def materialize_misuse(T):
    def forward(ctx, x):
        ctx.set_materialize_grads(3)
        return x * 2

    return tried(make(T, forward, lambda ctx, grad: grad).apply, sample(T, 3))


@program
def save_for_backward_twice(T):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_backward(x * 2, x * 3)
        return x * 2

    y = make(T, forward, lambda ctx, grad: grad).apply(sample(T, 3))
    return y.grad_fn.saved_tensors


@program
def save_for_backward_misuse(T):
    texts = []
    for value in (3, [1], "x", (None,), {}):

        def forward(ctx, x, value=value):
            ctx.save_for_backward(x, value)
            return x * 2

        texts.append(tried(lambda forward=forward: type(make(T, forward).apply(sample(T, 3))).__name__))
    return texts


@program
def save_in_backward(T):
    def backward(ctx, grad):
        ctx.save_for_backward(grad)
        return grad

    x = sample(T, 3)
    y = make(T, lambda ctx, x: x * 2, backward).apply(x)
    y.sum().backward()
    return x.grad, tried(lambda: y.grad_fn.saved_tensors)


@program
def clear_saved_tensors(T):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        ctx.maybe_clear_saved_tensors()
        return grad * x

    x = sample(T, 3)
    y = make(T, forward, backward).apply(x)
    y.sum().backward(retain_graph=True)
    return x.grad, tried(lambda: len(y.grad_fn.saved_tensors))


@program
def saved_intermediate(T):
    def forward(ctx, x):
        middle = x.exp()
        ctx.save_for_backward(middle)
        return middle.sin()

    def backward(ctx, grad):
        (middle,) = ctx.saved_tensors
        return grad * middle.cos() * middle

    x = sample(T, 3)
    (grad,) = T.autograd.grad(make(T, forward, backward).apply(x).sum(), x, create_graph=True)
    return grad, grad.requires_grad


@program
def saved_output(T):
    seen = []

    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    def backward(ctx, grad):
        (result,) = ctx.saved_tensors
        seen.append((result.requires_grad, result.grad_fn, result.is_leaf))
        return grad * result

    x = sample(T, 3)
    y = make(T, forward, backward).apply(x)
    (grad,) = T.autograd.grad(y.sum(), x, create_graph=True)
    return grad, T.autograd.grad(grad.sum(), x), seen


@program
def marks_in_setup_context(T):
    def setup(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output[0])
        ctx.mark_non_differentiable(output[1])
        ctx.set_materialize_grads(False)

    def backward(ctx, a, b):
        x, y = ctx.saved_tensors
        return a * y

    x = sample(T, 3)
    first, second = make(T, lambda x: (x.exp(), x * 2), backward, setup).apply(x)
    first.sum().backward()
    return x.grad, second.requires_grad, second.is_leaf, first.grad_fn


@program
def setup_context_that_returns(T):
    function = make(T, lambda x: x * 2, lambda ctx, grad: grad, lambda ctx, inputs, output: 3)
    return tried(function.apply, sample(T, 3))


@program
def dirty_in_setup_context(T):
    def forward(x):
        x.mul_(2)
        return x

    x = sample(T, 3)
    y = x * 1
    z = make(T, forward, lambda ctx, grad: grad * 2, lambda ctx, inputs, output: ctx.mark_dirty(inputs[0])).apply(y)
    z.sum().backward()
    return x.grad, z is y, y._version


@program
def several_dirty(T):
    def forward(ctx, x, y):
        x.mul_(2)
        y.mul_(3)
        ctx.mark_dirty(x, y)
        return x, y

    a, b = sample(T, 3), sample(T, 3, seed=1)
    x, y = a * 1, b * 1
    u, v = make(T, forward, lambda ctx, g, h: (g * 2, h * 3)).apply(x, y)
    (u * v).sum().backward()
    return a.grad, b.grad, u is x, v is y, x._version, u.output_nr, v.output_nr


@program
def dirty_and_fresh(T):
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x, x * 3

    a = sample(T, 3)
    x = a * 1
    u, v = make(T, forward, lambda ctx, g, h: g * 2 + h * 6).apply(x)
    (u + v).sum().backward()
    return a.grad, u is x, u.grad_fn is v.grad_fn


@program
def written_without_saying_so(T):
    def forward(ctx, x):
        x.mul_(2)
        return x

    a = sample(T, 3)
    x = a * 1
    y = make(T, forward, lambda ctx, grad: grad * 2).apply(x)
    return y is x, x._version, y._is_view(), y.grad_fn


@program
def mark_non_differentiable_of_an_input(T):
    def forward(ctx, x):
        ctx.mark_non_differentiable(x)
        return x

    x = sample(T, 3)
    y = make(T, forward, lambda ctx, grad: grad).apply(x)
    return y, y is x, y.requires_grad, x.requires_grad


# -------------------- outputs --------------------

OUTPUTS = {
    "a tuple of one": lambda ctx, x: (x * 2,),
    "an empty tuple": lambda ctx, x: (),
    "a list of tensors": lambda ctx, x: [x * 2, x * 3],
    "a dict": lambda ctx, x: {"x": x * 2},
    "the input twice": lambda ctx, x: (x, x),
    "the same twice": lambda ctx, x: (lambda y: (y, y))(x * 2),
    "a tuple with None": lambda ctx, x: (x * 2, None, "text"),
    "a nested tuple": lambda ctx, x: (x * 2, (x * 3,)),
    "a constant": lambda ctx, x: x.new_ones(3),
    "a detached input": lambda ctx, x: x.detach(),
    "integers": lambda ctx, x: (x * 3).long(),
    "a global": lambda ctx, x: GLOBAL.setdefault(id(x.__class__), x.new_ones(3)),
    "complex": lambda ctx, x: x * 1j,
    "a named tuple": lambda ctx, x: (x * 2).max(0),
    "a view of a fresh tensor": lambda ctx, x: (x * 2)[:2],
    "two views of one": lambda ctx, x: (lambda y: (y[:2], y[1:]))(x * 2),
}
GLOBAL: dict = {}


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs(name):
    def run(T):
        x = sample(T, 3)
        output = make(T, OUTPUTS[name], lambda ctx, *grads: grads[0]).apply(x)
        values = output if isinstance(output, (tuple, list)) else [output]
        facts = [
            (each is x, each.requires_grad, each.is_leaf, each._is_view(), each.grad_fn, each.output_nr)
            for each in values
            if isinstance(each, T.Tensor)
        ]
        return type(output).__name__.replace("return_types", ""), len(values), facts

    assert_same(run)


@pytest.mark.parametrize("name", ["a view of a fresh tensor", "two views of one", "the input twice", "the same twice"])
def test_outputs_are_written(name):
    def run(T):
        x = sample(T, 3) * 1
        output = make(T, OUTPUTS[name], lambda ctx, *grads: grads[0]).apply(x)
        first = output[0] if isinstance(output, tuple) else output
        return tried(lambda: first.mul_(2).grad_fn), tried(lambda: x.mul_(2).grad_fn)

    assert_same(run)


# -------------------- gradients --------------------

GRADIENTS = {
    "complex": lambda T, grad: grad * 1j,
    "half": lambda T, grad: grad.half(),
    "a list": lambda T, grad: [grad],
    "a nested tuple": lambda T, grad: ((grad,),),
    "an empty tuple": lambda T, grad: (),
    "a scalar": lambda T, grad: grad.sum(),
    "expanded": lambda T, grad: grad.sum().expand(3),
    "a column": lambda T, grad: grad[:, None],
    "with a batch": lambda T, grad: grad.expand(2, 3),
    "a leaf": lambda T, grad: T.ones(3, requires_grad=True),
    "bool": lambda T, grad: grad > 0,
    "the same": lambda T, grad: grad,
    "a float": lambda T, grad: 1.0,
    "sparse": lambda T, grad: grad.to_sparse(),
    "empty": lambda T, grad: T.ones(0),
    "zero-dim integers": lambda T, grad: T.tensor(3),
}


@pytest.mark.parametrize("dtype", ["float32", "complex64", "float64"])
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name, dtype):
    def run(T):
        x = sample(T, 3, dtype=getattr(T, dtype))
        y = make(T, lambda ctx, x: x * 2, lambda ctx, grad: GRADIENTS[name](T, grad)).apply(x)
        text = tried(y.abs().sum().backward)
        return text, x.grad.to_dense() if x.grad is not None and x.grad.is_sparse else x.grad

    assert_same(run)


@program
def gradient_of_an_inner_value(T):
    x = sample(T, 3)
    y = x * 1
    z = make(T, lambda ctx, x: x * 2, lambda ctx, grad: grad.double() * 2).apply(y)
    y.retain_grad()
    z.sum().backward()
    return y.grad, x.grad


@program
def no_backward_needed(T):
    x = sample(T, 3)
    function = make(T, lambda ctx, x: x * 2)
    with T.no_grad():
        y = function.apply(x)
    return y, tried(function.apply(x).sum().backward)


@program
def backward_that_fails(T):
    def backward(ctx, grad):
        raise KeyError("gone")

    x = sample(T, 3)
    y = make(T, lambda ctx, x: x * 2, backward).apply(x).sum()
    return tried(y.backward), tried(y.backward), x.grad, T.is_grad_enabled()


@program
def forward_that_fails(T):
    def forward(ctx, x):
        raise KeyError("gone")

    return tried(make(T, forward).apply, sample(T, 3)), T.is_grad_enabled()


@program
def once_differentiable(T):
    once = T.autograd.function.once_differentiable
    modes = []

    def backward(ctx, grad):
        modes.append(T.is_grad_enabled())
        return grad * 2

    x = sample(T, 3)
    function = make(T, lambda ctx, x: x * 2, once(backward))
    (grad,) = T.autograd.grad(function.apply(x).sum(), x)
    y = function.apply(x)
    (second,) = T.autograd.grad((y * y).sum(), x, create_graph=True)
    return grad, second, second.grad_fn, tried(second.sum().backward), modes


@program
def once_differentiable_with_none(T):
    once = T.autograd.function.once_differentiable
    x, y = sample(T, 3), sample(T, 3)
    function = make(T, lambda ctx, x, y: x * 2 + y, once(lambda ctx, grad: (grad * 2, None)))
    z = function.apply(x, y)
    found = T.autograd.grad((z * z).sum(), [x, y], create_graph=True, allow_unused=True)
    return found[0], found[1], tried(found[0].sum().backward)


@program
def calls_of_functions_in_functions(T):
    inner = double(T)

    def forward(ctx, x):
        y = inner.apply(x)
        ctx.inner = y.grad_fn
        return y + 1

    def backward(ctx, grad):
        return inner.apply(grad)

    x = sample(T, 3)
    y = make(T, forward, backward).apply(x)
    y.sum().backward()
    return x.grad, y.grad_fn.inner


@program
def a_graph_within_forward(T):
    def forward(ctx, x):
        with T.enable_grad():
            leaf = x.detach().requires_grad_()
            ctx.leaf, ctx.result = leaf, leaf.sin()
        return ctx.result.detach()

    def backward(ctx, grad):
        ctx.result.backward(grad)
        return ctx.leaf.grad

    x = sample(T, 3)
    make(T, forward, backward).apply(x).sum().backward()
    return x.grad


@program
def second_derivatives(T):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2

    x = sample(T, 3)
    y = make(T, forward, backward).apply(x).sum()
    (first,) = T.autograd.grad(y, x, create_graph=True)
    (second,) = T.autograd.grad(first.sum(), x, create_graph=True)
    return first, second, T.autograd.grad(second.sum(), x)


@program
def functions_and_hooks(T):
    x, seen = sample(T, 3), []
    y = double(T).apply(x)
    y.register_hook(lambda grad: seen.append(grad))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs, outputs)))
    y.grad_fn.register_prehook(lambda outputs: seen.append(outputs))
    y.sum().backward()
    return seen


@program
def in_inference_mode(T):
    x = sample(T, 3)
    with T.inference_mode():
        y = double(T).apply(x)
    return y.is_inference(), y.requires_grad


@program
def what_a_function_node_has(T):
    x, c = sample(T, 3), T.ones(3)
    node = make(T, lambda ctx, x, n, c: x * 2, lambda ctx, grad: (grad, None, None)).apply(x, 3, c).grad_fn
    return (
        node.name(),
        [(each and each.name(), number) for each, number in node.next_functions],
        node.needs_input_grad,
        node.metadata,
        isinstance(node, T.autograd.graph.Node),
        isinstance(node, T.autograd.function.BackwardCFunction),
        isinstance(node, T.autograd.function.FunctionCtx),
        node.requires_grad,
    )


@program
def names_of_the_module(T):
    module = T.autograd.function
    return sorted(
        name
        for name in (
            "BackwardCFunction", "Function", "FunctionCtx", "FunctionMeta", "InplaceFunction", "NestedIOFunction",
            "once_differentiable",
        )
        if hasattr(module, name)
    )  # fmt: skip


@program
def mark_shared_storage(T):
    def forward(ctx, x):
        ctx.mark_shared_storage((x, x))
        return x * 2

    return tried(make(T, forward, lambda ctx, grad: grad).apply, sample(T, 3))


@program
def vjp_and_backward(T):
    def both(ctx, grad):
        return grad

    x = sample(T, 3)
    return tried(make(T, lambda ctx, x: x * 2, both, vjp=both).apply(x).sum().backward)


@program
def warnings_of_a_backward(T):
    def backward(ctx, grad):
        warnings.warn("from backward", UserWarning, stacklevel=1)
        return grad

    x = sample(T, 3)
    make(T, lambda ctx, x: x * 2, backward).apply(x).sum().backward()
    return x.grad
