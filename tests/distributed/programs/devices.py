"""Collectives of tensors on NPUs: every one on the simulated device, against the same on the CPU."""

import os
import sys

from tests.npu import simulator

DEVICE = simulator.start()

import mindtorch as torch  # noqa: E402
import mindtorch.distributed as dist  # noqa: E402

OPS = dist.ReduceOp
DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
          torch.float32, torch.float64]  # fmt: skip
REDUCED = [each for each in DTYPES if each not in (torch.uint8, torch.float64)]


def drawn(dtype, rank, shape=(4, 3, 2, 2)):
    """The numbers of a process."""
    generator = torch.Generator().manual_seed(rank)
    return torch.randint(0, 3, shape, generator=generator).to(dtype)


def last(tensor):
    return tensor.to(memory_format=torch.channels_last)


def part(tensor):
    """Inside a larger tensor, away from its beginning."""
    whole = torch.zeros((3, *tensor.shape), dtype=tensor.dtype, device=tensor.device)
    whole[1] = tensor
    return whole[1]


LAYOUTS = {"rows": lambda tensor: tensor, "channels last": last, "part": part}


def results(call, place, dtype, layout):
    """What a call does to tensors on a device."""
    tensor = LAYOUTS[layout](drawn(dtype, dist.get_rank()).to(place))
    others = [LAYOUTS[layout](torch.zeros_like(tensor)) for _ in range(dist.get_world_size())]
    return call(tensor, others)


def checked(work):
    if work is not None:
        work.wait()


def all_reduce(op):
    def call(tensor, others, **way):
        checked(dist.all_reduce(tensor, op, **way))
        return [tensor]

    return call


def reduce(tensor, others, **way):
    checked(dist.reduce(tensor, 1, **way))
    return [tensor] if dist.get_rank() == 1 else []


def broadcast(tensor, others, **way):
    checked(dist.broadcast(tensor, 1, **way))
    return [tensor]


def all_gather(tensor, others, **way):
    checked(dist.all_gather(others, tensor, **way))
    return others


def all_gather_single(tensor, others, **way):
    output = torch.zeros((len(others) * tensor.shape[0], *tensor.shape[1:]), dtype=tensor.dtype, device=tensor.device)
    checked(dist.all_gather_single(output, tensor.contiguous(), **way))
    return [output]


def gather(tensor, others, **way):
    is_root = dist.get_rank() == 0
    checked(dist.gather(tensor, others if is_root else None, 0, **way))
    return others if is_root else []


def scatter(tensor, others, **way):
    given = [tensor + place for place in range(len(others))] if tensor.dtype != torch.bool else [tensor] * len(others)
    output = torch.zeros_like(tensor)
    checked(dist.scatter(output, given if dist.get_rank() == 1 else None, 1, **way))
    return [output]


def reduce_scatter(tensor, others, **way):
    output = torch.zeros_like(tensor)
    checked(dist.reduce_scatter(output, [tensor] * len(others), **way))
    return [output]


def reduce_scatter_single(tensor, others, **way):
    tensor = tensor.contiguous().repeat(len(others), 1, 1, 1)
    output = torch.zeros(tensor.shape[0] // len(others), *tensor.shape[1:], dtype=tensor.dtype, device=tensor.device)
    checked(dist.reduce_scatter_single(output, tensor, **way))
    return [output]


def all_to_all(tensor, others, **way):
    checked(dist.all_to_all(others, [tensor.clone() for _ in others], **way))
    return others


def all_to_all_single(tensor, others, **way):
    rank, size = dist.get_rank(), dist.get_world_size()
    tensor = tensor.flatten()[: sum(rank + place for place in range(size))].contiguous()
    counts = [rank + place for place in range(size)]
    output = torch.zeros(sum(counts), dtype=tensor.dtype, device=tensor.device)
    checked(dist.all_to_all_single(output, tensor, counts, counts, **way))
    return [output]


def coalesced(tensor, others, **way):
    with dist._coalescing_manager(async_ops=bool(way)) as manager:
        dist.all_reduce(tensor)
        dist.all_reduce(others[0].add_(1) if tensor.dtype != torch.bool else others[0])
    manager.wait()
    return [tensor, others[0]]


REDUCTIONS = {
    "sum": all_reduce(OPS.SUM), "max": all_reduce(OPS.MAX), "min": all_reduce(OPS.MIN), "reduce": reduce,
    "reduce_scatter": reduce_scatter, "reduce_scatter_single": reduce_scatter_single, "coalesced": coalesced,
}  # fmt: skip
MOVES = {
    "broadcast": broadcast, "all_gather": all_gather, "all_gather_single": all_gather_single, "gather": gather,
    "scatter": scatter, "all_to_all": all_to_all, "all_to_all_single": all_to_all_single,
}  # fmt: skip


def table():
    """Each collective, dtype and layout, at once and asynchronously."""
    count = 0
    cases = [(name, call, dtype) for name, call in REDUCTIONS.items() for dtype in REDUCED]
    cases += [(name, call, dtype) for name, call in MOVES.items() for dtype in DTYPES]
    for name, call, dtype in cases:
        for layout in LAYOUTS if dtype in (torch.float32, torch.bool) else ["rows"]:
            want = results(call, "cpu", dtype, layout)
            for way in ({}, {"async_op": True}):
                got = results(lambda *given, call=call, way=way: call(*given, **way), "npu", dtype, layout)
                for one, other in zip(want, got, strict=True):
                    assert other.device.type == "npu" and other.dtype == one.dtype
                    assert torch.equal(one, other.cpu()), (name, dtype, layout, way, one, other)
                count += 1
    return count


def messages():
    """Messages to neighbours, one by one and all at once."""
    rank, size = dist.get_rank(), dist.get_world_size()
    x = torch.full((5,), float(rank), device="npu")
    y = torch.zeros(5, device="npu")
    if rank == 0:
        dist.send(x, 1)
    elif rank == 1:
        assert dist.recv(y, 0) == 0
        assert y.cpu().tolist() == [0.0] * 5
    ops = [dist.P2POp(dist.isend, x, (rank + 1) % size), dist.P2POp(dist.irecv, y, (rank - 1) % size)]
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    assert y.cpu().tolist() == [float((rank - 1) % size)] * 5


def streams():
    """The collective follows the stream of its caller, and what comes next follows it."""
    side = torch.npu.Stream()
    x = torch.ones(1000, device="npu")
    torch.npu.synchronize()
    with torch.npu.stream(side):
        x.mul_(3)
        dist.all_reduce(x)
        y = x + 1
        work = dist.all_reduce(x, async_op=True)
        work.wait()
        z = x + 1
    side.synchronize()
    size = dist.get_world_size()
    assert y.cpu()[0].item() == 3 * size + 1
    assert z.cpu()[0].item() == 3 * size * size + 1


def refusals():
    """What HCCL does not have."""
    x = torch.ones(3, dtype=torch.float64, device="npu")
    calls = [lambda: dist.all_reduce(x), lambda: dist.all_reduce(x.int(), OPS.BAND), lambda: dist.all_reduce(x[::2])]
    for wrong in calls:
        try:
            wrong()
        except (RuntimeError, ValueError) as error:
            print(type(error).__name__, error)
        else:
            raise AssertionError("not refused")
    differing = torch.ones(3 + dist.get_rank(), device="npu")
    try:
        dist.all_reduce(differing)
    except RuntimeError as error:
        assert "Detected mismatch" in str(error), error
    else:
        raise AssertionError("not refused")
    assert differing.cpu().sum().item() == 3 + dist.get_rank()


def groups():
    """Parts of the processes, and one with its devices that is gone before the others."""
    pair = dist.new_group([0, 1])
    if dist.get_rank() < 2:
        x = torch.ones(2, device="npu")
        dist.all_reduce(x, group=pair)
        assert x.cpu().tolist() == [2.0, 2.0]
        dist.destroy_process_group(pair)
    dist.barrier()


def main():
    dist.init_process_group("cpu:gloo,npu:hccl")
    torch.npu.set_device(dist.get_rank() % 2)
    if "alone" in sys.argv:
        streams()
    else:
        print("cases:", table())
        for part_of_it in (messages, streams, refusals, groups):
            part_of_it()
    dist.destroy_process_group()
    torch.npu.synchronize()
    violations = DEVICE.violations()
    assert not violations, violations
    assert not DEVICE.stats()["communicators"]
    print("done", os.getpid())


if __name__ == "__main__":
    sys.exit(main())
