"""Tensors for tables of calls: each call is compared with torch's, by its result or its error."""

from types import SimpleNamespace


def operands(T):
    return SimpleNamespace(
        ordered=T.tensor([1.0, 3.0, 5.0]),
        grid=T.arange(12.0).reshape(3, 4),
        squares=T.arange(12.0).reshape(3, 4) ** 2,
        zeros=T.zeros(3, 4),
        ones=T.ones(1, 4),
        places=T.tensor([[0, 1, 2, 0]]),
        batch=T.ones(2, 3, 4),
        other_batch=T.ones(2, 4, 5),
        square=T.tensor([[4.0, 1.0], [2.0, 3.0]]),
        singular=T.tensor([[1.0, 2.0], [2.0, 4.0]]),
        positive=T.tensor([[4.0, 1.0], [1.0, 3.0]]),
        indefinite=T.tensor([[1.0, 2.0], [2.0, 1.0]]),
        wide=T.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    )
