"""The dispatch trace of the first program of every tutorial, and of calls that take other ways."""

import subprocess
import sys

import pytest

import mindtorch as torch
from mindtorch._core import state
from mindtorch.dispatch.modes.trace import show_dispatch_trace
from mindtorch.utils._python_dispatch import TorchDispatchMode

PROGRAM = """
import mindtorch as torch
A = torch.tensor([[2., 3.], [1., 4.]], requires_grad=True)
x = torch.tensor([[6.], [-5.]], requires_grad=True)
y = A @ x
z = y.sum()
z.backward()
"""

LINES = """
[call] op=[aten::matmul], key=[AutogradCPU]
 [call] op=[aten::mm], key=[AutogradCPU]
  [redispatch] op=[aten::mm], key=[CPU]
[call] op=[aten::sum], key=[AutogradCPU]
 [redispatch] op=[aten::sum], key=[CPU]
[call] op=[aten::ones_like], key=[AutogradCPU]
 [redispatch] op=[aten::ones_like], key=[CPU]
[call] op=[aten::expand], key=[AutogradCPU]
 [redispatch] op=[aten::expand], key=[CPU]
[call] op=[aten::t], key=[AutogradCPU]
 [redispatch] op=[aten::t], key=[CPU]
[call] op=[aten::mm], key=[AutogradCPU]
 [redispatch] op=[aten::mm], key=[CPU]
[call] op=[aten::t], key=[AutogradCPU]
 [redispatch] op=[aten::t], key=[CPU]
[call] op=[aten::mm], key=[AutogradCPU]
 [redispatch] op=[aten::mm], key=[CPU]
""".strip()


@pytest.mark.parametrize(("value", "expected"), [("1", LINES), ("0", "")])
def test_the_environment_switches_it_on(value, expected):
    environment = {"MINDTORCH_SHOW_DISPATCH_TRACE": value, "PYTHONPATH": ":".join(sys.path)}
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment, check=True)
    assert run.stderr.strip() == expected and run.stdout == ""


def test_a_context_manager_does_the_same(capsys):
    with show_dispatch_trace():
        exec(PROGRAM, {})
    assert capsys.readouterr().err.strip() == LINES


def test_an_error_keeps_the_depth_right(capsys):
    with show_dispatch_trace():
        with pytest.raises(RuntimeError, match="cannot be multiplied"):
            torch.matmul(torch.ones(2, 3), torch.ones(2, 3))
        torch.exp(torch.ones(1))
    assert capsys.readouterr().err.splitlines()[-2:] == [
        "[call] op=[aten::exp], key=[AutogradCPU]",
        " [redispatch] op=[aten::exp], key=[CPU]",
    ]
    assert state.thread.trace_depth == 0


def test_a_parameter_may_have_the_name_of_its_function(capsys):
    with show_dispatch_trace():
        torch.nn.functional.pad(torch.ones(1, 2), (1, 1))
    assert "aten::pad]" in capsys.readouterr().err


def in_inference_mode():
    with torch.inference_mode():
        torch.ones(2).exp()


CALLS = {
    "a factory": (
        lambda: torch.ones(2, device="meta"),
        ["[call] op=[aten::ones], key=[BackendSelect]", " [redispatch] op=[aten::ones], key=[Meta]"],
    ),
    "inference mode has no autograd to go through": (
        in_inference_mode,
        [
            "[call] op=[aten::ones], key=[BackendSelect]",
            " [redispatch] op=[aten::ones], key=[CPU]",
            "[call] op=[aten::exp], key=[CPU]",
        ],
    ),
    "an op with out= is another op": (
        lambda: torch.exp(WRITTEN, out=WRITTEN),
        [
            "[call] op=[aten::exp.out], key=[AutogradCPU]",
            " [redispatch] op=[aten::exp.out], key=[CPU]",
        ],
    ),
}
WRITTEN = torch.ones(2)


@pytest.mark.parametrize("case", CALLS)
def test_calls_that_take_other_ways(case, capsys):
    program, lines = CALLS[case]
    with show_dispatch_trace():
        program()
    assert capsys.readouterr().err.splitlines() == lines


class Nothing(TorchDispatchMode):
    """Calls no kernel."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return args[0]


def test_a_mode_takes_the_place_of_the_kernel(capsys):
    with Nothing(), show_dispatch_trace():
        torch.exp(WRITTEN)
    assert capsys.readouterr().err.splitlines() == [
        "[call] op=[aten::exp], key=[AutogradCPU]",
        " [redispatch] op=[aten::exp], key=[Python]",
    ]
