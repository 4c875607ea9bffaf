"""What the node of every op of the table keeps: the same fields as in PyTorch, and no tensor more."""

import pytest
import torch

import mindtorch
from tests.harness import describe, samples_of, tensors_in
from tests.parity.ops.test_ops import both
from tests.parity.support.peer import torch_ops

OPS = torch_ops()
_MASK = 2**64


def shown(T, value):
    if isinstance(value, T.Tensor):
        return str(value.dtype), tuple(value.shape)
    if isinstance(value, (tuple, list)):
        return tuple(shown(T, each) for each in value)
    if value is None or isinstance(value, (bool, int, float, complex)):
        # torch shows negative numbers of dimensions as unsigned ones
        return value - _MASK if type(value) is int and value > _MASK // 2 else value
    return str(value)


def fields(T, node):
    names = (name for name in dir(node) if name.startswith("_saved_"))
    return {name: getattr(node, name) for name in names}


def node_of(T, outcome):
    nodes = (tensor.grad_fn for tensor in tensors_in(T, outcome.result))
    return None if outcome.error is not None else next((node for node in nodes if node is not None), None)


def is_tensor(T, value):
    return bool(tensors_in(T, value))


def differences(own, expected):
    """What differs between the fields of two nodes of one name."""
    ours, theirs = fields(mindtorch, own), fields(torch, expected)
    for name, value in ours.items():
        if name in theirs and shown(mindtorch, value) != shown(torch, theirs[name]):
            yield f"{name}: {shown(mindtorch, value)}, expected {shown(torch, theirs[name])}"
        elif name not in theirs and is_tensor(mindtorch, value):
            yield f"{name} is kept: {shown(mindtorch, value)}; torch keeps {sorted(theirs)}"


@pytest.mark.parametrize("op", OPS, ids=[op.name for op in OPS])
def test_fields(op):
    problems = []
    for sample in samples_of(op, "float64"):
        (actual, *_), (expected, *_) = both(op, sample, requires_grad=True)
        own, peer = node_of(mindtorch, actual), node_of(torch, expected)
        if own is not None and peer is not None and own.name() == peer.name():
            problems += [f"{own.name()} ({describe(sample)}): {each}" for each in differences(own, peer)]
    assert not problems, "\n".join(problems[:8])
