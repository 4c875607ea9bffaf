"""Hooks of modules behave as in PyTorch: forward, backward, global ones, and those of state_dict."""

import warnings

import pytest

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same, programs, sample

program, test_program = programs()


def layer(T):
    linear = T.nn.Linear(3, 2)
    with T.no_grad():
        linear.weight.copy_(T.arange(6.0).reshape(2, 3) / 6)
        linear.bias.fill_(0.5)
    return linear


def noted(seen, name, result=None):
    def hook(*args):
        seen.append((name, *(arg for arg in args[1:])))
        return result(*args) if result else None

    return hook


# -------------------- forward --------------------


@program
def forward_hooks(T):
    module, seen = layer(T), []
    module.register_forward_pre_hook(noted(seen, "pre"))
    module.register_forward_hook(noted(seen, "post"))
    module.register_forward_pre_hook(noted(seen, "first"), prepend=True)
    module.register_forward_hook(noted(seen, "before post"), prepend=True)
    return module(sample(T, 2, 3)), seen


@program
def forward_hooks_replace(T):
    module = layer(T)
    module.register_forward_pre_hook(lambda module, args: args[0] * 2)
    module.register_forward_hook(lambda module, args, output: output * 3)
    module.register_forward_hook(lambda module, args, output: (output, args[0]))
    return module(sample(T, 2, 3))


@program
def forward_hooks_with_keywords(T):
    class Scale(T.nn.Module):
        def forward(self, x, scale=1):
            return x * scale

    module, seen = Scale(), []
    module.register_forward_pre_hook(noted(seen, "pre"), with_kwargs=True)
    module.register_forward_pre_hook(lambda module, args, kwargs: (args, {"scale": 5}), with_kwargs=True)
    module.register_forward_hook(noted(seen, "post"), with_kwargs=True)
    module.register_forward_hook(noted(seen, "plain"))
    first = module(sample(T, 3), scale=2)
    module.register_forward_pre_hook(lambda module, args, kwargs: 3, with_kwargs=True)
    return first, seen, tried(module, sample(T, 3))


@program
def forward_hooks_always_called(T):
    class Fail(T.nn.Module):
        def forward(self, x):
            raise ValueError("stop")

    module, seen = Fail(), []
    module.register_forward_hook(noted(seen, "always"), always_call=True)
    module.register_forward_hook(noted(seen, "not"))
    return tried(module, sample(T, 3)), seen


@program
def hooks_that_fail_and_always_called_ones(T):
    module, seen = layer(T), []

    def fail(*args):
        raise ValueError("stop")

    module.register_forward_hook(noted(seen, "first"), always_call=True)
    module.register_forward_hook(fail)
    module.register_forward_hook(noted(seen, "last"), always_call=True)
    return tried(module, sample(T, 2, 3)), [name for name, *_ in seen]


@program
def removed_forward_hooks(T):
    module, seen = layer(T), []
    handles = [
        module.register_forward_pre_hook(noted(seen, "pre")),
        module.register_forward_hook(noted(seen, "post"), always_call=True, with_kwargs=True),
        module.register_full_backward_hook(noted(seen, "back")),
        module.register_full_backward_pre_hook(noted(seen, "back pre")),
    ]
    for handle in handles:
        handle.remove()
    module(sample(T, 2, 3)).sum().backward()
    return seen


@program
def hooks_of_children(T):
    model, seen = T.nn.Sequential(layer(T), T.nn.ReLU()), []
    for name, module in model.named_modules():
        module.register_forward_hook(noted(seen, name or "all"))
        module.register_full_backward_hook(noted(seen, "back " + (name or "all")))
    model(sample(T, 2, 3)).sum().backward()
    return [name for name, *_ in seen]


# -------------------- backward --------------------


@program
def backward_hooks(T):
    module, seen, x = layer(T), [], sample(T, 2, 3)
    module.register_full_backward_pre_hook(noted(seen, "pre"))
    module.register_full_backward_hook(noted(seen, "post"))
    module.register_full_backward_hook(noted(seen, "first"), prepend=True)
    module.register_full_backward_pre_hook(noted(seen, "first pre"), prepend=True)
    module(x).sum().backward()
    return seen, x.grad, module.weight.grad


@program
def backward_hooks_replace(T):
    module, x = layer(T), sample(T, 2, 3)
    module.register_full_backward_pre_hook(lambda module, grads: (grads[0] * 2,))
    module.register_full_backward_hook(lambda module, inputs, outputs: (inputs[0] * 3,))
    module(x).sum().backward()
    return x.grad, module.weight.grad, module.bias.grad


@program
def backward_hooks_without_input_gradient(T):
    module, seen = layer(T), []
    module.register_full_backward_hook(noted(seen, "post"))
    module(sample(T, 2, 3, requires_grad=False)).sum().backward()
    return seen, module.weight.grad


@program
def backward_hooks_that_replace_nothing(T):
    module = layer(T)
    module.register_full_backward_hook(lambda module, inputs, outputs: (T.ones(2, 3),))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tried(module(sample(T, 2, 3, requires_grad=False)).sum().backward)


@program
def backward_hooks_of_several_values(T):
    class Pair(T.nn.Module):
        def forward(self, x, n, y):
            return x * y, n, x + y

    module, seen = Pair(), []
    module.register_full_backward_pre_hook(noted(seen, "pre"))
    module.register_full_backward_hook(noted(seen, "post"))
    x, y = sample(T, 3), sample(T, 3, seed=1)
    first, _, second = module(x, 3, y.detach())
    first.sum().backward()
    return seen, x.grad


BACKWARD_RESULTS = {
    "too many": lambda T, module, inputs, outputs: (inputs[0], inputs[0]),
    "a tensor": lambda T, module, inputs, outputs: inputs[0] * 2,
    "a list": lambda T, module, inputs, outputs: [inputs[0]],
    "None in a tuple": lambda T, module, inputs, outputs: (None,),
    "another shape": lambda T, module, inputs, outputs: (inputs[0].sum(),),
    "number": lambda T, module, inputs, outputs: 3,
}


@pytest.mark.parametrize("name", BACKWARD_RESULTS)
def test_what_backward_hooks_may_return(name):
    def run(T):
        module, x = layer(T), sample(T, 2, 3)
        module.register_full_backward_hook(lambda *args: BACKWARD_RESULTS[name](T, *args))
        return tried(module(x).sum().backward), x.grad

    assert_same(run)


@pytest.mark.parametrize("name", BACKWARD_RESULTS)
def test_what_backward_pre_hooks_may_return(name):
    def run(T):
        module, x = layer(T), sample(T, 2, 3)
        module.register_full_backward_pre_hook(lambda module, grads: BACKWARD_RESULTS[name](T, module, grads, None))
        return tried(module(x).sum().backward), x.grad

    assert_same(run)


@program
def backward_hooks_and_in_place_ops(T):
    module, x = layer(T), sample(T, 2, 3)
    module.register_full_backward_hook(lambda *args: None)
    y = module(x)
    return tried(lambda: y.mul_(2)), tried(lambda: T.nn.functional.relu(y, inplace=True))


@program
def backward_hooks_that_fail(T):
    module, x = layer(T), sample(T, 2, 3)

    def fail(*args):
        raise ValueError("stop")

    handle = module.register_full_backward_hook(fail)
    text = tried(module(x).sum().backward)
    handle.remove()
    module(x).sum().backward()
    return text, x.grad


@program
def backward_hooks_in_a_recorded_pass(T):
    module, seen, x = T.nn.Sequential(layer(T), T.nn.Tanh()), [], sample(T, 2, 3)
    module.register_full_backward_hook(noted(seen, "post"))
    (grad,) = T.autograd.grad(module(x).sum(), x, create_graph=True)
    return grad, T.autograd.grad(grad.sum(), x), len(seen)


# -------------------- global hooks --------------------

GLOBAL = {
    "forward_pre": lambda register, seen: register(noted(seen, "global")),
    "forward": lambda register, seen: register(noted(seen, "global")),
    "full_backward": lambda register, seen: register(noted(seen, "global")),
    "full_backward_pre": lambda register, seen: register(noted(seen, "global")),
}


@pytest.mark.parametrize("kind", GLOBAL)
def test_global_hooks(kind):
    def run(T):
        module, seen, x = layer(T), [], sample(T, 2, 3)
        register = getattr(T.nn.modules.module, f"register_module_{kind}_hook")
        getattr(module, f"register_{kind}_hook")(noted(seen, "own"))
        handle = GLOBAL[kind](register, seen)
        try:
            module(x).sum().backward()
        finally:
            handle.remove()
        module(x).sum().backward()
        return seen, x.grad

    assert_same(run)


@program
def global_forward_hooks_replace(T):
    module, x = layer(T), sample(T, 2, 3)
    register = T.nn.modules.module
    handles = [
        register.register_module_forward_pre_hook(lambda module, args: (args[0] * 2,)),
        register.register_module_forward_hook(lambda module, args, output: output * 3),
    ]
    try:
        return module(x)
    finally:
        for handle in handles:
            handle.remove()


@program
def global_forward_hook_options(T):
    class Fail(T.nn.Module):
        def forward(self, x, scale=1):
            if scale == 2:
                raise ValueError("stop")
            return x

    seen, register = [], T.nn.modules.module.register_module_forward_hook
    handle = register(lambda module, args, output: seen.append(output), always_call=True)
    other = register(lambda module, args, kwargs, output: seen.append(kwargs), with_kwargs=True)
    try:
        return tried(Fail(), sample(T, 3), scale=2), Fail()(sample(T, 3), scale=1), seen
    finally:
        handle.remove()
        other.remove()


@program
def registration_hooks(T):
    module, seen = T.nn.modules.module, []
    handles = [
        module.register_module_parameter_registration_hook(lambda owner, name, value: seen.append(("parameter", name))),
        module.register_module_buffer_registration_hook(lambda owner, name, value: seen.append(("buffer", name))),
        module.register_module_module_registration_hook(lambda owner, name, value: seen.append(("module", name))),
    ]
    try:
        T.nn.Sequential(T.nn.Linear(2, 2), T.nn.BatchNorm1d(2))
    finally:
        for handle in handles:
            handle.remove()
    T.nn.Linear(2, 2)
    return seen


# -------------------- hooks on the node of the output --------------------


FORWARDS = {
    "one": lambda x: x.tanh(),
    "two nodes": lambda x: x.tanh().exp(),
    "a tuple": lambda x: (x * 2, x * 3),
    "one node for two": lambda x: x.view(2, 2).unbind(0),
    "a dict": lambda x: {"n": 1, "a": x * 2},
    "a list": lambda x: [x * 2, x.exp()],
    "the input": lambda x: x,
}


@pytest.mark.parametrize("is_leaf", [True, False])
@pytest.mark.parametrize("name", FORWARDS)
def test_backward_hooks_that_are_not_full(name, is_leaf):
    def run(T):
        module, seen = T.nn.Module(), []
        module.forward = FORWARDS[name]
        module.register_backward_hook(noted(seen, "hook"))
        x = sample(T, 4)
        y = module(x if is_leaf else x * 2)
        leaves = [y["a"]] if isinstance(y, dict) else [y] if isinstance(y, T.Tensor) else y
        sum(each.sum() for each in leaves).backward()
        return seen, x.grad

    assert_same(run)


@program
def a_hook_that_is_not_full_replaces_gradients(T):
    module, x = T.nn.Tanh(), sample(T, 3)
    module.register_backward_hook(lambda module, grads, outputs: (grads[0] * 10,))
    module(x).sum().backward()
    with T.no_grad():
        return x.grad, module(x)


@program
def both_kinds_of_hooks_on_one_module(T):
    texts = []
    for first, second in (("", "full_"), ("full_", "")):
        module = layer(T)
        getattr(module, f"register_{first}backward_hook")(lambda *args: None)
        texts.append(tried(getattr(module, f"register_{second}backward_hook"), lambda *args: None))
    return texts


# -------------------- state_dict --------------------


@program
def state_dict_hooks(T):
    module, seen = layer(T), []
    module.register_state_dict_pre_hook(lambda module, prefix, keep_vars: seen.append(("pre", prefix, keep_vars)))
    module.register_state_dict_post_hook(lambda module, state, prefix, meta: seen.append(("post", sorted(state))))
    return sorted(module.state_dict()), seen


@program
def load_state_dict_hooks(T):
    module, seen = layer(T), []
    module.register_load_state_dict_pre_hook(
        lambda module, state, prefix, meta, strict, missing, unexpected, errors: seen.append(("pre", sorted(state)))
    )
    module.register_load_state_dict_post_hook(
        lambda module, keys: seen.append((keys.missing_keys[:], keys.unexpected_keys[:])) or keys.missing_keys.clear()
    )
    return str(module.load_state_dict({"weight": T.ones(2, 3)})), seen, module.weight
