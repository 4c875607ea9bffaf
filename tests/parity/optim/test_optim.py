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
    "Adamax": {"lr": 0.05},
    "Adamax decay": {"lr": 0.05, "weight_decay": 0.1, "maximize": True, "betas": (0.8, 0.9)},
    "NAdam": {"lr": 0.05, "weight_decay": 0.1},
    "NAdam decoupled": {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True, "momentum_decay": 0.1},
    "RAdam": {"lr": 0.05, "weight_decay": 0.1},
    "RAdam decoupled": {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True},
    "ASGD": {"lr": 0.1, "weight_decay": 0.1},
    "ASGD averaging": {"lr": 0.1, "t0": 4, "lambd": 0.1, "alpha": 0.5},
    "Adadelta": {"lr": 2.0},
    "Adadelta decay": {"rho": 0.5, "eps": 1e-3, "weight_decay": 0.1, "maximize": True},
    "Rprop": {"lr": 0.1},
    "Rprop limits": {"lr": 0.1, "etas": (0.2, 1.9), "step_sizes": (0.05, 0.2), "maximize": True},
    "Adafactor": {"lr": 0.1},
    "Adafactor clipped": {"lr": 0.5, "eps": (1e-3, 0.1), "d": 2.0, "weight_decay": 0.1, "beta2_decay": -0.5},
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


LBFGS = {
    "plain": {"lr": 0.3, "max_iter": 4},
    "with a short memory": {"lr": 0.3, "max_iter": 7, "history_size": 2},
    "with a line search": {"line_search_fn": "strong_wolfe", "max_iter": 6},
    "with few evaluations": {"line_search_fn": "strong_wolfe", "max_eval": 3},
}


@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad=True:UserWarning")
@pytest.mark.parametrize("name", LBFGS)
def test_lbfgs(name):
    def use(library):
        x = library.tensor([-1.5, 2.0, 0.5], dtype=library.float64, requires_grad=True)
        optimizer = library.optim.LBFGS([x], **LBFGS[name])

        def closure():
            optimizer.zero_grad()
            loss = (1 - x[:-1]).pow(2).sum() + 10 * (x[1:] - x[:-1] ** 2).pow(2).sum()
            loss.backward()
            return loss

        losses = [optimizer.step(closure).item() for _ in range(4)]
        return losses, x.tolist(), dict(next(iter(optimizer.state_dict()["state"].values())))

    (ours, point, state), (theirs, reference, expected) = map(use, LIBRARIES)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    np.testing.assert_allclose(point, reference, rtol=1e-6)
    assert set(state) == set(expected)
    assert (state["func_evals"], state["n_iter"]) == (expected["func_evals"], expected["n_iter"])


LOSSES = {
    "straight": lambda x: x.sum(),
    "straight and steep": lambda x: (x * 1e200).sum(),
    "flat": lambda x: (x * 0).sum(),
    "with an edge": lambda x: x.relu().sum(),
    "never lowest": lambda x: x.exp().sum(),
}


@pytest.mark.parametrize("name", LOSSES)
def test_line_search_without_a_lowest_point(name):
    def use(library):
        x = library.tensor([1.0, 2.0], dtype=library.float64, requires_grad=True)
        optimizer = library.optim.LBFGS([x], max_iter=4, line_search_fn="strong_wolfe")

        def closure():
            optimizer.zero_grad()
            loss = LOSSES[name](x)
            loss.backward()
            return loss

        for _ in range(3):
            optimizer.step(closure)
        return x.tolist()

    np.testing.assert_allclose(*map(use, LIBRARIES), rtol=1e-6)


@pytest.mark.parametrize("options", [{}, {"nesterov": False, "adjust_lr_fn": "match_rms_adamw"}], ids=str)
def test_muon(options):
    """Its iteration is done in bfloat16, so that little errors show."""

    def use(library):
        library.manual_seed(0)
        weights = [library.randn(4, 6, requires_grad=True), library.randn(6, 3, requires_grad=True)]
        optimizer = library.optim.Muon(weights, lr=0.02, **options)
        for _ in range(2):
            optimizer.zero_grad()
            (weights[0] @ weights[1]).square().sum().backward()
            optimizer.step()
        return [weight.detach().numpy() for weight in weights], repr(optimizer)

    (ours, text), (theirs, expected) = map(use, LIBRARIES)
    assert text == expected
    for own, other in zip(ours, theirs):
        np.testing.assert_allclose(own, other, atol=5e-3)


COMPLEX = [name for name in OPTIMIZERS if name.split()[0] != "Adafactor"] + ["LBFGS"]


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_parameters(name):
    def train(library):
        parameter = library.tensor([1 + 2j, -0.5j, 0.3], requires_grad=True)
        optimizer = getattr(library.optim, name.split()[0])([parameter], **OPTIMIZERS.get(name, {"lr": 0.05}))

        def loss_of():
            optimizer.zero_grad()
            loss = (parameter * parameter - (1 + 1j)).abs().square().sum()
            loss.backward()
            return loss

        losses = [optimizer.step(loss_of).item() for _ in range(4)]
        state = {key: value for key, value in optimizer.state[parameter].items() if isinstance(value, library.Tensor)}
        return losses, {key: (str(value.dtype), value.tolist()) for key, value in state.items()}

    (ours, state), (theirs, reference) = map(train, LIBRARIES)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4)
    assert state.keys() == reference.keys()
    for key, (dtype, values) in state.items():
        assert dtype == reference[key][0]
        np.testing.assert_allclose(values, reference[key][1], rtol=1e-3, atol=1e-5)


def test_sparse_adam():
    def use(library):
        library.manual_seed(0)
        layer = library.nn.Embedding(6, 3, sparse=True)
        optimizer = library.optim.SparseAdam(layer.parameters(), lr=0.1)
        for rows in ([0, 2, 2], [1, 2, 5], [0, 0, 4]):
            optimizer.zero_grad()
            layer(library.tensor(rows)).square().sum().backward()
            optimizer.step()
        return layer.weight.detach().numpy()

    ours, theirs = map(use, LIBRARIES)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


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
    "Adamax beta": lambda L, p: L.optim.Adamax([p], betas=(1.0, 0.5)),
    "NAdam momentum": lambda L, p: L.optim.NAdam([p], momentum_decay=-1),
    "Adadelta rho": lambda L, p: L.optim.Adadelta([p], rho=2),
    "Rprop etas": lambda L, p: L.optim.Rprop([p], etas=(1.5, 1.2)),
    "Adafactor clipping": lambda L, p: L.optim.Adafactor([p], d=0.5),
    "Adafactor decay": lambda L, p: L.optim.Adafactor([p], beta2_decay=0.5),
    "Muon of a vector": lambda L, p: L.optim.Muon([p]),
    "Muon rate": lambda L, p: L.optim.Muon([p], adjust_lr_fn="other"),
    "SparseAdam rate": lambda L, p: L.optim.SparseAdam([p], lr=0),
    "LBFGS groups": lambda L, p: L.optim.LBFGS([{"params": [p]}, {"params": []}]),
    "groups of a state": lambda L, p: L.optim.SGD([p], 0.1).load_state_dict({"param_groups": [], "state": {}}),
    "sizes of a state": lambda L, p: L.optim.SGD([p], 0.1).load_state_dict(
        {"param_groups": [{"params": [0, 1]}], "state": {}}
    ),
    "a name is missing": lambda L, p: L.optim.SGD([("p", p), p]),
    "a named number": lambda L, p: L.optim.SGD([("p", 3)]),
    "a group without names": lambda L, p: L.optim.SGD([{"params": [("p", p)]}, {"params": [L.ones(1)]}]),
    "a group with names": lambda L, p: L.optim.SGD([{"params": [p]}, {"params": [("q", L.ones(1))]}]),
    "a parameter twice": lambda L, p: L.optim.SGD([{"params": [("p", p)]}, {"params": [("q", p)]}]),
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


def named_groups(L, names):
    return L.optim.SGD([(name, L.ones(1)) for name in names], lr=0.1)


def plain_groups(L):
    return L.optim.SGD([L.ones(1)], lr=0.2)


def loaded(optimizer, other):
    optimizer.load_state_dict(other.state_dict())
    return optimizer


NAMED = {
    "names": lambda L: named_groups(L, "ab"),
    "of a module": lambda L: L.optim.AdamW(L.nn.Linear(2, 1).named_parameters()),
    "in groups": lambda L: L.optim.SGD([{"params": [("a", L.ones(1))]}, {"params": [("b", L.ones(1))], "lr": 3}]),
    "sparse": lambda L: L.optim.SparseAdam(L.nn.Embedding(2, 3, sparse=True).named_parameters()),
    "Muon": lambda L: L.optim.Muon(L.nn.Embedding(2, 3).named_parameters()),
    "LBFGS": lambda L: L.optim.LBFGS(L.nn.Linear(2, 1).named_parameters()),
    "loaded without names": lambda L: loaded(named_groups(L, "a"), plain_groups(L)),
    "loaded with names": lambda L: loaded(plain_groups(L), named_groups(L, "b")),
    "loaded other names": lambda L: loaded(named_groups(L, "a"), named_groups(L, "b")),
}


@pytest.mark.parametrize("name", NAMED)
def test_named_parameters(name):
    own, expected = (NAMED[name](library) for library in LIBRARIES)
    assert own.state_dict() == expected.state_dict()
    assert repr(own) == repr(expected)


def test_duplicate_parameters_warn():
    texts = []
    for library in LIBRARIES:
        parameter = library.ones(1)
        with pytest.warns(UserWarning) as caught:
            library.optim.SGD([parameter, parameter])
        texts.append([str(warning.message) for warning in caught])
    assert texts[0] == texts[1]
