"""Optimizers on a device: steps as on the CPU, and how many launches one takes on the NPU."""

import pytest

import mindtorch as torch
from mindtorch.backends.npu import fallback
from tests.device.conftest import DEVICE
from tests.npu import simulator

SHAPES = [(3, 4), (5,), (), (2, 3, 2), (1,), (4, 1)]
OPTIONS = [
    {},
    {"weight_decay": 0.25},
    {"amsgrad": True, "betas": (0.5, 0.75)},
    {"maximize": True, "eps": 1e-3},
]


def _parameters(device):
    torch.manual_seed(0)
    made = [torch.randn(shape) for shape in SHAPES]
    return [each.to(device).requires_grad_() for each in made]


def _stepped(kind, device, steps=3, **options):
    parameters = _parameters(device)
    optimizer = kind(parameters, lr=0.1, **options)
    for count in range(steps):
        for own in parameters:
            own.grad = (own.detach() * (count + 1)).cos()
        optimizer.step()
    return parameters, optimizer


@pytest.mark.filterwarnings("ignore:CAUTION")
@pytest.mark.parametrize("kind", [torch.optim.Adam, torch.optim.AdamW])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_fused_step_is_that_of_the_cpu(kind, options, device):
    fallback.used.clear()
    found, optimizer = _stepped(kind, device, fused=True, **options)
    assert DEVICE != "npu" or not fallback.used
    expected, twin = _stepped(kind, "cpu", **options)
    for own, other in zip(found, expected, strict=True):
        assert torch.allclose(own.cpu(), other, rtol=1e-4, atol=1e-5)
        assert own._version == 3
        for name, value in twin.state[other].items():
            assert torch.allclose(optimizer.state[own][name].cpu(), value, rtol=1e-4, atol=1e-5), name


@pytest.mark.skipif(DEVICE != "npu", reason="launches are counted by the simulated device")
@pytest.mark.parametrize("kind", [torch.optim.Adam, torch.optim.AdamW])
def test_a_fused_step_is_a_launch_for_each_parameter(kind, device):
    parameters, optimizer = _stepped(kind, device, fused=True)
    before = simulator.start().stats()["launches"]
    optimizer.step()
    assert simulator.start().stats()["launches"] - before <= len(parameters) + 5
