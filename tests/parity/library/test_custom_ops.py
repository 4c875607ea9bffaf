"""`torch.library.custom_op` and `register_*`: autograd, kernels, writing and lists are the same in both libraries."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import List, Optional, Tuple  # noqa: UP035  (old annotations are part of what is tested)

import numpy as np
import pytest

from tests.parity.support.library_programs import compare, leaf, make_sin, programs, tried, with_formula

program, test_program = programs()


@program
def facts_about_a_custom_op(T, namespace):
    sin = make_sin(T, namespace)
    return repr(sin), repr(sin._opoverload), str(sin._opoverload._schema), sin._qualname, str(sin._opoverload.tags)


@program
def without_a_formula(T, namespace):
    sin, x = make_sin(T, namespace), leaf(T)
    y = sin(x)
    return y, y.grad_fn.name(), tried(y.sum().backward), tried(sin, T.ones(2, device="meta")), sin(x.detach())


@program
def with_a_formula(T, namespace):
    sin, x = with_formula(make_sin(T, namespace)), leaf(T)
    y = sin(x)
    (first,) = T.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = T.autograd.grad(first.sum(), x)
    with T.no_grad():
        plain = sin(x)
    with T.inference_mode():
        inference = sin(x).is_inference()
    return repr(y.grad_fn), first, second, plain, inference, sin(T.ones(2, device="meta")).shape


@program
def forward_mode(T, namespace):
    sin = with_formula(make_sin(T, namespace))
    with T.autograd.forward_ad.dual_level():
        plain = T.autograd.forward_ad.make_dual(T.ones(3), T.ones(3))
        both = T.autograd.forward_ad.make_dual(leaf(T), T.ones(3))
        return tried(lambda: T.autograd.forward_ad.unpack_dual(sin(plain)).tangent), tried(sin, both)


BACKWARDS = {
    "a tensor": lambda ctx, grad: grad,
    "a tuple": lambda ctx, grad: (grad,),
    "a list": lambda ctx, grad: [grad],
    "None": lambda ctx, grad: None,
    "too many": lambda ctx, grad: (grad, grad),
    "too many, None": lambda ctx, grad: (grad, None, None),
    "a number": lambda ctx, grad: 3,
    "another shape": lambda ctx, grad: grad[:1].expand(5),
}


@pytest.mark.parametrize("name", BACKWARDS)
def test_what_backward_returns(name):
    def run(T, namespace):
        sin, x = make_sin(T, namespace), leaf(T)
        sin.register_autograd(BACKWARDS[name])
        return tried(sin(x).sum().backward), x.grad

    compare(run)


@program
def aliases_are_refused(T, namespace):
    ops = []
    for result in (lambda x: x, lambda x: x.view(-1), lambda x: x[1:]):

        @T.library.custom_op(f"{namespace}::alias{len(ops)}", mutates_args=())
        def alias(x: T.Tensor) -> T.Tensor:
            return result(x)  # noqa: B023  (called below, before the next one is made)

        ops.append(tried(alias, T.ones(2)))

    @T.library.custom_op(f"{namespace}::twins", mutates_args=())
    def twins(x: T.Tensor) -> Tuple[T.Tensor, T.Tensor]:  # noqa: UP006
        y = x.clone()
        return y, y.view(-1)

    return ops, tried(twins, T.ones(2))


@program
def writing_arguments(T, namespace):
    @T.library.custom_op(f"{namespace}::scale_", mutates_args={"x"})
    def scale_(x: T.Tensor, factor: float = 2.0) -> None:
        array = x.detach().numpy()
        np.multiply(array, factor, out=array)

    x, base, y = T.ones(2), T.ones(3), leaf(T)
    view = base[1:]
    scale_(x)
    scale_(view, 3.0)
    saved = y.exp()
    scale_(saved)
    formula = tried(scale_.register_autograd, lambda ctx, grad: grad)
    late = tried(saved.sum().backward)
    fake = scale_(T.ones(2, device="meta"))
    return x, x._version, base, base._version, late, formula, fake, str(scale_._opoverload._schema), scale_(leaf(T))


@program
def tagged_in_place_and_out(T, namespace):
    @T.library.custom_op(f"{namespace}::double_", mutates_args={"x"}, tags=T.Tag.inplace)
    def double_(x: T.Tensor) -> T.Tensor:
        array = x.numpy()
        np.add(array, array, out=array)
        return x

    @T.library.custom_op(f"{namespace}::double_out", mutates_args={"out"}, tags=(T.Tag.out,))
    def double_out(x: T.Tensor, *, out: T.Tensor) -> T.Tensor:
        np.add(x.numpy(), x.numpy(), out=out.numpy())
        return out

    @T.library.custom_op(f"{namespace}::wrong_", mutates_args={"x"}, tags=T.Tag.inplace)
    def wrong_(x: T.Tensor) -> T.Tensor:
        return x.clone()

    x, out, meta = T.ones(2), T.empty(2), T.ones(2, device="meta")
    same = double_(x) is x, double_out(x, out=out) is out, double_(meta) is meta
    schemas = [str(each._opoverload._schema) for each in (double_, double_out)]
    refused = tried(double_out.register_autograd, lambda ctx, grad: grad)
    return same, x, out, schemas, tried(wrong_, x), refused, str(double_._opoverload.tags)


@program
def lists_and_optional_arguments(T, namespace):
    seen = []

    @T.library.custom_op(f"{namespace}::weighted", mutates_args=())
    def weighted(
        xs: List[T.Tensor],  # noqa: UP006
        ws: Optional[Sequence[float]] = None,  # noqa: UP045
        bias: Optional[T.Tensor] = None,  # noqa: UP045
        *,
        scale: float = 1.0,
    ) -> T.Tensor:
        seen.append((type(xs).__name__, ws, bias, scale))
        total = sum(x * w for x, w in zip(xs, ws or [1.0] * len(xs)))
        return total * scale if bias is None else total * scale + bias

    def setup_context(ctx, inputs, keyword_only_inputs, output):
        seen.append((len(inputs), inputs[1:], keyword_only_inputs))
        ctx.weights = inputs[1] or [1.0] * len(inputs[0])
        ctx.scale = keyword_only_inputs["scale"]

    def backward(ctx, grad):
        seen.append(ctx.needs_input_grad)
        return [grad * weight * ctx.scale for weight in ctx.weights], None, grad

    x, bias = leaf(T), T.ones(3, requires_grad=True)
    weighted.register_autograd(backward, setup_context=setup_context)
    y = weighted([x, x.detach(), x * 2], (1, 2, 3), bias, scale=3)
    result = y, len(y.grad_fn.next_functions), T.autograd.grad(y.sum(), (x, bias))
    short = tried(lambda: T.autograd.grad(weighted([x, x], [1, 2]).sum(), x))  # one gradient too many
    weighted.register_autograd(lambda ctx, grad: (None, None, grad), setup_context=setup_context)
    wrong = tried(lambda: T.autograd.grad(weighted([x, x], [1, 2], bias).sum(), x))
    return str(weighted._opoverload._schema), result, short, wrong, weighted((x.detach(),)), seen


@program
def several_results(T, namespace):
    @T.library.custom_op(f"{namespace}::two", mutates_args=())
    def two(x: T.Tensor, n: int) -> Tuple[T.Tensor, T.Tensor]:  # noqa: UP006
        return x * n, x * 2

    @T.library.custom_op(f"{namespace}::many", mutates_args=())
    def many(x: T.Tensor) -> List[T.Tensor]:  # noqa: UP006
        return [x * 1, x * 2]

    @T.library.custom_op(f"{namespace}::number", mutates_args=())
    def number(x: T.Tensor) -> int:
        return x.numel()

    x = leaf(T)
    two.register_autograd(lambda ctx, a, b: (a * 3 + b * 2, None))
    many.register_autograd(lambda ctx, grads: grads[0] + grads[1] * 5)
    y, ys = two(x, 3), many(x)
    grads = T.autograd.grad(y[0].sum(), x), T.autograd.grad(ys[1].sum(), x)
    return y, ys, grads, number(x), [type(each.grad_fn).__name__ for each in (*y, *ys)]


@program
def device_kernels(T, namespace):
    sin = make_sin(T, namespace, device_types="cpu")
    before = tried(sin, T.ones(1, device="meta"))
    sin.register_kernel("meta")(lambda x: x * 1)

    @T.library.custom_op(f"{namespace}::which", mutates_args=())
    def which(x: T.Tensor) -> int:
        return 0

    which.register_kernel("cpu", lambda x: 1)
    results = [which(T.ones(1))]
    with which.set_kernel_enabled("cpu", enabled=False):
        results.append(which(T.ones(1)))
    results.append(which(T.ones(1)))

    @T.library.custom_op(f"{namespace}::elsewhere", mutates_args=(), device_types="cuda")
    def elsewhere(x: T.Tensor) -> int:
        return 0

    unknown = tried(which.register_kernel("zzz"), lambda x: 2)
    return before, sin(T.ones(1, device="meta")).shape, results, tried(elsewhere, T.ones(1)), unknown


@program
def ops_without_tensors(T, namespace):
    def ones(n: int, device: T.device) -> T.Tensor:
        return T.ones(n, device=device)

    def plain(n: int) -> T.Tensor:
        return T.ones(n)

    everywhere = T.library.custom_op(f"{namespace}::a", ones, mutates_args=())
    cpu = T.library.custom_op(f"{namespace}::b", ones, mutates_args=(), device_types="cpu")
    anywhere = T.library.custom_op(f"{namespace}::c", plain, mutates_args=())
    refused = tried(T.library.custom_op, f"{namespace}::d", plain, mutates_args=(), device_types="cpu")
    return everywhere(2, "cpu"), cpu(2, T.device("cpu")), tried(cpu, 2, "meta"), anywhere(2), refused


@program
def errors_of_custom_ops(T, namespace):
    def one(x: T.Tensor) -> T.Tensor:
        return x * 1

    def keyword(*, x: T.Tensor) -> T.Tensor:
        return x * 1

    custom_op = T.library.custom_op
    again = [custom_op(f"{namespace}::again", one, mutates_args=())(T.ones(1)) for _ in range(2)]
    sin = make_sin(T, namespace)
    return again, [
        tried(custom_op, "one", one, mutates_args=()),
        tried(custom_op, "a::b::c", one, mutates_args=()),
        tried(custom_op, f"{namespace}::a", one, mutates_args={"q"}),
        tried(custom_op, f"{namespace}::b", one, mutates_args=(), schema="(Tensor(a!) x) -> Tensor"),
        tried(custom_op, f"{namespace}::c", one, mutates_args=(), schema="(Tensorr x) -> Tensor"),
        tried(custom_op, f"{namespace}::d", keyword, mutates_args=()),
        tried(sin, 3),
        tried(sin),
        tried(sin, T.ones(1), 2),
        tried(sin, y=T.ones(1)),
    ]


@program
def schemas_of_ones_own(T, namespace):
    def kernel(x, sizes, y=None):
        return x.sum() * len(sizes)

    op = T.library.custom_op(
        f"{namespace}::own", kernel, mutates_args=(), schema="(Tensor x, int[2] sizes, Tensor? y=None) -> Tensor"
    )
    return op(T.ones(2), 3), str(op._opoverload._schema)


@program
def registering_by_name(T, namespace):
    name = f"{namespace}::foo"
    T.library.define(name, "(Tensor x, *, int n=1) -> Tensor")
    T.library.register_kernel(name, "cpu", lambda x, n=1: x.detach() * n)

    @T.library.register_fake(name)
    def fake(x, n=1):
        return x.new_empty(x.shape)

    def setup_context(ctx, inputs, keyword_only_inputs, output):
        ctx.n = keyword_only_inputs["n"]

    T.library.register_autograd(name, lambda ctx, grad: grad * ctx.n, setup_context=setup_context)
    foo, x = getattr(T.ops, namespace).foo, leaf(T)
    y = foo(x, n=4)
    y.sum().backward()
    T.library.define(f"{namespace}::bar_", "(Tensor(a!) x) -> ()")
    refused = tried(T.library.register_autograd, f"{namespace}::bar_", len)
    return y, x.grad, foo(x), foo(T.ones(2, device="meta")).shape, y.grad_fn.name(), refused


# -------------------- modes and subclasses --------------------


@program
def modes_and_subclasses(T, namespace):
    seen = []

    class Mode(T.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append((str(func), len(types), len(args), kwargs))
            return func(*args, **(kwargs or {}))

    class Marked(T.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((str(func), [each.__name__ for each in types]))
            return super().__torch_function__(func, types, args, kwargs or {})

    T.library.define(f"{namespace}::foo", "(Tensor x, int n=2) -> Tensor")
    T.library.impl(f"{namespace}::foo", "cpu", lambda x, n=2: T.zeros(n))
    packet, sin = getattr(T.ops, namespace).foo, make_sin(T, namespace)
    with Mode():
        packet(T.ones(2), n=3)
        packet.default(T.ones(2))
        sin(T.ones(2))
    marked = T.ones(2).as_subclass(Marked)
    results = [type(call(marked)).__name__ for call in (packet, packet.default)]
    return [each for each in seen if namespace in each[0]], results


# -------------------- a whole program --------------------

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "custom_operators.py"


def test_example(capsys):
    """The example prints the same with nothing changed but the imports."""
    printed = []
    for library in ("mindtorch", "torch"):
        source = EXAMPLE.read_text().replace("mindtorch as torch", library).replace("from mindtorch", f"from {library}")
        module = {"__name__": f"{library}_example", "torch": None}
        exec(compile(source.replace("import mindtorch\n", "import mindtorch as torch\n"), str(EXAMPLE), "exec"), module)
        module["main"]()
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] and "grad_fn" in printed[0]


# -------------------- vmap --------------------


@pytest.mark.parametrize("form", ["function", "name", "method", "decorator"])
def test_a_rule_for_vmap(form):
    def run(T, namespace):
        sin, calls = with_formula(make_sin(T, namespace)), []

        def rule(info, in_dims, x):
            calls.append((info.batch_size, info.randomness, in_dims, tuple(x.shape)))
            return sin(x), in_dims[0]

        if form == "function":
            T.library.register_vmap(sin, rule)
        elif form == "name":
            T.library.register_vmap(f"{namespace}::sin", rule)
        elif form == "method":
            sin.register_vmap(rule)
        else:
            T.library.register_vmap(f"{namespace}::sin")(rule)
        x = T.linspace(0, 1, 6).view(2, 3)
        return T.vmap(sin)(x), T.vmap(sin, in_dims=1, randomness="same")(x), T.vmap(T.vmap(sin))(x), sin(x), calls

    compare(run)


@pytest.mark.parametrize("returned", [lambda y: y, lambda y: (y, 0, 0), lambda y: (y, (0, 0)), lambda y: [y, 0]])
def test_what_a_rule_for_vmap_has_to_return(returned):
    def run(T, namespace):
        sin = make_sin(T, namespace)
        sin.register_vmap(lambda info, in_dims, x: returned(sin(x)))
        return tried(T.vmap(sin), T.ones(2, 3)).replace("mindtorch.Tensor", "torch.Tensor")

    compare(run)


# -------------------- logs --------------------


def test_warnings_about_kernels(caplog):
    """Switching a kernel that is not there, or not off, is logged as in torch."""

    def run(T, namespace):
        sin = make_sin(T, namespace)
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            for device, enabled in (("cpu", False), ("cpu", True)):
                with sin.set_kernel_enabled(device, enabled):
                    pass
        return [" ".join(record.getMessage().split()) for record in caplog.records]

    compare(run)
