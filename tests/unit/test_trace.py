"""The dispatch trace of the first program of every tutorial."""

import subprocess
import sys

import pytest

import mindtorch as torch
from mindtorch import state
from mindtorch.dispatch.trace import show_dispatch_trace

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
[call] op=[aten::sum], key=[AutogradCPU]
[call] op=[aten::ones_like], key=[AutogradCPU]
[call] op=[aten::expand], key=[AutogradCPU]
[call] op=[aten::t], key=[AutogradCPU]
[call] op=[aten::mm], key=[AutogradCPU]
[call] op=[aten::t], key=[AutogradCPU]
[call] op=[aten::mm], key=[AutogradCPU]
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
    assert capsys.readouterr().err.splitlines()[-1] == "[call] op=[aten::exp], key=[AutogradCPU]"
    assert state.thread.trace_depth == 0


def test_a_parameter_may_have_the_name_of_its_function(capsys):
    with show_dispatch_trace():
        torch.nn.functional.pad(torch.ones(1, 2), (1, 1))
    assert "aten::pad]" in capsys.readouterr().err
