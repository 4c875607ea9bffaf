"""What the constructors of old programs take: `Tensor(...)`, `LongTensor(...)`, `x.new(...)`, in every form."""

import array
import collections
import warnings

import numpy as np
import pytest

from tests.parity.support.programs import assert_same


class Sequence:
    """The least that is a sequence."""

    def __len__(self):
        return 3

    def __getitem__(self, place):
        if place >= 3:
            raise IndexError(place)
        return place


def storage(tensor):
    """Its typed storage, without the warning that torch gives once for each line of code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tensor.storage()


DATA = {
    "range": lambda T: range(3),
    "deque": lambda T: collections.deque([1, 2, 3]),
    "deques": lambda T: [collections.deque([1]), [2]],
    "sequence": lambda T: Sequence(),
    "array": lambda T: array.array("d", [1, 2]),
    "ndarray": lambda T: np.arange(3),
    "NumPy number": lambda T: np.float32(3),
    "list": lambda T: [1.5, 2],
    "list of bools": lambda T: [True],
    "nested": lambda T: [[1, 2], range(2)],
    "ragged": lambda T: [[1, 2], [3]],
    "tuple": lambda T: (2, 3),
    "set": lambda T: {1, 2},
    "dict": lambda T: {1: 2},
    "values": lambda T: {1: 2}.values(),
    "iterator": lambda T: iter([1]),
    "generator": lambda T: (i for i in range(3)),
    "str": lambda T: "abc",
    "bytes": lambda T: b"abc",
    "bytearray": lambda T: bytearray(3),
    "memoryview": lambda T: memoryview(b"abc"),
    "None": lambda T: None,
    "float": lambda T: 2.5,
    "bool": lambda T: True,
    "complex": lambda T: [1 + 2j],
    "list of None": lambda T: [None],
    "list of str": lambda T: ["a"],
    "large": lambda T: [2**40],
    "negative": lambda T: [-1],
    "size": lambda T: -1,
    "tensor": lambda T: T.ones(2),
    "tensor of integers": lambda T: T.ones(2, dtype=T.int64),
    "number tensor": lambda T: T.tensor(3.0),
    "tensors": lambda T: [T.ones(1), 2],
    "storage": lambda T: storage(T.ones(2)),
    "storage of integers": lambda T: storage(T.ones(2, dtype=T.int64)),
}
CONSTRUCTORS = {
    "Tensor": lambda T: T.Tensor,
    "LongTensor": lambda T: T.LongTensor,
    "ByteTensor": lambda T: T.ByteTensor,
    "new": lambda T: T.ones(2).new,
    "new of integers": lambda T: T.ones(2, dtype=T.int32).new,
}


@pytest.mark.parametrize("constructor", CONSTRUCTORS)
@pytest.mark.parametrize("data", DATA)
def test_data(data, constructor):
    assert_same(lambda T: CONSTRUCTORS[constructor](T)(DATA[data](T)))


@pytest.mark.parametrize("constructor", CONSTRUCTORS)
@pytest.mark.parametrize(
    "call",
    [
        lambda T, new: new(data=[1]),
        lambda T, new: new(data="a"),
        lambda T, new: new(size=(2,)).fill_(0),
        lambda T, new: new(size=2),
        lambda T, new: new(other=T.ones(1)),
        lambda T, new: new(nothing=1),
        lambda T, new: new(2, 3).fill_(0),
        lambda T, new: new(T.Size([2, 3])).fill_(0),
        lambda T, new: new(),
        lambda T, new: new(2, 3.5),
        lambda T, new: new(2.0, 3),
        lambda T, new: new([1], [2]),
        lambda T, new: new((2, 3), 4),
        lambda T, new: new("a", 2),
        lambda T, new: new(3, device="cpu").fill_(0),
        lambda T, new: new([1], device="meta").shape,
    ],
)
def test_forms(call, constructor):
    assert_same(lambda T: call(T, CONSTRUCTORS[constructor](T)))


@pytest.mark.parametrize(
    "options",
    [
        {"size": (2, 3)},
        {"size": [2]},
        {"size": (2,), "dtype": "float64"},
        {"size": (2,), "requires_grad": True},
        {"indices": [[0]], "values": [1.0], "size": (2,)},
    ],
)
@pytest.mark.filterwarnings("ignore:Sparse invariant checks are implicitly disabled")
def test_sparse_tensors_of_zeros(options):
    def program(T):
        given = {name: getattr(T, value) if name == "dtype" else value for name, value in options.items()}
        return T.sparse_coo_tensor(**given, check_invariants=True).to_dense()

    assert_same(program)


@pytest.mark.parametrize("options", [{}, {"values": [1.0]}])
def test_sparse_tensors_of_too_little(options):
    assert_same(lambda T: T.sparse_coo_tensor(**options))
