"""Warnings name the line of the program that caused them, not one of the library."""

import ast
import inspect
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import mindtorch as torch
from mindtorch import nn
from mindtorch._core import state
from mindtorch._support.warnings import warn_once
from mindtorch.nn import functional as F

LIBRARY = Path(torch.__file__).parent


def calls_of_warn():
    """Where the library warns without looking for the program's line, unless a caller says how deep it is."""
    for path in LIBRARY.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "warnings.warn":
                level = next((each.value for each in node.keywords if each.arg == "stacklevel"), ast.Constant(1))
                if isinstance(level, ast.Constant):
                    yield f"{path.relative_to(LIBRARY)}:{node.lineno}"


def test_every_warning_looks_for_the_line():
    assert not list(calls_of_warn()), "call mindtorch._support.warnings.warn, which finds the line"


def leaf(*shape):
    return torch.ones(*shape, requires_grad=True)


def with_full_backward_hook(x):
    module = nn.Linear(2, 2)
    module.register_full_backward_hook(lambda *args: None)
    return module(x).sum()


def with_backward_hook(x):
    module = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    module.register_backward_hook(lambda *args: None)
    return lambda: module(x)


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def old_scheduler():
    optimizer = torch.optim.SGD([leaf(2)], lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    return lambda: scheduler.step()


# Each gives the call that warns.
WARNINGS = {
    "backward hook without gradient of inputs": lambda: with_full_backward_hook(torch.ones(1, 2)).backward,
    "backward hook of several nodes": lambda: with_backward_hook(leaf(1, 2)),
    "grad of a tensor that is no leaf": lambda: lambda: (leaf(2) * 2).grad,
    "create_graph": lambda: lambda: leaf(2).sum().backward(create_graph=True),
    "anomaly mode": lambda: lambda: torch.autograd.detect_anomaly().__enter__(),
    "number of a tensor with a gradient": lambda: lambda: float(leaf(1)),
    "read-only array": lambda: lambda: torch.from_numpy(np.broadcast_to(np.ones(1), 3)),
    "tensor of a tensor": lambda: lambda: torch.tensor(torch.ones(2)),
    "imaginary part discarded": lambda: lambda: torch.ones(2, dtype=torch.complex64).float(),
    "sizes of a loss": lambda: lambda: F.mse_loss(torch.ones(2, 1), torch.ones(2)),
    "size_average": lambda: lambda: F.mse_loss(torch.ones(2), torch.ones(2), size_average=True),
    "softmax without dim": lambda: lambda: F.softmax(torch.ones(2, 2)),
    "nn.Softmax without dim": lambda: lambda: nn.Softmax()(torch.ones(2, 2)),
    "std without freedom": lambda: lambda: torch.ones(1).std(),
    "out that is resized": lambda: lambda: torch.add(torch.ones(3), 1, out=torch.ones(2)),
    "transposed numbers": lambda: lambda: torch.ones(2, 2, 2).T,
    "dropout of one feature": lambda: lambda: nn.RNN(2, 2, dropout=0.5),
    "init of nothing": lambda: lambda: nn.init.kaiming_uniform_(torch.empty(0, 2)),
    "scheduler before optimizer": old_scheduler,
    "checkpoint": lambda: lambda: torch.utils.checkpoint.checkpoint(torch.sin, leaf(2)),
    "variable": lambda: lambda: torch.autograd.Variable(torch.ones(2), volatile=True),
    "typed storage": lambda: lambda: torch.ones(2).storage(),
    "upsample": lambda: lambda: F.upsample(torch.ones(1, 1, 2), scale_factor=2),
    "uneven range": lambda: lambda: torch.range(0, 3),
    "call in an old form": lambda: lambda: torch.add(torch.ones(2), 2, torch.ones(2)),
}


@pytest.mark.parametrize("name", WARNINGS)
def test_line_of_warning(name):
    call = WARNINGS[name]()
    torch.set_warn_always(True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        here = inspect.currentframe().f_lineno + 1
        call()
        state.set_anomaly(False)  # which one of the calls has switched on
    torch.set_warn_always(False)
    assert caught, "there was no warning"
    first = caught[0]
    assert first.filename == __file__, f"{first.filename}:{first.lineno}"
    assert first.lineno == here or "lambda" in Path(__file__).read_text().splitlines()[first.lineno - 1]


def test_some_warnings_come_once():
    def count(always):
        torch.set_warn_always(always)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for kind in ("a test", "a test", "another"):
                warn_once(f"of {kind}", kind=f"{kind}, {always}")
        torch.set_warn_always(False)
        return len(caught), torch.is_warn_always_enabled()

    assert count(always=False) == (2, False) and count(always=True) == (3, False)


def test_frames_of_context_managers_are_left_out():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with torch.autograd.detect_anomaly():
            pass
    assert [each.filename for each in caught] == [__file__]
    assert sys.modules["mindtorch._support.warnings"].__file__ not in {each.filename for each in caught}
