"""Functional collectives and their gradients, against what one process computes of the tensors of all."""

import sys
import warnings

import mindtorch as torch
import mindtorch.distributed as dist
import mindtorch.distributed._functional_collectives as funcol
import mindtorch.distributed.nn as dnn

SHAPES = [(4, 3), (12, 12), (12, 2, 3)]


class Case:
    """One call: what it gives in each process, as a function of the inputs of all."""

    def __init__(self, name, call, reference, count=1):
        self.name, self.call, self.reference, self.count = name, call, reference, count


def parts(tensor, size, dim=0):
    return torch.chunk(tensor, size, dim)


def zeros(tensors):
    return [torch.zeros(each.shape) for each in tensors]


def own(rank, size, dim=0):
    return lambda inputs: parts(sum(each for (each,) in inputs), size, dim)[rank]


def moved(rank, size):
    return lambda inputs: torch.cat([parts(each, size)[rank] for (each,) in inputs])


def split(rank, size):
    """Rank i sends i + 1 rows to each."""

    def reference(inputs):
        return torch.cat([each[rank * (i + 1) : (rank + 1) * (i + 1)] for i, (each,) in enumerate(inputs)])

    return reference


def joined(dim):
    return lambda inputs: torch.cat([each for (each,) in inputs], dim)


def total(inputs):
    return sum(each for (each,) in inputs)


def extreme(inputs):
    return torch.stack([each for (each,) in inputs]).amax(0)


def several(reference):
    def all_of(inputs):
        return tuple(reference([(each[place],) for each in inputs]) for place in range(len(inputs[0])))

    return all_of


def cases(group, rank, size):
    name, sizes = group.group_name, [rank + 1] * size
    received = [i + 1 for i in range(size)]
    turned = [(place + 1) % size for place in range(size)]
    yield Case("all_reduce", lambda x: funcol.all_reduce(x, "sum", group), total)
    yield Case("all_reduce by name", lambda x: funcol.all_reduce(x, "SUM", name), total)
    yield Case("all_reduce max", lambda x: funcol.all_reduce(x.detach(), "max", group), extreme)
    yield Case("broadcast", lambda x: funcol.broadcast(x, size - 1, group), lambda inputs: inputs[size - 1][0])
    for dim in (0, 1, -1):
        yield Case(f"all_gather {dim}", lambda x, dim=dim: funcol.all_gather_single(x, dim, group), joined(dim))
    yield Case("reduce_scatter", lambda x: funcol.reduce_scatter_single(x, "sum", 0, group), own(rank, size))
    yield Case("all_to_all", lambda x: funcol.all_to_all_single(x, None, None, group), moved(rank, size))
    if size <= 3:
        cut = lambda x: funcol.all_to_all_single(x[: sum(sizes)], received, sizes, group)  # noqa: E731
        yield Case("all_to_all of parts", cut, split(rank, size))
    flat = lambda x: funcol.permute_tensor(x.reshape(-1), turned, group).reshape(x.shape)  # noqa: E731
    yield Case("permute", flat, lambda inputs: inputs[(rank - 1) % size][0])
    yield Case(
        "all_reduce_coalesced", lambda *x: tuple(funcol.all_reduce_coalesced(x, "sum", group)), several(total), 3
    )
    yield Case(
        "all_gather_coalesced", lambda *x: tuple(funcol.all_gather_single_coalesced(x, group)), several(joined(0)), 2
    )
    yield Case(
        "reduce_scatter_coalesced",
        lambda *x: tuple(funcol.reduce_scatter_single_coalesced(x, "sum", [0] * len(x), group)),
        several(own(rank, size)),
        2,
    )
    yield from of_nn(group, rank, size)


def of_nn(group, rank, size):
    yield Case("nn.all_reduce", lambda x: dnn.all_reduce(x, group=group), total)
    yield Case("nn.all_gather", lambda x: torch.cat(dnn.all_gather(x, group)), joined(0))
    yield Case(
        "nn.reduce_scatter",
        lambda x: dnn.reduce_scatter(torch.zeros(parts(x, size)[0].shape), list(parts(x, size)), group=group),
        own(rank, size),
    )
    yield Case(
        "nn.all_to_all",
        lambda x: torch.cat(
            dnn.all_to_all([torch.zeros(each.shape) for each in parts(x, size)], parts(x, size), group)
        ),
        moved(rank, size),
    )
    yield Case(
        "nn.all_to_all_single",
        lambda x: dnn.all_to_all_single(torch.zeros(x.shape), x, group=group),
        moved(rank, size),
    )
    yield Case("nn.broadcast", lambda x: dnn.broadcast(x, 0, group), lambda inputs: inputs[0][0])
    yield Case(
        "nn._all_gather_base",
        lambda x: dnn._all_gather_base(torch.zeros((size * x.shape[0], *x.shape[1:])), x, group),
        joined(0),
    )


def inputs_of(case, rank, size, shape, transposed):
    torch.manual_seed(7)
    rows = 12 if shape[0] == 12 else size * shape[0]
    made = []
    for _ in range(size):
        own = [torch.randn(rows, *shape[1:], dtype=torch.float32) for _ in range(case.count)]
        made.append([each.t().contiguous().t() if transposed and each.ndim == 2 else each for each in own])
    return made


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def check(case, rank, size, shape, transposed):
    inputs = [[each.requires_grad_() for each in some] for some in inputs_of(case, rank, size, shape, transposed)]
    kept = [each.detach().clone() for each in inputs[rank]]
    found = as_tuple(case.call(*inputs[rank]))
    wanted = as_tuple(case.reference(inputs))
    for each, value in zip(found, wanted, strict=True):
        torch.testing.assert_close(each.detach(), value.detach())
    for each, value in zip(inputs[rank], kept, strict=True):
        assert torch.equal(each, value), "the input was changed"
    if not found[0].requires_grad:
        return
    # The loss of all processes is the sum of theirs: each computes all of it, with weights that all know.
    weights = [[torch.full(each.shape, float(i + 1)) * each.detach().cos() for each in wanted] for i in range(size)]
    loss = sum((each * weight).sum() for each, weight in zip(found, weights[rank], strict=True))
    gradients = torch.autograd.grad(loss, inputs[rank])
    own = torch.autograd.grad(
        sum((each * weight).sum() for each, weight in zip(wanted, weights[rank], strict=True)),
        [each for some in inputs for each in some], allow_unused=True,
    )  # fmt: skip
    for place, gradient in enumerate(gradients):
        whole = sum_of_all([own[i * case.count + place] for i in range(size)], inputs[rank][place], rank)
        torch.testing.assert_close(gradient, whole)


def sum_of_all(own, like, rank):
    """The gradient for this process's input is the sum of what each process's loss has for it."""
    table = [None] * len(own)
    dist.all_gather_object(table, [None if each is None else each.tolist() for each in own])
    terms = [torch.tensor(each[rank]) for each in table if each[rank] is not None]
    return sum(terms) if terms else torch.zeros_like(like)


def check_copies(group, rank, size):
    tensor = torch.full((2,), float(rank))
    assert funcol.all_reduce_inplace(tensor, "sum", group) is tensor
    assert tensor.tolist() == [sum(range(size))] * 2
    whole = torch.zeros(size)
    funcol.all_gather_tensor_inplace(whole, torch.full((1,), float(rank)), group)
    assert whole.tolist() == list(range(size))
    funcol.reduce_scatter_tensor_inplace(part := torch.zeros(1), whole, "max", group)
    assert part.item() == rank
    funcol.all_to_all_inplace(moved := torch.zeros(size), whole + 10 * rank, group=group)
    assert moved.tolist() == [rank + 10.0 * i for i in range(size)]


def check_refusals(group, size):
    refused = [
        (AssertionError, "must be a multiple of group_size",
         lambda: funcol.reduce_scatter_single(torch.ones(size + 1), "sum", 0, group)),
        (RuntimeError, "Unrecognized reduce_op: mean", lambda: funcol.all_reduce(torch.ones(1), "mean", group)),
        (ValueError, "Unsupported group type", lambda: funcol.all_reduce(torch.ones(1), "sum", 5)),
        (ValueError, "Invalid tuple for group", lambda: funcol.all_reduce(torch.ones(1), "sum", (group, 0))),
        (RuntimeError, 'registered under the name "no"', lambda: funcol.all_reduce(torch.ones(1), "sum", "no")),
        (AssertionError, "Can't remap async", lambda: funcol.all_reduce_inplace(torch.ones(1), "sum", group, True)),
        (AssertionError, "either be specified together",
         lambda: funcol.all_to_all_single(torch.ones(size), [1] * size, None, group)),
        (RuntimeError, "all_reduce backward only supports 'sum' reduction, got 'max'",
         lambda: funcol.all_reduce(torch.ones(2, requires_grad=True), "max", group).sum().backward()),
    ]  # fmt: skip
    for kind, text, call in refused:
        try:
            call()
        except kind as error:
            assert text in str(error), error
        else:
            raise AssertionError(f"not refused: {text}")


def main():
    warnings.simplefilter("ignore")
    dist.init_process_group("gloo")
    group, rank, size = dist.group.WORLD, dist.get_rank(), dist.get_world_size()
    count = 0
    for case in cases(group, rank, size):
        for shape in SHAPES:
            for transposed in (False, True):
                try:
                    check(case, rank, size, shape, transposed)
                except Exception:
                    print(case.name, shape, transposed, file=sys.stderr)
                    raise
                count += 1
    check_copies(group, rank, size)
    check_refusals(group, size)
    print(count, "functional calls are right")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
