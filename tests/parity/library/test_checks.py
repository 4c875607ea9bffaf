"""`torch.library.opcheck` and fake implementations give the same results and texts in both libraries."""

import numpy as np
import pytest

from tests.parity.support.library_programs import compare, leaf, make_sin, neutral, programs, tried, with_formula

program, test_program = programs()


# -------------------- fake implementations --------------------


def make_nonzero(T, namespace):
    @T.library.custom_op(f"{namespace}::nonzero", mutates_args=())
    def nonzero(x: T.Tensor) -> T.Tensor:
        return T.tensor(np.stack(np.nonzero(x.numpy()), 1))

    @nonzero.register_fake
    def fake(x):
        return x.new_empty([T.library.get_ctx().new_dynamic_size(), x.dim()], dtype=T.int64)

    return nonzero


@program
def sizes_that_depend_on_data(T, namespace):
    nonzero = make_nonzero(T, namespace)
    checked = T.library.opcheck(nonzero, (T.tensor([0.0, 1.0, 2.0]),))
    return tried(nonzero, T.ones(3, device="meta")), checked, T.library.get_ctx()


# -------------------- opcheck --------------------


def checked(T, op, *args, **options):
    """The results of the checks, as texts."""
    results = T.library.opcheck(op, args, raise_exception=False, **options)
    return {name: neutral(str(result)) for name, result in results.items()}


@program
def checks_of_a_good_op(T, namespace):
    sin, x = with_formula(make_sin(T, namespace)), leaf(T)
    packet = getattr(T.ops, namespace).sin
    return [
        checked(T, sin, x), checked(T, packet, x), checked(T, packet.default, x), checked(T, sin, x.detach()),
        checked(T, sin, x, test_utils="test_schema"), checked(T, sin, x, test_utils=["test_faketensor"]),
    ]  # fmt: skip


@program
def checks_that_fail(T, namespace):
    sin, x = make_sin(T, namespace), leaf(T)
    results = [tried(T.library.opcheck, sin, (x,)), checked(T, sin, x), checked(T, sin, x.detach())]
    sin.register_fake(lambda x: T.empty_like(x))
    results += [tried(T.library.opcheck, sin, (x,)), checked(T, sin, x), checked(T, sin, x.detach())]
    for fake in (
        lambda x: x.new_empty(x.shape[0] + 1),
        lambda x: x.new_empty(x.shape, dtype=T.float64),
        lambda x: T.empty_strided(x.shape, (2,), device=x.device),
    ):
        sin.register_fake(fake)
        results.append(tried(T.library.opcheck, sin, (x.detach(),)))
    return results


@program
def checks_of_schemas(T, namespace):
    @T.library.custom_op(f"{namespace}::secret", mutates_args=())
    def secret(x: T.Tensor) -> T.Tensor:
        x.mul_(2)
        return x * 1

    @T.library.custom_op(f"{namespace}::open_", mutates_args={"x"})
    def open_(x: T.Tensor) -> None:
        x.mul_(2)

    secret.register_fake(lambda x: T.empty_like(x))
    with T.library._scoped_library(namespace, "FRAGMENT") as library:
        library.define("alias(Tensor x) -> Tensor")
        library.impl("alias", lambda x: x, "CompositeExplicitAutograd")
        alias = checked(T, getattr(T.ops, namespace).alias.default, T.ones(2), test_utils="test_schema")
    return checked(T, secret, T.ones(2)), checked(T, open_, T.ones(2)), alias


@program
def checks_of_registrations(T, namespace):
    library = T.library.Library(namespace, "FRAGMENT")
    results = []
    for number, key in enumerate(("CPU", "CompositeImplicitAutograd")):
        library.define(f"foo{number}(Tensor x) -> Tensor")
        library.impl(f"foo{number}", lambda x: x * 2, key)
        if key == "CPU":
            library.impl(f"foo{number}", lambda x: x * 1, "Meta")
        op = getattr(getattr(T.ops, namespace), f"foo{number}").default
        results += [checked(T, op, leaf(T)), checked(T, op, T.ones(2))]
    return results, checked(T, T.ops.aten.sin.default, leaf(T)), checked(T, T.ops.aten.mul.Tensor, leaf(T), T.ones(3))


@program
def errors_of_opcheck(T, namespace):
    sin = make_sin(T, namespace)
    return [
        tried(T.library.opcheck, sin, (T.ones(1),), test_utils="test_foo"),
        tried(T.library.opcheck, "sin", (T.ones(1),)),
        tried(T.library.opcheck, sin, (T.ones(1),), rtol=1.0),
    ]


FAULTS = {
    "fewer results": lambda T: (lambda x: [x * 2, x * 3], lambda x: [T.empty_like(x)], "(Tensor x) -> Tensor[]"),
    "another offset": lambda T: (
        lambda x: T.zeros(5)[1:],
        lambda x: T.empty(4, device=x.device),
        "(Tensor x) -> Tensor",
    ),
    "another stride": lambda T: (
        lambda x: (x * 2).expand(2, 3).t(),
        lambda x: x.new_empty(3, 2),
        "(Tensor x) -> Tensor",
    ),
    "a result on the default device": lambda T: (lambda x: x * 2, lambda x: T.empty(3), "(Tensor x) -> Tensor"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_planted_faults(name):
    """Both libraries find them, in words that differ."""

    def run(T, namespace):
        kernel, fake, schema = FAULTS[name](T)
        op = T.library.custom_op(f"{namespace}::foo", kernel, mutates_args=(), schema=schema)
        op.register_fake(fake)
        results = T.library.opcheck(op, (T.ones(3),), test_utils="test_faketensor", raise_exception=False)
        return results["test_faketensor"] == "SUCCESS"

    compare(run)
