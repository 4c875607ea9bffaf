"""The engine: runs the backward graph.

Note [Order of the backward pass]: nodes run in descending `sequence_nr`. The inputs of an op have their nodes before it
does, so every node runs after all nodes that send it gradients, and there is no need for a priority queue: the
reachable nodes are collected, sorted once, and taken from the end. Leaves (AccumulateGrad) run as soon as the last
gradient for them has come, so that their hooks see the order that torch has and memory is given back early.
"""

import threading
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from mindtorch import state
from mindtorch.autograd import anomaly
from mindtorch.autograd.hooks import run_post_hooks, run_pre_hooks, run_tensor_hooks
from mindtorch.autograd.node_base import NodeBase
from mindtorch.autograd.reentrant import run_nested
from mindtorch.dispatch.registry import kernel_table
from mindtorch.dtype import from_numpy_dtype
from mindtorch.memory_format import contiguous_format
from mindtorch.tensor import Tensor, wrap

_thread = state.thread
_by_sequence = attrgetter("sequence_nr")
_add_kernels = kernel_table("add.Tensor")
_stack_kernels = kernel_table("stack")
_sum_kernels = kernel_table("sum.dim_IntList")

# Note [Sums of gradients]: a tensor that is used many times (the weights of a recurrent network) gets many gradients,
# and for small ones an addition costs mostly the call. They wait, and are summed together, in the order in which they
# came: adding up the rows of a matrix is the same as adding them one by one. Of large ones a sum is made once, and what
# follows is added to it in place.
_SMALL = 512  # elements
_MOST_WAITING = 128
_OWN_SUM = ()  # in the place of what waits: nothing does, and the gradient is a sum that was made here
_SUMMED = (np.dtype("float32"), np.dtype("float64"))


class GraphRoot(NodeBase):
    """Where a backward pass starts: hands the given gradients to the nodes of the outputs."""

    def __init__(self, edges: tuple, grads: tuple) -> None:
        super().__init__(edges)
        self.grads = grads

    def apply(self, *_: Any) -> tuple:
        return self.grads


class Pass:
    """One backward pass: which nodes it reaches and what it has been asked for."""

    __slots__ = ("nodes", "incoming", "wanted", "needed", "captures", "captured", "keep_graph", "callbacks", "notes")

    def __init__(self, root: GraphRoot, keep_graph: bool) -> None:
        self.keep_graph = keep_graph
        self.callbacks: list[Callable] = []
        self.notes: dict[Any, Any] = {}  # what hooks want to remember until the end of the pass
        self.captures: dict[Any, list[tuple[int, int]]] = {}  # node -> [(output_nr, position in `captured`)]
        self.captured: list[Any] = []
        self.wanted: set | None = None  # the nodes that gradients go to; None: all
        self.needed: set | None = None  # those of them that run
        self.incoming: dict[Any, int] = {}  # leaf -> how many edges lead to it
        self.nodes = _reachable(root, self.incoming)  # the next one to run is the last

    def restrict(self, targets: Sequence[tuple], capture: bool) -> None:
        """Run only what the targets, which are edges, need. With `capture`, keep their gradients and don't run them."""
        self.captured = [None] * len(targets)
        if capture:
            for position, (node, output_nr) in enumerate(targets):
                self.captures.setdefault(node, []).append((output_nr, position))
        goals = {node for node, _ in targets}
        self.needed = _nodes_towards(goals, self.nodes)
        self.wanted = self.needed | goals
        if not capture:
            self.needed = self.wanted
        self.nodes = [node for node in self.nodes if node in self.wanted]
        self.incoming = _count_leaf_edges(self.nodes, self.needed, self.wanted)

    def will_reach(self, node: Any) -> bool:
        """Whether the pass has yet to come to a node, or will have come to it if it is a leaf."""
        return node in self.incoming or node in self.nodes


def _reachable(root: GraphRoot, incoming: dict[Any, int]) -> list[Any]:
    """The nodes that a pass reaches, the last to run first. Leaves are not among them: they are counted in
    `incoming`."""
    nodes: list[Any] = [root]
    seen = {root}
    for node in nodes:
        for edge in node.next_edges:
            if edge is None:
                continue
            target = edge[0]
            if target.accumulates:
                incoming[target] = incoming.get(target, 0) + 1
            elif target not in seen:
                seen.add(target)
                nodes.append(target)
    nodes.sort(key=_by_sequence)
    return nodes


def _nodes_towards(goals: set, nodes: Sequence[Any]) -> set:
    """The nodes with a path to one of the goals; `nodes` are in ascending order."""
    found: set = set()
    for node in nodes:
        for edge in node.next_edges:
            if edge is not None and (edge[0] in found or edge[0] in goals):
                found.add(node)
                break
    return found


def _count_leaf_edges(nodes: Sequence[Any], needed: set, wanted: set) -> dict[Any, int]:
    """How many edges lead from nodes that run to each leaf that is wanted."""
    counts: dict[Any, int] = {}
    for node in nodes:
        for edge in node.next_edges if node in needed else ():
            if edge is not None and edge[0].accumulates and edge[0] in wanted:
                counts[edge[0]] = counts.get(edge[0], 0) + 1
    return counts


# -------------------- running --------------------


def run_backward(
    edges: Sequence[tuple],
    grads: Sequence[Any],
    keep_graph: bool,
    create_graph: bool,
    targets: Sequence[tuple] | None = None,
    capture: bool = False,
) -> list[Any]:
    """Send the gradients of the outputs, given by their edges, through the graph.

    Without targets every leaf gets its gradient. With them only they do; `capture` returns the gradients in the order
    of the targets and stores nothing.
    """
    task = Pass(GraphRoot(tuple(edges), tuple(grads)), keep_graph)
    if targets is not None:
        task.restrict(targets, capture)
    return run_nested(lambda: _run_in_mode(task, create_graph))


def _run_in_mode(task: Pass, create_graph: bool) -> list[Any]:
    """Run a pass, with grad mode as it has to be, and leave everything in this thread as it was."""
    grad_enabled, _thread.grad_enabled = _thread.grad_enabled, create_graph
    outer, running.task = running.task, task
    try:
        _run(task)
        for callback in task.callbacks:
            callback()
    finally:
        _thread.grad_enabled = grad_enabled
        running.task = outer
    return task.captured


class Running(threading.local):
    """The innermost backward pass of each thread."""

    task: Pass | None = None


running = Running()


def queue_callback(callback: Callable[[], None]) -> None:
    """Call something at the end of the backward pass that is running in this thread."""
    task = running.task
    if task is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    task.callbacks.append(callback)


def _run(task: Pass) -> None:
    """Run the nodes in order. The innermost loop of training: straight-line on purpose."""
    nodes, incoming, reachable, keep_graph = task.nodes, task.incoming, task.wanted, task.keep_graph
    watched = state.anomaly_enabled or reachable is not None
    add = _add_recorded if _thread.grad_enabled or state.interceptors else _add
    arrived: dict[Any, list] = {}  # node -> the gradients of its outputs so far, and what waits
    ready: list[Any] = []  # leaves for which all gradients have come
    while nodes:
        node = nodes.pop()
        slots = arrived.pop(node, None) or [None] * len(node.input_metadata) + [None]
        if slots[-1]:
            _settle(slots)
        if watched or node.hooked:
            results = _run_watched(task, node, slots[:-1])
            if results is None:
                continue
        else:
            results = node.apply(slots[0]) if len(slots) == 2 else node.apply(*slots[:-1])
        if not keep_graph and (fields := node.saved_fields):
            node.released = True
            for field in fields:
                setattr(node, field, None)
        for edge, grad in zip(node.next_edges, results):
            if edge is None:
                continue
            target, output_nr = edge
            if reachable is not None and target not in reachable:
                continue
            if grad is not None:
                array = grad._array
                metadata = target.input_metadata
                shape, dtype = metadata[output_nr]
                if array.shape != shape or (array.dtype is not dtype and array.dtype != dtype):
                    grad = fit_gradient(grad, shape, dtype, node, edge)
                slots = arrived.get(target)
                if slots is None:
                    arrived[target] = [grad, None] if len(metadata) == 1 else _slots(metadata, output_nr, grad)
                elif slots[output_nr] is None:
                    slots[output_nr] = grad
                else:
                    add(slots, output_nr, grad)
            if target in incoming:
                incoming[target] = left = incoming[target] - 1
                if not left:
                    ready.append((target, node, edge))
        if ready:
            # A leaf may take over a gradient that nothing else refers to, so nothing here may.
            results = grad = slots = array = None
            for leaf, node, edge in ready:
                _run_leaf(task, leaf, _received(arrived.pop(leaf, None)), node, edge)
            ready.clear()


def _received(slots: list | None) -> list:
    """The gradient for a leaf, as the only element of a list that nobody else has."""
    if slots is None:
        return [None]
    _settle(slots)
    return slots[:1]


def _settle(slots: list) -> None:
    """Sum up what waits: small gradients of one shape and dtype."""
    first, waiting = slots[0], slots[-1]
    if not waiting:
        return
    kind = type(first._array)
    if len(waiting) == 1:
        total = _add_kernels[kind](first._array, waiting[0]._array)
    else:
        arrays = [first._array, *[grad._array for grad in waiting]]
        total = _sum_kernels[kind](_stack_kernels[kind](arrays, 0), (0,), False, None)
    slots[0], slots[-1] = wrap(total), None


def _slots(metadata: tuple, output_nr: int, grad: Tensor) -> list:
    """Room for the gradients of several outputs, with the first one that came."""
    slots: list[Any] = [None] * (len(metadata) + 1)
    slots[output_nr] = grad
    return slots


def _add_recorded(slots: list, output_nr: int, grad: Any) -> None:
    """Add a gradient as an op. A dense one comes first: sparse + dense is not defined."""
    earlier = slots[output_nr]
    slots[output_nr] = grad + earlier if earlier.is_sparse else earlier + grad


def _add(slots: list, output_nr: int, grad: Tensor) -> None:
    """The same when nothing is recorded. See Note [Sums of gradients]."""
    array, other = slots[output_nr]._array, grad._array
    kind = type(array)
    waiting = slots[-1]
    if type(other) is not kind:
        _settle(slots)
        _add_recorded(slots, output_nr, grad)
        slots[-1] = None
    elif waiting is _OWN_SUM:
        _add_kernels[kind](array, other, 1, array)
    elif waiting:
        waiting.append(grad)
        if len(waiting) == _MOST_WAITING:
            _settle(slots)
    elif len(slots) == 2 and array.size <= _SMALL and array.dtype is other.dtype and array.dtype in _SUMMED:
        slots[-1] = [grad]
    else:
        slots[output_nr] = wrap(_add_kernels[kind](array, other))
        slots[-1] = _OWN_SUM if len(slots) == 2 else None


def _run_watched(task: Pass, node: Any, grads: list) -> tuple | None:
    """Run a node that has hooks, or whose gradient is to be captured, or in anomaly mode. None: it only was
    captured."""
    runs = task.needed is None or node in task.needed
    if not runs:
        _run_tensor_hooks(node, grads)
    for output_nr, position in task.captures.get(node, ()):
        task.captured[position] = grads[output_nr]
    if not runs:
        return None
    _run_tensor_hooks(node, grads)
    if node.pre_hooks:
        grads = run_pre_hooks(node.pre_hooks.values(), grads)
    results = _apply_for(task.wanted, node, grads)
    return run_post_hooks(node.hooks.values(), results, grads) if node.hooks else results


def _apply_for(wanted: set | None, node: Any, grads: list) -> tuple:
    """Run a node for those of its inputs whose nodes are wanted."""
    edges = node.next_edges
    if wanted is not None:
        node.next_edges = tuple([edge if edge is not None and edge[0] in wanted else None for edge in edges])
    try:
        return anomaly.apply_checked(node, grads) if state.anomaly_enabled else node.apply(*grads)
    finally:
        node.next_edges = edges


def _run_tensor_hooks(node: Any, grads: list) -> None:
    """Run the hooks of the tensors whose gradients these are, then store those that `retain_grad` asked for."""
    for output_nr, hooks in node.tensor_hooks or ():
        grads[output_nr] = run_tensor_hooks(hooks.values(), grads[output_nr])
    for output_nr, reference in (node.retained or {}).items():
        tensor = reference()
        if tensor is not None and grads[output_nr] is not None:
            _retain(tensor._meta, grads[output_nr])


def _retain(meta: Any, grad: Tensor) -> None:
    if meta.grad is None:
        meta.grad = grad.clone() if grad.is_sparse else grad.clone(memory_format=contiguous_format)
    else:
        meta.grad = meta.grad + grad


def _run_leaf(task: Pass, leaf: Any, gradients: list, node: Any, edge: tuple) -> None:
    if gradients[0] is not None and type(gradients[0]._array) is not type(leaf.variable._array):
        check_device(gradients[0], leaf, node, edge)
    captures = task.captures.get(leaf)
    if captures is None:
        leaf.receive(gradients)
        return
    grad = leaf.capture(gradients[0])
    for _, position in captures:
        task.captured[position] = grad


# -------------------- checking gradients --------------------


def fit_gradient(grad: Tensor, shape: tuple, numpy_dtype: Any, node: Any, edge: Any) -> Tensor:
    """A gradient in the shape and dtype of the value that it belongs to: what was broadcast is summed."""
    if grad._array.shape != shape:
        if not _expandable(shape, grad._array.shape):
            raise _invalid(node, edge, f"got {list(grad.shape)} but expected shape compatible with {list(shape)}")
        grad = _sum_to(grad, shape)
    if grad._array.dtype != numpy_dtype:
        wanted = from_numpy_dtype(numpy_dtype)
        if grad.is_complex() and not wanted.is_complex:
            grad = grad.real
        if grad.dtype is not wanted:
            grad = grad.to(wanted)
    return grad


def _sum_to(grad: Any, shape: tuple) -> Tensor:
    """Sum over the dimensions in which a value of that shape was broadcast."""
    extra = grad.ndim - len(shape)
    leading = tuple(range(extra))
    repeated = [extra + i for i, size in enumerate(shape) if size == 1 and grad.shape[extra + i] != 1]
    if not repeated:
        return grad.sum(leading)
    total = grad.sum((*leading, *repeated), keepdim=True)
    return total.reshape(shape) if extra else total


def check_device(grad: Tensor, leaf: Any, node: Any, edge: Any) -> None:
    expected = leaf.variable.device
    if grad.device != expected:
        raise _invalid(node, edge, f"expected device {expected} but got {grad.device}")


def _expandable(shape: tuple, target: tuple) -> bool:
    """Whether a tensor of one shape can be broadcast to the other."""
    if len(shape) > len(target):
        return False
    tail = target[len(target) - len(shape) :]
    return all(size in (1, wanted) for size, wanted in zip(shape, tail, strict=True))


def _invalid(node: Any, edge: Any, problem: str) -> RuntimeError:
    index = next(index for index, each in enumerate(node.next_edges) if each is edge)
    return RuntimeError(f"Function {node.name()} returned an invalid gradient at index {index} - {problem}")
