"""Large arrays begin at a cache line, and are otherwise arrays like all others."""

import numpy as np
import pytest

import mindtorch as torch
from mindtorch._core import aligned
from mindtorch._core.buffers import root_of, size_of_root

MANY = 200_003  # not a multiple of anything
NEW = {
    "empty": lambda: torch.empty(MANY),
    "zeros": lambda: torch.zeros(MANY),
    "ones": lambda: torch.ones(3, MANY),
    "full": lambda: torch.full((MANY,), 2.5),
    "randn": lambda: torch.randn(MANY),
    "tensor": lambda: torch.tensor(np.arange(MANY)),
    "bfloat16": lambda: torch.zeros(MANY, dtype=torch.bfloat16),
    "clone": lambda: torch.arange(MANY).clone(),
    "contiguous": lambda: torch.ones(MANY, 2).t().contiguous(),
    "to": lambda: torch.ones(MANY).to(torch.float64),
    "empty_like": lambda: torch.empty_like(torch.arange(MANY)),
    "zeros_like": lambda: torch.zeros_like(torch.arange(MANY)),
    "channels_last": lambda: torch.empty((5, 3, 100, 101), memory_format=torch.channels_last),
    "empty_strided": lambda: torch.empty_strided((300, 500), (1, 307)),
}


@pytest.mark.parametrize("name", NEW)
def test_large_tensors_begin_at_a_cache_line(name: str) -> None:
    for _ in range(5):
        assert NEW[name]().data_ptr() % 64 == 0


@pytest.mark.parametrize("name", NEW)
def test_the_storage_is_no_larger_than_the_elements(name: str) -> None:
    tensor = NEW[name]()
    last = sum((extent - 1) * stride for extent, stride in zip(tensor.shape, tensor.stride(), strict=True))
    assert tensor.storage_offset() == 0
    assert tensor.untyped_storage().nbytes() == (last + 1) * tensor.element_size()
    view = tensor[1:]
    assert view.storage_offset() == tensor.stride(0)
    assert root_of(view._mt_array) is root_of(tensor._mt_array)
    assert size_of_root(root_of(view._mt_array)) == tensor.untyped_storage().nbytes()


def test_small_arrays_are_numpys_own() -> None:
    assert aligned.empty((8,), np.dtype(np.float32)).base is None
    assert aligned.zeros((8,), np.dtype(np.float32)).base is None
    assert aligned.copy(np.arange(8)).base is None


def test_zeros_and_copies_have_their_values() -> None:
    assert not aligned.zeros((MANY,), np.dtype(np.int32)).any()
    values = np.arange(2 * MANY).reshape(2, MANY)
    copy = aligned.copy(values)
    assert (copy == values).all()
    assert not np.shares_memory(copy, values)
