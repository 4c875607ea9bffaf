"""Networks that are trained on a device: as on the CPU, and on the NPU without a single op that the CPU computes."""

import pytest

import mindtorch as torch
from mindtorch import nn
from mindtorch.backends.npu import fallback
from tests.device.conftest import DEVICE


class _Recurrent(nn.Module):
    """A recurrent layer, and a layer for its last step."""

    def __init__(self, kind):
        super().__init__()
        self.layer = kind(5, 6, num_layers=2, batch_first=True, bidirectional=True)
        self.last = nn.Linear(12, 3)

    def forward(self, x):
        return self.last(self.layer(x)[0][:, -1])


class _Bags(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.bags = nn.Embedding(7, 4, padding_idx=0), nn.EmbeddingBag(7, 4, mode="mean")
        self.last = nn.Linear(8, 3)

    def forward(self, x):
        return self.last(torch.cat([self.table(x).mean(1), self.bags(x)], 1))


def _mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(20, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3))


def _images():
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(4, 6, 3, stride=2, bias=False), nn.GroupNorm(2, 6), nn.SiLU(), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(6, 3),
    )  # fmt: skip


def _attention():
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True, norm_first=True)
    return nn.Sequential(nn.Linear(5, 8), layer, nn.Flatten(), nn.Linear(32, 3))


# The module, and the shape of its input; a number is how many rows a table has.
MODELS = {
    "mlp": (_mlp, (4, 5), None),
    "images": (_images, (2, 9, 9), None),
    "attention": (_attention, (4, 5), None),
    "lstm": (lambda: _Recurrent(nn.LSTM), (4, 5), None),
    "gru": (lambda: _Recurrent(nn.GRU), (4, 5), None),
    "bags": (_Bags, (4,), 7),
}


def _trained(model, x, targets, lr):
    """The losses of some steps. With a larger eps, gradients that are nothing but rounding move no parameter."""
    optimizer = torch.optim.Adam(model.parameters(), lr=lr, eps=1e-3)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.filterwarnings("ignore:CAUTION")
@pytest.mark.parametrize("name", MODELS)
def test_a_network_is_trained(name, device):
    make, shape, rows = MODELS[name]
    torch.manual_seed(0)
    twin, x = make(), torch.randn(6, *shape) if rows is None else torch.randint(0, rows, (6, *shape))
    targets = torch.randint(0, 3, (6,))
    model = make()
    model.load_state_dict(twin.state_dict())
    model.to(device)
    fallback.used.clear()
    found = _trained(model, x.to(device), targets.to(device), 0.01)
    assert DEVICE != "npu" or not fallback.used
    assert found == pytest.approx(_trained(twin, x, targets, 0.01), rel=1e-4)
    for own, other in zip(model.state_dict().values(), twin.state_dict().values(), strict=True):
        assert own.device.type == device and torch.allclose(own.cpu(), other, rtol=1e-3, atol=1e-4)


@pytest.mark.filterwarnings("ignore:CAUTION")
class TestDropout:
    @pytest.fixture(autouse=True)
    def _without_the_cpu(self):
        fallback.used.clear()
        yield
        assert not fallback.used or DEVICE != "npu"

    @pytest.mark.parametrize("turned", [False, True])
    def test_a_part_is_kept_and_grows(self, device, turned):
        torch.manual_seed(3)
        x = torch.full((50, 40), 3.0, device=device)
        x = (x.t() if turned else x).requires_grad_()
        y = nn.functional.dropout(x, 0.25)
        kept = y != 0
        assert y.stride() == x.stride() and 0.7 < kept.float().mean() < 0.8
        assert torch.equal(y, kept * 4.0)
        (grad,) = torch.autograd.grad(y.sum(), x)
        assert torch.equal(grad, kept * torch.tensor(4 / 3))
        torch.manual_seed(3)
        assert torch.equal(nn.functional.dropout(x, 0.25), y)
        assert not torch.equal(nn.functional.dropout(x, 0.25), y)

    @pytest.mark.parametrize("p, train", [(0.0, True), (1.0, True), (0.5, False), (0.5, None), (0.5, True)])
    def test_with_its_mask(self, device, p, train):
        x = torch.randn(3, 70, device=device).add_(9)
        y, mask = torch.native_dropout(x, p, train)
        assert mask.dtype == torch.bool and mask.shape == x.shape and y.device == x.device
        scale = 1.0 if train is False else 0.0 if p == 1 else 1 / (1 - p)
        assert torch.allclose(y, x * mask * scale)
        if train is False or p == 0:
            assert mask.all()
        elif p == 1:
            assert not mask.any()

    def test_a_transformer_that_drops(self, device):
        torch.manual_seed(0)
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.3, batch_first=True).to(device)
        x = torch.randn(3, 4, 8, device=device)
        layer(x).sum().backward()
        assert all(each.grad is not None for each in layer.parameters())
        layer.eval()
        assert torch.equal(layer(x), layer(x))
