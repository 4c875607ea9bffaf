"""Saved tensors behave as in PyTorch: when they are packed and unpacked, freed, changed, and what is refused."""

import pytest

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same, programs, sample

program, test_program = programs()


class Counter:
    """Hooks that count and note what they see."""

    def __init__(self, T):
        self.packed, self.unpacked = [], []
        self.hooks = T.autograd.graph.saved_tensors_hooks(self.pack, self.unpack)

    def pack(self, tensor):
        self.packed.append((tuple(tensor.shape), tensor.is_leaf, tensor.requires_grad))
        return tensor

    def unpack(self, tensor):
        self.unpacked.append(tuple(tensor.shape))
        return tensor


# -------------------- hooks --------------------


@program
def each_slot_is_packed_once(T):
    x, counter = sample(T, 3), Counter(T)
    with counter.hooks:
        y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    return counter.packed, counter.unpacked, x.grad


@program
def what_a_pack_hook_sees(T):
    x, w, counter = sample(T, 2, 3), sample(T, 4, 3, seed=1), Counter(T)
    with counter.hooks:
        y = T.nn.functional.linear(x, w).tanh().exp().sum()
    y.backward()
    return counter.packed, counter.unpacked, x.grad, w.grad


@program
def pack_runs_without_grad_mode(T):
    x, modes = sample(T, 3), []

    def pack(tensor):
        modes.append(T.is_grad_enabled())
        return tensor * 2

    def unpack(tensor):
        modes.append(T.is_grad_enabled())
        return tensor / 2

    with T.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = (x.exp() * x).sum()
    y.backward()
    return modes, x.grad


@program
def unpack_in_a_recorded_pass(T):
    x, modes = sample(T, 3), []

    def unpack(tensor):
        modes.append(T.is_grad_enabled())
        return tensor

    with T.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, unpack):
        y = (x * x * x).sum()
    (grad,) = T.autograd.grad(y, x, create_graph=True)
    return grad, T.autograd.grad(grad.sum(), x), modes


@program
def nested_hooks(T):
    x, seen = sample(T, 3), []

    def named(name):
        return T.autograd.graph.saved_tensors_hooks(
            lambda tensor: seen.append("pack " + name) or tensor, lambda tensor: seen.append("unpack " + name) or tensor
        )

    with named("outer"):
        y = x.exp()
        with named("inner"):
            z = y.sin()
        w = z.cos()
    w.sum().backward()
    return seen, x.grad


@program
def an_error_leaves_the_hooks(T):
    x = sample(T, 3)
    text = tried(raise_within, T.autograd.graph.saved_tensors_hooks(lambda tensor: 1, lambda number: x))
    y = x.exp()
    return text, y.grad_fn._saved_result is y


def raise_within(context):
    with context:
        raise ValueError("stop")


@program
def errors_of_hooks_reach_the_caller(T):
    def fail(tensor):
        raise ValueError("no")

    x = sample(T, 3)
    with T.autograd.graph.saved_tensors_hooks(fail, lambda tensor: tensor):
        first = tried(x.exp)
    with T.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, fail):
        y = x.exp().sum()
    return first, tried(y.backward), x.grad, T.is_grad_enabled()


@program
def unpacked_as_something_else(T):
    x = sample(T, 3)
    texts = []
    for value in (3, None, "x", [x]):
        with T.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, lambda tensor, value=value: value):
            y = x.exp().sum()
        texts.append(tried(y.backward))
    return texts


@program
def unpacked_with_another_shape(T):
    x = sample(T, 3)
    with T.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor.sum()):
        y = x.exp().sum()
    return tried(y.backward), x.grad


@program
def packed_as_something_else(T):
    x = sample(T, 3)
    store = {}

    def pack(tensor):
        store[len(store)] = tensor.detach().clone()
        return len(store) - 1

    with T.autograd.graph.saved_tensors_hooks(pack, lambda key: store[key]):
        y = (x * x.sin()).sum()
    y.backward()
    return len(store), x.grad


@program
def a_pack_hook_that_writes(T):
    x = sample(T, 3)
    with T.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.mul_(2), lambda tensor: tensor):
        return tried((x * 1).exp), tried(x.exp)


@program
def writes_go_unnoticed_with_hooks(T):
    x = sample(T, 3) * 1
    with T.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.clone(), lambda tensor: tensor):
        y = (x * x).sum()
    x.add_(1)
    return tried(y.backward)


@program
def not_functions(T):
    hooks = T.autograd.graph.saved_tensors_hooks
    return [tried(enter, hooks(*pair)) for pair in ((1, 2), (None, None), (lambda tensor: tensor, None))]


def enter(context):
    with context:
        return "entered"


@program
def numbers_are_not_packed(T):
    x, counter = sample(T, 3), Counter(T)
    with counter.hooks:
        (x * 2).pow(3).div(4).sum()
    return counter.packed


@program
def constants_are_packed(T):
    x, c, counter = sample(T, 3), sample(T, 3, requires_grad=False), Counter(T)
    with counter.hooks:
        (x * c).sum().backward()
        (c * c).sum()
    return counter.packed, counter.unpacked


@program
def nothing_is_packed_without_grad(T):
    x, counter = sample(T, 3), Counter(T)
    with counter.hooks, T.no_grad():
        x.exp()
    with counter.hooks:
        x.detach().exp()
    return counter.packed


@program
def a_view_is_packed(T):
    x, counter = sample(T, 3, 3), Counter(T)
    with counter.hooks:
        (x * 1)[0].exp().mul(x.t()[1]).sum().backward()
    return counter.packed, counter.unpacked, x.grad


@program
def inputs_of_in_place_ops_are_packed(T):
    x, counter = sample(T, 3), Counter(T)
    with counter.hooks:
        y = x * 1
        y.mul_(x).exp_().sum().backward()
    return counter.packed, counter.unpacked, x.grad


@program
def lists_are_packed(T):
    x, counter = [sample(T, 3, seed=i) for i in range(3)], Counter(T)
    with counter.hooks:
        T.cat(x).prod().backward()
        T.stack(x).exp().sum().backward()
    return counter.packed, counter.unpacked, [each.grad for each in x]


@program
def hooks_of_a_function(T):
    class Mul(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            z = x * y
            ctx.save_for_backward(x, y, z, None)
            return z

        @staticmethod
        def backward(ctx, grad):
            x, y, z, nothing = ctx.saved_tensors
            return grad * y, grad * x

    x, y, counter = sample(T, 3), sample(T, 3, seed=2), Counter(T)
    with counter.hooks:
        Mul.apply(x, y).sum().backward()
    return counter.packed, counter.unpacked, x.grad


@program
def the_unpacked_tensor_is_in_the_graph(T):
    x = sample(T, 3)
    with T.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.numpy(), lambda array: T.from_numpy(array)):
        y = x.exp()
        z = y * x
    saved, other = z.grad_fn._saved_self, z.grad_fn._saved_other
    return (
        (saved is y, saved.grad_fn is y.grad_fn, saved.requires_grad, saved.is_leaf),
        (other is x, other.is_leaf, other.requires_grad, other.grad_fn),
        (y.grad_fn._saved_result.grad_fn is y.grad_fn),
    )


@program
def hooks_on_save_on_cpu(T):
    x = sample(T, 3)
    with T.autograd.graph.save_on_cpu():
        y = (x.exp() * x).sum()
    y.backward()
    return x.grad, y.grad_fn, T.autograd.graph.save_on_cpu(pin_memory=False).__class__.__name__


@program
def save_on_cpu_keeps_a_copy(T):
    x = sample(T, 3) * 1
    with T.autograd.graph.save_on_cpu():
        y = (x * x).sum()
    x.mul_(2)
    kept = y.grad_fn.next_functions[0][0]._saved_self
    return kept, kept is x, kept.device.type, tried(y.backward)


# -------------------- forbidding them --------------------


@program
def disabled(T):
    graph = T.autograd.graph
    with graph.disable_saved_tensors_hooks("not here"):
        text = tried(enter, graph.saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor))
        with graph.disable_saved_tensors_hooks("nor here"):
            inner = tried(enter, graph.save_on_cpu())
        again = tried(enter, graph.save_on_cpu())
    return text, inner, again, tried(enter, graph.save_on_cpu())


@program
def disabled_within_hooks(T):
    graph = T.autograd.graph
    with graph.saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor):
        text = tried(enter, graph.disable_saved_tensors_hooks("not in hooks"))
        x = sample(T, 3)
        x.exp().sum().backward()
    return text, x.grad, tried(enter, graph.disable_saved_tensors_hooks("not in hooks"))


@program
def disabled_as_a_decorator(T):
    graph = T.autograd.graph

    @graph.disable_saved_tensors_hooks("within the function")
    def function():
        return tried(enter, graph.save_on_cpu())

    return function(), function(), tried(enter, graph.save_on_cpu())


# -------------------- raw saved tensors --------------------


@program
def raw_saved_tensor(T):
    x = sample(T, 3)
    y = (x * x).exp()
    raw = y.grad_fn._raw_saved_result
    raw.register_hooks(lambda tensor: tensor * 2, lambda tensor: tensor / 2)
    y.sum().backward()
    return type(raw).__name__, x.grad


RAW_MISUSE = {
    "numbers": (1, 2),
    "one number": (lambda tensor: tensor, 2),
    "None": (None, None),
}


@pytest.mark.parametrize("name", RAW_MISUSE)
def test_hooks_of_raw_saved_tensors(name):
    def run(T):
        y = sample(T, 3).exp()
        text = tried(y.grad_fn._raw_saved_result.register_hooks, *RAW_MISUSE[name])
        return text.partition("Invoked with")[0] if isinstance(text, str) else text

    assert_same(run)


@program
def raw_hooks_of_a_list(T):
    x = [sample(T, 3, seed=i) for i in range(2)]
    y = T.stack(x).prod()
    seen = []
    raw = y.grad_fn._raw_saved_self
    raw.register_hooks(lambda tensor: seen.append("pack") or tensor, lambda tensor: seen.append("unpack") or tensor)
    y.backward()
    return seen, x[0].grad


@program
def raw_hooks_after_hooks(T):
    x = sample(T, 3)
    with T.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor):
        y = x.exp()
    return tried(y.grad_fn._raw_saved_result.register_hooks, lambda tensor: tensor, lambda tensor: tensor)


@program
def raw_hooks_of_a_number(T):
    y = sample(T, 3) * 3
    return tried(y.grad_fn._raw_saved_other.register_hooks, lambda tensor: tensor, lambda tensor: tensor)


@program
def raw_hook_that_writes(T):
    y = (sample(T, 3) * 1).exp()
    return tried(y.grad_fn._raw_saved_result.register_hooks, lambda tensor: tensor.mul_(2), lambda tensor: tensor)


@program
def raw_hook_that_raises(T):
    y = sample(T, 3).exp()

    def fail(tensor):
        raise ValueError("no")

    return tried(y.grad_fn._raw_saved_result.register_hooks, fail, fail)


# -------------------- freeing --------------------


@program
def freed_by_backward(T):
    x = sample(T, 3)
    y = x.exp()
    z = y.sin().sum()
    z.backward()
    node = y.grad_fn
    return (
        tried(lambda: node._saved_result),
        tried(lambda: node._raw_saved_result.register_hooks(lambda tensor: tensor, lambda tensor: tensor)),
        tried(z.backward),
        tried(lambda: T.autograd.grad(y.sum(), x)),
    )


@program
def kept_with_retain_graph(T):
    x = sample(T, 3)
    y = x.exp()
    y.sum().backward(retain_graph=True)
    return y.grad_fn._saved_result, y.grad_fn._saved_result is y


@program
def numbers_outlive_backward(T):
    x = sample(T, 2, 3)
    y = x.pow(3)
    z = x.sum(1)
    (y.sum() + z.sum()).backward()
    return y.grad_fn._saved_exponent, z.grad_fn._saved_dim, z.grad_fn._saved_keepdim


@program
def nodes_without_gradient_are_freed_too(T):
    class Nothing(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return None

    x = sample(T, 3)
    y = x.exp()
    z = Nothing.apply(y).sum()
    z.backward()
    return x.grad, tried(lambda: y.grad_fn._saved_result), tried(z.backward), tried(y.sum().backward)


@program
def a_second_pass_with_none(T):
    class Nothing(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return None

    x = sample(T, 3)
    z = Nothing.apply(x.exp()).sum()
    z.backward()
    return tried(z.backward), tried(z.backward), x.grad


@program
def only_the_part_that_ran_is_freed(T):
    x = sample(T, 3)
    y = x.exp()
    z, w = y.sin().sum(), y.cos().sum()
    z.backward(inputs=[y])
    w.backward()
    return y.grad, x.grad, tried(z.backward)


@program
def grad_frees_what_ran(T):
    x = sample(T, 3)
    y = x.exp()
    z = y.sin().sum()
    T.autograd.grad(z, y)
    return y.grad_fn._saved_result, tried(z.backward), T.autograd.grad(y.sum(), x)


@program
def saved_tensors_of_a_function(T):
    class Double(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, None)
            ctx.number = 3
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = sample(T, 3)
    node = Double.apply(x).grad_fn
    saved = node.saved_tensors
    raw = node._raw_saved_tensors
    return saved[0] is x, saved, len(raw), [type(each).__name__ for each in raw], node.number


@program
def saved_variables(T):
    class Double(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2 + 0 * ctx.saved_variables[0]

    x = sample(T, 3)
    Double.apply(x).sum().backward()
    return x.grad


@program
def freed_saved_tensors_of_a_function(T):
    class Double(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    y = Double.apply(sample(T, 3))
    y.sum().backward()
    node = y.grad_fn
    return tried(lambda: node.saved_tensors), tried(lambda: node._raw_saved_tensors), tried(y.sum().backward)


@program
def a_function_that_saves_nothing_runs_twice(T):
    class Double(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = sample(T, 3)
    y = Double.apply(x)
    y.backward(T.ones(3))
    return tried(lambda: y.backward(T.ones(3))), x.grad


# -------------------- versions --------------------

WRITES = {
    "add_": lambda x: x.add_(1),
    "mul_": lambda x: x.mul_(2),
    "index": lambda x: x.__setitem__(0, 5.0),
    "zero_": lambda x: x.zero_(),
    "view": lambda x: x.view(-1).add_(1),
    "slice": lambda x: x[1:].add_(1),
    "detach": lambda x: x.detach().add_(1),
    "data": lambda x: x.data.add_(1),
    "copy_": lambda x: x.copy_(x.detach().clone()),
    "numpy": lambda x: x.detach().numpy().fill(3),
    "twice": lambda x: x.add_(1).add_(1),
    "fill_": lambda x: x.fill_(1.0),
}
SAVERS = {
    "exp": lambda x, y: y.exp(),
    "mul": lambda x, y: y * x,
    "sin": lambda x, y: y.sin(),
    "pow": lambda x, y: y**3,
    "view": lambda x, y: y.view(-1) * x.view(-1),
    "matmul": lambda x, y: y @ y,
    "unbind": lambda x, y: y.unbind()[0] * 2 * y.unbind()[1],
    "double": lambda x, y: y.double() * y.double(),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("saver", SAVERS)
def test_written_after_it_was_saved(write, saver):
    def run(T):
        x = sample(T, 2, 2)
        y = x * 1
        z = SAVERS[saver](x, y)
        with T.no_grad():
            WRITES[write](y)
        return tried(z.sum().backward), y._version

    assert_same(run)


@pytest.mark.parametrize("write", WRITES)
def test_a_written_result(write):
    def run(T):
        x = sample(T, 2, 2)
        y = x.exp()
        WRITES[write](y)
        return tried(y.sum().backward), y._version, x.grad

    assert_same(run)


@program
def increment_version(T):
    x = sample(T, 3) * 1
    y = x * x
    T.autograd.graph.increment_version(x)
    T.autograd.graph.increment_version([x, y])
    T.autograd.graph.increment_version(())
    return x._version, y._version, tried(y.sum().backward)


@program
def increment_version_of_something_else(T):
    bump = T.autograd.graph.increment_version
    with T.inference_mode():
        x = T.ones(3)
    return tried(bump, x), tried(bump, 3), tried(bump, [3]), tried(bump, None)


@program
def versions_of_leaves(T):
    x = sample(T, 3)
    y = x * x
    with T.no_grad():
        x.add_(1)
    return x._version, tried(y.sum().backward)


@program
def versions_in_anomaly_mode(T):
    with T.autograd.set_detect_anomaly(True):
        y = sample(T, 3).exp()
        y.add_(1)
        return tried(y.sum().backward)


# -------------------- inference tensors --------------------


@program
def inference_tensors_are_not_saved(T):
    x = sample(T, 3)
    with T.inference_mode():
        c = T.ones(3)
    with T.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor):
        hooked = tried(lambda: x * c)
    return tried(lambda: x * c), hooked, tried(lambda: x + c)
