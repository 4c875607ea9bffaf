"""What backward passes share: a pass changes nothing of it but what it is to change, and threads lose nothing.

tests/ops/test_threads.py runs two passes over the graph of every op. MINDTORCH_REPEATS=1000 looks for rarer faults.
"""

import os
import threading

import numpy as np
import pytest

import mindtorch as torch
from mindtorch.autograd._engine.node_base import NodeBase
from tests.concurrent import quick_changes, run_together

THREADS = 4
REPEATS = int(os.environ.get("MINDTORCH_REPEATS", "150"))
SECOND_BACKWARD = "Trying to backward through the graph a second time"


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x, factor)
        ctx.note = "of forward"
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        x, factor = ctx.saved_tensors
        return grad * factor, grad * x


def leaves():
    return [torch.tensor([0.5, 1.5, 2.5], dtype=torch.float64, requires_grad=True) for _ in range(3)]


def varied_graph(x, y, z):
    """A graph with nodes of all kinds: of one output and of several, a Function's, CopySlices, lists."""
    kept = (x.sigmoid() * y).exp()
    written = kept.clone()
    written[1:].mul_(z[1:])
    first, second = torch.stack([Scaled.apply(written, y), z]).unbind(0)
    low = torch.clamp(first, torch.zeros(3, dtype=torch.float64), second.abs() + 10)
    return torch.addcmul(torch.cat([low, second]).sum(), x, y).norm() + low.var()


def nodes_from(output):
    """All nodes of a graph, those inside of others included."""
    found = [output.grad_fn]
    for node in found:
        inner = [each for each in getattr(node, "_mt_saved", None) or () if isinstance(each, NodeBase)]
        found += [each for each in [*inner, *(edge[0] for edge in node.next_edges if edge)] if each not in found]
    return found


def fields_of(node):
    """Everything that a node has, by identity: its slots and what is in its dictionary."""
    slots = [name for cls in type(node).__mro__ for name in cls.__dict__.get("__slots__", ()) if name != "__weakref__"]
    fields = {name: getattr(node, name) for name in slots if hasattr(node, name)}
    return fields | vars(node) if hasattr(node, "__dict__") else fields


def changes(before):
    """The fields that are other objects than they were, as (class of the node, name)."""
    found = set()
    for node, fields in before.items():
        now = fields_of(node)
        names = fields.keys() | now.keys()
        found |= {(type(node).__name__, name) for name in names if fields.get(name) is not now.get(name)}
    return found


class TestWhatAPassWrites:
    @pytest.fixture
    def graph(self):
        """Inputs, output, what each node has, and what has changed of that when a node looked for what it had saved."""
        before, seen = {}, []

        def unpack(tensor):
            seen.append(changes(before))
            return tensor

        inputs = leaves()
        with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, unpack):
            output = varied_graph(*inputs)
        before.update({node: fields_of(node) for node in nodes_from(output)})
        return inputs, output, before, seen

    def test_the_graph_has_nodes_of_all_kinds(self, graph):
        names = {node.name().rpartition("::")[2] for node in graph[2]}
        assert {"CopySlices", "ScaledBackward", "UnbindBackward0", "StackBackward0", "AccumulateGrad"} <= names

    @pytest.mark.parametrize("places", [[0], [1], [2], [0, 2], [0, 1, 2]])
    def test_a_restricted_pass_that_keeps_the_graph_writes_nothing(self, graph, places):
        inputs, output, before, seen = graph
        torch.autograd.grad(output, [inputs[place] for place in places], retain_graph=True)
        assert len(seen) > 10 and not any(seen)
        assert not changes(before)

    def test_nor_do_hooks_see_anything(self, graph):
        inputs, output, before, seen = graph
        for node in [node for node in before if node.next_edges]:
            node.register_prehook(lambda grads: seen.append(changes(before)))
            node.register_hook(lambda results, grads: seen.append(changes(before)))
        before.update({node: fields_of(node) for node in before})
        torch.autograd.grad(output, inputs[:1], retain_graph=True)
        assert len(seen) > 20 and not any(seen)

    def test_nor_does_a_pass_for_all_leaves(self, graph):
        _, output, before, seen = graph
        output.backward(retain_graph=True)
        assert not any(seen) and not changes(before)

    def test_nor_does_one_that_fails(self, graph):
        inputs, output, before, _ = graph
        output.grad_fn.next_functions[0][0].register_prehook(lambda grads: 1 / 0)
        before.update({node: fields_of(node) for node in before})
        with pytest.raises(ZeroDivisionError):
            torch.autograd.grad(output, inputs[:1], retain_graph=True)
        assert not changes(before)

    def test_one_that_frees_the_graph_takes_what_nodes_have_saved(self, graph):
        inputs, output, before, seen = graph
        torch.autograd.grad(output, inputs[:1])
        found = changes(before).union(*seen)
        assert ("MulBackward0", "_mt_saved") in found and {name for _, name in found} == {"_mt_saved"}


class TestPassesTogether:
    def test_stored_gradients_are_complete(self):
        inputs = leaves()
        graphs = [varied_graph(*inputs) for _ in range(THREADS)]
        expected = [THREADS * REPEATS * grad for grad in torch.autograd.grad(graphs[0], inputs, retain_graph=True)]
        stored = run_together(
            *(lambda graph=graph: (graph.backward(retain_graph=True), inputs[0].grad)[1] for graph in graphs),
            repeats=REPEATS,
        )
        for leaf, grad in zip(inputs, expected, strict=True):
            assert torch.allclose(leaf.grad, grad, rtol=1e-10)
        assert {id(grad) for found in stored for grad in found} == {id(inputs[0].grad)}

    def test_so_are_those_of_inner_tensors(self):
        x, y, z = leaves()
        inner = x * y
        inner.retain_grad()
        graphs = [(inner * z).sum() for _ in range(THREADS)]
        run_together(*(lambda graph=graph: graph.backward(retain_graph=True) for graph in graphs), repeats=REPEATS)
        assert torch.allclose(inner.grad, THREADS * REPEATS * z)

    def test_a_view_that_is_a_leaf_has_one_node(self):
        """Threads that are the first to use it store in the same `.grad`."""
        for _ in range(REPEATS):
            with torch.no_grad():
                leaf = torch.zeros(4, dtype=torch.float64)[1:]
            leaf.requires_grad_()
            nodes = run_together(*[lambda leaf=leaf: (leaf * 2).grad_fn.next_functions[0][0]] * THREADS)
            assert len({id(node) for (node,) in nodes}) == 1

    def test_a_view_of_a_written_base_is_taken_again_once(self):
        for _ in range(REPEATS):
            base = torch.zeros(3, requires_grad=True) * 1
            view = base[1:]
            base.mul_(2)
            assert len({id(node) for (node,) in run_together(*[lambda view=view: view.grad_fn] * THREADS)}) == 1

    def test_views_share_one_version(self):
        """In whichever thread they were made, they know of writes."""
        for _ in range(REPEATS):
            weight = torch.zeros(2, 3)
            views = run_together(*[lambda weight=weight: weight.t()] * THREADS)
            weight.add_(1)
            assert [view._version for (view,) in views] == [1] * THREADS

    def test_hooks_of_one_node_are_all_there(self):
        for _ in range(REPEATS):
            x, seen = torch.ones(1, requires_grad=True), []
            y = x * 2
            hook = lambda *_, seen=seen: seen.append(1)  # noqa: E731
            run_together(*[lambda y=y, hook=hook: y.grad_fn.register_hook(hook)] * THREADS)
            y.backward()
            assert len(seen) == THREADS


class TestGraphsThatAreFreedMeanwhile:
    @pytest.mark.parametrize("packed", [False, True])
    def test_gradients_or_the_error(self, packed):
        """Several passes over a graph that is not retained: one has its gradients, each other one these or an error."""
        outcomes = [self.outcomes(packed) for _ in range(REPEATS)]
        assert all("gradients" in found for found in outcomes)
        assert {each for found in outcomes for each in found} <= {"gradients", "error"}

    def outcomes(self, packed):
        inputs = leaves()
        hooks = torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor * 1)
        if packed:
            with hooks:
                output = varied_graph(*inputs)
        else:
            output = varied_graph(*inputs)
        expected = torch.autograd.grad(output, inputs, retain_graph=True)

        def run():
            try:
                found = torch.autograd.grad(output, inputs)
            except RuntimeError as error:
                return "error" if SECOND_BACKWARD in str(error) else str(error)
            return "gradients" if all(map(torch.equal, found, expected)) else "wrong gradients"

        return [result for (result,) in run_together(*[run] * THREADS)]


class Waiting(torch.nn.Module):
    """Two threads that go back through one call of this module meet in the middle."""

    def __init__(self):
        super().__init__()
        self.meeting = threading.Barrier(2)

    def forward(self, x):
        inner = x * 2
        inner.register_hook(self.wait)
        return inner * 3

    def wait(self, grad):
        self.meeting.wait(timeout=60)


def test_hooks_of_a_module_see_the_gradients_of_their_own_pass():
    module, x = Waiting(), torch.ones(1, requires_grad=True)
    seen = threading.local()
    module.register_full_backward_hook(lambda module, grads, outputs: setattr(seen, "value", outputs[0].item()))
    output = module(x)

    def run_with(number):
        seen.value = None
        torch.autograd.grad(output, x, torch.tensor([number]), retain_graph=True)
        return seen.value

    assert run_together(lambda: run_with(1.0), lambda: run_with(2.0), repeats=3) == [[1.0] * 3, [2.0] * 3]


def test_a_registered_op_sees_its_own_arguments_in_all_threads():
    meeting, seen = threading.Barrier(2), []
    with torch.library._scoped_library("threads_test", "FRAGMENT") as library:
        library.define("twice(Tensor x, Tensor y) -> Tensor")
        library.impl("twice", lambda x, y: x * 2 + y, "CPU")

        def backward(ctx, grad):
            meeting.wait(timeout=60)
            seen.append(ctx.needs_input_grad)
            return grad * 2, None

        torch.library.register_autograd("threads_test::twice", backward, lib=library)
        x = torch.ones(2, requires_grad=True)
        output = torch.ops.threads_test.twice(x, torch.ones(2))
        start = torch.ones(2)
        passes = [lambda: torch.autograd.grad(output, x, start, retain_graph=True)] * 2
        run_together(*passes, repeats=5)
    assert seen == [(True, False)] * 10


def test_the_restricted_sums_of_two_threads():
    """The case from which the rest follows: each thread wants one factor of every product."""
    inputs = [torch.from_numpy(np.random.RandomState(i).rand(3)).requires_grad_() for i in range(2)]
    output = inputs[0]
    for _ in range(20):
        output = output * inputs[1] + inputs[0]
    start = torch.ones_like(output)
    passes = [lambda leaf=leaf: torch.autograd.grad(output, leaf, start, retain_graph=True)[0] for leaf in inputs]
    expected = [run() for run in passes]
    with quick_changes():
        for alone, together in zip(expected, run_together(*passes, repeats=REPEATS), strict=True):
            assert all(torch.equal(alone, found) for found in together)


def calls_of_hooks(leaf, result):
    """What the hooks note in a pass, when all of them are registered at once."""
    called = []
    run_together(
        *[lambda: result.register_hook(lambda grad: called.append("result"))] * THREADS,
        *[lambda: leaf.register_hook(lambda grad: called.append("leaf"))] * THREADS,
        *[lambda: leaf.register_post_accumulate_grad_hook(lambda leaf: called.append("after"))] * THREADS,
    )
    result.sum().backward()
    return called


def test_hooks_that_threads_register_at_once_are_all_called():
    for _ in range(REPEATS):
        leaf = torch.ones(2, requires_grad=True)
        assert calls_of_hooks(leaf, leaf * 2) == ["result"] * THREADS + ["leaf"] * THREADS + ["after"] * THREADS
