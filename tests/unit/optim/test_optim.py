"""Optimizers and schedules: hooks, closures, saving and loading. Needs no PyTorch."""

import copy

import pytest

import mindtorch as torch
from mindtorch import nn, optim


def parameter_with_grad(value=1.0):
    parameter = nn.Parameter(torch.tensor([value]))
    parameter.grad = torch.ones(1)
    return parameter


def test_a_closure_is_called_with_gradients():
    parameter = parameter_with_grad()
    optimizer = optim.SGD([parameter], lr=0.5)

    def closure():
        optimizer.zero_grad()
        loss = parameter.square().sum()
        loss.backward()
        return loss

    with torch.no_grad():
        assert optimizer.step(closure).item() == 1.0
    assert parameter.item() == 0.0


def test_parameters_without_gradient_stay():
    parameter = nn.Parameter(torch.ones(1))
    optimizer = optim.Adam([parameter])
    optimizer.step()
    assert parameter.item() == 1.0 and not optimizer.state


def test_hooks():
    optimizer, seen = optim.SGD([parameter_with_grad()], lr=0.1), []
    optimizer.register_step_pre_hook(lambda owner, args, kwargs: seen.append("before"))
    handle = optimizer.register_step_post_hook(lambda owner, args, kwargs: seen.append("after"))
    optimizer.register_state_dict_post_hook(lambda owner, state: {**state, "extra": 1})
    optimizer.register_load_state_dict_pre_hook(lambda owner, state: seen.append(state["extra"]))
    optimizer.step()
    handle.remove()
    optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())
    assert seen == ["before", "after", "before", 1]


@pytest.mark.parametrize("kind", [optim.SGD, optim.Adam, optim.AdamW, optim.RMSprop, optim.Adagrad])
def test_a_loaded_optimizer_goes_on_alike(kind):
    first = parameter_with_grad()
    optimizer = kind([first], lr=0.1, **({"momentum": 0.9} if kind is optim.SGD else {}))
    optimizer.step()
    second = parameter_with_grad(first.item())
    loaded = kind([second], lr=0.7)
    loaded.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    for each in (optimizer, loaded):
        each.step()
    assert first.item() == second.item()
    assert loaded.param_groups[0]["lr"] == 0.1


def test_loaded_state_gets_the_parameters_dtype():
    optimizer = optim.Adam([parameter_with_grad()])
    optimizer.step()
    wide = nn.Parameter(torch.ones(1, dtype=torch.float64))
    loaded = optim.Adam([wide])
    loaded.load_state_dict(optimizer.state_dict())
    state = loaded.state[wide]
    assert state["exp_avg"].dtype is torch.float64 and state["step"].dtype is torch.float32


def test_groups():
    first, second = parameter_with_grad(), parameter_with_grad()
    optimizer = optim.SGD([{"params": first, "lr": 0.5}], lr=0.1)
    optimizer.add_param_group({"params": [second]})
    optimizer.step()
    assert first.item() == 0.5 and second.item() == pytest.approx(0.9)


def test_zero_grad():
    parameter = parameter_with_grad()
    optimizer = optim.SGD([parameter], lr=0.1)
    optimizer.zero_grad(set_to_none=False)
    assert parameter.grad.item() == 0
    optimizer.zero_grad()
    assert parameter.grad is None


def test_a_schedule_before_the_optimizer_warns():
    optimizer = optim.SGD([parameter_with_grad()], lr=0.1)
    schedule = optim.lr_scheduler.StepLR(optimizer, 1)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        schedule.step()


def test_a_schedule_is_saved_and_loaded():
    def make():
        optimizer = optim.SGD([parameter_with_grad()], lr=1.0)
        return optimizer, optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)

    (optimizer, schedule), (other, loaded) = make(), make()
    for _ in range(3):
        optimizer.step()
        schedule.step()
    other.load_state_dict(optimizer.state_dict())
    loaded.load_state_dict(schedule.state_dict())
    for each, plan in ((optimizer, schedule), (other, loaded)):
        each.step()
        plan.step()
    assert schedule.get_last_lr() == loaded.get_last_lr()
