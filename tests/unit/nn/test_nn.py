"""Modules: what they register, save, load, copy and print. Needs no PyTorch."""

import copy
import pickle

import pytest

import mindtorch as torch
from mindtorch import nn


class Net(nn.Module):
    """A module with a parameter, two buffers and a submodule that it has under two names."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2))
        self.register_buffer("count", torch.zeros(1))
        self.register_buffer("scratch", torch.zeros(1), persistent=False)
        self.layer = nn.Linear(2, 2)
        self.again = self.layer

    def forward(self, x):
        return self.layer(x) * self.scale


def names(pairs):
    return [name for name, _ in pairs]


def test_members_by_name():
    net = Net()
    assert names(net.named_parameters()) == ["scale", "layer.weight", "layer.bias"]
    assert names(net.named_parameters(remove_duplicate=False))[-2:] == ["again.weight", "again.bias"]
    assert names(net.named_buffers()) == ["count", "scratch"]
    assert names(net.named_modules()) == ["", "layer"]
    assert names(net.named_children()) == ["layer"]
    assert net.get_parameter("layer.bias") is net.layer.bias
    assert net.get_submodule("layer") is net.layer


def test_an_attribute_has_one_place():
    net = Net()
    net.extra = 3
    net.extra = nn.Parameter(torch.ones(1))
    assert "extra" not in net.__dict__ and "extra" in dict(net.named_parameters())
    net.scale = None
    assert net.scale is None and "scale" not in dict(net.named_parameters())
    del net.layer
    assert not hasattr(net, "layer")


def test_buffer_objects_register_themselves():
    net = Net()
    net.mean = nn.Buffer(torch.ones(3), persistent=False)
    assert "mean" in dict(net.named_buffers())
    assert "mean" not in net.state_dict()


def test_state_dict():
    net = Net()
    state = net.state_dict()
    assert list(state) == ["scale", "count", "layer.weight", "layer.bias", "again.weight", "again.bias"]
    assert not any(value.requires_grad for value in state.values())
    assert net.state_dict(keep_vars=True)["scale"] is net.scale


def test_loading_copies():
    source, target = Net(), Net()
    source.count += 5
    scale = target.scale
    keys = target.load_state_dict(source.state_dict())
    assert repr(keys) == "<All keys matched successfully>"
    assert target.scale is scale
    assert torch.equal(target.layer.weight, source.layer.weight) and target.count.item() == 5
    source.layer.weight.data.zero_()
    assert target.layer.weight.abs().sum() > 0


def test_loading_with_assign():
    source, target = Net(), Net()
    target.load_state_dict(source.state_dict(), assign=True)
    assert target.scale.data_ptr() == source.scale.data_ptr()
    assert isinstance(target.scale, nn.Parameter)


def test_loading_part_of_a_state():
    keys = Net().load_state_dict({"scale": torch.zeros(2), "other": torch.zeros(1)}, strict=False)
    assert keys.unexpected_keys == ["other"]
    assert keys.missing_keys == ["count", "layer.weight", "layer.bias", "again.weight", "again.bias"]


def test_hooks_of_states():
    net, seen = nn.Linear(1, 1), []
    net.register_state_dict_pre_hook(lambda module, prefix, keep_vars: seen.append(("before", prefix)))
    net.register_state_dict_post_hook(lambda module, state, prefix, metadata: state.update(extra=torch.ones(1)))
    net.register_load_state_dict_pre_hook(lambda module, state, *rest: state.pop("extra"))
    net.register_load_state_dict_post_hook(lambda module, keys: seen.append(keys))
    net.load_state_dict(net.state_dict())
    assert seen[0] == ("before", "") and seen[1] == ([], [])


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_copies_are_independent(duplicate):
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    twin = duplicate(net)
    x = torch.randn(3, 2)
    assert torch.equal(net(x), twin(x))
    twin[0].weight.data.zero_()
    assert net[0].weight.abs().sum() > 0
    assert isinstance(twin[0].weight, nn.Parameter) and twin[0].weight.requires_grad


def test_conversion_keeps_the_parameters():
    layer = nn.Linear(2, 2)
    layer(torch.ones(1, 2)).sum().backward()
    weight = layer.weight
    layer.double()
    assert layer.weight is weight
    assert weight.dtype is torch.float64 and weight.grad.dtype is torch.float64
    layer.register_buffer("index", torch.zeros(1, dtype=torch.int64))
    assert layer.to(torch.float16).index.dtype is torch.int64


def test_modes():
    net = nn.Sequential(nn.Dropout(), nn.Sequential(nn.Dropout()))
    assert not net.eval()[1][0].training
    assert net.train()[1][0].training
    assert not any(parameter.requires_grad for parameter in nn.Linear(1, 1).requires_grad_(False).parameters())


def test_zero_grad():
    layer = nn.Linear(1, 1)
    layer(torch.ones(1, 1)).backward()
    layer.zero_grad(set_to_none=False)
    assert layer.weight.grad.item() == 0
    layer.zero_grad()
    assert layer.weight.grad is None


def test_always_called_hooks_see_failures():
    layer, seen = nn.Linear(2, 2), []
    layer.register_forward_hook(lambda module, args, output: seen.append(output), always_call=True)
    with pytest.raises(RuntimeError):
        layer(torch.ones(1, 5))
    assert seen == [None]


def test_containers():
    layers = [nn.Linear(1, 1) for _ in range(4)]
    row = nn.Sequential(*layers)
    assert list(row[1:3]) == layers[1:3] and len(row) == 4 and row[-1] is layers[3]
    del row[0]
    assert list(row) == layers[1:] and list(dict(row.named_children())) == ["0", "1", "2"]
    assert list(row.insert(0, layers[0])) == layers
    assert row.pop(1) is layers[1]
    listed = nn.ModuleList(layers[:2]) + nn.ModuleList(layers[2:])
    assert list(listed) == layers
    by_name = nn.ModuleDict({"a": layers[0]})
    by_name["b"] = layers[1]
    assert list(by_name) == ["a", "b"] and by_name.pop("a") is layers[0] and len(by_name) == 1
    parameters = nn.ParameterList([torch.ones(1), torch.zeros(1)])
    assert len(list(parameters.parameters())) == 2


def test_apply_visits_children_first():
    seen = []
    nn.Sequential(nn.ReLU(), nn.Sequential(nn.Tanh())).apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["ReLU", "Tanh", "Sequential", "Sequential"]


def test_parameters_are_tensors_that_intercept_nothing():
    parameter = nn.Parameter(torch.ones(2))
    assert isinstance(parameter, torch.Tensor) and parameter.is_leaf and parameter.requires_grad
    assert type(parameter * 2) is torch.Tensor
    assert repr(parameter).startswith("Parameter containing:\ntensor(")
    with pytest.raises(RuntimeError, match="floating point"):
        nn.Parameter(torch.ones(2, dtype=torch.int64))


def test_old_batch_norm_files_lack_the_counter():
    state = nn.BatchNorm1d(2).state_dict()
    del state["num_batches_tracked"]
    state._metadata = None
    nn.BatchNorm1d(2).load_state_dict(dict(state))


def test_the_max_norm_of_an_embedding():
    layer = nn.Embedding(3, 2, max_norm=0.5)
    layer(torch.tensor([0, 0, 2]))
    lengths = layer.weight.detach().square().sum(1).sqrt()
    assert lengths[0] <= 0.5001 and lengths[2] <= 0.5001


def test_gradients_of_rows_that_are_not_there_are_left_out():
    """A product with a sparse matrix would add them to memory of others."""
    for dtype in (torch.int32, torch.int64):
        grad, indices = torch.arange(12.0).reshape(4, 3), torch.tensor([0, -1, 2, 9], dtype=dtype)
        found = torch.ops.aten.embedding_dense_backward(grad, indices, 4, -1, False)
        assert found.tolist() == [[0, 1, 2], [0, 0, 0], [6, 7, 8], [0, 0, 0]]
        wild = torch.arange(-1000, 1000, dtype=dtype) * 1000
        found = torch.ops.aten.embedding_dense_backward(torch.ones(2000, 3), wild, 4, -1, False)
        assert found.tolist() == [[1, 1, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]]


def test_a_rank_that_is_not_there_is_refused_without_data():
    for k in (0, 4, -1):
        for device in ("cpu", "meta"):
            with pytest.raises(RuntimeError, match="selected number k out of range for dimension 0"):
                torch.ones(3, device=device).kthvalue(k)
