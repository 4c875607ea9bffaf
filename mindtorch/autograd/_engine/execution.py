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

from mindtorch._core import state
from mindtorch._core.fast_path import FAST_PATH_FAILED, kind_of
from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.tensor import Tensor, set_outputs, wrap
from mindtorch._support import errors
from mindtorch.autograd import anomaly_mode
from mindtorch.autograd._engine import node_base
from mindtorch.autograd._engine.accumulate_grad import AccumulateGrad, storing_lock
from mindtorch.autograd._engine.fitting import check_device, fit_gradient, fit_gradients
from mindtorch.autograd._engine.hooks import run_post_hooks, run_pre_hooks, run_tensor_hooks
from mindtorch.autograd._engine.hooks_in_levels import shown_node
from mindtorch.autograd._engine.node_base import ConnectedNode, RefusingNode
from mindtorch.autograd._engine.reentrant import run_nested
from mindtorch.dispatch.modes.views_from_no_grad import edges_of_bases, leads_nowhere, nodes_behind
from mindtorch.dispatch.registry import kernel_table

_thread = state.thread
Array = np.ndarray
_by_sequence = attrgetter("sequence_nr")
_add_kernels = kernel_table("add.Tensor")
_sum_kernels = kernel_table("sum.dim_IntList")

# Note [Sums of gradients]: a tensor that is used many times (the weights of a recurrent network) gets many gradients,
# and for small ones an addition costs mostly the call. They wait, and are summed together, in the order in which they
# came: adding up the rows of a matrix is the same as adding them one by one. Of large ones a sum is made once, and what
# follows is added to it in place. So it is of small ones that are not row-major: a sum keeps their order.
_SMALL = 512  # elements
_MOST_WAITING = 128
_SUMMED = (np.dtype("float32"), np.dtype("float64"))


class Waiting(list):
    """The arrays, all NumPy's own, of small gradients of the same value, which are to be summed."""


class OwnSum:
    """A gradient that is a sum made here, so that more can be added to it in place."""

    __slots__ = ("grad",)

    def __init__(self, grad: Tensor) -> None:
        self.grad = grad


class GraphRoot(ConnectedNode):
    """Where a backward pass starts: hands the given gradients to the nodes of the outputs."""

    __slots__ = ("grads",)

    def __init__(self, edges: tuple, grads: tuple) -> None:
        super().__init__(edges)
        set_outputs(self, [])
        self.grads = grads

    def apply(self, edges: tuple, *grads: Any) -> tuple:
        return self.grads


class Pass:
    """One backward pass: which nodes it reaches and what it has been asked for."""

    __slots__ = (
        *("nodes", "reached", "leaves", "last", "wanted", "needed"),
        *("captures", "captured", "keep_graph", "callbacks", "notes", "root"),
    )

    def __init__(self, root: GraphRoot, keep_graph: bool) -> None:
        self.root = root
        self.keep_graph = keep_graph
        self.callbacks: list[Callable] = []
        self.notes: dict[Any, Any] = {}  # what hooks want to remember until the end of the pass
        self.captures: dict[Any, list[tuple[int, int]]] = {}  # node -> [(output_nr, position in `captured`)]
        self.captured: list[Any] = []
        self.wanted: set | None = None  # the nodes that gradients go to; None: all
        self.needed: set | None = None  # those of them that run; None if no targets were given
        self.nodes, self.reached, self.leaves = _reachable(root)  # the next one to run is the last of `nodes`
        self.last: dict[Any, Any] = {}  # leaf -> the last node to run that has a gradient for it

    def check_ends(self, targets: Sequence[tuple]) -> None:
        """For a graph without leaves: refuse one whose ends are all inputs of transforms that are over. What has leaked
        from a transform has no gradient; it is only the transform that may ask for it, as one of the targets."""
        ends = [node for node in self.reached if node.begins]
        is_asked = any(node.is_open or node.requires_grad_outside for node in ends) or any(
            edges_of_bases(node) or leads_nowhere(node) for node in self.reached
        )
        if ends and not is_asked and self.reached.isdisjoint(each[0] for each in targets):
            raise errors.no_gradient(0)

    def restrict(self, targets: Sequence[tuple], capture: bool) -> None:
        """Run only what the targets, which are edges, need. With `capture`, keep their gradients and don't run them."""
        self.captured = [None] * len(targets)
        if capture:
            for position, (node, output_nr, *_) in enumerate(targets):
                self.captures.setdefault(node, []).append((output_nr, position))
        goals = {target[0] for target in targets}
        if not capture and state.batch_levels:  # what the result of `vmap` is to programs runs, too
            goals |= {shown_node(target)[0] for target in targets}
        self.needed = _nodes_towards(goals, self.nodes)
        self.wanted = self.needed | goals
        if not capture:
            self.needed = self.wanted
        root = self.nodes[-1]
        if len(root.next_edges) == 1:  # of a single output torch runs the hooks, whatever is wanted
            self.needed = self.needed | {root}
            self.wanted = self.wanted | {root, root.next_edges[0][0]}
        self.nodes = [node for node in self.nodes if node in self.wanted]
        leaves = {node for node in self.wanted if node.accumulates}
        self.last = _last_before(leaves, [node for node in self.nodes if node in self.needed])

    def leave_out_what_is_over(self) -> None:
        """Follow no way that ends in nothing but inputs of transforms that are over."""
        over = _ways_that_are_over(self.nodes)
        if over:
            self.wanted = self.reached - over
            self.nodes = [node for node in self.nodes if node not in over]

    def refuse_early(self) -> None:
        """Have nodes that only refuse run as leaves do: as soon as the last gradient for them has come, in the order of
        the edges of the node that gave it."""
        refusing = {node for node in self.nodes if type(node) is RefusingNode}
        runs = self.nodes if self.needed is None else [node for node in self.nodes if node in self.needed]
        self.last.update(_last_before(refusing, runs))
        self.nodes = [node for node in self.nodes if node not in self.last]

    def will_reach(self, node: Any) -> bool:
        """Whether the pass comes to a node, sooner or later, or has been there. PyTorch does not tell of a leaf whose
        gradient is captured, and not count the node with which a pass begins, unless there are several."""
        starts = self.root.next_edges
        if len(starts) == 1 and starts[0][0] is node:
            return False
        if node not in self.reached or self.wanted is None:
            return node in self.reached
        if node in self.captures and not any(node.next_edges):
            raise RuntimeError(_CAPTURED_LEAF)
        return node in self.wanted


def _reachable(root: GraphRoot) -> tuple[list[Any], set, set]:
    """The nodes that a pass reaches: those that are no leaves, the last to run first; all of them as a set; the
    leaves."""
    nodes: list[Any] = [root]
    reached = {root}
    leaves = set()
    for node in nodes:
        for edge in node.next_edges:
            if edge is not None and edge[0] not in reached:
                target = edge[0]
                reached.add(target)
                if type(target) is AccumulateGrad:
                    leaves.add(target)
                else:
                    nodes.append(target)
    nodes.sort(key=_by_sequence)
    return nodes, reached, leaves


def _nodes_towards(goals: set, nodes: Sequence[Any]) -> set:
    """The nodes with a path to one of the goals; `nodes` are in ascending order."""
    found: set = set()
    for node in nodes:
        for edge in node.next_edges:
            if edge is not None and (edge[0] in found or edge[0] in goals):
                found.add(node)
                break
    return found


def _ways_that_are_over(nodes: Sequence[Any]) -> set:
    """The nodes from which gradients get to nothing but inputs of transforms that are over, and to at least one;
    `nodes` are in ascending order. A node without any edge is there for what is seen on the way."""
    over: set = set()
    for node in nodes:
        ways = nodes_behind(node)
        if node.begins and (node.is_open or node.requires_grad_outside):
            continue
        if (ways or node.begins) and over.issuperset(ways):
            over.add(node)
    return over


def _last_before(leaves: set, nodes: Sequence[Any]) -> dict[Any, Any]:
    """For each leaf the last node to run that leads to it; `nodes` are in ascending order."""
    last: dict[Any, Any] = {}
    for node in nodes:
        if len(last) == len(leaves):
            break
        for edge in node.next_edges:
            if edge is not None and edge[0] in leaves and edge[0] not in last:
                last[edge[0]] = node
    return last


_CAPTURED_LEAF = (
    "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This is "
    "currently not supported."
)


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
    if not task.leaves:
        task.check_ends(targets or ())
    if targets is not None:
        task.restrict(targets, capture)
    else:
        task.last = _last_before(task.leaves, task.nodes)
        if node_base.levels_in_use:
            task.leave_out_what_is_over()
    if node_base.refusals_in_use:
        task.refuse_early()
    return run_nested(lambda: _run_in_mode(task, create_graph))


def _run_in_mode(task: Pass, create_graph: bool) -> list[Any]:
    """Run a pass, with grad mode as it has to be, and leave everything in this thread as it was."""
    grad_enabled = _thread.grad_enabled
    state.set_grad_enabled(create_graph)
    outer, running.task = running.task, task
    if create_graph:
        state.count_recorded_pass(1)
    try:
        _run(task)
        for callback in task.callbacks:
            callback()
    finally:
        if create_graph:
            state.count_recorded_pass(-1)
        state.set_grad_enabled(grad_enabled)
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
    nodes, last, keep_graph, wanted = task.nodes, task.last, task.keep_graph, task.wanted
    watched = state.anomaly_enabled
    captures, needed = task.captures, task.needed
    add = _add_recorded if _thread.grad_enabled or state.active_modes else _add
    arrived: dict[Any, Any] = {}  # node -> the gradient of its output, or the list of those of its outputs; see `_add`
    take = arrived.pop
    finishers = sorted(set(last.values()), key=_by_sequence)  # nodes after which leaves have all their gradients
    finisher = finishers.pop() if finishers else None
    while nodes:
        node = nodes.pop()
        grad = take(node, None)
        edges = node.next_edges
        if wanted is not None:
            edges = tuple([edge if edge is not None and edge[0] in wanted else None for edge in edges])
        is_asked_for = wanted is not None and (node in captures or (needed is not None and node not in needed))
        if watched or is_asked_for or type(grad) is not Tensor or (node_base.extras_in_use and node.extras):
            results = _run_watched(task, node, edges, _grads_of(node, grad))
            if results is None:
                continue
        else:
            results = node.apply(edges, grad)
        if not keep_graph:
            node._mt_saved = None
        for edge, grad in zip(edges, results):
            if edge is None or grad is None:
                continue
            target, output_nr, shape, dtype = edge
            array = grad._mt_array
            if array.shape != shape or array.dtype is not dtype:
                if shape is None:
                    _hand_over(arrived, grad, node, edge)
                    continue
                grad = fit_gradient(grad, shape, dtype, node, edge)
                array = grad._mt_array
            held = arrived.get(target)
            if held is None:
                arrived[target] = grad
            elif type(held) is Waiting and len(held) < _MOST_WAITING and type(array) is Array:
                held.append(array)
            else:
                arrived[target] = add(held, grad)
        if node is finisher:
            # A leaf may take over a gradient that nothing else refers to, so nothing here may.
            results = grad = held = array = None
            for edge in edges:
                if edge is not None and last.get(edge[0]) is node:
                    del last[edge[0]]
                    _run_leaf(task, edge[0], _received(arrived.pop(edge[0], None)), node, edge)
            finisher = finishers.pop() if finishers else None


def _grads_of(node: Any, held: Any) -> list:
    """The gradients of all outputs of a node, given what has arrived for it."""
    if node.output_shape is None:
        return [None] * len(node.outputs) if held is None else held
    return _received(held)


def _received(held: Any) -> list:
    """The gradient of the only output of a node, as the only element of a list that is not shared."""
    if type(held) is Waiting:
        return [_sum_of(held)]
    return [held.grad if type(held) is OwnSum else held]


def _sum_of(waiting: Waiting) -> Tensor:
    first = waiting[0]
    try:
        joined = np.frombuffer(b"".join(waiting), first.dtype)  # three times as fast as NumPy puts many together
    except TypeError:  # one is not contiguous
        joined = np.concatenate([array.reshape(-1) for array in waiting])
    return wrap(_sum_kernels[Array](joined.reshape(len(waiting), *first.shape), (0,), False, None))


def _hand_over(arrived: dict[Any, Any], grad: Tensor, node: Any, edge: tuple) -> None:
    """Give a gradient to a node that takes those of several outputs."""
    target, output_nr, *_ = edge
    shape, dtype = target.outputs[output_nr]
    grad = fit_gradient(grad, shape, dtype, node, edge)
    held = arrived.setdefault(target, [None] * len(target.outputs))
    held[output_nr] = grad if held[output_nr] is None else _add_recorded(held[output_nr], grad)


def _add_recorded(earlier: Any, grad: Any) -> Any:
    """The sum of two gradients as an op. A dense one comes first: sparse + dense is not defined."""
    return grad + earlier if earlier.is_sparse else earlier + grad


def _add(held: Any, grad: Tensor) -> Any:
    """The same when nothing is recorded: what is to be kept for the node. See Note [Sums of gradients]."""
    array = grad._mt_array
    kind = type(array)
    if type(held) is OwnSum and type(held.grad._mt_array) is kind:
        total = held.grad._mt_array
        if grad._mt_kind and kind_of(held.grad) is grad._mt_kind:
            try:
                _add_kernels.direct(total, array, total)
                return held
            except FAST_PATH_FAILED:
                pass
        _add_kernels[kind](total, array, 1, total)
        return held
    (earlier,) = _received(held)
    if type(earlier._mt_array) is not kind:
        return _add_recorded(earlier, grad)
    if kind is Array and _may_wait(earlier._mt_array, array):
        return Waiting((_contiguous(earlier._mt_array), _contiguous(array)))
    return OwnSum(wrap(_add_kernels[kind](earlier._mt_array, array, 1)))


def _may_wait(earlier: Array, array: Array) -> bool:
    """Whether two gradients of the same value are small, and their sum is row-major."""
    if array.size > _SMALL or array.dtype is not earlier.dtype or array.dtype not in _SUMMED:
        return False
    return _is_row_major(earlier) and _is_row_major(array)


def _contiguous(array: Array) -> Array:
    return array if array.flags.c_contiguous else array.copy()


def _is_row_major(array: Array) -> bool:
    """Whether an array is in row-major order, or has the same number everywhere, as the gradient of a sum."""
    return array.flags.c_contiguous or not any(array.strides)


def _run_watched(task: Pass, node: Any, edges: tuple, grads: list) -> tuple | None:
    """Run a node that has hooks, or whose gradient is to be captured, or in anomaly mode. None: it only was
    captured. The edges are those that the pass follows."""
    runs = task.needed is None or node in task.needed
    if not runs and node_base.extras_in_use:
        _run_tensor_hooks(node, grads)
    for output_nr, position in task.captures.get(node, ()):
        task.captured[position] = grads[output_nr]
    if not runs:
        return None
    if not node_base.extras_in_use:
        return anomaly_mode.apply_checked(node, edges, grads) if state.anomaly_enabled else node.apply(edges, *grads)
    _run_tensor_hooks(node, grads)
    extras = node.extras
    if extras and extras.pre_hooks:
        grads = run_pre_hooks(extras.pre_hooks.values(), grads)  # type: ignore[assignment]
    results = anomaly_mode.apply_checked(node, edges, grads) if state.anomaly_enabled else node.apply(edges, *grads)
    if extras and extras.hooks:
        results = run_post_hooks(extras.hooks.values(), _sent_on(node, edges, fit_gradients(node, results)), grads)
    return results


def _sent_on(node: Any, edges: tuple, results: tuple) -> tuple:
    """The gradients that hooks see. A formula of one input does not ask whether its gradient gets anywhere, and hooks
    of an op see none if it does not; a Function gives what it gives, and the formula of a list of tensors the
    gradients of all, if that of any gets somewhere."""
    if node.several or (node.of_list and any(edges)):
        return results
    return tuple([None if edge is None else grad for edge, grad in zip(edges, results)])


def _run_tensor_hooks(node: Any, grads: list) -> None:
    """Run the hooks of the tensors whose gradients these are, then store those that `retain_grad` asked for."""
    extras = node.extras
    if extras is None:
        return
    for output_nr, hooks in extras.tensor_hooks:
        grads[output_nr] = run_tensor_hooks(hooks.values(), grads[output_nr])
    for output_nr, reference in tuple(extras.retained.items()):
        tensor = reference()
        if tensor is not None and grads[output_nr] is not None:
            _retain(tensor._mt_meta, grads[output_nr])


def _retain(meta: Any, grad: Tensor) -> None:
    with meta.storing or storing_lock(meta):
        if meta.grad is None:
            meta.grad = grad.clone() if grad.is_sparse else grad.clone(memory_format=contiguous_format)
        else:
            meta.grad = meta.grad + grad


def _run_leaf(task: Pass, leaf: Any, gradients: list, node: Any, edge: tuple) -> None:
    if not leaf.accumulates:  # it only refuses
        _run_watched(task, leaf, leaf.next_edges, _grads_of(leaf, gradients[0]))
        return
    if gradients[0] is not None and type(gradients[0]._mt_array) is not type(leaf.array):
        check_device(gradients[0], leaf, node, edge)
    if task.needed is None or leaf in task.needed:
        leaf.receive(gradients)
        return
    grad = leaf.capture(gradients[0])
    for _, position in task.captures.get(leaf, ()):
        task.captured[position] = grad
