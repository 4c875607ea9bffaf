"""Large tensors, which go by parts: sizes on both sides of the limits, and such as don't divide; lists whose tensors
are sent from where they lie, also when they overlap; the same as between machines, which have no memory together."""

import mindtorch as torch
import mindtorch.distributed as dist
from mindtorch.distributed.engines import mpi


def check(dtype, size, group=None):
    rank, count = dist.get_rank(group), dist.get_world_size(group)
    given = [((torch.arange(size) % 7 + each) % 3).to(dtype) for each in range(count)]
    total = sum(each.to(torch.int64) for each in given).to(dtype)
    found = given[rank].clone()
    dist.all_reduce(found, group=group)
    assert torch.equal(found, total), (dtype, size, "all_reduce")
    found = given[rank].clone()
    dist.all_reduce(found, dist.ReduceOp.MAX, group)
    assert torch.equal(found, torch.stack(given).to(torch.int64).amax(0).to(dtype)), (dtype, size, "MAX")
    found = given[rank].clone()
    dist.reduce(found, group=group, group_dst=count - 1)
    assert torch.equal(found, total if rank == count - 1 else given[rank]), (dtype, size, "reduce")
    part = torch.zeros(size // count, dtype=dtype)
    dist.reduce_scatter_single(part, given[rank][: count * len(part)], group=group)
    assert torch.equal(part, total[rank * len(part) : (rank + 1) * len(part)]), (dtype, size, "reduce_scatter")


def numbers(rank, size, dtype=torch.float32):
    return ((torch.arange(size) + 3 * rank) % 11).to(dtype)


def all_gather(own, others, count):
    dist.all_gather(others, own)
    return others, [numbers(each, len(own)) for each in range(count)]


def all_gather_into_one(own, others, count):
    """The last one stays."""
    dist.all_gather([others[0]] * count, own)
    return others[:1], [numbers(count - 1, len(own))]


def all_gather_over_own(own, others, count):
    given = [*others[:-1], own]
    dist.all_gather(given, own)
    return given, [numbers(each, len(given[0])) for each in range(count)]


def all_gather_shifted(own, others, count):
    """The places overlap with what is sent."""
    whole = torch.cat([own, torch.zeros(len(own))])
    dist.all_gather([*others[:-1], whole[7 : 7 + len(own)]], whole[: len(own)])
    return [whole[7 : 7 + len(own)]], [numbers(count - 1, len(own))]


def gather(own, others, count):
    root = dist.get_rank() == count - 1
    dist.gather(own, others if root else None, count - 1)
    return (others, [numbers(each, len(own)) for each in range(count)]) if root else ([], [])


def scatter(own, others, count):
    """To a place that is one of the parts."""
    root = dist.get_rank() == 0
    parts = [*[numbers(5 + each, len(own)) for each in range(count - 1)], own]
    dist.scatter(own, parts if root else None, 0)
    rank = dist.get_rank()
    return [own], [numbers(0 if rank == count - 1 else 5 + rank, len(own))]


def reduce_scatter(own, others, count):
    """To a place that is one of the parts."""
    for each in others:
        each.copy_(own)
    dist.reduce_scatter(others[0], others)
    return others[:1], [sum(numbers(each, len(own)) for each in range(count))]


def reduce_scatter_over_input(own, others, count):
    """To a place inside of the input, which overlaps with several parts."""
    size = len(own) // count
    place = own[5 : 5 + size]
    low = dist.get_rank() * size
    wanted = sum(numbers(each, len(own)) for each in range(count))[low : low + size]
    dist.reduce_scatter_single(place, own[: count * size])
    return [place], [wanted]


def premultiplied(own, others, count):
    """The inputs stay as they are."""
    inputs = [own.clone() for _ in range(count)]
    dist.reduce_scatter(others[0], inputs, dist._make_nccl_premul_sum(2.0))
    total = 2 * sum(numbers(each, len(own)) for each in range(count))
    return [others[0], *inputs], [total, *[own] * count]


def all_to_all(own, others, count):
    rank, size = dist.get_rank(), len(own)
    parts = [numbers(rank, size + each) for each in range(count)]
    outputs = [torch.zeros(size + rank) for _ in range(count)]
    dist.all_to_all(outputs, parts)
    return outputs, [numbers(each, size + rank) for each in range(count)]


def all_to_all_over_inputs(own, others, count):
    rank, size = dist.get_rank(), len(own)
    parts = [numbers(10 * rank + each, size) for each in range(count)]
    dist.all_to_all(parts, parts)
    return parts, [numbers(10 * each + rank, size) for each in range(count)]


LISTS = [
    all_gather, all_gather_into_one, all_gather_over_own, all_gather_shifted, gather, scatter, reduce_scatter,
    reduce_scatter_over_input, premultiplied, all_to_all, all_to_all_over_inputs,
]  # fmt: skip


def check_lists():
    count = dist.get_world_size()
    for call in LISTS:
        for size in (11, 16385, 300_007):
            own = numbers(dist.get_rank(), size)
            found, wanted = call(own, [torch.zeros(size) for _ in range(count)], count)
            for each, right in zip(found, wanted, strict=True):
                assert torch.equal(each, right), (call.__name__, size)


def main():
    dist.init_process_group("gloo")
    for dtype in (torch.bfloat16, torch.float16, torch.float32, torch.bool, torch.int64):
        for size in (32767, 32769, 100003, 1_200_003):
            check(dtype, size)
    alone = [dist.new_group([each]) for each in range(dist.get_world_size())][dist.get_rank()]
    for dtype in (torch.bfloat16, torch.float32, torch.bool):
        check(dtype, 100003, alone)
        check(dtype, 1_200_003, alone)
    check_lists()
    dist.destroy_process_group()
    mpi.shared = lambda *_: None  # as on several machines
    dist.init_process_group("gloo")
    for dtype in (torch.bfloat16, torch.float32):
        check(dtype, 100003)
        check(dtype, 1_200_003)
    check_lists()
    print("large tensors are right")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
