"""`backward` and `grad`: what a user calls to run the engine."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mindtorch._core import state
from mindtorch._core.autograd_meta import edge_left, takes_part
from mindtorch._core.dtype import float32, float64, from_numpy_dtype
from mindtorch._core.fast_path import has_bare_array
from mindtorch._core.memory_format import preserve_format
from mindtorch._core.size import size_of
from mindtorch._core.tensor import Tensor, edge_to, wrap
from mindtorch._support import errors
from mindtorch._support.lazy import lazy
from mindtorch._support.warnings import warn, warn_once
from mindtorch.autograd._engine.accumulate_grad import AccumulateGrad
from mindtorch.autograd._engine.execution import run_backward
from mindtorch.autograd._engine.history import edge_of, require_grad
from mindtorch.autograd._engine.hooks_in_levels import is_over
from mindtorch.autograd._engine.node_base import NodeBase
from mindtorch.autograd._engine.shown_levels import requires_grad_outside, shown_edge
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.captures import is_left_to_a_function, owner_of

_vmap = lazy("mindtorch._functorch.vmap")
_thread = state.thread

_CYCLE_WARNING = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
    "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
    "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break "
    "the cycle and avoid the leak."
)


class GradientEdge(NamedTuple):
    """The place of a value in the graph: stands for a tensor in `grad` and `backward`."""

    node: NodeBase
    output_nr: int
    ownership_token: Any = None


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Add the gradients of the tensors, weighted with grad_tensors, to the `.grad` of the leaves (or only of
    `inputs`)."""
    if _thread.transforms and not is_left_to_a_function():
        raise RuntimeError(
            "backward() called inside a functorch transform. This is not supported, please use functorch.grad or "
            "functorch.vjp instead or call backward() outside of functorch transforms."
        )
    if grad_variables is not None:
        grad_tensors = _deprecated_gradients(grad_tensors, grad_variables)
    targets = None if inputs is None else _sequence_of_inputs(inputs, "backward")
    outputs = _as_tuple(tensors)
    grads = starting_gradients(outputs, _gradients_for(outputs, grad_tensors, Tensor))
    edges = _edges_of_outputs(outputs)
    if create_graph:
        warn_once(_CYCLE_WARNING)
    keep_graph = create_graph if retain_graph is None else retain_graph
    run_backward(edges, grads, keep_graph, create_graph, None if targets is None else _edges_of_leaves(targets))


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]:
    """The sum of the gradients of the outputs with respect to each of the inputs; no `.grad` is touched.

    A dictionary of inputs gives a dictionary of gradients. With is_grads_batched the first dimension of each
    grad_output counts gradients: the graph is run once for all of them.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if not only_inputs:
        warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for "
            "other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
        )
    sources = _sequence_of_inputs(inputs, "grad")
    outputs = _as_tuple(outputs)
    given = _gradients_for(outputs, grad_outputs, (Tensor, GradientEdge))
    keep_graph = create_graph if retain_graph is None else retain_graph

    def run(given: Sequence[Any], keep_graph: bool) -> list[Any]:
        starting = starting_gradients(outputs, given)
        edges, targets = _edges_of_outputs(outputs), _edges_of_inputs(sources)
        if _thread.transforms:
            targets = [_apart_if_captured(each, edge, outputs) for each, edge in zip(sources, targets, strict=True)]
        return run_backward(edges, starting, keep_graph, create_graph, targets, capture=True)

    found = _run_batch(run, outputs, given, keep_graph) if is_grads_batched else run(given, keep_graph)
    if materialize_grads:
        found = [
            _zeros_for(source, create_graph) if each is None else each
            for each, source in zip(found, sources, strict=True)
        ]
    elif not allow_unused:
        _check_all_used(found)
    return dict(zip(inputs, found, strict=True)) if type(inputs) is dict else tuple(found)  # type: ignore[return-value]


def _run_batch(run: Callable, outputs: Sequence[Any], batches: Sequence[Any], keep_graph: bool) -> list[Any]:
    """The gradients for each gradient of a batch, stacked: one pass with all of them, in `vmap`."""
    for index, (output, grad) in enumerate(zip(outputs, batches, strict=True)):
        if grad is not None:
            _check_batch(index, output, grad)
    batches = [_implicit_gradient(out) if grad is None else grad for out, grad in zip(outputs, batches, strict=True)]
    found: list[Any] = []

    def vjp(*given: Any) -> list[Any]:
        _thread.transforms -= 1  # a batch of gradients is none
        try:
            found[:] = run(given, keep_graph)
        finally:
            _thread.transforms += 1
        return [each for each in found if each is not None]

    stacked = iter(_vmap.for_all_gradients(vjp, batches))
    return [None if each is None else next(stacked) for each in found]


def _check_batch(index: int, output: Any, grad: Tensor) -> None:
    if not grad.ndim:
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
            "0-dim tensor to a number"
        )
    shape = output.node.output_metadata(output.output_nr)[0] if isinstance(output, GradientEdge) else output.shape
    if grad.shape[1:] != tuple(shape):
        raise RuntimeError(
            "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. "
            "The sizes of the remaining dimensions are expected to match the shape of corresponding output, but a "
            f"mismatch was detected: grad_output[{index}] has a shape of {grad.shape[2:]} and output[{index}] has a "
            f"shape of {size_of(tuple(shape))}. If you only want some tensors in `grad_output` to be considered "
            "batched, consider using vmap."
        )


def _zeros_for(source: Any, create_graph: bool) -> Tensor:
    if isinstance(source, GradientEdge):
        shape, numpy_dtype = source.node.output_metadata(source.output_nr)
        zeros = ops.zeros(shape, dtype=from_numpy_dtype(numpy_dtype))
    else:
        zeros = ops.zeros_like(source.detach())
    if create_graph:
        require_grad(zeros)
    return zeros


def _check_all_used(found: Sequence[Any]) -> None:
    for index, each in enumerate(found):
        if each is None:
            raise RuntimeError(
                f"The differentiated Tensor at index {index} appears to not have been used in the graph. "
                "Set allow_unused=True if this is the desired behavior."
            )


# -------------------- arguments --------------------


def _as_tuple(values: Any) -> tuple:
    return (values,) if isinstance(values, (Tensor, GradientEdge)) else tuple(values)


def _sequence_of_inputs(inputs: Any, function: str) -> tuple:
    if type(inputs) is dict:
        inputs = tuple(inputs.values())
    elif isinstance(inputs, Mapping):
        raise TypeError(
            f"`inputs` argument to `{function}()` must be a dict, not {type(inputs).__name__}. "
            "Other Mapping types are not supported."
        )
    inputs = _as_tuple(inputs)
    if not inputs:
        raise RuntimeError(f"`inputs` argument to `{function}()` cannot be empty.")
    return inputs


def _gradients_for(outputs: tuple, grads: Any, single: Any) -> tuple:
    """One gradient or None for each output."""
    if grads is None:
        return (None,) * len(outputs)
    grads = (grads,) if isinstance(grads, single) else tuple(grads)[: len(outputs)]  # torch ignores superfluous ones
    if len(grads) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grads)} gradients")
    return grads


def _deprecated_gradients(grad_tensors: Any, grad_variables: Any) -> Any:
    warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning)
    if grad_tensors is not None:
        raise RuntimeError(
            "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. "
            "Please only use `grad_tensors`."
        )
    return grad_variables


def _edges_of_outputs(outputs: Iterable[Any]) -> list[Any]:
    edges = []
    for index, output in enumerate(outputs):
        edge = edge_to(output.node, output.output_nr) if isinstance(output, GradientEdge) else shown_edge(output)
        if not edge:
            raise errors.no_gradient(index)
        edges.append(edge)
    return edges


def _edges_of_inputs(inputs: Iterable[Any]) -> list[Any]:
    return [_edge_of_input(value) for value in inputs]


def _edge_of_input(value: Any) -> Any:
    if isinstance(value, GradientEdge):
        return edge_to(value.node, value.output_nr)
    if not isinstance(value, Tensor):
        raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {errors.type_name(value)}")
    left = edge_left(value)
    edge = edge_of(value) if left is None else left or None
    if edge is None or (edge and is_over(edge[0])) or (_thread.transforms and not value.requires_grad):
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return edge or edge_to(AccumulateGrad(value))  # a new node, to which nothing leads


def _apart_if_captured(source: Any, edge: Any, outputs: tuple) -> Any:
    """The edge of an input; if it is that of a tensor which the function of a transform has captured, and the outputs
    are its own, a new one, to which nothing leads: their graph begins with what the function was given."""
    tensors = [each for each in (source, *outputs) if isinstance(each, Tensor)]
    is_captured = len(tensors) > 1 and tensors[0] is source and owner_of(source) is not owner_of(tensors[1])
    return edge_to(AccumulateGrad(source)) if is_captured else edge


def _edges_of_leaves(inputs: Iterable[Any]) -> list[Any]:
    """The edges for `backward(inputs=...)`: a tensor that is no leaf gets its `.grad` too."""
    for value in inputs:
        if isinstance(value, Tensor):
            value.retain_grad()
    return _edges_of_inputs(inputs)


# -------------------- gradients to start with --------------------


def starting_gradients(outputs: Sequence[Any], grads: Sequence[Any]) -> list[Any]:
    starting = []
    for index, (output, grad) in enumerate(zip(outputs, grads, strict=True)):
        if grad is None:
            starting.append(_implicit_gradient(output))
        elif isinstance(grad, Tensor):
            starting.append(_as_gradient(index, output, grad))
        else:
            raise TypeError(f"gradients can be either Tensors or None, but got {type(grad).__name__}")
    return starting


def _implicit_gradient(output: Any) -> Tensor | None:
    """A one for a scalar output."""
    if not isinstance(output, (Tensor, GradientEdge)):
        raise AssertionError("Expected output to be a torch.Tensor")
    if isinstance(output, Tensor) and not _is_shown_to_require_grad(output):
        return None  # refused later, with its index
    if isinstance(output, Tensor) and is_left_to_a_function() and not requires_grad_outside(output):
        return None
    shape, dtype = _shape_and_dtype(output)
    if not shape and dtype in _ONES and type(output) is Tensor and has_bare_array(output):
        return wrap(_ONES[dtype].copy())
    if any(size != 1 for size in shape):
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if not dtype.is_floating_point:
        raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {dtype}")
    return (
        ops.ones_like(output, memory_format=preserve_format)
        if isinstance(output, Tensor)
        else ops.ones(shape, dtype=dtype)
    )


_ONES = {each: np.ones((), each.numpy) for each in (float32, float64)}  # what most passes start with


def _is_shown_to_require_grad(output: Tensor) -> bool:
    left = edge_left(output)
    return takes_part(output) if left is None else bool(left)


def _as_gradient(index: int, output: Any, grad: Tensor) -> Tensor:
    """A gradient in the dtype of its output: what makes it so belongs to the caller, in whose grad mode it runs."""
    shape, dtype = _shape_and_dtype(output)
    if grad._mt_array.shape != shape and grad.shape != size_of(shape):  # of samples, the first tells levels apart
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{index}] has a shape of {grad.shape} and output[{index}] has a shape of "
            f"{size_of(shape)}."
        )
    if grad.dtype is dtype:
        return grad
    if dtype.is_complex != grad.dtype.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{index}] has a dtype of {grad.dtype} and output[{index}] has a dtype of {dtype}."
        )
    return grad.to(dtype)


def _shape_and_dtype(output: Any) -> tuple:
    if isinstance(output, GradientEdge):
        shape, numpy_dtype = output.node.output_metadata(output.output_nr)
        return shape, from_numpy_dtype(numpy_dtype)
    return output._mt_array.shape, output.dtype
