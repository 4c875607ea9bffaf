"""Where gradients end: what is stored, in which layout, and whose memory it is."""

import numpy as np
import pytest

import mindtorch as torch
from mindtorch._core.tensor import wrap
from mindtorch.autograd._engine.accumulate_grad import clone_obey_contract, is_stealable, obeys_layout_contract
from tests.device.sweep import moved


def tensor(array):
    """On the default device, laid out in the same way."""
    device = torch.get_default_device().type
    return wrap(array) if device == "cpu" else moved(wrap(array), device)


def leaf(array):
    return tensor(np.asarray(array, np.float32)).requires_grad_()


GRID = np.arange(24, dtype=np.float32).reshape(2, 3, 4)

LAYOUTS = {
    "contiguous": GRID,
    "transposed": GRID.T,
    "permuted": GRID.transpose(1, 2, 0),
    "strided": GRID[:, :, ::2],
    "expanded": np.broadcast_to(np.float32(1), (2, 3)),
    "single": np.ones(()),
    "empty": np.ones((0, 3)),
    "size one": np.ones((1, 3)).T,
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_first_gradient_obeys_the_contract(name):
    array = LAYOUTS[name].astype(np.float32, copy=False)
    variable = tensor(array).requires_grad_()
    (variable * 2).sum().backward()
    dense = name not in ("strided", "expanded")
    expected = variable.stride() if dense else torch.zeros(variable.shape).stride()
    assert variable.grad.stride() == expected
    assert obeys_layout_contract(variable.grad, variable)
    assert (variable.grad == 2).all()


def test_the_contract():
    variable = leaf(GRID.T)
    assert obeys_layout_contract(tensor(GRID.copy().T), variable)
    assert not obeys_layout_contract(tensor(np.ascontiguousarray(GRID.T)), variable)
    strided = leaf(GRID)[:, :, ::2].detach()
    assert obeys_layout_contract(tensor(np.zeros((2, 3, 2), np.float32)), strided)
    assert not obeys_layout_contract(tensor(GRID[:, :, ::2]), strided)
    row = leaf(np.ones((1, 3)))
    assert not obeys_layout_contract(
        tensor(np.lib.stride_tricks.as_strided(np.ones(3, np.float32), (1, 3), (0, 4))), row
    )


def test_clone_belongs_to_the_history_of_the_gradient():
    grad, variable = leaf(np.ones((3, 2))), leaf(np.ones((2, 3)).T)
    clone = clone_obey_contract(grad, variable)
    assert clone.stride() == variable.stride() and clone.grad_fn is not None
    with torch.no_grad():
        assert clone_obey_contract(grad, variable).grad_fn is None


class TestOwnership:
    def test_a_fresh_gradient_is_taken_over(self):
        variable = leaf(np.ones(3))
        assert is_stealable([torch.ones(3) * 2], variable)

    def test_a_gradient_with_other_references_is_not(self):
        variable, grad = leaf(np.ones(3)), torch.ones(3)
        assert not is_stealable([grad], variable)
        array = np.ones(3, np.float32)
        assert not is_stealable([wrap(array)], variable)

    def test_a_view_of_held_memory_is_not(self):
        variable, memory = leaf(np.ones(3)), np.ones((2, 3), np.float32)
        assert not is_stealable([wrap(memory[0])], variable)
        assert is_stealable([wrap(np.ones((3, 2), np.float32).T)], leaf(np.ones((3, 2)).T))

    def test_another_layout_is_not(self):
        assert not is_stealable([wrap(np.ones((3, 2), np.float32).T)], leaf(np.ones((2, 3))))

    def test_the_users_gradient_is_copied(self):
        x, grad = leaf(np.ones(3)), torch.ones(3)
        x.backward(grad)
        assert x.grad is not grad and x.grad.data_ptr() != grad.data_ptr()
        x.grad = None
        x.view(3).backward(grad)
        assert x.grad.data_ptr() != grad.data_ptr()

    def test_leaves_do_not_share_a_gradient(self):
        x, y = leaf(np.ones(3)), leaf(np.ones(3))
        (x + y).backward(torch.ones(3) * 2)
        x.grad.mul_(10)
        assert y.grad.tolist() == [2, 2, 2]

    def test_a_hook_that_keeps_the_gradient_keeps_it_unchanged(self):
        x, kept = leaf(np.ones(3)), []
        x.register_hook(kept.append)
        (x * 2).sum().backward()
        x.grad.zero_()
        assert kept[0].tolist() == [2, 2, 2]

    def test_a_sum_is_not_shared_with_its_parts(self):
        x, kept = leaf(np.ones(3)), []
        y = x * 1
        y.register_hook(kept.append)
        (y * 2 + x * 3 + x * 4 + x * 5).sum().backward()
        assert x.grad.tolist() == [14, 14, 14] and kept[0].tolist() == [2, 2, 2]


class TestLaterGradients:
    def test_in_place(self):
        x = leaf(np.ones(3))
        (x * 2).sum().backward()
        first, version = x.grad, x.grad._version
        (x * 3).sum().backward()
        assert x.grad is first and first._version == version + 1 and first.tolist() == [5, 5, 5]

    def test_the_layout_of_the_stored_one_stays(self):
        x = leaf(np.ones((2, 3)))
        x.grad = torch.ones(3, 2).t()
        with torch.autograd.enforce_grad_layout_policy(False):
            (x * 2).sum().backward()
        with pytest.warns(UserWarning, match=r"do not obey the gradient layout contract(.|\n)*param.*\[3, 1\]"):
            (x * 2).sum().backward()
        (x * 2).sum().backward()  # it is said once
        assert x.grad.stride() == (1, 2)

    def test_without_the_contract_the_first_one_is_taken_as_it_is(self):
        x, y = leaf(np.ones((2, 3))), leaf(np.ones((2, 3)))
        (x * 2).backward(torch.ones(3, 2).t())
        with torch.autograd.enforce_grad_layout_policy(False):
            (y * 2).backward(torch.ones(3, 2).t())
        assert x.grad.stride() == (3, 1) and y.grad.stride() == (1, 2)

    @pytest.mark.filterwarnings("ignore:Using backward")
    def test_out_of_place_when_recorded(self):
        x = leaf(np.ones(3))
        (x * x).sum().backward()
        first = x.grad
        (x * x * x).sum().backward(create_graph=True)
        assert x.grad is not first and first.tolist() == [2, 2, 2] and x.grad.tolist() == [5, 5, 5]
        assert x.grad.grad_fn is not None

    @pytest.mark.filterwarnings("ignore:Using backward")
    def test_the_recorded_gradient_is_differentiable(self):
        x = leaf(np.array([2.0]))
        (x * x * x).sum().backward(create_graph=True)
        (second,) = torch.autograd.grad(x.grad.sum(), x)
        assert second.tolist() == [12]

    def test_a_leaf_that_no_longer_requires_grad(self):
        x = leaf(np.ones(3))
        y = (x * 2).sum()
        x.requires_grad_(False)
        y.backward()
        assert x.grad is None


def test_create_graph_warns_of_the_cycle():
    x = leaf(np.ones(3))
    with pytest.warns(UserWarning, match="will create a reference cycle between the parameter and its gradient"):
        (x * x).sum().backward(create_graph=True)


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (lambda: 3, TypeError, "assigned grad expected to be a Tensor or None but got grad of type int"),
        (
            lambda: torch.ones(2),
            RuntimeError,
            r"attempting to assign a gradient of size '\[2\]' to a tensor of size '\[3\]'",
        ),
        (
            lambda: torch.ones(3, dtype=torch.float16),
            RuntimeError,
            "with dtype 'c10::Half' to a tensor with grad_dtype",
        ),
        (lambda: torch.ones(3, device="meta"), RuntimeError, "device type 'meta' to a tensor with device type '"),
    ],
)
def test_assigning_a_gradient(value, error, text):
    x = leaf(np.ones(3))
    with pytest.raises(error, match=text):
        x.grad = value()
    with pytest.raises(RuntimeError, match="can't assign Variable as its own grad"):
        x.grad = x
    x.grad = torch.ones(3)
    del x.grad
    assert x.grad is None


@pytest.mark.parametrize("level", ["none alive", "one alive"])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (1, 1), (1, 3), (2, 1)])
def test_a_summed_gradient_is_no_view(shape, level):
    """It may be written with grad mode on, whatever it was summed over, and whether or not a level of vmap is alive."""
    samples = []
    if level == "one alive":
        torch.vmap(lambda sample: samples.append(sample) or sample)(torch.ones(2))
    weight = torch.ones(shape, requires_grad=True)
    (grad,) = torch.autograd.grad((torch.ones(4, 2, 3) * weight).sum(), weight)
    assert not grad._is_view()
    grad.add_(weight.sum())
    assert grad.tolist() == torch.full(shape, 24.0 / weight.numel() + weight.numel()).tolist()


class Sparse(torch.autograd.Function):
    """The identity, with a sparse gradient."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad.to_sparse()


@pytest.mark.parametrize("size", [3, 1000])  # small gradients wait to be summed together, large ones don't
@pytest.mark.parametrize("place", range(4))
def test_gradients_of_a_tensor_used_often(size, place):
    x = torch.ones(size, requires_grad=True)
    total = torch.zeros(size)
    for number in range(4):  # backward takes the last use first
        total = total + (Sparse.apply(x) if number == place else x) * (number + 1)
    total.sum().backward()
    assert x.grad.to_dense().tolist() == [10.0] * size


def test_large_gradients_are_summed_in_place():
    """The first sum makes a tensor of its own; none of the gradients that were added up is written to."""
    x = torch.ones(1000, requires_grad=True)
    seen = []
    uses = [x * factor for factor in (1.0, 2.0, 3.0, 4.0)]
    for use in uses:
        use.register_hook(seen.append)
    torch.stack(uses).sum().backward()
    assert x.grad.tolist() == [10.0] * 1000
    assert all(grad.tolist() == [1.0] * 1000 for grad in seen)
