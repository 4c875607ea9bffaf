"""Five seconds, the whole way: data, a model, gradients, an optimizer, a loss that falls, a file that comes back."""

import io

import mindtorch as torch
from mindtorch import nn


def test_a_small_network_learns():
    torch.manual_seed(0)
    inputs = torch.randn(64, 2)
    targets = (inputs[:, 0] * inputs[:, 1] > 0).long()
    model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]
    accuracy = (model(inputs).argmax(1) == targets).float().mean().item()
    assert accuracy > 0.9

    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    again = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
    again.load_state_dict(torch.load(file))
    assert torch.equal(again(inputs), model(inputs))


def test_gradients_by_hand():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = (x * x).sum()
    y.backward()
    assert x.grad.tolist() == [2.0, 4.0, 6.0]
    assert repr(x) == "tensor([1., 2., 3.], requires_grad=True)"
    assert repr(y) == "tensor(14., grad_fn=<SumBackward0>)"
