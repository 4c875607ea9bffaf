"""gradcheck and gradgradcheck say what torch's say, to the letter: the random directions of fast mode are the same."""

import re

import pytest
import torch

from tests.parity.support.programs import programs

program, test_program = programs()

torch.sparse.check_sparse_tensor_invariants.disable()  # says that the user knows that they are off

_LAST_DIGITS = re.compile(r"\d\.\d{5,}(e-\d+)?")


def tried(function, *args, **kwargs):
    """What a call returns, or its error as text."""
    try:
        return function(*args, **kwargs)
    except (RuntimeError, ValueError, TypeError, NotImplementedError, AssertionError) as error:
        return _LAST_DIGITS.sub(lambda number: f"{float(number[0]):.6f}", f"{type(error).__name__}: {error}")


def real(T, *numbers):
    return T.tensor([float(number) for number in numbers or (0.3, 0.7, 1.1)], dtype=T.float64, requires_grad=True)


def complex_(T):
    return T.tensor([0.3 + 1j, 0.7 - 0.5j, 1.1 + 0.2j], dtype=T.complex128, requires_grad=True)


def made(T, forward, backward, jvp=None):
    class Planted(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return forward(x)

        @staticmethod
        def backward(ctx, *grads):
            return backward(*ctx.saved_tensors, *grads)

    if jvp:
        Planted.jvp = staticmethod(lambda ctx, tangent: jvp(*ctx.saved_tensors, tangent))
    return Planted.apply


def in_both_modes(T, function, inputs, **options):
    check = T.autograd.gradcheck
    return [tried(check, function, inputs, fast_mode=fast, **options) for fast in (False, True)]


# -------------------- right derivatives --------------------


@program
def right_ones(T):
    x, z = real(T), complex_(T)
    functions = [T.sin, lambda x: x.outer(x), lambda x: (x.sum(), x * 2), T.abs, T.square]
    results = [in_both_modes(T, function, x, check_forward_ad=True) for function in functions]
    results += [in_both_modes(T, function, (z,), check_forward_ad=True) for function in [T.exp, T.abs, T.real, T.angle]]
    second = T.autograd.gradgradcheck
    results += [second(f, x, fast_mode=fast, check_fwd_over_rev=True) for f in functions for fast in (False, True)]
    results += [second(f, z, fast_mode=fast, check_fwd_over_rev=True) for f in (T.exp, T.abs) for fast in (False, True)]
    return results


@program
def mixed_inputs(T):
    x, z = real(T), complex_(T)
    return in_both_modes(T, lambda x, z, w, n: x * z + w * n, (x, z, x.detach(), 3), check_forward_ad=True)


@program
def empty_inputs_and_scalars(T):
    x = T.zeros(0, dtype=T.float64, requires_grad=True)
    return [
        tried(T.autograd.gradcheck, T.exp, x, check_forward_ad=True),
        tried(T.autograd.gradcheck, lambda x: x.sum(), x),
        in_both_modes(T, T.exp, T.tensor(2.0, dtype=T.float64, requires_grad=True), check_forward_ad=True),
    ]


@program
def gradients_to_start_from(T):
    x = real(T)
    start = T.tensor([1.0, 2.0, 3.0], dtype=T.float64, requires_grad=True)
    second = T.autograd.gradgradcheck
    return (
        second(lambda x: x**3, x, start),
        second(lambda x: x**3, x, [start.detach()]),
        second(lambda x: x**3, x, gen_non_contig_grad_outputs=True),
    )


# -------------------- wrong derivatives --------------------


@program
def wrong_backward(T):
    wrong = made(T, lambda x: x * x, lambda x, g: 3 * x * g)
    return in_both_modes(T, wrong, real(T)), in_both_modes(T, wrong, real(T), raise_exception=False)


@program
def nearly_right(T):
    almost = made(T, lambda x: x * x, lambda x, g: 2 * x * g * 1.002)
    mixed = made(T, lambda x: x * x, lambda x, g: 2 * x * g + T.tensor([1e-4, 0, -1e-4], dtype=T.float64))
    return (
        in_both_modes(T, almost, real(T)),
        in_both_modes(T, almost, real(T), rtol=0.01),
        in_both_modes(T, mixed, real(T)),
    )


@program
def wrong_for_complex_numbers(T):
    wrong = made(T, lambda z: z * z, lambda z, g: 2 * z * g)
    modulus = made(T, lambda z: z.abs(), lambda z, g: g * z)
    return in_both_modes(T, wrong, complex_(T)), in_both_modes(T, modulus, complex_(T))


@program
def wrong_forward(T):
    wrong = made(T, lambda x: x * x, lambda x, g: 2 * x * g, lambda x, t: 3 * x * t)
    of_reals = in_both_modes(T, wrong, real(T), check_forward_ad=True)
    return of_reals, in_both_modes(T, wrong, real(T), check_forward_ad=True, check_backward_ad=False)


@program
def no_forward(T):
    alone = made(T, lambda x: x * x, lambda x, g: 2 * x * g)
    return in_both_modes(T, alone, real(T), check_forward_ad=True)


@program
def second_output_of_two_inputs(T):
    def function(x, y):
        return x * y, wrong(x) * y

    wrong = made(T, lambda x: x * 2, lambda x, g: g)
    return in_both_modes(T, function, (real(T), real(T, 1, 2, 3)))


@program
def not_determined(T):
    numbers = iter(range(1000))
    wrong = made(T, lambda x: x * 2, lambda x, g: g * (2 + next(numbers) * 1e-8))
    return tried(T.autograd.gradcheck, wrong, real(T)), T.autograd.gradcheck(wrong, real(T), nondet_tol=1e-3)


@program
def outputs_without_gradients(T):
    return [
        in_both_modes(T, lambda x: x.detach() * 2, real(T)),
        in_both_modes(T, lambda x: (x > 0.5).double(), real(T)),
        in_both_modes(T, lambda x: T.ones(2, dtype=T.float64), real(T)),
        in_both_modes(T, lambda x: x.detach() * 0, real(T)),
    ]


@program
def gradients_of_nothing(T):
    def backward(x, g):
        return T.ones_like(x) if g is None else g

    class Kept(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return backward(x, g)

    class Failing(Kept):
        @staticmethod
        def backward(ctx, g):
            if g is None:
                raise RuntimeError("no gradient")
            return g

    x = real(T)
    return [
        tried(T.autograd.gradcheck, Kept.apply, x),
        tried(T.autograd.gradcheck, Failing.apply, x),
        tried(T.autograd.gradcheck, Kept.apply, x, check_undefined_grad=False),
        tried(T.autograd.gradcheck, lambda x: T.ones_like(x) * Kept.apply(x).sum(), x),
    ]


@program
def not_multiplied(T):
    wrong = made(T, lambda x: x * 1, lambda x, g: T.ones_like(x))
    return in_both_modes(T, wrong, T.tensor(2.0, dtype=T.float64, requires_grad=True))


@program
def wrong_second_derivative(T):
    wrong = made(T, lambda x: x * x, lambda x, g: 2 * x.detach() * g)
    second = T.autograd.gradgradcheck
    start = T.tensor([1.0, 2.0, 3.0], dtype=T.float64, requires_grad=True)
    return [tried(second, wrong, real(T), start, fast_mode=fast) for fast in (False, True)]


@program
def dtype_of_a_tangent(T):
    wrong = made(T, lambda x: x * 2, lambda x, g: 2 * g, lambda x, t: t * (2 + 0j))
    return in_both_modes(T, wrong, real(T), check_forward_ad=True, check_grad_dtypes=True)


# -------------------- batches of gradients --------------------


def factor(g):
    """2, and 3 for a batch of tensors, which has no value."""
    try:
        g.sum().item()
    except RuntimeError:
        return 3
    return 2


def refused(g):
    if factor(g) == 3:
        raise RuntimeError("this is a batch")
    return g * 2


def batched(T, function, *inputs, **options):
    T.manual_seed(0)
    return tried(T.autograd.gradcheck, function, inputs, **options)


@program
def batched_gradients(T):
    twice = made(T, lambda x: x * 2, lambda x, g: g * factor(g))
    failing = made(T, lambda x: x * 2, lambda x, g: refused(g))
    x, y = real(T), real(T, 1.5, 0.2, 0.4)
    return [
        batched(T, T.mul, x, y, check_batched_grad=True),
        batched(T, lambda x, n, y: (x * n, x @ y), x, 3, y, check_batched_grad=True, fast_mode=True),
        batched(T, lambda z: z * z.conj() * z, complex_(T), check_batched_grad=True),
        batched(T, twice, x),
        batched(T, twice, x, check_batched_grad=True),
        batched(T, twice, x, check_batched_grad=True, raise_exception=False),
        batched(T, lambda x, y: (x * 1, y * twice(x), y + 1), x, y, check_batched_grad=True),
        batched(T, failing, x, check_batched_grad=True),
        tried(T.autograd.gradgradcheck, T.sin, x, check_batched_grad=True),
        tried(T.autograd.gradgradcheck, failing, x, check_batched_grad=True),
    ]


def with_tangent(T, tangent):
    """Twice a number, with a tangent of its own, for `vmap` too."""

    class Twice(T.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def jvp(ctx, t):
            return tangent(t)

    return Twice.apply


@program
def batched_tangents(T):
    forward_only = {"check_forward_ad": True, "check_backward_ad": False, "check_batched_forward_grad": True}
    twice, failing = with_tangent(T, lambda t: t * factor(t)), with_tangent(T, refused)
    x, y = real(T), real(T, 1.5, 0.2, 0.4)
    return [
        batched(T, T.mul, x, y, **forward_only),
        batched(T, lambda x, n, y: (x * n, x @ y), x, 3, y, **forward_only),
        batched(T, twice, x, **forward_only),
        batched(T, twice, x, **forward_only, raise_exception=False),
        batched(T, lambda x, y: (x * 1, y * twice(x)), x, y, **forward_only),
        batched(T, failing, x, **forward_only),
    ]


# -------------------- refusals --------------------


@program
def refused_options(T):
    x, first, second = real(T), T.autograd.gradcheck, T.autograd.gradgradcheck
    return [
        tried(first, T.sin, x, check_backward_ad=False),
        tried(first, T.sin, x.detach()),
        tried(first, T.sin, x, check_backward_ad=False, check_forward_ad=True, check_batched_grad=True),
        tried(first, T.sin, x, check_batched_forward_grad=True),
        tried(second, T.sin, x, check_rev_over_rev=False),
        tried(second, T.sin, x, check_fwd_over_rev=True, check_rev_over_rev=False),
        tried(second, T.sin, x, check_fwd_over_rev=True, check_rev_over_rev=False, check_undefined_grad=False),
        tried(
            second,
            T.sin,
            x,
            check_fwd_over_rev=True,
            check_rev_over_rev=False,
            check_undefined_grad=False,
            check_batched_grad=True,
        ),
    ]


@program
def refused_inputs(T):
    first = T.autograd.gradcheck
    overlapping = T.ones(1, dtype=T.float64).expand(3).detach().requires_grad_()
    return [
        tried(first, T.sin, overlapping),
        tried(first, T.sin, (3,)),
        tried(first, T.sin, T.ones(2, requires_grad=True), raise_exception=False),
        tried(first, T.sin, T.ones(2, dtype=T.float64)),
        tried(first, T.sin, T.ones(2, requires_grad=True), eps=1e-2, atol=0.1),
    ]


@program
def outputs_that_change(T):
    return [
        in_both_modes(T, lambda x: x.sum().expand(2 if x[0] > 0.3 else 3), real(T)),
        in_both_modes(T, lambda x: x.to(T.float32 if x[1] > 0.7 else T.float64), real(T)),
    ]


@program
def errors_of_the_function(T):
    def fails(x):
        raise ValueError("not today")

    return tried(T.autograd.gradcheck, fails, real(T)), tried(
        T.autograd.gradcheck, fails, real(T), raise_exception=False
    )


# -------------------- sparse inputs --------------------


def sparse(T):
    return T.sparse_coo_tensor([[0, 1], [1, 2]], [2.0, 3.0], (2, 3), dtype=T.float64, requires_grad=True)


@program
def sparse_inputs(T):
    x = sparse(T)
    return [
        in_both_modes(T, lambda x: x.to_dense(), x, masked=False),
        in_both_modes(T, lambda x: x.to_dense() * 2, x, masked=True),
        in_both_modes(T, lambda x: x.to_dense(masked_grad=False), x, masked=False),
        in_both_modes(T, lambda x: x.to_dense(masked_grad=True), x, masked=True),
        tried(T.autograd.gradcheck, lambda x: x * 2, x),
    ]


@pytest.mark.parametrize("fast_mode", [False, True])
def test_fast_mode_calls_the_function_a_few_times_only(fast_mode):
    calls = {}
    for T in (pytest.importorskip("torch"), pytest.importorskip("mindtorch")):
        x = T.linspace(0, 1, 50, dtype=T.float64, requires_grad=True)

        def counted(x, T=T):
            calls[T] = calls.get(T, 0) + 1
            return x.sin()

        T.autograd.gradcheck(counted, x, fast_mode=fast_mode)
    expected, own = calls.values()
    assert own <= expected + 2 and (own < 10 or not fast_mode)
