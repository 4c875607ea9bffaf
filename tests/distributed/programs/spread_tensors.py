"""DTensors: each op on every way of spreading its inputs, against the op on whole tensors; and layers in parallel."""

import itertools

import mindtorch as torch
import mindtorch.distributed as dist
from mindtorch import nn
from mindtorch.distributed.device_mesh import init_device_mesh
from mindtorch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor, zeros
from mindtorch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)


def numbers(*shape, seed=0):
    torch.manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64)


def ways(mesh, ndim):
    """Every way of spreading over a mesh."""
    of_one = [Replicate(), Partial(), *(Shard(dim) for dim in range(ndim))]
    return list(itertools.product(of_one, repeat=mesh.ndim))


def spread(tensor, mesh, placements):
    whole = distribute_tensor(tensor, mesh, [Replicate()] * mesh.ndim)
    return whole.redistribute(placements=placements).detach().requires_grad_(tensor.requires_grad)


def close(found, wanted, what):
    assert isinstance(found, DTensor), what
    assert found.shape == wanted.shape, (what, found.shape, wanted.shape)
    assert torch.allclose(found.full_tensor(), wanted, rtol=1e-12, atol=1e-12), (what, found, wanted)


def moves(mesh, shape):
    x = numbers(*shape)
    pairs = list(itertools.product(ways(mesh, len(shape)), repeat=2))
    for first, second in pairs[:: 2 * mesh.ndim - 1]:
        one = spread(x, mesh, first)
        two = one.redistribute(placements=second)
        assert two.placements == tuple(second)
        close(two, x, (first, second))
        if not any(each.is_partial() for each in second):
            fresh = distribute_tensor(x, mesh, second)
            assert torch.equal(two.to_local(), fresh.to_local()) or any(each.is_partial() for each in first)
            assert two.to_local().shape == fresh.to_local().shape


OPS = {
    "add": (lambda a, b: a + b, (4, 6), (4, 6)),
    "add broadcast": (lambda a, b: a + b, (4, 6), (6,)),
    "add a number": (lambda a: a + 2, (5, 3)),
    "mul": (lambda a, b: a * b, (4, 6), (4, 1)),
    "tanh": (lambda a: a.tanh(), (5, 4)),
    "where": (lambda a, b: torch.where(a > 0, a, b), (4, 3), (4, 3)),
    "matmul": (lambda a, b: a @ b, (4, 6), (6, 3)),
    "matmul of batches": (lambda a, b: a @ b, (2, 3, 4), (2, 4, 5)),
    "linear": (nn.functional.linear, (4, 6), (3, 6), (3,)),
    "linear of batches": (nn.functional.linear, (2, 4, 6), (3, 6), (3,)),
    "sum": (lambda a: a.sum(), (5, 3)),
    "sum along": (lambda a: a.sum(1), (5, 3)),
    "sum along, kept": (lambda a: a.sum(0, keepdim=True), (5, 3)),
    "mean": (lambda a: a.mean(), (5, 4)),
    "mean along": (lambda a: a.mean(-1), (4, 4)),
    "norm": (lambda a: torch.linalg.vector_norm(a), (5, 3)),
    "norm 1": (lambda a: torch.linalg.vector_norm(a, 1), (5, 3)),
    "norm inf": (lambda a: torch.linalg.vector_norm(a, float("inf")), (5, 3)),
    "amax": (lambda a: a.amax(1), (5, 3)),
    "t": (lambda a: a.t(), (5, 3)),
    "transpose": (lambda a: a.transpose(0, 2), (2, 3, 4)),
    "permute": (lambda a: a.permute(2, 0, 1), (2, 3, 4)),
    "unsqueeze": (lambda a: a.unsqueeze(1), (4, 3)),
    "view joined": (lambda a: a.reshape(12, 2), (4, 3, 2)),
    "view split": (lambda a: a.view(2, 4, 3), (8, 3)),
    "view -1": (lambda a: a.view(-1), (4, 4)),
    "expand": (lambda a: a.expand(4, 3), (1, 3)),
    "stack": (lambda a, b: torch.stack([a, b], 1), (4, 3), (4, 3)),
    "cat": (lambda a, b: torch.cat([a, b], 1), (4, 3), (4, 2)),
    "split": (lambda a: torch.split(a, 2, 1)[1], (4, 6)),
    "select": (lambda a: a[1:3].select(0, 1), (4, 6)),
    "softmax": (lambda a: a.softmax(1), (4, 3)),
    "log_softmax": (lambda a: a.log_softmax(-1), (4, 3)),
    "layer_norm": (lambda a, w, b: nn.functional.layer_norm(a, (6,), w, b), (2, 4, 6), (6,), (6,)),
    "layer_norm of two": (lambda a: nn.functional.layer_norm(a, (3, 2)), (5, 3, 2)),
    "square of a sum": (lambda a: (a @ a.t()).square().mean(), (4, 3)),
}


def every_op(mesh):
    count = 0
    for name, (op, *shapes) in OPS.items():
        given = [numbers(*shape, seed=place) for place, shape in enumerate(shapes)]
        combined = list(itertools.product(*(ways(mesh, len(shape)) for shape in shapes)))
        for placements in combined if mesh.ndim == 1 else combined[:: 1 + len(combined) // 4]:
            what = (name, placements)
            plain = [each.clone().requires_grad_() for each in given]
            parts = [spread(each, mesh, how) for each, how in zip(plain, placements, strict=True)]
            wanted = op(*plain)
            found = op(*parts)
            close(found, wanted, what)
            wanted.square().sum().backward()
            found.square().sum().backward()
            for one, two in zip(parts, plain, strict=True):
                close(one.grad, two.grad, (*what, "gradient"))
            count += 1
    return count


def made_from_parts(mesh, rank, size):
    local = torch.full((2, 3), float(rank), dtype=torch.float64, requires_grad=True)
    whole = DTensor.from_local(local, mesh, [Shard(0)])
    assert whole.shape == (2 * size, 3)
    (whole.full_tensor() * torch.arange(2.0 * size).unsqueeze(1)).sum().backward()
    assert local.grad[:, 0].tolist() == [2 * rank, 2 * rank + 1], local.grad
    summand = torch.full((2,), 1.0 + rank, requires_grad=True)
    total = DTensor.from_local(summand, mesh, [Partial()]).full_tensor()
    assert total.tolist() == [size * (size + 1) / 2] * 2
    total.sum().backward()
    assert summand.grad.tolist() == [1, 1]
    checked = DTensor.from_local(torch.tensor([float(rank)]), mesh, [Replicate()], run_check=True)
    assert checked.to_local().item() == 0
    assert zeros(5, 2, device_mesh=mesh, placements=[Shard(0)]).full_tensor().shape == (5, 2)


def in_place(mesh):
    plain = numbers(5, 3)
    tensor = distribute_tensor(plain, mesh, [Shard(0)])
    other = DTensor.from_local(torch.ones(5, 3, dtype=torch.float64), mesh, [Partial()])
    kept = tensor.to_local()
    tensor.mul_(2).add_(other, alpha=0.5)
    assert tensor.to_local() is not None and torch.equal(kept, tensor.to_local())
    close(tensor, plain * 2 + 0.5 * mesh.size(), "in place")


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, x):
        return self.down(self.up(x).tanh())


def layers():
    torch.manual_seed(0)
    return Layers().double()


def in_parallel(mesh):
    model, alone = layers(), layers()
    parallelize_module(model, mesh, {"up": ColwiseParallel(), "d*": RowwiseParallel()})
    assert model.up.weight.placements == (Shard(0),) and model.up.weight.to_local().numel() < 48
    train(model, alone, lambda x: x)


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.layers, self.last = nn.LayerNorm(6), Layers(), nn.RMSNorm(3)

    def forward(self, x):
        return self.last(self.layers(self.first(x)))


def normed():
    torch.manual_seed(0)
    return Normed().double()


def along_a_sequence(mesh, rank, size):
    model, alone = normed(), normed()
    plan = {
        "first": SequenceParallel(),
        "layers.up": ColwiseParallel(input_layouts=Shard(1)),
        "layers.down": RowwiseParallel(output_layouts=Shard(1)),
        "last": SequenceParallel(use_local_output=True),
    }
    assert repr(plan["last"]) == "SequenceParallel(sequence_dim=1, use_local_output=True)"
    parallelize_module(model, mesh, plan)
    train(model, alone, lambda x: x.chunk(size, 1)[rank])
    norm = parallelize_module(nn.LayerNorm(6), mesh, SequenceParallel(sequence_dim=0))
    assert norm(distribute_tensor(torch.ones(4, 6), mesh, [Replicate()])).placements == (Shard(0),)
    refuses(lambda: norm([1]), ValueError, "to be a torch.Tensor or DTensor, but got [1]")


def train(model, alone, part):
    """A few steps; `part` takes what this process gets and gives."""
    optimizers = [torch.optim.AdamW(each.parameters(), lr=0.05) for each in (model, alone)]
    for step in range(3):
        other = numbers(2, 4, 6, seed=step).requires_grad_()
        x = part(other.detach()).clone().requires_grad_()
        for optimizer in optimizers:
            optimizer.zero_grad()
        found, wanted = model(x), alone(other)
        assert type(found) is torch.Tensor and torch.allclose(found, part(wanted), rtol=1e-12)
        found.exp().sum().backward()  # the sum of squares hardly depends on what comes before a norm
        wanted.exp().sum().backward()
        assert torch.allclose(x.grad, part(other.grad), rtol=1e-12)
        norms = [nn.utils.clip_grad_norm_(each.parameters(), 1.0) for each in (model, alone)]
        close(norms[0], norms[1], "norm of the gradients")
        for (name, one), two in zip(model.named_parameters(), alone.parameters(), strict=True):
            close(one.grad, two.grad, name)
        for optimizer in optimizers:
            optimizer.step()
        for (name, one), two in zip(model.named_parameters(), alone.parameters(), strict=True):
            assert isinstance(one, nn.Parameter)
            close(one, two, name)


def refuses(call, kind, text):
    try:
        call()
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)


def refused(mesh):
    x = distribute_tensor(numbers(4, 4), mesh, [Shard(0)])
    text = "does not have a sharding strategy registered"
    refuses(lambda: x.put(x.long(), x), NotImplementedError, text)
    refuses(lambda: torch.matrix_exp(x), NotImplementedError, text)
    refuses(lambda: x + torch.ones(4), RuntimeError, "got mixed torch.Tensor and DTensor")
    refuses(lambda: distribute_tensor(numbers(4), mesh, [Shard(1)]), RuntimeError, "greater than tensor ndim")
    refuses(lambda: x.redistribute(), RuntimeError, "placements is needed")
    refuses(lambda: x.redistribute(placements=[Shard(0)] * 2), ValueError, "must have the same length")
    refuses(lambda: PrepareModuleInput(input_layouts=Shard(0)), AssertionError, "desired module inputs")
    refuses(lambda: parallelize_module(nn.Tanh(), mesh, ColwiseParallel()), NotImplementedError, "nn.Linear")


def main():
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    mesh = init_device_mesh("cpu", (size,))
    wide = init_device_mesh("cpu", (2, 2)) if size == 4 else mesh
    moves(wide, (5, 3))
    count = every_op(wide)
    made_from_parts(mesh, rank, size)
    in_place(mesh)
    in_parallel(mesh)
    along_a_sequence(mesh, rank, size)
    refused(mesh)
    dist.destroy_process_group()
    print("equal", count)


if __name__ == "__main__":
    main()
