"""Every collective x dtype x layout x way of calling, against a reference that each process computes by itself."""

import sys

import numpy as np

import mindtorch as torch
import mindtorch.distributed as dist

OPS = dist.ReduceOp
DTYPES = [
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32,
    torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128,
]  # fmt: skip
SHAPE = (2, 3, 2, 2)


def rows(array):
    return torch.from_numpy(np.ascontiguousarray(array))


def last(array):
    return rows(array).to(memory_format=torch.channels_last)


def part(array):
    """A tensor inside a larger one, away from its beginning."""
    whole = torch.zeros((3, *array.shape), dtype=rows(array).dtype)
    whole[1] = rows(array)
    return whole[1]


# What the tensors of a case are made by, and their shape.
LAYOUTS = {
    "rows": (rows, SHAPE), "channels last": (last, SHAPE), "part": (part, SHAPE), "empty": (rows, (0, 3)),
    "one number": (lambda array: torch.from_numpy(np.array(array)), ()),
}  # fmt: skip


class Case:
    """One call, with the numbers of all processes."""

    def __init__(self, dtype, layout, seed):
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.dtype = dtype
        self.layout, self.shape = LAYOUTS[layout]
        self.rows, *self.row = self.shape or (1,)
        self.random = np.random.default_rng(seed)
        self.numbers = [self._drawn() for _ in range(self.size)]

    def _drawn(self):
        return self.random.integers(0, 4, self.shape).astype(np.float64)

    def tensor(self, numbers):
        made = self.layout(np.asarray(numbers, np.float32)).to(self.dtype)
        return made if self.layout is not part else part(made._mt_array)

    def own(self):
        return self.tensor(self.numbers[self.rank])

    def empty(self):
        return self.tensor(np.zeros(self.shape))

    def values(self, numbers):
        return torch.from_numpy(np.array(numbers)).to(self.dtype)

    def reduced(self, op, numbers=None):
        """By torch's own ops on one process, in the precision of the dtype's sums."""
        given = [self.values(each) for each in (numbers or self.numbers)]
        stacked = torch.stack([each.to(_wide(self.dtype)) for each in given])
        return _REDUCTIONS[op](stacked).to(self.dtype)


def _wide(dtype):
    if dtype is torch.bool:
        return torch.int64
    if dtype.is_floating_point:
        return torch.float64
    return dtype if dtype.is_complex else torch.int64


def _bits(fold):
    def folded(stacked):
        result = stacked[0]
        for each in stacked[1:]:
            result = fold(result, each)
        return result

    return folded


_REDUCTIONS = {
    OPS.SUM: lambda stacked: stacked.sum(0),
    OPS.PRODUCT: lambda stacked: stacked.prod(0),
    OPS.MIN: lambda stacked: stacked.amin(0),
    OPS.MAX: lambda stacked: stacked.amax(0),
    OPS.AVG: lambda stacked: stacked.sum(0) / len(stacked),
    OPS.BAND: _bits(lambda a, b: a & b),
    OPS.BOR: _bits(lambda a, b: a | b),
    OPS.BXOR: _bits(lambda a, b: a ^ b),
}


def reductions_of(dtype):
    if dtype.is_complex:
        return [OPS.SUM, OPS.AVG]
    numeric = [OPS.SUM, OPS.PRODUCT, OPS.MIN, OPS.MAX]
    return [*numeric, OPS.AVG] if dtype.is_floating_point else [*numeric, OPS.BAND, OPS.BOR, OPS.BXOR]


def same(found, wanted, what):
    assert found.dtype == wanted.dtype and found.shape == wanted.shape, what
    assert torch.equal(found, wanted), f"{what}: {found.tolist()} instead of {wanted.tolist()}"


def all_reduce(case, how):
    for op in reductions_of(case.dtype):
        tensor = case.own()
        before, strides = tensor._version, tensor.stride()
        how(lambda tensor=tensor, op=op, **more: dist.all_reduce(tensor, op, **more))
        same(tensor, case.reduced(op), f"all_reduce {op}")
        assert tensor._version > before and tensor.stride() == strides


def reduce(case, how):
    for root in range(case.size):
        tensor = case.own()
        how(lambda tensor=tensor, root=root, **more: dist.reduce(tensor, root, **more))
        own = case.values(case.numbers[case.rank])
        same(tensor, case.reduced(OPS.SUM) if case.rank == root else own, f"reduce to {root}")


def broadcast(case, how):
    for root in range(case.size):
        tensor = case.own()
        how(lambda tensor=tensor, root=root, **more: dist.broadcast(tensor, root, **more))
        same(tensor, case.values(case.numbers[root]), f"broadcast from {root}")


def all_gather(case, how):
    found = [case.empty() for _ in range(case.size)]
    how(lambda **more: dist.all_gather(found, case.own(), **more))
    for rank, each in enumerate(found):
        same(each, case.values(case.numbers[rank]), f"all_gather, part {rank}")


def all_gather_single(case, how):
    found = torch.zeros((case.size * case.rows, *case.row), dtype=case.dtype)
    how(lambda **more: dist.all_gather_single(found, case.own().contiguous(), **more))
    parts = [case.values(each).reshape(case.rows, *case.row) for each in case.numbers]
    same(found, torch.cat(parts), "all_gather_single")


def gather(case, how):
    for root in range(case.size):
        found = [case.empty() for _ in range(case.size)] if case.rank == root else None
        how(lambda found=found, root=root, **more: dist.gather(case.own(), found, root, **more))
        for rank, each in enumerate(found or ()):
            same(each, case.values(case.numbers[rank]), f"gather to {root}, part {rank}")


def scatter(case, how):
    for root in range(case.size):
        parts = [case.tensor(each + root) for each in case.numbers] if case.rank == root else None
        found = case.empty()
        how(lambda found=found, parts=parts, root=root, **more: dist.scatter(found, parts, root, **more))
        same(found, case.values(case.numbers[case.rank] + root), f"scatter from {root}")


def reduce_scatter(case, how):
    for op in reductions_of(case.dtype):
        lists = [[(each + 3 * place) % 4 for place in range(case.size)] for each in case.numbers]
        found = case.empty()
        own = [case.tensor(each) for each in lists[case.rank]]
        how(lambda found=found, own=own, op=op, **more: dist.reduce_scatter(found, own, op, **more))
        same(found, case.reduced(op, [each[case.rank] for each in lists]), f"reduce_scatter {op}")


def reduce_scatter_single(case, how):
    given = [each.reshape(case.rows, *case.row) for each in case.numbers]
    whole = [np.concatenate([each, (each + 1) % 4, (each + 2) % 4, each][: case.size]) for each in given]
    found = case.values(np.zeros(case.shape))
    how(lambda **more: dist.reduce_scatter_single(found, case.values(whole[case.rank]), **more))
    mine = slice(case.rank * case.rows, (case.rank + 1) * case.rows)
    parts = [each[mine].reshape(case.shape) for each in whole]
    same(found, case.reduced(OPS.SUM, parts), "reduce_scatter_single")


def all_to_all(case, how):
    def sent(source, target):
        return np.resize(case.numbers[source], 1 + source + 2 * target if case.rows else 0)

    found = [case.values(np.zeros(sent(source, case.rank).shape)) for source in range(case.size)]
    own = [case.values(sent(case.rank, target)) for target in range(case.size)]
    how(lambda **more: dist.all_to_all(found, own, **more))
    for source, each in enumerate(found):
        same(each, case.values(sent(source, case.rank)), f"all_to_all from {source}")


def all_to_all_single(case, how):
    rows_of = [1 + rank for rank in range(case.size)]
    own = case.values(np.arange(3.0 * sum(rows_of)).reshape(-1, 3) % 7 + case.rank)
    found = case.values(np.zeros((case.size * rows_of[case.rank], 3)))
    how(lambda **more: dist.all_to_all_single(found, own, [rows_of[case.rank]] * case.size, rows_of, **more))
    start = sum(rows_of[: case.rank])
    block = np.arange(3.0 * sum(rows_of)).reshape(-1, 3)[start : start + rows_of[case.rank]] % 7
    same(found, case.values(np.concatenate([block + rank for rank in range(case.size)])), "all_to_all_single")


COLLECTIVES = [
    all_reduce, reduce, broadcast, all_gather, all_gather_single, gather, scatter, reduce_scatter,
    reduce_scatter_single, all_to_all, all_to_all_single,
]  # fmt: skip


def now(call):
    assert call() is None


def later(call):
    work = call(async_op=True)
    assert work.wait() and work.is_completed() and work.is_success() and work.exception() is None


def together(call):
    with dist._coalescing_manager(async_ops=True) as manager:
        call()
    manager.wait()


WAYS = {"sync": now, "async": later, "coalesced": together}


def main():
    dist.init_process_group("gloo")
    count = 0
    for collective in COLLECTIVES:
        for dtype in DTYPES:
            for layout in LAYOUTS:
                for name, how in WAYS.items():
                    where = f"{collective.__name__}, {dtype}, {layout}, {name}"
                    try:
                        collective(Case(dtype, layout, count), how)
                    except Exception:
                        print(where, file=sys.stderr)
                        raise
                    count += 1
    if dist.get_rank() == 0:
        print(count, "cases")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
