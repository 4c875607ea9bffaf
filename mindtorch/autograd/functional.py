"""Derivatives of Python functions of tensors: `jacobian`, `hessian` and their products with vectors."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mindtorch._core import state
from mindtorch._core.tensor import Tensor
from mindtorch._support.lazy import lazy
from mindtorch.autograd._engine.engine import grad
from mindtorch.autograd._engine.history import edge_of
from mindtorch.autograd._engine.unit_vectors import unit_vectors
from mindtorch.autograd.forward_ad import dual_level, make_dual, unpack_dual
from mindtorch.autograd.functional_checks import (
    HESSIAN_NEEDS_V,
    JVP_NEEDS_V,
    VJP_NEEDS_V,
    as_tuple,
    check_requires_grad,
    filled,
    finished,
    grad_of,
    nested,
    outputs_of,
    prepared,
    released,
    single_output,
    vector_for,
)
from mindtorch.autograd.grad_mode import enable_grad, set_grad_enabled
from mindtorch.dispatch import ops

_thread = state.thread
_func: Any = lazy("mindtorch.func")

# -------------------- products with a vector --------------------


def vjp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """The function's outputs, and the product of `v` with its Jacobian."""
    with enable_grad():
        is_tuple, inputs = as_tuple(inputs, "inputs", "vjp")
        inputs = prepared(inputs, create_graph)
        are_tuple, outputs = outputs_of(func, inputs, "vjp", strict)
        v = vector_for(v, outputs, are_tuple, "vjp", VJP_NEEDS_V)
    with set_grad_enabled(create_graph or _thread.grad_enabled):
        found = grad_of(outputs, inputs, v, create_graph=create_graph)
        products = filled(found, inputs, strict, create_graph, "back")
    return finished(outputs, are_tuple, create_graph), finished(products, is_tuple, create_graph)


def jvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """The function's outputs, and the product of its Jacobian with `v`.

    The product is taken as the derivative of a vector-Jacobian product with respect to its vector, so that only
    backward formulas are needed.
    """
    with enable_grad():
        is_tuple, inputs = as_tuple(inputs, "inputs", "jvp")
        inputs = prepared(inputs, create_graph)
        v = vector_for(v, inputs, is_tuple, "jvp", JVP_NEEDS_V)
        are_tuple, outputs = outputs_of(func, inputs, "jvp", strict)
        weights = _weights(outputs)
        back = filled(grad_of(outputs, inputs, weights, create_graph=True), inputs, strict, create_graph, "back")
        check_requires_grad(back, "grad_inputs", strict)
    with set_grad_enabled(create_graph or _thread.grad_enabled):
        found = grad_of(back, weights, v, create_graph=create_graph)
        products = filled(found, outputs, strict, create_graph, "back_trick")
    return finished(outputs, are_tuple, create_graph), finished(products, are_tuple, create_graph)


def vhp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """The value of a function with one output, and the product of `v` with its Hessian."""
    with enable_grad():
        is_tuple, inputs = as_tuple(inputs, "inputs", "vhp")
        inputs = prepared(inputs, create_graph)
        v = vector_for(v, inputs, is_tuple, "vhp", HESSIAN_NEEDS_V)
        outputs = single_output(func, inputs, "vhp", strict)
        jacobian = grad_of(outputs, inputs, create_graph=True)
        check_requires_grad(jacobian, "jacobian", strict)
    with set_grad_enabled(create_graph or _thread.grad_enabled):
        found = grad_of(jacobian, inputs, v, create_graph=create_graph)
        products = filled(found, inputs, strict, create_graph, "double_back")
    return finished(outputs, False, create_graph), finished(products, is_tuple, create_graph)


def hvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """The value of a function with one output, and the product of its Hessian with `v`."""
    with enable_grad():
        is_tuple, inputs = as_tuple(inputs, "inputs", "hvp")
        inputs = prepared(inputs, create_graph)
        v = vector_for(v, inputs, is_tuple, "hvp", HESSIAN_NEEDS_V)
        outputs = single_output(func, inputs, "hvp", strict)
        jacobian = grad_of(outputs, inputs, create_graph=True)
        check_requires_grad(jacobian, "jacobian", strict)
        weights = _weights(inputs)
        back = grad_of(jacobian, inputs, weights, create_graph=True)
    with set_grad_enabled(create_graph or _thread.grad_enabled):
        found = grad_of(back, weights, v, create_graph=create_graph)
        products = filled(found, inputs, strict, create_graph, "double_back_trick")
    return finished(outputs, False, create_graph), finished(products, is_tuple, create_graph)


def _weights(outputs: Sequence[Tensor]) -> tuple:
    """Zeros to differentiate with respect to: a vector-Jacobian product is linear in them."""
    return tuple(ops.zeros_like(output).requires_grad_() for output in outputs)


# -------------------- whole matrices --------------------


def jacobian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivatives of every element of every output with respect to every element of every input.

    A tensor of shape output.shape + input.shape; a tuple of them for a tuple of inputs or of outputs, and a tuple of
    tuples for both (by output, then by input).
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
            'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        _check_forward_mode(create_graph, strict, vectorize)
        return _forward_jacobian(func, inputs)
    with enable_grad():
        is_tuple, inputs = as_tuple(inputs, "inputs", "jacobian")
        inputs = prepared(inputs, create_graph)
        are_tuple, outputs = outputs_of(func, inputs, "jacobian", strict)
        if vectorize:
            rows = _jacobians_at_once(outputs, inputs, create_graph, strict)
        else:
            rows = [_jacobian_of(i, output, inputs, create_graph, strict) for i, output in enumerate(outputs)]
    return nested(rows, are_tuple, is_tuple)


def _jacobians_at_once(outputs: tuple, inputs: tuple, create_graph: bool, strict: bool) -> list[list[Tensor]]:
    """The Jacobians of all outputs, by input, from one backward pass in `vmap`."""
    if strict:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
            "Please either set `strict=False` or `vectorize=False`."
        )
    (basis,) = unit_vectors(outputs)
    used = [(output, part) for output, part in zip(outputs, basis, strict=True) if edge_of(output) is not None]
    found: Sequence[Any] = [None] * len(inputs)
    if used:
        given, weights = zip(*used, strict=True)
        found = grad(given, inputs, weights, create_graph=create_graph, allow_unused=True, is_grads_batched=True)
    counts = [output.numel() for output in outputs]
    columns = [
        [
            released(part.view(output.shape + source.shape), create_graph)
            for part, output in zip(_rows(each, source, sum(counts)).split(counts), outputs, strict=True)
        ]
        for each, source in zip(found, inputs, strict=True)
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def _rows(found: Any, source: Tensor, count: int) -> Tensor:
    """The gradients of all output elements; zeros where there are none."""
    return ops.zeros_like(source).expand((count, *source.shape)) if found is None else found


def _jacobian_of(i: int, output: Any, inputs: tuple, create_graph: bool, strict: bool) -> list[Tensor]:
    """The Jacobians of one output, by input."""
    rows = [
        [
            _checked_row(i, j, row, source, create_graph, strict)
            for j, (row, source) in enumerate(zip(found, inputs, strict=True))
        ]
        for found in (
            grad_of((element,), inputs, create_graph=create_graph, retain_graph=True) for element in output.reshape(-1)
        )
    ]
    if not rows:
        return [output.new_zeros(output.shape + source.shape) for source in inputs]
    return [
        released(ops.stack(column).reshape(output.shape + source.shape), create_graph)
        for column, source in zip(zip(*rows, strict=True), inputs, strict=True)
    ]


def _checked_row(i: int, j: int, row: Any, source: Tensor, create_graph: bool, strict: bool) -> Tensor:
    """The gradient of one output element; zeros when it does not depend on the input."""
    if row is None:
        if strict:
            raise RuntimeError(
                f"Output {i} of the user-provided function is independent of input {j}. This is not allowed in strict "
                "mode."
            )
        return ops.zeros_like(source)
    if strict and create_graph and edge_of(row) is None:
        raise RuntimeError(
            f"The jacobian of the user-provided function is independent of input {i}. This is not allowed in strict "
            "mode when create_graph=True."
        )
    return row


def _check_forward_mode(create_graph: bool, strict: bool, vectorize: bool) -> None:
    text = (
        'torch.autograd.functional.jacobian: `{0}=True` and `strategy="forward-mode"` are not supported together '
        '(yet). Please either set `{0}=False` or `strategy="reverse-mode"`.'
    )
    if create_graph:
        raise NotImplementedError(text.format("create_graph"))
    if strict:
        raise RuntimeError(text.format("strict"))
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
            "`vectorize=True`."
        )


def _forward_jacobian(func: Callable, inputs: Any) -> Any:
    """The Jacobian by forward AD: one call of the function, in `vmap`, for all elements of the inputs."""
    is_tuple, inputs = as_tuple(inputs, "inputs", "jacobian")
    (basis,) = unit_vectors(inputs)
    seen: list[Any] = []

    def slopes(*tangents: Tensor) -> tuple:
        with _allowing_everything(), dual_level():
            duals = [make_dual(source, tangent) for source, tangent in zip(inputs, tangents, strict=True)]
            are_tuple, outputs = as_tuple(func(*duals), "outputs of the user-provided function", "jacobian")
            parts = [unpack_dual(output) for output in outputs]
            seen[:] = are_tuple, [part.primal.shape for part in parts]
            return tuple(ops.zeros_like(p.primal) if p.tangent is None else p.tangent for p in parts)

    columns = _func.vmap(slopes)(*basis)
    are_tuple, shapes = seen
    counts = [source.numel() for source in inputs]
    rows = [
        [
            part.movedim(0, -1).reshape(tuple(shape) + source.shape)
            for part, source in zip(column.split(counts), inputs, strict=True)
        ]
        for column, shape in zip(columns, shapes, strict=True)
    ]
    by_output: Any = rows if is_tuple else tuple(row[0] for row in rows)
    return by_output if are_tuple else by_output[0]


@contextmanager
def _allowing_everything() -> Iterator[None]:
    """In this block the running `vmap` forbids nothing: `requires_grad_` and `backward` are for functions to call."""
    running, _thread.transforms = _thread.transforms, 0
    try:
        yield
    finally:
        _thread.transforms = running


def hessian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a function with one output: a tensor, or a tuple of tuples for a tuple of inputs."""
    is_tuple, inputs = as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def value(*arguments: Tensor) -> Any:
        return single_output(func, arguments, "hessian", strict)[0].squeeze()

    def gradient(*arguments: Tensor) -> Any:
        if outer_jacobian_strategy == "forward-mode":
            arguments = tuple(argument.requires_grad_() for argument in arguments)
        found = jacobian(value, arguments, create_graph=True)
        check_requires_grad(found, "jacobian", strict)
        return found

    found = jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return found if is_tuple else found[0][0]
