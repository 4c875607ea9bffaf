"""Optimizers and schedules take PyTorch's steps."""

import numpy as np
import pytest
import torch

import mindtorch

LIBRARIES = (mindtorch, torch)

OPTIMIZERS = {
    "SGD": {"lr": 0.1},
    "SGD momentum": {"lr": 0.1, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01},
    "SGD nesterov": {"lr": 0.1, "momentum": 0.9, "nesterov": True},
    "SGD maximize": {"lr": 0.01, "maximize": True},
    "Adam": {"lr": 0.05},
    "Adam amsgrad": {"lr": 0.05, "amsgrad": True, "weight_decay": 0.1},
    "Adam maximize": {"lr": 0.01, "maximize": True, "betas": (0.8, 0.9)},
    "AdamW": {"lr": 0.05, "weight_decay": 0.1},
    "RMSprop": {"lr": 0.02},
    "RMSprop centered": {"lr": 0.02, "centered": True, "momentum": 0.5, "weight_decay": 0.01},
    "Adagrad": {"lr": 0.1, "lr_decay": 0.1, "initial_accumulator_value": 0.2, "weight_decay": 0.01},
}


def train(library, name, steps=12):
    """The losses of some steps, and the state after them."""
    library.manual_seed(0)
    model = library.nn.Sequential(library.nn.Linear(3, 5), library.nn.Tanh(), library.nn.Linear(5, 1))
    groups = [{"params": list(model[0].parameters())}, {"params": list(model[2].parameters()), "lr": 0.01}]
    optimizer = getattr(library.optim, name.split()[0])(groups, **OPTIMIZERS[name])
    inputs, targets = library.randn(8, 3), library.randn(8, 1)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = library.nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, optimizer


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps(name):
    (ours, optimizer), (theirs, reference) = (train(library, name) for library in LIBRARIES)
    np.testing.assert_allclose(ours, theirs, rtol=2e-5)
    assert repr(optimizer) == repr(reference)
    own, other = optimizer.state_dict(), reference.state_dict()
    assert own["param_groups"] == other["param_groups"]
    assert list(own["state"]) == list(other["state"])
    for number, state in other["state"].items():
        assert list(own["state"][number]) == list(state)
        for key, value in state.items():
            np.testing.assert_allclose(own["state"][number][key].numpy(), value.numpy(), rtol=2e-4, atol=1e-6)


SCHEDULES = {
    "StepLR": lambda schedules, optimizer: schedules.StepLR(optimizer, 3, gamma=0.5),
    "MultiStepLR": lambda schedules, optimizer: schedules.MultiStepLR(optimizer, [2, 5, 5], gamma=0.5),
    "ExponentialLR": lambda schedules, optimizer: schedules.ExponentialLR(optimizer, 0.9),
    "CosineAnnealingLR": lambda schedules, optimizer: schedules.CosineAnnealingLR(optimizer, 5, eta_min=0.01),
    "LambdaLR": lambda schedules, optimizer: schedules.LambdaLR(optimizer, [lambda e: 0.9**e, lambda e: 1 / (e + 1)]),
    "OneCycleLR": lambda schedules, optimizer: schedules.OneCycleLR(optimizer, [0.3, 0.4], total_steps=20),
    "OneCycleLR in three phases": lambda schedules, optimizer: schedules.OneCycleLR(
        optimizer, 0.3, epochs=5, steps_per_epoch=4, three_phase=True, anneal_strategy="linear"
    ),
}


def optimizer_of(library, name="SGD"):
    parameters = [library.nn.Parameter(library.ones(2)) for _ in range(2)]
    options = {"momentum": 0.5} if name == "SGD" else {}
    groups = [{"params": parameters[:1]}, {"params": parameters[1:], "lr": 0.2}]
    return getattr(library.optim, name)(groups, lr=0.1, **options)


@pytest.mark.parametrize("kind", ["SGD", "AdamW"])
@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule(name, kind):
    def use(library):
        optimizer = optimizer_of(library, kind)
        schedule = SCHEDULES[name](library.optim.lr_scheduler, optimizer)
        seen = [schedule.get_last_lr()]
        for _ in range(18):
            optimizer.step()
            schedule.step()
            seen.append([*schedule.get_last_lr(), optimizer.param_groups[0].get("momentum", 0)])
        return seen, schedule.state_dict()

    (ours, state), (theirs, reference) = map(use, LIBRARIES)
    for own, other in zip(ours, theirs):
        assert own == pytest.approx(other, rel=1e-12)
    assert list(state) == list(reference)


def test_plateau():
    def use(library):
        optimizer = optimizer_of(library)
        schedule = library.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, cooldown=1, min_lr=0.01)
        seen = []
        for loss in [1, 0.9, 0.9, 0.91, 0.95, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8]:
            schedule.step(loss)
            seen.append(schedule.get_last_lr())
        return seen, schedule.state_dict()

    ours, theirs = map(use, LIBRARIES)
    assert ours == theirs


ERRORS = {
    "no parameters": lambda L, p: L.optim.SGD([], 0.1),
    "not a leaf": lambda L, p: L.optim.SGD([p * 2], 0.1),
    "not a tensor": lambda L, p: L.optim.SGD([3], 0.1),
    "one tensor": lambda L, p: L.optim.SGD(L.ones(1), 0.1),
    "a set": lambda L, p: L.optim.SGD([{"params": {p}}], 0.1),
    "twice": lambda L, p: L.optim.SGD([{"params": [p]}, {"params": [p]}], 0.1),
    "learning rate": lambda L, p: L.optim.SGD([p], -1),
    "momentum": lambda L, p: L.optim.SGD([p], 0.1, momentum=-1),
    "nesterov": lambda L, p: L.optim.SGD([p], 0.1, nesterov=True),
    "epsilon": lambda L, p: L.optim.Adam([p], eps=-1),
    "beta": lambda L, p: L.optim.Adam([p], betas=(0.1, 1.9)),
    "alpha": lambda L, p: L.optim.RMSprop([p], alpha=-1),
    "accumulator": lambda L, p: L.optim.Adagrad([p], initial_accumulator_value=-1),
    "groups of a state": lambda L, p: L.optim.SGD([p], 0.1).load_state_dict({"param_groups": [], "state": {}}),
    "sizes of a state": lambda L, p: L.optim.SGD([p], 0.1).load_state_dict(
        {"param_groups": [{"params": [0, 1]}], "state": {}}
    ),
    "schedule of no optimizer": lambda L, p: L.optim.lr_scheduler.StepLR(3, 1),
    "plateau factor": lambda L, p: L.optim.lr_scheduler.ReduceLROnPlateau(L.optim.SGD([p], 0.1), factor=2),
    "cycle without steps": lambda L, p: L.optim.lr_scheduler.OneCycleLR(L.optim.SGD([p], 0.1), 0.1),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(name):
    texts = []
    for library in LIBRARIES:
        with pytest.raises((TypeError, ValueError)) as caught:
            ERRORS[name](library, library.nn.Parameter(library.ones(1)))
        texts.append((caught.type, str(caught.value)))
    assert texts[0] == texts[1]
