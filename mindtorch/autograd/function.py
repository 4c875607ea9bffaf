"""`Function`: ops whose forward and backward are written in Python by the user."""

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mindtorch._core import state
from mindtorch._core.autograd_meta import takes_part
from mindtorch._core.device import device as Device
from mindtorch._core.tensor import Tensor
from mindtorch._support import errors
from mindtorch._support.warnings import warn
from mindtorch.autograd._engine.execution import running
from mindtorch.autograd._engine.history import edge_of, is_input_of_level, is_view, mark_written, noted_edge
from mindtorch.autograd._engine.node import as_saved_tensor
from mindtorch.autograd._engine.node_base import ConnectedNode, second_backward
from mindtorch.autograd._engine.saved_tensor import save, save_output, unpack
from mindtorch.autograd._engine.shown_levels import requires_grad_outside
from mindtorch.autograd.function_gradients import gradients_of_tensors, materialized
from mindtorch.autograd.function_jvp import apply_jvp, role_of
from mindtorch.autograd.function_outputs import connect_outputs
from mindtorch.autograd.function_vmap import check_has_rule, forward_of_samples
from mindtorch.autograd.once_differentiable import once_differentiable as once_differentiable
from mindtorch.dispatch.modes import anomaly
from mindtorch.dispatch.modes.batching import levels_of_tensor
from mindtorch.dispatch.modes.captures import leaving_watch, recording
from mindtorch.dispatch.modes.tangents import without_forward_ad
from mindtorch.dispatch.modes.views_from_no_grad import note_views

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
        if not isinstance(value, bool):
            raise TypeError(
                "set_materialize_grads received an invalid combination of arguments - got (), but expected (bool)"
            )
        self._materialize = value

    def mark_shared_storage(self, *pairs: Any) -> None:
        warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. Note that "
            "calls to `set_()` are not tracked",
            FutureWarning,
        )


class BackwardFunction(FunctionCtx, ConnectedNode):
    """The node of a Function, and at the same time its ctx. Every Function has a subclass named
    `<Function>Backward`."""

    _forward_cls: Any = None
    several = True
    _takes_tensor: tuple[bool, ...] = ()  # which arguments of forward were tensors
    _is_transformed = False  # whether it is in the function of a transform that differentiates
    output_devices: Sequence[Device | None] = ()

    def apply(self, edges: tuple, *grads: Any) -> tuple:
        function = self._forward_cls
        if function.backward is not Function.backward and function.vjp is not Function.vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                "implement one of them."
            )
        formula = function.backward if function.vjp is Function.vjp else function.vjp
        if self._is_transformed:  # each of the transforms around it asks for gradients of its own inputs
            wanted = iter(edges)
            self.needs_input_grad = tuple([takes and next(wanted) is not None for takes in self._takes_tensor])
        if self._materialize:
            grads = tuple(map(materialized, grads, self.outputs, self.output_devices))
        results = formula(self, *grads)
        ends = edges if self._is_transformed else self.next_edges
        return gradients_of_tensors(self, results if isinstance(results, tuple) else (results,), ends)

    def __call__(self, *grads: Any) -> Any:
        raise TypeError(f"'{self.name()}' object is not callable")

    @property
    def saved_tensors(self) -> tuple:
        if self.saved_for_forward is not None:  # only until `jvp` has run
            return self.saved_for_forward
        kept = self._mt_saved  # which another pass may free at any time
        if kept is None:
            raise second_backward()
        tensors = tuple([None if saved is None else unpack(saved, self) for saved in kept])
        for tensor in tensors:
            if tensor is not None and is_view(tensor) and not is_input_of_level(tensor._mt_meta):
                edge_of(tensor)  # which refuses a view that `forward` has written where that is forbidden
        return tensors

    @property
    def saved_variables(self) -> tuple:
        warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple:
        if self._mt_saved is None:
            raise second_backward()
        self._mt_saved = tuple(map(as_saved_tensor, self._mt_saved))
        return self._mt_saved

    def maybe_clear_saved_tensors(self) -> None:
        """Give the saved tensors up before `backward` is done, if the pass does so afterwards anyway."""
        if running.task is not None and not running.task.keep_graph:
            self._mt_saved = None

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{self.name()} object at {id(self):#x}>"


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
        warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future "
            "version of PyTorch.",
            DeprecationWarning,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            "function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    if TYPE_CHECKING:  # an override takes what it likes
        forward: Callable[..., Any]
        backward: Callable[..., Any]
        jvp: Callable[..., Any]
        vmap: Callable[..., Any]
    else:

        @staticmethod
        def forward(*args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

        @staticmethod
        def backward(ctx: Any, *grad_outputs: Any) -> Any:
            raise NotImplementedError(
                "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
                "backward mode AD."
            )

        @staticmethod
        def jvp(ctx: Any, *grad_inputs: Any) -> Any:
            raise NotImplementedError(
                "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
            )

        @staticmethod
        def vmap(info: Any, in_dims: tuple, *args: Any) -> Any:
            raise NotImplementedError(
                "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
                "generate_vmap_rule=True."
            )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> Any:
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any) -> Any:
        return Function.backward(ctx, *grad_outputs)

    generate_vmap_rule = False  # whether `forward` itself runs inside `vmap`, made of ops that can

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` and record it."""
        if _thread.transforms:  # a pass with a batch of gradients is none
            if not _has_setup_context(cls):
                raise RuntimeError(_NEEDS_SETUP_CONTEXT)
            if _thread.vmap_levels:
                check_has_rule(cls, has_own=cls.vmap is not Function.vmap)
        args = _positional(cls, args, kwargs)
        tensors = [value for value in args if isinstance(value, Tensor)]
        # Without grad mode a tensor is not asked for its place in the graph, which may be forbidden.
        edges = tuple([tensor._mt_edge or edge_of(tensor) for tensor in tensors] if _thread.grad_enabled else ())
        ctx = cls._backward_cls(tuple([edge or None for edge in edges]))
        ctx._mt_saved = ()
        ctx._takes_tensor = tuple(isinstance(value, Tensor) for value in args)
        ctx.needs_input_grad = tuple(isinstance(value, Tensor) and takes_part(value) for value in args)
        is_transformed = _thread.own_tensors is not None
        if is_transformed:
            ctx._is_transformed = True
        recorded = any([edge is not None for edge in edges])
        output = _run_forward(cls, ctx, args)
        outputs = output if isinstance(output, tuple) else (output,)
        _mark_dirty(ctx.dirty_tensors)
        returned, marked, written = outputs, ctx.non_differentiable, ctx.dirty_tensors
        kept = (*ctx.to_save, *(ctx.saved_for_forward or ())) if _has_setup_context(cls) else ()
        if written and cls.generate_vmap_rule and _thread.vmap_levels:  # which knows no sample as one that was written
            ctx.dirty_tensors = tuple([each for each in written if not levels_of_tensor(each)])
        outputs = connect_outputs(ctx, ctx if recorded else None, tensors, outputs, kept)
        if is_transformed and recorded:
            note_views(tensors, outputs)
        _check_dirty(written, returned if len(ctx.dirty_tensors) == len(written) else ())
        with recording(tensors):
            _save(ctx, recorded)
        if _thread.dual_level >= 0 and _thread.forward_grad_enabled:
            roles = [role_of(each, marked, written) for each in returned]
            apply_jvp(cls, ctx, args, outputs, roles)
        ctx.saved_for_forward = None
        if state.anomaly_enabled:
            anomaly.note_forward(outputs)
        return outputs if isinstance(output, tuple) else outputs[0]


_NEEDS_SETUP_CONTEXT = (
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override "
    "the setup_context staticmethod. For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"
)


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
            with leaving_watch(requires_grad_outside):
                output = (
                    function.forward(*args) if function.vmap is Function.vmap else forward_of_samples(function, args)
                )
            function.setup_context(ctx, args, output)
            return output
    finally:
        state.set_grad_enabled(grad_enabled)


def _mark_dirty(tensors: Sequence[Any]) -> None:
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise RuntimeError("mark_dirty can only accept variables, but argument ")
        mark_written(tensor)


def _check_dirty(tensors: Sequence[Tensor], outputs: Sequence[Any]) -> None:
    if any(all(tensor is not output for output in outputs) for tensor in tensors):
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
        ctx._mt_saved = tuple([_saved(ctx, tensor) for tensor in ctx.to_save])
    ctx.to_save = ctx.dirty_tensors = ctx.non_differentiable = ()


def _saved(ctx: BackwardFunction, tensor: Any) -> Any:
    if tensor is None:
        return None
    edge = noted_edge(tensor)
    return save_output(ctx, tensor) if edge and edge[0] is ctx else save(tensor)


# -------------------- names that older programs use --------------------


class InplaceFunction(Function):
    """A Function that older programs derive from; it adds nothing."""


class NestedIOFunction(Function):
    """The same for Functions of nested lists of tensors; `Function` itself takes any argument."""


BackwardCFunction = BackwardFunction
