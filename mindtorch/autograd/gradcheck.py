"""`gradcheck`: compares the gradients that autograd gives with differences of function values.

Note [Real coordinates]: a complex tensor counts as twice as many real numbers, its real and imaginary parts one after
the other. A function of complex tensors is then a function between real vectors, and its Jacobian, found numerically,
by backward and by forward AD, is one real matrix.
"""

import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mindtorch.autograd.engine import grad
from mindtorch.autograd.forward_ad import dual_level, make_dual, unpack_dual
from mindtorch.autograd.function import Function
from mindtorch.dispatch import ops
from mindtorch.dtype import complex128, float64
from mindtorch.tensor import Tensor


class GradcheckError(RuntimeError):
    """What gradcheck raises when a gradient is wrong."""


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

    Raises GradcheckError if they don't, unless raise_exception is off. The options check_batched_*, fast_mode and
    masked are accepted for torch's sake: every gradient is computed, one at a time.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    arguments = _as_tuple(inputs)
    _check_inputs(arguments)
    check = _Check(func, arguments, eps, atol, rtol)
    try:
        if not check.checked:
            check.flat()
            return True
        if check_forward_ad:
            check.forward()
        if check_backward_ad:
            check.backward(nondet_tol, check_grad_dtypes)
            check.zero_gradients()
            if check_undefined_grad:
                check.undefined_gradients()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


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
    arguments = _as_tuple(inputs)
    if grad_outputs is None:
        weights = tuple(map(_random_like, _differentiable(func(*arguments))))
    else:
        weights = _as_tuple(grad_outputs)
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
    )


def _random_like(output: Any) -> Tensor:
    """A gradient for an output, to be differentiated with respect to."""
    dtype = output.dtype if _is_float(output) else float64
    return (ops.rand(output.shape, dtype=dtype, device=output.device) * 2 - 1).requires_grad_()


def _backward_of(func: Callable, arguments: tuple, weights: tuple) -> Callable[..., tuple]:
    """The backward of a function, as a function of its arguments and of the gradients of its outputs."""
    wanted = [_requires_grad(value) for value in arguments + weights]

    def backward(*values: Any) -> tuple:
        values = tuple(value.requires_grad_() if flag else value for value, flag in zip(values, wanted, strict=True))
        own = values[: len(arguments)]
        sources = [value for value, flag in zip(own, wanted, strict=False) if flag]
        outputs = _differentiable(func(*own))
        found = grad(outputs, sources, values[len(arguments) :], create_graph=True, allow_unused=True)
        return tuple(each for each in found if each is not None)

    return backward


# -------------------- arguments --------------------


def _as_tuple(values: Any) -> tuple:
    return tuple(values) if isinstance(values, (tuple, list)) else (values,)


def _is_float(value: Any) -> bool:
    return isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex())


def _requires_grad(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _differentiable(outputs: Any) -> tuple:
    return tuple(output for output in _as_tuple(outputs) if _requires_grad(output))


def _check_inputs(arguments: tuple) -> None:
    for i, value in enumerate(arguments):
        if not _requires_grad(value):
            continue
        if value.dtype not in (float64, complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check "
                "will likely fail if all the inputs are not of double precision floating point or complex. ",
                UserWarning,
                stacklevel=3,
            )
        if any(stride == 0 and size > 1 for stride, size in zip(value.stride(), value.shape, strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call "
                ".contiguous on the input before passing it to gradcheck."
            )
    if not any(map(_requires_grad, arguments)):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )


# -------------------- real coordinates --------------------


def _real_vector(tensor: Any) -> np.ndarray:
    """The elements of a tensor as real numbers. See Note [Real coordinates]."""
    flat = np.ascontiguousarray(tensor.detach().numpy()).reshape(-1)
    if flat.dtype.kind == "c":
        return flat.astype(np.complex128).view(np.float64)
    return flat.astype(np.float64)


def _coordinates(tensor: Tensor) -> Iterator[tuple[tuple, complex]]:
    """The real coordinates of a tensor: an index, and the unit that is added there."""
    units = (1, 1j) if tensor.is_complex() else (1,)
    return itertools.product(np.ndindex(tuple(tensor.shape)), units)


def _unit(like: Any, index: tuple, unit: complex) -> Tensor:
    tensor = ops.zeros_like(like.detach())
    tensor[index] = unit
    return tensor


# -------------------- the checks --------------------


class _Check:
    """The function under test, its inputs, and the Jacobians that the differences give."""

    def __init__(self, function: Callable, arguments: tuple, eps: float, atol: float, rtol: float) -> None:
        self.function = function
        self.arguments = arguments
        self.eps = eps
        self.atol = atol
        self.rtol = rtol
        self.sources: list[Any] = [value for value in arguments if _requires_grad(value)]
        outputs = _as_tuple(function(*arguments))
        self.checked = [i for i, output in enumerate(outputs) if _requires_grad(output)]
        self.numerical = [self._numerical(source) for source in self.sources]

    def _outputs(self) -> list[Any]:
        outputs = _as_tuple(self.function(*self.arguments))
        return [outputs[i] for i in self.checked]

    def _numerical(self, source: Any) -> list[np.ndarray]:
        """The Jacobian of each output with respect to an input, by central differences."""
        return self._matrices([self._difference(source.data, index, unit) for index, unit in _coordinates(source)])

    def _matrices(self, columns: list[list[np.ndarray]]) -> list[np.ndarray]:
        """One matrix per output, from the columns of all of them."""
        if not columns:
            return [np.zeros((_real_vector(output).size, 0)) for output in self._outputs()]
        return [np.stack(own, axis=1) for own in zip(*columns, strict=True)]

    def _difference(self, data: Any, index: tuple, unit: complex) -> list[np.ndarray]:
        before = data[index].item()
        values = []
        for step in (self.eps, -self.eps):
            data[index] = before + step * unit
            outputs = _as_tuple(self.function(*self.arguments))
            values.append(
                [_real_vector(outputs[i]) for i in self.checked or range(len(outputs)) if _is_float(outputs[i])]
            )
            data[index] = before
        return [(after - earlier) / (2 * self.eps) for after, earlier in zip(*values, strict=True)]

    def flat(self) -> None:
        """Outputs without gradients must not depend on the inputs."""
        if any(np.any(matrix != 0) for matrices in self.numerical for matrix in matrices):
            raise GradcheckError("Numerical gradient for function expected to be zero")

    def _compare(self, analytical: list[list[np.ndarray]], how: str) -> None:
        """Compare Jacobians, by input and output, with the numerical ones."""
        for j, (own, expected) in enumerate(zip(analytical, self.numerical, strict=True)):
            for i, (matrix, wanted) in enumerate(zip(own, expected, strict=True)):
                if not np.allclose(matrix, wanted, self.rtol, self.atol):
                    raise GradcheckError(
                        f"Jacobian {how}mismatch for output {i} with respect to input {j},\n"
                        f"numerical:{wanted}\nanalytical:{matrix}\n"
                    )

    # -------------------- backward --------------------

    def backward(self, nondet_tol: float, check_dtypes: bool) -> None:
        outputs = self._outputs()
        first, second = ([self._rows(output, check_dtypes) for output in outputs] for _ in range(2))
        by_input = [[rows[j] for rows in first] for j in range(len(self.sources))]
        self._compare(by_input, "")
        for one, other in zip(itertools.chain(*first), itertools.chain(*second), strict=True):
            if one.size and np.nanmax(np.abs(one - other)) > nondet_tol:
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple "
                    "times gives different values, although analytical gradient matches numerical gradient.The "
                    f"tolerance for nondeterminism was {nondet_tol}."
                )

    def _rows(self, output: Any, check_dtypes: bool) -> list[np.ndarray]:
        """The Jacobian of an output with respect to each input, row by row."""
        rows: list[list[np.ndarray]] = [[] for _ in self.sources]
        for index, unit in _coordinates(output):
            found = grad(output, self.sources, _unit(output, index, unit), retain_graph=True, allow_unused=True)
            for row, each, source in zip(rows, found, self.sources, strict=True):
                if each is None:
                    each = ops.zeros_like(source)
                if check_dtypes and each.dtype is not source.dtype:
                    raise GradcheckError("Gradient has dtype mismatch")
                if each.shape != source.shape:
                    raise GradcheckError("Analytical gradient has incorrect size")
                row.append(_real_vector(each))
        return [_as_rows(row, source) for row, source in zip(rows, self.sources, strict=True)]

    def zero_gradients(self) -> None:
        """A gradient of zero must give zero."""
        outputs = self._outputs()
        if not outputs:
            return
        zeros = [ops.zeros_like(output.detach()) for output in outputs]
        found = grad(outputs, self.sources, zeros, allow_unused=True)
        for each, source in zip(found, self.sources, strict=True):
            if each is None:
                continue
            if np.any(_real_vector(each) != 0):
                raise GradcheckError("backward not multiplied by grad_output")
            if each.dtype is not source.dtype:
                raise GradcheckError("grad is incorrect type")
            if each.device != source.device:
                raise GradcheckError("grad is incorrect device")

    def undefined_gradients(self) -> None:
        """Formulas must cope with outputs that received no gradient: none of them, and one at a time."""
        count = len(self._outputs())
        absent: list[Sequence[int]] = [range(count)] if count else []
        if count > 1:
            absent += [(i,) for i in range(count)]
        for positions in absent:
            outputs = [
                _UndefinedGrad.apply(output) if i in positions else output for i, output in enumerate(self._outputs())
            ]
            self._check_undefined(outputs)

    def _check_undefined(self, outputs: list[Any]) -> None:
        zeros = [ops.zeros_like(output.detach()) for output in outputs]
        advice = 'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
        try:
            found = grad(outputs, self.sources, zeros, allow_unused=True)
        except RuntimeError as error:
            raise GradcheckError(f"Expected backward function to handle undefined output grads. {advice}") from error
        if any(each is not None and np.any(_real_vector(each) != 0) for each in found):
            raise GradcheckError(
                "Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
                f"{advice}"
            )

    # -------------------- forward --------------------

    def forward(self) -> None:
        self._compare([self._forward_columns(source) for source in self.sources], "computed with forward mode ")

    def _forward_columns(self, source: Any) -> list[np.ndarray]:
        """The Jacobian of each output with respect to an input, column by column, by forward AD."""
        return self._matrices(
            [self._tangents(source, _unit(source, index, unit)) for index, unit in _coordinates(source)]
        )

    def _tangents(self, source: Tensor, tangent: Tensor) -> list[np.ndarray]:
        with dual_level():
            arguments = [
                make_dual(value.detach(), tangent) if value is source else _detached(value) for value in self.arguments
            ]
            outputs = _as_tuple(self.function(*arguments))
            parts = [unpack_dual(outputs[i]) for i in self.checked]
        return [_real_vector(ops.zeros_like(p.primal) if p.tangent is None else p.tangent) for p in parts]


def _detached(value: Any) -> Any:
    return value.detach() if isinstance(value, Tensor) else value


def _as_rows(vectors: list[np.ndarray], source: Tensor) -> np.ndarray:
    width = _real_vector(source).size
    return np.stack(vectors) if vectors else np.zeros((0, width))


class _UndefinedGrad(Function):
    """Passes a tensor on, and no gradient back."""

    @staticmethod
    def forward(ctx: Any, tensor: Any) -> Any:
        return tensor.view_as(tensor)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> None:
        return None
