"""Custom Functions, grad modes and forward AD behave as in PyTorch."""

import pytest

from tests.parity.support.programs import assert_same, programs, sample

program, test_program = programs()


def call(T, forward, backward, *args):
    """Apply a Function made of two Python functions."""
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Custom", (T.autograd.Function,), methods).apply(*(args or (sample(T, 3),)))


def total(output):
    return (output if hasattr(output, "sum") else output[0]).sum()


# -------------------- what backward may return --------------------

RETURNED = {
    "too few": (lambda ctx, x, y: x * y, lambda T, grad: grad, 2),
    "too many": (lambda ctx, x: x * 1, lambda T, grad: (grad, grad), 1),
    "too many, None": (lambda ctx, x: x * 1, lambda T, grad: (grad, None), 1),
    "an int": (lambda ctx, x: x * 1, lambda T, grad: 3, 1),
    "None": (lambda ctx, x: x * 1, lambda T, grad: None, 1),
    "another shape": (lambda ctx, x: x * 1, lambda T, grad: T.ones(2), 1),
    "a larger shape": (lambda ctx, x: x * 1, lambda T, grad: T.ones(4, 3), 1),
    "another dtype": (lambda ctx, x: x * 1, lambda T, grad: grad.to(T.float64), 1),
    "integers": (lambda ctx, x: x * 1, lambda T, grad: T.ones(3, dtype=T.int64), 1),
    "another device": (lambda ctx, x: x * 1, lambda T, grad: T.ones(3, device="meta"), 1),
    "one of two": (lambda ctx, x, y: x * y, lambda T, grad: (grad, None), 2),
}


@pytest.mark.parametrize("name", RETURNED)
def test_what_backward_returns(name):
    forward, backward, count = RETURNED[name]

    def run(T):
        inputs = [sample(T, 3, seed=i) for i in range(count)]
        call(T, forward, lambda ctx, grad: backward(T, grad), *inputs).sum().backward()
        return [x.grad for x in inputs]

    assert_same(run)


@program
def gradient_of_a_number(T):
    call(T, lambda ctx, x, n: x * n, lambda ctx, grad: (grad, grad), sample(T, 3), 3).sum().backward()


@program
def gradient_of_a_constant(T):
    x = sample(T, 3)
    call(T, lambda ctx, x, c: x * 1, lambda ctx, grad: (grad, grad), x, T.ones(3)).sum().backward()
    return x.grad


# -------------------- what forward may return --------------------

FORWARD = {
    "an int": lambda ctx, x: 3,
    "a tensor and an int": lambda ctx, x: (x * 1, 3),
    "a list": lambda ctx, x: [x * 1],
    "None": lambda ctx, x: None,
    "bools": lambda ctx, x: x > 0,
    "the input": lambda ctx, x: x,
    "a view": lambda ctx, x: x.view(3, 1),
    "a view and a tensor": lambda ctx, x: (x.view(3, 1), x * 1),
}


@pytest.mark.parametrize("name", FORWARD)
def test_what_forward_returns(name):
    def run(T):
        x = sample(T, 3)
        output = call(T, FORWARD[name], lambda ctx, *grads: grads[0].view(3), x)
        first = output[0] if isinstance(output, tuple) else output
        if isinstance(first, T.Tensor):
            return output, first is x, first._is_view(), first._base is x, first.grad_fn
        return output

    assert_same(run)


@pytest.mark.parametrize("name", ["the input", "a view", "a view and a tensor"])
@pytest.mark.parametrize("of_base", [False, True])
def test_views_may_not_be_written(name, of_base):
    def run(T):
        y = sample(T, 3) * 2
        output = call(T, FORWARD[name], lambda ctx, *grads: grads[0].view(3), y)
        view = output[0] if isinstance(output, tuple) else output
        (y if of_base else view).add_(1)
        return view.grad_fn

    assert_same(run)


# -------------------- the context --------------------


def marks_dirty(ctx, x):
    x.mul_(3)
    ctx.mark_dirty(x)
    return x


def marks_dirty_returns_another(ctx, x):
    ctx.mark_dirty(x)
    return x * 1


def marks_an_int_dirty(ctx, x):
    ctx.mark_dirty(3)
    return x * 1


def marks_another_dirty(ctx, x):
    ctx.mark_dirty(x.clone())
    return x * 1


def marks_the_input_non_differentiable(ctx, x):
    ctx.mark_non_differentiable(x)
    return x * 1


def marks_the_output_non_differentiable(ctx, x):
    result = x * 1
    ctx.mark_non_differentiable(result)
    return result


def saves_an_int(ctx, x):
    ctx.save_for_backward(3)
    return x * 1


CONTEXTS = [
    marks_dirty, marks_dirty_returns_another, marks_an_int_dirty, marks_another_dirty, saves_an_int,
    marks_the_input_non_differentiable, marks_the_output_non_differentiable,
]  # fmt: skip


@pytest.mark.parametrize("forward", CONTEXTS, ids=lambda function: function.__name__)
def test_context(forward):
    def run(T):
        x = sample(T, 3)
        y = x * 2
        output = call(T, forward, lambda ctx, grad: grad * 3, y)
        seen = output is y, y.grad_fn, y._version, output.requires_grad
        if output.requires_grad:
            output.sum().backward()
        return seen, x.grad

    assert_same(run)


@program
def dirty_leaf(T):
    call(T, marks_dirty, lambda ctx, grad: grad)


@program
def dirty_view(T):
    x = sample(T, 3)
    y = x * 1
    view = y[:2]
    output = call(T, marks_dirty, lambda ctx, grad: grad * 2, view)
    seen = output is view, output.grad_fn, y.grad_fn, y._version
    y.sum().backward()
    return seen, x.grad


@program
def dirty_view_among_outputs(T):
    def forward(ctx, x, y):
        ctx.mark_dirty(x.mul_(2))
        return x, y * 1

    call(T, forward, lambda ctx, *grads: grads, (sample(T, 3) * 1)[:2], sample(T, 3))


@program
def dirty_without_grad(T):
    x = sample(T, 3)
    with T.no_grad():
        output = call(T, marks_dirty, lambda ctx, grad: grad, x)
    return output is x, output.requires_grad, output._is_view()


def squares(ctx, x):
    ctx.save_for_backward(x, None)
    return x * x


def squares_backward(ctx, grad):
    return grad * ctx.saved_tensors[0] * 2


@program
def saved_tensors(T):
    x, seen = sample(T, 3), []
    output = call(T, squares, lambda ctx, grad: (seen.append(ctx.saved_tensors), grad)[1], x)
    output.sum().backward(retain_graph=True)
    output.sum().backward()
    return seen, x.grad, output.grad_fn.name(), output.grad_fn, output.grad_fn.next_functions


@program
def backward_twice(T):
    output = call(T, squares, squares_backward)
    output.sum().backward()
    output.sum().backward()


@program
def second_derivative(T):
    x = sample(T, 3)
    first = T.autograd.grad(call(T, squares, squares_backward, x).sum(), x, create_graph=True)[0]
    return first, T.autograd.grad((first * first).sum(), x)


@program
def a_saved_output(T):
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    x, seen = sample(T, 3), []

    def backward(ctx, grad):
        seen.append(ctx.saved_tensors[0].grad_fn)
        return grad * ctx.saved_tensors[0]

    output = call(T, forward, backward, x)
    first = T.autograd.grad(output.sum(), x, create_graph=True)[0]
    second = T.autograd.grad(first.sum(), x)
    output = call(T, forward, backward, x)
    output.add_(1)
    try:
        output.sum().backward()
    except RuntimeError as error:
        return first, second, seen, str(error)


@program
def saved_tensor_hooks(T):
    x, seen = sample(T, 3), []
    hooks = lambda tensor: (seen.append("pack"), tensor)[1], lambda packed: (seen.append("unpack"), packed)[1]
    with T.autograd.graph.saved_tensors_hooks(*hooks):
        output = call(T, squares, squares_backward, x)
    output.sum().backward()
    return seen, x.grad


@program
def needs_input_grad(T):
    seen = []

    def forward(ctx, *args):
        seen.append((ctx.needs_input_grad, T.is_grad_enabled()))
        return args[0] * 1

    backward = lambda ctx, grad: (seen.append(T.is_grad_enabled()), (grad, None, None))[1]
    call(T, forward, backward, sample(T, 3), 3, T.ones(3)).sum().backward()
    with T.no_grad():
        seen.append(call(T, forward, backward, sample(T, 3), 3, T.ones(3)).requires_grad)
    return seen


@program
def undefined_gradients(T):
    seen = []

    def forward(ctx, x):
        kinds = T.tensor([1, 2])
        ctx.mark_non_differentiable(kinds)
        ctx.note = 3
        return x * 1, 7, None, kinds, x > 0, x * 2

    output = call(T, forward, lambda ctx, *grads: (seen.append(grads), grads[0])[1])
    total(output).backward()

    def unmaterialized(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 1, x * 2

    total(call(T, unmaterialized, lambda ctx, *grads: (seen.append(grads), grads[0])[1])).backward()
    return output, seen, output[0].grad_fn.note, len(output[0].grad_fn._input_metadata)


@program
def keyword_arguments(T):
    forward = lambda ctx, x, factor=2: x * factor
    function = type("Custom", (T.autograd.Function,), {"forward": staticmethod(forward)})
    return function.apply(sample(T, 3), factor=3), function.apply(sample(T, 3))


@program
def unknown_keyword_argument(T):
    type("Custom", (T.autograd.Function,), {"forward": staticmethod(lambda ctx, x: x)}).apply(sample(T, 3), y=1)


@program
def setup_context(T):
    seen = []

    def setup(ctx, inputs, output):
        seen.append(inputs[1:])
        ctx.factor = inputs[1]
        ctx.save_for_backward(inputs[0], output)

    methods = {
        "forward": staticmethod(lambda x, factor=2, unused=None: x * factor),
        "setup_context": staticmethod(setup),
        "backward": staticmethod(
            lambda ctx, grad: (seen.append(ctx.saved_tensors), (grad * ctx.factor, None, None))[1]
        ),
    }
    function = type("Custom", (T.autograd.Function,), methods)
    x = sample(T, 3)
    function.apply(x, factor=3).sum().backward()
    function.apply(x, unused=1).sum().backward()
    try:
        function.apply(x, unknown=3)
    except TypeError as error:
        seen.append(str(error))
    return x.grad, seen


@program
def vjp_is_another_name_of_backward(T):
    x = sample(T, 3)
    forward, formula = staticmethod(lambda ctx, x: x * 1), staticmethod(lambda ctx, grad: grad * 7)
    type("Custom", (T.autograd.Function,), {"forward": forward, "vjp": formula}).apply(x).sum().backward()
    both = {"forward": forward, "vjp": formula, "backward": formula}
    try:
        type("Custom", (T.autograd.Function,), both).apply(x).sum().backward()
    except RuntimeError as error:
        return x.grad, str(error)


MISSING = {
    "forward": lambda T: type("Custom", (T.autograd.Function,), {}).apply(sample(T, 3)),
    "backward": lambda T: type("C", (T.autograd.Function,), {"forward": staticmethod(lambda ctx, x: x * 1)})
    .apply(sample(T, 3))
    .sum()
    .backward(),
    "apply": lambda T: type("Custom", (T.autograd.Function,), {})(sample(T, 3)),
}


@pytest.mark.parametrize("name", ["forward", "backward"])
def test_missing_method(name):
    assert_same(MISSING[name])


@program
def deep_recursion(T):
    class Deep(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with T.enable_grad():
                ctx.x = (x.detach() - 1).requires_grad_()
            return ctx.x.detach()

        @staticmethod
        def backward(ctx, grad):
            if ctx.x.item() < 0:
                return grad * 0 + 7.0
            with T.enable_grad():
                Deep.apply(ctx.x).sum().backward()
            return ctx.x.grad

    x = T.tensor(500.0).requires_grad_()
    Deep.apply(x).sum().backward()
    return x.grad


# -------------------- modes --------------------


@program
def decorators(T):
    enabled = lambda: T.is_grad_enabled()

    def twice():
        yield T.is_grad_enabled()
        yield T.is_grad_enabled()

    seen = [T.no_grad()(enabled)(), T.no_grad(enabled)(), T.enable_grad(enabled)(), list(T.no_grad()(twice)())]
    switch = T.set_grad_enabled(False)
    seen.append(T.is_grad_enabled())
    decorated = switch(enabled)
    seen += [T.is_grad_enabled(), decorated()]
    with T.set_grad_enabled(False):
        seen.append(T.is_grad_enabled())
    seen += [T.is_grad_enabled(), repr(T.set_grad_enabled(True))]
    inference = lambda: T.is_inference_mode_enabled()
    return [*seen, T.inference_mode(inference)(), T.inference_mode(False)(inference)(), inference()]


@program
def nested_modes(T):
    seen = []
    note = lambda: seen.append((T.is_grad_enabled(), T.ones(1).is_inference()))
    with T.inference_mode():
        note()
        with T.enable_grad():
            note()
        with T.inference_mode(False):
            note()
    note()
    return seen


@program
def generators_keep_the_mode_to_themselves(T):
    seen = []

    @T.no_grad()
    def generate():
        try:
            sent = yield T.is_grad_enabled()
            seen.append((sent, T.is_grad_enabled()))
            yield 2
        except ValueError:
            seen.append(("caught", T.is_grad_enabled()))
            yield 9
        finally:
            seen.append(("closed", T.is_grad_enabled()))

    generator = generate()
    seen += [next(generator), T.is_grad_enabled(), generator.send(4), generator.throw(ValueError)]
    generator.close()
    return seen


@program
def mode_is_no_bool(T):
    T.set_grad_enabled(3)


# -------------------- forward AD --------------------


def parts(T, tensor):
    primal, tangent = T.autograd.forward_ad.unpack_dual(tensor)
    return primal, tangent


def ones(T):
    return T.autograd.forward_ad.make_dual(T.ones(2, 3), T.ones(2, 3) * 3)


DUAL = {
    "product": lambda T: parts(T, ones(T) * ones(T) + ones(T).exp()),
    "transposed": lambda T: parts(T, ones(T).t()),
    "sum": lambda T: parts(T, ones(T).sum(0)),
    "row": lambda T: parts(T, ones(T)[1]),
    "detached": lambda T: parts(T, ones(T).detach()),
    "joined": lambda T: parts(T, T.cat([ones(T), T.ones(1, 3)])),
    "in place": lambda T: parts(T, ones(T).mul_(3)),
    "in place with a dual": lambda T: parts(T, T.ones(2, 3).mul_(ones(T))),
    "out": lambda T: T.mul(ones(T), 2, out=T.ones(2, 3)),
    "sizes": lambda T: T.autograd.forward_ad.make_dual(T.ones(3), T.ones(2)),
    "integers": lambda T: T.autograd.forward_ad.make_dual(T.ones(3, dtype=T.int32), T.ones(3)),
    "integer tangent": lambda T: T.autograd.forward_ad.make_dual(T.ones(3), T.ones(3, dtype=T.int32)),
    "dual primal": lambda T: T.autograd.forward_ad.make_dual(ones(T), T.ones(2, 3)),
    "dual tangent": lambda T: T.autograd.forward_ad.make_dual(T.ones(2, 3), ones(T)),
    "another level": lambda T: T.autograd.forward_ad.enter_dual_level(),
    "wrong level": lambda T: T.autograd.forward_ad.exit_dual_level(level=10**9),
}


@pytest.mark.parametrize("name", DUAL)
def test_dual_tensors(name):
    def run(T):
        with T.autograd.forward_ad.dual_level():
            return DUAL[name](T)

    assert_same(run)


@program
def dual_without_a_level(T):
    T.autograd.forward_ad.make_dual(T.ones(3), T.ones(3))


@program
def exit_without_a_level(T):
    T.autograd.forward_ad.exit_dual_level()


@program
def tangents_end_with_their_level(T):
    with T.autograd.forward_ad.dual_level():
        dual = ones(T)
    with T.autograd.forward_ad.dual_level():
        return parts(T, dual), parts(T, dual * 2)


@program
def forward_over_reverse(T):
    x, direction = sample(T, 3), sample(T, 3, seed=9)
    with T.autograd.forward_ad.dual_level():
        dual = T.autograd.forward_ad.make_dual(x, direction)
        tangent = parts(T, (dual * dual).exp())[1]
    return tangent, T.autograd.grad(tangent.sum(), [x, direction])


@program
def jvp_of_a_function(T):
    seen = []

    def forward(ctx, x):
        ctx.save_for_forward(x)
        return x * 2

    jvp = lambda ctx, tangent: (seen.append(ctx.saved_tensors), tangent * 2)[1]
    methods = {"forward": staticmethod(forward), "jvp": staticmethod(jvp)}
    with T.autograd.forward_ad.dual_level():
        return parts(T, type("Custom", (T.autograd.Function,), methods).apply(ones(T))), seen


@program
def function_without_jvp(T):
    with T.autograd.forward_ad.dual_level():
        type("Custom", (T.autograd.Function,), {"forward": staticmethod(lambda ctx, x: x * 1)}).apply(ones(T))


WRITTEN = {
    "leaf": lambda T: sample(T, 3),
    "view of a leaf": lambda T: sample(T, 3)[:],
    "view of a view of a leaf": lambda T: sample(T, 3)[:][:2],
    "non-leaf": lambda T: sample(T, 3) * 2,
    "view": lambda T: (sample(T, 3) * 2)[:2],
    "one of several views": lambda T: (sample(T, 2, 3) * 2).unbind()[0],
    "constant": lambda T: T.ones(3),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_may_be_written(name):
    def run(T):
        tensor = WRITTEN[name](T)
        output = call(T, marks_dirty, lambda ctx, grad: grad * 3, tensor)
        return output is tensor, output, output.grad_fn

    assert_same(run)
