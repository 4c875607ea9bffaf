"""`Function`: ops whose forward and backward are written in Python by the user."""

import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch import errors, state
from mindtorch.autograd.function_outputs import connect_outputs
from mindtorch.autograd.history import edge_of, mark_written, set_history
from mindtorch.autograd.node import as_saved_tensor
from mindtorch.autograd.node_base import NodeBase, second_backward
from mindtorch.autograd.saved_tensor import save, save_output, unpack
from mindtorch.dispatch import anomaly, ops
from mindtorch.dispatch.forward_ad import set_tangent, tangent_of, without_forward_ad
from mindtorch.dtype import from_numpy_dtype
from mindtorch.tensor import Tensor

_thread = state.thread


class FunctionCtx:
    """What `forward`, `setup_context` and `backward` of a Function get as `ctx`."""

    to_save: tuple = ()
    saved_for_forward: tuple | None = None
    dirty_tensors: tuple = ()
    non_differentiable: tuple = ()
    needs_input_grad: tuple[bool, ...] = ()
    _materialize = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for `backward`, which finds them in `ctx.saved_tensors`."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for `jvp`."""
        for tensor in tensors:
            if not (isinstance(tensor, Tensor) or tensor is None):
                raise AssertionError(
                    "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes "
                    "on ctx."
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Say which inputs `forward` has written in place; they must be returned."""
        self.dirty_tensors = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Say which outputs have no gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros, rather than None, for outputs that received no gradient."""
        self._materialize = value


class BackwardFunction(FunctionCtx, NodeBase):
    """The node of a Function, and at the same time its ctx. Every Function has a subclass named
    `<Function>Backward`."""

    _forward_cls: Any = None
    _takes_tensor: tuple[bool, ...] = ()  # which arguments of forward were tensors

    def apply(self, *grads: Any) -> tuple:
        function = self._forward_cls
        if function.backward is not Function.backward and function.vjp is not Function.vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                "implement one of them."
            )
        formula = function.backward if function.vjp is Function.vjp else function.vjp
        if self._materialize:
            grads = tuple(map(_materialized, grads, self.input_metadata))
        results = formula(self, *grads)
        return self._gradients_of_tensors(results if isinstance(results, tuple) else (results,))

    def __call__(self, *grads: Any) -> Any:
        raise TypeError(f"'{self.name()}' object is not callable")

    def _gradients_of_tensors(self, results: tuple) -> tuple:
        """What `backward` returned, checked, and without the Nones for arguments that are no tensors."""
        expected = len(self._takes_tensor)
        if len(results) > expected and all(each is None for each in results[expected:]):
            results = results[:expected]
        if len(results) != expected:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected {expected}, "
                f"got {len(results)})"
            )
        for position, (grad, takes_tensor) in enumerate(zip(results, self._takes_tensor, strict=True)):
            if grad is None:
                continue
            if not takes_tensor:
                raise RuntimeError(
                    f"function {self.name()} returned a gradient different than None at position {position + 1}, but "
                    "the corresponding forward input was not a Variable"
                )
            if not isinstance(grad, Tensor):
                raise RuntimeError(f"expected Variable or None (got {errors.type_name(grad)})")
        return tuple(grad for grad, takes_tensor in zip(results, self._takes_tensor, strict=True) if takes_tensor)

    @property
    def saved_tensors(self) -> tuple:
        if self.saved_for_forward is not None and not self.kept:
            return self.saved_for_forward
        if self.kept is None:
            raise second_backward()
        return tuple(None if saved is None else unpack(saved, self) for saved in self.kept)

    @property
    def _raw_saved_tensors(self) -> tuple:
        if self.kept is None:
            raise second_backward()
        self.kept = tuple(map(as_saved_tensor, self.kept))
        return self.kept

    def maybe_clear_saved_tensors(self) -> None:
        self.kept = None

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{self.name()} object at {id(self):#x}>"


def _materialized(grad: Any, metadata: tuple) -> Any:
    shape, numpy_dtype = metadata
    if grad is not None or numpy_dtype is None:
        return grad
    return ops.zeros(shape, dtype=from_numpy_dtype(numpy_dtype))


class FunctionMeta(type):
    """Gives every Function the class of its nodes."""

    def __init__(cls, name: str, bases: tuple, attributes: dict) -> None:
        super().__init__(name, bases, attributes)
        cls._backward_cls = type(f"{name}Backward", (BackwardFunction,), {"_forward_cls": cls})


class Function(metaclass=FunctionMeta):
    """The base class for ops that bring their own derivative.

    A subclass defines the static methods `forward(ctx, *args)` and `backward(ctx, *grads)`, or `forward(*args)`,
    `setup_context(ctx, inputs, output)` and `backward`; for forward AD also `jvp(ctx, *tangents)`. Call it with
    `apply`.
    """

    _backward_cls: type[BackwardFunction]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future "
            "version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            "function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> Any:
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any) -> Any:
        return Function.backward(ctx, *grad_outputs)

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` and record it."""
        args = _positional(cls, args, kwargs)
        tensors = [value for value in args if isinstance(value, Tensor)]
        edges = tuple([tensor._edge or edge_of(tensor) for tensor in tensors])
        ctx = cls._backward_cls(edges)
        ctx._takes_tensor = tuple(isinstance(value, Tensor) for value in args)
        ctx.needs_input_grad = tuple(isinstance(value, Tensor) and value.requires_grad for value in args)
        recorded = _thread.grad_enabled and any(edges)
        output = _run_forward(cls, ctx, args)
        outputs = output if isinstance(output, tuple) else (output,)
        for tensor in ctx.dirty_tensors:
            _check_dirty(tensor, outputs)
            mark_written(tensor)
        outputs = connect_outputs(ctx, ctx if recorded else None, tensors, outputs)
        _save(ctx, recorded)
        if _thread.dual_level >= 0 and _thread.forward_grad_enabled:
            _apply_jvp(cls, ctx, args, outputs)
        if state.anomaly_enabled:
            anomaly.note_forward(outputs)
        return outputs if isinstance(output, tuple) else outputs[0]


def _positional(function: type[Function], args: tuple, kwargs: dict) -> tuple:
    """The arguments of `apply` as `forward` takes them by position, with defaults in the setup_context style."""
    if _has_setup_context(function):
        bound = inspect.signature(function.forward).bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.args
    if not kwargs:
        return args
    names = list(inspect.signature(function.forward).parameters.values())[1 + len(args) :]
    by_position = [each.name for each in names if each.kind is each.POSITIONAL_OR_KEYWORD]
    for name in kwargs:
        if name not in by_position:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
    return inspect.signature(function.forward).bind(None, *args, **kwargs).args[1:]


def _has_setup_context(function: type[Function]) -> bool:
    return function.setup_context is not Function.setup_context


def _run_forward(function: type[Function], ctx: BackwardFunction, args: tuple) -> Any:
    """Run the user's code with nothing recorded."""
    grad_enabled = _thread.grad_enabled
    state.set_grad_enabled(False)
    try:
        with without_forward_ad():
            if not _has_setup_context(function):
                return function.forward(ctx, *args)
            output = function.forward(*args)
            if function.setup_context(ctx, args, output) is not None:
                raise RuntimeError("setup_context must return None")
            return output
    finally:
        state.set_grad_enabled(grad_enabled)


def _check_dirty(tensor: Any, outputs: Sequence[Any]) -> None:
    if not isinstance(tensor, Tensor):
        raise RuntimeError("mark_dirty can only accept variables, but argument ")
    if all(tensor is not output for output in outputs):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
            "modified inplace must all be outputs of the Function."
        )


def _save(ctx: BackwardFunction, recorded: bool) -> None:
    """Turn what the user gave to save_for_backward into saved tensors; nothing is kept without a graph."""
    for position, tensor in enumerate(ctx.to_save):
        if not (tensor is None or isinstance(tensor, Tensor)):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {position} is of type "
                f"{errors.type_name(tensor)}"
            )
    if recorded:
        ctx.kept = tuple([_saved(ctx, tensor) for tensor in ctx.to_save])
    ctx.to_save = ctx.dirty_tensors = ctx.non_differentiable = ()


def _saved(ctx: BackwardFunction, tensor: Any) -> Any:
    if tensor is None:
        return None
    edge = edge_of(tensor)
    return save_output(ctx, tensor) if edge is not None and edge[0] is ctx else save(tensor)


def _apply_jvp(function: type[Function], ctx: BackwardFunction, args: tuple, outputs: Sequence[Any]) -> None:
    """Give the outputs their tangents, if an input has one."""
    tangents = [tangent_of(value) for value in args]
    if all(tangent is None for tangent in tangents):
        return
    given = [_tangent_or_zeros(ctx, value, tangent) for value, tangent in zip(args, tangents, strict=True)]
    with without_forward_ad():
        results = function.jvp(ctx, *given)
    results = results if isinstance(results, tuple) else (results,)
    for output, tangent in zip(outputs, results, strict=True):
        if isinstance(output, Tensor) and tangent is not None:
            set_tangent(output, tangent)


def _tangent_or_zeros(ctx: BackwardFunction, value: Any, tangent: Any) -> Any:
    if tangent is None and isinstance(value, Tensor) and ctx._materialize:
        return ops.zeros_like(value)
    return tangent


# -------------------- once_differentiable --------------------


class Error(NodeBase):
    """A node that may not be reached."""

    __slots__ = ("message",)

    def __init__(self, next_edges: tuple, message: str) -> None:
        super().__init__(next_edges)
        self.message = message

    def apply(self, *grads: Any) -> tuple:
        raise RuntimeError(self.message)


def once_differentiable(function: Callable) -> Callable:
    """Decorator for a `backward` whose own derivative would be wrong: asking for it is an error."""

    @functools.wraps(function)
    def unrecorded(ctx: Any, *args: Any) -> Any:
        grad_enabled = _thread.grad_enabled
        state.set_grad_enabled(False)
        try:
            outputs = function(ctx, *args)
        finally:
            state.set_grad_enabled(grad_enabled)
        if not grad_enabled or not any(isinstance(arg, Tensor) and arg.requires_grad for arg in args):
            return outputs
        return tuple(map(_guarded, outputs if isinstance(outputs, tuple) else (outputs,)))

    return unrecorded


def _guarded(tensor: Any) -> Any:
    """The tensor as the output of a node that raises."""
    if tensor is None:
        return None
    source = tensor.detach().requires_grad_()
    message = "trying to differentiate twice a function that was marked with @once_differentiable"
    guarded = tensor.detach()
    set_history(guarded, Error((edge_of(source),), message))
    return guarded
