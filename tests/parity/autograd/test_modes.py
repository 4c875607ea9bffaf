"""Grad mode, inference mode, anomaly mode and the other modes behave as in PyTorch."""

import asyncio
import re
import threading
import warnings

import pytest

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same, programs, sample

program, test_program = programs()


# -------------------- grad mode --------------------

MODES = {
    "no_grad": lambda T: T.no_grad(),
    "enable_grad": lambda T: T.enable_grad(),
    "set_grad_enabled": lambda T: T.set_grad_enabled(False),
    "inference_mode": lambda T: T.inference_mode(),
    "not inference_mode": lambda T: T.inference_mode(False),
    "autograd.no_grad": lambda T: T.autograd.no_grad(),
    "inference with False": lambda T: T.inference_mode(mode=False),
}


def modes(T):
    return T.is_grad_enabled(), T.is_inference_mode_enabled()


@pytest.mark.parametrize("outer", MODES)
@pytest.mark.parametrize("inner", MODES)
def test_nested(outer, inner):
    def run(T):
        seen = []
        with MODES[outer](T):
            seen.append(modes(T))
            with MODES[inner](T):
                seen.append(modes(T))
                x = T.ones(2)
                seen.append((x.is_inference(), tried(x.requires_grad_)))
                y = x * 2
                seen.append((y.is_inference(), y.requires_grad, y.grad_fn))
            seen.append(modes(T))
        return seen, modes(T)

    assert_same(run)


@pytest.mark.parametrize("name", MODES)
def test_decorated(name):
    def run(T):
        @MODES[name](T)
        def function(x):
            """What it does."""
            return modes(T), (x * 2).requires_grad

        @MODES[name](T)
        def generator(x):
            got = yield modes(T)
            yield modes(T), got
            return 3

        def drive():
            each = generator(1)
            seen = [next(each), modes(T), each.send("sent"), modes(T)]
            return seen, tried(next, each)

        x = sample(T, 3)
        return function(x), modes(T), function.__name__, function.__doc__, drive(), modes(T)

    assert_same(run)


@pytest.mark.parametrize("name", ["no_grad", "enable_grad", "inference_mode"])
def test_decorated_without_parentheses(name):
    def run(T):
        @getattr(T, name)
        def function():
            return modes(T)

        @getattr(T, name)
        async def coroutine():
            return modes(T)

        return function(), asyncio.run(coroutine()), modes(T)

    assert_same(run)


@pytest.mark.parametrize("name", ["no_grad", "enable_grad", "inference_mode"])
def test_decorated_class(name):
    def run(T):
        @getattr(T, name)()
        class Thing:
            def __init__(self, number):
                self.number = number
                self.modes = modes(T)

        thing = Thing(3)
        return thing.number, thing.modes, isinstance(Thing, type), modes(T)

    assert_same(run)


@pytest.mark.parametrize("name", ["no_grad", "enable_grad", "inference_mode"])
def test_decorated_methods(name):
    def run(T):
        class Thing:
            @getattr(T, name)()
            def method(self):
                return modes(T)

            @classmethod
            @getattr(T, name)()
            def of_class(cls):
                return cls.__name__, modes(T)

            @staticmethod
            @getattr(T, name)()
            def static():
                return modes(T)

        return Thing().method(), Thing.of_class(), Thing.static()

    assert_same(run)


@program
def generators_and_errors(T):
    @T.no_grad()
    def generator():
        try:
            yield modes(T)
        except ValueError as error:
            yield str(error), modes(T)
        finally:
            seen.append(modes(T))

    seen = []
    each = generator()
    result = [next(each), each.throw(ValueError("thrown")), modes(T)]
    each.close()
    other = generator()
    next(other)
    other.close()
    return result, seen, modes(T), tried(lambda: list(fails()))


def fails():
    raise KeyError("early")
    yield


@program
def a_mode_ends_with_an_error(T):
    def fail():
        raise ValueError("stop")

    texts = []
    for name in MODES:

        def within(name=name):
            with MODES[name](T):
                fail()

        texts.append((tried(within), modes(T)))
    return texts


@program
def set_grad_enabled_as_a_function(T):
    seen = []
    T.set_grad_enabled(False)
    seen.append(modes(T))
    T.set_grad_enabled(True)
    seen.append(modes(T))
    context = T.set_grad_enabled(False)
    seen.append(modes(T))
    with context:
        seen.append(modes(T))
    seen.append(modes(T))
    return seen, repr(context), tried(T.set_grad_enabled, 1), tried(T.set_grad_enabled, None), tried(T.set_grad_enabled)


@program
def contexts_can_be_used_again(T):
    context, seen = T.no_grad(), []
    for _ in range(2):
        with context:
            seen.append(modes(T))
            with context:
                seen.append(modes(T))
            seen.append(modes(T))
        seen.append(modes(T))
    T.set_grad_enabled(True)  # nested in itself, it forgets what was before
    return seen


@program
def other_switches(T):
    seen = [T.autograd.is_multithreading_enabled()]
    with T.autograd.set_multithreading_enabled(False):
        seen.append(T.autograd.is_multithreading_enabled())
        with T.autograd.set_multithreading_enabled(True):
            seen.append(T.autograd.is_multithreading_enabled())
        seen.append(T.autograd.is_multithreading_enabled())
    return seen, T.autograd.is_multithreading_enabled()


@program
def multithreading_as_a_function(T):
    context = T.autograd.set_multithreading_enabled(False)
    seen = [T.autograd.is_multithreading_enabled()]
    with context:
        seen.append(T.autograd.is_multithreading_enabled())
    seen.append(T.autograd.is_multithreading_enabled())

    @T.autograd.set_multithreading_enabled(False)
    def function():
        return T.autograd.is_multithreading_enabled()

    return seen, function(), T.autograd.is_multithreading_enabled()


@program
def layout_policy(T):
    with T.autograd.grad_mode.enforce_grad_layout_policy(False):
        x = sample(T, 3)
        (x * x).sum().backward()
    return x.grad


@program
def view_replay(T):
    before = T.autograd.is_view_replay_enabled()
    with T.autograd._force_original_view_tracking(True) as context:
        inside = T.autograd.is_view_replay_enabled()
    return before, inside, T.autograd.is_view_replay_enabled(), context


@program
def modes_of_threads(T):
    seen = []

    def work():
        seen.append(modes(T))
        T.set_grad_enabled(False)
        seen.append(modes(T))

    with T.no_grad():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        seen.append(modes(T))
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return seen, modes(T)


@program
def each_thread_has_its_hooks(T):
    x, seen = sample(T, 3), []

    def work():
        x.exp()
        seen.append("exp")

    with T.autograd.graph.saved_tensors_hooks(lambda tensor: seen.append("pack") or tensor, lambda tensor: tensor):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        x.exp()
    return seen


# -------------------- inference mode --------------------


def inference_tensor(T):
    with T.inference_mode():
        return T.ones(2, 3)


OUTSIDE = {
    "mul": lambda T, c, x: c * 2,
    "mul with a leaf": lambda T, c, x: c * x,
    "add to a leaf": lambda T, c, x: c + x,
    "view": lambda T, c, x: c.view(-1),
    "index": lambda T, c, x: c[0],
    "add_": lambda T, c, x: c.add_(1),
    "add_ of a view": lambda T, c, x: c.view(-1).add_(1),
    "mul_ by a leaf": lambda T, c, x: c.mul_(x),
    "detach": lambda T, c, x: c.detach(),
    "detach_": lambda T, c, x: c.detach_(),
    "data": lambda T, c, x: c.data,
    "clone": lambda T, c, x: c.clone(),
    "requires_grad_": lambda T, c, x: c.requires_grad_(),
    "requires_grad_ of a view": lambda T, c, x: c.view(-1).requires_grad_(),
    "requires_grad": lambda T, c, x: setattr(c, "requires_grad", True),
    "requires_grad off": lambda T, c, x: c.requires_grad_(False),
    "version": lambda T, c, x: c._version,
    "out": lambda T, c, x: T.mul(c, 2, out=c),
    "out from outside": lambda T, c, x: T.mul(c, 2, out=T.empty(2, 3)),
    "setitem": lambda T, c, x: c.__setitem__(0, 5.0),
    "copy_ from": lambda T, c, x: T.zeros(2, 3).copy_(c),
    "copy_ to": lambda T, c, x: c.copy_(T.zeros(2, 3)),
    "copy_ to a leaf's result": lambda T, c, x: (x * 1).copy_(c),
    "backward with it": lambda T, c, x: (x * 2).backward(c),
    "register_hook": lambda T, c, x: c.register_hook(print),
    "grad": lambda T, c, x: c.grad,
    "assign as grad": lambda T, c, x: setattr(x, "grad", c),
    "assign grad": lambda T, c, x: setattr(c, "grad", T.ones(2, 3)),
    "deepcopy": lambda T, c, x: __import__("copy").deepcopy(c),
    "linear": lambda T, c, x: T.nn.functional.linear(c, x),
    "stack": lambda T, c, x: T.stack([c, x]),
    "parameter": lambda T, c, x: T.nn.Parameter(c),
    "resize_": lambda T, c, x: c.resize_(6),
    "unbind": lambda T, c, x: c.unbind()[1],
    "is_inference": lambda T, c, x: T.is_inference(c),
    "numpy": lambda T, c, x: T.from_numpy(c.numpy()),
    "to": lambda T, c, x: c.to(T.float64),
    "to itself": lambda T, c, x: c.to(T.float32),
    "contiguous": lambda T, c, x: c.contiguous(),
    "relu_": lambda T, c, x: c.relu_(),
    "t_": lambda T, c, x: c.t_(),
    "where": lambda T, c, x: T.where(c > 0, c, x),
    "set_": lambda T, c, x: c.set_(T.zeros(2, 3)),
    "set data": lambda T, c, x: setattr(c, "data", T.zeros(2, 3)),
    "set data of a leaf": lambda T, c, x: setattr(x, "data", c),
}


def described(T, value):
    if isinstance(value, T.Tensor):
        return value, value.is_inference(), value._is_view(), value.is_leaf, value.grad_fn
    return value


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("name", OUTSIDE)
def test_an_inference_tensor_outside(name, grad):
    def run(T):
        c, x = inference_tensor(T), sample(T, 2, 3)
        with T.set_grad_enabled(grad):
            return described(T, tried(OUTSIDE[name], T, c, x))

    assert_same(run)


INSIDE = {
    "mul": lambda T, x: x * 2,
    "view": lambda T, x: x.view(-1),
    "index": lambda T, x: x[0],
    "detach": lambda T, x: x.detach(),
    "add_": lambda T, x: x.add_(1),
    "add_ of a view": lambda T, x: x.view(-1).add_(1),
    "requires_grad_": lambda T, x: x.requires_grad_(),
    "clone": lambda T, x: x.clone(),
    "data": lambda T, x: x.data,
    "unbind": lambda T, x: x.unbind()[0],
    "backward": lambda T, x: x.sum().backward(),
    "exp": lambda T, x: x.exp(),
    "empty_like": lambda T, x: T.empty_like(x).zero_(),
    "zero_": lambda T, x: x.zero_(),
    "out": lambda T, x: T.mul(T.ones(2, 3), 2, out=x),
    "enable_grad": lambda T, x: T.enable_grad()(lambda: x * 2)(),
    "inference off": lambda T, x: T.inference_mode(False)(lambda: x * 2)(),
    "contiguous": lambda T, x: x.contiguous(),
    "to itself": lambda T, x: x.to(T.float32),
    "version": lambda T, x: (x.add_(1), x._version)[1],
    "register_hook": lambda T, x: tried(lambda: x.register_hook(print).remove()),
    "function": lambda T, x: double(T).apply(x),
    "retain_grad": lambda T, x: x.retain_grad(),
    "parameter": lambda T, x: T.nn.Parameter(x),
    "new parameter": lambda T, x: T.nn.Parameter(T.ones(2)),
    "from_numpy": lambda T, x: T.from_numpy(x.detach().numpy()),
    "tensor": lambda T, x: T.tensor([1.0, 2.0]),
    "requires_grad=True": lambda T, x: T.ones(2, requires_grad=True),
    "product of two such": lambda T, x: T.ones(2, requires_grad=True) * 2,
}


def double(T):
    class Double(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    return Double


KINDS = {
    "leaf": lambda T: sample(T, 2, 3),
    "constant": lambda T: sample(T, 2, 3, requires_grad=False),
    "result": lambda T: sample(T, 2, 3) * 1,
    "view": lambda T: (sample(T, 2, 3) * 1)[:],
}


# Of a view, torch 2.13 ends these in an internal assert.
ASSERTS = {"add_", "zero_", "out"}


@pytest.mark.parametrize("name, kind", [(a, b) for a in INSIDE for b in KINDS if not (a in ASSERTS and b == "view")])
def test_a_tensor_from_outside(name, kind):
    def run(T):
        x = KINDS[kind](T)
        with T.inference_mode():
            value = described(T, tried(INSIDE[name], T, x))
        return value, described(T, x), x._version

    assert_same(run)


@program
def views_made_inside_are_written_outside(T):
    x, texts = sample(T, 2, 3), []
    y = x * 1
    with T.inference_mode():
        v = y[0]
        w = v.view(-1)
    for tensor in (v, w, y):
        texts.append(tried(lambda tensor=tensor: tensor.add_(1).grad_fn))
    return texts, tried(lambda: v.grad_fn), v.requires_grad


@program
def views_made_outside_are_written_inside(T):
    x = sample(T, 2, 3)
    y = x * 1
    v = y[0]
    with T.inference_mode():
        v.mul_(2)
        inside = v.requires_grad, v._version
    (y * y).sum().backward()
    return inside, x.grad, v.grad_fn, y._version


# -------------------- anomaly mode --------------------


@program
def anomaly_switches(T):
    seen = []

    def now():
        seen.append((T.is_anomaly_enabled(), T.is_anomaly_check_nan_enabled()))

    now()
    with T.autograd.detect_anomaly():
        now()
        with T.autograd.set_detect_anomaly(False):
            now()
        now()
        with T.autograd.detect_anomaly(check_nan=False):
            now()
        now()
    now()
    T.autograd.set_detect_anomaly(True, check_nan=False)
    now()
    T.autograd.set_detect_anomaly(False)
    now()
    return seen


NANS = {
    "sqrt": lambda T, x: x.sqrt().sum() * 0,
    "div": lambda T, x: (x / x).sum(),
    "log": lambda T, x: (x.log() * 0).sum(),
    "norm": lambda T, x: (x * float("nan")).sum(),
    "pow": lambda T, x: (x**0.5 * 0).sum(),
    "second output": lambda T, x: (T.ones(3) / x * x).sum() * 0,
    "a function": lambda T, x: nan_function(T).apply(x).sum(),
}


def nan_function(T):
    class Nan(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * float("nan")

    return Nan


def without_traces(recorded):
    return [str(each.message).partition("Traceback")[0].partition(" (Triggered")[0] for each in recorded]


@pytest.mark.parametrize("check_nan", [True, False])
@pytest.mark.parametrize("name", NANS)
def test_nan(name, check_nan):
    def run(T):
        x = T.zeros(3, requires_grad=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with T.autograd.detect_anomaly(check_nan=check_nan):
                text = tried(NANS[name](T, x).backward)
        return text, without_traces(caught), T.is_anomaly_enabled()

    assert_same(run)


@program
def forward_outside_of_anomaly_mode(T):
    x = T.zeros(3, requires_grad=True)
    y = (x.sqrt() * 0).sum()
    with T.autograd.detect_anomaly():
        return tried(y.backward)


def failing(T):
    class Fail(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            raise ValueError("no gradient")

    return Fail


@pytest.mark.parametrize("order", [1, 2])
def test_what_a_trace_shows(order):
    """The trace names the line of the forward call; of a second derivative also that of the first backward pass."""

    def run(T):
        x = T.zeros(3, requires_grad=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with T.autograd.detect_anomaly():
                y = x.sqrt().sum() if order == 2 else failing(T).apply(x).sum()
                if order == 2:
                    (y,) = T.autograd.grad(y, x, create_graph=True)
                text = tried(lambda: (y * 0).sum().backward())
        message = "\n".join(str(each.message) for each in caught)
        lines = [line.strip() for line in message.splitlines()]
        own = [line for line in lines if "test_autograd_modes" in line and "in run" in line]
        heads = [line for line in lines if line.startswith(("Error detected", "Previous calculation", "Traceback"))]
        return text, len(own), [re.sub(r" \(Triggered.*", "", head) for head in heads]

    assert_same(run)


@program
def metadata_in_anomaly_mode(T):
    x = sample(T, 3)
    with T.autograd.set_detect_anomaly(True):
        y = x.exp()
        z = y.sin()
    return (
        sorted(y.grad_fn.metadata),
        sorted(z.grad_fn.metadata),
        type(y.grad_fn.metadata["traceback_"]).__name__,
        sorted((x * 2).grad_fn.metadata),
    )


@program
def parents_in_anomaly_mode(T):
    x = sample(T, 3)
    with T.autograd.set_detect_anomaly(True):
        y = x.exp().sum()
        (grad,) = T.autograd.grad(y, x, create_graph=True)
    return sorted(grad.grad_fn.metadata), grad.grad_fn.metadata.get("parent_")


@program
def anomaly_switch(T):
    states = []
    for mode in ((True,), (True, False), (False,)):
        T.set_anomaly_enabled(*mode)
        states.append((T.is_anomaly_enabled(), T.is_anomaly_check_nan_enabled()))
    return states
