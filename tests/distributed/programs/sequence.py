"""Ten thousand collectives and messages, drawn at random, on groups of some of the processes.

All processes draw the same sequence, and compute by themselves what each call gives.
"""

import itertools

import numpy as np

import mindtorch as torch
import mindtorch.distributed as dist

CALLS = 10_000
DTYPES = [torch.float32, torch.int64, torch.bfloat16, torch.uint8]
SIZES = [0, 1, 2, 7, 64, 600]
_PENDING = 8  # asynchronous calls that are waited for later


def numbers(seed, size):
    """Few small numbers, so that sums are exact in every dtype."""
    return (np.arange(size) * (seed % 3 + 1) + seed) % 5


class Step:
    """One call of the sequence, as every process knows it."""

    def __init__(self, number, random, groups):
        self.number = number
        self.ranks = groups[random.integers(len(groups))]
        self.size = int(SIZES[random.integers(len(SIZES))])
        self.dtype = DTYPES[random.integers(len(DTYPES))]
        self.call = CALLS_BY_NAME[random.integers(len(CALLS_BY_NAME))]
        self.root = int(random.integers(len(self.ranks)))
        self.later = bool(random.random() < 0.3)

    def given(self, rank, size=None):
        return numbers(self.number + 7 * rank, self.size if size is None else size)

    def tensor(self, values):
        return torch.from_numpy(np.asarray(values, np.int64)).to(self.dtype)

    def all_given(self, size=None):
        return [self.given(rank, size) for rank in self.ranks]


def all_reduce(step, place, group):
    tensor = step.tensor(step.given(step.ranks[place]))
    work = dist.all_reduce(tensor, group=group, async_op=step.later)
    return work, tensor, sum(step.all_given())


def greatest(step, place, group):
    tensor = step.tensor(step.given(step.ranks[place]))
    work = dist.all_reduce(tensor, dist.ReduceOp.MAX, group=group, async_op=step.later)
    return work, tensor, np.max(step.all_given(), 0)


def reduce(step, place, group):
    own = step.given(step.ranks[place])
    tensor = step.tensor(own)
    work = dist.reduce(tensor, group=group, group_dst=step.root, async_op=step.later)
    return work, tensor, sum(step.all_given()) if place == step.root else own


def broadcast(step, place, group):
    tensor = step.tensor(step.given(step.ranks[place]))
    work = dist.broadcast(tensor, step.ranks[step.root], group=group, async_op=step.later)
    return work, tensor, step.given(step.ranks[step.root])


def all_gather(step, place, group):
    found = step.tensor(np.zeros(step.size * len(step.ranks)))
    parts = list(torch.chunk(found, len(step.ranks))) if step.size else [found] * len(step.ranks)
    work = dist.all_gather(parts, step.tensor(step.given(step.ranks[place])), group=group, async_op=step.later)
    return work, found, np.concatenate(step.all_given())


def reduce_scatter(step, place, group):
    count = len(step.ranks)
    found, own = step.tensor(np.zeros(step.size)), step.given(step.ranks[place], step.size * count)
    work = dist.reduce_scatter_single(found, step.tensor(own), group=group, async_op=step.later)
    total = sum(step.all_given(step.size * count))
    return work, found, total[place * step.size : (place + 1) * step.size]


def all_to_all(step, place, group):
    count = len(step.ranks)
    found, own = step.tensor(np.zeros(step.size * count)), step.given(step.ranks[place], step.size * count)
    work = dist.all_to_all_single(found, step.tensor(own), group=group, async_op=step.later)
    parts = [each[place * step.size : (place + 1) * step.size] for each in step.all_given(step.size * count)]
    return work, found, np.concatenate(parts)


def scatter(step, place, group):
    count = len(step.ranks)
    whole = step.given(step.ranks[step.root], step.size * count)
    parts = [step.tensor(each) for each in np.split(whole, count)] if place == step.root else None
    found = step.tensor(np.zeros(step.size))
    work = dist.scatter(found, parts, group=group, group_src=step.root, async_op=step.later)
    return work, found, whole[place * step.size : (place + 1) * step.size]


def around(step, place, group):
    """A message from each process to the next."""
    count = len(step.ranks)
    found = step.tensor(np.zeros(step.size))
    if count == 1:
        return None, found, np.zeros(step.size)
    sent = dist.isend(step.tensor(step.given(step.ranks[place])), group=group, group_dst=(place + 1) % count, tag=3)
    dist.recv(found, group=group, group_src=(place - 1) % count, tag=3)
    return sent, found, step.given(step.ranks[place - 1])


CALLS_BY_NAME = [
    all_reduce, greatest, reduce, broadcast, all_gather, reduce_scatter, all_to_all, scatter, around,
]  # fmt: skip


def finish(entry):
    work, found, wanted, step = entry
    if work is not None:
        assert work.wait()
    same = np.array_equal(found.to(torch.int64).numpy(), wanted)
    assert same, f"call {step.number}, {step.call.__name__} of {step.dtype} in {step.ranks}: {found} not {wanted}"


def main():
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    sets = [ranks for count in range(1, size + 1) for ranks in itertools.combinations(range(size), count)]
    groups = {ranks: dist.new_group(ranks) for ranks in sets}
    random, pending = np.random.default_rng(size), []
    for number in range(CALLS):
        step = Step(number, random, sets)
        if rank not in step.ranks:
            continue
        made = step.call(step, step.ranks.index(rank), groups[step.ranks])
        pending.append((*made, step))
        if len(pending) > _PENDING or not step.later:
            for entry in pending:
                finish(entry)
            pending.clear()
    for entry in pending:
        finish(entry)
    print(f"{CALLS} calls are right", flush=True)
    dist.barrier()
    for ranks, group in groups.items():
        if rank in ranks:
            dist.destroy_process_group(group)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
