"""Calls with tensors of the CPU among those of a device: what takes them computes, all others are refused."""

import re
import warnings

import pytest

import mindtorch as torch
from mindtorch.dispatch.registry import find_op
from tests.device.conftest import DEVICE
from tests.device.sweep import moved
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

# Views have no kernels that could tell, and sparse tensors none on the device.
OPS = [
    op for op in sampled_ops() if len(op.schema.tensor_arguments) > 1 and op.dispatch and op.view is None
    and op.family != "sparse"
]  # fmt: skip
_MOST_SAMPLES = 2
TWO_DEVICES = re.compile(
    r"Expected all tensors to be on the same device, but (found at least two devices, \w+:0 and cpu!"
    r"|got \w+ is on \S+, different from other tensors on \S+ \(when checking argument in method wrapper_NPU_\w+\))"
    r"|indices should be either on cpu or on the same device as the indexed tensor \(cpu\)"
)


def one_elsewhere(args, kwargs, place):
    """A call on the device with the tensor of one argument, or list, on the CPU."""
    there = moved([[*args, *kwargs.values()]], DEVICE)[0]
    here = moved([[*args, *kwargs.values()]], "cpu")[0]
    values = [here[index] if index == place else each for index, each in enumerate(there)]
    return values[: len(args)], dict(zip(kwargs, values[len(args) :]))


def calls(op):
    dtype = next((name for name in ("float32", "int64") if name in dtypes_of(op)), dtypes_of(op)[0])
    forms = [(op, samples_of(op, dtype))]
    if variant(op, "inplace"):
        forms.append((variant(op, "inplace"), inplace_samples(variant(op, "inplace"), dtype)))
    for form, samples in forms:
        for _, sample in zip(range(_MOST_SAMPLES), samples):
            args, kwargs = arguments_of(torch, [list(sample.args), sample.kwargs])
            values = [*args, *kwargs.values()]
            places = [place for place, value in enumerate(values) if tensors_in(torch, value)]
            yield from ((describe(sample), form, args, kwargs, place) for place in places if len(places) > 1)


def is_taken(op, value):
    """Whether an argument may be on the CPU: one that the op declares, or a number."""
    entry = find_op(op.name)
    tensors = tensors_in(torch, value)
    return entry.elementwise and all(each.ndim == 0 for each in tensors)


def difference(op, form, args, kwargs, place):
    """What is wrong with the call, if anything is."""
    expected = outcome(function_of(torch, form), *moved([args, kwargs], "cpu"))
    mixed = one_elsewhere(args, kwargs, place)
    found = outcome(function_of(torch, form), *mixed)
    if expected.error or any(not each.numel() for each in tensors_in(torch, [args, kwargs])):
        return None
    if found.error:
        is_refused = isinstance(found.error, RuntimeError) and TWO_DEVICES.fullmatch(str(found.error))
        return None if is_refused else f"{type(found.error).__name__}: {found.error}"
    values = [*args, *kwargs.values()]
    others = [each for index, value in enumerate(values) if index != place for each in tensors_in(torch, value)]
    is_declared = place in find_op(op.name).other_devices
    if not is_declared and not is_taken(op, values[place]) and not is_taken(op, others):
        return "not refused"
    return result_difference(torch, torch, moved(found.result, "cpu"), expected.result)


@pytest.mark.filterwarnings("ignore:CAUTION")
@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_one_argument_on_the_cpu(op):
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for text, *call in calls(op):
            found = difference(op, *call)
            if found:
                wrong.append(f"{call[0].name}({text}), argument {call[-1]} on the CPU: {found}")
    assert wrong == []


@pytest.mark.filterwarnings("ignore:CAUTION")
def test_numbers_of_the_cpu_promote_as_numbers():
    """An array of no dimensions does not raise the dtype of one with dimensions, wherever it is."""
    x = torch.ones(2, device=DEVICE)
    wide = torch.tensor(2.0, dtype=torch.float64)
    for function in (torch.add, torch.fmax, torch.hypot, torch.copysign, torch.nextafter):
        for args in ((x, wide), (wide, x)):
            result = function(*args)
            assert (result.dtype, result.device.type) == (torch.float32, DEVICE)
            expected = function(*[each.cpu() for each in args])
            assert result.cpu().equal(expected)


@pytest.mark.filterwarnings("ignore:CAUTION")
def test_results_elsewhere_are_refused():
    x = torch.ones(2, device=DEVICE)
    for function in (torch.add, torch.fmax):
        with pytest.raises(RuntimeError, match=f"at least two devices, {DEVICE}:0 and cpu!"):
            function(x, x, out=torch.empty(2))
    with pytest.raises(RuntimeError, match=f"got self is on {DEVICE}:0, different from other tensors on cpu"):
        torch.logcumsumexp(x, 0, out=torch.empty(2))


@pytest.mark.filterwarnings("ignore:CAUTION")
def test_what_may_be_elsewhere():
    x = torch.arange(6.0).reshape(3, 2)
    on_device = x.to(DEVICE)
    places = torch.tensor([2, 0])
    assert on_device[places].tolist() == x[places].tolist()
    assert torch.index_put(on_device, (places,), torch.tensor(9.0)).tolist() == [[9, 9], [2, 3], [9, 9]]
    assert on_device.masked_fill(on_device > 3, torch.tensor(-1.0)).tolist() == x.masked_fill(x > 3, -1).tolist()
    assert on_device.clone().fill_(torch.tensor(4.0)).unique().tolist() == [4.0]
    assert torch.empty(3, 2).copy_(on_device).equal(x)
    with pytest.raises(RuntimeError, match="indices should be either on cpu or on the same device"):
        x[places.to(DEVICE)]


# -------------------- two devices of one type --------------------

TWO = r"at least two devices, npu:0 and npu:1!|is on npu:1, different from other tensors on npu:0"
# What takes tensors of two devices: (the call, the error's text).
OF_TWO_DEVICES = {
    "add": (lambda a, b: a + b, TWO),
    "in place": (lambda a, b: a.add_(b), TWO),
    "a number": (lambda a, b: a * b[0], TWO),
    "a list": (lambda a, b: torch.cat([a, b]), TWO),
    "foreach": (lambda a, b: torch._foreach_add([a], [b]), TWO),
    "product": (lambda a, b: torch.dot(a, b), TWO),
    "indices": (lambda a, b: a[b.long()], "indices should be either on cpu or on the same device"),
    "bincount": (lambda a, b: torch.bincount(a.long(), b), TWO),
    "meshgrid": (
        lambda a, b: torch.meshgrid(a, b, indexing="ij"),
        "^meshgrid expects all tensors to have the same device",
    ),
    "gradient": (
        lambda a, b: setattr(a, "grad", b),
        "located on device with index '1' to a tensor located on device with",
    ),
    "set_": (lambda a, b: a.set_(b), 'on device "npu:0" to a storage on different device "npu:1"'),
    "storage": (lambda a, b: a.set_(b.untyped_storage()), 'on device "npu:0" to a storage on different device "npu:1"'),
}


@pytest.mark.skipif(DEVICE != "npu", reason="there are two NPUs")
@pytest.mark.parametrize("name", OF_TWO_DEVICES)
def test_two_devices(name):
    function, text = OF_TWO_DEVICES[name]
    with pytest.raises(RuntimeError, match=text):
        function(torch.ones(3, device="npu:0"), torch.ones(3, device="npu:1"))


def test_a_tensor_without_a_storage_stays_on_its_device():
    for device in (DEVICE, "meta"):
        x = torch.ones(3, device=device)
        assert x.set_().device == torch.empty(0, device=device).device and x.shape == (0,)
        assert x.resize_(2).fill_(2).device.type == device


@pytest.mark.skipif(DEVICE != "npu", reason="there are two NPUs")
def test_gradients_cross_devices():
    x = torch.ones(3, device="npu:0", requires_grad=True)
    (x * 2).to("npu:1").square().sum().backward()
    assert x.grad.device == x.device and x.grad.tolist() == [8, 8, 8]


# -------------------- copies without waiting --------------------


@pytest.mark.skipif(DEVICE != "npu", reason="about its pinned memory")
@pytest.mark.parametrize("count", [3, 1000, 100_000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_what_is_written_after_a_copy(count, dtype):
    """Memory that is not pinned may be written at once; pinned memory without references is not given away."""
    source = torch.arange(count, dtype=torch.float32)
    expected = source.to(dtype, copy=True)
    target = torch.empty(count, dtype=dtype, device=DEVICE)
    target.copy_(source, non_blocking=True)
    source.fill_(-1)
    assert target.cpu().equal(expected)
    numbers = [torch.full((count,), float(number)).pin_memory().to(DEVICE, non_blocking=True) for number in range(4)]
    assert [each.cpu().unique().tolist() for each in numbers] == [[0], [1], [2], [3]]
