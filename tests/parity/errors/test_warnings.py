"""Where torch warns, with its text; nothing else of such a call is special."""

import pytest
import torch

import mindtorch
from tests.parity.support.programs import assert_same, outcome

CALLS = {
    "deprecated": [
        "T.cross(T.ones(2, 3), T.ones(2, 3))",
        "T.cross(T.ones(2, 3), T.ones(2, 3), 1)",
        "T.ones(3).index_reduce(0, T.tensor([0]), T.ones(1), 'prod')",
        "T.triangular_solve(T.ones(2, 1), T.eye(2))",
        "T.meshgrid(T.ones(2), T.ones(2))",
        "T.meshgrid(T.ones(2), T.ones(2), indexing='ij')",
        "T.cholesky(T.eye(2))",
        "T.qr(T.eye(2))",
        "T.chain_matmul(T.eye(2), T.eye(2))",
        "T.set_default_tensor_type(T.FloatTensor)",
        "T.range(0, 3)",
        "T.ones(1, 2, 3).T",
        "T.where(T.zeros(3, dtype=T.uint8), T.ones(3), T.zeros(3))",
    ],
    "slow": [
        "T.searchsorted(T.arange(36.).view(6, 6).t().sort()[0].t().contiguous().t(), T.ones(6, 6).t())",
        "T.searchsorted(T.ones(6, 6), T.ones(6, 6), sorter=T.zeros(6, 6, dtype=T.int64).t())",
        "T.bucketize(T.ones(6, 6).t(), T.arange(12.)[::2])",
        "T.nn.functional.conv1d(T.ones(1, 1, 4), T.ones(1, 1, 2), padding='same')",
        "T.nn.functional.conv2d(T.ones(1, 1, 4, 4), T.ones(1, 1, 3, 2), padding='same', dilation=2)",
    ],
    "lists as subscripts": [
        "T.ones(3, 3)[[T.tensor([0]), T.tensor([1])]]",
        "T.ones(3, 3)[[0, slice(1)]]",
        "T.ones(3, 3)[[T.tensor(0), 1]]",
        "T.ones(3, 3)[[0, 1]]",
        "T.ones(3, 3)[[[0, 1], [1, 2]]]",
        "T.ones(3, 3)[[True, None]]",
        "T.ones(3, 3).__setitem__([0, slice(1)], 3)",
    ],
    "encoders without nested tensors": [
        f"T.nn.TransformerEncoder(T.nn.TransformerEncoderLayer({options}), 1).use_nested_tensor"
        for options in (
            "4, 2",
            "4, 2, batch_first=True",
            "4, 2, batch_first=True, norm_first=True",
            "4, 2, batch_first=True, activation=T.tanh",
            "4, 2, batch_first=True, activation=T.nn.functional.gelu",
            "4, 2, batch_first=True, activation=T.nn.GELU()",
            "4, 2, batch_first=True, activation=T.nn.ReLU()",
            "4, 2, batch_first=True, activation='gelu'",
            "3, 1, batch_first=True",
            "4, 2, batch_first=True, bias=False",
        )
    ],
}  # fmt: skip


@pytest.mark.parametrize("call", [pytest.param(call, id=call) for calls in CALLS.values() for call in calls])
def test_warning(call):
    assert_same(lambda T: eval(call, {"T": T}))


@pytest.mark.parametrize(
    ("padding", "options"),
    [
        (padding, options)
        for padding in ("at the end", "at the start", "nowhere", "as numbers")
        for options in ({}, {"mask_check": False}, {"enable_nested_tensor": False})
        if not (padding == "at the start" and "mask_check" in options)  # which torch takes for padding at the end
    ],
)
@pytest.mark.parametrize("training", [True, False])
def test_padding_of_an_encoder(padding, options, training):
    """Without gradients torch leaves the padding out, and gives zeros for it."""

    def program(T):
        T.manual_seed(3)
        layer = T.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        encoder = T.nn.TransformerEncoder(layer, 2, **options).train(training)
        places = T.arange(5).expand(3, 5)
        mask = {"at the end": places > 2, "at the start": places < 2}.get(padding, places > 9)
        if padding == "as numbers":
            mask = T.zeros(3, 5).masked_fill(places > 3, -float("inf"))
        with T.no_grad():
            result = encoder(T.randn(3, 5, 8), src_key_padding_mask=mask)
        return result, encoder(T.ones(3, 5, 8), src_key_padding_mask=mask).requires_grad

    own, expected = (outcome(program, T)[0] for T in (mindtorch, torch))  # torch warns of its nested tensors
    assert own == expected
