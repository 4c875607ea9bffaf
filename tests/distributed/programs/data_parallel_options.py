"""What DistributedDataParallel can be asked for, each against one process with all of the data."""

import warnings
from contextlib import nullcontext

import mindtorch as torch
import mindtorch.distributed as dist
from mindtorch import nn
from mindtorch.distributed.algorithms.ddp_comm_hooks import default_hooks as hooks
from mindtorch.distributed.algorithms.join import Join, Joinable, JoinHook
from mindtorch.nn.parallel import DistributedDataParallel as Parallel
from mindtorch.nn.parallel.distributed import _MixedPrecision
from mindtorch.utils.checkpoint import checkpoint

WIDE = torch.float64


def plain(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3)).double()


def batch(rank, step, rows=4):
    torch.manual_seed(100 * step + rank)
    return torch.randn(rows, 6, dtype=WIDE)


def same(found, wanted, what, bound=1e-12):
    for (name, each), other in zip(found.named_parameters(), wanted.named_parameters(), strict=True):
        for one, two in ((each, other[1]), (each.grad, other[1].grad)):
            assert (one is None) == (two is None), f"{what}: gradient of {name}"
            if one is not None:
                assert torch.allclose(one, two, rtol=bound, atol=bound), f"{what}: {name}: {one} {two}"
    for (name, each), other in zip(found.named_buffers(), wanted.buffers(), strict=True):
        assert torch.allclose(each, other, rtol=bound, atol=bound), f"{what}: {name}: {each} {other}"


class Branches(nn.Module):
    """Each process uses one of the branches, and the first layer twice, in backward passes of their own."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 6)
        self.branches = nn.ModuleList(nn.Linear(6, 3) for _ in range(4))
        self.never = nn.Linear(6, 3)

    def forward(self, x, branch):
        for _ in range(2):
            x = checkpoint(self.first, x, use_reentrant=True).tanh()
        return self.branches[branch](x)


def branches():
    torch.manual_seed(3)
    return Branches().double()


def a_static_graph(rank, size):
    model, alone = branches(), branches()
    parallel = Parallel(model, static_graph=True)
    for step in range(3):
        model.zero_grad()
        alone.zero_grad()
        parallel(batch(rank, step).requires_grad_(), rank).sum().backward()
        sum(alone(batch(each, step).requires_grad_(), each).sum() / size for each in range(size)).backward()
        same(model, alone, f"static graph, step {step}")
    try:
        parallel(batch(rank, 0).requires_grad_(), 3).sum().backward()
    except RuntimeError as error:
        assert "Your training graph has changed in this iteration" in str(error), error
    else:
        raise AssertionError("another graph was not found out")


def nothing_used(rank, size):
    """One process uses no parameter at all."""
    model, alone = plain(), plain()
    parallel = Parallel(model, find_unused_parameters=True)
    x = batch(rank, 0)
    output = parallel.module(x).detach() if rank == 0 else None
    if rank == 0:
        parallel.module, kept = nn.Identity(), parallel.module
        output = parallel(x.requires_grad_())
        parallel.module = kept
    else:
        output = parallel(x)
    output.sum().backward()
    sum(alone(batch(each, 0)).sum() / size for each in range(1, size)).backward()
    same(model, alone, "nothing used")


def uneven(rank, size, by_all, options):
    """Rank r has 2 + r inputs."""
    model, alone = plain(rank), plain()
    parallel = Parallel(model, **options)
    steps = [torch.optim.SGD(each.parameters(), lr=0.1, momentum=0.9) for each in (parallel, alone)]
    with parallel.join(divide_by_initial_world_size=by_all):
        for step in range(2 + rank):
            steps[0].zero_grad()
            parallel(batch(rank, step)).square().mean().backward()
            steps[0].step()
    for step in range(1 + size):
        active = [each for each in range(size) if step < 2 + each]
        steps[1].zero_grad()
        losses = [alone(batch(each, step)).square().mean() for each in active]
        (sum(losses) / (size if by_all else len(active))).backward()
        steps[1].step()
    for one, two in zip(model.parameters(), alone.parameters(), strict=True):
        assert torch.allclose(one, two, rtol=1e-12, atol=1e-12), f"uneven inputs {by_all} {options}"


def uneven_with_buffers(rank, size):
    model = nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5)).double()
    parallel = Parallel(model)
    with parallel.join():
        for step in range(2 + rank):
            with parallel.no_sync() if step == 0 else nullcontext():
                parallel(batch(rank, step)).sum().backward()
    said = [None] * size
    dist.all_gather_object(said, [each.tolist() for each in model.state_dict().values()])
    assert all(each == said[0] for each in said), "buffers and parameters are those of the last process"
    assert model[1].num_batches_tracked == 1 + size


def stopped_early(rank):
    parallel = Parallel(plain())
    try:
        with parallel.join(throw_on_early_termination=True):
            for step in range(2 + rank):
                parallel(batch(rank, step)).sum().backward()
    except RuntimeError as error:
        assert "exhausted" in str(error), error
    else:
        raise AssertionError("nothing was raised")


class Counter(Joinable):
    """A joinable of a program's own."""

    def __init__(self):
        super().__init__()
        self.total = 0

    def __call__(self):
        Join.notify_join_context(self)
        count = torch.ones(1)
        dist.all_reduce(count)
        self.total += int(count)

    def join_hook(self, **kwargs):
        counter = self

        class Hook(JoinHook):
            def main_hook(self):
                dist.all_reduce(torch.zeros(1))

            def post_hook(self, is_last_joiner):
                counter.was_last = is_last_joiner

        return Hook()

    @property
    def join_device(self):
        return torch.device("cpu")

    @property
    def join_process_group(self):
        return dist.group.WORLD


def counted(rank, size):
    counter = Counter()
    with Join([counter]):
        for _ in range(1 + rank):
            counter()
    assert counter.total == sum(size - step for step in range(1 + rank))
    assert counter.was_last == (rank == size - 1)


def hooked(rank, size):
    reference = plain()
    sum(reference(batch(each, 0)).sum() / size for each in range(size)).backward()
    twice = lambda state, bucket: hooks.allreduce_hook(state, bucket).then(
        lambda future: future.value() * 2
    )  # noqa: E731
    cases = [
        (hooks.allreduce_hook, 1, 1e-12),
        (hooks.fp16_compress_hook, 1, 2e-3),
        (hooks.bf16_compress_hook, 1, 2e-2),
        (hooks.fp16_compress_wrapper(twice), 2, 2e-3),
        (hooks.bf16_compress_wrapper(twice), 2, 2e-2),
    ]
    for hook, factor, bound in cases:
        model = plain()
        parallel = Parallel(model, bucket_cap_mb=1e-4)
        parallel.register_comm_hook(None, hook)
        for _ in range(2):
            model.zero_grad()
            parallel(batch(rank, 0)).sum().backward()
        for one, two in zip(model.parameters(), reference.parameters(), strict=True):
            assert one.grad.dtype is WIDE and torch.allclose(one.grad, factor * two.grad, rtol=bound, atol=bound)
            assert (
                one.ndim == 1 or bound < 1e-6 or not torch.equal(one.grad, factor * two.grad)
            ), "it was not compressed"


def views(rank, size):
    """Gradients are parts of the buckets, in the memory order of the parameters."""
    model = nn.Conv2d(2, 3, 3).double().to(memory_format=torch.channels_last)
    parallel = Parallel(model, gradient_as_bucket_view=True)
    for _ in range(2):
        x = torch.full((1, 2, 4, 4), 1.0 + rank, dtype=WIDE)
        parallel(x).sum().backward()
        assert model.weight.grad.stride() == model.weight.stride() != (18, 9, 3, 1)
        assert model.weight.grad._base is not None and model.weight.grad._base is model.bias.grad._base
    assert torch.allclose(model.weight.grad, torch.full((), 4.0 * (1 + size), dtype=WIDE))
    model.zero_grad(set_to_none=False)
    parallel(x).sum().backward()
    assert torch.allclose(model.weight.grad, torch.full((), 2.0 * (1 + size), dtype=WIDE))


def normalized(rank, size):
    torch.manual_seed(5)
    model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.Tanh(), nn.Flatten(), nn.Linear(12, 2)).double()
    torch.manual_seed(5)
    alone = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.Tanh(), nn.Flatten(), nn.Linear(12, 2)).double()
    model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    parallel = Parallel(model)

    def images(each, step):
        torch.manual_seed(10 * step + each)
        return (1 + each) * torch.randn(2 + each, 2, 4, 4, dtype=WIDE) + each

    for step in range(2):
        total = sum(2 + each for each in range(size))
        for one in (model, alone):
            one.zero_grad()
        own, all_of_them = images(rank, step), torch.cat([images(each, step) for each in range(size)])
        (parallel(own).square().sum() * size / total).backward()
        (alone(all_of_them).square().sum() / total).backward()
        same(model, alone, f"SyncBatchNorm, step {step}")
    model.eval(), alone.eval()
    assert torch.allclose(parallel(own), alone(own))


def buffers(rank):
    torch.manual_seed(rank)
    model = nn.BatchNorm1d(3)
    model.running_mean += rank
    for options, wanted in (({}, 0), ({"forward_sync_buffers": False}, 0), ({"broadcast_buffers": False}, rank)):
        own = nn.BatchNorm1d(3)
        own.running_mean += rank
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            parallel = Parallel(own, **options)
        assert len(caught) == ("broadcast_buffers" in options)
        assert own.running_mean.tolist() == [wanted] * 3, options
        own.running_mean.fill_(rank)
        parallel(torch.zeros(2, 3))
        assert parallel.broadcast_buffers == (not options)
        assert torch.allclose(own.running_mean, torch.tensor(0.0 if not options else 0.9 * rank)), options


def low_precision(rank, size):
    model = plain().float()
    parallel = Parallel(model, mixed_precision=_MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32))
    output = parallel(batch(rank, 0).float())
    assert output.dtype is torch.bfloat16
    output.sum().backward()
    total = [torch.zeros_like(each) for each in model.parameters()]
    for each in range(size):
        alone = plain().bfloat16()
        alone(batch(each, 0).bfloat16()).sum().backward()
        for sum_, one in zip(total, alone.parameters(), strict=True):
            sum_ += one.grad.float() / size
    for one, two in zip(model.parameters(), total, strict=True):
        assert one.dtype is one.grad.dtype is torch.float32
        assert torch.allclose(one.grad, two, rtol=1e-6), (one.grad, two)


def clipped(rank, size):
    model, alone = plain(), plain()
    parallel = Parallel(model)
    (10 * parallel(batch(rank, 0)).square().mean()).backward()
    (10 * alone(torch.cat([batch(each, 0) for each in range(size)])).square().mean()).backward()
    norms = [nn.utils.clip_grad_norm_(each.parameters(), 0.5) for each in (parallel, alone)]
    assert torch.allclose(norms[0], norms[1], rtol=1e-12) and norms[0] > 0.5
    same(model, alone, "clipped")


def refused():
    model = plain()
    parallel = Parallel(model)
    parallel.register_comm_hook(None, hooks.allreduce_hook)
    for call, kind, text in (
        (lambda: parallel.register_comm_hook(None, hooks.allreduce_hook), RuntimeError, "can only be called once"),
        (lambda: parallel.register_comm_hook(None, 3), TypeError, "must be callable"),
        (lambda: Parallel(nn.Tanh()), RuntimeError, "is not needed"),
        (lambda: Parallel(model, bucket_cap_mb_list=[1]), NotImplementedError, "bucket_cap_mb_list"),
        (lambda: Join([]), ValueError, "at least one joinable"),
    ):
        try:
            call()
        except kind as error:
            assert text in str(error), error
        else:
            raise AssertionError(text)


def main():
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    a_static_graph(rank, size)
    dist.barrier()
    nothing_used(rank, size)
    for by_all in (True, False):
        for options in ({}, {"find_unused_parameters": True}, {"static_graph": True}):
            uneven(rank, size, by_all, options)
    uneven_with_buffers(rank, size)
    stopped_early(rank)
    counted(rank, size)
    hooked(rank, size)
    views(rank, size)
    normalized(rank, size)
    buffers(rank)
    low_precision(rank, size)
    clipped(rank, size)
    refused()
    dist.destroy_process_group()
    print("equal")


if __name__ == "__main__":
    main()
