"""Layers that keep a function as an option are pickled, whatever took over calls since they were made."""

import pickle

import pytest

import mindtorch
from mindtorch.nn import functional as F
from mindtorch.overrides import BaseTorchFunctionMode

LAYERS = {
    "encoder layer": lambda options: mindtorch.nn.TransformerEncoderLayer(4, 2, 8, **options),
    "decoder layer": lambda options: mindtorch.nn.TransformerDecoderLayer(4, 2, 8, **options),
    "both": lambda options: mindtorch.nn.Transformer(4, 2, 1, 1, 8, **options),
}
OPTIONS = {
    "its own": {},
    "by name": {"activation": "gelu"},
    "a function": {"activation": F.gelu},
    "a module": {"activation": mindtorch.nn.ReLU()},
}


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("activation", OPTIONS)
def test_pickled(name, activation):
    layer = LAYERS[name](OPTIONS[activation])
    with BaseTorchFunctionMode():
        pass  # from now on, other functions have these names
    again = pickle.loads(pickle.dumps(layer))
    assert repr(again) == repr(layer)
    for left, right in zip(again.state_dict().values(), layer.state_dict().values(), strict=True):
        assert mindtorch.equal(left, right)
    new = LAYERS[name](OPTIONS[activation])
    kinds = [
        [getattr(each, "activation_relu_or_gelu", None) for each in model.modules()] for model in (layer, again, new)
    ]
    assert kinds[0] == kinds[1] == kinds[2]
