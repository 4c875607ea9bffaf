"""What counts or finds elements of a tensor that requires grad: which results require grad, and what backward does."""

import pytest
import torch

import mindtorch

CALLS = {
    "unique": lambda T, x: T.unique(x),
    "unique, with places": lambda T, x: T.unique(x, return_inverse=True, return_counts=True),
    "unique, any order": lambda T, x: T.unique(x, sorted=False),
    "unique rows": lambda T, x: T.unique(x.reshape(2, 2), dim=0, return_inverse=True, return_counts=True),
    "unique, method": lambda T, x: x.unique(),
    "consecutive": lambda T, x: T.unique_consecutive(x),
    "consecutive, with places": lambda T, x: T.unique_consecutive(x, return_inverse=True, return_counts=True),
    "consecutive columns": lambda T, x: x.reshape(2, 2).unique_consecutive(dim=1),
    "histogram": lambda T, x: T.histogram(x, 3),
    "histogram, edges": lambda T, x: T.histogram(x.detach(), x.sort()[0]),
    "histogram, weight": lambda T, x: T.histogram(x.detach(), 3, weight=x),
    "histc": lambda T, x: T.histc(x, 4),
    "bincount": lambda T, x: T.bincount(T.tensor([0, 1, 1, 2]), x),
    "nonzero": lambda T, x: T.nonzero(x, as_tuple=True),
    "argwhere": lambda T, x: T.argwhere(x),
    "nonzero_static": lambda T, x: x.nonzero_static(size=3),
    "searchsorted": lambda T, x: T.searchsorted(T.tensor([1.0, 2.0]), x),
    "bucketize": lambda T, x: T.bucketize(x, T.tensor([1.0, 2.0])),
    "argsort": lambda T, x: x.argsort(),
    "argmax": lambda T, x: x.argmax(),
    "isin": lambda T, x: T.isin(x, x.detach()),
    "count_nonzero": lambda T, x: T.count_nonzero(x),
    "multinomial": lambda T, x: T.multinomial(x, 1),
    "mode": lambda T, x: x.mode(),
    "msort": lambda T, x: x.msort(),
    "aminmax": lambda T, x: x.aminmax(),
}


def found(T, call, enabled=True):
    """Of each result whether it requires grad and is a leaf, the name of its node, and what its backward pass does."""
    x = T.tensor([1.0, 3.0, 2.0, 2.0], requires_grad=True)
    with T.set_grad_enabled(enabled):
        results = call(T, x)
    results = results if isinstance(results, tuple) else (results,)
    return [(each.dtype == T.float32, each.requires_grad, each.is_leaf, *passed(each)) for each in results]


def passed(result):
    if not result.requires_grad:
        return ()
    name = type(result.grad_fn).__name__
    try:
        result.sum().backward(retain_graph=True)
    except (NotImplementedError, RuntimeError) as error:
        # torch names the class NotImplemented where nothing of the op is differentiable.
        return type(error), str(error), isinstance(error, NotImplementedError) and name
    return (name,)


@pytest.mark.parametrize("name", CALLS)
def test_results(name):
    assert found(mindtorch, CALLS[name]) == found(torch, CALLS[name])
    assert found(mindtorch, CALLS[name], enabled=False) == found(torch, CALLS[name], enabled=False)
