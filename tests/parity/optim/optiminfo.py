"""What is done with every optimizer, by the inputs of torch's test suite; the same code runs with both libraries."""

import copy
import io
import itertools
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import mindtorch
from tests.parity.support import opinfo
from tests.parity.support.opinfo_choice import torch_tests
from tests.parity.support.opinfo_shown import tensors

optimizers = torch_tests("common_optimizers")
INFOS = tuple(optimizers.optim_db)
STEPS = 3
# How far two libraries may be apart: Muon computes with bfloat16.
TOLERANCES = {"Muon": 2e-3, "LBFGS": 1e-4}


@dataclass(frozen=True, slots=True)
class Setup:
    """An optimizer in one library, with its options."""

    T: Any
    info: Any
    kwargs: dict
    dtype: str = "float32"

    def parameters(self) -> list:
        """Three of different shapes; with torch's Muon only matrices."""
        shapes = [(2, 3), (3, 1), (1, 4)] if self.info.name == "Muon" else [(2, 3), (3,), (1, 4, 2)]
        return [self.T.nn.Parameter(self.numbers(shape, place)) for place, shape in enumerate(shapes)]

    def numbers(self, shape: tuple, place: int) -> Any:
        generator = np.random.RandomState(place)
        values = generator.randn(*shape)
        if self.dtype.startswith("complex"):
            values = values + 1j * generator.randn(*shape)
        return self.T.tensor(values.tolist(), dtype=getattr(self.T, self.dtype))

    def made(self, params: Any, **more: Any) -> Any:
        return getattr(self.T.optim, self.info.name)(params, **{**copy.deepcopy(self.kwargs), **more})

    def closure(self, optimizer: Any, params: list) -> Callable:
        """A loss with curvature, whose gradient is sparse where the optimizer takes no others."""

        def run() -> Any:
            optimizer.zero_grad()
            loss = sum(
                ((each - 0.5 * place) ** 2).abs().sum() + each.abs().pow(3).sum() for place, each in enumerate(params)
            )
            loss.backward()
            if self.info.only_supports_sparse_grads:
                _make_sparse(params)
            return loss

        return run


def _make_sparse(params: list) -> None:
    for each in params:
        each.grad = each.grad.to_sparse()


def setups(T: Any, info: Any) -> Iterator[Setup]:
    """Every set of options that the test suite has, with the implementations that there are on the CPU."""
    inputs = optimizers._get_optim_inputs_including_global_cliquey_kwargs("cpu", None, info)
    for each, dtype in itertools.product(inputs, _dtypes(info)):
        kwargs = opinfo.Conversion()(each.kwargs) if T is mindtorch else each.kwargs
        yield Setup(T, info, kwargs, dtype)


def _dtypes(info: Any) -> tuple[str, ...]:
    if info.name == "LBFGS":  # whose steps depend on differences of almost equal numbers
        return "float64", "complex128"
    return ("float32", "float64", "complex128") if info.supports_complex else ("float32", "float64")


def _stepped(setup: Setup, optimizer: Any, params: list, steps: int = STEPS) -> list:
    """The losses of some steps."""
    closure, losses = setup.closure(optimizer, params), []
    for _ in range(steps):
        if setup.info.step_requires_closure:
            losses.append(optimizer.step(closure))
        else:
            losses.append(closure())
            optimizer.step()
    return losses


# -------------------- programs --------------------


def steps(setup: Setup) -> Any:
    """Losses, parameters, state and text of an optimizer after some steps."""
    params = setup.parameters()
    optimizer = setup.made(params)
    losses = _stepped(setup, optimizer, params)
    return losses, params, optimizer.state_dict(), repr(optimizer)


def groups(setup: Setup) -> Any:
    """Groups with options of their own, one of them added later, and a parameter without a gradient."""
    first, second, third = setup.parameters()
    optimizer = setup.made([{"params": [first], "lr": 0.05}, {"params": (each for each in [second])}])
    losses = _stepped(setup, optimizer, [first, second], 2)
    optimizer.add_param_group({"params": third, "lr": 0.02})
    losses += _stepped(setup, optimizer, [first, third], 2)
    return losses, [first, second, third], optimizer.state_dict()


def named(setup: Setup) -> Any:
    """Parameters with names."""
    params = setup.parameters()
    optimizer = setup.made([(f"layer.{place}", each) for place, each in enumerate(params)])
    _stepped(setup, optimizer, params, 1)
    return optimizer.state_dict()["param_groups"], repr(optimizer)


def copies(setup: Setup) -> Any:
    """An optimizer that goes on from a state dict, from a file, from a pickle and from a copy."""
    params = setup.parameters()
    optimizer = setup.made(params)
    _stepped(setup, optimizer, params, 2)
    return [_continued(setup, optimizer, params, again) for again in (_reloaded, _from_file, _pickled, _copied)]


def _continued(setup: Setup, optimizer: Any, params: list, again: Callable) -> Any:
    other, copied = again(setup, optimizer, params)
    losses = _stepped(setup, other, copied, 2)
    return losses, copied, other.state_dict()


def _reloaded(setup: Setup, optimizer: Any, params: list) -> tuple:
    copied = copy.deepcopy(params)
    other = setup.made(copied)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    return other, copied


def _from_file(setup: Setup, optimizer: Any, params: list) -> tuple:
    file, copied = io.BytesIO(), copy.deepcopy(params)
    setup.T.save(optimizer.state_dict(), file)
    file.seek(0)
    other = setup.made(copied)
    other.load_state_dict(setup.T.load(file))
    return other, copied


def _pickled(setup: Setup, optimizer: Any, params: list) -> tuple:
    return pickle.loads(pickle.dumps((optimizer, params)))


def _copied(setup: Setup, optimizer: Any, params: list) -> tuple:
    return copy.deepcopy((optimizer, params))


def hooks(setup: Setup) -> Any:
    """What the hooks of an optimizer see, in which order."""
    params, seen = setup.parameters(), []
    optimizer = setup.made(params)
    optimizer.register_step_pre_hook(lambda opt, args, kwargs: seen.append(("before", len(args), sorted(kwargs))))
    optimizer.register_step_post_hook(lambda opt, args, kwargs: seen.append(("after", len(args), sorted(kwargs))))
    optimizer.register_state_dict_pre_hook(lambda opt: seen.append("state"))
    optimizer.register_state_dict_post_hook(lambda opt, state: seen.append(sorted(state)))
    optimizer.register_load_state_dict_pre_hook(lambda opt, state: seen.append("load"))
    optimizer.register_load_state_dict_post_hook(lambda opt: seen.append("loaded"))
    _stepped(setup, optimizer, params, 2)
    optimizer.load_state_dict(optimizer.state_dict())
    return seen, [each.grad is None for each in params]


def zeroed(setup: Setup) -> Any:
    """`zero_grad` in both ways, and steps without gradients."""
    params = setup.parameters()
    optimizer = setup.made(params)
    setup.closure(optimizer, params)()
    optimizer.zero_grad(set_to_none=False)
    kept = [None if each.grad is None else each.grad for each in params]
    optimizer.zero_grad()
    optimizer.step(setup.closure(optimizer, [params[0]]))
    return [kept, params, optimizer.state_dict()]


def tensor_rate(setup: Setup) -> Any:
    """A learning rate that is a tensor, changed in place between steps."""
    params = setup.parameters()
    rate = setup.T.tensor(0.03)
    optimizer = setup.made(params, lr=rate)
    losses = _stepped(setup, optimizer, params, 2)
    rate.mul_(0.5)
    losses += _stepped(setup, optimizer, params, 2)
    return losses, params, optimizer.state_dict()


def differentiated(setup: Setup) -> Any:
    """The gradient through a step, by the parameter and by the gradient that it takes, which leaves few digits."""
    T = setup.T
    if setup.dtype in ("float32", "complex64"):
        return None
    start = setup.numbers((2, 3), 0).requires_grad_()
    slope = setup.numbers((2, 3), 1).requires_grad_()
    param = start.clone()
    param.grad = slope
    optimizer = setup.made([param], differentiable=True)
    optimizer.step()
    return T.autograd.grad(param.abs().pow(2).sum(), [start, slope])


def scheduled(setup: Setup) -> Any:
    """The rates of some epochs under each set of schedules of the test suite."""
    convert = opinfo.counterpart if setup.T is mindtorch else lambda each: each
    return [_rates(setup, [convert(each) for each in makers]) for makers in setup.info.scheduler_inputs]


def _rates(setup: Setup, makers: list) -> Any:
    params = setup.parameters()
    optimizer = setup.made(params)
    schedules, rates = [make(optimizer) for make in makers], []
    for epoch in range(5):
        _stepped(setup, optimizer, params, 1)
        for each in schedules:
            each.step(*[float(epoch % 2)] * ("metrics" in each.step.__code__.co_varnames))
        rates.append([float(group["lr"]) for group in optimizer.param_groups])
    return rates, [sorted(each.state_dict()) for each in schedules]


PROGRAMS = {
    each.__name__: each
    for each in (steps, groups, named, copies, hooks, zeroed, tensor_rate, differentiated, scheduled)
}


# -------------------- what is refused --------------------


def errors(info: Any) -> list:
    return list(info.optim_error_inputs_func("cpu", opinfo.torch.float32))


def refused(T: Any, info: Any, error: Any) -> Any:
    """A call that must fail according to the test suite: with these parameters, or with none where it gives none."""
    convert = opinfo.Conversion() if T is mindtorch else lambda each: each
    given = error.optimizer_error_input
    params = [T.nn.Parameter(T.ones(1, 1))] if given.params is None else convert(given.params)
    for own, other in zip(tensors(params, T), tensors(given.params, opinfo.torch)):
        own.grad = convert(other.grad)
    optimizer = getattr(T.optim, info.name)(params, **convert(given.kwargs))
    if error.error_on is not optimizers.OptimizerErrorEnum.CONSTRUCTION_ERROR:
        optimizer.step()
