"""What else a derivative has to fulfil: gradients of zero, and gradients and tangents that are missing."""

from collections.abc import Callable
from typing import Any

from mindtorch._core.generator import Generator
from mindtorch._core.layout import sparse_coo
from mindtorch._support.warnings import warn
from mindtorch.autograd._engine.engine import grad
from mindtorch.autograd.forward_ad import dual_level, make_dual, unpack_dual
from mindtorch.autograd.function import Function
from mindtorch.autograd.gradcheck.arguments import (
    as_tuple,
    differentiable,
    is_float,
    is_sparse,
    requires_grad,
    sources_of,
)
from mindtorch.autograd.gradcheck.errors import GradcheckError, cannot_be_undefined, not_zero_when_undefined
from mindtorch.autograd.gradcheck.numerical import are_close
from mindtorch.dispatch import ops

# -------------------- gradients of zero --------------------


def check_zero_gradients(outputs: tuple, arguments: tuple, masked: bool) -> None:
    """A gradient of zero must give zero."""
    sources = [value for _, value in sources_of(arguments)]
    gradients = grad(outputs, sources, _zeros(outputs), allow_unused=True) if outputs else ()
    for gradient, source in zip(gradients, sources):
        if gradient is None:
            continue
        if is_sparse(gradient):
            _check_sparse(gradient, source)
            gradient, source = gradient.to_dense(), source.to_dense()
        if not (are_close(gradient, ops.zeros_like(gradient)) if masked else _is_zero(gradient)):
            raise GradcheckError("backward not multiplied by grad_output")


def _zeros(outputs: Any) -> list[Any]:
    return [ops.zeros(output.shape, dtype=output.dtype, device=output.device) for output in outputs]


def _is_zero(tensor: Any) -> bool:
    return bool(tensor.eq(0).all())


def _check_sparse(gradient: Any, source: Any) -> None:
    if gradient.layout is not source.layout:
        raise GradcheckError(f"grad is incorrect layout ({gradient.layout} is not {source.layout})")
    if gradient.layout is not sparse_coo:
        return
    for fact in ("sparse_dim", "dense_dim"):
        found, expected = getattr(gradient, fact)(), getattr(source, fact)()
        if found != expected:
            raise GradcheckError(f"grad is sparse tensor, but has incorrect {fact} {found}, expected {expected}")


# -------------------- missing gradients --------------------


class _UndefinedGrad(Function):
    """Passes a tensor on, and no gradient back."""

    @staticmethod
    def forward(ctx: Any, tensor: Any) -> Any:
        return tensor.view_as(tensor)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> None:
        return None


def check_undefined_gradients(function: Callable, arguments: tuple) -> None:
    """Formulas must cope with outputs that received no gradient: all of them, and one at a time."""
    count = len(differentiable(function(*arguments)))
    if not count:
        return
    one_by_one = [{i} for i in range(count)] if count > 1 else []
    for missing in [set(range(count)), *one_by_one]:
        outputs = differentiable(function(*arguments))
        _check_undefined([_UndefinedGrad.apply(o) if i in missing else o for i, o in enumerate(outputs)], arguments)


def _check_undefined(outputs: list[Any], arguments: tuple) -> None:
    sources = [value for _, value in sources_of(arguments)]
    try:
        gradients = grad(outputs, sources, _zeros(outputs), allow_unused=True)
    except RuntimeError as error:
        _warn_of_new_check()
        raise cannot_be_undefined() from error
    if not all(gradient is None or _is_zero(gradient) for gradient in gradients):
        _warn_of_new_check()
        raise not_zero_when_undefined()


def _warn_of_new_check() -> None:
    warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may "
        "break existing callers of this function. If this is true for you, you can call this function with "
        '"check_undefined_grad=False" to disable the feature',
        UserWarning,
    )


# -------------------- missing tangents --------------------


def check_undefined_tangents(function: Callable, arguments: tuple) -> None:
    """An input without a tangent must be like one with a tangent of zeros."""
    with dual_level():
        duals = [_dual(value) if requires_grad(value) else value for value in arguments]
        for place, source in sources_of(arguments):
            with_zeros = _tangents(function, duals, place, make_dual(source.detach(), ops.zeros_like(source)))
            without = _tangents(function, duals, place, source.detach())
            for output, (found, expected) in enumerate(zip(with_zeros, without, strict=True)):
                if found is not None and expected is not None and not are_close(found, expected):
                    raise _tangent_mismatch(output, source, found, expected)


def _dual(value: Any) -> Any:
    direction = ops.rand(value.shape, generator=Generator(), dtype=value.dtype, device="cpu")  # that of the generator
    return make_dual(value.detach(), direction.to(value.device))


def _tangents(function: Callable, duals: list, place: int, replacement: Any) -> list[Any]:
    outputs = as_tuple(function(*duals[:place], replacement, *duals[place + 1 :]))
    return [unpack_dual(output).tangent for output in outputs if is_float(output)]


def _tangent_mismatch(output: int, source: Any, found: Any, expected: Any) -> GradcheckError:
    return GradcheckError(
        "Mismatch in tangent values for output with index: ",
        output,
        " when input: ",
        source,
        " has an undefined tangent value. ",
        " Got: ",
        found,
        " but expected: ",
        expected,
    )
