"""`matmul` and `einsum`: the shapes that they take, layouts, dtypes, gradients."""

import numpy as np
import pytest
import torch

import mindtorch
from tests.parity.ops.outcomes import described, outcome


@pytest.mark.parametrize("dtype", ("float32", "float64", "complex64", "int64", "float16"))
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 2)),
        ((2, 3), (3, 4)),
        ((5, 2, 3), (3,)),
        ((5, 2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)),
    ]
    + [
        ((5, 2, 3), (5, 3, 4)),
        ((4, 1, 2, 3), (5, 3, 2)),
        ((1, 2, 3), (5, 3, 4)),
        ((0, 2, 3), (3, 4)),
        ((2, 0), (0, 3)),
        ((2, 3), (2, 3)),
    ]
    + [((), (3,)), ((5, 2, 3), (4, 3, 2))],
)
def test_matmul(left, right, dtype):
    for transposed in (False, True):
        results = []
        for T in (mindtorch, torch):
            a, b = (T.arange(float(np.prod(shape))).reshape(shape).to(getattr(T, dtype)) for shape in (left, right))
            if transposed and b.dim() > 1:
                b = b.mT.contiguous().mT if T is torch else b.transpose(-1, -2).contiguous().transpose(-1, -2)
            results.append(outcome(lambda a, b: a @ b, a, (b,)))
        assert results[0] == results[1]


@pytest.mark.parametrize(
    "equation",
    [
        "ij,jk->ik",
        "ij,jk",
        "ij,kj->ik",
        "ij,ij->",
        "ij,ij->i",
        "i...,i...->...",
        "ij,jk->ki",
        "ii,ij->j",
        "ij,jk->ijk",
        "ij,j",
    ],
)
def test_einsum(equation):
    ranks = [len(term.replace(".", "")) + 1 * ("." in term) for term in equation.split("->")[0].split(",")]
    results = []
    for T in (mindtorch, torch):
        operands = [T.arange(float(3**rank)).reshape((3,) * rank).requires_grad_() for rank in ranks]
        found = T.einsum(equation, *operands)
        found.sum().backward()
        results.append(
            (described(found.detach()), found.grad_fn.name(), [operand.grad.tolist() for operand in operands])
        )
    assert results[0] == results[1]
