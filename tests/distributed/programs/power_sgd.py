"""Training with gradients that are sent as factors, by the library that is named; writes gradients and statistics."""

import importlib
import json
import math
import pickle
import sys
from pathlib import Path

torch = importlib.import_module({"torch": "torch", "mindtorch": "mindtorch"}[sys.argv[1]])
dist = importlib.import_module(f"{torch.__name__}.distributed")
hooks = importlib.import_module(f"{torch.__name__}.distributed.algorithms.ddp_comm_hooks.powerSGD_hook")
nn = torch.nn

STEPS = 5
SETTINGS = {
    "rank 1": {},
    "rank 2": {"matrix_approximation_rank": 2},
    "rank 4": {"matrix_approximation_rank": 4, "min_compression_rate": 1},
    "cold": {"warm_start": False, "matrix_approximation_rank": 3, "min_compression_rate": 1},
    "no feedback": {"use_error_feedback": False},
    "epsilon": {"orthogonalization_epsilon": 1e-3, "random_seed": 7},
    "batches": {"batch_tensors_with_same_shape": True, "matrix_approximation_rank": 2},
    "only when worthwhile": {"min_compression_rate": 5},
    "later": {"start_powerSGD_iter": 4},
}


def made():
    torch.manual_seed(0)
    layers = [nn.Conv2d(3, 8, 3), nn.Flatten(), nn.Linear(8, 12), nn.Tanh(), nn.Linear(12, 12), nn.Linear(12, 12)]
    return nn.Sequential(*layers, nn.Linear(12, 5)).double()


def batch(rank, step):
    torch.manual_seed(100 * step + rank)
    return torch.randn(6, 3, 3, 3, dtype=torch.float64)


def trained(state, hook=hooks.powerSGD_hook):
    """The gradients of each step, and the state at the end."""
    model = nn.parallel.DistributedDataParallel(made())
    model.register_comm_hook(state, hook)
    found = []
    for step in range(STEPS):
        model.zero_grad()
        model(batch(dist.get_rank(), step)).square().sum().backward()
        found.append([each.grad.reshape(-1).tolist() for each in model.parameters()])
    return found


def mean(step):
    """The gradients without compression."""
    model, size = made(), dist.get_world_size()
    sum(model(batch(rank, step)).square().sum() / size for rank in range(size)).backward()
    return [each.grad.reshape(-1) for each in model.parameters()]


def distance(found, step):
    """How far gradients are from the mean, relative to its length."""
    wanted = torch.cat(mean(step))
    return (
        (torch.cat([torch.tensor(each, dtype=torch.float64) for each in found]) - wanted).norm() / wanted.norm()
    ).item()


def compare(folder):
    """Every setting, in this library."""
    results = {}
    for name, options in SETTINGS.items():
        state = hooks.PowerSGDState(None, **{"start_powerSGD_iter": 2, **options})
        results[name] = {"gradients": trained(state), "statistics": state.compression_stats(), "iter": state.iter}
    Path(folder, f"{sys.argv[1]}{dist.get_rank()}.json").write_text(json.dumps(results))


def check():
    """What holds whatever the random numbers are."""
    for hook in (hooks.powerSGD_hook, hooks.batched_powerSGD_hook):
        state = hooks.PowerSGDState(None, 50, 2, min_compression_rate=0)  # as many columns as there can be: all is sent
        for step, found in enumerate(trained(state, hook)):
            assert distance(found, step) < 1e-10, f"{hook.__name__}: step {step}"
        state = hooks.PowerSGDState(None, 1, 2)
        found = trained(state, hook)
        assert distance(found[1], 1) < 1e-12 < 1e-2 < distance(found[2], 2), "compressed from the second step on"
        rate, before, after = state.compression_stats()
        assert rate == before / after > 1.2 and before == 3 * sum(each.numel() for each in made().parameters())
        everywhere = [None] * dist.get_world_size()
        dist.all_gather_object(everywhere, found)
        assert all(each == found for each in everywhere), "all processes have the same gradients"
    errors = state.error_dict[0]
    again = pickle.loads(pickle.dumps(state))
    assert again.process_group is dist.group.WORLD and torch.equal(again.error_dict[0], errors)
    assert again.rng.randint(99) == state.rng.randint(99) and again.iter == STEPS
    try:
        hooks.PowerSGDState(None, start_powerSGD_iter=1)
    except ValueError as error:
        assert "Expect `start_powerSGD_iter` > 1" in str(error)
    assert hooks.PowerSGDState(None, 1, 0, 2, False, False).start_powerSGD_iter == 0
    assert math.isfinite(errors.norm().item())


if __name__ == "__main__":
    dist.init_process_group("gloo")
    compare(sys.argv[2]) if len(sys.argv) > 2 else check()
    print("equal", flush=True)
    dist.destroy_process_group()
