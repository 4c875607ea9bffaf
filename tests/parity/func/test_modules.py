"""Modules as functions of their parameters: `functional_call`, `stack_module_state` and their kin do as in PyTorch."""

from tests.parity.support.programs import programs, sample

program, test_program = programs()


def tried(function, *args, **kwargs):
    """What a call returns, or its error."""
    try:
        return function(*args, **kwargs)
    except (RuntimeError, ValueError, TypeError, KeyError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"


def filled(T, module):
    """The module with numbers that are the same in both libraries."""
    with T.no_grad():
        for seed, parameter in enumerate(module.parameters()):
            parameter.copy_(sample(T, *parameter.shape, requires_grad=False, seed=seed))
    return module


def network(T):
    return filled(T, T.nn.Sequential(T.nn.Linear(3, 4), T.nn.Tanh(), T.nn.Linear(4, 2)))


def doubled(module):
    return {name: parameter.detach() * 2 for name, parameter in module.named_parameters()}


def inputs(T, *shape):
    return sample(T, *(shape or (5, 3)), requires_grad=False, seed=9)


class Tied:
    """Makes a module with one parameter under two names, and a buffer that it writes."""

    def __new__(cls, T):
        class Module(T.nn.Module):
            def __init__(self):
                super().__init__()
                self.first = T.nn.Parameter(T.ones(3))
                self.second = self.first
                self.register_buffer("count", T.zeros(3))
                self.scale = 2.0

            def forward(self, x, shift=0.0):
                self.count = self.count + 1
                return self.first * x + self.second + shift + self.count

        return Module()


@program
def other_parameters(T):
    module = network(T)
    x = inputs(T)
    before = module(x)
    found = T.func.functional_call(module, doubled(module), (x,))
    return before, found, module(x), T.func.functional_call(module, doubled(module), x)


@program
def some_parameters(T):
    module = network(T)
    return T.func.functional_call(module, {"0.bias": T.zeros(4)}, inputs(T)), module[0].bias


@program
def several_dictionaries(T):
    module = Tied(T)
    parameters, buffers = {"first": T.full((3,), 2.0)}, {"count": T.full((3,), 10.0)}
    found = T.func.functional_call(module, (parameters, buffers), T.ones(3))
    return found, buffers["count"], module.count, T.func.functional_call(module, [parameters, buffers], T.ones(3))


@program
def arguments_of_the_module(T):
    module = Tied(T)
    values = {"first": T.full((3,), 2.0)}
    return [
        T.func.functional_call(module, values, (T.ones(3), 5.0)),
        T.func.functional_call(module, values, (T.ones(3),), {"shift": 3.0}),
        T.func.functional_call(module, values, None, {"x": T.ones(3)}),
        tried(T.func.functional_call, module, values).split("(")[0],
    ]


@program
def tied_weights(T):
    module = Tied(T)
    other = T.full((3,), 3.0)
    both = {"first": other, "second": T.zeros(3)}
    return [
        T.func.functional_call(module, {"first": other}, T.ones(3)),
        T.func.functional_call(module, {"second": other}, T.ones(3)),
        T.func.functional_call(module, {"first": other}, T.ones(3), tie_weights=False),
        T.func.functional_call(module, {"first": other, "second": other}, T.ones(3)),
        tried(T.func.functional_call, module, both, T.ones(3)),
        T.func.functional_call(module, both, T.ones(3), tie_weights=False),
        module.first is module.second,
    ]


@program
def strict(T):
    module = network(T)
    complete = doubled(module)
    missing = {name: complete[name] for name in ("0.weight", "0.bias")}
    return [
        T.func.functional_call(module, complete, inputs(T), strict=True),
        tried(T.func.functional_call, module, missing, inputs(T), strict=True),
        tried(T.func.functional_call, module, complete | {"more": T.ones(1)}, inputs(T), strict=True),
        tried(T.func.functional_call, module, missing | {"more": T.ones(1)}, inputs(T), strict=True),
        T.func.functional_call(Tied(T), {"first": T.ones(3), "count": T.ones(3)}, T.ones(3), strict=True),
    ]


@program
def names_that_do_not_fit(T):
    module, x = network(T), inputs(T)
    tied = Tied(T)
    return [
        tried(T.func.functional_call, module, {name: value}, x)
        for name, value in (
            ("nothing", T.ones(1)), ("0.nothing", T.ones(1)), ("7.weight", T.ones(1)), ("0.weight.more", T.ones(1)),
            ("0.weight", 3), ("0.weight", None), ("0.in_features", T.ones(1)), ("", T.ones(1)),
        )
    ] + [tried(T.func.functional_call, tied, {"scale": T.ones(1)}, T.ones(3)), module(x)]  # fmt: skip


@program
def dictionaries_that_do_not_fit(T):
    module, x = network(T), inputs(T)
    bias = {"0.bias": T.zeros(4)}
    return [tried(T.func.functional_call, module, each, x) for each in ((bias, bias), (bias, 3), 3, None, "text")]


@program
def a_failing_call_restores_the_module(T):
    module = network(T)
    bias = module[0].bias
    message = tried(T.func.functional_call, module, doubled(module), T.ones(5, 7))
    return message, module[0].bias is bias, sorted(module.state_dict())


@program
def gradients_with_respect_to_parameters(T):
    module, x = network(T), inputs(T)
    parameters = dict(module.named_parameters())

    def loss(parameters, x):
        return T.func.functional_call(module, parameters, (x,)).pow(2).sum()

    detached = {name: parameter.detach() for name, parameter in parameters.items()}
    return [
        {name: grad.contiguous() for name, grad in T.func.grad(loss)(detached, x).items()},
        {name: grad.requires_grad for name, grad in T.func.grad(loss)(parameters, x).items()},
        T.func.jvp(lambda p: loss(p, x), (detached,), (doubled(module),)),
        {name: grad.contiguous() for name, grad in _by_sample(T, loss, detached, x).items()},
        module[0].weight.grad,
    ]


def _by_sample(T, loss, parameters, x):
    return T.func.vmap(T.func.grad(loss), in_dims=(None, 0))(parameters, x)


@program
def the_old_name(T):
    module = network(T)
    return T.nn.utils.stateless.functional_call(module, doubled(module), inputs(T))


@program
def stacked_modules(T):
    models = [network(T) for _ in range(3)]
    parameters, buffers = T.func.stack_module_state(models)
    return parameters, buffers, [parameter.is_leaf for parameter in parameters.values()]


@program
def stacked_modules_with_buffers(T):
    models = [T.nn.BatchNorm1d(2) for _ in range(2)]
    return T.func.stack_module_state(models)


@program
def an_ensemble(T):
    models = [network(T) for _ in range(3)]
    for model in models[1:]:
        with T.no_grad():
            model[0].weight.mul_(2)
    parameters, buffers = T.func.stack_module_state(models)

    def predict(parameters, buffers, x):
        return T.func.functional_call(models[0], (parameters, buffers), (x,))

    together = T.func.vmap(predict, in_dims=(0, 0, None))(parameters, buffers, inputs(T))
    together.sum().backward()
    return together.detach().contiguous(), parameters["0.weight"].grad, models[0][0].weight.grad


@program
def modules_that_cannot_be_stacked(T):
    frozen = network(T)
    frozen[0].weight.requires_grad_(False)
    return [
        tried(T.func.stack_module_state, each)
        for each in (
            [],
            [network(T), network(T).eval()],
            [T.nn.Linear(2, 2), T.nn.Tanh()],
            [network(T), frozen],
            [T.nn.Linear(2, 2), T.nn.Linear(2, 3)],
        )
    ]


@program
def batch_norm_without_statistics(T):
    module = T.nn.Sequential(T.nn.BatchNorm1d(3), T.nn.Linear(3, 2), T.nn.Sequential(T.nn.BatchNorm1d(2)))
    x = inputs(T)
    refused = tried(T.func.grad(lambda x: module(x).sum()), x)
    same = T.func.replace_all_batch_norm_modules_(module) is module
    facts = [(each.running_mean, each.track_running_stats) for each in (module[0], module[2][0])]
    return refused, same, facts, sorted(name for name, _ in module.named_buffers())
