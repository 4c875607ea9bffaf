"""torch's own samples of its operators give the same in mindtorch: values, dtypes, shapes, strides, sharing, errors.

A run compares some of them, others each day (`opinfo_choice`); MINDTORCH_SAMPLES=all takes half an hour.
"""

import copy
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pytest
import torch

import mindtorch
from tests.harness import Outcome, difference, error_difference, outcome, tensors_in
from tests.parity import opinfo
from tests.parity.opinfo_choice import always_chosen
from tests.parity.opinfo_value_differences import DIFFERENT, UNDETERMINED

SAMPLES = 40  # of an operator for a dtype
OUT_SAMPLES = 6

Call = tuple[Callable, tuple, dict]


ALL = [(info, dtype) for info in opinfo.OPS for dtype in opinfo.DTYPES if opinfo.takes(info, dtype)]
CASES = [pytest.param(info, dtype, id=f"{info.formatted_name}-{dtype}") for info, dtype in always_chosen(ALL, 70)]
REFUSING = [info for info in opinfo.OPS if info.error_inputs_func is not None]
FAILING = [pytest.param(info, id=info.formatted_name) for info in always_chosen(REFUSING, 10)]


# -------------------- one call in both libraries --------------------


def both(info: Any, function: Callable, args: tuple, kwargs: dict) -> str | None:
    """How the outcomes of one call differ; each library has its own arguments, which it may write to."""
    theirs = again((args, kwargs))
    own_args, own_kwargs = opinfo.Conversion()((args, kwargs))
    actual = called(mindtorch, (opinfo.counterpart(function), own_args, own_kwargs))
    expected = called(torch, (function, *theirs))
    if actual.error is not None or expected.error is not None:
        return error_difference(actual.error, expected.error)
    is_determined = info.formatted_name not in UNDETERMINED
    return compared((actual.result, own_args), (expected.result, theirs[0]), is_determined)


def again(value: Any) -> Any:
    """Arguments that a call may write to. (Those in sparse layouts cannot be copied so, and nothing writes to them.)"""
    return copy.deepcopy(value) if is_dense(value) else value


def is_dense(value: Any) -> bool:
    return all(each.layout is torch.strided for each in tensors_in(torch, value))


def called(T: Any, call: Call) -> Outcome:
    T.manual_seed(1)
    function, args, kwargs = call
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return outcome(function, args, kwargs)


def compared(actual: Any, expected: Any, is_determined: bool) -> str | None:
    """How results differ, and the arguments after the call."""
    own, peers = tensors_in(mindtorch, list(actual)), tensors_in(torch, list(expected))
    if len(own) != len(peers):
        return f"{len(own)} tensors, expected {len(peers)}"
    for left, right in zip(own, peers, strict=True):
        if text := tensor_difference(left, right, is_determined):
            return text
    if not peers or isinstance(expected[0], (bool, int, float, complex)):
        return None if plain(actual[0]) == plain(expected[0]) else f"{actual[0]!r}, expected {expected[0]!r}"
    return sharing_difference(own, peers)


def plain(value: Any) -> Any:
    return pytest.approx(value, nan_ok=True) if isinstance(value, (float, complex)) else str(value)


def tensor_difference(actual: Any, expected: Any, is_determined: bool) -> str | None:
    if expected.dtype is torch.complex32 or expected.device.type == "meta":
        return None  # a dtype that mindtorch does not have; a tensor without numbers
    if expected.layout is not torch.strided:
        if str(actual.layout) != str(expected.layout):
            return f"layout {actual.layout}, expected {expected.layout}"
        actual, expected = actual.to_dense(), expected.to_dense()
    if is_determined:
        return difference(actual, expected, cancels=True)
    facts = [(str(each.dtype), *each.shape, *each.stride()) for each in (actual, expected)]
    return None if facts[0] == facts[1] or not expected.numel() else f"{facts[0]}, expected {facts[1]}"


def sharing_difference(actual: list, expected: list) -> str | None:
    """Which of the tensors have their elements in one memory. (mindtorch conjugates at once, which is a copy.)"""
    if any(each.layout is not torch.strided or each.is_conj() or not each.numel() for each in expected):
        return None
    own, peers = [[each.untyped_storage().data_ptr() for each in tensors] for tensors in (actual, expected)]
    groups = [[places.index(place) for place in places] for places in (own, peers)]
    return None if groups[0] == groups[1] else f"memory {groups[0]}, expected {groups[1]}"


# -------------------- ways to call an operator --------------------


def ways(info: Any, sample: Any) -> Iterator[tuple[str, Callable, tuple, dict]]:
    args, kwargs = opinfo.arguments(sample)
    yield "function", info.op, args, kwargs
    if info.method_variant is not None:
        yield "method", info.method_variant, args, kwargs
    if info.inplace_variant is not None and not sample.broadcasts_input:
        yield "in place", info.inplace_variant, args, kwargs
    if is_dense([args, kwargs]):
        yield "noncontiguous", info.op, *opinfo.arguments(sample.noncontiguous())


def into_tensors(info: Any, sample: Any) -> Iterator[tuple[str, Callable, tuple, dict]]:
    """Calls with `out=`: of the result's shape, empty, in another order of memory, of another dtype."""
    args, kwargs = opinfo.arguments(sample)
    result = called(torch, (info.op, *again((args, kwargs)))).result
    parts = result if isinstance(result, tuple) else (result,)
    if not all(isinstance(each, torch.Tensor) and each.dtype is not torch.complex32 for each in parts):
        return
    for name, make in OUTS.items():
        made = tuple(map(make, parts))
        yield f"out {name}", info.op, args, kwargs | {"out": made if isinstance(result, tuple) else made[0]}


OUTS = {
    "alike": torch.zeros_like,
    "empty": lambda result: torch.empty(0, dtype=result.dtype),
    "turned": lambda result: torch.zeros(result.shape[::-1], dtype=result.dtype).permute(
        tuple(range(result.ndim))[::-1]
    ),
    "integral": lambda result: torch.zeros_like(result, dtype=torch.int64),
}


def problems_of(info: Any, calls: Iterator[tuple[str, Callable, tuple, dict]]) -> Iterator[str]:
    known = DIFFERENT.get(info.formatted_name, ())
    for way, function, args, kwargs in calls:
        if way.split()[0] in known or way in known:
            continue
        try:
            text = both(info, function, args, kwargs)
        except opinfo.NoCounterpart as error:
            text = f"there is no {error}"
        if text:
            yield f"  {way} {shown(args)} {shown(kwargs)}: {text}"


def shown(value: Any) -> Any:
    """An argument in a few words."""
    if isinstance(value, torch.Tensor):
        return f"{value.dtype}{[*value.shape]}"
    if isinstance(value, (list, tuple)):
        return [shown(each) for each in value]
    return {name: shown(each) for name, each in value.items()} if isinstance(value, dict) else value


def report(info: Any, problems: list[str]) -> None:
    text = "\n".join(problem[:1500] for problem in problems[:5])
    assert not problems, f"{info.formatted_name}: {len(problems)} differences\n{text}"


@pytest.mark.parametrize("info, dtype", CASES)
def test_values(info, dtype):
    problems = []
    for sample in islice(opinfo.samples(info, dtype), SAMPLES):
        problems += problems_of(info, ways(info, sample))
    report(info, problems)


@pytest.mark.parametrize("info, dtype", [case for case in CASES if case.values[0].supports_out])
def test_out(info, dtype):
    problems = []
    for sample in islice(opinfo.samples(info, dtype), OUT_SAMPLES):
        problems += problems_of(info, into_tensors(info, sample))
    report(info, problems)


@pytest.mark.parametrize("info", FAILING)
def test_errors(info):
    """Calls that torch refuses: the kind of error and its text."""
    problems = []
    for error in opinfo.error_inputs(info):
        problems += problems_of(info, iter([("error", info.op, *opinfo.arguments(error.sample_input))]))
    report(info, problems)
