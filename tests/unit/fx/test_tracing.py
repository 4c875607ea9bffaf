"""What a trace costs a program, and what PyTorch does not do."""

import gc

import pytest

import mindtorch as torch
from mindtorch._core import state


def test_functions_look_at_their_arguments_only_while_something_is_traced():
    torch.fx.symbolic_trace(lambda x: torch.relu(x))
    gc.collect()
    before = state.active_modes
    tracer = torch.fx.Tracer()
    tracer.trace(lambda x: torch.relu(x) + 1)
    assert state.active_modes == before + 1
    del tracer
    gc.collect()
    assert state.active_modes == before


PROGRAM = """
def plain(x):
    assert x.shape[0] == 2
    return x

def with_text(x):
    assert x, "a text"
"""


class Asserting(torch.fx.Tracer):
    trace_asserts = True


def test_asserts_are_traced():
    functions = {}
    exec(PROGRAM, functions)  # pytest has another form of the assert statements in this file
    graph = Asserting().trace(functions["plain"])
    assert "assert_fn" in [node.name for node in graph.nodes]
    traced = torch.fx.GraphModule(torch.nn.Module(), graph)
    assert traced(torch.ones(2)).shape == (2,)
    with pytest.raises(AssertionError, match="Assertion failed"):
        traced(torch.ones(3))
    with pytest.raises(torch.fx.proxy.TraceError, match="control flow"):
        Asserting().trace(functions["with_text"])


def test_functions_that_were_imported_before_are_traced():
    plain = getattr(torch.relu, "function", torch.relu)
    traced = torch.fx.symbolic_trace(lambda x: plain(x))
    assert "torch.relu(x)" in traced.code
    assert traced(torch.tensor([-1.0])).tolist() == [0]


def test_modules_are_as_before_when_a_trace_fails():
    call, getattribute = torch.nn.Module.__call__, torch.nn.Module.__getattr__
    net = torch.nn.Linear(2, 2)

    class Failing(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, x):
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        torch.fx.symbolic_trace(Failing())
    assert torch.nn.Module.__call__ is call and torch.nn.Module.__getattr__ is getattribute
    assert "_has_plain_lookup" not in net.__dict__


def test_stacks_are_recorded():
    """In torch this imports its compiler, which changes functions for all later tests; so no program does it."""

    class Net(torch.nn.Module):
        def forward(self, x):
            y = x + 1
            return y.relu()

    class Recording(torch.fx.Tracer):
        record_stack_traces = True

    nodes = {node.name: node for node in Recording().trace(Net()).nodes}
    assert nodes["add"].stack_trace.splitlines()[-1].strip() == "y = x + 1"
    assert "in forward" in nodes["relu"].stack_trace
