"""`torch.utils.checkpoint` behaves as in PyTorch: values, what runs when, what is kept, and texts."""

import contextlib
import warnings

import pytest

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same, programs, sample

program, test_program = programs()
BOTH = pytest.mark.parametrize("reentrant", [False, True])


def checkpoint(T, function, *args, **kwargs):
    return T.utils.checkpoint.checkpoint(function, *args, **kwargs)


def wave(x):
    return (x.sin() * x).exp()


# -------------------- values --------------------

FUNCTIONS = {
    "wave": (1, wave),
    "two inputs": (2, lambda x, y: (x * y).tanh() + x.exp()),
    "two results": (1, lambda x: (x.sin(), x.cos() * x)),
    "one of two results has no gradient": (1, lambda x: (x.sin(), x.detach() * 2)),
    "a constant result": (1, lambda x: x.detach() * 2),
    "the input": (1, lambda x: x),
    "a view": (1, lambda x: (x * x)[1:]),
    "in place": (1, lambda x: x.mul(2).mul_(x).sin_()),
    "a number and None": (1, lambda x: (x.sin(), 3, None)),
    "a list": (1, lambda x: [x.sin(), x.cos()]),
    "integers too": (1, lambda x: (x.exp(), (x > 0).long())),
}


@BOTH
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name, reentrant):
    count, function = FUNCTIONS[name]

    def run(T):
        inputs = [sample(T, 3, seed=i) for i in range(count)]
        output = checkpoint(T, function, *inputs, use_reentrant=reentrant)
        tensors = [each for each in (output if isinstance(output, (tuple, list)) else [output]) if T.is_tensor(each)]
        sum(each.sum() for each in tensors if each.requires_grad).backward()
        return output, [each.grad for each in inputs], [each.grad_fn for each in tensors]

    assert_same(run)


@BOTH
def test_a_layer(reentrant):
    def run(T):
        T.manual_seed(3)
        layers = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.ReLU(), T.nn.LayerNorm(4), T.nn.Linear(4, 2))
        x = sample(T, 5, 3)
        y = checkpoint(T, layers, x, use_reentrant=reentrant)
        y.sum().backward()
        return y, x.grad, [each.grad for each in layers.parameters()]

    assert_same(run)


@BOTH
@pytest.mark.parametrize("preserve", [True, False])
def test_random_numbers(reentrant, preserve):
    def run(T):
        T.manual_seed(3)
        seen = []

        def function(x):
            seen.append(T.rand(2))
            return T.nn.functional.dropout(x, 0.5).exp()

        x = sample(T, 6)
        y = checkpoint(T, function, x, use_reentrant=reentrant, preserve_rng_state=preserve)
        between = T.rand(2)
        y.sum().backward()
        return y, x.grad, seen, between, T.rand(2)

    assert_same(run)


@BOTH
def test_how_often_the_function_runs(reentrant):
    def run(T):
        calls = []

        def function(x):
            calls.append((T.is_grad_enabled(), x.requires_grad, x.is_leaf))
            return wave(x)

        x = sample(T, 3)
        y = checkpoint(T, function, x * 1, use_reentrant=reentrant)
        y.sum().backward(retain_graph=True)
        y.sum().backward()
        return calls, x.grad

    assert_same(run)


@BOTH
def test_a_third_pass(reentrant):
    def run(T):
        x = sample(T, 3)
        y = checkpoint(T, wave, x, use_reentrant=reentrant).sum()
        y.backward()
        return tried(y.backward), x.grad

    assert_same(run)


@BOTH
def test_without_grad_mode(reentrant):
    def run(T):
        x, calls = sample(T, 3), []
        with T.no_grad():
            y = checkpoint(T, lambda x: calls.append(1) or wave(x), x, use_reentrant=reentrant)
        return y, y.grad_fn, calls

    assert_same(run)


@BOTH
def test_nothing_requires_grad(reentrant):
    def run(T):
        y = checkpoint(T, wave, sample(T, 3, requires_grad=False), use_reentrant=reentrant)
        return y, y.grad_fn

    assert_same(run)


@BOTH
def test_only_a_parameter_requires_grad(reentrant):
    def run(T):
        w = sample(T, 3)
        y = checkpoint(T, lambda x: (x * w).exp(), sample(T, 3, requires_grad=False), use_reentrant=reentrant)
        return y.requires_grad, tried(y.sum().backward), w.grad

    assert_same(run)


@BOTH
def test_grad_instead_of_backward(reentrant):
    def run(T):
        x = sample(T, 3)
        return tried(T.autograd.grad, checkpoint(T, wave, x, use_reentrant=reentrant).sum(), x)

    assert_same(run)


@BOTH
def test_backward_with_inputs(reentrant):
    def run(T):
        x, w = sample(T, 3), sample(T, 3, seed=4)
        y = checkpoint(T, lambda x: wave(x * w), x, use_reentrant=reentrant)
        return tried(y.sum().backward, inputs=[x]), x.grad, w.grad

    assert_same(run)


@BOTH
def test_second_derivatives(reentrant):
    def run(T):
        x = sample(T, 3)
        y = checkpoint(T, wave, x, use_reentrant=reentrant).sum()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns of the cycle once in a process
            y.backward(create_graph=True)
        first = x.grad
        return first, first.grad_fn is not None, tried(T.autograd.grad, first.sum(), x)

    assert_same(run)


@BOTH
def test_nested(reentrant):
    def run(T):
        x, calls = sample(T, 3), []

        def inner(x):
            calls.append("inner")
            return x.sin() * x

        def outer(x):
            calls.append("outer")
            return checkpoint(T, inner, x.exp(), use_reentrant=reentrant).cos() * x

        y = checkpoint(T, outer, x, use_reentrant=reentrant)
        y.sum().backward()
        return y, x.grad, calls

    assert_same(run)


@BOTH
def test_nested_three_times(reentrant):
    def run(T):
        x, calls = sample(T, 3), []

        def layer(depth):
            def function(x):
                calls.append(depth)
                x = x.sin() * x
                return checkpoint(T, layer(depth - 1), x, use_reentrant=reentrant).exp() if depth else x.cos()

            return function

        y = checkpoint(T, layer(3), x, use_reentrant=reentrant)
        y.sum().backward()
        return x.grad, calls

    assert_same(run)


@BOTH
def test_a_chain(reentrant):
    def run(T):
        x = y = sample(T, 3)
        for _ in range(4):
            y = checkpoint(T, lambda x: x.sin() + x, y, use_reentrant=reentrant)
        y.sum().backward()
        return x.grad

    assert_same(run)


@BOTH
def test_an_input_is_written_afterwards(reentrant):
    def run(T):
        x = sample(T, 3) * 1
        y = checkpoint(T, wave, x, use_reentrant=reentrant).sum()
        with T.no_grad():
            x.mul_(2)
        return tried(y.backward)

    assert_same(run)


@BOTH
def test_the_function_fails(reentrant):
    def run(T):
        def fail(x):
            raise ValueError("stop")

        x = sample(T, 3)
        text = tried(checkpoint, T, fail, x, use_reentrant=reentrant)
        (x.exp() * x).sum().backward()
        return text, x.grad

    assert_same(run)


@BOTH
def test_the_second_run_fails(reentrant):
    def run(T):
        calls = []

        def function(x):
            calls.append(1)
            if len(calls) > 1:
                raise ValueError("stop")
            return wave(x)

        x = sample(T, 3)
        y = checkpoint(T, function, x, use_reentrant=reentrant).sum()
        return tried(y.backward), x.grad, tried((x * x).sum().backward), x.grad, T.is_grad_enabled()

    assert_same(run)


@BOTH
@pytest.mark.parametrize("used", [0, 1])
def test_one_of_two_results_is_used(reentrant, used):
    def run(T):
        x = sample(T, 3)
        checkpoint(T, lambda x: (x.sin(), x.exp() * x), x, use_reentrant=reentrant)[used].sum().backward()
        return x.grad

    assert_same(run)


@BOTH
def test_hooks_see_the_gradients(reentrant):
    def run(T):
        x, seen = sample(T, 3), []

        def function(x):
            y = x.exp()
            y.register_hook(lambda grad: seen.append(grad) or grad * 2)
            return y.sin()

        x.register_hook(lambda grad: seen.append(grad))
        checkpoint(T, function, x, use_reentrant=reentrant).sum().backward()
        return seen, x.grad

    assert_same(run)


@BOTH
def test_default_device(reentrant):
    def run(T):
        seen = []

        def function(x):
            seen.append(str(T.empty(1).device))
            return wave(x)

        x = sample(T, 3)
        with T.device("meta"):
            y = checkpoint(T, function, x, use_reentrant=reentrant, preserve_rng_state=False)
        y.backward(x.detach())
        return seen, x.grad

    assert_same(run)


# -------------------- arguments --------------------


@program
def not_said_which(T):
    x = sample(T, 3)
    checkpoint(T, wave, x).sum().backward()
    return x.grad


MISUSE = {
    "keyword with reentrance": {"use_reentrant": True, "scale": 3},
    "two keywords with reentrance": {"use_reentrant": True, "scale": 3, "size": 2},
    "context with reentrance": {"use_reentrant": True, "context_fn": lambda: (contextlib.nullcontext(),) * 2},
    "debug with reentrance": {"use_reentrant": True, "debug": True},
    "unknown check": {"use_reentrant": False, "determinism_check": "strict"},
    "unknown check with reentrance": {"use_reentrant": True, "determinism_check": "strict"},
    "debug and context": {
        "use_reentrant": False,
        "debug": True,
        "context_fn": lambda: (contextlib.nullcontext(),) * 2,
    },
    "unknown keyword": {"use_reentrant": False, "scale": 3},
    "no context": {"use_reentrant": False, "context_fn": lambda: None},
}


@pytest.mark.parametrize("name", MISUSE)
def test_misuse(name):
    assert_same(lambda T: tried(checkpoint, T, lambda x: x.exp(), sample(T, 3), **MISUSE[name]))


@program
def keyword_arguments(T):
    x, w = sample(T, 3), sample(T, 3, seed=5)

    def function(x, *, w, power=1):
        return (x * w) ** power

    checkpoint(T, function, x, w=w, power=3, use_reentrant=False).sum().backward()
    return x.grad, w.grad


@program
def other_arguments(T):
    x = sample(T, 3)

    def function(x, number, words, nothing, nested):
        return x.pow(number) * len(words) * nested["y"]

    y = sample(T, 3, seed=8)
    checkpoint(T, function, x, 3, "abc", None, {"y": y}, use_reentrant=False).sum().backward()
    return x.grad, y.grad


@program
def nested_tensors_and_reentrance(T):
    y = sample(T, 3, seed=8)
    z = checkpoint(T, lambda x: x["y"].exp(), {"y": y}, use_reentrant=True)
    return z.requires_grad


@program
def contexts(T):
    x, seen = sample(T, 3), []

    @contextlib.contextmanager
    def noting(name):
        seen.append(name)
        try:
            yield
        finally:
            seen.append("end of " + name)

    checkpoint(T, wave, x, use_reentrant=False, context_fn=lambda: (noting("first"), noting("second"))).sum().backward()
    return seen, x.grad


@program
def context_that_hides_an_error(T):
    def fail(x):
        raise ValueError("stop")

    def contexts():
        return contextlib.suppress(ValueError), contextlib.nullcontext()

    return tried(checkpoint, T, fail, sample(T, 3), use_reentrant=False, context_fn=contexts)


# -------------------- the second run --------------------


def changing(*functions):
    """A function that does something else in each call."""
    calls = iter(functions)
    return lambda x: next(calls)(x)


DIFFERENT = {
    "fewer": (lambda x: x.sin().exp().cos(), lambda x: x.sin()),
    "more": (lambda x: x.sin(), lambda x: x.sin().exp().cos()),
    "other shape": (lambda x: x.sin().exp(), lambda x: x[:2].sin().exp()),
    "other dtype": (lambda x: x.sin().exp(), lambda x: x.double().sin().exp()),
    "other ops": (lambda x: x.sin().exp(), lambda x: x.cos().tanh()),
    "nothing": (lambda x: x.sin().exp(), lambda x: x + 1),
    "several": (lambda x: x.sin().exp() * x, lambda x: (lambda y: y.sin().exp() * y)(x[:2])),
}


@pytest.mark.parametrize("check", ["default", "none"])
@pytest.mark.parametrize("early_stop", [True, False])
@pytest.mark.parametrize("name", DIFFERENT)
def test_another_second_run(name, early_stop, check):
    def run(T):
        x = sample(T, 3)
        y = checkpoint(
            T,
            changing(*DIFFERENT[name]),
            x,
            use_reentrant=False,
            early_stop=early_stop,
            determinism_check=check,
            preserve_rng_state=False,
        )
        try:
            y.sum().backward()
        except T.utils.checkpoint.CheckpointError as error:
            return str(error), x.grad
        return x.grad

    assert_same(run)


@pytest.mark.parametrize("early_stop", [True, False])
@pytest.mark.parametrize("override", [True, False, None])
def test_early_stop(early_stop, override):
    def run(T):
        x, seen = sample(T, 3), []

        def function(x):
            y = x.sin().exp()
            seen.append("end")
            return y

        with T.utils.checkpoint.set_checkpoint_early_stop(override):
            y = checkpoint(T, function, x, use_reentrant=False, early_stop=early_stop)
        y.sum().backward()
        return seen, x.grad

    assert_same(run)


@program
def a_saved_tensor_is_looked_at(T):
    x, calls = sample(T, 3), []
    y = checkpoint(T, lambda x: calls.append(1) or x.sin().exp(), x, use_reentrant=False)
    first, second = y.grad_fn._saved_result, y.grad_fn._saved_result
    y.sum().backward()
    return first, second, calls, tried(lambda: y.grad_fn._saved_result)


@program
def a_saved_tensor_is_used_twice(T):
    class Square(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0] + grad * ctx.saved_tensors[0]

    x = sample(T, 3)
    y = checkpoint(T, Square.apply, x, use_reentrant=False)
    return tried(y.sum().backward)


@program
def backward_within_the_function(T):
    x = sample(T, 3)

    def function(x):
        y = x.sin().exp()
        (grad,) = T.autograd.grad(y.sum(), x, create_graph=True)
        return y * grad

    checkpoint(T, function, x, use_reentrant=False, early_stop=False).sum().backward()
    return x.grad


@program
def backward_within_the_function_with_early_stop(T):
    x = sample(T, 3)

    def function(x):
        y = x.sin().exp()
        (grad,) = T.autograd.grad(y.sum(), x, create_graph=True)
        return y * grad

    checkpoint(T, function, x, use_reentrant=False).sum().backward()
    return x.grad


@program
def within_saved_tensor_hooks(T):
    x, seen = sample(T, 3), []
    hooks = T.autograd.graph.saved_tensors_hooks(
        lambda tensor: seen.append("pack") or tensor, lambda tensor: seen.append("unpack") or tensor
    )
    with hooks:
        y = checkpoint(T, wave, x * 1, use_reentrant=False)
        seen.append("between")
        y = y.exp()
    y.sum().backward()
    return seen, x.grad


@program
def saved_tensor_hooks_within(T):
    x, seen = sample(T, 3), []

    def function(x):
        with T.autograd.graph.saved_tensors_hooks(
            lambda tensor: seen.append("pack") or tensor, lambda tensor: seen.append("unpack") or tensor
        ):
            y = x.sin()
        return y.exp()

    checkpoint(T, function, x, use_reentrant=False).sum().backward()
    return seen, x.grad


@program
def save_on_cpu_around_it(T):
    x = sample(T, 3)
    with T.autograd.graph.save_on_cpu():
        y = checkpoint(T, wave, x, use_reentrant=False)
    y.sum().backward()
    return x.grad


@program
def hooks_are_forbidden(T):
    with T.autograd.graph.disable_saved_tensors_hooks("no hooks"):
        return tried(checkpoint, T, wave, sample(T, 3), use_reentrant=False)


@program
def only_part_of_the_graph_runs(T):
    x, calls = sample(T, 3), []

    def function(x):
        calls.append(1)
        return x.sin(), x.exp()

    first, second = checkpoint(T, function, x, use_reentrant=False)
    first.sum().backward()
    second.sum().backward()
    return x.grad, calls


@program
def a_group_of_passes(T):
    x, calls = sample(T, 3), []

    def function(x):
        calls.append(1)
        return x.sin(), x.exp()

    first, second = checkpoint(T, function, x, use_reentrant=False)
    with T.utils.checkpoint.GraphExecGroup():
        first.sum().backward()
        second.sum().backward()
    return x.grad, calls


@program
def overlapping_passes_of_a_group(T):
    x = sample(T, 3)
    y = checkpoint(T, wave, x, use_reentrant=False).sum()
    with T.utils.checkpoint.GraphExecGroup():
        y.backward(retain_graph=True)
        return tried(y.backward)


@program
def nested_groups(T):
    with T.utils.checkpoint.GraphExecGroup():
        return tried(T.utils.checkpoint.GraphExecGroup().__enter__).partition("<")[0]


@program
def in_anomaly_mode(T):
    x = sample(T, 3)
    with T.autograd.set_detect_anomaly(True):
        checkpoint(T, wave, x, use_reentrant=False).sum().backward()
    return x.grad


@program
def a_dropped_result(T):
    x = sample(T, 3)
    y = checkpoint(T, lambda x: (x.sin(), x.cos().exp()), x, use_reentrant=False)[0]
    y.sum().backward()
    return x.grad


# -------------------- several functions --------------------


@BOTH
@pytest.mark.parametrize("segments", [1, 2, 3, 4])
@pytest.mark.parametrize("listed", [True, False])
def test_sequential(segments, listed, reentrant):
    def run(T):
        T.manual_seed(1)
        calls = []
        model = T.nn.Sequential(*(T.nn.Linear(3, 3) for _ in range(5)))
        for i, layer in enumerate(model):
            layer.register_forward_hook(lambda module, args, output, i=i: calls.append(i))
        x = sample(T, 2, 3)
        functions = list(model) if listed else model
        y = T.utils.checkpoint.checkpoint_sequential(functions, segments, x, use_reentrant=reentrant)
        y.sum().backward()
        return y, x.grad, calls, [each.grad for each in model.parameters()]

    assert_same(run)


@program
def sequential_not_said_which(T):
    x = sample(T, 3)
    T.utils.checkpoint.checkpoint_sequential([T.sin, T.exp], 2, x).sum().backward()
    return x.grad


@program
def sequential_with_keywords(T):
    sequential = T.utils.checkpoint.checkpoint_sequential
    x = sample(T, 3)
    return (
        tried(sequential, [T.sin, T.exp], 2, x, use_reentrant=False, scale=3),
        tried(sequential, [T.sin, T.exp], 3, x, use_reentrant=False),
        sequential([T.sin, T.exp], 2, x, use_reentrant=False, preserve_rng_state=False),
    )


@program
def detach_variable(T):
    x, y = sample(T, 3), sample(T, 3, requires_grad=False)
    function = T.utils.checkpoint.detach_variable
    detached = function((x, y, 3, None))
    return detached, [each.is_leaf for each in detached[:2]], tried(function, [x]), tried(function, x)


@program
def check_backward_validity(T):
    check = T.utils.checkpoint.check_backward_validity
    return check([sample(T, 3)]), check([1, sample(T, 3, requires_grad=False)]), check([])
