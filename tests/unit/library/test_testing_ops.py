"""The checks for ops of other packages notice what is wrong with an op, and pass when nothing is."""

from types import SimpleNamespace

import numpy as np
import pytest

import mindtorch as torch
from mindtorch._core.tensor import wrap
from mindtorch._support.errors import missing_kernel
from mindtorch.autograd import Function
from mindtorch.dispatch.registry import kernel_table, register_kernel, register_op, unregister_op
from mindtorch.testing.ops import Maker, OpRow, call, checks, unvaried


def unary(make):
    yield call(make(3))
    yield call(make(2, 2))


SAMPLES = SimpleNamespace(unary=unary, REFERENCES={"exp": np.exp, "twice": lambda values: 2 * values})
EXP = OpRow("exp", "unary", "wide_float_complex", inplace="exp_", out="exp.out")


class Twice(Function):
    """Doubles its input, as its gradient says."""

    gradient = 2.0

    @classmethod
    def forward(cls, ctx, x):
        return x * 2

    @classmethod
    def backward(cls, ctx, grad):
        return grad * cls.gradient


class WrongGradient(Twice):
    gradient = 3.0


def twice(input):
    return Twice.apply(input)


def thrice(input):
    return input * 3


def of_wrong_gradient(input):
    return WrongGradient.apply(input)


def that_writes(input):
    result = input * 2
    with torch.no_grad():
        input.zero_()
    return result


def of_wrong_shape(input):
    return input.sum() if input.device.type == "meta" else input * 2


@pytest.fixture
def checked():
    """A function that registers an op and gives its checks by name."""
    registered = []

    def check(function, **details):
        schema = "testing::twice(Tensor self) -> Tensor"
        registered.append(register_op(schema, function, **details).name)
        return {each.what: each for each in checks([OpRow("testing::twice", "unary", "wide_float")], SAMPLES)}

    yield check
    for name in registered:
        unregister_op(name)


def test_an_op_of_mindtorch_passes():
    found = checks([EXP], SAMPLES)
    names = {check.what for check in found}
    assert {"value in float32", "shape in float64", "in place in complex64", "out= in float32"} <= names
    assert {"gradient in float64", "second gradient in complex128", "forward mode in float64"} <= names
    assert str(found[0]) == "exp: value in float32"
    for check in found:
        if not check.what.startswith("on "):  # other tests register backends that can do next to nothing
            check()


def test_a_right_op_passes(checked):
    found = checked(twice, differentiable=True)
    assert "forward mode in float64" not in found  # it has none
    for check in found.values():
        check()


def test_an_op_that_is_in_place_only_works_on_copies():
    for check in checks([OpRow("exp_", "unary", "wide_float")], SAMPLES):
        if not check.what.startswith("on "):
            check()


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (thrice, "value in float32"),
        (that_writes, "value in float64"),
        (of_wrong_gradient, "gradient in float64"),
        (of_wrong_shape, "shape in float32"),
    ],
)
def test_a_wrong_op_is_noticed(checked, function, what):
    found = checked(function, composite=True)
    with pytest.raises((AssertionError, RuntimeError)):
        found[what]()


def test_wrong_variants_are_noticed():
    row = OpRow("exp", "unary", "wide_float", inplace="neg_", out="exp.out")
    found = {check.what: check for check in checks([row], SAMPLES)}
    with pytest.raises(AssertionError):
        found["in place in float32"]()


def kernel_that_ignores_out(input, out=None):
    return np.exp(input)


def test_an_out_that_stays_as_it_was_is_noticed(monkeypatch):
    monkeypatch.setitem(kernel_table("exp"), np.ndarray, kernel_that_ignores_out)
    found = {check.what: check for check in checks([EXP], SAMPLES)}
    with pytest.raises(AssertionError, match="does not write to the memory of `out`|ignored its `out`"):
        found["out= in float32"]()


def of_a_scalar(input):
    return wrap(np.exp(input._mt_array)[()])


def unfinished(make):
    raise NotImplementedError("yield calls of unfinished in tests/samples.py")


def without_dimensions(make):
    yield call(make())


def test_a_numpy_scalar_is_an_error_of_the_kernel(checked):
    checked(of_a_scalar)
    row = OpRow("testing::twice", "without_dimensions", "wide_float")
    found = checks([row], SimpleNamespace(without_dimensions=without_dimensions))
    with pytest.raises(AssertionError, match="the kernel of testing::twice returns a NumPy scalar, .*: return an arr"):
        found[0]()


def stub(input, out=None):
    raise missing_kernel("testing::twice", "CPU", "twice(input, out=None)", "cpu/pointwise.py")


stub.__module__ = "testing._generated.stubs.cpu.pointwise"


def test_an_op_that_is_not_complete_fails_once(checked):
    """And says all that is missing."""
    checked(twice)
    register_kernel("CPU", "testing::twice", stub)
    (check,) = checks([OpRow("testing::twice", "unfinished", "all")], SimpleNamespace(unfinished=unfinished))
    kernel_table("testing::twice").clear()
    assert str(check) == "testing::twice: complete"
    with pytest.raises(AssertionError) as raised:
        check()
    assert str(raised.value).splitlines() == [
        "testing::twice is not complete:",
        "testing::twice has no CPU kernel: define `def twice(input, out=None)` in cpu/pointwise.py",
        "yield calls of unfinished in tests/samples.py",
    ]


def test_an_op_that_is_not_registered():
    with pytest.raises(LookupError, match="nothing::at_all is not registered: import the package"):
        checks([OpRow("nothing::at_all", "unary", "float")], SAMPLES)


def test_tensors_are_the_same_in_every_run():
    assert Maker("a", "float32")(2, 3).equal(Maker("a", "float32")(2, 3))
    assert not Maker("a", "float32")(2, 3).equal(Maker("b", "float32")(2, 3))
    assert Maker("a", "float64", with_gradients=True)(2).requires_grad
    assert not Maker("a", "float64", with_gradients=True)(2, differentiable=False).requires_grad


class ScaledWrongly(Function):
    """Its gradient leaves the factor out, which shows where it is not 1."""

    @staticmethod
    def forward(ctx, x, factor):
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return grad, None


def scaled_wrongly(input, factor=1.0):
    return ScaledWrongly.apply(input, factor)


@pytest.mark.parametrize(("factor", "is_varied"), [(1.0, False), (2.5, True)])
def test_an_argument_that_is_never_varied_is_named(factor, is_varied):
    def with_factor(make):
        yield call(make(2), factor)

    entry = register_op("testing::scaled(Tensor self, float factor=1.0) -> Tensor", scaled_wrongly, composite=True)
    row = OpRow("testing::scaled", "with_factor", "wide_float")
    found = {each.what: each for each in checks([row], SimpleNamespace(with_factor=with_factor))}
    try:
        if is_varied:
            found["arguments are varied"]()
            with pytest.raises((AssertionError, RuntimeError)):
                found["gradient in float64"]()
        else:
            with pytest.raises(AssertionError, match="'with_factor' of testing::scaled never vary 'float factor=1.0'"):
                found["arguments are varied"]()
            found["gradient in float64"]()  # the wrong gradient passes: nothing else would tell
    finally:
        unregister_op(entry.name)


@pytest.mark.parametrize(
    ("arguments", "given", "left"),
    [
        ("Tensor self, int dim=-1, bool keepdim=False", call(None, 0), ["bool keepdim=False"]),
        ("Tensor self, int[2] stride=1, int[] dims=[]", call(None, (1, 1), dims=[0]), ["int[2] stride=1"]),
        ("Tensor self, int reduction=Mean", call(None, 1), ["int reduction=Mean"]),
        ("Tensor self, str mode='mean'", call(None, "sum"), []),
        ("Tensor self, *, Device? device=None, Generator? generator=None, bool? pin_memory=None", call(None), []),
        ("Tensor self, Tensor? weight=None", call(None, np.ones(1)), []),
    ],
)
def test_what_varies_an_argument(arguments, given, left):
    entry = register_op(f"testing::varied({arguments}) -> Tensor", twice, composite=True)
    try:
        assert unvaried(entry.schema, [given]) == left
    finally:
        unregister_op(entry.name)
