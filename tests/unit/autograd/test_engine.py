"""The engine: the order in which nodes run, what is kept and freed, restricted passes, errors, deep graphs."""

import gc
import threading
import weakref

import pytest

import mindtorch as torch
from mindtorch.autograd._engine.execution import Pass, queue_callback
from mindtorch.autograd._engine.history import edge_of
from mindtorch.autograd._engine.node import Node as GeneratedNode
from mindtorch.autograd._engine.node_base import next_sequence_nr
from mindtorch.autograd.graph import Node, get_gradient_edge


def leaf(*numbers):
    return torch.tensor([float(number) for number in numbers]).requires_grad_()


class TestValues:
    def test_chain(self):
        x = leaf(1, 2, 3)
        ((x * x) * x).sum().backward()
        assert x.grad.tolist() == [3, 12, 27]

    def test_shared_subgraph(self):
        x = leaf(2)
        y = x * 3
        (y * y + y).sum().backward()
        assert x.grad.tolist() == [39]

    @pytest.mark.parametrize(
        ("one", "other"), [((3,), (4, 1, 3)), ((2, 1), (3,)), ((), (2, 2)), ((1, 3), (2, 3)), ((0, 3), (1, 3))]
    )
    def test_broadcast_gradients_are_summed(self, one, other):
        x, y = torch.ones(one).requires_grad_(), torch.ones(other).requires_grad_()
        z = x * y
        z.sum().backward()
        assert x.grad.shape == x.shape and y.grad.shape == y.shape
        assert x.grad.sum().item() == y.grad.sum().item() == z.numel()

    def test_gradients_are_cast(self):
        x = leaf(1, 2)
        (x.to(torch.float64) * x.to(torch.float16)).sum().backward()
        assert x.grad.dtype is torch.float32 and x.grad.tolist() == [2, 4]

    def test_only_the_used_output(self):
        x = torch.ones(3, 2).requires_grad_()
        rows = x.unbind()
        (rows[1] * 2).sum().backward()
        assert rows[1].grad_fn is rows[2].grad_fn and rows[1].output_nr == 1
        assert x.grad.tolist() == [[0, 0], [2, 2], [0, 0]]

    def test_the_same_output_twice(self):
        x = leaf(1)
        y = x * 2
        assert torch.autograd.grad([y, y], x, [torch.ones(1), torch.ones(1) * 3])[0].tolist() == [8]


class TestOrder:
    def test_later_nodes_run_first(self):
        seen = []
        x = leaf(1)
        values = [x]
        for number in range(5):
            values.append(values[-1] * 2)
            values[-1].register_hook(lambda grad, number=number: seen.append(number))
        sum(values[1:]).sum().backward()
        assert seen == [4, 3, 2, 1, 0]

    def test_a_leaf_runs_as_soon_as_it_can(self):
        seen = []
        early, late = leaf(1), leaf(1)
        early.register_hook(lambda grad: seen.append("early"))
        late.register_hook(lambda grad: seen.append("late"))
        y = late * 2
        y.register_hook(lambda grad: seen.append("y"))
        (y * early).sum().backward()
        assert seen == ["early", "y", "late"]

    def test_every_node_has_a_higher_number_than_its_inputs(self):
        x = leaf(1, 2, 3)
        y = x.clone()
        y[1:].mul_(y[:2].exp())
        nodes, pending = set(), [y.grad_fn]
        while pending:
            node = pending.pop()
            for target, _ in node.next_functions:
                if target is not None and target not in nodes:
                    assert target._sequence_nr() < node._sequence_nr() or target.accumulates
                    nodes.add(target)
                    pending.append(target)
        assert len(nodes) == 4


class TestKeeping:
    def test_second_backward(self):
        y = (leaf(1) * leaf(2)).sum()
        y.backward()
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
            y.backward()

    def test_retain_graph(self):
        x = leaf(3)
        y = (x * x).sum()
        y.backward(retain_graph=True)
        first = x.grad
        y.backward()
        assert x.grad is first and x.grad.tolist() == [12]

    def test_create_graph_keeps_the_graph(self):
        x = leaf(3)
        y = (x * x * x).sum()
        (first,) = torch.autograd.grad(y, x, create_graph=True)
        (again,) = torch.autograd.grad(y, x)
        assert first.tolist() == again.tolist() == [27] and first.grad_fn is not None and again.grad_fn is None

    def test_buffers_are_freed_during_the_pass(self):
        x = leaf(1, 2)
        hidden = x.exp()
        reference = weakref.ref(hidden)
        y = (hidden * hidden).exp()
        del hidden
        seen = []
        x.register_hook(lambda grad: seen.append(reference() is None))
        y.sum().backward()
        assert seen == [True]

    def test_no_reference_cycles(self):
        gc.collect()
        gc.disable()
        try:
            x = leaf(1, 2)
            y = x * 2
            y[0].exp_()
            z = (y.tanh() * y).sum()
            node = weakref.ref(y.grad_fn)
            z.backward(retain_graph=True)
            z.backward()
            del y, z
            assert node() is None
        finally:
            gc.enable()

    def test_long_chain_runs_and_is_freed(self):
        x = leaf(1)
        y = x
        for _ in range(100_000):
            y = y + x
        node = weakref.ref(y.grad_fn)
        y.sum().backward()
        assert x.grad.tolist() == [100_001]
        del y
        assert node() is None

    def test_unused_long_chain_is_freed(self):
        y = leaf(1)
        for _ in range(100_000):
            y = y.neg()
        node = weakref.ref(y.grad_fn)
        del y
        assert node() is None


class TestRestrictedPasses:
    def test_grad_touches_nothing(self):
        x, y = leaf(2), leaf(3)
        assert torch.autograd.grad((x * y).sum(), [y, x])[0].tolist() == [2]
        assert x.grad is None and y.grad is None

    def test_backward_with_inputs(self):
        x, y, seen = leaf(2), leaf(3), []
        y.register_hook(seen.append)
        z = x * y
        (z * z).sum().backward(inputs=[x, z])
        assert x.grad.tolist() == [36] and y.grad is None and z.grad.tolist() == [12] and not seen

    def test_unwanted_formulas_do_not_run(self):
        class Refuses(GeneratedNode):
            def apply(node, edges, grad):
                return None, (1 / 0 if edges[0] else grad)

        x, y = leaf(1), leaf(1)
        node = Refuses()
        node.sequence_nr, node.next_edges = next_sequence_nr(), (edge_of(x), edge_of(y))
        node.output_shape, node.output_dtype = (1,), y._mt_array.dtype
        edge = torch.autograd.graph.GradientEdge(node, 0)
        assert torch.autograd.grad(edge, y, torch.ones(1), retain_graph=True)[0].tolist() == [1]
        with pytest.raises(ZeroDivisionError):
            torch.autograd.grad(edge, x, torch.ones(1), retain_graph=True)

    def test_part_of_an_in_place_written_graph(self):
        x, factor = leaf(1, 2, 3), leaf(5, 6)
        y = x.clone()
        y[:2].mul_(factor)
        loss = (y * y).sum()
        assert torch.autograd.grad(loss, x, retain_graph=True)[0].tolist() == [50, 144, 6]
        assert torch.autograd.grad(loss, factor)[0].tolist() == [10, 48]

    def test_unused_inputs(self):
        x, other = leaf(1), leaf(1)
        with pytest.raises(RuntimeError, match="The differentiated Tensor at index 1 appears to not have been used"):
            torch.autograd.grad(x.sum(), [x, other])
        assert torch.autograd.grad(x.sum(), [x, other], allow_unused=True)[1] is None
        zeros = torch.autograd.grad(x.sum(), [x, other], materialize_grads=True)[1]
        assert zeros.tolist() == [0] and not zeros.requires_grad

    def test_a_batch_of_gradients(self):
        x = leaf(1, 2)
        y = x * x
        (rows,) = torch.autograd.grad(y, x, torch.eye(2), is_grads_batched=True)
        assert rows.tolist() == [[2, 0], [0, 4]]


class TestErrors:
    @pytest.mark.parametrize(
        ("gradient", "text"),
        [
            (lambda: torch.ones(2), r"index 0 - got \[2\] but expected shape compatible with \[3\]"),
            (lambda: torch.ones(3, device="meta"), r"index 0 - expected device \S+ but got meta"),
        ],
    )
    def test_invalid_gradients(self, gradient, text):
        class Invalid(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.clone()

            @staticmethod
            def backward(ctx, grad):
                return gradient()

        with pytest.raises(RuntimeError, match="Function InvalidBackward returned an invalid gradient at " + text):
            Invalid.apply(leaf(1, 2, 3)).sum().backward()

    def test_an_exception_restores_everything(self):
        x = leaf(1)
        y = x * 2

        def fail(grad):
            raise ValueError("from a hook")

        handle = y.register_hook(fail)
        with pytest.raises(ValueError, match="from a hook"):
            torch.autograd.grad(y.sum(), x)
        assert torch.is_grad_enabled()
        handle.remove()
        (y * 1).sum().backward()
        assert x.grad.tolist() == [2]

    def test_callbacks_only_during_a_pass(self):
        with pytest.raises(RuntimeError, match="Final callbacks can only be installed during backward pass."):
            queue_callback(print)

    def test_callbacks_run_at_the_end(self):
        x, seen = leaf(1), []
        y = x * 2
        y.register_hook(lambda grad: queue_callback(lambda: seen.append("end")))
        x.register_hook(lambda grad: seen.append("leaf"))
        y.sum().backward()
        assert seen == ["leaf", "end"]


class TestReentrance:
    def test_backward_in_a_hook(self):
        x, seen = leaf(3), []

        def hook(grad):
            with torch.enable_grad():
                inner = x.detach().requires_grad_()
                (inner * inner).sum().backward()
                seen.append(inner.grad.item())

        y = x * 2
        y.register_hook(hook)
        y.sum().backward()
        assert seen == [6] and x.grad.tolist() == [2]

    def test_any_depth(self):
        class Deep(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                with torch.enable_grad():
                    ctx.x = (x.detach() - 1).requires_grad_()
                return ctx.x.detach()

            @staticmethod
            def backward(ctx, grad):
                if ctx.x.item() < 0:
                    return grad
                with torch.enable_grad():
                    Deep.apply(ctx.x).sum().backward()
                return ctx.x.grad

        x = leaf(300)
        Deep.apply(x).sum().backward()
        assert x.grad.tolist() == [1]


class TestThreads:
    def test_many_threads_add_to_one_leaf(self):
        x = leaf(1, 2)

        def work():
            for _ in range(50):
                (x * 3).sum().backward()

        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert x.grad.tolist() == [600, 600]

    def test_backward_keeps_grad_mode_per_thread(self):
        x, seen = leaf(1), []

        def work():
            seen.append(torch.is_grad_enabled())

        def hook(grad):
            worker = threading.Thread(target=work)
            worker.start()
            worker.join()

        y = x * 2
        y.register_hook(hook)
        y.sum().backward()
        assert seen == [True]


class TestNodes:
    def test_what_users_see(self):
        x = leaf(1)
        node = (x * 2).grad_fn
        accumulate = node.next_functions[0][0]
        assert isinstance(node, Node) and isinstance(accumulate, Node)
        assert node.name() == "MulBackward0" and repr(node).startswith("<MulBackward0 object at 0x")
        assert accumulate.name() == "torch::autograd::AccumulateGrad" and accumulate.variable is x
        assert node.next_functions == ((accumulate, 0), (None, 0))
        assert node._input_metadata[0].shape == (1,) and node._input_metadata[0].dtype is torch.float32
        assert node.metadata == {} and node.metadata is node.metadata and node.requires_grad

    def test_calling_a_node(self):
        node = (leaf(1, 2) * 3).grad_fn
        assert node(torch.ones(2))[0].tolist() == [3, 3]
        with pytest.raises(TypeError, match="expected 1 arguments, got 2 instead"):
            node(torch.ones(2), None)
        with pytest.raises(TypeError, match="argument 0 is not a Variable"):
            node(1.0)

    def test_a_leaf_has_one_node_at_a_time(self):
        x = leaf(1)
        y, z = x * 2, x * 3
        assert y.grad_fn.next_functions[0][0] is z.grad_fn.next_functions[0][0]

    def test_a_pass_knows_what_it_will_reach(self):
        x, y = leaf(1), leaf(1)
        seen = []
        z = x * y

        def hook(grad):
            task: Pass = torch.autograd.graph.running.task
            seen.append([task.will_reach(get_gradient_edge(each).node) for each in (x, y, leaf(1))])

        z.register_hook(hook)
        z.sum().backward()
        assert seen == [[True, True, False]]
