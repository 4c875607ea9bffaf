"""`NodeBase`: what the engine and the hooks need from a step of the backward graph."""

import re
from collections.abc import Callable
from itertools import count
from typing import Any

from mindtorch.autograd.hooks import RemovableHandle, add_hook
from mindtorch.dtype import FROM_NUMPY
from mindtorch.dtype import dtype as Dtype
from mindtorch.size import Size, size_of

# Numbers the nodes of the process. A node's inputs are made before it is, so descending numbers are an order in which
# backward may run; the engine relies on it.
next_sequence_nr = count().__next__

_BACKWARD_SUFFIX = re.compile(r"Backward0?(?=\d*$)")  # the number stays, unless it is 0


class InputMetadata:
    """What the gradient of an output must look like, as `node._input_metadata` shows it."""

    def __init__(self, shape: tuple, numpy_dtype: Any) -> None:
        self.shape: Size = size_of(shape)
        self.dtype: Dtype | None = FROM_NUMPY.get(numpy_dtype)  # None: the output is no tensor

    def __repr__(self) -> str:
        return f"InputMetadata(shape={self.shape}, dtype={self.dtype})"


class NodeBase:
    """A function of the backward graph: takes the gradients of an op's outputs, gives those of its inputs.

    Making one is on the path of every op that records a graph, so what most nodes never need is a class attribute.
    """

    input_metadata: tuple = ()  # (shape, NumPy dtype) of each output of the op
    saved_fields: tuple[str, ...] = ()  # what the engine sets to None once the graph has been used
    released = False  # whether it has
    next_edges: tuple = ()  # (node, output_nr), or None for an input that needs no gradient
    accumulates = False  # whether this is the end of the graph: AccumulateGrad
    hooked = False  # whether any of the following four is set: the engine looks at this one only
    tensor_hooks: Any = None  # [(output_nr, {id: hook})], of tensors
    retained: Any = None  # {output_nr: weak reference to the tensor}, of retain_grad
    pre_hooks: Any = None
    hooks: Any = None
    _metadata: Any = None

    def __init__(self, next_edges: tuple) -> None:
        self.next_edges = next_edges
        self.sequence_nr = next_sequence_nr()
        self.hooked = False  # read for every node of every pass: an instance's field is found faster than a class's

    def apply(self, *grads: Any) -> tuple:
        """The gradients of the inputs, one per edge; None where there is none."""
        raise NotImplementedError(f"{type(self).__name__} has no backward formula")

    def needs(self, index: int) -> bool:
        """Whether the gradient of an input is wanted. While a node runs, the others are None."""
        return self.next_edges[index] is not None

    def __call__(self, *grads: Any) -> Any:
        results = self.apply(*grads)
        return results if len(results) != 1 else results[0]

    # -------------------- what users see --------------------

    def name(self) -> str:
        return type(self).__name__

    def short_name(self) -> str:
        """The op's part of the name, as torch's messages have it: Exp for ExpBackward0."""
        return _BACKWARD_SUFFIX.sub("", self.name())

    @property
    def next_functions(self) -> tuple:
        return tuple((None, 0) if edge is None else edge for edge in self.next_edges)

    @property
    def metadata(self) -> dict:
        if self._metadata is None:
            self._metadata = {}
        return self._metadata

    @property
    def requires_grad(self) -> bool:
        return True

    def _sequence_nr(self) -> int:
        return self.sequence_nr

    def _set_sequence_nr(self, number: int) -> None:
        self.sequence_nr = number

    @property
    def _input_metadata(self) -> tuple:
        return tuple(InputMetadata(*metadata) for metadata in self.input_metadata)

    def register_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(grad_inputs, grad_outputs)` after the node has run; a tuple that it returns replaces
        grad_inputs."""
        self.hooked = True
        self.hooks, handle = add_hook(self.hooks, hook)
        return handle

    def register_prehook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(grad_outputs)` before the node runs; a tuple that it returns replaces them."""
        self.hooked = True
        self.pre_hooks, handle = add_hook(self.pre_hooks, hook)
        return handle

    def add_tensor_hooks(self, output_nr: int, hooks: dict) -> None:
        """Call the hooks of a tensor, which may come and go later, on the gradient of that output."""
        self.hooked = True
        self.tensor_hooks = [*(self.tensor_hooks or ()), (output_nr, hooks)]

    def retain(self, output_nr: int, reference: Any) -> None:
        """Store the gradient of an output in the `.grad` of a tensor, given by a weak reference."""
        self.hooked = True
        self.retained = {**(self.retained or {}), output_nr: reference}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


def second_backward() -> RuntimeError:
    return RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
        "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
        "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
        "saved tensors after calling backward."
    )
