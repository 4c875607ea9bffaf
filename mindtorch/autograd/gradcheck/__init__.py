"""`gradcheck` and `gradgradcheck`: compare the derivatives that autograd gives with differences of function values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindtorch._core.dtype import float64
from mindtorch._core.tensor import Tensor
from mindtorch._support.lazy import lazy
from mindtorch.autograd._engine.engine import grad
from mindtorch.autograd.gradcheck.arguments import (
    as_tuple,
    check_inputs,
    check_outputs,
    differentiable,
    is_float,
    requires_grad,
)
from mindtorch.autograd.gradcheck.errors import GradcheckError as GradcheckError
from mindtorch.dispatch import ops

if TYPE_CHECKING:
    from mindtorch.autograd.gradcheck.comparison import Options, Subject

_batched: Any = lazy("mindtorch.autograd.gradcheck.batched")
_comparison: Any = lazy("mindtorch.autograd.gradcheck.comparison")
_further: Any = lazy("mindtorch.autograd.gradcheck.further")


def gradcheck(
    func: Callable,
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Whether the derivatives of `func` at `inputs` agree with central differences of step `eps`.

    Raises GradcheckError if they don't, unless raise_exception is off. In fast_mode Jacobians are compared in a random
    direction only. `masked`: what of a sparse input is not in memory counts as constant. `check_batched_grad` and
    `check_batched_forward_grad`: derivatives inside `vmap` must be those outside of it.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    options = _comparison.Options(eps, atol, rtol, nondet_tol, check_grad_dtypes, fast_mode, bool(masked))
    arguments = as_tuple(inputs)
    try:
        check_inputs(arguments)
        results = as_tuple(func(*arguments))
        outputs = differentiable(results)
        check_outputs(outputs)
        if check_backward_ad:
            for subject in _comparison.output_parts(func, arguments, results):
                _comparison.check_backward(subject, options)
        if check_forward_ad:
            _check_forward(_comparison.input_parts(func, arguments, results), options, check_undefined_grad)
        if check_batched_forward_grad:
            _batched.check_batched_tangents(func, arguments)
        if check_backward_ad:
            if check_batched_grad:
                _batched.check_batched_gradients(outputs, arguments)
            _further.check_zero_gradients(outputs, arguments, options.masked)
            if check_undefined_grad:
                _further.check_undefined_gradients(func, arguments)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check_forward(subjects: list[Subject], options: Options, check_undefined: bool) -> None:
    for subject in subjects:
        _comparison.check_forward(subject, options)
    if check_undefined:
        for subject in subjects:
            _further.check_undefined_tangents(subject.function, subject.arguments)


def gradgradcheck(
    func: Callable,
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """`gradcheck` of the backward of `func`, as a function of the inputs and of the gradients of the outputs."""
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_batched_grad=True requires check_rev_over_rev to be True")
    arguments = as_tuple(inputs)
    if grad_outputs is None:
        outputs = differentiable(func(*arguments))
        weights = tuple(_random_like(output, gen_non_contig_grad_outputs) for output in outputs)
    else:
        weights = as_tuple(grad_outputs)
    return gradcheck(
        _backward_of(func, arguments, weights),
        arguments + weights,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _random_like(output: Any, with_gaps: bool) -> Tensor:
    """A gradient for an output, to be differentiated with respect to; `with_gaps`: with other elements between its."""
    dtype = output.dtype if is_float(output) else float64
    shape = (*output.shape, 2) if with_gaps else output.shape
    numbers = ops.rand(shape, dtype=dtype, device=output.device) * 2 - 1
    return (numbers[..., 0] if with_gaps else numbers).detach().requires_grad_()


def _backward_of(func: Callable, arguments: tuple, weights: tuple) -> Callable[..., tuple]:
    """The backward of a function, as a function of its arguments and of the gradients of its outputs."""
    wanted = [requires_grad(value) for value in arguments + weights]

    def backward(*values: Any) -> tuple:
        values = tuple(value.requires_grad_() if flag else value for value, flag in zip(values, wanted, strict=True))
        own = values[: len(arguments)]
        sources = [value for value, flag in zip(own, wanted, strict=False) if flag]
        outputs = differentiable(func(*own))
        found = grad(outputs, sources, values[len(arguments) :], create_graph=True, allow_unused=True)
        return tuple(each for each in found if each is not None)

    return backward
