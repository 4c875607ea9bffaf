"""Reductions of large tensors, which go by parts: sizes on both sides of the limits, and such as don't divide."""

import mindtorch as torch
import mindtorch.distributed as dist


def check(dtype, size):
    rank, count = dist.get_rank(), dist.get_world_size()
    given = [((torch.arange(size) % 7 + each) % 3).to(dtype) for each in range(count)]
    total = sum(each.to(torch.int64) for each in given).to(dtype)
    found = given[rank].clone()
    dist.all_reduce(found)
    assert torch.equal(found, total), (dtype, size, "all_reduce")
    found = given[rank].clone()
    dist.all_reduce(found, dist.ReduceOp.MAX)
    assert torch.equal(found, torch.stack(given).to(torch.int64).amax(0).to(dtype)), (dtype, size, "MAX")
    found = given[rank].clone()
    dist.reduce(found, count - 1)
    assert torch.equal(found, total if rank == count - 1 else given[rank]), (dtype, size, "reduce")
    part = torch.zeros(size // count, dtype=dtype)
    dist.reduce_scatter_single(part, given[rank][: count * len(part)])
    assert torch.equal(part, total[rank * len(part) : (rank + 1) * len(part)]), (dtype, size, "reduce_scatter")


def main():
    dist.init_process_group("gloo")
    for dtype in (torch.bfloat16, torch.float16, torch.float32, torch.bool, torch.int64):
        for size in (32767, 32769, 100003, 1_200_003):
            check(dtype, size)
    print("large tensors are right")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
