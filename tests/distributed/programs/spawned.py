"""A program as PyTorch's tutorials have it: it starts its own processes, which are told their ranks."""

import os
import sys

import mindtorch as torch
import mindtorch.distributed as dist
import mindtorch.multiprocessing as mp


def begin(rank, world_size, how):
    if how == "environment":
        os.environ["MASTER_ADDR"] = "localhost"
        os.environ["MASTER_PORT"] = sys.argv[2]
        dist.init_process_group("gloo", rank=rank, world_size=world_size)
    else:
        dist.init_process_group("gloo", init_method=how, rank=rank, world_size=world_size)


def worker(rank, world_size, how, is_broken):
    begin(rank, world_size, how)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2))
    model(torch.full((1, 3), rank + 1.0)).sum().backward()
    assert model.module.weight.grad.tolist() == [[(world_size + 1) / 2] * 3] * 2
    if is_broken and rank == 1:
        raise ValueError("the data of this process is broken")
    dist.barrier()
    print(f"{dist.get_backend()} rank {rank} done", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    size = 2
    try:
        mp.spawn(worker, args=(size, sys.argv[1], "broken" in sys.argv), nprocs=size)
    except mp.ProcessRaisedException as error:
        print(error)
