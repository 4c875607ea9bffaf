"""Calls that a sweep of random arguments over all public functions found to differ: each stands for a class.

A case is a function of the library; results, strides, shared memory, kinds and texts of errors have to be torch's.
"""

from typing import Any

import pytest
import torch

import mindtorch
from tests.harness import error_difference, outcome, result_difference

NAN, INF = float("nan"), float("inf")


def ramp(T: Any, *shape: int) -> Any:
    count = 1
    for size in shape:
        count *= size
    return T.arange(1.0, count + 1).reshape(shape)


def shares(own: Any, x: Any) -> tuple:
    """A result, and whether its elements are those of another tensor."""
    return own, own.data_ptr() == x.data_ptr(), own._base is x


def case(make: Any) -> Any:
    """A call, with the input whose memory the result may share."""
    return lambda T: shares(make(T, x := ramp(T, *SHAPE)), x)


SHAPE = (2, 4, 3, 3)

# A reduction that is left out is none in the Python functions, and a mean in torch.ops.
PAIRS = {
    "kl_div": lambda x: (x, x * 2),
    "hinge_embedding_loss": lambda x: (x, x.sign()),
    "binary_cross_entropy_with_logits": lambda x: (x, x / 9),
    "margin_ranking_loss": lambda x: (x, x * 2, x.sign()),
    "cosine_embedding_loss": lambda x: (x, x - 3, x[:, 0].sign()),
    "triplet_margin_loss": lambda x: (x, x * 2, x + 1),
}


def losses(T: Any, name: str) -> tuple:
    given = PAIRS[name](ramp(T, 2, 3))
    function, op = getattr(T, name), getattr(T.ops.aten, name)
    reduced = [function(*given, reduction=number) for number in (-1, 0, 1, 2, 5)]
    return function(*given), op(*given), op.default(*given), op(*given, reduction=2), *reduced


CALLS = {
    **{f"reduction of {name}": lambda T, name=name: losses(T, name) for name in PAIRS},
    "positional reduction": lambda T: T.margin_ranking_loss(ramp(T, 3), ramp(T, 3) * 2, ramp(T, 3), 0.5, 2),
    "reduction of ctc_loss": lambda T: T.ctc_loss(ramp(T, 4, 1, 3).log_softmax(-1), T.tensor([[1, 2]]), [4], [2]),
    "reduction of ctc_loss, op": lambda T: T.ops.aten.ctc_loss(
        ramp(T, 4, 2, 3).log_softmax(-1), T.tensor([[1, 2], [2, 1]]), [4, 4], [2, 2]
    ),
    "margin 0 of bytes": lambda T: T.nn.functional.margin_ranking_loss(*[ramp(T, 3).byte()] * 3),
    "eps 0 of integers": lambda T: T.nn.functional.pairwise_distance(ramp(T, 2, 2).long(), ramp(T, 2, 2).long(), eps=0),
    "targets of images": lambda T: T.cosine_embedding_loss(ramp(T, 2, 2), ramp(T, 2, 2), T.ones(2, 2)),
    "rows for one target": lambda T: T.cosine_embedding_loss(ramp(T, 2, 2), ramp(T, 2, 2), T.tensor(1)),
    "a vector for targets": lambda T: T.cosine_embedding_loss(ramp(T, 2), ramp(T, 2), T.tensor([1])),
    "dtype of losses": lambda T: T.poisson_nll_loss(ramp(T, 3).half(), T.tensor([1, 2, 3]), True, True, 0.5, 0),
    "classes of losses": lambda T: T.nn.functional.multilabel_soft_margin_loss(
        ramp(T, 2), ramp(T, 3, 2), reduction="none"
    ),
    # What moves nothing is a new tensor, too.
    "channel_shuffle of one": case(lambda T, x: T.channel_shuffle(x, 1)),
    "channel_shuffle of all": case(lambda T, x: T.channel_shuffle(x, 4)),
    "native_channel_shuffle": case(lambda T, x: T.native_channel_shuffle(x, 1)),
    "channel_shuffle of columns": case(lambda T, x: T.channel_shuffle(x.transpose(0, 1).mT, 2)),
    "pixel_shuffle of one": case(lambda T, x: T.pixel_shuffle(x[:, :, :1, :1], 2)),
    "pixel_unshuffle to one": case(lambda T, x: T.pixel_unshuffle(x, 3)),
    "unfold of one": case(lambda T, x: T.nn.functional.unfold(x, 1)),
    "unfold of an image": case(lambda T, x: T.nn.functional.unfold(x[0], 1)),
    # Steps of dimensions of size 1 are those of a contiguous tensor.
    "topk of one": lambda T: ramp(T, 1).topk(1),
    "kthvalue of a row": lambda T: ramp(T, 1, 3).kthvalue(1),
    # The last NaN is the largest.
    "NaN in cells": lambda T: T.nn.functional.adaptive_max_pool2d(
        T.tensor([[[[1.0, NAN, 3.0], [INF, NAN, 2.0]]]]), 1, return_indices=True
    ),
    "no blocks": lambda T: T.block_diag(),
    # Functions that take any number of tensors take nothing else, and mostly no list.
    **{
        f"{name} of {what}": lambda T, name=name, make=make: getattr(T, name)(*make(ramp(T, 2, 2)))
        for name in ("block_diag", "broadcast_tensors", "cartesian_prod", "chain_matmul")
        for what, make in {"a list": lambda x: ([x, x],), "a number": lambda x: (x, 3)}.items()
    },
    **{
        f"{name} of a list": lambda T, name=name: getattr(T, name)([ramp(T, 2), 3])
        for name in ("atleast_1d", "atleast_2d", "atleast_3d")
    },
    "meshgrid of a number": lambda T: T.meshgrid(ramp(T, 2), 3, indexing="ij"),
    # Results in place have to be convertible, of ops that are made of others, too.
    "xlogy_ of integers": lambda T: T.tensor([2, 3]).xlogy_(0.5),
    "xlogy_ of bools": lambda T: T.tensor([True]).xlogy_(3),
    "addr_ of bools": lambda T: T.zeros(2, 2, dtype=T.bool).addr_(ramp(T, 2), ramp(T, 2)),
    "addr_ of integers": lambda T: T.zeros(2, 2, dtype=T.int64).addr_(ramp(T, 2), ramp(T, 2)),
    "addr with a bool factor": lambda T: T.zeros(2, 2).addr(ramp(T, 2), ramp(T, 2), alpha=True),
    # Dtypes that torch has no kernel for.
    **{
        f"isin of {first!r}, {second!r}": lambda T, first=first, second=second: T.isin(
            *[each if isinstance(each, (bool, int, complex)) else T.tensor(each) for each in (first, second)]
        )
        for first, second in (
            ([True], 1),
            ([1.0], True),
            ([1.0], 1j),
            (1, [True]),
            (True, [1.0]),
            ([1j], 1),
            ([1.0], 1),
        )
    },
    "bytes as targets": lambda T: T.nn.functional.nll_loss(T.ones(1, 3), T.zeros(1, dtype=T.uint8)),
    "bytes as targets of images": lambda T: T.nn.functional.nll_loss(
        T.ones(1, 3, 2, 2), T.zeros(1, 2, 2, dtype=T.uint8)
    ),
    "no bytes as targets of images": lambda T: T.nn.functional.nll_loss(
        T.ones(0, 3, 2, 2), T.zeros(0, 2, 2, dtype=T.uint8)
    ),
    "dropout of complex numbers": lambda T: T.nn.functional.dropout(T.ones(2, dtype=T.complex64)),
    "bernoulli of complex numbers": lambda T: T.ones(2, dtype=T.complex64).bernoulli(0.5),
    "randperm of complex numbers": lambda T: T.randperm(2, dtype=T.complex64),
    "matrix_rank, complex atol": lambda T: T.linalg.matrix_rank(ramp(T, 2, 2), atol=T.tensor(1j)),
    "pinv, complex rtol": lambda T: T.linalg.pinv(ramp(T, 2, 2), rtol=T.tensor(1j)),
    "pinv, complex rcond": lambda T: T.linalg.pinv(ramp(T, 2, 2), rcond=T.tensor(1j)),
    **{
        f"matrix_norm of {own} in {asked}": lambda T, own=own, asked=asked: T.linalg.matrix_norm(
            ramp(T, 2, 2).to(getattr(T, own)), 1, dtype=getattr(T, asked)
        )
        for own in ("float32", "float64", "complex64")
        for asked in ("float16", "float32", "float64", "complex64", "complex128", "int64")
    },
    # Numbers that are out of range, NaN included.
    "renorm to NaN": lambda T: T.renorm(ramp(T, 2, 2), 2, 0, NAN),
    "renorm by NaN": lambda T: T.renorm(ramp(T, 2, 2), NAN, 0, 1),
    "cosine_similarity, eps": lambda T: T.cosine_similarity(ramp(T, 2, 2), ramp(T, 2, 2), eps=-1),
    "norm along no dimension": lambda T: T.linalg.norm(ramp(T, 2, 2), dim=[]),
    "norm along none of one": lambda T: T.linalg.norm(ramp(T, 2), dim=(), keepdim=True),
    "vander of one": lambda T: T.linalg.vander(ramp(T, 1)),
    "vander of rows of one": lambda T: T.linalg.vander(ramp(T, 3, 1)),
    "var of nothing": lambda T: T.var(T.zeros(3, 0), dim=1, correction=-2),
    "std_mean of nothing": lambda T: T.std_mean(T.zeros(3, 0), correction=-2),
    "var, negative correction": lambda T: T.var(ramp(T, 3, 2), dim=1, correction=-2),
    "multinomial of no rows": lambda T: T.multinomial(T.zeros(0, 3), 2),
    # Shapes and strides.
    "pinv, rcond of a matrix": lambda T: T.linalg.pinv(ramp(T, 2, 2).double(), T.tensor([[0.1]])),
    "pinv, rcond of a batch": lambda T: T.linalg.pinv(
        ramp(T, 3, 2, 2).double() ** 2, rcond=T.tensor([0.1, 0.4, 0.001])
    ),
    "slogdet of a turned batch": lambda T: T.slogdet((ramp(T, 3, 2, 2, 2).double() ** 0.5).transpose(0, 1)),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_calls(name):
    own, peer = (outcome(CALLS[name], (T,), {}) for T in (mindtorch, torch))
    if own.error is not None or peer.error is not None:
        text = error_difference(own.error, peer.error)
    else:
        text = result_difference(mindtorch, torch, own.result, peer.result)
    assert text is None, text
