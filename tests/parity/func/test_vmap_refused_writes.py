"""Samples written to what is the same for all of them: which check comes first, that of `vmap`, of a transform around
it or of autograd, and what it says, for every op in place of several tensors."""

import pytest
import torch

import mindtorch
from tests.parity.support.programs import assert_same

INTEGRAL = ("bitwise_", "gcd_", "lcm_")
GIVEN = {"int": 0, "number": 1, "bool": False, "str": "sum", "Optional[str]": None}
DTYPES = {"index": "int64", "mask": "bool"}
OTHER_CHECKS = ("bernoulli_", "set_", "resize_as_", "index_reduce_")  # of randomness, storages, or with warnings


def takes_samples(schema):
    """Whether an op writes `self` and must be given another tensor."""
    first, *others = schema.arguments
    kinds = [str(each.type) for each in others if not each.has_default_value()]
    return first.name == "self" and "Tensor" in kinds and set(kinds) <= {"Tensor", *GIVEN}


OPS = [
    (name, overload)
    for name in dir(torch.Tensor)
    if name.endswith("_") and not name.startswith(("_", *OTHER_CHECKS)) and hasattr(torch.ops.aten, name)
    for overload in getattr(torch.ops.aten, name).overloads()
    if takes_samples(getattr(getattr(torch.ops.aten, name), overload)._schema)
    and hasattr(mindtorch.ops.aten, name)
    and overload in getattr(mindtorch.ops.aten, name).overloads()
]
# The op `run(target, other)` and `x`, which makes a tensor of a shape.
SITUATIONS = {
    "another shape": lambda T, run, x: T.vmap(lambda a: run(x(3), a))(x(3, 3)),
    "a shape that does not fit": lambda T, run, x: T.vmap(lambda a: run(x(5), a))(x(3, 2)),
    "a leaf": lambda T, run, x: T.vmap(lambda a: run(x(3, requires_grad=True), a))(x(3, 3)),
    "captured": lambda T, run, x: captured(T, lambda target: T.vmap(lambda a: run(target, a))(x(3, 3)), x(3)),
    "captured around vmap": lambda T, run, x: T.vmap(lambda a: captured(T, lambda target: run(target, a), x(3)))(
        x(3, 3)
    ),
    "a leaf inside": lambda T, run, x: T.vmap(lambda a: T.func.grad(lambda t: run(t, a).sum())(T.zeros(3)))(x(3, 3)),
}


def captured(T, write, target):
    return T.func.grad(lambda given: (write(target), (given * 2).sum())[1])(T.zeros(3))


@pytest.mark.parametrize(("name", "overload"), OPS)
def test_refusal(name, overload):
    schema = getattr(getattr(torch.ops.aten, name), overload)._schema

    def program(T):
        is_integral = name.startswith(INTEGRAL)

        def x(*shape, requires_grad=False):
            return T.zeros(
                shape, dtype=T.int64 if is_integral else None, requires_grad=requires_grad and not is_integral
            )

        def run(target, other):
            values = [
                (
                    other.to(getattr(T, DTYPES[each.name]) if each.name in DTYPES else target.dtype)
                    if str(each.type) == "Tensor"
                    else GIVEN[str(each.type)]
                )
                for each in schema.arguments[1:]
                if not each.has_default_value()
            ]
            return getattr(getattr(T.ops.aten, name), overload)(target, *values)

        return {situation: refusal(lambda write=write: write(T, run, x)) for situation, write in SITUATIONS.items()}

    assert_same(program)


def refusal(run):
    try:
        run()
    except (RuntimeError, IndexError) as error:
        return f"{type(error).__name__}: {error}"
    return None
