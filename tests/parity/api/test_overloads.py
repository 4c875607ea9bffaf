"""Every overload that torch has of the everyday ops, and the public functions and methods for them."""

import warnings
from dataclasses import replace

import pytest
import torch

import mindtorch
from tests.harness import (
    arguments_of,
    describe,
    determined,
    error_difference,
    function_of,
    model,
    outcome,
    result_difference,
    samples_of,
)
from tests.parity.api.overload_names import NAMES

# What has another name here, or none.
ELSEWHERE = {
    "normal.out": "the out= of `normal_functional`, which torch gives the name of another op",
}


def runs_without_a_compiler(name):
    """Whether an overload has a kernel for tensors on the CPU. Many are TorchScript's alone: `add.str`, `sort.any`."""
    try:
        return torch._C._dispatch_has_computed_kernel_for_dispatch_key(f"aten::{name}", "CPU")
    except RuntimeError:  # the dispatcher does not know it
        return False


def is_wanted(name, schema):
    """There are no tensors with names for their dimensions, either."""
    return name not in ELSEWHERE and "Dimname" not in schema and runs_without_a_compiler(name)


def overloads_in_torch(base):
    packet = getattr(torch.ops.aten, base, None)
    found = {each: getattr(packet, each)._schema for each in packet.overloads()} if packet is not None else {}
    names = {each: base if each == "default" else f"{base}.{each}" for each in found}
    return {each: str(schema) for each, schema in found.items() if is_wanted(names[each], str(schema))}


def overloads_here(name):
    packet = getattr(mindtorch.ops.aten, name, None)
    return {each: str(getattr(packet, each)._schema) for each in packet.overloads()} if packet is not None else {}


@pytest.mark.parametrize("name", NAMES)
def test_every_overload_is_there(name):
    """With torch's schema as `_schema` prints it; and none that torch does not have."""
    for form in (name, f"{name}_"):
        assert overloads_here(form) == overloads_in_torch(form)


PLACES = {
    "torch": lambda T: T,
    "Tensor": lambda T: T.Tensor,
    "nn.functional": lambda T: T.nn.functional,
    "linalg": lambda T: T.linalg,
    "special": lambda T: T.special,
}


@pytest.mark.parametrize("place", PLACES)
def test_every_public_function_is_there(place):
    theirs, ours = PLACES[place](torch), PLACES[place](mindtorch)
    names = [form.removeprefix("linalg_") for name in NAMES for form in (name, f"{name}_")]
    assert [name for name in names if hasattr(theirs, name) and not hasattr(ours, name)] == []


# -------------------- out= variants that only torch.ops has --------------------


def outcome_difference(actual, expected):
    if actual.error is not None or expected.error is not None:
        return error_difference(actual.error, expected.error)
    return result_difference(mindtorch, torch, actual.result, expected.result)


RANDOM_OR_SPARSE = {"nondeterministic_seeded", "sparse"}


def copied_outs():
    """Those whose op has samples, and gives the same numbers every time."""
    for op in model().ops.values():
        functional = model().ops.get(op.derived_from)
        if op.is_copied_out and functional.samples and not RANDOM_OR_SPARSE & {op.family, *op.tags}:
            yield pytest.param(op, functional, id=op.name)


def run(T, op, functional, sample):
    """Call the variant with empty outs of the dtypes that the results have; the error of an op that refuses."""
    args, kwargs = arguments_of(T, list(sample.args)), arguments_of(T, sample.kwargs)
    plain = outcome(function_of(T, functional), args, kwargs)
    results = [plain.result] if isinstance(plain.result, T.Tensor) else plain.result
    if plain.error is not None or any(each is None for each in results):
        return plain
    outs = {each.name: T.empty(0, dtype=result.dtype) for each, result in zip(op.schema.out_arguments, results)}
    known = {argument.name for argument in op.schema.arguments}
    inputs = {name: value for name, value in kwargs.items() if name in known}
    found = outcome(function_of(T, op), args, inputs | outs)
    return replace(found, result=determined(sample, found.result))


@pytest.mark.parametrize("op, functional", list(copied_outs()))
def test_copied_outs(op, functional):
    dtype = "int64" if "integral" in op.dtypes else "float64"
    for sample in list(samples_of(functional, dtype))[:4]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            actual, expected = [run(T, op, functional, sample) for T in (mindtorch, torch)]
        text = outcome_difference(actual, expected)
        assert text is None, f"{op.name}({describe(sample)}): {text}"


X = "T.arange(6.0).view(2, 3)"
NEEDS_GRAD = f"{X}.requires_grad_()"
CALLS = [
    f"T.ops.aten.flip({X}, [0], out=T.empty(0))",
    f"T.ops.aten.zeros_like.out({X}, out=T.ones(2, 3))",
    f"T.ops.aten.add.Scalar_out({X}, 2, 3, out=T.empty(2, 3))",
    f"T.ops.aten.native_dropout.out({X}, 0.5, False, out0=T.empty(0), out1=T.empty(0, dtype=T.bool))",
    f"T.ops.aten.flip.out({X}, [0], out=T.empty(0, dtype=T.float64))",
    f"T.ops.aten.flip.out({X}, [0])",
    f"T.ops.aten.flip.out({X}, [3], out=T.empty(0))",
    f"T.ops.aten.zeros_like.out({NEEDS_GRAD}, out=T.empty(0, dtype=T.int32))",
    f"T.ops.aten.relu.out({X}, out=T.empty(2, 3, requires_grad=True))",
    f"T.no_grad()(T.ops.aten.flip.out)({NEEDS_GRAD}, [0], out=T.empty(0))",
]


@pytest.mark.parametrize("call", CALLS)
def test_calls_of_copied_outs(call):
    ours, theirs = [outcome(eval, [call, {"T": T}], {}) for T in (mindtorch, torch)]
    assert outcome_difference(ours, theirs) is None


DEFAULTS_GIVEN = {
    "a tensor and keepdim": lambda torch, x: (torch.tensor(1), False),
    "a tensor and keepdim, which is wanted": lambda torch, x: (torch.tensor(1), True),
    "a tensor": lambda torch, x: (torch.tensor(1),),
    "two tensors": lambda torch, x: (x, x),
    "keepdim alone": lambda torch, x: {"keepdim": False},
    "keepdim beside a tensor": lambda torch, x: {"other": x, "keepdim": False},
    "a dimension and keepdim": lambda torch, x: (1, False),
    "no correction": lambda torch, x: (0, False, False),
}


@pytest.mark.parametrize("given", DEFAULTS_GIVEN)
@pytest.mark.parametrize("name", ["max", "min", "sum", "mean", "prod", "any", "all", "std", "var", "argmax", "amax"])
def test_what_only_some_overloads_take_is_told_from_nothing_by_its_presence(name, given):
    """Also if the default is given: `max(x, tensor, False)` is that along a dimension, and not that of two tensors."""

    def call(torch):
        x = torch.tensor([[1.0, 2.0], [4.0, 3.0]])
        args = DEFAULTS_GIVEN[given](torch, x)
        function = getattr(torch, name)
        return function(x, **args) if isinstance(args, dict) else function(x, *args)

    ours, theirs = (outcome(call, (library,), {}) for library in (mindtorch, torch))
    assert type(ours.error) is type(theirs.error)
    assert str(ours.result) == str(theirs.result)
