"""Arrays that a program brings along have dtypes equal to the library's, but perhaps not the same objects."""

import pickle

import numpy as np
import pytest

import mindtorch
from mindtorch._core.dtype import ALL_DTYPES
from mindtorch.utils.data import default_collate
from tests.harness import (
    arguments_of,
    dtypes_of,
    function_of,
    outcome,
    result_difference,
    sampled_ops,
    samples_of,
    tensors_in,
)

OPS = [op for op in sampled_ops() if "float32" in dtypes_of(op)]
DTYPES = [each for each in ALL_DTYPES if each is not mindtorch.bfloat16]


def pickled(array):
    """The array with a dtype object of its own, as one from another process has it."""
    return pickle.loads(pickle.dumps(array))


def with_metadata(array):
    return array.view(np.dtype(array.dtype, metadata={"unit": "m"}))


ENTRIES = {
    "from_numpy": mindtorch.from_numpy,
    "tensor": mindtorch.tensor,
    "as_tensor": mindtorch.as_tensor,
    "asarray": mindtorch.asarray,
    "from_dlpack": mindtorch.from_dlpack,
    "new_tensor": lambda array: mindtorch.ones(1).new_tensor(array, dtype=mindtorch.as_tensor(array).dtype),
    "default_collate": lambda array: default_collate([array, array]),
    "frombuffer": lambda array: mindtorch.frombuffer(array, dtype=mindtorch.as_tensor(array).dtype),
    "a copy": lambda array: pickle.loads(pickle.dumps(mindtorch.from_numpy(array))),
}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("foreign", [pickled, with_metadata])
@pytest.mark.filterwarnings("ignore")
def test_dtypes_are_the_librarys_own(entry, foreign):
    for dtype in DTYPES:
        array = foreign(np.ones(2, dtype.numpy))
        assert array.dtype is not dtype.numpy
        assert ENTRIES[entry](array)._mt_array.dtype is dtype.numpy


def test_aliases_of_c_types_are_the_librarys_own():
    assert mindtorch.from_numpy(np.ones(2, np.longlong))._mt_array.dtype is mindtorch.int64.numpy


@pytest.mark.filterwarnings("ignore:indexing with dtype")
@pytest.mark.parametrize("index", [np.array([1, 0]), np.array([True, False]), np.array([1, 0], np.uint8)])
def test_subscripts(index):
    x = mindtorch.arange(6.0).reshape(2, 3)
    assert x[pickled(index)].tolist() == x[index].tolist()


def test_memory_is_shared():
    array = pickled(np.ones(3, np.float32))
    tensor = mindtorch.from_numpy(array)
    array[0] = 7
    assert tensor.tolist() == [7, 1, 1]


def foreign_tensors(value):
    """The arguments of a call with tensors made of arrays that were pickled."""
    if isinstance(value, mindtorch.Tensor):
        return mindtorch.from_numpy(pickled(value.numpy()))
    if isinstance(value, list):
        return [foreign_tensors(item) for item in value]
    return value


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(8))
def test_every_op_takes_them(part):
    differences = {}
    for op in OPS[part::8]:
        sample = next(samples_of(op, "float32"), None)
        if sample is None or "nondeterministic_seeded" in op.tags:
            continue
        args, kwargs = arguments_of(mindtorch, list(sample.args)), arguments_of(mindtorch, sample.kwargs)
        if any(
            each.dtype is mindtorch.bfloat16 or each.layout is not mindtorch.strided
            for each in tensors_in(mindtorch, args)
        ):
            continue
        names = {name: foreign_tensors(value) for name, value in kwargs.items()}
        own, expected = outcome(function_of(mindtorch, op), foreign_tensors(args), names), outcome(
            function_of(mindtorch, op), args, kwargs
        )
        if own.error or expected.error:
            text = None if repr(own.error) == repr(expected.error) else f"{own} for {expected}"
        else:
            text = result_difference(mindtorch, mindtorch, own.result, expected.result, strides=False)
        if text:
            differences[op.name] = text
    assert differences == {}
