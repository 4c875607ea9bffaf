"""`torch.library` and `torch.ops`: definitions, kernels and names are the same in both libraries."""

import warnings
from itertools import combinations

import pytest
import torch

import mindtorch
from tests.parity.support.library_programs import compare, leaf, programs, tried

program, test_program = programs()


@pytest.fixture(autouse=True, scope="module")
def warned():
    """torch warns once in a process when a kernel is replaced."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.library.define("warned::foo", "(Tensor x) -> Tensor")
        for _ in range(2):
            torch.library.impl("warned::foo", "cpu", lambda x: x)


# -------------------- names --------------------


@program
def names(T, namespace):
    library = T.library.Library(namespace, "FRAGMENT")
    returned = [library.define("foo(Tensor x) -> Tensor"), library.define("foo.other(Tensor x, int n) -> Tensor")]
    ops = getattr(T.ops, namespace)
    packet, default = ops.foo, ops.foo.default
    facts = [
        repr(library), repr(ops), repr(packet), str(packet), repr(default), str(default), repr(ops.foo.other),
        packet.overloads(),
        default.name(), ops.foo.other.name(), default.tags, default.namespace, default._opname, default._overloadname,
        default.__name__, packet.__name__, default.__module__, repr(default.overloadpacket), packet._qualified_op_name,
        str(default._schema), default._schema.name, ops.foo.other._schema.overload_name, default._schema.is_mutable,
    ]  # fmt: skip
    missing = [
        tried(lambda: ops.bar), tried(lambda: packet.bar), tried(lambda: T.ops.zzz.bar), tried(lambda: T.ops.aten.zzz),
        tried(lambda: T.ops.aten.add.zzz), hasattr(ops, "__bar__"), hasattr(packet, "__bar__"),
    ]  # fmt: skip
    aten = [
        repr(T.ops.aten.add),
        repr(T.ops.aten.add.Tensor),
        T.ops.aten.exp.default.name(),
        T.ops.aten.add.Tensor.tags,
    ]
    return returned, facts, missing, [str(each) for each in aten]


@program
def out_of_an_overload(T, namespace):
    """The overload with `out=` has to be given all of its outs."""
    x, aten = T.ones(2), T.ops.aten
    given, values, places = T.zeros(2), T.zeros(()), T.zeros((), dtype=T.int64)
    return [
        tried(lambda: aten.exp.out(x)),
        tried(lambda: aten.exp.out(x, out=None)),
        tried(lambda: aten.max.dim_max(x, 0, max=None, max_values=places)),
        tried(lambda: aten.max.dim_max(x, 0, max=values, max_values=None)),
        aten.exp.out(x, out=given) is given,
        aten.sum.IntList_out(x, [0], out=values) is values,
        aten.std.out(x, [0], out=values) is values,
        tried(lambda: x.sum(0, out=values)),
    ]


@program
def overloads_of_an_op(T, namespace):
    library = T.library.Library(namespace, "FRAGMENT")
    library.define("foo(Tensor x, int n) -> str")
    library.define("foo.pair(Tensor x, Tensor y) -> str")
    library.define("foo.text(Tensor x, str s) -> str")
    library.impl("foo", lambda x, n: "int", "CPU")
    library.impl("foo.pair", lambda x, y: "pair", "CPU")
    library.impl("foo.text", lambda x, s: "text", "CPU")
    foo, x = getattr(T.ops, namespace).foo, T.ones(2)
    chosen = [foo(x, 3), foo(x, x), foo(x, "a"), foo(x, s="a"), foo.pair(x, x)]
    return chosen, tried(foo, x), tried(foo, 3), tried(foo, x, [1]), tried(foo, x, q=1)


@program
def the_life_of_a_library(T, namespace):
    library = T.library.Library(namespace, "DEF")
    library.define("foo(Tensor x) -> int")
    library.impl("foo", lambda x: 1, "CPU")
    foo = getattr(T.ops, namespace).foo
    first = foo(T.ones(1))
    with T.library._scoped_library(namespace, "IMPL", "CPU") as other:
        other.impl("foo", lambda x: 2)
        second = foo(T.ones(1))
    with T.library._scoped_library(namespace, "FRAGMENT") as fragment:
        fragment.define("bar(Tensor x) -> Tensor")
        inside = hasattr(getattr(T.ops, namespace), "bar")
    outside = hasattr(getattr(T.ops, namespace), "bar")
    again = tried(T.library.Library, namespace, "DEF")
    library._destroy()
    gone = hasattr(getattr(T.ops, namespace), "foo")
    dead = tried(library.define, "zoo(Tensor x) -> Tensor"), tried(library.impl, "zoo", lambda x: x, "CPU")
    return first, second, inside, outside, again, gone, dead


@program
def errors_of_libraries(T, namespace):
    library = T.library.Library(namespace, "FRAGMENT")
    library.define("foo(Tensor x) -> Tensor")
    library.impl("foo", lambda x: x * 1, "CPU")
    return [
        tried(library.define, "foo(Tensor x) -> Tensor"),
        tried(T.library.Library, namespace, "X"),
        tried(T.library.Library, "prim", "DEF"),
        tried(T.library.Library, namespace, "IMPL", "Foo"),
        tried(library.impl, "foo", lambda x: x, "Foo"),
        tried(library.impl, "foo", 3, "CPU"),
        tried(library.impl, 3, lambda x: x, "CPU"),
        tried(library.impl, "foo", lambda x: x, "CPU", allow_override=False),
        tried(library.define, "bar(Tensor x) -> Tensor", "PURE"),
        tried(T.library.impl, "foo", "cpu", lambda x: x),
        tried(T.library.impl, f"{namespace}::foo", "zzz", lambda x: x),
        tried(T.library.define, "foo", "(Tensor x) -> Tensor"),
        tried(T.library.define, 3, "(Tensor x) -> Tensor"),
        tried(T.library.define, f"{namespace}::bar", "Tensor x -> Tensor"),
        tried(T.library.define, f"{namespace}::bar", "bar(Tensor x) -> Tensor"),
        tried(T.library.fallthrough_kernel),
        tried(T.library.register_autograd, f"{namespace}::zoo", len),
        tried(T.library.register_autograd, "zoo", len),
        tried(T.library.register_autograd, 3, len),
        tried(T.library.register_fake, f"{namespace}::zoo", len),
        tried(T.library.register_fake, 3, len),
        tried(T.library.register_kernel, 3, "cpu", len),
    ]


@program
def older_forms(T, namespace):
    library = T.library.Library(namespace, "FRAGMENT")

    @T.library.define(library, "foo(Tensor x) -> Tensor")
    def foo(x):
        return x * 2

    library.define("bar(Tensor x) -> Tensor")

    @T.library.impl(library, "bar", "CPU")
    def bar(x):
        return x * 3

    ops = getattr(T.ops, namespace)
    return ops.foo(T.ones(2)), ops.bar(T.ones(2)), bar(T.ones(1))


# -------------------- kernels --------------------


@program
def a_missing_kernel(T, namespace):
    T.library.define(f"{namespace}::foo", "(Tensor x) -> Tensor")
    foo = getattr(T.ops, namespace).foo
    return tried(foo, T.ones(2)), tried(foo, T.ones(2, device="meta")), tried(foo, None)


@pytest.mark.parametrize(
    "key", ["CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "Autograd", "default", "cpu"]
)
def test_keys(key):
    """What a kernel sees, and what comes of its result, by the key that it is registered for."""

    def run(T, namespace):
        seen = []

        def kernel(x):
            seen.append((T.is_grad_enabled(), x.requires_grad))
            return x * 2

        T.library.define(f"{namespace}::foo", "(Tensor x) -> Tensor")
        T.library.impl(f"{namespace}::foo", key, kernel)
        foo, x = getattr(T.ops, namespace).foo, T.ones(2, requires_grad=True)
        results = [tried(foo, x), tried(foo, x.detach()), tried(T.no_grad()(foo), x)]
        with T.inference_mode():
            results.append(tried(foo, x))
        y = foo(x)
        y.sum().backward()
        return results, seen, type(y.grad_fn).__name__, x.grad, tried(foo, T.ones(2, device="meta"))

    compare(run)


@program
def an_op_without_autograd(T, namespace):
    """Results that the kernel has not recorded get a node that warns."""
    T.library.define(f"{namespace}::foo", "(Tensor x, Tensor[] y) -> (Tensor, Tensor)")
    T.library.impl(f"{namespace}::foo", "cpu", lambda x, y: (x.detach() * 2, (x > 0)))
    x = T.ones(2, requires_grad=True)
    y, mask = getattr(T.ops, namespace).foo(x, [T.ones(1, requires_grad=True)])
    y.sum().backward()
    return y, mask, x.grad, y.grad_fn.name(), len(y.grad_fn.next_functions)


@program
def fallthrough(T, namespace):
    library = T.library.Library(namespace, "FRAGMENT")
    library.define("foo(Tensor x) -> Tensor")
    library.impl("foo", lambda x: x.detach() * 2, "CPU")
    library.impl("foo", T.library.fallthrough_kernel, "Autograd")
    return getattr(T.ops, namespace).foo(T.ones(2, requires_grad=True))


@program
def both_composite_and_cpu(T, namespace):
    library = T.library.Library(namespace, "FRAGMENT")
    library.define("foo(Tensor x) -> str")
    library.impl("foo", lambda x: "composite", "CompositeExplicitAutograd")
    library.impl("foo", lambda x: "cpu", "CPU")
    foo = getattr(T.ops, namespace).foo
    return foo(T.ones(1)), foo(T.ones(1, device="meta"))


@program
def a_kernel_of_an_aten_op(T, namespace):
    with T.library._scoped_library("aten", "IMPL") as library:
        library.impl("atan2", lambda a, b: a * 100 + b, "CPU")
        x = T.full((2,), 3.0, requires_grad=True)
        changed = T.atan2(x, T.ones(2))
        changed.sum().backward()
    return changed, type(changed.grad_fn).__name__, T.atan2(T.ones(2), T.ones(2)), x.grad


@program
def every_combination_of_keys(T, namespace):
    """Which kernel runs for plain tensors, those that require grad, tensors without data, and without tensors."""
    keys = ["CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "Autograd", "AutogradCPU", "Meta"]
    found = []
    for chosen in (each for count in range(4) for each in combinations(keys, count)):
        with T.library._scoped_library(namespace, "FRAGMENT") as library:
            library.define("foo(Tensor[] x) -> str")
            errors = [tried(library.impl, "foo", lambda x, key=key: key, key) for key in chosen]
            foo = getattr(T.ops, namespace).foo
            lists = [T.ones(1)], [leaf(T)], [T.ones(1, device="meta")], [leaf(T).to("meta")], []
            called = [str(tried(foo, each)).partition(" ")[0] for each in lists]
            with T.inference_mode():
                called.append(str(tried(foo, [T.ones(1)])).partition(" ")[0])
            found.append((chosen, errors, called))
    return found


@program
def the_same_definition_written_in_other_ways(T, namespace):
    library = T.library.Library(namespace, "FRAGMENT")
    library.define("foo(Tensor x) -> Tensor")
    again = [
        tried(library.define, text) for text in ("foo (Tensor x) -> Tensor", f"{namespace}::foo(Tensor y)->Tensor")
    ]
    return [text.partition(" Duplicate")[0] for text in again]


@program
def libraries_of_another_namespace_or_kind(T, namespace):
    found = []
    for kind in ("DEF", "FRAGMENT", "IMPL"):
        library = T.library.Library(namespace, kind)
        found += [tried(library.impl, "elsewhere::foo", lambda x: x, key) for key in ("CPU", "Meta", "", "Autograd")]
        found.append(tried(library.define, "foo(Tensor x) -> Tensor"))
    return found


# -------------------- the module --------------------


def test_the_names_of_the_module():
    """What is here is torch's, and what is not here is an AttributeError."""
    here = {name for name in dir(mindtorch.library) if not name.startswith("_")}
    modules = {name for name in here if type(getattr(mindtorch.library, name)).__name__ == "module"}
    assert not {name for name in here - modules if not hasattr(torch.library, name)}
    with pytest.raises(AttributeError):
        _ = mindtorch.library.get_kernel
