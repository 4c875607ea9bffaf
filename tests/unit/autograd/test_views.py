"""Views and in-place ops under autograd: history, versions, and what may not be written."""

import warnings

import pytest

import mindtorch as torch
from mindtorch.autograd._engine.history import check_inplace, edge_of, edges_of, mark_written


def leaf(*numbers):
    return torch.tensor([float(number) for number in numbers]).requires_grad_()


class TestHistory:
    def test_a_written_view_moves_its_base(self):
        x = leaf(1, 2, 3)
        y = x * 2
        before = y.grad_fn
        view = y[1:]
        view.mul_(10)
        assert y.grad_fn.name() == "torch::autograd::CopySlices" and view.grad_fn.name() == "AsStridedBackward0"
        assert y.grad_fn.next_functions[0] == (before, 0) and view.grad_fn.next_functions[0][0] is y.grad_fn
        y.sum().backward()
        assert x.grad.tolist() == [2, 20, 20]

    def test_a_written_base_moves_its_views(self):
        x = leaf(1, 2)
        y = x * 1
        view, node = y[0], y[0].grad_fn
        y.mul_(x)
        assert view.grad_fn is not node
        view.backward()
        assert x.grad.tolist() == [2, 0]

    def test_a_write_brings_a_constant_into_the_graph(self):
        x, y = leaf(5), torch.ones(3)
        first, last = y[0], y[2]
        last.mul_(x[0])
        assert y.requires_grad and first.requires_grad and last.requires_grad
        (y * y).sum().backward()
        assert x.grad.tolist() == [10]

    def test_views_of_views(self):
        x = leaf(1, 2, 3, 4)
        y = x.clone()
        y.view(2, 2)[1].mul_(3)
        y.view(2, 2).t()[0].mul_(2)
        (y * y).sum().backward()
        assert x.grad.tolist() == [8, 4, 216, 72]

    def test_assignment(self):
        x, value = leaf(1, 2, 3), leaf(7)
        y = x.clone()
        y[0] = value[0]
        y[1:] = 0
        (y * y).sum().backward()
        assert x.grad.tolist() == [0, 0, 0] and value.grad.tolist() == [14]

    def test_second_derivative_through_a_written_view(self):
        x = leaf(1, 2)
        y = x.clone()
        y.select(0, 0).mul_(x[1])
        first = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]
        assert first.tolist() == [8, 8]
        assert torch.autograd.grad(first.sum(), x)[0].tolist() == [16, 12]

    def test_a_view_of_other_elements(self):
        x = leaf(1, 2)
        y = torch.view_as_complex(x.view(1, 2) * 1)
        torch.view_as_real(y)[0, 1].mul_(5)
        torch.view_as_real(y * y.conj()).sum().backward()
        assert x.grad.tolist() == [2, 100]

    def test_a_view_made_in_no_grad_mode_is_a_leaf(self):
        y = leaf(1, 2) * 2
        with torch.no_grad():
            view = y[0]
        assert view.requires_grad and view.is_leaf and view.grad_fn is None and (view * 2).requires_grad
        (view * 2).backward()

    def test_a_view_may_become_a_leaf(self):
        view = torch.ones(2)[0].requires_grad_()
        (view * 3).backward()
        assert view.is_leaf and view._is_view() and view.grad.item() == 3

    def test_released_copy_slices(self):
        y = leaf(1, 2) * 2
        y[0].neg_()
        y.sum().backward()
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
            y.sum().backward()


class TestVersions:
    def test_shared_by_views_and_detached_tensors(self):
        x = torch.ones(4)
        others = [x.view(2, 2), x[1:], x.detach(), x[0].detach(), x.expand(2, 4)]
        x.add_(1)
        others[1].mul_(2)
        assert x._version == 2 and {other._version for other in others} == {2}

    def test_not_shared_by_data(self):
        x = torch.ones(2)
        x.data.add_(1)
        assert x._version == 0 and x.tolist() == [2, 2]

    @pytest.mark.parametrize(
        "write",
        [lambda x: x.add_(1), lambda x: x.zero_(), lambda x: x.__setitem__(0, 3.0), lambda x: torch.exp(x, out=x)],
    )
    def test_a_write_counts_once(self, write):
        x = torch.ones(2)
        write(x)
        assert x._version == 1

    def test_mark_written(self):
        x = torch.ones(1)
        mark_written(x)
        torch.autograd.graph.increment_version([x, x])
        assert x._version == 3

    def test_a_saved_output_that_was_written(self):
        y = leaf(1, 2).exp()
        y.add_(1)
        text = (
            r"one of the variables needed for gradient computation has been modified by an inplace operation: "
            r"\[torch.FloatTensor \[2\]\], which is output 0 of Exp, is at version 1; expected version 0 instead. "
            r"Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
            r"torch.autograd.set_detect_anomaly\(True, check_nan=False\)."
        )
        with pytest.raises(RuntimeError, match=text):
            y.sum().backward()

    def test_a_saved_input_that_was_written(self):
        x = torch.ones(2, dtype=torch.float64)
        y = (leaf(1, 2) * x).sum()
        x[0].mul_(2)
        with pytest.raises(RuntimeError, match=r"\[torch.DoubleTensor \[2\]\] is at version 1; expected version 0"):
            y.backward()

    def test_through_a_detached_tensor(self):
        y = leaf(1, 2) * 1
        z = (y * y).sum()
        y.detach().mul_(2)
        with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
            torch.autograd.grad(z, y)


class TestForbiddenWrites:
    @pytest.mark.parametrize(
        ("write", "text"),
        [
            (lambda: leaf(1).add_(1), "a leaf Variable that requires grad is being used in an in-place operation."),
            (lambda: leaf(1)[0].add_(1), "a view of a leaf Variable that requires grad is being used in an in-place"),
            (lambda: (leaf(1) * 2).unbind()[0].add_(1), "Output 0 of Unbind is a view and is being modified inplace."),
            (lambda: (leaf(1) * 2)[0].detach_(), "Can't detach views in-place. Use detach"),
        ],
    )
    def test_texts(self, write, text):
        with pytest.raises(RuntimeError, match=text):
            write()

    @pytest.mark.parametrize(
        ("mode", "text"),
        [
            (torch.no_grad, "A view was created in no_grad mode and is being modified inplace with grad mode enabled."),
            (
                torch.inference_mode,
                "A view was created in inference mode and is being modified inplace in normal mode.",
            ),
        ],
    )
    def test_views_made_in_a_mode(self, mode, text):
        y = leaf(1, 2) * 2
        with mode():
            view = y[0]
        with pytest.raises(RuntimeError, match=text):
            view.mul_(2)
        inner = view[None] if mode is torch.inference_mode else view.view(1)
        with pytest.raises(RuntimeError, match="is a view of a view which was created in"):
            inner.mul_(2)
        with mode():
            view.mul_(2)

    def test_the_base_of_several_views(self):
        y = leaf(1, 2) * 2
        view = y.unbind()[1]
        y.mul_(2)
        with pytest.raises(
            RuntimeError, match="Output 1 of Unbind is a view and its base or another view of its base has"
        ):
            _ = view.grad_fn

    def test_nothing_is_checked_without_a_graph(self):
        y = torch.ones(2)
        y.unbind()[0].add_(1)
        with torch.no_grad():
            leaf(1).add_(1)
            leaf(1)[0].add_(1)

    def test_check_inplace_of_plain_tensors(self):
        check_inplace(torch.ones(1))
        check_inplace(leaf(1) * 2)


class TestFlags:
    def test_edges(self):
        x, constant = leaf(1), torch.ones(1)
        node, output_nr, shape, dtype = edge_of(x)
        assert node.accumulates and output_nr == 0 and edge_of(constant) is None
        assert (shape, dtype) == ((1,), x._mt_array.dtype)
        assert edges_of([x, None, constant]) == (edge_of(x), None, None)

    def test_requires_grad(self):
        x = torch.ones(2)
        assert x.requires_grad_() is x and x.requires_grad and x.is_leaf
        x.requires_grad = False
        assert not x.requires_grad and not (x * 2).requires_grad
        with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
            x.requires_grad = 1
        with pytest.raises(
            TypeError, match=r"requires_grad_\(\): argument 'requires_grad' \(position 1\) must be bool"
        ):
            x.requires_grad_(1)
        with pytest.raises(RuntimeError, match="only Tensors of floating point dtype can require gradients"):
            torch.ones(2, dtype=torch.int64).requires_grad_()
        with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables."):
            (leaf(1) * 2).requires_grad_(False)
        assert (leaf(1) * 2).requires_grad_().requires_grad

    def test_detach(self):
        y = leaf(1) * 2
        detached = y.detach()
        assert not detached.requires_grad and detached.is_leaf and detached.data_ptr() == y.data_ptr()
        assert y.detach_() is y and not y.requires_grad and y.grad_fn is None

    def test_deletion(self):
        x = leaf(1)
        for name in ("data", "requires_grad", "_backward_hooks"):
            with pytest.raises(RuntimeError):
                delattr(x, name)
        with pytest.raises(AttributeError):
            del x.grad_fn

    def test_data(self):
        x = leaf(1, 2)
        y = (x * x).sum()
        x.data = torch.tensor([5.0, 6.0])
        y.backward()
        assert x.grad.tolist() == [10, 12] and x._version == 0
        x.data = torch.ones(2, dtype=torch.float64)
        x.grad = None
        (x * 2).sum().backward()
        assert x.grad.dtype is torch.float64
        for value, error in ((3, TypeError), (torch.ones(2, dtype=torch.int32), RuntimeError)):
            with pytest.raises(error):
                x.data = value


@pytest.mark.parametrize("of_view", [False, True])
def test_retained_gradient_stays_with_the_shape_it_was_asked_for(of_view):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 2
    tensor = y[:] if of_view else y
    tensor.retain_grad()
    tensor.t_().mul_(3)
    (tensor * tensor).sum().backward()
    assert x.grad.tolist() == [[0, 72, 144], [216, 288, 360]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grad = tensor.grad
    assert (grad is None) if of_view else grad.tolist() == [[0, 36, 72], [108, 144, 180]]
