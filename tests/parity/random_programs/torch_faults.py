"""Where random programs do not go, as torch is wrong there: for each class a proof, which fails when torch is mended.

A proof is a function of the library that gives what the library says and what is right, found in another way.
"""

import faulthandler
import os
import warnings
from collections.abc import Callable
from typing import Any

Proof = Callable[[Any], tuple[Any, Any]]
PROOFS: dict[str, Proof] = {}
OF_VECTORS: set[str] = set()  # proofs that need torch's kernels for vectors of the processor


def wrong(proof: Proof) -> Proof:
    PROOFS[proof.__name__] = proof
    return proof


def wrong_in_vectors(proof: Proof) -> Proof:
    OF_VECTORS.add(proof.__name__)
    return wrong(proof)


@wrong
def result_that_is_the_same_for_all_samples(T: Any) -> tuple[Any, Any]:
    """`out_dims` says where the samples are in the result, whether they differ or not."""
    constant, samples = T.tensor([[1.0, 2.0], [3.0, 4.0]]), T.zeros(2)
    mapped = T.vmap(lambda sample: constant, out_dims=1)(samples)
    return mapped.tolist(), T.stack([constant for _ in samples], 1).tolist()


@wrong
def sample_that_takes_another_shape(T: Any) -> tuple[Any, Any]:
    """As in a loop over the samples, the tensor that they are parts of keeps its shape."""
    mapped, looped = T.zeros(2, 3, 4), T.zeros(2, 3, 4)
    T.vmap(lambda sample: sample.transpose_(0, 1).sum())(mapped)
    for sample in looped:
        sample.transpose_(0, 1)
    return tuple(mapped.shape), tuple(looped.shape)


@wrong
def samples_that_share_memory(T: Any) -> tuple[Any, Any]:
    """What the samples of an expanded tensor become has been computed once, or they are refused."""
    samples = T.tensor([2.0, 3.0]).expand(2, 2)
    right = [[4.0, 9.0], [4.0, 9.0]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no rule for the op
        try:
            return T.vmap(lambda sample: sample.square_())(samples).tolist(), right
        except RuntimeError:
            return right, right


@wrong
def view_from_inference_mode_in_a_transform(T: Any) -> tuple[Any, Any]:
    """A view (or detach) and a copy have the same elements."""

    def gradient(elements: Any) -> Any:
        def f(x: Any) -> Any:
            with T.inference_mode():
                y = elements(x)
            return (x + y).sum()

        return T.func.grad(f)(T.ones(2, 2)).tolist()

    copy = gradient(lambda x: x * 1)
    return gradient(lambda x: x[:]), copy


@wrong
def gradient_that_shares_memory(T: Any) -> tuple[Any, Any]:
    """A backward pass writes to `.grad`, and to nothing else that the program has."""
    x = T.ones(1, 3, requires_grad=True)
    direction = T.ones(3)
    for _ in range(2):
        x.view(3).backward(direction.view(3))
    return direction.tolist(), [1.0, 1.0, 1.0]


@wrong
def gradient_that_was_summed(T: Any) -> tuple[Any, Any]:
    """A gradient of what was repeated is a tensor of its own, which may be written, in whatever way it was summed."""

    def written(*shape: int) -> Any:
        weight = T.ones(shape, requires_grad=True)
        (gradient,) = T.autograd.grad((T.ones(2, 3) * weight).sum(), weight)
        gradient[..., 0] += weight.sum()
        return gradient.reshape(-1).tolist()

    right = written(1, 3)
    try:
        return written(3), right
    except RuntimeError:
        return None, right


@wrong
def tangent_that_shares_memory(T: Any) -> tuple[Any, Any]:
    """The derivative of `f` by finite differences."""

    def f(x: Any) -> Any:
        kept = T.fmod(x, 3.0)  # or frac
        x[0] = 7.0
        return x + 2 * kept

    x, v, step = T.tensor([0.5, 1.0], dtype=T.float64), T.ones(2, dtype=T.float64), 2.0**-20
    quotient = (f(x + step * v) - f(x - step * v)) / (2 * step)
    return T.func.jvp(f, (x.clone(),), (v.clone(),))[1].tolist(), quotient.tolist()


@wrong
def derivative_of_the_tangent_of_softmax(T: Any) -> tuple[Any, Any]:
    """The derivative of a directional derivative, with the directional derivative of a derivative; so are those of
    log_softmax, logsumexp and logcumsumexp."""
    fw = T.autograd.forward_ad
    x, direction = T.tensor([1.0, 2.0], dtype=T.float64), T.tensor([1.0, 3.0], dtype=T.float64)
    right = T.func.jvp(T.func.grad(lambda a: a.softmax(0)[0]), (x,), (direction,))[1].tolist()
    leaf = x.clone().requires_grad_()
    with fw.dual_level():
        tangent = fw.unpack_dual(fw.make_dual(leaf, direction).softmax(0)).tangent
        try:
            tangent[0].backward()
        except RuntimeError:
            return None, right
    return [round(number, 12) for number in leaf.grad.tolist()], [round(number, 12) for number in right]


@wrong
def number_of_no_samples(T: Any) -> tuple[Any, Any]:
    """Of no samples the results are none."""
    try:
        return tuple(T.vmap(lambda a: a.sum() * T.ones(2, 3))(T.ones(0, 3)).shape), (0, 2, 3)
    except IndexError:
        return None, (0, 2, 3)


@wrong
def tangent_of_an_inference_tensor(T: Any) -> tuple[Any, Any]:
    """A function of a dual tensor has the tangent that the chain rule gives, or is refused."""
    fw = T.autograd.forward_ad
    with T.inference_mode():
        primal = T.ones(2)
    with fw.dual_level():
        tangent = fw.unpack_dual(fw.make_dual(primal, T.ones(2)).neg()).tangent
        return None if tangent is None else tangent.tolist(), [-1.0, -1.0]


@wrong
def tangent_of_another_dtype(T: Any) -> tuple[Any, Any]:
    """A tangent is a direction in the space of its primal, and has its dtype."""
    primal, tangent = T.func.jvp(lambda x: (1 + 2j) - x, (T.ones(2),), (T.ones(2),))
    return str(tangent.dtype).rpartition(".")[2], str(primal.dtype).rpartition(".")[2]


@wrong
def tangent_of_a_complex_power(T: Any) -> tuple[Any, Any]:
    """A real number to the power of a complex one is complex, and so is its derivative: e ** (1j * t) at t = 0."""
    powers = T.func.jvp(lambda x: x ** T.tensor([1j]), (T.ones(1),), (T.ones(1),))
    return powers[1].tolist(), [1j]


@wrong
def derivative_of_the_tangent_of_a_power(T: Any) -> tuple[Any, Any]:
    """The derivative of a directional derivative, with the directional derivative of a derivative: that of 1 / x."""
    fw = T.autograd.forward_ad
    x, exponent = T.tensor([-1.0], requires_grad=True), T.tensor([-1.0])
    right = T.func.jvp(T.func.grad(lambda a: (a**exponent).sum()), (x.detach(),), (T.ones(1),))[1].tolist()
    with fw.dual_level():
        fw.unpack_dual(fw.make_dual(x, T.ones(1)) ** exponent).tangent.sum().backward()
    return x.grad.tolist(), right


@wrong
def derivative_of_the_tangent_of_running_products(T: Any) -> tuple[Any, Any]:
    """The products of [t, 1 + t] are [t, t + t * t], whose second derivatives are 0 and 2, also where t is 0."""
    fw = T.autograd.forward_ad
    x = T.tensor([0.0, 1.0], requires_grad=True)
    with fw.dual_level():
        tangent = fw.unpack_dual(fw.make_dual(x, T.ones(2)).cumprod(0)).tangent
        tangent[1].backward()
    return x.grad.sum().tolist(), 2.0


@wrong
def view_of_a_captured_tensor(T: Any) -> tuple[Any, Any]:
    """A transform refuses to write what its function has captured, before anything is written."""
    captured = T.zeros(2)

    def f(x: Any) -> Any:
        captured[...].add_(1)  # or [:, :], or view(dtype)
        return x.sum()

    try:
        T.func.grad(f)(T.ones(2))
    except RuntimeError:
        pass
    return captured.tolist(), [0.0, 0.0]


@wrong
def windows_of_a_number(T: Any) -> tuple[Any, Any]:
    """`vmap` gives what a loop over the samples gives."""
    numbers = T.arange(4.0)
    mapped = T.vmap(lambda number: number.unfold(0, 0, 1))(numbers)
    return tuple(mapped.shape), tuple(T.stack([number.unfold(0, 0, 1) for number in numbers]).shape)


@wrong
def tangent_of_a_sign(T: Any) -> tuple[Any, Any]:
    """What does not depend on the direction has a tangent of zeros, which an in-place op may write."""

    def f(x: Any) -> Any:
        signs = x.sgn()
        signs[1:] = signs[1:]  # which is nothing
        return signs

    return T.func.jvp(f, (T.ones(1),), (T.ones(1),))[1].tolist(), [0.0]


@wrong
def any_along_no_dimensions(T: Any) -> tuple[Any, Any]:
    """`vmap` gives what a loop over the samples gives."""
    samples = T.arange(6).reshape(2, 3)
    mapped = T.vmap(lambda sample: sample.any(dim=[]))(samples)
    return tuple(mapped.shape), tuple(T.stack([sample.any(dim=[]) for sample in samples]).shape)


@wrong
def view_whose_base_was_written(T: Any) -> tuple[Any, Any]:
    """It is no leaf any more, whether or not `grad_fn` has been asked for."""
    results = []
    for is_asked in (False, True):
        x, w = T.zeros(3), T.ones((), requires_grad=True)
        view = x[:2]
        x[0] = w
        assert not is_asked or view.grad_fn is not None
        results.append(view.mul_(2).tolist())
    return results[0], results[1]


@wrong
def input_of_a_transform_that_was_written(T: Any) -> tuple[Any, Any]:
    """The gradient is that of what has been computed, or refused, as it is without a transform."""
    x = T.tensor([1.0, 2.0])
    _, pull_back = T.func.vjp(T.square, x)
    right = (x * 2).tolist()
    x.mul_(10)
    try:
        return pull_back(T.ones(2))[0].tolist(), right
    except RuntimeError:
        return right, right


@wrong
def gradient_that_is_zero(T: Any) -> tuple[Any, Any]:
    """The gradient of sgn may be added to, as that of any other op."""
    x = T.ones(1, requires_grad=True)
    y = x * 1
    gradient = T.autograd.grad(y.sgn(), x, T.ones(1), create_graph=True)[0]
    return gradient.mul_(2).tolist(), [0.0]


@wrong
def real_view_of_nothing(T: Any) -> tuple[Any, Any]:
    """A number that does not depend on a tensor without elements has a gradient without elements."""
    x = T.zeros(0, dtype=T.complex64, requires_grad=True)
    T.view_as_real(x).sum().backward()
    return tuple(x.grad.shape), tuple(x.shape)


@wrong
def saved_tensor_that_was_detached(T: Any) -> tuple[Any, Any]:
    """What was computed before `detach_` keeps its gradient, as it does after `detach`."""
    x = T.ones(2, requires_grad=True)
    y = x * 2
    z = y.atan()
    y.detach_()
    z.sum().backward()
    return x.grad.tolist(), (2 / (1 + (2 * T.ones(2)) ** 2)).tolist()


@wrong
def gradient_of_a_real_choice(T: Any) -> tuple[Any, Any]:
    """A real tensor whose values are chosen beside complex ones gets the real part of their gradient."""
    x = T.ones(3, requires_grad=True)
    T.where(T.tensor([True, False, True]), x, T.ones(3, dtype=T.complex64)).abs().sum().backward()
    return x.grad.tolist(), [1.0, 0.0, 1.0]


@wrong
def mean_of_a_tensor_of_inference_mode(T: Any) -> tuple[Any, Any]:
    """A checkpoint makes it require grad, which is no reason not to read it."""

    def f(x: Any) -> Any:
        with T.inference_mode():
            return x * 2

    y = T.utils.checkpoint.checkpoint(f, T.ones(2, requires_grad=True), use_reentrant=True)
    return y.mean(0).tolist(), y.tolist()[0]


@wrong
def magnitude_of_a_tensor_of_inference_mode(T: Any) -> tuple[Any, Any]:
    """That a tensor requires grad is no reason not to read it."""
    with T.inference_mode():
        x = T.ones(2).requires_grad_()
    try:
        return x.abs().tolist(), x.detach().abs().tolist()
    except RuntimeError:
        return None, x.detach().abs().tolist()


@wrong
def samples_without_dimensions_along_one(T: Any) -> tuple[Any, Any]:
    """What an op has computed is no view, and may be written in another mode; of samples as without them."""
    numbers, w = T.tensor([1.0, 2.0]), T.ones((), requires_grad=True)

    def f(x: Any) -> Any:
        with T.no_grad():
            y = x.cumsum(0)
        return y.mul_(w)

    looped = T.stack([f(number) for number in numbers]).tolist()
    try:
        return T.vmap(f)(numbers).tolist(), looped
    except RuntimeError:
        return None, looped


@wrong
def samples_written_to_an_index(T: Any) -> tuple[Any, Any]:
    """`vmap` gives what a loop over the samples gives; where the sizes differ, torch refuses to write them."""
    samples, values = T.zeros(2, 2, 3, 2), T.tensor([1.0, 2.0])

    def f(sample: Any, value: Any) -> Any:
        sample[[0, 1], :, [0, 1]] = value  # the indexed dimensions come first
        return sample * 1

    looped = T.stack([f(*each) for each in zip(samples.clone(), values)])
    return T.vmap(f)(samples.clone(), values).tolist(), looped.tolist()


@wrong
def tangent_written_to_an_index(T: Any) -> tuple[Any, Any]:
    """A tangent has the dtype of its primal, so that it can be written where that can be written."""

    def f(x: Any) -> Any:
        y = T.zeros(2)
        y[T.tensor([0])] += x
        return y

    x = T.ones(1, dtype=T.float64)
    try:
        return T.func.jvp(f, (x,), (x,))[1].tolist(), [1.0, 0.0]
    except RuntimeError:
        return None, [1.0, 0.0]


@wrong
def tangent_written_in_another_dtype(T: Any) -> tuple[Any, Any]:
    """A tangent has the dtype of its primal, whatever that was written with."""
    primal, tangent = T.func.jvp(lambda x: T.ones(2).mul_(x), *[(T.ones(2, dtype=T.float64),)] * 2)
    return str(tangent.dtype).rpartition(".")[2], str(primal.dtype).rpartition(".")[2]


@wrong
def samples_that_are_marked(T: Any) -> tuple[Any, Any]:
    """A Function says of all samples that they are not differentiable, as it does of one."""

    class F(T.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(a: Any) -> Any:
            return a * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.mark_non_differentiable(output)

    x = T.ones(2, requires_grad=True)
    return T.vmap(F.apply)(x).requires_grad, F.apply(x).requires_grad


@wrong
def batch_of_gradients_of_a_sample(T: Any) -> tuple[Any, Any]:
    """`vmap` gives what a loop over the samples gives."""

    def f(x: Any) -> Any:
        y = x * 2
        T.autograd.grad(y, x, T.stack([x.detach(), y.detach()]), is_grads_batched=True, create_graph=True)
        return y.sum()

    samples = T.ones(2, 3)
    looped = T.stack([T.func.grad(f)(sample) for sample in samples]).tolist()
    return T.vmap(T.func.grad(f))(samples).tolist(), looped


@wrong
def tangent_of_a_tensor_and_a_number(T: Any) -> tuple[Any, Any]:
    """A tangent has the dtype of its primal, also without dimensions."""
    primal, tangent = T.func.jvp(lambda x: x * 3.0, (T.ones(()),), (T.ones(()),))
    return str(tangent.dtype).rpartition(".")[2], str(primal.dtype).rpartition(".")[2]


@wrong
def samples_of_two_dtypes(T: Any) -> tuple[Any, Any]:
    """`vmap` gives what a loop over the samples gives."""
    wide, narrow = T.ones((), dtype=T.float64), T.ones(3)
    mapped, looped = T.vmap(lambda a: T.addcmul(a, wide, a))(narrow), T.addcmul(narrow[0], wide, narrow[0])
    return str(mapped.dtype).rpartition(".")[2], str(looped.dtype).rpartition(".")[2]


@wrong
def derivative_of_the_tangent_of_a_quotient(T: Any) -> tuple[Any, Any]:
    """The derivative of a directional derivative, with the directional derivative of a derivative: that of a / b."""
    fw = T.autograd.forward_ad
    a, b = T.ones(1), T.zeros(1, requires_grad=True)
    right = T.func.jvp(lambda a: T.func.grad(lambda b: (a / b).sum())(b.detach()), (a,), (T.ones(1),))[1].tolist()
    with fw.dual_level():
        fw.unpack_dual(fw.make_dual(a, T.ones(1)) / b).tangent.sum().backward()
    return repr(b.grad.tolist()), repr(right)


@wrong
def samples_that_are_marked_as_constants(T: Any) -> tuple[Any, Any]:
    """What a Function marks as not differentiable requires no grad, for samples as without them."""

    class Marked(T.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            return x * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple, output: Any) -> None:
            ctx.mark_non_differentiable(output)

    x = T.ones(2, requires_grad=True)
    return T.vmap(Marked.apply)(x).requires_grad, Marked.apply(x).requires_grad


@wrong_in_vectors
def arc_tangent_of_equal_numbers(T: Any) -> tuple[Any, Any]:
    """What an op computes for an element does not depend on how many others there are."""
    numbers = T.arange(1.0, 65.0)
    return T.atan2(numbers, numbers)[:3].tolist(), T.atan2(numbers[:3], numbers[:3]).tolist()


@wrong_in_vectors
def negative_of_complex_zeros(T: Any) -> tuple[Any, Any]:
    """What an op computes for an element does not depend on how many others there are."""
    numbers = T.ones(64, dtype=T.complex64)
    return numbers.neg().imag[:3].signbit().tolist(), numbers[:3].neg().imag.signbit().tolist()


@wrong
def extreme_of_zeros(T: Any) -> tuple[Any, Any]:
    """What an op computes for an element does not depend on how many others there are; nor do those of other names."""
    zeros = T.zeros(64)
    return T.maximum(zeros, -zeros)[:3].signbit().tolist(), T.maximum(zeros[:3], -zeros[:3]).signbit().tolist()


@wrong
def gradient_of_what_vmap_writes_into_a_copy(T: Any) -> tuple[Any, Any]:
    """The gradients of samples are those of a loop over them."""
    given, source = T.ones(2, 3), T.ones(2, requires_grad=True)
    T.vmap(lambda a, b: T.select_scatter(a, b, 0, 0))(given, source).sum().backward()
    return source.grad.tolist(), [1.0, 1.0]


def _tangent_of_tangent(T: Any, f: Callable[[Any], Any], x: Any) -> tuple[Any, Any]:
    """The derivative of a directional derivative, with the directional derivative of the derivative."""
    direction = T.arange(1.0, x.numel() + 1, dtype=x.dtype).reshape(x.shape)
    leaf = x.clone().requires_grad_()
    (found,) = T.autograd.grad(T.func.jvp(f, (leaf,), (direction,))[1], leaf)
    right = T.func.jvp(T.func.grad(f), (x,), (direction,))[1]
    return T.round(found, decimals=4).tolist(), T.round(right, decimals=4).tolist()


@wrong
def derivative_of_the_tangent_of_a_determinant(T: Any) -> tuple[Any, Any]:
    """The order in which a function is differentiated along two directions makes no difference."""
    return _tangent_of_tangent(T, T.linalg.det, T.tensor([[1.0, 0.5], [-0.5, 2.0]], dtype=T.float64))


@wrong
def derivative_of_the_tangent_of_a_solution(T: Any) -> tuple[Any, Any]:
    """The order in which a function is differentiated along two directions makes no difference."""
    ones = T.ones(2, 1, dtype=T.float64)
    matrix = T.tensor([[1.0, 0.5], [-0.5, 2.0]], dtype=T.float64)
    return _tangent_of_tangent(T, lambda a: T.linalg.solve(a, ones).sum(), matrix)


@wrong
def derivative_of_the_tangent_of_a_normalized_batch(T: Any) -> tuple[Any, Any]:
    """The order in which a function is differentiated along two directions makes no difference."""
    batch = T.tensor([[1.0], [2.0], [4.0]], dtype=T.float64)
    return _tangent_of_tangent(
        T, lambda a: T.nn.functional.batch_norm(a, None, None, training=True).pow(3).sum(), batch
    )


@wrong
def second_derivatives_of_a_layer_norm(T: Any) -> tuple[Any, Any]:
    """The order of two derivatives makes no difference."""

    def f(weight: Any, x: Any) -> Any:
        return T.nn.functional.layer_norm(x, (3,), weight).pow(2).sum()

    given = T.ones(3, dtype=T.float64), T.tensor([[1.0, 2.0, 4.0]], dtype=T.float64)
    mixed, other = (T.func.jacrev(T.func.jacrev(f, first), second)(*given) for first, second in ((0, 1), (1, 0)))
    return T.round(mixed[:, 0], decimals=4).tolist(), T.round(other[0].mT, decimals=4).tolist()


@wrong
def second_derivatives_of_a_weight_norm(T: Any) -> tuple[Any, Any]:
    """The derivatives of a derivative are those of the quotient that is written out."""
    direction = T.tensor([[1.0, 0.5, 2.0]], dtype=T.float64)
    layer = T.nn.utils.parametrizations.weight_norm(T.nn.Linear(3, 1, bias=False, dtype=T.float64))
    length, given = layer.parametrizations.weight.original0, layer.parametrizations.weight.original1
    with T.no_grad():
        given.copy_(direction)
    found = []
    for weight in (layer.weight, length * given / given.norm(dim=1, keepdim=True)):
        (first,) = T.autograd.grad((weight * weight * direction).sum(), given, create_graph=True)
        found.append(T.round(T.autograd.grad((first * direction).sum(), given)[0], decimals=4).tolist())
    return found[0], found[1]


@wrong
def tangent_of_a_triangular_solution(T: Any) -> tuple[Any, Any]:
    """Only a triangle is read, and so only that of a tangent counts."""
    matrix, side = T.tensor([[2.0, 1.0], [0.0, 4.0]]), T.ones(2, 1)
    tangent = T.func.jvp(lambda a: T.triangular_solve(side, a)[0], (matrix,), (T.tensor([[0.0, 0.0], [1.0, 0.0]]),))[1]
    return tangent.tolist(), [[0.0], [0.0]]


@wrong
def truth_of_samples_along_no_dimension(T: Any) -> tuple[Any, Any]:
    """`vmap` gives what a loop over the samples gives."""
    x = T.ones(2, 3)
    return T.vmap(lambda a: T.all(a, dim=()))(x).tolist(), T.stack([T.all(row, dim=()) for row in x]).tolist()


def _or_refused(call: Callable[[], Any], right: Any) -> tuple[Any, Any]:
    try:
        return call().tolist(), right
    except RuntimeError:
        return None, right


@wrong
def number_written_to_a_part(T: Any) -> tuple[Any, Any]:
    """The sum of a tensor, a part of which is given numbers, has a second derivative of zero, as that of others."""

    def f(x: Any) -> Any:
        whole = T.zeros(2, 3)
        whole[:1] = x
        return whole.sum()

    return _or_refused(lambda: T.func.hessian(f)(T.ones(())), 0.0)


@wrong
def tangent_of_a_batch_of_gradients(T: Any) -> tuple[Any, Any]:
    """What does not depend on the direction adds nothing to a tangent."""
    leaf = T.ones(2, 3, requires_grad=True)

    def f(x: Any) -> Any:
        return T.autograd.grad(leaf, leaf, T.ones(2, 2, 3), is_grads_batched=True)[0].sum() + x

    x = T.ones(2)
    return _or_refused(lambda: T.vmap(lambda a: T.func.jvp(f, (a,), (a,))[1])(x), x.tolist())


@wrong
def written_batch_of_gradients(T: Any) -> tuple[Any, Any]:
    """What a function has computed itself is not captured, and a transform lets it write that."""
    leaf = T.ones(2, requires_grad=True)

    def f(x: Any) -> Any:
        rows = T.autograd.grad(leaf, leaf, T.ones(3, 2), is_grads_batched=True)[0]
        return rows.add_(rows).sum() * x

    return _or_refused(lambda: T.func.grad(f)(T.tensor(1.0)), 12.0)


@wrong
def view_of_samples_from_inference_mode(T: Any) -> tuple[Any, Any]:
    """`vmap` gives what a loop over the samples gives."""

    def f(x: Any) -> Any:
        with T.inference_mode():
            return (x * 2).unsqueeze(0)

    x = T.arange(4.0).view(2, 2)
    looped = T.stack([T.func.jacfwd(f)(row) for row in x]).tolist()
    return _or_refused(lambda: T.vmap(T.func.jacfwd(f))(x), looped)


@wrong
def tangent_of_windows(T: Any) -> tuple[Any, Any]:
    """The identity has the derivative that it was given a direction of; or what shares memory is refused."""
    windows, direction = T.arange(4.0).unfold(0, 3, 1), T.arange(6.0).view(2, 3)
    try:
        return T.func.jvp(lambda a: a * 1, (windows,), (direction,))[1].tolist(), direction.tolist()
    except RuntimeError:
        return direction.tolist(), direction.tolist()


@wrong
def hook_of_a_view_whose_base_was_written(T: Any) -> tuple[Any, Any]:
    """It may be registered; torch ends the process, which here is one of its own."""
    process = os.fork()
    if process:
        return os.waitpid(process, 0)[1], 0
    faulthandler.disable()
    status = 1
    try:
        view = (base := T.zeros(3))[:2]
        base[2:] = T.ones(1, requires_grad=True)
        view.register_hook(print)
        status = 0
    finally:
        os._exit(status)
