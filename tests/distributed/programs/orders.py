"""Inputs and outputs that lie in different orders in memory: elements go to where they belong, not where they lie."""

import mindtorch as torch
import mindtorch.distributed as dist

SHAPE = (2, 3, 2, 2)
ORDERS = {"rows": torch.contiguous_format, "channels last": torch.channels_last}


def numbers(rank, batch=2):
    return torch.arange(batch * 12.0).reshape(batch, *SHAPE[1:]) + 100 * rank


def all_gather(given, made, rank, count):
    output = made(numbers(0, 2 * count) * 0)
    dist.all_gather_single(output, given(numbers(rank)))
    return output, torch.cat([numbers(each) for each in range(count)])


def reduce_scatter(given, made, rank, count):
    output = made(numbers(0) * 0)
    dist.reduce_scatter_single(output, given(numbers(rank, 2 * count)))
    return output, sum(numbers(each, 2 * count) for each in range(count))[2 * rank : 2 * rank + 2]


def all_to_all(given, made, rank, count):
    output = made(numbers(0, count) * 0)
    dist.all_to_all_single(output, given(numbers(rank, count)))
    return output, torch.cat([numbers(each, count)[rank : rank + 1] for each in range(count)])


def reduce(given, made, rank, count):
    output = made(numbers(0) * 0)
    dist._reduce_oop(output, given(numbers(rank)), 0)
    return output, sum(numbers(each) for each in range(count)) if rank == 0 else numbers(0) * 0


def main():
    dist.init_process_group("gloo")
    rank, count = dist.get_rank(), dist.get_world_size()
    for call in (all_gather, reduce_scatter, all_to_all, reduce):
        for given, input_format in ORDERS.items():
            for made, output_format in ORDERS.items():
                found, wanted = call(
                    lambda tensor, form=input_format: tensor.contiguous(memory_format=form),
                    lambda tensor, form=output_format: tensor.contiguous(memory_format=form),
                    rank,
                    count,
                )
                assert torch.equal(found, wanted), (call.__name__, given, made)
                assert found.is_contiguous(memory_format=output_format), (call.__name__, given, made)
    print("orders are right")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
