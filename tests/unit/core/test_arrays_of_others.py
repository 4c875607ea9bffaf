"""A tensor and whoever gave or got its memory: what is done to an array never changes a tensor's shape or dtype."""

import numpy as np
import pytest

import mindtorch as torch

IN = {
    "from_numpy": torch.from_numpy,
    "as_tensor": torch.as_tensor,
    "asarray": torch.asarray,
    "from_dlpack": torch.from_dlpack,
    "frombuffer": lambda array: torch.frombuffer(array, dtype=torch.float64).view(6),
}
OUT = {
    "numpy": lambda tensor: tensor.numpy(),
    "asarray": lambda tensor: np.asarray(tensor),
    "__array__": lambda tensor: tensor.__array__(),
    "from_dlpack": lambda tensor: np.from_dlpack(tensor),
    "without copy": lambda tensor: np.array(tensor, copy=False),
}


@pytest.mark.parametrize("make", IN)
def test_an_array_that_was_given(make):
    array = np.arange(6.0)
    tensor = IN[make](array)
    array.shape = (2, 3)
    array.dtype = np.int64
    assert tensor.shape == (6,)
    assert tensor.dtype is torch.float64
    array[0, 0] = np.float64(7.0).view(np.int64)
    assert tensor.tolist() == [7.0, 1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize("read", OUT)
def test_an_array_that_was_got(read):
    tensor = torch.arange(6.0)
    array = OUT[read](tensor)
    assert np.shares_memory(array, tensor.numpy())
    array.shape = (2, 3)
    assert tensor.shape == (6,)
    assert (tensor + 1).shape == (6,)


def test_subclasses_of_arrays_are_left_behind():
    matrix = np.ones((1, 2)).view(np.recarray)
    assert type(torch.from_numpy(matrix)._mt_array) is np.ndarray
    assert type(torch.from_numpy(matrix[:, :0])._mt_array) is np.ndarray


# What programs, and the subclasses of tensors in libraries, keep on their tensors.
HABITS = (
    "_meta", "_data", "_array", "_edge", "_kind", "_version_counter", "_node", "_storage", "_shape", "_dtype",
    "_tensor", "_value", "_inner", "_spec", "_base_tensor", "_hooks", "_counter", "_saved", "_elem", "elem", "meta",
    "kind", "array", "edge", "node", "name_", "_name", "tag", "slice", "alias", "_is_param", "_cache", "_parent",
)  # fmt: skip


@pytest.mark.parametrize("cls", [torch.Tensor, torch.nn.Parameter, type("Own", (torch.Tensor,), {})])
def test_attributes_of_programs_are_their_own(cls):
    tensor = torch.ones(3).as_subclass(cls)
    for name in HABITS:
        setattr(tensor, name, name)
    leaf = tensor.detach().requires_grad_()
    for name in HABITS:
        setattr(leaf, name, object())
    product = leaf * leaf
    product.sum().backward()
    assert torch.equal(leaf.grad, torch.full((3,), 2.0))
    leaf.data.mul_(2)
    assert torch.equal(leaf[1:].detach(), torch.full((2,), 2.0))
    assert [getattr(tensor, name) for name in HABITS] == list(HABITS)


def test_the_slots_of_tensors_have_names_of_their_own():
    assert all(name.startswith(("_mt_", "__")) for name in torch.Tensor.__slots__)
