"""`NodeBase`: what the engine and the hooks need from a step of the backward graph."""

import re
from collections.abc import Callable
from itertools import count
from operator import itemgetter
from threading import RLock
from typing import TYPE_CHECKING, Any

from mindtorch._core import state
from mindtorch._core.dtype import FROM_NUMPY
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.size import Size, size_of
from mindtorch._core.tensor import Tensor
from mindtorch._support import errors
from mindtorch.autograd._engine.hooks import RemovableHandle, add_hook
from mindtorch.autograd._engine.hooks_in_levels import in_its_level, of_all_samples, shown_next

# Numbers the nodes of the process. A node's inputs are made before it is, so descending numbers are an order in which
# backward may run; the engine relies on it.
next_sequence_nr = count().__next__

_making = RLock()  # for what is made on demand: two threads may ask for it
extras_in_use = False  # whether any node of the process has ever had extras
levels_in_use = False  # whether a transform has ever differentiated
refusals_in_use = False  # whether there ever was a RefusingNode

_BACKWARD_SUFFIX = re.compile(r"Backward0?(?=\d*$)")  # the number stays, unless it is 0


class InputMetadata:
    """What the gradient of an output must look like, as `node._input_metadata` shows it."""

    def __init__(self, shape: tuple, numpy_dtype: Any) -> None:
        self.shape: Size = size_of(shape)
        self.dtype: Dtype | None = FROM_NUMPY.get(numpy_dtype)  # None: the output is no tensor

    def __repr__(self) -> str:
        return f"InputMetadata(shape={self.shape}, dtype={self.dtype})"


class Extras:
    """What most nodes never have: hooks, and what users and anomaly mode attach."""

    __slots__ = ("tensor_hooks", "retained", "pre_hooks", "hooks", "metadata", "shown_sequence_nr")

    def __init__(self) -> None:
        self.tensor_hooks: list = []  # (output_nr, {id: hook}), of tensors
        self.retained: dict = {}  # output_nr: weak reference to the tensor, of retain_grad
        self.pre_hooks: Any = None
        self.hooks: Any = None
        self.metadata: dict = {}
        self.shown_sequence_nr: int | None = None  # if a user has set one


class NodeBase:
    """A function of the backward graph: takes the gradients of an op's outputs, gives those of its inputs.

    ``next_edges``    an edge for each input, or None for one that needs no gradient
    ``output_shape``  the shape of the op's output; None if it has several outputs
    ``output_dtype``  its NumPy dtype
    ``outputs``       shape and NumPy dtype of each of several outputs
    ``_mt_saved``     what the formula needs from the forward call, if anything; None once the graph was used
    ``extras``        an `Extras`, or None

    There are slots because the engine reads fields of nodes of all classes in one place, where those of an instance's
    dictionary are slow to find. To write one there costs as much, so that what most nodes don't have is not set.
    And there is no `__init__`, because a call of one is a quarter of the price of recording an op: the generated
    functions number their nodes and set the fields themselves.
    """

    __slots__ = (
        "next_edges",
        "sequence_nr",
        "output_shape",
        "output_dtype",
        "outputs",
        "_mt_saved",
        "_extras",
        "__weakref__",
    )

    _mt_saved: Any

    accumulates = False  # whether this is the end of the graph: AccumulateGrad
    of_list = False  # whether one formula gives the gradients of a list of tensors
    several = False  # whether `outputs` is set even if there is one: custom Functions
    begins = False  # whether tensors that have this node look like leaves: AccumulateGrad, inputs of transforms

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...  # `_saved_self` and its like: each class has its own

    def apply(self, edges: tuple, *grads: Any) -> tuple:
        """The gradients of the inputs, one per edge; None where there is none.

        `edges` are `next_edges`, or those of them that a pass for some inputs follows, with None for the others. A node
        is shared by all passes that run over it, so a pass hands over what it wants and writes it nowhere.
        """
        raise NotImplementedError(f"{type(self).__name__} has no backward formula")

    def __call__(self, *grads: Any) -> Any:
        self._check_gradients(grads)
        recorded = state.thread.grad_enabled
        if recorded:
            state.count_recorded_pass(1)
        try:
            results = self.apply(self.next_edges, *grads)
        finally:
            if recorded:
                state.count_recorded_pass(-1)
        return results if len(results) != 1 else results[0]

    def _check_gradients(self, grads: tuple) -> None:
        expected = len(self.outputs) if self.output_shape is None else 1
        if len(grads) != expected:
            raise TypeError(f"expected {expected} arguments, got {len(grads)} instead")
        for position, grad in enumerate(grads):
            if grad is not None and not isinstance(grad, Tensor):
                raise TypeError(f"argument {position} is not a Variable")

    # -------------------- what users see --------------------

    def name(self) -> str:
        return type(self).__name__

    def short_name(self) -> str:
        """The op's part of the name, as torch's messages have it: Exp for ExpBackward0."""
        return _BACKWARD_SUFFIX.sub("", self.name())

    @property
    def next_functions(self) -> tuple:
        shown = shown_next if state.batch_levels or levels_in_use else itemgetter(0, 1)
        return tuple([(None, 0) if edge is None else shown(edge) for edge in self.next_edges])

    def more(self) -> Extras:
        """The extras, made if there are none; from now on the engine looks for those of nodes."""
        global extras_in_use
        extras_in_use = True
        extras = self.extras
        if extras is None:
            with _making:
                extras = self.extras
                if extras is None:
                    self._extras = extras = Extras()
        return extras

    @property
    def extras(self) -> Extras | None:
        return getattr(self, "_extras", None)

    @property
    def metadata(self) -> dict:
        return self.more().metadata

    @property
    def requires_grad(self) -> bool:
        return True

    def _sequence_nr(self) -> int:
        shown = self.extras and self.extras.shown_sequence_nr
        return self.sequence_nr if shown is None else shown  # type: ignore[return-value]

    def _set_sequence_nr(self, number: int) -> None:
        """Change the number that is shown. The engine goes by its own, whose order is also that of the graph."""
        self.more().shown_sequence_nr = number

    def output_metadata(self, output_nr: int) -> tuple:
        """The shape and the NumPy dtype of an output of the op."""
        return self.outputs[output_nr] if self.output_shape is None else (self.output_shape, self.output_dtype)

    @property
    def _input_metadata(self) -> tuple:
        outputs = self.outputs if self.output_shape is None else [(self.output_shape, self.output_dtype)]
        return tuple(InputMetadata(*each) for each in outputs)

    def register_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(grad_inputs, grad_outputs)` after the node has run; a tuple that it returns replaces
        grad_inputs."""
        extras = self.more()
        with _making:
            extras.hooks, handle = add_hook(extras.hooks, _kept(hook))
        return handle

    def register_prehook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(grad_outputs)` before the node runs; a tuple that it returns replaces them."""
        extras = self.more()
        with _making:
            extras.pre_hooks, handle = add_hook(extras.pre_hooks, _kept(hook))
        return handle

    def add_tensor_hooks(self, output_nr: int, hooks: dict) -> None:
        """Call the hooks of a tensor, which may come and go later, on the gradient of that output."""
        self.more().tensor_hooks.append((output_nr, hooks))

    def retain(self, output_nr: int, reference: Any) -> None:
        """Store the gradient of an output in the `.grad` of a tensor, given by a weak reference."""
        self.more().retained[output_nr] = reference

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


def _kept(hook: Callable) -> Callable:
    return in_its_level(of_all_samples(hook), state.thread.own_tensors)


class ConnectedNode(NodeBase):
    """A node that is written by hand, and made with its edges."""

    __slots__ = ()

    def __init__(self, next_edges: tuple) -> None:
        self.next_edges = next_edges
        self.sequence_nr = next_sequence_nr()


class RefusingNode(NodeBase):
    """The node of an op that has no derivative at all, which only the backward pass says. `op`: the op's full name."""

    __slots__ = ("op",)

    op: str
    sequence_nr: int
    next_edges: tuple

    def __init__(self) -> None:
        global refusals_in_use
        refusals_in_use = True

    def name(self) -> str:
        return "torch::autograd::NotImplemented"

    def apply(self, edges: tuple, *grads: Any) -> tuple:
        raise errors.no_derivative(self.op)


def second_backward() -> RuntimeError:
    return RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
        "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
        "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
        "saved tensors after calling backward."
    )
