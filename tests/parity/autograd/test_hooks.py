"""Hooks behave as in PyTorch: order, replacement, removal, on what they sit, and what they may do."""

import itertools

import pytest

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same, programs, sample

program, test_program = programs()


def noting(seen, name, result=None):
    """A hook that notes its name and what it gets."""

    def hook(*args):
        seen.append((name, args[0]))
        return None if result is None else result(args[0])

    return hook


# -------------------- tensors --------------------


@program
def order_on_one_tensor(T):
    x, seen = sample(T, 3), []
    for name, factor in (("a", 2), ("b", None), ("c", 3)):
        x.register_hook(noting(seen, name, factor and (lambda grad, factor=factor: grad * factor)))
    (x * x).sum().backward()
    return seen, x.grad


@program
def order_between_tensors(T):
    x, seen = sample(T, 3), []
    y = x.exp()
    z = y.sin()
    for name, tensor in (("z", z), ("x", x), ("y", y)):
        tensor.register_hook(noting(seen, name))
    z.sum().backward()
    return seen


@program
def a_hook_sees_the_sum(T):
    x, seen = sample(T, 3), []
    y = x * 2
    y.register_hook(noting(seen, "y"))
    (y.sin() + y.exp() + y).sum().backward()
    return seen, x.grad


@program
def removed_within_itself(T):
    x, seen = sample(T, 3), []

    def once(grad):
        seen.append(grad)
        handle.remove()

    handle = x.register_hook(once)
    x.register_hook(noting(seen, "other"))
    for _ in range(2):
        (x * x).sum().backward()
    return seen


@program
def removed_by_another(T):
    x, seen = sample(T, 3), []
    x.register_hook(lambda grad: handle.remove())
    handle = x.register_hook(noting(seen, "second"))
    (x * x).sum().backward()
    (x * x).sum().backward()
    return [name for name, _ in seen]


@program
def added_by_another(T):
    x, seen = sample(T, 3), []

    def add(grad):
        seen.append("first")
        x.register_hook(noting(seen, "added"))

    x.register_hook(add)
    (x * x).sum().backward()
    (x * x).sum().backward()
    return [each if isinstance(each, str) else each[0] for each in seen]


@program
def removed_twice(T):
    x = sample(T, 3)
    handle = x.register_hook(lambda grad: grad * 2)
    with handle as same:
        (x * 1).sum().backward()
    handle.remove()
    (x * 1).sum().backward()
    return same is handle, x.grad


@program
def the_last_hook_is_removed(T):
    x, seen = sample(T, 3), []
    y = x.exp()
    y.register_hook(noting(seen, "gone")).remove()
    y.register_hook(noting(seen, "stays"))
    y.sum().backward()
    return seen


@program
def a_hook_that_writes(T):
    x = sample(T, 3)
    y = x * 1
    y.register_hook(lambda grad: grad.mul_(2) and None)
    z = y.exp()
    z.register_hook(lambda grad: grad.add_(1))
    z.backward(T.ones(3))
    return x.grad


def multiplied(grad):
    grad.mul_(2)


@program
def a_hook_that_writes_the_gradient_of_a_leaf(T):
    x = sample(T, 3)
    x.register_hook(multiplied)
    seed = T.ones(3)
    x.exp().backward(seed)
    (x * 2).backward(seed)
    return x.grad, seed


@program
def a_hook_that_writes_the_seed(T):
    x, seed = sample(T, 3), T.ones(3)
    y = x.exp()
    y.register_hook(multiplied)
    y.backward(seed)
    return x.grad, seed


@program
def hooks_and_in_place_ops(T):
    x, seen = sample(T, 3), []
    y = x.exp()
    y.register_hook(noting(seen, "before"))
    y.mul_(2)
    y.register_hook(noting(seen, "after"))
    y.retain_grad()
    y.add_(1)
    y.sum().backward()
    return seen, y.grad


@program
def hooks_of_views(T):
    x, seen = sample(T, 4), []
    y = x * 2
    v = y[:2]
    v.register_hook(noting(seen, "view"))
    y.register_hook(noting(seen, "base"))
    (v.sin().sum() + y.exp().sum()).backward()
    return seen, x.grad


@program
def hooks_of_a_view_whose_base_is_written(T):
    x, seen = sample(T, 4), []
    y = x * 2
    v = y[:2]
    v.register_hook(noting(seen, "view"))
    y.mul_(3)
    (v.sum() + y.sum()).backward()
    return seen, x.grad


@program
def hooks_of_a_leaf_that_is_written(T):
    x, seen = sample(T, 3), []
    x.register_hook(noting(seen, "leaf"))
    with T.no_grad():
        x.mul_(2)
    x.sum().backward()
    return seen, x.grad


@program
def hooks_of_a_leaf_that_becomes_another(T):
    x, y, seen = T.ones(3), sample(T, 3), []
    x.requires_grad_()
    x.register_hook(noting(seen, "leaf"))
    z = x * 1
    x.detach_()
    x.mul_(y)
    x.register_hook(noting(seen, "result"))
    (x.sum() + z.sum()).backward()
    return seen, y.grad


@program
def retained_gradients(T):
    x = sample(T, 3)
    y = x.exp()
    y.register_hook(lambda grad: grad * 2)
    y.retain_grad()
    y.register_hook(lambda grad: grad * 3)
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    first = y.grad.clone()
    y.sum().backward()
    return first, y.grad, x.grad, y.retains_grad, x.retains_grad


@program
def retained_gradients_of_a_view(T):
    x = sample(T, 4)
    y = x * 2
    v = y[1:]
    v.retain_grad()
    y.retain_grad()
    v.mul_(2)
    y.sum().backward()
    return v.grad, y.grad, x.grad


@program
def retain_grad_of_a_constant(T):
    return tried(T.ones(3).retain_grad), tried(T.ones(3).register_hook, print)


@program
def no_functions(T):
    x = sample(T, 3)
    y = x.exp()
    return tried(lambda: x.register_hook(3).remove()), tried(lambda: y.grad_fn.register_hook(3).remove())


@program
def hook_on_one_of_several_outputs(T):
    x, seen = sample(T, 3, 2), []
    a, b, c = x.unbind()
    b.register_hook(noting(seen, "b", lambda grad: grad * 5))
    (a.sum() + b.sum()).backward()
    c.register_hook(noting(seen, "c"))
    return seen, x.grad


@program
def hook_on_an_output_without_a_gradient(T):
    x, seen = sample(T, 3, 2), []
    a, b, c = x.unbind()
    b.register_hook(noting(seen, "b"))
    a.sum().backward()
    return seen, x.grad


@program
def hook_that_replaces_nothing(T):
    x = sample(T, 3, 2)
    a, b, c = x.unbind()
    b.register_hook(lambda grad: T.ones(2))
    return tried(a.sum().backward), x.grad


@program
def backward_hooks_attribute(T):
    x, seen = sample(T, 3), []
    handle = x.register_hook(noting(seen, "x"))
    hooks = x._backward_hooks
    first = len(hooks)
    handle.remove()
    return first, len(hooks), type(hooks).__name__, T.ones(3)._backward_hooks


@program
def hooks_survive_a_copy_of_data(T):
    x, seen = sample(T, 3), []
    x.register_hook(noting(seen, "x"))
    x.data = T.zeros(3)
    x.sum().backward()
    return seen, x.grad


@program
def hooks_of_a_detached_alias(T):
    x, seen = sample(T, 3), []
    x.register_hook(noting(seen, "x"))
    y = x.detach().requires_grad_()
    y.sum().backward()
    return seen, y._backward_hooks


@program
def hooks_in_a_recorded_pass(T):
    x, modes = sample(T, 3), []
    x.register_hook(lambda grad: modes.append((T.is_grad_enabled(), grad.requires_grad)) or grad * x)
    (grad,) = T.autograd.grad((x * x).sum(), x, create_graph=True)
    return grad, modes, T.autograd.grad(grad.sum(), x), modes


@program
def hooks_and_inputs(T):
    x, w, seen = sample(T, 3), sample(T, 3, seed=2), []
    y = x * w
    for name, tensor in (("x", x), ("w", w), ("y", y)):
        tensor.register_hook(noting(seen, name))
    y.sum().backward(inputs=[x], retain_graph=True)
    T.autograd.grad(y.sum(), [w], retain_graph=True)
    T.autograd.grad(y.sum(), [y])
    return [name for name, _ in seen], x.grad, w.grad


# -------------------- post-accumulate hooks --------------------


@program
def post_accumulate(T):
    x, seen = sample(T, 3), []
    x.register_hook(noting(seen, "tensor"))
    x.register_post_accumulate_grad_hook(lambda tensor: seen.append(("post", tensor is x, tensor.grad.clone())))
    node = T.autograd.graph.get_gradient_edge(x).node
    node.register_prehook(lambda grads: seen.append(("pre", grads)))
    node.register_hook(lambda inputs, outputs: seen.append(("node", inputs, outputs)))
    (x * x).sum().backward()
    (x * x).sum().backward()
    return seen


@program
def post_accumulate_frees_the_gradient(T):
    x = sample(T, 3)

    def step(tensor):
        with T.no_grad():
            tensor.sub_(tensor.grad)
        tensor.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * x).sum().backward()
    return x, x.grad


@program
def post_accumulate_misuse(T):
    x = sample(T, 3)

    def returns(tensor):
        return tensor

    x.register_post_accumulate_grad_hook(returns)
    return (
        tried((x * 1).register_post_accumulate_grad_hook, print),
        tried(T.ones(3).register_post_accumulate_grad_hook, print),
        tried((x * 1).sum().backward),
        x.grad,
    )


@program
def post_accumulate_hands_on_what_hooks_return(T):
    def shown(names):
        x, seen = sample(T, 3), []
        other = T.zeros(3)

        def hook(tensor, name):
            seen.append(next(each for each, value in (("x", x), ("other", other), ("grad", x.grad)) if value is tensor))
            return {"none": None, "same": tensor, "x": x, "other": other, "grad": x.grad, "number": 3}[name]

        for name in names:
            x.register_post_accumulate_grad_hook(lambda tensor, name=name: hook(tensor, name))
        return names, tried(x.sum().backward), seen

    kinds = ("none", "same", "x", "other", "grad", "number")
    return [shown(names) for names in itertools.product(kinds, repeat=3)]


@program
def post_accumulate_order_and_removal(T):
    x, seen = sample(T, 3), []
    handles = [x.register_post_accumulate_grad_hook(lambda tensor, i=i: seen.append(i)) for i in range(3)]
    x.sum().backward()
    handles[1].remove()
    x.sum().backward()
    return seen


@program
def post_accumulate_and_captured_gradients(T):
    x, seen = sample(T, 3), []
    x.register_post_accumulate_grad_hook(lambda tensor: seen.append(1))
    T.autograd.grad((x * x).sum(), x)
    return seen, x.grad


@program
def post_accumulate_after_several_uses(T):
    x, seen = sample(T, 3), []
    x.register_post_accumulate_grad_hook(lambda tensor: seen.append(tensor.grad.clone()))
    (x * x + x.exp()).sum().backward()
    return seen


# -------------------- nodes --------------------


@program
def order_of_node_hooks(T):
    x, seen = sample(T, 3), []
    y = x.exp()
    y.register_hook(noting(seen, "tensor"))
    y.grad_fn.register_prehook(noting(seen, "pre"))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(("post", inputs, outputs)))
    y.register_hook(noting(seen, "tensor again"))
    y.retain_grad()
    y.sum().backward()
    return seen


@program
def node_hooks_replace(T):
    x, w = sample(T, 3), sample(T, 3, seed=1)
    y = x * w
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 2,))
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 3, None))
    y.sum().backward()
    return x.grad, w.grad


@program
def node_hooks_are_removed(T):
    x, seen = sample(T, 3), []
    y = x.exp()
    pre, post = y.grad_fn.register_prehook(noting(seen, 1)), y.grad_fn.register_hook(noting(seen, 2))
    y.sum().backward(retain_graph=True)
    pre.remove()
    y.sum().backward(retain_graph=True)
    post.remove()
    y.sum().backward()
    return [name for name, _ in seen]


@program
def hooks_of_a_node_without_gradients(T):
    x, c, seen = sample(T, 3), T.ones(3), []
    y = x * c
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(inputs))
    y.sum().backward()
    return seen


@program
def hooks_of_an_accumulator(T):
    x, seen = sample(T, 3), []
    y = x * 2
    accumulator = y.grad_fn.next_functions[0][0]
    accumulator.register_prehook(lambda grads: seen.append("pre") or (grads[0] * 2,))
    accumulator.register_hook(lambda inputs, outputs: seen.append((inputs, outputs)))
    y.sum().backward()
    return seen, x.grad, accumulator.variable is x, accumulator.name(), accumulator.next_functions


@program
def what_an_accumulator_hook_may_return(T):
    x = sample(T, 3)
    accumulator = T.autograd.graph.get_gradient_edge(x).node
    accumulator.register_hook(lambda inputs, outputs: (T.ones(3),))
    return tried((x * 1).sum().backward), x.grad


@program
def hooks_of_a_function_node(T):
    class Two(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            return a * 2 + b * 3

    x, seen = sample(T, 3), []
    y, z = Two.apply(x)
    y.grad_fn.register_prehook(lambda grads: seen.append(grads))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs, outputs)))
    y.sum().backward()
    return seen, x.grad


@program
def nodes_can_be_called(T):
    x, seen = sample(T, 3), []
    y = x.exp()
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(1))
    return y.grad_fn(T.ones(3)), seen, tried(y.grad_fn), tried(y.grad_fn, 3), y.grad_fn(None)


# -------------------- several tensors --------------------


@pytest.mark.parametrize("mode", ["all", "any"])
def test_multi_grad_hook(mode):
    def run(T):
        x, y, z, seen = sample(T, 3), sample(T, 3, seed=1), sample(T, 3, seed=2), []
        a, b = x * y, y * z
        handle = T.autograd.graph.register_multi_grad_hook([x, a, b, z], seen.append, mode=mode)
        (a.sum() + b.sum()).backward(retain_graph=True)
        a.sum().backward(retain_graph=True)
        b.sum().backward(retain_graph=True)
        handle.remove()
        (a.sum() + b.sum()).backward()
        return seen, type(handle).__name__

    assert_same(run)


@program
def multi_grad_hook_misuse(T):
    register = T.autograd.graph.register_multi_grad_hook
    x = sample(T, 3)
    return (
        tried(register, [x], print, mode="some"),
        tried(register, [T.ones(3)], print),
        tried(lambda: register([T.ones(3)], print, mode="any").remove()),
        tried(lambda: register([], print).remove()),
    )


@program
def multi_grad_hook_that_fails(T):
    def fail(grads):
        raise ValueError("stop")

    x, y = sample(T, 3), sample(T, 3)
    T.autograd.graph.register_multi_grad_hook([x, y], fail)
    return tried((x * y).sum().backward), tried((x * y).sum().backward)


@program
def multi_grad_hook_in_nested_passes(T):
    x, y, seen = sample(T, 3), sample(T, 3, seed=1), []
    a, b = x * 2, y * 3
    T.autograd.graph.register_multi_grad_hook([a, b], lambda grads: seen.append(grads))
    c = x.exp()
    c.register_hook(lambda grad: (a.sum() + b.sum()).backward(retain_graph=True))
    c.sum().backward()
    return seen, x.grad


# -------------------- errors and passes within passes --------------------


@program
def a_tensor_hook_fails(T):
    def fail(grad):
        raise ValueError("stop")

    x, w = sample(T, 3), sample(T, 3, seed=1)
    y = x * w
    handle = y.register_hook(fail)
    text = tried(y.sum().backward)
    before = x.grad, w.grad, T.is_grad_enabled()
    handle.remove()
    return text, before, tried(y.sum().backward), x.grad


PLACES = {
    "leaf": lambda T, x, y, fail: x.register_hook(fail),
    "result": lambda T, x, y, fail: y.register_hook(fail),
    "pre": lambda T, x, y, fail: y.grad_fn.register_prehook(fail),
    "post": lambda T, x, y, fail: y.grad_fn.register_hook(fail),
    "accumulate": lambda T, x, y, fail: x.register_post_accumulate_grad_hook(fail),
    "accumulator": lambda T, x, y, fail: T.autograd.graph.get_gradient_edge(x).node.register_hook(fail),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("recorded", [False, True])
def test_a_hook_fails(place, recorded):
    def run(T):
        def fail(*args):
            raise ValueError("stop")

        x = sample(T, 3)
        y = x.exp()
        kept = T.autograd.graph.get_gradient_edge(x).node
        handle = PLACES[place](T, x, y, fail)
        text = tried(T.autograd.grad, y.sum(), x, create_graph=True) if recorded else tried(y.sum().backward)
        stored = x.grad
        modes = T.is_grad_enabled()
        handle.remove()
        x.exp().sum().backward()
        return text, stored, modes, x.grad, kept.name()

    assert_same(run)


@pytest.mark.parametrize("place", PLACES)
def test_a_pass_within_a_hook(place):
    def run(T):
        x, w = sample(T, 3), sample(T, 3, seed=4)
        y = x.exp()
        kept = T.autograd.graph.get_gradient_edge(x).node

        def inner(*args):
            with T.enable_grad():
                (w * w).sum().backward()

        PLACES[place](T, x, y, inner)
        y.sum().backward()
        return x.grad, w.grad, kept.name()

    assert_same(run)


@program
def a_pass_over_the_same_graph_within_a_hook(T):
    x, seen = sample(T, 3), []
    y = x.exp()
    z = y.sin().sum()

    def inner(grad):
        if not seen:
            seen.append(1)
            z.backward(retain_graph=True)

    y.register_hook(inner)
    z.backward(retain_graph=True)
    return x.grad


@program
def grad_within_a_function(T):
    class Newton(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            with T.enable_grad():
                leaf = x.detach().requires_grad_()
                (own,) = T.autograd.grad(leaf.sin().sum(), leaf)
            return grad * own

    x = sample(T, 3)
    Newton.apply(x).sum().backward()
    return x.grad


@program
def an_error_in_the_inner_pass(T):
    x, w = sample(T, 3), sample(T, 3)

    def fail(grad):
        raise ValueError("inner")

    def inner(grad):
        y = w * 2
        y.register_hook(fail)
        y.sum().backward()

    y = x.exp()
    y.register_hook(lambda grad: T.enable_grad()(inner)(grad))
    return tried(y.sum().backward), x.grad, w.grad, tried((w * 2).sum().backward), w.grad


# -------------------- one hook on several tensors --------------------

PASSES = {
    "backward": lambda T, x, a, b, c: (a * b).sum().backward(),
    "gradient of a leaf": lambda T, x, a, b, c: T.autograd.grad((a * b).sum(), x),
    "gradient of what is between": lambda T, x, a, b, c: T.autograd.grad((a * b).sum(), a),
    "asked for what is not reached": lambda T, x, a, b, c: T.autograd.grad((a * 2).sum(), [a, c], allow_unused=True),
    "with a leaf that is not reached": lambda T, x, a, b, c: T.autograd.grad(a.sum(), [x, c], allow_unused=True),
    "backward to a leaf": lambda T, x, a, b, c: a.sum().backward(inputs=[x]),
    "backward to what is between": lambda T, x, a, b, c: (a * b).sum().backward(inputs=[b]),
    "begins with one": lambda T, x, a, b, c: a.backward(T.ones(3)),
    "begins with two": lambda T, x, a, b, c: T.autograd.backward([a, b], [T.ones(3), T.ones(3)]),
    "begins with one, restricted": lambda T, x, a, b, c: T.autograd.grad(a, [c], T.ones(3), allow_unused=True),
    "begins with the leaf": lambda T, x, a, b, c: x.backward(T.ones(3)),
    "not reached": lambda T, x, a, b, c: T.autograd.grad(a, c, T.ones(3)),
}
WATCHED = {
    "between": lambda x, a, b, c, *views: [a, b],
    "not reached": lambda x, a, b, c, *views: [a, c],
    "with the leaf": lambda x, a, b, c, *views: [x, a],
    "the leaf": lambda x, a, b, c, *views: [x],
    "one twice": lambda x, a, b, c, *views: [a, a],
    "a view of no_grad": lambda x, a, b, c, *views: [a, views[0]],
    "one of several views": lambda x, a, b, c, *views: [views[1], a],
    "a view of the leaf": lambda x, a, b, c, *views: [views[2]],
    "a result of no_grad": lambda x, a, b, c, *views: [a, views[3]],
}


@pytest.mark.parametrize("mode", ["all", "any"])
def test_hook_on_several(mode):
    def one(T, asked, watched):
        x, seen = sample(T, 3), []
        a, b, c = x.sin(), x.exp(), x.cos()
        with T.no_grad():
            views = b[:1], b.chunk(2)[1], x.view(3, 1), a * 2
        tensors = WATCHED[watched](x, a, b, c, *views)
        hook = tried(T.autograd.graph.register_multi_grad_hook, tensors, noting(seen, "called"), mode=mode)
        return isinstance(hook, str) and hook, tried(PASSES[asked], T, x, a, b, c), seen, x.grad

    assert_same(lambda T: {f"{asked}, {watched}": one(T, asked, watched) for asked in PASSES for watched in WATCHED})
