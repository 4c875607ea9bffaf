"""Rows that are added to and picked by one index: in the order of the index, with PyTorch's bits."""

import numpy as np
import pytest
import torch

import mindtorch

SHAPES = {"rows": (0, (40,)), "columns": (1, (4, 8)), "planes": (3, (3, 5, 2)), "long rows": (0, (5000,))}
CALLS = {
    "index_add": lambda target, dim, index, expanded, source: target.index_add(dim, index, source),
    "index_add_": lambda target, dim, index, expanded, source: target.index_add_(dim, index, source, alpha=2),
    "scatter_add": lambda target, dim, index, expanded, source: target.scatter_add(dim, expanded, source),
    "scatter_add_": lambda target, dim, index, expanded, source: target.scatter_add_(dim, expanded, source),
    "scatter_reduce sum": lambda target, dim, index, expanded, source: target.scatter_reduce(
        dim, expanded, source, "sum"
    ),
    "scatter_reduce amax": lambda target, dim, index, expanded, source: real(target).scatter_reduce(
        dim, expanded, real(source), "amax", include_self=False
    ),
    "scatter_reduce mean": lambda target, dim, index, expanded, source: target.scatter_reduce(
        dim, expanded, source, "mean", include_self=False
    ),
    "index_reduce amin": lambda target, dim, index, expanded, source: real(target).index_reduce(
        dim, index, real(source), "amin"
    ),
    "gather": lambda target, dim, index, expanded, source: target.gather(dim, expanded),
    "index_select": lambda target, dim, index, expanded, source: target.index_select(dim, index),
}


def real(tensor):
    return tensor.real if tensor.is_complex() else tensor


def operands(library, dim, others, count, dtype, kind):
    """The target, with 5 rows along a dimension, the index, the same for `scatter_add`, and what is added."""
    random = np.random.default_rng(count)
    shape, added = [[*others[:dim], size, *others[dim:]] for size in (5, count)]
    arrays = random.standard_normal(shape), random.integers(0, 5, count), random.standard_normal(added)
    target, index, source = [library.from_numpy(each) for each in arrays]
    target, source = (each.to(getattr(library, dtype)) for each in (target, source))
    target = {"zeros": target * 0, "numbers": target, "turned": target.transpose(0, -1).contiguous().transpose(0, -1)}[
        kind
    ]
    expanded = index.reshape([-1 if each == dim else 1 for each in range(len(added))]).expand(added)
    return target, dim, index, expanded, source


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("shape", SHAPES)
def test_same_bits(call, shape):
    for count in (3, 300, 2000) if shape != "long rows" else (3, 20):
        for dtype in ("float32", "float64", "complex64", "int64"):
            for kind in ("zeros", "numbers", "turned"):
                given = (*SHAPES[shape], count, dtype, kind)
                expected, found = (CALLS[call](*operands(library, *given)) for library in (torch, mindtorch))
                assert np.array_equal(found.numpy(), expected.numpy()), given
                assert found.stride() == expected.stride(), given


@pytest.mark.parametrize("call", ["scatter_add", "gather", "index_add"])
@pytest.mark.parametrize("bad", [-1, 5])
def test_places_that_are_not_there(call, bad):
    errors = []
    for library in (torch, mindtorch):
        target, dim, index, _, source = operands(library, 0, (40,), 300, "float32", "numbers")
        index[7] = bad
        with pytest.raises((RuntimeError, IndexError)) as raised:
            CALLS[call](target, dim, index, index.reshape(-1, 1).expand(300, 40), source)
        errors.append((raised.type, str(raised.value).splitlines()[0]))
    assert errors[0] == errors[1]
