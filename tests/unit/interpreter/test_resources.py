"""Memory, long graphs, threads and NumPy's error state: what a long training run would trip over."""

import gc
import math
import threading
import tracemalloc
import warnings
import weakref

import numpy as np
import pytest

import mindtorch as torch
from tests.harness import arguments_of, dtypes_of, function_of, outcome, sampled_ops, samples_of

# -------------------- memory without the garbage collector --------------------


@pytest.fixture
def no_gc():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def growth(step, times):
    """By how many bytes the memory of NumPy's arrays grows in some steps, and by how many live objects."""

    def live():
        arrays = tracemalloc.take_snapshot().filter_traces([tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)])
        return sum(trace.size for trace in arrays.traces), sum(issubclass(type(o), LIVE) for o in gc.get_objects())

    for _ in range(3):
        step()
    tracemalloc.start()
    try:
        step()
        before = live()
        for _ in range(times):
            step()
        after = live()
    finally:
        tracemalloc.stop()
    return after[0] - before[0], after[1] - before[1]


LIVE = (torch.Tensor, torch.autograd.graph.Node)


def plain_step(weight):
    ((weight @ weight).relu().sum(dim=1) ** 2).mean().backward()


def views_and_in_place(weight):
    hidden = weight * 2
    row = hidden[0]
    row.mul_(3)
    hidden[1:, 0] = 1.0
    hidden.t()[2].add_(row)
    first, second = hidden.split(5)
    (first * second).sum().backward()


def hooks(weight):
    hidden = weight.exp()
    hidden.retain_grad()
    hidden.register_hook(lambda grad: grad * 2)
    handle = weight.register_hook(lambda grad: grad + 1)
    hidden.grad_fn.register_hook(lambda inputs, outputs: None)
    hidden.sum().backward()
    handle.remove()


def second_derivative(weight):
    (grad,) = torch.autograd.grad((weight**3).sum(), weight, create_graph=True)
    (grad * grad).sum().backward()


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value, factor):
        ctx.save_for_backward(value)
        ctx.factor = factor
        return value * factor

    @staticmethod
    def backward(ctx, grad):
        (value,) = ctx.saved_tensors
        return grad * ctx.factor + 0 * value, None


def custom_function(weight):
    Scale.apply(weight.clone(), 2.0).sum().backward()


def exception_in_backward(weight):
    def fail(grad):
        raise ValueError("on purpose")

    hidden = weight.exp()
    hidden.register_hook(fail)
    with pytest.raises(ValueError, match="on purpose"):
        hidden.sum().backward()


def graph_never_used(weight):
    hidden = weight.exp()
    hidden.add_(1)
    hidden[0] = hidden[1] * 2


def saved_tensor_hooks(weight):
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.clone(), lambda tensor: tensor):
        (weight.exp() * weight).sum().backward()


STEPS = [
    plain_step,
    views_and_in_place,
    hooks,
    second_derivative,
    custom_function,
    exception_in_backward,
    graph_never_used,
    saved_tensor_hooks,
]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_memory_stays_flat(step, no_gc):
    weight = torch.ones(10, 10).mul_(0.1).requires_grad_()

    def run():
        weight.grad = None
        step(weight)

    size, objects = growth(run, 30)
    assert objects == 0 and size < 300  # numbers that differ from step to step are kept for a while, 4 bytes each


def test_optimizer_loop_memory_stays_flat(no_gc):
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters())
    data = torch.ones(16, 8)

    def run():
        optimizer.zero_grad()
        model(data).square().mean().backward()
        optimizer.step()

    size, objects = growth(run, 30)
    assert objects == 0 and size < 300  # numbers that differ from step to step are kept for a while, 4 bytes each


@pytest.mark.parametrize(
    "make", [lambda x: x.exp(), lambda x: x.exp()[0], lambda x: x.exp().add_(1)], ids=["op", "view", "in-place"]
)
def test_dropped_tensor_is_freed_at_once(make, no_gc):
    result = make(torch.ones(3, 3, requires_grad=True))
    node = weakref.ref(result.grad_fn)
    del result
    assert node() is None


# -------------------- long graphs --------------------


@pytest.mark.parametrize(
    "step", [lambda value: value * 1.0, lambda value: value.add_(1.0)], ids=["out of place", "in place"]
)
def test_chain_of_ops(step):
    leaf = torch.ones(1, requires_grad=True)
    value = leaf * 1.0
    for _ in range(30_000):
        value = step(value)
    value.backward()
    assert leaf.grad.item() == 1.0


def test_long_graph_is_freed_without_recursion():
    leaf = torch.ones(1, requires_grad=True)
    value = leaf
    for _ in range(100_000):
        value = -value
    value.backward()
    assert leaf.grad.item() == 1.0
    unused = leaf
    for _ in range(30_000):
        unused = unused * 1.0  # saves its input, which holds the node before
    del unused, value


def test_chain_of_views_and_writes():
    leaf = torch.ones(2, 2, requires_grad=True)
    value = leaf * 1.0
    for _ in range(3000):
        value[0].mul_(1.0)
        value = value.t()
    value.sum().backward()
    assert leaf.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]


# -------------------- threads --------------------


def in_threads(function, count=2):
    """Run `function(number)` in threads at once; their results, or the first error."""
    results, errors = [None] * count, []
    barrier = threading.Barrier(count)

    def run(number):
        barrier.wait()
        try:
            results[number] = function(number)
        except (
            ArithmeticError,
            AssertionError,
            AttributeError,
            LookupError,
            RuntimeError,
            TypeError,
            ValueError,
        ) as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


def train(number):
    weight = torch.full((4, 4), 0.1 * (number + 1)).requires_grad_()
    optimizer = torch.optim.SGD([weight], lr=0.01)
    for _ in range(100):
        optimizer.zero_grad()
        hidden = (weight @ weight).tanh() * 1
        hidden[0].mul_(2)
        hidden.square().sum().backward()
        optimizer.step()
    return weight.tolist()


def test_two_threads_train_at_once():
    assert in_threads(train) == [train(0), train(1)]


def test_threads_share_a_leaf():
    weight = torch.zeros(8, requires_grad=True)

    def accumulate(number):
        for _ in range(200):
            (weight * 2).sum().backward()

    in_threads(accumulate, 3)
    assert weight.grad.tolist() == [3 * 200 * 2.0] * 8


def test_threads_share_a_graph():
    leaf = torch.ones(8, requires_grad=True)
    result = leaf.exp().sin().sum()
    grads = in_threads(lambda number: torch.autograd.grad(result, leaf, retain_graph=True)[0].tolist(), 3)
    assert grads[0] == grads[1] == grads[2]


def test_grad_mode_belongs_to_the_thread():
    def look(number):
        if number:
            return torch.is_grad_enabled(), (torch.ones(1, requires_grad=True) * 2).requires_grad
        with torch.no_grad(), torch.inference_mode():
            return torch.is_grad_enabled(), (torch.ones(1, requires_grad=True) * 2).requires_grad

    assert in_threads(look) == [(False, False), (True, True)]
    with torch.no_grad():
        assert in_threads(lambda number: torch.is_grad_enabled()) == [True, True]


# -------------------- NumPy's error state and warnings --------------------

SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0]
LARGE = {"float16": 6e4, "bfloat16": 3e38, "float32": 3e38, "float64": 1e308, "complex64": 3e38, "complex128": 1e308}


def with_special_numbers(spec):
    """The spec with numbers in it that overflow, divide by zero or are no numbers; integers get zeros."""
    if not spec.differentiable or spec.dtype == "bool":
        return spec
    numbers = [*SPECIAL, LARGE[spec.dtype]] if spec.dtype in LARGE else [0, 1]
    return type(spec)(np.resize(np.array(numbers), spec.data.shape), spec.dtype, spec.layout, spec.differentiable)


def replaced(value):
    if isinstance(value, list):
        return [replaced(item) for item in value]
    return with_special_numbers(value) if hasattr(value, "layout") else value


def run_with_special_numbers(op, dtype):
    for sample in samples_of(op, dtype):
        args = [arguments_of(torch, replaced(value), requires_grad=True) for value in sample.args]
        kwargs = {name: arguments_of(torch, replaced(value)) for name, value in sample.kwargs.items()}
        result = outcome(function_of(torch, op), args, kwargs).result
        for tensor in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(tensor, torch.Tensor) and tensor.requires_grad:
                outcome(tensor.backward, [torch.ones_like(tensor)], {"retain_graph": True})


@pytest.mark.parametrize("op", sampled_ops(), ids=lambda op: op.name)
def test_numpy_stays_quiet(op):
    """No NumPy warning comes out and the user's error state neither matters nor changes."""
    state = np.seterr(all="raise")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", UserWarning)  # torch's own
            for dtype in sorted({"float32", "float16", "complex64", "int32"} & set(dtypes_of(op))):
                run_with_special_numbers(op, dtype)
        assert set(np.geterr().values()) == {"raise"}
    finally:
        np.seterr(**state)


@pytest.mark.parametrize("number", [1e40, -1e300, 2**63, 2**53 + 1, math.inf, math.nan])
@pytest.mark.parametrize("dtype", ["float32", "float16", "complex64", "int32"])
def test_numpy_stays_quiet_about_numbers(dtype, number):
    """A number that the dtype cannot hold, next to tensors of several layouts."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in (torch.ones(3), torch.ones(()), torch.ones(2, 1), torch.ones(3, 2).t(), torch.ones(0)):
            for name in ("add", "mul", "rsub", "div", "eq", "true_divide", "remainder"):
                outcome(getattr(torch, name), [x.to(getattr(torch, dtype)), number], {})
