"""Training by several processes against training by one with all of the data."""

import mindtorch as torch
import mindtorch.distributed as dist
from mindtorch import nn
from mindtorch.distributed.nn import functional as F
from mindtorch.nn.parallel import DistributedDataParallel


class Branches(nn.Module):
    """A model of which some inputs use a part only."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 5)
        self.odd = nn.Linear(5, 3)
        self.even = nn.Linear(5, 3)
        self.never = nn.Linear(5, 3)

    def forward(self, x, branch):
        hidden = self.first(x).tanh()
        return self.odd(hidden) if branch % 2 else self.even(hidden)


def plain():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 50), nn.Tanh(), nn.Linear(50, 40), nn.Tanh(), nn.Linear(40, 3)).double()


def data(rank, step):
    torch.manual_seed(100 * step + rank)
    return torch.randn(4, 6, dtype=torch.float64), torch.randn(4, 3, dtype=torch.float64)


def close(found, wanted, what):
    for (name, each), other in zip(found.named_parameters(), wanted.parameters(), strict=True):
        for one, two in ((each, other), (each.grad, other.grad)):
            assert (one is None) == (two is None), f"{what}: gradient of {name}"
            assert one is None or torch.allclose(one, two, rtol=1e-12, atol=1e-12), f"{what}: {name}"


def train(rank, size, **options):
    model, alone = plain(), plain()
    with torch.no_grad():
        for each in model.parameters():
            each += rank  # what rank 0 has is what all begin with
    parallel = DistributedDataParallel(model, bucket_cap_mb=0.005, **options)
    steps = [torch.optim.Adam(each.parameters(), lr=0.05) for each in (parallel, alone)]
    for step in range(5):
        x, y = data(rank, step)
        for optimizer in steps:
            optimizer.zero_grad()
        with parallel.no_sync():
            (0.5 * (parallel(x) - y).square().mean()).backward()
        (parallel(x) - y).square().mean().backward()
        both = [data(each, step) for each in range(size)]
        x, y = (torch.cat(each) for each in zip(*both, strict=True))
        (1.5 * (alone(x) - y).square().mean()).backward()
        close(model, alone, f"step {step}")
        for optimizer in steps:
            optimizer.step()
    close(model, alone, "at the end")


def unused(rank, size):
    torch.manual_seed(1)
    model = Branches().double()
    parallel = DistributedDataParallel(model, find_unused_parameters=True)
    torch.manual_seed(1)
    alone = Branches().double()
    x, _ = data(rank, 0)
    parallel(x, rank).sum().backward()
    sum(alone(data(each, 0)[0], each).sum() for each in range(size)).backward()
    for each in alone.parameters():
        if each.grad is not None:
            each.grad /= size
    close(model, alone, "unused parameters")


def forgotten(rank):
    parallel = DistributedDataParallel(Branches().double())
    x, _ = data(rank, 0)
    parallel(x, 0).sum().backward()
    try:
        parallel(x, 0)
    except RuntimeError as error:
        assert "did not receive grad" in str(error) and "2 3 6 7" in str(error), error
    else:
        raise AssertionError("parameters without gradients were not found")


def hooked(rank, size):
    parallel = DistributedDataParallel(plain())
    seen = []

    def hook(state, bucket):
        seen.append(bucket.index())
        work = dist.all_reduce(bucket.buffer(), async_op=True)
        return work.get_future().then(lambda future: future.value()[0] * state)

    parallel.register_comm_hook(2.0, hook)
    alone = plain()
    x, _ = data(rank, 0)
    parallel(x).sum().backward()
    sum(alone(data(each, 0)[0]).sum() * 2 for each in range(size)).backward()
    close(parallel.module, alone, "communication hook")
    assert seen == list(range(len(seen)))


def gradients_of_collectives(rank, size):
    x = torch.full((2,), 1.0 + rank, dtype=torch.float64, requires_grad=True)
    weights = torch.arange(1.0, size + 1, dtype=torch.float64)
    sum(weight * part.sum() for weight, part in zip(weights, F.all_gather(x), strict=True)).backward()
    assert x.grad.tolist() == [size * (rank + 1.0)] * 2
    x.grad = None
    (F.all_reduce(x * x) * (rank + 1)).sum().backward()
    assert torch.allclose(x.grad, 2 * x.detach() * weights.sum())
    x.grad = None
    (F.broadcast(x, 0) * (rank + 1)).sum().backward()
    assert torch.allclose(x.grad, torch.full_like(x, float(weights.sum()) if rank == 0 else 0.0)), x.grad


def main():
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    train(rank, size)
    train(rank, size, gradient_as_bucket_view=True)
    unused(rank, size)
    forgotten(rank)
    hooked(rank, size)
    gradients_of_collectives(rank, size)
    dist.destroy_process_group()
    print("equal")


if __name__ == "__main__":
    main()
