"""Derivatives of Python functions of tensors: `jacobian`, `hessian` and their products with vectors."""

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch import state
from mindtorch.autograd.engine import grad
from mindtorch.autograd.forward_ad import dual_level, make_dual, unpack_dual
from mindtorch.autograd.grad_mode import enable_grad, set_grad_enabled
from mindtorch.dispatch import ops
from mindtorch.tensor import Tensor

_thread = state.thread

# -------------------- products with a vector --------------------


def vjp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """The function's outputs, and the product of `v` with its Jacobian."""
    with enable_grad():
        is_tuple, inputs = _as_tuple(inputs, "inputs", "vjp")
        inputs = _prepared(inputs, create_graph)
        are_tuple, outputs = _outputs_of(func, inputs, "vjp", strict)
        v = _vector(v, outputs, are_tuple, "vjp", _VJP_NEEDS_V)
    with set_grad_enabled(create_graph or _thread.grad_enabled):
        found = _grad(outputs, inputs, v, create_graph=create_graph)
        products = _filled(found, inputs, strict, create_graph, "back")
    return _finished(outputs, are_tuple, create_graph), _finished(products, is_tuple, create_graph)


def jvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """The function's outputs, and the product of its Jacobian with `v`.

    The product is taken as the derivative of a vector-Jacobian product with respect to its vector, so that only
    backward formulas are needed.
    """
    with enable_grad():
        is_tuple, inputs = _as_tuple(inputs, "inputs", "jvp")
        inputs = _prepared(inputs, create_graph)
        v = _vector(v, inputs, is_tuple, "jvp", _JVP_NEEDS_V)
        are_tuple, outputs = _outputs_of(func, inputs, "jvp", strict)
        weights = _weights(outputs)
        back = _filled(_grad(outputs, inputs, weights, create_graph=True), inputs, strict, create_graph, "back")
        _check_requires_grad(back, "grad_inputs", strict)
    with set_grad_enabled(create_graph or _thread.grad_enabled):
        found = _grad(back, weights, v, create_graph=create_graph)
        products = _filled(found, outputs, strict, create_graph, "back_trick")
    return _finished(outputs, are_tuple, create_graph), _finished(products, are_tuple, create_graph)


def vhp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """The value of a function with one output, and the product of `v` with its Hessian."""
    with enable_grad():
        is_tuple, inputs = _as_tuple(inputs, "inputs", "vhp")
        inputs = _prepared(inputs, create_graph)
        v = _vector(v, inputs, is_tuple, "vhp", _HESSIAN_NEEDS_V)
        outputs = _single_output(func, inputs, "vhp", strict)
        found = _grad(outputs, inputs, create_graph=True)
        jacobian = _filled(found, inputs, strict, create_graph, "double_back")
        _check_requires_grad(jacobian, "jacobian", strict)
    with set_grad_enabled(create_graph or _thread.grad_enabled):
        found = _grad(jacobian, inputs, v, create_graph=create_graph)
        products = _filled(found, inputs, strict, create_graph, "double_back")
    return _finished(outputs, False, create_graph), _finished(products, is_tuple, create_graph)


def hvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """The value of a function with one output, and the product of its Hessian with `v`."""
    with enable_grad():
        is_tuple, inputs = _as_tuple(inputs, "inputs", "hvp")
        inputs = _prepared(inputs, create_graph)
        v = _vector(v, inputs, is_tuple, "hvp", _HESSIAN_NEEDS_V)
        outputs = _single_output(func, inputs, "hvp", strict)
        jacobian = _filled(_grad(outputs, inputs, create_graph=True), inputs, strict, create_graph, "back")
        _check_requires_grad(jacobian, "jacobian", strict)
        weights = _weights(jacobian)
        back = _filled(_grad(jacobian, inputs, weights, create_graph=True), inputs, strict, create_graph, "double_back")
        _check_requires_grad(back, "hessian", strict)
    with set_grad_enabled(create_graph or _thread.grad_enabled):
        found = _grad(back, weights, v, create_graph=create_graph)
        products = _filled(found, inputs, strict, create_graph, "double_back_trick")
    return _finished(outputs, False, create_graph), _finished(products, is_tuple, create_graph)


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
    if vectorize and strict:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
            "Please either set `strict=False` or `vectorize=False`."
        )
    with enable_grad():
        is_tuple, inputs = _as_tuple(inputs, "inputs", "jacobian")
        inputs = _prepared(inputs, create_graph)
        are_tuple, outputs = _outputs_of(func, inputs, "jacobian", strict)
        rows = [_jacobian_of(i, output, inputs, create_graph, strict) for i, output in enumerate(outputs)]
    return _nested(rows, are_tuple, is_tuple)


def _jacobian_of(i: int, output: Any, inputs: tuple, create_graph: bool, strict: bool) -> list[Tensor]:
    """The Jacobians of one output, by input."""
    rows = [
        [
            _checked_row(i, j, row, source, create_graph, strict)
            for j, (row, source) in enumerate(zip(found, inputs, strict=True))
        ]
        for found in (
            _grad((element,), inputs, create_graph=create_graph, retain_graph=True) for element in output.reshape(-1)
        )
    ]
    if not rows:
        return [output.new_zeros(output.shape + source.shape) for source in inputs]
    return [
        _released(ops.stack(column).reshape(output.shape + source.shape), create_graph)
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
    if strict and create_graph and not row.requires_grad:
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
    """The Jacobian by forward AD: one call of the function for each element of the inputs."""
    is_tuple, inputs = _as_tuple(inputs, "inputs", "jacobian")
    by_input = [_forward_columns(func, inputs, position) for position in range(len(inputs))]
    are_tuple, outputs = by_input[0][0]
    rows = [
        [
            ops.stack([column[i] for column in columns]).movedim(0, -1).reshape(output.shape + source.shape)
            for (_, columns), source in zip(by_input, inputs, strict=True)
        ]
        for i, output in enumerate(outputs)
    ]
    return _nested(rows, are_tuple, is_tuple)


def _forward_columns(func: Callable, inputs: tuple, position: int) -> tuple:
    """The function's outputs, and their tangents for each unit vector of one input."""
    columns = []
    source = inputs[position]
    for k in range(source.numel()):
        unit = ops.zeros_like(source).reshape(-1)
        unit[k] = 1
        with dual_level():
            duals = list(inputs)
            duals[position] = make_dual(source, unit.reshape(source.shape))
            are_tuple, outputs = _as_tuple(func(*duals), "outputs of the user-provided function", "jacobian")
            parts = [unpack_dual(output) for output in outputs]
        columns.append([ops.zeros_like(p.primal) if p.tangent is None else p.tangent for p in parts])
    return (are_tuple, [part.primal for part in parts]), columns


def hessian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a function with one output: a tensor, or a tuple of tuples for a tuple of inputs."""
    is_tuple, inputs = _as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def value(*arguments: Tensor) -> Any:
        return _single_output(func, arguments, "hessian", strict)[0].squeeze()

    def gradient(*arguments: Tensor) -> Any:
        if outer_jacobian_strategy == "forward-mode":
            arguments = tuple(argument.requires_grad_() for argument in arguments)
        found = jacobian(value, arguments, create_graph=True)
        _check_requires_grad(found, "jacobian", strict)
        return found

    found = jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return found if is_tuple else found[0][0]


# -------------------- inputs and results --------------------


def _as_tuple(values: Any, what: str, function: str) -> tuple[bool, tuple]:
    """Whether a tuple was given, and the tuple."""
    is_tuple = isinstance(values, tuple)
    values = values if is_tuple else (values,)
    for i, value in enumerate(values):
        if not isinstance(value, Tensor):
            problem = (
                f"the value at index {i} has type {type(value)}"
                if is_tuple
                else f"the given {what} has type {type(value)}"
            )
            raise TypeError(
                f"The {what} given to {function} must be either a Tensor or a tuple of Tensors but {problem}."
            )
    return is_tuple, values


def _prepared(inputs: tuple, create_graph: bool) -> tuple:
    """The inputs to differentiate with respect to: connected to the caller's graph if that is wanted, else new
    leaves."""
    return tuple(
        value.view_as(value) if create_graph and value.requires_grad else value.detach().requires_grad_()
        for value in inputs
    )


def _outputs_of(func: Callable, inputs: tuple, function: str, strict: bool) -> tuple[bool, tuple]:
    are_tuple, outputs = _as_tuple(func(*inputs), "outputs of the user-provided function", function)
    _check_requires_grad(outputs, "outputs", strict)
    return are_tuple, outputs


def _single_output(func: Callable, inputs: tuple, function: str, strict: bool) -> tuple:
    are_tuple, outputs = _outputs_of(func, inputs, function, strict)
    if are_tuple:
        raise RuntimeError(f"The function given to {function} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {function} should contain a single element")
    return outputs


def _vector(v: Any, like: tuple, is_tuple: bool, function: str, when_missing: str) -> tuple:
    """The vector of a product, checked against the tensors that it belongs to; None stands for a single 1."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(when_missing)
        return (ops.ones_like(like[0]),)
    v = tuple(
        value.detach() if not value.requires_grad else value.view_as(value) for value in _as_tuple(v, "v", function)[1]
    )
    if len(v) != len(like):
        if is_tuple:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (value, other) in enumerate(zip(v, like, strict=True)):
        if value.shape != other.shape:
            place = f"Entry {i} in " if is_tuple else ""
            raise RuntimeError(f"{place}v has invalid size: should be {other.shape} but got {value.shape}.")
    return v


def _grad(
    outputs: tuple, inputs: tuple, grads: Any = None, create_graph: bool = False, retain_graph: Any = None
) -> tuple:
    """`grad` that leaves out outputs without a graph."""
    grads = (None,) * len(outputs) if grads is None else grads
    used = [(output, weight) for output, weight in zip(outputs, grads, strict=True) if output.requires_grad]
    if not used:
        return (None,) * len(inputs)
    outputs, grads = zip(*used, strict=True)
    return grad(outputs, inputs, grads, retain_graph, create_graph, allow_unused=True)


def _released(tensor: Tensor, create_graph: bool) -> Any:
    return tensor if create_graph else tensor.detach()


def _finished(values: Sequence[Any], is_tuple: bool, create_graph: bool) -> Any:
    values = tuple(_released(value, create_graph) for value in values)
    return values if is_tuple else values[0]


def _nested(rows: list[list[Tensor]], are_tuple: bool, is_tuple: bool) -> Any:
    """Results by output and input, without the levels that the caller did not use."""
    by_output = tuple(tuple(row) if is_tuple else row[0] for row in rows)
    return by_output if are_tuple else by_output[0]


# -------------------- strict mode --------------------

_VJP_NEEDS_V = (
    "The vector v can only be None if the user-provided function returns a single Tensor with a single element."
)
_JVP_NEEDS_V = (
    "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element."
)
_HESSIAN_NEEDS_V = _JVP_NEEDS_V

# Why a gradient that is None is an error in strict mode, by the step in which it appears.
_INDEPENDENT = {
    "back": "The output of the user-provided function is independent of input {}. This is not allowed in strict mode.",
    "back_trick": (
        "The gradient with respect to the input is independent of entry {} in the grad_outputs when using the double "
        "backward trick to compute forward mode gradients. This is not allowed in strict mode."
    ),
    "double_back": (
        "The jacobian of the user-provided function is independent of input {}. This is not allowed in strict mode."
    ),
    "double_back_trick": (
        "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. This is not "
        "allowed in strict mode as it prevents from using the double backward trick to replace forward mode AD."
    ),
}

# Why a value that does not require grad is.
_UNRECORDED = {
    "hessian": (
        "The hessian of the user-provided function with respect to input {} is independent of the input. This is not "
        "allowed in strict mode. You should ensure that your function is thrice differentiable and that the hessian "
        "depends on the inputs."
    ),
    "jacobian": (
        "While computing the hessian, found that the jacobian of the user-provided function with respect to input {} "
        "is independent of the input. This is not allowed in strict mode. You should ensure that your function is "
        "twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear function "
        "for example)."
    ),
    "grad_inputs": (
        "The gradient with respect to input {} is independent of the inputs of the user-provided function. This is not "
        "allowed in strict mode."
    ),
    "outputs": (
        "Output {} of the user-provided function does not require gradients. The outputs must be computed in a "
        "differentiable manner from the input when running in strict mode."
    ),
}


def _filled(grads: Sequence[Any], like: Sequence[Tensor], strict: bool, create_graph: bool, step: str) -> tuple:
    """The gradients with zeros for None; in strict mode None is an error."""
    for i, value in enumerate(grads):
        if strict and value is None:
            raise RuntimeError(_INDEPENDENT[step].format(i))
        if strict and create_graph and not value.requires_grad:
            what = "hessian" if "double" in step else "jacobian"
            raise RuntimeError(
                f"The {what} of the user-provided function is independent of input {i}. This is not allowed in strict "
                "mode when create_graph=True."
            )
    return tuple(ops.zeros_like(other) if value is None else value for value, other in zip(grads, like, strict=True))


def _check_requires_grad(values: Sequence[Tensor], what: str, strict: bool) -> None:
    if strict:
        for i, value in enumerate(values):
            if not value.requires_grad:
                raise RuntimeError(_UNRECORDED[what].format(i))
