"""Importing switches nothing on: what intercepts calls makes every op slow."""

import gc
import os
import subprocess
import sys

import pytest

import mindtorch
from mindtorch._core import state

AREAS = (
    "amp", "autograd.forward_ad", "autograd.functional", "compiler", "distributions", "func", "library", "nn",
    "nn.utils.parametrize", "nn.utils.prune", "optim.swa_utils", "overrides", "testing", "utils.checkpoint",
    "utils.data", "utils.graph",
)  # fmt: skip


@pytest.fixture(scope="module")
def switches() -> dict[str, str]:
    """What looks at calls after the import of one area after the other, in a new process."""
    program = f"""
import importlib, mindtorch, mindtorch._core.state as state
for area in {AREAS}:
    importlib.import_module("mindtorch." + area)
    mindtorch.ones(3) * mindtorch.nn.Linear(3, 3)(mindtorch.ones(3))
    print(area, state.active_modes, state.recorded_passes, state.grad_everywhere)
"""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MINDTORCH_")}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=plain)
    return dict(line.split(" ", 1) for line in run.stdout.splitlines())


@pytest.mark.parametrize("area", AREAS)
def test_importing_leaves_calls_alone(area: str, switches: dict[str, str]) -> None:
    assert switches[area] == "0 0 True"


@pytest.mark.usefixtures("settled")
def test_lazy_layers_cost_nothing_once_they_have_their_shape() -> None:
    before = state.active_modes
    layer = mindtorch.nn.LazyLinear(3)
    assert state.active_modes > before
    layer(mindtorch.ones(2, 5))
    assert state.active_modes == before
    layer = mindtorch.nn.LazyBatchNorm1d()
    del layer
    gc.collect()
    assert state.active_modes == before


def test_the_first_call_is_taken_over_as_all_later_ones_are() -> None:
    program = """
import mindtorch
from mindtorch.overrides import resolve_name

class Duck:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func is mindtorch.mean

shape = mindtorch.Tensor.shape.__get__
print(mindtorch.mean(Duck()), mindtorch.mean(Duck()), mindtorch.add(Duck(), 1), resolve_name(shape))
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True", "True", "False", "torch.Tensor.shape.__get__"]
