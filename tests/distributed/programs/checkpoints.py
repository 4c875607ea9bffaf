"""Training that is saved by some processes and goes on in another number of them: `checkpoints.py save|load FOLDER`."""

import os
import sys

import mindtorch as torch
import mindtorch.distributed as dist
import mindtorch.distributed.checkpoint as dcp
from mindtorch import nn
from mindtorch.distributed.checkpoint import state_dict as states
from mindtorch.nn.parallel import DistributedDataParallel


def made():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3)).double()
    return model, torch.optim.AdamW(model.parameters(), lr=0.05)


def batch(step):
    torch.manual_seed(step + 1)
    return torch.randn(12, 6, dtype=torch.float64)


def losses_of(model, optimizer, steps, rank=0, size=1):
    found = []
    for step in steps:
        optimizer.zero_grad()
        loss = model(batch(step).chunk(size)[rank]).square().mean()
        loss.backward()
        optimizer.step()
        total = loss.detach()
        if size > 1:
            dist.all_reduce(total)
        found.append(total.item() / size)
    return found


def everything(model, optimizer, options=None):
    own, of_optimizer = states.get_state_dict(model, optimizer, options=options)
    return {"model": own, "optimizer": of_optimizer, "counter": torch.tensor(0)}


def save(folder, rank, size):
    model, optimizer = made()
    parallel = DistributedDataParallel(model)
    losses_of(parallel, optimizer, range(3), rank, size)
    state = everything(parallel, optimizer)
    metadata = dcp.save(state, checkpoint_id=f"{folder}/sync")
    assert "model.0.weight" in metadata.state_dict_metadata, "names are without the wrapper's"
    future = dcp.async_save(state, checkpoint_id=f"{folder}/async")
    losses_of(parallel, optimizer, range(3, 5), rank, size)  # meanwhile
    future.result()
    broken = {"a": torch.ones(2 + rank)}
    for call in (
        lambda: dcp.save(broken, checkpoint_id=f"{folder}/broken"),
        lambda: dcp.load({"no such": torch.ones(1)} if rank == 0 else {}, checkpoint_id=f"{folder}/sync"),
    ):
        try:
            call()
        except dcp.CheckpointException as error:
            assert list(error.failures) == [0], error
        else:
            raise AssertionError("an error of one process was not an error of all")


def load(folder, rank, size):
    wanted = losses_of(*made(), range(6))
    for place in ("sync", "async"):
        model, optimizer = made()
        parallel = DistributedDataParallel(model) if size > 1 else model
        state = everything(parallel, optimizer)
        dcp.load(state, checkpoint_id=f"{folder}/{place}")
        states.set_state_dict(parallel, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])
        found = losses_of(parallel, optimizer, range(3, 6), rank, size)
        for one, two in zip(found, wanted[3:], strict=True):
            assert abs(one - two) < 1e-12, (found, wanted)


def from_one_process(rank):
    """The state that only the process of rank 0 has."""
    options = states.StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    model, optimizer = made()
    losses_of(model, optimizer, range(2))
    given = everything(model, optimizer)
    fresh, other = made()
    states.set_state_dict(
        fresh,
        other,
        model_state_dict=given["model"] if rank == 0 else {},
        optim_state_dict=given["optimizer"] if rank == 0 else {},
        options=options,
    )
    assert losses_of(fresh, other, range(2, 4)) == losses_of(model, optimizer, range(2, 4))
    whole = states.get_model_state_dict(model, options=states.StateDictOptions(full_state_dict=True, cpu_offload=True))
    assert (whole == {}) == (rank != 0)


def main():
    what, folder = sys.argv[1:]
    if "RANK" in os.environ:
        dist.init_process_group("gloo")
    rank, size = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
    if what == "save":
        save(folder, rank, size)
        from_one_process(rank)
    else:
        load(folder, rank, size)
    if dist.is_initialized():
        dist.destroy_process_group()
    print("equal")


if __name__ == "__main__":
    main()
