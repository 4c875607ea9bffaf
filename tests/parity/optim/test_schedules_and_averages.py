"""Cyclic schedules and averaged models are those of PyTorch: rates, momenta, averages, states, texts."""

import pytest

from tests.parity.support.programs import assert_same, programs, sample

program, test_program = programs()

SCHEDULES = {
    "triangular": ("SGD", lambda T, o: T.optim.lr_scheduler.CyclicLR(o, 0.01, 0.1, 4)),
    "triangular2": ("SGD", lambda T, o: T.optim.lr_scheduler.CyclicLR(o, 0.01, 0.1, 4, 6, mode="triangular2")),
    "exp_range": (
        "SGD", lambda T, o: T.optim.lr_scheduler.CyclicLR(o, [0.01, 0.02], [0.1, 0.3], 4, mode="exp_range", gamma=0.9)
    ),
    "a scale of one's own": (
        "SGD",
        lambda T, o: T.optim.lr_scheduler.CyclicLR(
            o, 0.01, 0.1, 4, scale_fn=lambda x: 0.5**x, scale_mode="iterations", cycle_momentum=False
        ),
    ),
    "betas": ("Adam", lambda T, o: T.optim.lr_scheduler.CyclicLR(o, 0.01, 0.1, 4)),
    "too few rates": ("SGD", lambda T, o: T.optim.lr_scheduler.CyclicLR(o, [0.1], 0.2)),
    "an unknown mode": ("SGD", lambda T, o: T.optim.lr_scheduler.CyclicLR(o, 0.1, 0.2, mode="x")),
    "no momentum": ("Adagrad", lambda T, o: T.optim.lr_scheduler.CyclicLR(o, 0.1, 0.2)),
    "SWALR": ("SGD", lambda T, o: T.optim.swa_utils.SWALR(o, 0.05)),
    "SWALR by groups": ("SGD", lambda T, o: T.optim.swa_utils.SWALR(o, [0.05, 0.5], 5, "linear")),
    "SWALR at once": ("SGD", lambda T, o: T.optim.swa_utils.SWALR(o, 0.05, anneal_epochs=0)),
    "SWALR with too few rates": ("SGD", lambda T, o: T.optim.swa_utils.SWALR(o, [0.05])),
    "SWALR with an unknown strategy": ("SGD", lambda T, o: T.optim.swa_utils.SWALR(o, 0.05, anneal_strategy="x")),
    "SWALR with negative epochs": ("SGD", lambda T, o: T.optim.swa_utils.SWALR(o, 0.05, anneal_epochs=-1)),
}  # fmt: skip


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule(name):
    kind, make = SCHEDULES[name]

    def run(T):
        layer = T.nn.Linear(2, 2)
        optimizer = getattr(T.optim, kind)([{"params": [layer.weight]}, {"params": [layer.bias], "lr": 0.3}], lr=0.1)
        schedule, seen = make(T, optimizer), []
        for _ in range(25):
            groups = optimizer.param_groups
            seen.append([[group["lr"], group.get("momentum"), group.get("betas")] for group in groups])
            optimizer.step()
            schedule.step()
        return [T.tensor([[each[0] for each in row] for row in seen], dtype=T.float64), str(seen[0])[:60],
                sorted(schedule.state_dict()), T.tensor(schedule.get_last_lr())]  # fmt: skip

    assert_same(run)


@program
def averaged_models(T):
    T.manual_seed(0)
    utils = T.optim.swa_utils
    model = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.BatchNorm1d(4), T.nn.Linear(4, 1))
    averages = [
        utils.AveragedModel(model),
        utils.AveragedModel(model, multi_avg_fn=utils.get_ema_multi_avg_fn(0.9), use_buffers=True),
        utils.AveragedModel(model, avg_fn=utils.get_ema_avg_fn(0.9)),
        utils.AveragedModel(model, avg_fn=utils.get_swa_avg_fn()),
        utils.AveragedModel(model, multi_avg_fn=utils.get_swa_multi_avg_fn()),
    ]
    optimizer, x = T.optim.SGD(model.parameters(), 0.01), sample(T, 8, 3, requires_grad=False)
    for _ in range(5):
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
        for average in averages:
            average.update_parameters(model)
    utils.update_bn([x, x + 1], averages[0])
    return [repr(averages[0]), [dict(average.state_dict()) for average in averages], averages[0].eval()(x)]


@program
def a_decay_that_cannot_be(T):
    return T.optim.swa_utils.get_ema_avg_fn(1.5)


@program
def two_rules_of_averaging(T):
    return T.optim.swa_utils.AveragedModel(T.nn.ReLU(), avg_fn=max, multi_avg_fn=max)


# -------------------- rates that are tensors --------------------

SCHEDULES_OF_TENSORS = {
    "LambdaLR": lambda S, o: S.LambdaLR(o, lambda epoch: 0.9**epoch),
    "MultiplicativeLR": lambda S, o: S.MultiplicativeLR(o, lambda epoch: 0.9),
    "StepLR": lambda S, o: S.StepLR(o, 2),
    "MultiStepLR": lambda S, o: S.MultiStepLR(o, [1, 3]),
    "ConstantLR": lambda S, o: S.ConstantLR(o, 0.5, 2),
    "LinearLR": lambda S, o: S.LinearLR(o, 0.5, 1, 3),
    "ExponentialLR": lambda S, o: S.ExponentialLR(o, 0.9),
    "PolynomialLR": lambda S, o: S.PolynomialLR(o, 3, 2),
    "CosineAnnealingLR": lambda S, o: S.CosineAnnealingLR(o, 3),
    "CosineAnnealingWarmRestarts": lambda S, o: S.CosineAnnealingWarmRestarts(o, 2),
    "CyclicLR": lambda S, o: S.CyclicLR(o, 0.01, 0.1, 2),
    "OneCycleLR": lambda S, o: S.OneCycleLR(o, 0.1, total_steps=8),
    "ReduceLROnPlateau": lambda S, o: S.ReduceLROnPlateau(o, patience=0),
    "SequentialLR": lambda S, o: S.SequentialLR(o, [S.ConstantLR(o, 0.1, 2), S.ExponentialLR(o, 0.9)], [2]),
    "ChainedScheduler": lambda S, o: S.ChainedScheduler([S.LinearLR(o), S.StepLR(o, 2)]),
    "SWALR": lambda S, o: S.SWALR(o, 0.05, 3),
}


@pytest.mark.parametrize("name", SCHEDULES_OF_TENSORS)
def test_a_rate_that_is_a_tensor_is_written_to(name):
    """Whoever holds the tensor sees the new rate; what `get_last_lr` gave and the first rate stay as they were."""

    def run(T):
        module = T.optim.swa_utils if name == "SWALR" else T.optim.lr_scheduler
        rate, shared = T.tensor(0.5), T.tensor(0.25)
        parameters = [T.ones(2).requires_grad_() for _ in range(3)]
        groups = [{"params": [each], "lr": lr} for each, lr in zip(parameters, (rate, shared, shared))]
        optimizer = T.optim.SGD(groups, lr=rate, momentum=0.9)
        schedule, seen, given = SCHEDULES_OF_TENSORS[name](module, optimizer), [], []
        for _ in range(5):
            optimizer.step()
            schedule.step(*([1.0] if name == "ReduceLROnPlateau" else []))
            given.append(schedule.get_last_lr())
            seen.append([rate.clone(), shared.clone()])
        held = [group["lr"] is each for group, each in zip(optimizer.param_groups, (rate, shared, shared))]
        return seen, held, given, [group.get("initial_lr") for group in optimizer.param_groups]

    assert_same(run)


REFUSED_PARTS = {
    "none": lambda S, o: [],
    "one that needs a metric": lambda S, o: [S.StepLR(o, 1), S.ReduceLROnPlateau(o)],
    "no schedule": lambda S, o: [S.StepLR(o, 1), 3],
}


@pytest.mark.parametrize("kind", ["SequentialLR", "ChainedScheduler"])
@pytest.mark.parametrize("name", REFUSED_PARTS)
def test_schedules_that_cannot_be_combined(kind, name):
    def run(T):
        S, optimizer = T.optim.lr_scheduler, T.optim.SGD([T.ones(1).requires_grad_()], lr=0.1)
        parts = REFUSED_PARTS[name](S, optimizer)
        return S.SequentialLR(optimizer, parts, [1]) if kind == "SequentialLR" else S.ChainedScheduler(parts)

    assert_same(run)
