"""Hooks on tensors, nodes and leaves: when they run, what they see, what they may return."""

import copy
import pickle
from collections import OrderedDict

import pytest

import mindtorch as torch
from mindtorch.autograd._engine.hooks import RemovableHandle


def leaf(*numbers):
    return torch.tensor([float(number) for number in numbers]).requires_grad_()


class TestTensorHooks:
    def test_a_hook_may_replace_the_gradient(self):
        x, seen = leaf(1, 2), []
        y = x * 3
        y.register_hook(lambda grad: seen.append(grad.tolist()))
        y.register_hook(lambda grad: grad * 10)
        y.register_hook(lambda grad: seen.append(grad.tolist()))
        y.sum().backward()
        assert seen == [[1, 1], [10, 10]] and x.grad.tolist() == [30, 30]

    @pytest.mark.parametrize("write", ["y.mul_(2)", "y.detach().mul_(2); y.add_(0)", "y[2:].mul_(2)"])
    def test_on_a_view_that_is_taken_again(self, write):
        """PyTorch ends the process here."""
        x, seen = leaf(1, 1, 1, 1), []
        y = x * 1
        view = y[:2]
        exec(write)
        view.register_hook(lambda grad: seen.append(grad.tolist()))
        view.register_hook(lambda grad: grad * 10)
        view.sum().backward()
        factor = 20 if write == "y.mul_(2)" else 10
        assert seen == [[1, 1]] and x.grad.tolist() == [factor, factor, 0, 0]

    def test_on_a_leaf(self):
        x = leaf(1)
        x.register_hook(lambda grad: grad * 2)
        (x * 3 + x).sum().backward()
        assert x.grad.tolist() == [8]

    def test_registered_before_the_graph(self):
        x, seen = leaf(1), []
        x.register_hook(lambda grad: seen.append(1))
        (x * 2).sum().backward()
        (x * 3).sum().backward()
        assert seen == [1, 1]

    def test_removal(self):
        x, seen = leaf(1), []
        y = x * 2
        handle = y.register_hook(lambda grad: seen.append(1))
        handle.remove()
        handle.remove()
        with y.register_hook(lambda grad: seen.append(2)):
            y.sum().backward(retain_graph=True)
        y.sum().backward()
        assert seen == [2]

    def test_a_hook_may_remove_itself(self):
        x, seen = leaf(1), []

        def once(grad):
            seen.append(1)
            handle.remove()

        handle = x.register_hook(once)
        (x * 2).sum().backward()
        (x * 2).sum().backward()
        assert seen == [1]

    @pytest.mark.parametrize(
        ("result", "error", "text"),
        [
            (lambda: 3, TypeError, "expected Variable, but hook returned 'int'"),
            (lambda: torch.ones(2), RuntimeError, "hook '<lambda>' has changed the size of value"),
            (
                lambda: torch.ones(1, dtype=torch.float64),
                RuntimeError,
                r"has changed the type of value \(was torch.FloatTensor got torch.DoubleTensor\)",
            ),
        ],
    )
    def test_wrong_results(self, result, error, text):
        y = leaf(1) * 2
        y.register_hook(lambda grad: result())
        with pytest.raises(error, match=text):
            y.sum().backward()

    def test_a_tensor_without_grad(self):
        with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require gradient"):
            torch.ones(1).register_hook(print)

    def test_captured_gradients(self):
        x = leaf(1)
        y = x * 2
        y.register_hook(lambda grad: grad * 10)
        z = (y * 3).sum()
        assert torch.autograd.grad(z, y, retain_graph=True)[0].tolist() == [30]
        # A node that also runs, because x needs it, is asked before its hooks.
        assert [grad.tolist() for grad in torch.autograd.grad(z, [y, x])] == [[3], [60]]

    def test_a_leafs_hooks_run_once_in_grad(self):
        x, seen = leaf(1), []
        x.register_hook(lambda grad: (seen.append(1), grad * 2)[1])
        assert torch.autograd.grad((x * 3 + x).sum(), x)[0].tolist() == [8] and seen == [1]


class TestInPlace:
    def test_old_hooks_stay_with_the_old_value(self):
        x, seen = leaf(1), []
        y = x * 2
        y.register_hook(lambda grad: seen.append(("old", grad.item())))
        y.retain_grad()
        y.mul_(5)
        assert y._backward_hooks is None
        y.register_hook(lambda grad: seen.append(("new", grad.item())))
        y.sum().backward()
        assert seen == [("new", 1), ("old", 5)] and y.grad.tolist() == [1]

    def test_views(self):
        x, seen = leaf(1, 2), []
        y = x * 2
        y.retain_grad()
        view = y[:1]
        view.retain_grad()
        view.register_hook(lambda grad: seen.append("old"))
        view.mul_(5)
        view.register_hook(lambda grad: seen.append("new"))
        (y.sum() + view.sum()).backward()
        assert seen == ["new"] and y.grad.tolist() == [2, 1] and view.grad.tolist() == [1]


class TestRetainGrad:
    def test_fills_grad(self):
        y = leaf(1) * 2
        y.retain_grad()
        y.retain_grad()
        (y * 3).sum().backward()
        assert y.retains_grad and y.grad.tolist() == [3]

    def test_after_all_hooks(self):
        y = leaf(1) * 2
        y.retain_grad()
        y.register_hook(lambda grad: grad * 7)
        y.sum().backward()
        assert y.grad.tolist() == [7]

    def test_leaves_and_constants(self):
        x = leaf(1)
        x.retain_grad()
        assert not x.retains_grad
        with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"):
            torch.ones(1).retain_grad()

    def test_reading_the_grad_of_a_non_leaf_warns(self):
        y = leaf(1) * 2
        with pytest.warns(
            UserWarning, match="The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"
        ):
            assert y.grad is None


class TestNodeHooks:
    def test_order(self):
        x, seen = leaf(1), []
        y = x * 2
        node = y.grad_fn.next_functions[0][0]
        x.register_hook(lambda grad: (seen.append("tensor"), grad * 2)[1])
        node.register_prehook(lambda grads: (seen.append("before"), (grads[0] * 3,))[1])
        node.register_hook(lambda results, grads: seen.append(("after", results, grads[0].item())))
        x.register_post_accumulate_grad_hook(lambda tensor: seen.append(("stored", tensor.grad.item())))
        y.sum().backward()
        assert seen == ["tensor", "before", ("stored", 12), ("after", (), 12)]

    def test_hooks_see_all_gradients(self):
        seen = []
        y = leaf(2) * leaf(3)
        y.grad_fn.register_prehook(lambda grads: seen.append([grad.item() for grad in grads]))
        y.grad_fn.register_hook(lambda results, grads: seen.append([grad.item() for grad in (*results, *grads)]))
        y.sum().backward()
        assert seen == [[1], [3, 2, 1]]

    def test_results_replace_gradients(self):
        x = leaf(1)
        y = x * 2
        y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
        y.grad_fn.register_hook(lambda results, grads: (results[0] + 1, None))
        y.sum().backward()
        assert x.grad.tolist() == [21]

    @pytest.mark.parametrize(
        ("result", "error", "text"),
        [
            (3, TypeError, "expected tuple, but hook returned 'int'"),
            ((), RuntimeError, r"has returned an incorrect number of values \(got 0, but expected 2\)"),
            ((3, None), TypeError, "expected Variable, but hook returned 'int'"),
            ((None, torch.ones(1)), RuntimeError, "can't replace a None gradient with a non-None value"),
        ],
    )
    def test_wrong_results(self, result, error, text):
        y = leaf(1) * 2
        y.grad_fn.register_hook(lambda results, grads: result)
        with pytest.raises(error, match=text):
            y.sum().backward()


class TestPostAccumulateHooks:
    def test_an_optimizer_step_in_the_hook(self):
        x = leaf(1, 2)

        def step(tensor):
            with torch.no_grad():
                tensor.sub_(tensor.grad)
            tensor.grad = None

        handle = x.register_post_accumulate_grad_hook(step)
        (x * 3).sum().backward()
        assert x.tolist() == [-2, -1] and x.grad is None
        handle.remove()
        (x * 3).sum().backward()
        assert x.grad.tolist() == [3, 3]

    def test_only_on_leaves(self):
        with pytest.raises(RuntimeError, match="post accumulate grad hooks cannot be registered on non-leaf tensors"):
            (leaf(1) * 2).register_post_accumulate_grad_hook(print)
        with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require gradient"):
            torch.ones(1).register_post_accumulate_grad_hook(print)

    def test_must_return_nothing(self):
        x = leaf(1)
        x.register_post_accumulate_grad_hook(lambda tensor: 3)
        with pytest.raises(TypeError, match="expected Variable, but hook returned 'int'"):
            x.sum().backward()


class TestMultiGradHooks:
    def register(self, tensors, mode):
        seen = []
        handle = torch.autograd.graph.register_multi_grad_hook(tensors, seen.append, mode=mode)
        return seen, handle

    def test_all(self):
        x, y, z = leaf(1), leaf(2), leaf(3)
        seen, handle = self.register((x, y, z), "all")
        (x * y).sum().backward()
        (x * z).sum().backward()
        handle.remove()
        (x * z).sum().backward()
        assert [[grad and grad.item() for grad in grads] for grads in seen] == [[2, 1, None], [3, None, 1]]

    def test_any(self):
        x, y = leaf(1), leaf(2)
        seen, _ = self.register((x, y), "any")
        (x * y).sum().backward()
        assert len(seen) == 1

    def test_a_restricted_pass(self):
        x, y = leaf(1) * 1, leaf(2) * 1
        seen, _ = self.register((x, y), "all")
        torch.autograd.grad((x * y).sum(), x)
        assert [[grad and grad.item() for grad in grads] for grads in seen] == [[2, None]]

    def test_a_leaf_whose_gradient_is_asked_for(self):
        x = leaf(1)
        self.register((x, leaf(2)), "all")
        with pytest.raises(RuntimeError, match="A leaf node was passed to _will_engine_execute_node"):
            torch.autograd.grad(x * 2, x)

    def test_unknown_mode(self):
        with pytest.raises(ValueError, match="Expects mode to be one of"):
            self.register((leaf(1),), "some")


class TestHandles:
    def test_extra_dictionaries(self):
        hooks, extra = OrderedDict(), OrderedDict()
        handle = RemovableHandle(hooks, extra_dict=extra)
        hooks[handle.id] = extra[handle.id] = print
        handle.remove()
        assert not hooks and not extra

    def test_a_dictionary_that_is_gone(self):
        hooks = OrderedDict()
        handle = RemovableHandle(hooks)
        del hooks
        handle.remove()

    def test_ids_are_unique_after_copies(self):
        hooks = OrderedDict()
        handle = RemovableHandle(hooks)
        other = pickle.loads(pickle.dumps(handle))
        assert other.id == handle.id and RemovableHandle(hooks).id > other.id
        assert copy.deepcopy(handle).id == handle.id


def test_a_sequence_number_that_is_set_does_not_change_the_order():
    x = torch.tensor(2.0).requires_grad_()
    y = x * x
    z = y * x
    y.grad_fn._set_sequence_nr(z.grad_fn._sequence_nr() + 10)
    z.backward()
    assert x.grad.item() == 12 and y.grad_fn._sequence_nr() == z.grad_fn._sequence_nr() + 10


def test_a_leaf_that_has_become_a_result():
    x, y = torch.ones(2).requires_grad_(), torch.ones(2).requires_grad_()
    z = x * 2
    x.detach_().mul_(y)
    with pytest.raises(RuntimeError, match="leaf variable has been moved into the graph interior"):
        z.sum().backward()
