"""What is written in place, inside or outside of `vmap`, is noticed by autograd on both sides, as in torch.

The gradients, or the beginning of the refusal: torch names other nodes.
"""

from functools import partial

import pytest

from tests.parity.support.programs import assert_same, sample

TRANSFORMS = {
    "front": lambda T, f: T.func.vmap(f),
    "back": lambda T, f: T.func.vmap(f, -1, -1),
    "moved": lambda T, f: T.func.vmap(f, 1, 0),
    "nested": lambda T, f: T.func.vmap(T.func.vmap(f, 1, 1), 1, 0),
    "chunks": lambda T, f: T.func.vmap(f, -1, -1, chunk_size=2),
}


def use_then_write(a, b):
    result = a * b
    b.add_(1)
    return result


# What the function does with one sample of each of two tensors.
FUNCTIONS = {
    "mul": lambda T, a, b: a * b,
    "exp": lambda T, a, b: (a * b).exp(),
    "itself": lambda T, a, b: a,
    "row": lambda T, a, b: a[0],
    "turned": lambda T, a, b: (a * b)[None].transpose(0, 1),
    "two": lambda T, a, b: ((t := a * b), t[0]),
    "exp_and_part": lambda T, a, b: ((t := (a * b).exp())[:1], t),
    "unbound": lambda T, a, b: (a * b).unbind(0),
    "expanded": lambda T, a, b: (a * b).unsqueeze(0).expand(2, *a.shape),
    "detached": lambda T, a, b: (a.detach(), a * b),
    "write_then_use": lambda T, a, b: a.mul_(2) * b,
    "use_then_write": lambda T, a, b: use_then_write(a, b),
    "write_part": lambda T, a, b: (a[:1].mul_(b[:1]), a)[1],
    "write_copy": lambda T, a, b: ((t := a * 1)[:1].mul_(b[:1]), t.sum())[1],
    "write_and_part": lambda T, a, b: ((t := a * 1), t[:1], t.mul_(b))[1],
    "write_into_other": lambda T, a, b: b.copy_(a.exp()),
    "saved_output": lambda T, a, b: ((e := (a * b).sigmoid()), e.add_(1))[0],
    "dropout": lambda T, a, b: T.nn.functional.dropout(a, 0.0) * b,
}
# Who is written after the call, and how.
WRITES = {
    "nothing": lambda first, second, results: None,
    "first": lambda first, second, results: first.mul_(3),
    "second": lambda first, second, results: second.mul_(3),
    "result": lambda first, second, results: results[0].mul_(3),
    "last result": lambda first, second, results: results[-1].mul_(3),
    "part of result": lambda first, second, results: results[0][:1].mul_(3),
}


def case(T, transform, function, write, no_grad):
    leaves = [sample(T, 2, 3, 3, seed=seed) for seed in (0, 1)]
    first, second = (leaf * 1 for leaf in leaves)
    found = TRANSFORMS[transform](T, lambda a, b: FUNCTIONS[function](T, a, b))(first, second)
    results = list(found) if isinstance(found, tuple) else [found]
    with T.set_grad_enabled(not no_grad):
        WRITES[write](first, second, results)
    return [(each.requires_grad, each is first) for each in results], [
        gradients(T, end, leaves) for end in (*results, first, second) if end.requires_grad
    ]


def gradients(T, end, leaves):
    found = T.autograd.grad(end, leaves, T.ones_like(end), allow_unused=True, retain_graph=True)
    return [each if each is None else each.contiguous() for each in found]


def told(transform, function, write, no_grad, T):
    try:
        return case(T, transform, function, write, no_grad)
    except RuntimeError as error:
        text = str(error).partition(": [")[0]
        return "a view" if "is a view" in text else text


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_writes(function, transform):
    for write in WRITES:
        assert_same(partial(told, transform, function, write, False))
        if write in ("first", "result"):
            assert_same(partial(told, transform, function, write, True))
