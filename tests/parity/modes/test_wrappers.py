"""Wrapper subclasses, whose tensors hold others, in whole programs: layers, transforms, hooks, checkpoints."""

import importlib

import pytest

from tests.parity.support.programs import assert_same, programs, sample

program, test_program = programs()


def utils(T, name):
    return importlib.import_module(f"{T.__name__}.utils.{name}")


def wrapper(T, log=None):
    """A class of tensors that hold one other tensor and hand every op on to it."""
    tree_map = utils(T, "_pytree").tree_map

    class Wrapper(T.Tensor):
        @staticmethod
        def __new__(cls, held):
            facts = {"strides": held.stride(), "dtype": held.dtype, "requires_grad": held.requires_grad}
            return T.Tensor._make_wrapper_subclass(cls, held.size(), **facts)

        def __init__(self, held):
            self.held = held

        def __repr__(self):
            return f"Wrapper({self.held})"

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            if log is not None:
                log.append(str(func))
            args, kwargs = tree_map(held_by, (args, kwargs or {}))
            return tree_map(lambda value: cls(value) if isinstance(value, T.Tensor) else value, func(*args, **kwargs))

    def held_by(value):
        return value.held if isinstance(value, Wrapper) else value

    return Wrapper


def seen(value):
    return type(value).__name__, value.held


MODELS = {
    "mlp": (lambda nn: [nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)], (5, 3)),
    "convolution": (lambda nn: [nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(18, 2)], (2, 1, 5, 5)),
    "batch norm": (lambda nn: [nn.Linear(3, 4), nn.BatchNorm1d(4), nn.GELU()], (5, 3)),
    "layer norm": (lambda nn: [nn.Linear(3, 4), nn.LayerNorm(4), nn.Softmax(1)], (5, 3)),
}


def model(T, name):
    layers, shape = MODELS[name]
    result = T.nn.Sequential(*layers(T.nn))
    with T.no_grad():
        for seed, parameter in enumerate(result.parameters()):
            parameter.copy_(sample(T, *parameter.shape, requires_grad=False, seed=seed) * 0.3)
    return result, sample(T, *shape, requires_grad=False)


@pytest.mark.parametrize("name", MODELS)
def test_wrapped_inputs(name):
    def run(T):
        log = []
        net, x = model(T, name)
        x = wrapper(T, log)(x.requires_grad_())
        y = net(x)
        forward = list(log)
        y.pow(2).sum().backward()
        return forward, seen(y), type(x.grad).__name__, [seen(each.grad) for each in net.parameters()]

    assert_same(run)


@pytest.mark.parametrize("name", MODELS)
def test_wrapped_parameters_are_trained(name):
    def run(T):
        net, x = model(T, name)
        cls = wrapper(T)
        for module in net.modules():
            for key, parameter in list(module.named_parameters(recurse=False)):
                setattr(module, key, T.nn.Parameter(cls(parameter.detach())))
        optimizer = T.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        for _ in range(2):
            optimizer.zero_grad()
            net(x).pow(2).sum().backward()
            optimizer.step()
        return [(seen(each), isinstance(each, T.nn.Parameter)) for each in net.parameters()]

    assert_same(run)


def cube(x):
    return (x**3).sum()


TRANSFORMS = {
    "grad": lambda T, x: T.func.grad(lambda x: (x * x.exp()).sum())(x),
    "vjp": lambda T, x: T.func.vjp(lambda x: x**3, x)[1](x)[0],
    "jvp": lambda T, x: T.func.jvp(lambda x: x * x.exp(), (x,), (x,))[1],
    "hessian": lambda T, x: T.func.hessian(cube)(x),
    "functional.hessian": lambda T, x: T.autograd.functional.hessian(cube, x),
    "vmap": lambda T, x: T.vmap(lambda x: x.sin())(x),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_keep_the_class(name):
    assert_same(lambda T: type(TRANSFORMS[name](T, wrapper(T)(sample(T, 3, requires_grad=False)))).__name__)


@program
def saved_tensor_hooks_see_the_class(T):
    packed = []

    def pack(tensor):
        packed.append(type(tensor).__name__)
        return tensor

    with T.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        x = wrapper(T)(T.ones(2)).requires_grad_()
        y = (x * x).exp().sum()
    y.backward()
    return packed, seen(x.grad)


@program
def a_checkpoint_of_wrappers(T):
    x = wrapper(T)(T.ones(2)).requires_grad_()
    utils(T, "checkpoint").checkpoint(lambda x: x.sin().exp(), x, use_reentrant=False).sum().backward()
    return seen(x.grad)


@program
def several_outputs(T):
    x = wrapper(T)(sample(T, 4, requires_grad=False)).requires_grad_()
    values, order = x.sort()
    (values * T.arange(4.0)).sum().backward()
    return type(order).__name__, seen(x.grad)


# -------------------- parameters of a class of their own --------------------


@program
def parameters_keep_their_class(T):
    class Own(T.Tensor):
        pass

    parameter = T.nn.Parameter(T.ones(2, 2).as_subclass(Own))
    buffer = T.nn.Buffer(T.ones(2).as_subclass(Own))
    layer = T.nn.Linear(2, 2)
    layer.weight, layer.extra = parameter, buffer
    layer(T.ones(1, 2)).sum().backward()
    return (
        [type(each).__name__ for each in (parameter, buffer, layer.weight.grad)],
        [isinstance(each, kind) for each in (parameter, buffer) for kind in (T.nn.Parameter, T.nn.Buffer, Own)],
        [name for name, _ in layer.named_parameters()],
        list(layer.state_dict()),
        (repr(parameter), repr(buffer), buffer.requires_grad, T.nn.Parameter(buffer, False).requires_grad),
    )


@program
def a_class_that_detach_leaves(T):
    class Own(T.nn.Parameter):
        pass

    return type(Own(T.ones(2))).__name__, type(T.nn.Parameter(T.nn.Parameter(T.ones(2)))).__name__


# -------------------- under dispatch modes --------------------


def mode(T, log, handle=None):
    class Mode(utils(T, "_python_dispatch").TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log.append(str(func))
            if handle is not None:
                handle()
            return func(*args, **(kwargs or {}))

    return Mode()


@program
def handlers_see_grad_mode(T):
    found, x = [], T.ones(2, requires_grad=True)

    def handle():
        found.append(T.is_grad_enabled())
        with T.enable_grad():
            found.append((T.is_grad_enabled(), (x * 2).requires_grad))
        with T.no_grad():
            found.append(T.is_grad_enabled())
        with T.inference_mode():
            found.append((T.is_grad_enabled(), T.is_inference_mode_enabled()))
        found.append(T.is_grad_enabled())

    with mode(T, [], handle):
        y = (x * 3).sum()
        y.backward()
        with T.no_grad():
            x * 4
    return found, x.grad, T.is_grad_enabled()


GRADIENTS = {
    "expanded": lambda T, x: x.sum(),
    "a slice": lambda T, x: T.cat([x, x]).sum(),
    "reshaped": lambda T, x: x.t().reshape(-1).sum(),
    "a row": lambda T, x: T.stack([x, x]).sum(),
    "of a linear layer": lambda T, x: T.nn.functional.linear(T.ones(5, 3), x).sum(),
    "summed": lambda T, x: x.expand(4, 2, 3).sum(0).sum(),
    "new": lambda T, x: (x * x).sum(),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_under_a_mode_can_be_written(name):
    """A first gradient that would be a view or expanded is copied, so that clipping in place works."""

    def run(T):
        x = sample(T, 2, 3)
        with mode(T, []):
            GRADIENTS[name](T, x).backward()
            x.grad.mul_(2)
        return x.grad

    assert_same(run)


@program
def the_copy_is_seen(T):
    log, x = [], sample(T, 2, 3)
    with mode(T, log):
        x.sum().backward()
    return log
