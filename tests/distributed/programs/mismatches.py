"""Processes that do different things: each gets an error that names the difference, and all can go on."""

import mindtorch as torch
import mindtorch.distributed as dist


def expect(call, *parts):
    try:
        call()
    except RuntimeError as error:
        text = str(error)
        missing = [part for part in parts if part not in text]
        assert not missing, f"{missing} is not in {text}"
    else:
        raise AssertionError(f"no error of {parts}")


def main():
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    odd = rank == size - 1
    start = "Detected mismatch between collectives on ranks. Rank "
    tensor = torch.full((4,), 7.0)

    expect(lambda: dist.all_reduce(torch.ones(3 if odd else 4)), start, "TensorShape=[3]", "TensorShape=[4]")
    expect(lambda: dist.all_reduce(torch.ones(4, dtype=torch.int32 if odd else torch.float32)), "=Int,", "=Float,")
    expect(
        lambda: dist.broadcast(tensor, 0) if odd else dist.all_reduce(tensor), "OpType=BROADCAST", "OpType=ALLREDUCE"
    )
    expect(lambda: dist.broadcast(tensor, 1 if odd else 0), start)
    expect(lambda: dist.all_reduce(tensor, dist.ReduceOp.MAX if odd else dist.ReduceOp.SUM), start)
    image = torch.ones(1, 2, 3, 3)
    expect(lambda: dist.all_reduce(image.to(memory_format=torch.channels_last) if odd else image), start)
    parts = [torch.ones(2 if odd else 1) for _ in range(size)]
    expect(lambda: dist.all_to_all([torch.ones(1) for _ in range(size)], parts), f"rank {size - 1} sends 2 elements")
    work = dist.all_reduce(torch.ones(3 if odd else 4), async_op=True)
    expect(work.wait, start)
    assert not work.is_success() and isinstance(work.exception(), RuntimeError)

    assert torch.equal(tensor, torch.full((4,), 7.0)), "a mismatch wrote into a tensor"
    dist.all_reduce(tensor)
    assert torch.equal(tensor, torch.full((4,), 7.0 * size))
    dist.destroy_process_group()
    print("went on")


if __name__ == "__main__":
    main()
