"""The fast paths of kernels give what the slow path gives, bit for bit: results, gradients, strides and errors."""

import warnings

import numpy as np
import pytest

import mindtorch as torch
from mindtorch._core import fast_path
from mindtorch.backends.cpu.common import computing, elementwise
from tests.harness import (
    arguments_of,
    describe,
    dtypes_of,
    function_of,
    inplace_samples,
    outcome,
    result_difference,
    sampled_ops,
    samples_of,
    tensors_in,
    variant,
)

OPS = sampled_ops()
DTYPES = ("float32", "int64", "bfloat16")


@pytest.fixture
def without_fast_paths(monkeypatch):
    """Switches them off: no array is known to be plain, and elementwise kernels have nothing but the iterator."""
    broadcast = computing._broadcast

    def only_other_backends(op, a, b, out):
        return broadcast(op, a, b, out) if type(b) in computing.MIXED else None

    def fails(function, *args, **kwargs):
        raise KeyError(function)

    def switch_off():
        monkeypatch.setattr(fast_path, "_look_at", lambda array: False)
        monkeypatch.setattr(elementwise, "run_quietly", fails)
        monkeypatch.setattr(computing, "_direct_operands", lambda op, operands: None)
        monkeypatch.setattr(computing, "_loop_of_few_halves", lambda op, operands, out: None)
        monkeypatch.setattr(computing, "_broadcast", only_other_backends)

    return switch_off


def calls(op):
    """The op, and its in-place variant, with a sample: those of some dtypes that take different ways."""
    form = variant(op, "inplace")
    for dtype in DTYPES:
        if dtype in dtypes_of(op):
            yield from ((op, sample, dtype == "float32") for sample in samples_of(op, dtype))
            if form is not None:
                yield from ((form, sample, False) for sample in inplace_samples(form, dtype))


def run(op, sample, requires_grad):
    """What a call gives, what it has written, and the gradients of its inputs."""
    torch.manual_seed(0)
    args = arguments_of(torch, list(sample.args), requires_grad)
    kwargs = arguments_of(torch, sample.kwargs, requires_grad)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        ran = outcome(function_of(torch, op), args, kwargs)
    inputs = [each for each in tensors_in(torch, [args, kwargs]) if each.requires_grad]
    outputs = [each for each in tensors_in(torch, ran.result) if each.requires_grad] if inputs else []
    given = [torch.ones_like(each) for each in outputs]
    gradients = outcome(torch.autograd.grad, (outputs, inputs, given), {"allow_unused": True}) if outputs else ran
    return ran, args, gradients


def bits(value):
    arrays = (each._mt_array for each in tensors_in(torch, value))
    return [np.ascontiguousarray(array).tobytes() for array in arrays if type(array) is np.ndarray]


def difference(slow, fast):
    if slow.error is not None or fast.error is not None:
        return None if repr(slow.error) == repr(fast.error) else f"{slow.error!r}, {fast.error!r}"
    if bits(slow.result) != bits(fast.result):
        return f"{slow.result}, {fast.result}"
    return result_difference(torch, torch, slow.result, fast.result)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_slow_path_gives_the_same(op, without_fast_paths):
    listed = list(calls(op))
    fast = [run(*call) for call in listed]
    without_fast_paths()
    for (form, sample, requires_grad), (result, args, gradients) in zip(listed, fast):
        slow, slow_args, slow_gradients = run(form, sample, requires_grad)
        found = difference(slow, result) or difference(slow_gradients, gradients)
        assert found is None, f"{form.name}({describe(sample)}): {found}"
        assert bits(slow_args) == bits(args), f"{form.name}({describe(sample)})"


def test_plain_operands_take_the_iterator(without_fast_paths, monkeypatch):
    """What the test above switches off is all that keeps calls from the iterator."""
    planned, plan = [], computing.Builder.plan
    monkeypatch.setattr(computing.Builder, "plan", lambda *args: planned.append(args) or plan(*args))
    x, y = torch.ones(2, 3), torch.ones(2, 3)
    operations = (lambda: x + y, lambda: x * 2.0, lambda: x.exp(), lambda: x.add_(y), lambda: torch.mul(x, y, out=y))
    for operation in operations:
        operation()
    assert planned == []
    without_fast_paths()
    x, y = torch.ones(2, 3), torch.ones(2, 3)
    for operation in operations:
        operation()
    assert len(planned) == len(operations)
