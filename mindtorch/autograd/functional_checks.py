"""What the functions of mindtorch.autograd.functional share: their inputs and results, and what strict mode refuses."""

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.engine import grad
from mindtorch.autograd._engine.history import edge_of
from mindtorch.dispatch import ops

# -------------------- inputs and results --------------------


def as_tuple(values: Any, what: str, function: str) -> tuple[bool, tuple]:
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


def prepared(inputs: tuple, create_graph: bool) -> tuple:
    """The inputs to differentiate with respect to: connected to the caller's graph if that is wanted, else new
    leaves."""
    return tuple(
        value.view_as(value) if create_graph and edge_of(value) is not None else value.detach().requires_grad_()
        for value in inputs
    )


def outputs_of(func: Callable, inputs: tuple, function: str, strict: bool) -> tuple[bool, tuple]:
    are_tuple, outputs = as_tuple(func(*inputs), "outputs of the user-provided function", function)
    check_requires_grad(outputs, "outputs", strict)
    return are_tuple, outputs


def single_output(func: Callable, inputs: tuple, function: str, strict: bool) -> tuple:
    are_tuple, outputs = outputs_of(func, inputs, function, strict)
    if are_tuple:
        raise RuntimeError(f"The function given to {function} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {function} should contain a single element")
    return outputs


def vector_for(v: Any, like: tuple, is_tuple: bool, function: str, when_missing: str) -> tuple:
    """The vector of a product, checked against the tensors that it belongs to; None stands for a single 1."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(when_missing)
        return (ops.ones_like(like[0]),)
    v = tuple(
        value.detach() if edge_of(value) is None else value.view_as(value) for value in as_tuple(v, "v", function)[1]
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


def grad_of(
    outputs: tuple, inputs: tuple, grads: Any = None, create_graph: bool = False, retain_graph: Any = None
) -> tuple:
    """`grad` that leaves out outputs without a graph, and those that are None."""
    grads = (None,) * len(outputs) if grads is None else grads
    pairs = zip(outputs, grads, strict=True)
    used = [(output, weight) for output, weight in pairs if output is not None and edge_of(output) is not None]
    if not used:
        return (None,) * len(inputs)
    outputs, grads = zip(*used, strict=True)
    return grad(outputs, inputs, grads, retain_graph, create_graph, allow_unused=True)


def released(tensor: Tensor, create_graph: bool) -> Any:
    return tensor if create_graph else tensor.detach()


def finished(values: Sequence[Any], is_tuple: bool, create_graph: bool) -> Any:
    values = tuple(released(value, create_graph) for value in values)
    return values if is_tuple else values[0]


def nested(rows: list[list[Tensor]], are_tuple: bool, is_tuple: bool) -> Any:
    """Results by output and input, without the levels that the caller did not use."""
    by_output = tuple(tuple(row) if is_tuple else row[0] for row in rows)
    return by_output if are_tuple else by_output[0]


# -------------------- strict mode --------------------

VJP_NEEDS_V = (
    "The vector v can only be None if the user-provided function returns a single Tensor with a single element."
)
JVP_NEEDS_V = (
    "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element."
)
HESSIAN_NEEDS_V = JVP_NEEDS_V

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


def filled(grads: Sequence[Any], like: Sequence[Tensor], strict: bool, create_graph: bool, step: str) -> tuple:
    """The gradients with zeros for None; in strict mode None is an error."""
    for i, value in enumerate(grads):
        if strict and value is None:
            raise RuntimeError(_INDEPENDENT[step].format(i))
        if strict and create_graph and edge_of(value) is None:
            what = "hessian" if "double" in step else "jacobian"
            raise RuntimeError(
                f"The {what} of the user-provided function is independent of input {i}. This is not allowed in strict "
                "mode when create_graph=True."
            )
    return tuple(ops.zeros_like(other) if value is None else value for value, other in zip(grads, like, strict=True))


def check_requires_grad(values: Sequence[Tensor], what: str, strict: bool) -> None:
    if strict:
        for i, value in enumerate(values):
            if value is None:
                raise RuntimeError(_INDEPENDENT["back"].format(i))
            if edge_of(value) is None:
                raise RuntimeError(_UNRECORDED[what].format(i))
