"""Tensors of PyTorch and of mindtorch in one program: either is refused by the other, in words, or read as data."""

import numpy as np
import pytest
import torch

import mindtorch

REFUSED = [
    "a + b", "b + a", "b @ a", "a @ b", "torch.add(a, b)", "torch.exp(b)", "mindtorch.add(b, a)", "mindtorch.add(a, b)",
    "mindtorch.exp(a)", "mindtorch.cat([b, a])", "mindtorch.stack([a, a])", "b.copy_(a)", "b[a > 0]", "b.mul(a)",
    "b.where(b > 0, a)", "mindtorch.nn.Linear(2, 2)(a)", "b.add_(a)", "mindtorch.nn.Parameter(a)", "b.to(a)",
    "b.to(torch.float64)", "mindtorch.zeros(2, dtype=torch.float32)", "mindtorch.equal(b, a)", "b.backward(a)",
    "mindtorch.optim.SGD([a], lr=0.1)", "setattr(b, 'data', a)", "setattr(b, 'grad', a)", "b.__setitem__(0, a[0])",
]  # fmt: skip


@pytest.mark.parametrize("expression", REFUSED)
def test_refused(expression):
    names = {"torch": torch, "mindtorch": mindtorch, "a": torch.ones(2), "b": mindtorch.ones(2)}
    with pytest.raises((TypeError, IndexError)):
        eval(expression, names)


def test_the_error_names_the_other_package():
    with pytest.raises(
        TypeError, match=r"argument 'other' \(position 2\) must be Tensor, not torch.Tensor of the pack"
    ):
        mindtorch.add(mindtorch.ones(2), torch.ones(2))


@pytest.mark.parametrize("read", ["tensor", "as_tensor", "asarray", "from_dlpack"])
@pytest.mark.parametrize("dtype", ["float32", "int64", "complex128"])
def test_read_as_data(read, dtype):
    theirs = torch.arange(6).reshape(2, 3).t().to(getattr(torch, dtype))
    ours = getattr(mindtorch, read)(theirs)
    assert ours.dtype is getattr(mindtorch, dtype)
    assert np.array_equal(ours.numpy(), theirs.numpy())
    theirs[0, 0] = 7
    assert (ours[0, 0] == 7).item() == (read != "tensor")
