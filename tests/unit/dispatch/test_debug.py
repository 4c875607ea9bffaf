"""MINDTORCH_DEBUG=1 finds kernels that do not do what the schema of their op says."""

import os
import subprocess
import sys

import numpy as np
import pytest

import mindtorch as torch
from mindtorch._core import state
from mindtorch.backends.cpu.pointwise import pointwise
from mindtorch.dispatch.modes import debug
from mindtorch.dispatch.registry import KernelTable, kernel_table, register_kernel


@pytest.fixture
def checking(monkeypatch):
    monkeypatch.setattr(debug, "ON", True)
    monkeypatch.setattr(KernelTable, "__getitem__", debug.watched)
    state.count_active_mode(1)
    yield
    state.count_active_mode(-1)


@pytest.fixture
def plant():
    """Registers a faulty kernel for the time of a test."""
    planted = []

    def put(op, kernel):
        planted.append((kernel_table(op), dict(kernel_table(op)), kernel_table(op).direct))
        register_kernel("CPU", op, kernel)

    yield put
    for table, kernels, direct in reversed(planted):
        table.clear()
        dict.update(table, kernels)
        table.direct = direct


def returns_its_input(input, out=None):
    return input


def copies(input, dim, index):
    return input[index].copy()


def memory_twice(input, dim, keepdim, out=None):
    return (values := np.zeros(3)), values.view(np.int64)


@pytest.mark.parametrize(
    ("op", "kernel", "call", "message"),
    [
        ("exp", returns_its_input, "x.exp()", r"aten::exp is no view op, and its result shares memory with an input"),
        ("select.int", copies, "x[0]", r"aten::select.int is a view op and returned memory of its own, of shape"),
        ("max.dim", memory_twice, "y.max(0)", r"aten::max.dim is no view op, and its result shares memory"),
    ],
    ids=["shared", "copied", "shared among results"],
)
def test_a_faulty_kernel(checking, plant, op, kernel, call, message):
    plant(op, kernel)
    with pytest.raises(debug.KernelError, match=message) as caught:
        eval(call, {"x": torch.ones(2, 3), "y": torch.ones(2, 3)})
    assert f"(schema: aten::{op}(" in str(caught.value)


def doubles(input, out=None):
    return np.exp(input, dtype=np.float64)


def flat(input, other, out=None):
    return np.multiply(input, other).reshape(-1)


def one_dimension_less(input, dim, keepdim, out=None):
    return np.max(input, axis=dim), np.argmax(input, axis=dim, keepdims=keepdim)


def reversed_view(input, dim, index):
    return input[index : index + 1]


@pytest.mark.parametrize(
    ("op", "kernel", "call", "found", "wanted"),
    [
        ("exp", doubles, "x.exp()", "(2, 3) torch.float64", "(2, 3) torch.float32"),
        ("mul.Tensor", flat, "x * x", "(6,) torch.float32", "(2, 3) torch.float32"),
        ("mul.Tensor", flat, "x * 2", "(6,) torch.float32", "(2, 3) torch.float32"),
        ("mul.Tensor", flat, "x.int() * 2.5", "(6,) torch.float64", "(2, 3) torch.float32"),
        ("max.dim", one_dimension_less, "x.max(0, True)", "(3,) torch.float32", "(1, 3) torch.float32"),
        ("select.int", reversed_view, "x[0]", "(1, 3) torch.float32", "(3,) torch.float32"),
    ],
)
def test_a_kernel_that_does_not_follow_its_rules(checking, plant, op, kernel, call, found, wanted):
    plant(op, kernel)
    with pytest.raises(debug.KernelError) as caught:
        eval(call, {"x": torch.ones(2, 3)})
    name = f"tests.unit.dispatch.test_debug.{kernel.__name__}"
    text = f"aten::{op} has a kernel, {name}, that returned {found} where ops.yaml gives {wanted} (schema: aten::{op}("
    assert str(caught.value).startswith(text)


def forgets_out(input, out=None):
    return np.exp(input)


def wider_than_out(input, out=None):
    return np.exp(input, dtype=np.float64)


def forgets_one_of_two(input, dim, keepdim, out=None):
    values = np.max(input, axis=dim, out=None if out is None else out[0])
    return values, np.argmax(input, axis=dim)


def adds_to_a_scalar(input, dim, keepdim, dtype, out=None):
    return np.sum(input)


def scalar_among_two(input, dim, keepdim, out=None):
    return np.asarray(input.max()), input.argmax()


IGNORED = "ignored its `out`: it returned an array {} (end it in `return deliver(result, out)`; out is {})"


@pytest.mark.parametrize(
    ("op", "kernel", "call", "message"),
    [
        ("exp", forgets_out, "x.exp_()", IGNORED.format("(3,) float32", "(3,) float32")),
        ("exp", forgets_out, "torch.exp(x, out=torch.empty(3))", IGNORED.format("(3,) float32", "(3,) float32")),
        ("exp", wider_than_out, "torch.exp(x, out=torch.empty(0))", IGNORED.format("(3,) float64", "(0,) float32")),
        (
            "max.dim",
            forgets_one_of_two,
            "torch.max(x, 0, out=(torch.empty(()), torch.empty((), dtype=torch.int64)))",
            IGNORED.format("() int64", "() int64"),
        ),
        (
            "max.dim",
            forgets_one_of_two,
            "torch.max(y, 0, out=(torch.empty(3), torch.empty(3, dtype=torch.int64)))",
            IGNORED.format("(3,) int64", "(3,) int64"),
        ),
        ("sum.dim_IntList", adds_to_a_scalar, "x.sum(0)", "returned a number of NumPy's, "),
        ("max.dim", scalar_among_two, "x.max(0)", "(make it an array: np.asarray(...))"),
    ],
)
def test_a_kernel_that_returns_something_else(checking, plant, op, kernel, call, message):
    plant(op, kernel)
    with pytest.raises(debug.KernelError) as caught:
        eval(call, {"x": torch.ones(3), "y": torch.ones(2, 3), "torch": torch})
    start = f"aten::{op} has a kernel, tests.unit.dispatch.test_debug.{kernel.__name__}, that "
    assert str(caught.value).startswith(start)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("m - m", "Subtraction, the `-` operator, with two bool tensors is not supported"),
        ("m.log_softmax(0)", "not implemented for 'Bool'"),
        ("x.sum(3)", "Dimension out of range"),
        ("x + torch.ones(2)", "The size of tensor a"),
    ],
)
def test_errors_that_are_meant_stay(checking, call, error):
    with pytest.raises((RuntimeError, IndexError), match=error):
        eval(call, {"x": torch.ones(3), "m": torch.ones(3) > 0, "torch": torch})


def test_the_kernel_is_named_as_the_entry_names_it(checking, plant, monkeypatch):
    """Kernels that a factory makes all have the factory's name."""
    monkeypatch.setattr(pointwise, "made_by_a_factory", doubles, raising=False)
    plant("exp", doubles)
    with pytest.raises(
        debug.KernelError, match=r"a kernel, mindtorch\.backends\.cpu\.pointwise\.pointwise\.made_by_a_factory, that"
    ):
        torch.ones(2).exp()


@pytest.mark.parametrize(
    "call",
    [
        "x.nonzero()", "x[x > 0]", "x.sum().item()", "x.to(torch.float64)", "x.to('meta')", "torch.zeros_like(x)",
        "torch.cat([x, x])", "torch.add(x, x, out=torch.empty(2, 3))", "x.add_(1)", "torch.dropout(x, 0.5, True)",
        "x.to_sparse()", "torch.where(x > 0, x, 0)", "x.unbind()", "torch.tensor(1.0) + x", "x.unique()",
    ],
)  # fmt: skip
def test_right_kernels_pass(checking, call):
    eval(call, {"x": torch.ones(2, 3), "torch": torch})


def test_asking_the_rules_draws_no_random_numbers(checking):
    def numbers():
        torch.manual_seed(0)
        return [torch.ones(3).bernoulli().tolist(), torch.rand(3).tolist(), torch.ones(3).uniform_().tolist()]

    checked = numbers()
    debug.ON = False
    assert checked == numbers()


def test_the_rules_one_by_one():
    """Rules that no kernel can break, because the generated functions see to them."""
    x, other = torch.ones(2), torch.ones(2)
    cases = [
        ("mul_", lambda input, other: input, (x, x), "left its version at 0"),
        ("mul_", lambda input, other: (input.add_(1), other)[1], (x, other), "must return the tensors that it has"),
        ("exp", lambda input: (input.add_(1), torch.zeros(2))[1], (torch.ones(2),), "raised the version of an input"),
    ]
    for base, run, args, message in cases:
        packet = getattr(torch.ops.aten, base)
        overload = next(iter(packet._overloads.values()))
        run.op = overload._entry
        with pytest.raises(debug.KernelError, match=message):
            debug.checked(lambda function, args, kwargs: function(*args, **kwargs), run, args, {})


def test_a_node_for_another_result():
    x = torch.ones(2, requires_grad=True)

    def run(function, args, kwargs):
        result = torch.exp(*args)
        result.grad_fn.output_shape = (3,)
        return result

    with pytest.raises(
        debug.KernelError, match=r"has a result like \(2,\) torch.float32, and a node for \(3,\) float32"
    ):
        debug.checked(run, torch.exp, (x,), {})


def test_correct_programs_pass(checking):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = (x * 2).add_(1)
    y[0].mul_(2)
    torch.add(torch.ones(2), 1, out=torch.empty(2))
    (y.t() @ y).sum().backward()
    assert x.grad.shape == (2, 3)


def test_the_environment_switches_it_on():
    program = "from mindtorch.dispatch.modes import debug; import mindtorch; mindtorch.ones(2) + 1; print(debug.ON)"
    for value in ("1", "0"):
        environment = dict(os.environ, MINDTORCH_DEBUG=value, PYTHONPATH=":".join(sys.path))
        command = [sys.executable, "-c", program]
        run = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        assert run.stdout.strip() == str(value == "1")
