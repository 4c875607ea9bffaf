"""Storages: which tensors share one, where they begin in it, how large it is."""

import copy
import pickle

import numpy as np
import pytest
import torch

import mindtorch

ARRAYS = {
    "whole": np.arange(10.0),
    "tail": np.arange(10.0)[2:],
    "inner block": np.arange(40.0).reshape(5, 8)[2:, 1:5],
    "every second": np.arange(10.0)[::2],
    "permuted": np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1),
    "computed from a permuted one": np.arange(24.0).reshape(2, 3, 4).transpose(1, 0, 2) + 1,
}


def place(x):
    """Where a tensor lies in its storage, and what the storage holds."""
    return x.storage_offset(), tuple(x.stride()), x.untyped_storage().nbytes(), x.untyped_storage().tolist()


@pytest.mark.parametrize("name", ARRAYS)
def test_storage_of_an_array(name):
    """It begins with the array's first element, whatever the array is a part of."""
    ours, theirs = (T.from_numpy(ARRAYS[name]) for T in (mindtorch, torch))
    assert place(ours) == place(theirs)
    assert place(ours[1:]) == place(theirs[1:])
    assert ours.data_ptr() == theirs.data_ptr()


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[1:],
        lambda x: x[3:],
        lambda x: x[1:1],
        lambda x: x[:, 2:2],
        lambda x: x.t()[1],
        lambda x: x.permute(1, 0) + 1,
        lambda x: x[:, ::2].t().clone(),
        lambda x: x.expand(2, 3, 4),
        lambda x: x.split(2)[1],
        lambda x: x.unbind(1)[3],
        lambda x: x.as_strided((2, 2), (1, 3), 4),
        lambda x: x[1:].as_strided((2, 2), (1, 3)),
        lambda x: x.detach()[2],
        lambda x: copy.deepcopy(x[1:]),
        lambda x: pickle.loads(pickle.dumps(x[1:])),
    ],
)
def test_place_of_a_view(view):
    ours, theirs = (view(T.arange(12.0).reshape(3, 4)) for T in (mindtorch, torch))
    assert place(ours) == place(theirs)


@pytest.mark.parametrize(
    "change",
    [
        lambda T, x: x.set_(T.arange(4.0)),
        lambda T, x: x.set_(T.arange(10.0).untyped_storage(), 2, (3,), (2,)),
        lambda T, x: x.set_(T.arange(10.0)[3:].untyped_storage()),
        lambda T, x: x.set_(T.arange(10.0), 2, (3,)),
        lambda T, x: x.set_(),
        lambda T, x: x.resize_(2),
        lambda T, x: x[2:].resize_(2, 2),
        lambda T, x: x.resize_(0).resize_(6),
        lambda T, x: x.reshape(2, 3).t().resize_(3, 2),
        lambda T, x: x.resize_(2, 3, 1, 1, memory_format=T.channels_last),
    ],
)
def test_other_memory(change):
    ours, theirs = (change(T, T.arange(6.0)) for T in (mindtorch, torch))
    assert place(ours) == place(theirs) and ours.tolist() == theirs.tolist()


@pytest.mark.parametrize(
    "read",
    [
        lambda T, s: s[0:4].tolist(),
        lambda T, s: s[2],
        lambda T, s: s.clone().tolist(),
        lambda T, s: s.fill_(3).tolist(),
        lambda T, s: s.copy_(T.UntypedStorage([5, 4, 3, 2, 1, 0])).tolist(),
        lambda T, s: (s.size(), len(s), s.nbytes(), s.element_size(), str(s.device)),
        lambda T, s: s == T.arange(6, dtype=T.uint8).untyped_storage(),
        lambda T, s: repr(s),
        lambda T, s: T.UntypedStorage().nbytes(),
    ],
)
def test_untyped_storage(read):
    ours, theirs = (read(T, T.arange(6, dtype=T.uint8).untyped_storage()) for T in (mindtorch, torch))
    assert ours == theirs


def test_views_share_one_storage():
    x = mindtorch.arange(6.0)
    assert x.untyped_storage() is x[2:].untyped_storage()
    assert x.untyped_storage() != x.clone().untyped_storage()
