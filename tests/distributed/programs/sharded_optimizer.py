"""ZeroRedundancyOptimizer against the optimizer itself in one process."""

import mindtorch as torch
import mindtorch.distributed as dist
from mindtorch import nn
from mindtorch.distributed.algorithms.join import Join
from mindtorch.distributed.optim import ZeroRedundancyOptimizer
from mindtorch.nn.parallel import DistributedDataParallel


def made():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3), nn.Linear(3, 3)).double()


def groups(model):
    return [{"params": model[0].parameters(), "weight_decay": 0.1}, {"params": model[2:].parameters()}]


def batch(rank, step):
    torch.manual_seed(100 * step + rank)
    return torch.randn(4, 6, dtype=torch.float64)


def same(model, alone, what):
    for one, two in zip(model.parameters(), alone.parameters(), strict=True):
        assert torch.allclose(one, two, rtol=1e-12, atol=1e-12), what


def states_equal(one, two):
    assert one["state"].keys() == two["state"].keys()
    for number, state in two["state"].items():
        for name, value in state.items():
            assert torch.allclose(one["state"][number][name], value, rtol=1e-12, atol=1e-12), (number, name)
    assert one["param_groups"] == two["param_groups"], (one["param_groups"], two["param_groups"])


def train(rank, size, cls, views, **options):
    model, alone = made(), made()
    parallel = DistributedDataParallel(model)
    spread = ZeroRedundancyOptimizer(groups(model), cls, parameters_as_bucket_view=views, **options)
    whole = cls(groups(alone), **options)
    schedules = [torch.optim.lr_scheduler.ExponentialLR(each, 0.9) for each in (spread, whole)]

    def steps(numbers, pairs):
        for step in numbers:
            for optimizer in pairs:
                optimizer.zero_grad()
            parallel(batch(rank, step)).square().mean().backward()
            (sum(alone(batch(each, step)).square().mean() for each in range(size)) / size).backward()
            for optimizer in pairs:
                optimizer.step()
            same(model, alone, f"{cls.__name__} step {step}")

    steps(range(2), (spread, whole))
    for each in schedules:
        each.step()
    steps(range(2, 3), (spread, whole))
    mine = sum(each.numel() for each in spread.state)
    assert mine <= sum(each.numel() for each in model.parameters()) * (0.75 if size == 2 else 0.6), "it is not spread"
    spread.consolidate_state_dict(to=size - 1)
    if rank == size - 1:
        states_equal(spread.state_dict(), whole.state_dict())
    else:
        try:
            spread.state_dict()
        except RuntimeError as error:
            assert "consolidate_state_dict(to=" in str(error)
        else:
            raise AssertionError("a part of the state was taken for the whole")
    said = [spread.state_dict() if rank == size - 1 else None]
    dist.broadcast_object_list(said, src=size - 1)
    fresh = ZeroRedundancyOptimizer(groups(model), cls, parameters_as_bucket_view=views, **options)
    fresh.load_state_dict(said[0])
    steps(range(3, 5), (fresh, whole))


def uneven(rank, size):
    model, alone = made(), made()
    parallel = DistributedDataParallel(model)
    spread = ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=0.05)
    with Join([parallel, spread]):
        for step in range(2 + rank):
            spread.zero_grad()
            parallel(batch(rank, step)).square().mean().backward()
            spread.step()
    whole = torch.optim.Adam(alone.parameters(), lr=0.05)
    for step in range(1 + size):
        whole.zero_grad()
        active = [each for each in range(size) if step < 2 + each]
        (sum(alone(batch(each, step)).square().mean() for each in active) / size).backward()
        whole.step()
    same(model, alone, "uneven inputs")


def main():
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    for views in (False, True):
        train(rank, size, torch.optim.AdamW, views, lr=0.05)
    train(rank, size, torch.optim.SGD, False, lr=0.05, momentum=0.9)
    uneven(rank, size)
    dist.destroy_process_group()
    print("equal")


if __name__ == "__main__":
    main()
