"""fully_shard against one process with all of the data: `spread_models.py save|load FOLDER`."""

import copy
import sys
from dataclasses import replace

import mindtorch as torch
import mindtorch.distributed as dist
import mindtorch.distributed.checkpoint as dcp
from mindtorch import nn
from mindtorch.distributed.checkpoint import state_dict as states
from mindtorch.distributed.device_mesh import init_device_mesh
from mindtorch.distributed.fsdp import FSDPModule, FullyShardedDataParallel, MixedPrecisionPolicy, fully_shard
from mindtorch.distributed.tensor import DTensor, Shard, distribute_tensor


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.inner, self.outer, self.unused = nn.Linear(size, 7), nn.Linear(7, size, bias=False), nn.Linear(3, 3)
        self.frozen = nn.Parameter(torch.full((size,), 0.5), requires_grad=False)

    def forward(self, x):
        return x * self.frozen + self.outer(self.inner(x).tanh())


def made(dtype=torch.float64):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 5), Block(5), Block(5), nn.Linear(5, 3)).to(dtype)
    model.append(nn.Linear(3, 3, bias=False).to(dtype))
    model[4].weight = nn.Parameter(model[4].weight.detach())
    model.append(nn.Linear(3, 3, bias=False))
    model[5].weight = model[4].weight  # tied
    return model


def spread(mesh=None, dtype=torch.float64, **options):
    model = made(dtype)
    inside = dict(options)
    if "mp_policy" in options:
        inside["mp_policy"] = replace(options["mp_policy"], output_dtype=None)
    for block in model[1:3]:
        fully_shard(block, mesh=mesh, **inside)
    return fully_shard(model, mesh=mesh, **options)


def batch(step):
    torch.manual_seed(step + 1)
    return torch.randn(12, 6, dtype=torch.float64)


def same(model, alone, what, bound=1e-12):
    for (name, one), two in zip(model.named_parameters(), alone.parameters(), strict=True):
        assert isinstance(one, DTensor) and isinstance(one, nn.Parameter) and one.placements[-1] == Shard(0), name
        assert torch.allclose(one.full_tensor(), two, rtol=bound, atol=bound), (what, name)
        assert (one.grad is None) == (two.grad is None), (what, name)
        if two.grad is not None:
            assert torch.allclose(one.grad.full_tensor(), two.grad, rtol=bound, atol=bound), (what, name, "gradient")


def train(rank, size, mesh=None, **options):
    model, alone = spread(mesh, **options), made()
    held = sum(each.to_local().numel() for each in model.parameters())
    assert held < 0.8 * sum(each.numel() for each in alone.parameters()) or mesh is not None
    optimizers = [torch.optim.AdamW(each.parameters(), lr=0.05, weight_decay=0.1) for each in (model, alone)]
    for step in range(3):
        for optimizer in optimizers:
            optimizer.zero_grad()
        x = batch(step)
        for part in range(2):  # two backward passes, of which the first is not reduced
            model.set_requires_gradient_sync(part == 1)
            model(x.chunk(size)[rank] + part).square().mean().backward()
            alone(x + part).square().mean().backward()
        norms = [nn.utils.clip_grad_norm_(each.parameters(), 0.7) for each in (model, alone)]
        assert abs(norms[0].item() - norms[1].item()) < 1e-12
        same(model, alone, f"step {step}")
        for optimizer in optimizers:
            optimizer.step()
        same(model, alone, f"step {step}, afterwards")
        with torch.no_grad():
            assert torch.allclose(model(x), alone(x), rtol=1e-12), "with new parameters"


def memory(size):
    """After the forward pass the whole parameters are gone, and they are back for the backward pass."""
    model = spread(reshard_after_forward=True)
    gathers = []
    for group in model._groups(True):
        original = group._gathered

        def counted(original=original):
            gathers.append(1)
            return original()

        group._gathered = counted
    loss = model(batch(0)).sum()
    assert all(group._whole is None for group in model._groups(True)) and len(gathers) == 3
    loss.backward()
    assert all(group._whole is None for group in model._groups(True)) and len(gathers) == 6
    model.set_reshard_after_forward(False)
    loss = model(batch(0)).sum()
    assert all(group._whole is not None for group in model._groups(True)) and len(gathers) == 9
    loss.backward()
    assert len(gathers) == 9 and all(group._whole is None for group in model._groups(True))
    model.unshard()
    assert type(model[0].weight.data) is torch.Tensor and model[0].weight.shape == (5, 6)
    model.reshard()
    assert isinstance(model[0].weight, DTensor)


def low_precision(rank, size):
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32, output_dtype=torch.float32)
    model, alone = spread(dtype=torch.float32, mp_policy=policy), made(torch.float32).bfloat16()
    output = model(batch(0).float())
    assert output.dtype is torch.float32
    wanted = alone(batch(0).bfloat16())
    assert torch.equal(output, wanted.float())
    output.sum().backward()
    wanted.sum().backward()
    for (name, one), two in zip(model.named_parameters(), alone.parameters(), strict=True):
        assert one.dtype is torch.float32
        if two.grad is not None:
            assert one.grad.dtype is torch.float32
            assert torch.allclose(one.grad.full_tensor(), two.grad.float(), rtol=1e-2, atol=1e-2), name


def replaced():
    """Parameters that are made on the meta device, converted, or taken from a state dict, are those that compute."""
    alone = made()
    with torch.device("meta"):
        model = spread(dtype=torch.float32)
    model.to_empty(device="cpu")
    model.double()
    state = {name: nn.Parameter(whole_as(model, name, each)) for name, each in alone.state_dict().items()}
    model.load_state_dict(state, assign=True)
    x = batch(0)
    assert torch.allclose(model(x), alone(x), rtol=1e-12, atol=1e-12)
    with torch.device("meta"):
        other = spread()
    options = states.StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    states.set_model_state_dict(other, alone.state_dict() if dist.get_rank() == 0 else {}, options=options)
    assert torch.allclose(other(x), alone(x), rtol=1e-12, atol=1e-12)
    for each in (*model.parameters(), *alone.parameters()):
        each.data = each.data * 2
    assert torch.allclose(model(x), alone(x), rtol=1e-12, atol=1e-12)


def whole_as(model, name, value):
    own = model.state_dict()[name]
    return distribute_tensor(value.detach(), own.device_mesh, own.placements)


def refuses(call, kind, text):
    try:
        call()
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)


def refused():
    model = spread()
    assert isinstance(model, FSDPModule) and isinstance(model, nn.Sequential)
    assert type(model).__name__ == "FSDPSequential"
    refuses(lambda: FullyShardedDataParallel(model), NotImplementedError, "fully_shard")
    refuses(lambda: fully_shard(model), ValueError, "before")
    refuses(lambda: fully_shard(nn.Tanh(), shard_placement_fn=print), NotImplementedError, "first dimension")
    scalar = nn.ParameterList([torch.ones(())])
    refuses(lambda: fully_shard(scalar), ValueError, "scalar parameters")


def losses(model, optimizer, steps, rank, size):
    found = []
    for step in steps:
        optimizer.zero_grad()
        loss = model(batch(step).chunk(size)[rank]).square().mean()
        loss.backward()
        optimizer.step()
        total = loss.detach()
        dist.all_reduce(total)
        found.append(total.item() / size)
    return found


def checkpoints(what, folder, rank, size):
    model = spread()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    if what == "save":
        losses(model, optimizer, range(3), rank, size)
        own, of_optimizer = states.get_state_dict(model, optimizer)
        assert isinstance(own["0.weight"], DTensor)
        dcp.save({"model": own, "optimizer": of_optimizer}, checkpoint_id=folder)
        whole = states.get_model_state_dict(model, options=states.StateDictOptions(full_state_dict=True))
        fresh = spread()
        states.set_model_state_dict(fresh, whole)
        assert torch.equal(fresh[0].weight.full_tensor(), model[0].weight.full_tensor())
        copied = copy.deepcopy(model.state_dict())
        fresh.load_state_dict(copied)
    else:
        own, of_optimizer = states.get_state_dict(model, optimizer)
        state = {"model": own, "optimizer": of_optimizer}
        planner = dcp.DefaultLoadPlanner(allow_partial_load=True)  # unused parameters had no state in the optimizer
        dcp.load(state, checkpoint_id=folder, planner=planner)
        states.set_state_dict(model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])
        found = losses(model, optimizer, range(3, 6), rank, size)
        alone = made()
        other = torch.optim.AdamW(alone.parameters(), lr=0.05)
        wanted = []
        for step in range(6):
            other.zero_grad()
            loss = alone(batch(step)).square().mean()
            loss.backward()
            other.step()
            wanted.append(loss.item())
        assert all(abs(one - two) < 1e-12 for one, two in zip(found, wanted[3:], strict=True)), (found, wanted)


def main():
    what, folder = sys.argv[1:]
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    if what == "save":
        train(rank, size)
        train(rank, size, reshard_after_forward=False)
        memory(size)
        low_precision(rank, size)
        replaced()
        refused()
    checkpoints(what, folder, rank, size)
    if size == 4:
        train(rank, size, mesh=init_device_mesh("cpu", (2, 2), mesh_dim_names=("copies", "parts")))
    dist.destroy_process_group()
    print("equal")


if __name__ == "__main__":
    main()
