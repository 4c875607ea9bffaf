"""`linear_cross_entropy`, as a function and as a layer."""

import pytest

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same, programs

program, test_program = programs()
LOSSES = {
    "plain": {},
    "bias": {"linear_bias": [0.1, 0.2, 0.3]},
    "each": {"reduction": "none"},
    "weighted": {"reduction": "sum", "weight": [0.1, 0.2, 0.3], "label_smoothing": 0.1},
    "ignored": {"ignore_index": 0},
    "bad reduction": {"reduction": "bad"},
    "bad bias": {"linear_bias": [0.0, 1.0]},
}


@pytest.mark.parametrize("name", LOSSES)
def test_linear_cross_entropy(name):
    def loss(T):
        x, w = (T.arange(8.0) - 4).reshape(2, 4) / 3, (T.arange(12.0) - 5).reshape(3, 4) / 7
        options = {key: T.tensor(value) if isinstance(value, list) else value for key, value in LOSSES[name].items()}
        return T.nn.functional.linear_cross_entropy(x, w, T.tensor([2, 0]), **options)

    assert_same(loss)


@program
def linear_cross_entropy_of_more_dimensions(T):
    function = T.nn.functional.linear_cross_entropy
    x, w, target = T.arange(8.0).reshape(2, 4) / 3, T.arange(24.0).reshape(3, 2, 4) / 7, T.tensor([[2, 0], [1, 1]])
    chances = T.tensor([[0.2, 0.3, 0.5], [1, 0, 0]])
    wrong = (x, w[0].t(), target), (x, w[0, 0], target), (x[0], w, target[0])
    found = function(x, w, target, linear_bias=T.arange(6.0).reshape(3, 2)), function(x, w[:, 0], chances)
    return found, [tried(function, *args) for args in wrong], tried(function, x, w[:, 0], chances, ignore_index=1)


@program
def linear_cross_entropy_layer(T):
    T.manual_seed(0)
    layer = T.nn.LinearCrossEntropyLoss(4, 3, out_features=(2,), bias=True, ignore_index=1, label_smoothing=0.2)
    loss = layer(T.arange(8.0).reshape(2, 4), T.tensor([[2, 0], [1, 1]]))
    loss.backward()
    return loss.detach(), repr(layer), [(name, each.grad) for name, each in layer.named_parameters()]
