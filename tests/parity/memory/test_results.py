"""The memory behind what every op returns: strides, offset, the size of the storage, and whose storage it is."""

import itertools
import warnings

import pytest
import torch

import mindtorch
from tests.harness import arguments_of, dtypes_of, function_of, outcome, samples_of, tensors_in
from tests.parity.support.peer import torch_ops

OPS = torch_ops()

OTHERWISE = {
    "imag": "NumPy gives a view without elements the offset of its base",
    "linalg_lstsq": "LAPACK's solution is the head of a larger buffer; its size is another one in SciPy",
    "col2im": "PyTorch returns a part of the padded image",
    "_embedding_bag": "PyTorch shortens what it counts the bags of the indices in",
    "_embedding_bag_forward_only": "as _embedding_bag",
    "mse_loss": "PyTorch reduces into the memory of the losses",
    "smooth_l1_loss": "as mse_loss",
    "binary_cross_entropy": "as mse_loss",
    "fft_ifft": "PyTorch returns a view of all of a tensor that has no other name",
    "fft_ihfft": "as fft_ifft",
}


def memory_of(T, tensor, inputs):
    if tensor.layout is not T.strided:
        return tensor.layout is T.sparse_coo
    address = tensor.untyped_storage().data_ptr()
    dense = [each for each in inputs if each.layout is T.strided and each.numel()]
    shared = [place for place, each in enumerate(dense) if address and each.untyped_storage().data_ptr() == address]
    elements = tensor.untyped_storage().nbytes() // tensor.element_size()
    return tuple(tensor.shape), tensor.stride(), tensor.storage_offset(), elements, shared, tensor._is_view()


def result_memory(T, op, sample):
    """Of each tensor that a call returns; None if it is refused."""
    args, kwargs = arguments_of(T, [list(sample.args), sample.kwargs])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = outcome(function_of(T, op), args, kwargs)
    if found.error:
        return None
    inputs = tensors_in(T, [args, kwargs])
    return [memory_of(T, each, inputs) for each in tensors_in(T, found.result)]


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_result_memory(op):
    dtype = next((each for each in ("float32", "complex64", "int64", "bool") if each in dtypes_of(op)), "float32")
    compared = [
        (own, peer)
        for sample in itertools.islice(samples_of(op, dtype), 3)
        for own, peer in [[result_memory(T, op, sample) for T in (mindtorch, torch)]]
        if own is not None and peer is not None
    ]
    if op.name in OTHERWISE:
        assert any(own != peer for own, peer in compared)
    else:
        assert [own for own, _ in compared] == [peer for _, peer in compared]
