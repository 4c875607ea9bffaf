"""torch's own samples of its operators give the same in mindtorch: values, dtypes, shapes, strides, sharing, errors.

What a run looks at says `opinfo_choice`, what is known to differ `opinfo_value_differences`.
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
from tests.parity.ops.opinfo_value_differences import TABLE, UNDETERMINED
from tests.parity.support import opinfo
from tests.parity.support.opinfo_choice import chosen, spread
from tests.parity.support.opinfo_shown import is_as_near, visible

# Both libraries warn of compressed layouts, once: in whichever test is the first to have one.
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CS[RC] tensor support is in beta:UserWarning")

SAMPLES = 40  # of an operator for a dtype
OUT_SAMPLES = 6

Call = tuple[Callable, tuple, dict]


ALL = [(info, dtype) for info in opinfo.OPS for dtype in opinfo.DTYPES if opinfo.takes(info, dtype)]
CASES = [pytest.param(info, dtype, id=f"{info.formatted_name}-{dtype}") for info, dtype in chosen(ALL, 70)]
REFUSING = [info for info in opinfo.OPS if info.error_inputs_func is not None]
FAILING = [pytest.param(info, id=info.formatted_name) for info in chosen(REFUSING, 10)]


# -------------------- one call in both libraries --------------------


def both(info: Any, function: Callable, args: tuple, kwargs: dict) -> str | None:
    """How the outcomes of one call differ; each library has its own arguments, which it may write to."""
    theirs = again((args, kwargs))
    own_args, own_kwargs = opinfo.Conversion()((args, kwargs))
    actual = called(mindtorch, (opinfo.counterpart(function), own_args, own_kwargs))
    expected = called(torch, (function, *theirs))
    if actual.error is not None or expected.error is not None:
        return error_difference(actual.error, expected.error)
    results = (actual.result, own_args), (expected.result, theirs[0])
    text = compared(*results, info.formatted_name not in UNDETERMINED)
    return None if text and "values" in text and is_rounding(*results, (function, args, kwargs)) else text


def is_rounding(actual: Any, expected: Any, call: Call) -> bool:
    """Whether mindtorch's result in 16 bits is about as near as torch's to what torch computes in double precision."""
    own, peers = tensors_in(mindtorch, list(actual)), tensors_in(torch, list(expected))
    if not any(each.dtype in HALVES for each in peers):
        return False
    function, *given = call
    wide = [widened(each) for each in given]
    true = tensors_in(torch, [called(torch, (function, *wide)).result, wide[0]])
    return len(true) == len(peers) and all(map(is_rounded, own, peers, true))


def is_rounded(actual: Any, expected: Any, true: Any) -> bool:
    if expected.dtype not in HALVES or true.shape != expected.shape:
        return difference(actual, expected, cancels=True) is None
    if difference(actual, expected, tolerance=1e30) is not None:  # dtype, shape, strides
        return False
    exact = visible(true.to(expected.dtype), torch)
    return is_as_near(exact, visible(actual, mindtorch), visible(expected, torch))


HALVES = (torch.float16, torch.bfloat16)


def widened(value: Any) -> Any:
    """Arguments in double precision in the place of those in 16 bits."""
    if isinstance(value, torch.Tensor):
        return value.double() if value.dtype in HALVES else again(value)
    if type(value) in (list, tuple):
        return type(value)(map(widened, value))
    return {name: widened(each) for name, each in value.items()} if isinstance(value, dict) else value


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


WAYS = ["function", "method", "in place", "noncontiguous"]
OUTS = {
    "alike": torch.zeros_like,
    "empty": lambda result: torch.empty(0, dtype=result.dtype),
    "turned": lambda result: torch.zeros(result.shape[::-1], dtype=result.dtype).permute(
        tuple(range(result.ndim))[::-1]
    ),
    "integral": lambda result: torch.zeros_like(result, dtype=torch.int64),
}
OUT_WAYS = [f"out {name}" for name in OUTS]


Ways = Iterator[tuple[str, Callable, tuple, dict]]


def problems_of(info: Any, dtype: str, number: int, calls: Ways) -> Iterator[str]:
    """What is wrong with the ways to call an operator with a sample; without a dtype, with one that has to fail."""
    for way, function, args, kwargs in calls:
        try:
            text = both(info, function, args, kwargs)
        except opinfo.NoCounterpart as error:
            text = f"there is no {error}"
        if found := TABLE.verdict(info.formatted_name, way, dtype, number, text):
            yield f"  {found}: {shown(args)} {shown(kwargs)}"


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


def samples(info: Any, dtype: str) -> list:
    """Some of an operator's samples, always the same, all drawn before a call seeds the generators anew."""
    return spread(list(islice(opinfo.samples(info, dtype), 400)), SAMPLES)


def beyond(info: Any, ways: list[str], dtype: str, count: int) -> Iterator[str]:
    """Entries about samples that there are not."""
    for way in ways:
        if text := TABLE.beyond(info.formatted_name, way, dtype, count):
            yield text


@pytest.mark.parametrize("info, dtype", CASES)
def test_values(info, dtype):
    given = samples(info, dtype)
    problems = list(beyond(info, WAYS, dtype, len(given)))
    for number, sample in enumerate(given):
        problems += problems_of(info, dtype, number, ways(info, sample))
    report(info, problems)


@pytest.mark.parametrize("info, dtype", [case for case in CASES if case.values[0].supports_out])
def test_out(info, dtype):
    given = samples(info, dtype)[:OUT_SAMPLES]
    problems = list(beyond(info, OUT_WAYS, dtype, len(given)))
    for number, sample in enumerate(given):
        problems += problems_of(info, dtype, number, into_tensors(info, sample))
    report(info, problems)


@pytest.mark.parametrize("info", FAILING)
def test_errors(info):
    """Calls that torch refuses: the kind of error and its text."""
    given = list(opinfo.error_inputs(info))
    problems = list(beyond(info, ["error"], "", len(given)))
    for number, error in enumerate(given):
        call = ("error", info.op, *opinfo.arguments(error.sample_input))
        problems += problems_of(info, "", number, iter([call]))
    report(info, problems)


@pytest.mark.parametrize("known", TABLE.entries, ids=lambda known: f"{known.operator}-{known.check}")
def test_an_entry_is_about_something(known):
    """Nothing in the table is about what no run looks at."""
    info = next(each for each in opinfo.OPS if each.formatted_name == known.operator)
    assert set(known.checks()) <= {*WAYS, *OUT_WAYS, "error"}
    assert all(opinfo.takes(info, dtype) for dtype in known.dtypes.split())
    assert known.check != "error" or info.error_inputs_func is not None


def test_a_result_that_is_further_off_than_torch_is_no_rounding():
    x = torch.tensor([0.1, 0.2, 0.3], dtype=torch.float16)
    call, theirs = (torch.cumsum, (x, 0), {}), torch.cumsum(x, 0)
    near, far = (mindtorch.tensor((theirs + step).tolist(), dtype=mindtorch.float16) for step in (0.0, 0.01))
    given = opinfo.Conversion()((x, 0))
    assert is_rounding((near, given), (theirs, (x, 0)), call)
    assert not is_rounding((far, given), (theirs, (x, 0)), call)
