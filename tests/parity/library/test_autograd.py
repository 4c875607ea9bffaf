"""Ops of `torch.library` in autograd's corners: saved tensors, hooks, views, inference tensors, lists with gaps."""

from typing import List, Optional, Tuple  # noqa: UP035  (old annotations are part of what is tested)

import numpy as np

from tests.parity.support.library_programs import leaf, make_sin, programs, tried, with_formula

program, test_program = programs()


@program
def a_second_backward_pass(T, namespace):
    y = with_formula(make_sin(T, namespace))(leaf(T)).sum()
    y.backward()
    return tried(y.backward)


@program
def a_saved_tensor_is_written(T, namespace):
    x = leaf(T) * 1
    y = with_formula(make_sin(T, namespace))(x).sum()
    x.add_(1)
    return tried(y.backward)


@program
def hooks_and_retained_gradients(T, namespace):
    seen, x = [], leaf(T)
    y = with_formula(make_sin(T, namespace))(x)
    y.register_hook(lambda grad: seen.append(grad) or grad * 2)
    y.retain_grad()
    y.sum().backward()
    return x.grad, seen, y.grad, y.is_leaf, y.output_nr


@program
def what_setup_context_sees(T, namespace):
    sin, seen = make_sin(T, namespace), []

    def setup_context(ctx, inputs, output):
        seen.append((T.is_grad_enabled(), inputs[0].requires_grad, output.requires_grad))

    sin.register_autograd(lambda ctx, grad: grad, setup_context=setup_context)
    sin(leaf(T))
    sin(T.ones(1))
    sin.register_autograd(lambda ctx, grad: grad, setup_context=lambda ctx, something, output: None)
    return seen, tried(sin, leaf(T))


@program
def which_gradients_are_needed(T, namespace):
    seen = []

    @T.library.custom_op(f"{namespace}::mul", mutates_args=())
    def mul(x: T.Tensor, y: T.Tensor, factor: float) -> T.Tensor:
        return x * y * factor

    def setup_context(ctx, inputs, output):
        *tensors, ctx.factor = inputs
        ctx.save_for_backward(*tensors)

    def backward(ctx, grad):
        seen.append(ctx.needs_input_grad)
        x, y = ctx.saved_tensors
        return grad * y * ctx.factor, grad * x * ctx.factor, None

    mul.register_autograd(backward, setup_context=setup_context)
    x, y = leaf(T), T.ones(3)
    for args in ((x, y, 2.0), (y, x, 3.0), (x, x, 1.0)):
        mul(*args).sum().backward()
    doubles = x.detach().double().requires_grad_(), y.double().requires_grad_()
    checks = T.autograd.gradcheck, T.autograd.gradgradcheck
    return x.grad, seen[:3], [check(lambda a, b: mul(a, b, 2.0), doubles) for check in checks]


@program
def a_formula_that_comes_late(T, namespace):
    sin, x = make_sin(T, namespace), leaf(T)
    y = sin(x)
    sin.register_autograd(lambda ctx, grad: grad * 3)
    y.sum().backward()
    return x.grad


@program
def results_without_gradient(T, namespace):
    seen = []

    @T.library.custom_op(f"{namespace}::two", mutates_args=())
    def two(x: T.Tensor) -> Tuple[T.Tensor, T.Tensor]:  # noqa: UP006
        return x * 1, (x > 0).long()

    def backward(ctx, grad, other):
        seen.append((grad, other))
        return grad

    two.register_autograd(backward, setup_context=lambda ctx, inputs, output: ctx.set_materialize_grads(False))
    x = leaf(T)
    y, mask = two(x)
    y.sum().backward()
    return y, mask, seen, x.grad


@program
def optional_tensors(T, namespace):
    @T.library.custom_op(f"{namespace}::scale", mutates_args=())
    def scale(x: T.Tensor, y: Optional[T.Tensor]) -> T.Tensor:  # noqa: UP045
        return x * 1 if y is None else x * y

    scale.register_autograd(lambda ctx, grad: (grad, None))
    x = leaf(T)
    scale(x, None).sum().backward()
    scale(x, T.ones(3)).sum().backward()
    return x.grad, tried(scale, None, x)


@program
def lists_with_gaps_and_empty_lists(T, namespace):
    @T.library.custom_op(f"{namespace}::total", mutates_args=())
    def total(xs: List[Optional[T.Tensor]]) -> T.Tensor:  # noqa: UP006, UP045
        return sum((x for x in xs if x is not None), T.zeros(3))

    total.register_autograd(lambda ctx, grad: [grad, None])
    return tried(total, []), tried(total, [leaf(T), None]), tried(lambda: total([leaf(T), None]).sum().backward())


@program
def lists_and_optional_tensors_that_are_written(T, namespace):
    @T.library.custom_op(f"{namespace}::fill", mutates_args={"xs", "y"})
    def fill(xs: List[T.Tensor], y: Optional[T.Tensor] = None, *, value: float = 7.0) -> None:  # noqa: UP006, UP045
        for x in xs if y is None else [*xs, y]:
            x.detach().numpy()[...] = value

    a, b, c = T.ones(2), T.ones(1), T.ones(1)
    fill([a, b])
    fill([a], c, value=3.0)
    return a, b, c, [each._version for each in (a, b, c)], str(fill._opoverload._schema)


@program
def written_and_returned(T, namespace):
    @T.library.custom_op(f"{namespace}::reset", mutates_args={"x"})
    def reset(x: T.Tensor) -> T.Tensor:
        x.detach().numpy()[...] = 3
        return x.clone()

    x = T.ones(2)
    result = reset(x), x, x._version, reset(leaf(T) * 1).requires_grad
    return result, tried(reset, T.ones(1, device="meta"))


@program
def inference_tensors(T, namespace):
    @T.library.custom_op(f"{namespace}::reset", mutates_args={"x"})
    def reset(x: T.Tensor) -> None:
        x.numpy()[...] = 3

    with T.inference_mode():
        x = T.ones(2)
    y = with_formula(make_sin(T, namespace))(x)
    reset(x)
    return y, x, y.is_inference()


@program
def ops_that_return_views(T, namespace):
    T.library.define(f"{namespace}::flat", "(Tensor(a) x) -> Tensor(a)")
    T.library.impl(f"{namespace}::flat", "default", lambda x: x.view(-1))
    custom = T.library.custom_op(
        f"{namespace}::custom", lambda x: x.view(-1), mutates_args=(), schema="(Tensor(a) x) -> Tensor(a)"
    )
    custom.register_autograd(lambda ctx, grad: grad.view(3, 3))
    x, y = T.ones(2, 2), T.ones(2, 2)
    views = getattr(T.ops, namespace).flat(x), custom(y)
    for view in views:
        view.add_(1)
    z = leaf(T)
    custom(z.expand(3, 3).clone()).sum().backward()
    return x, y, [view._is_view() for view in views], x._version, y._version, z.grad


@program
def an_argument_returned_as_it_is(T, namespace):
    T.library.define(f"{namespace}::same", "(Tensor x) -> Tensor")
    T.library.impl(f"{namespace}::same", "cpu", lambda x: x)
    same, x, y = getattr(T.ops, namespace).same, T.ones(2), leaf(T)
    z = same(y)
    return same(x) is x, z is y, z.requires_grad, z.is_leaf


@program
def dtypes_and_devices(T, namespace):
    seen = []

    @T.library.custom_op(f"{namespace}::cast", mutates_args=())
    def cast(
        x: T.Tensor, to: T.dtype = T.float64, device: Optional[T.device] = None, text: str = "a"  # noqa: UP045
    ) -> T.Tensor:
        return x.to(to).clone()

    cast.register_autograd(
        lambda ctx, grad: grad.to(T.float32),
        setup_context=lambda ctx, inputs, output: seen.append(str(inputs[1:])),
    )
    x = leaf(T)
    cast(x, T.float64, "cpu").sum().backward()
    return cast(T.ones(1)), cast(T.ones(1), T.int32, text="b"), str(cast._opoverload._schema), x.grad, seen


@program
def kernels_that_raise(T, namespace):
    def kernel(x):
        raise KeyError("no")

    T.library.define(f"{namespace}::bad", "(Tensor x) -> Tensor")
    T.library.impl(f"{namespace}::bad", "cpu", kernel)
    bad = getattr(T.ops, namespace).bad
    return tried(bad, T.ones(1)), tried(bad, leaf(T)), tried(bad, np.ones(1))


@program
def overloads_from_two_libraries(T, namespace):
    first, second = (T.library.Library(namespace, "FRAGMENT") for _ in range(2))
    first.define("foo(Tensor x) -> int")
    second.define("foo.more(Tensor x, int n) -> int")
    first.impl("foo", lambda x: 1, "CPU")
    second.impl(getattr(T.ops, namespace).foo.more, lambda x, n: n, "CPU")
    foo = getattr(T.ops, namespace).foo
    both = foo(T.ones(1)), foo(T.ones(1), 4), foo.overloads()
    second._destroy()
    return both, getattr(T.ops, namespace).foo.overloads(), getattr(T.ops, namespace).foo(T.ones(1))
