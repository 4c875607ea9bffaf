"""Calls that ACLNN does not take: without elements, strided, of dtypes that it lacks, or wrong ones."""

import warnings

import pytest

import mindtorch as torch
from mindtorch._generated.kernels.npu.written import WRITTEN
from mindtorch.backends.npu import fallback
from mindtorch.dispatch.registry import all_ops
from tests.npu import simulator
from tests.npu.fixtures import available
from tests.npu_simulator.device import Device

F = torch.nn.functional


@pytest.fixture(autouse=True)
def device():
    available()
    found = simulator.start()
    yield found
    torch.npu.synchronize()
    assert not found.failures


def _ramp(shape, where):
    count = torch.Size(shape).numel()
    return (torch.arange(float(count)) - 1).reshape(shape).to(where)


def _outcome(call, shape, where):
    """What users see of a call: its result, with the layout, or its error."""
    x = _ramp(shape, where)
    try:
        result = call(x)
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        return type(error), str(error)
    result = result if isinstance(result, torch.Tensor) else x
    return result.dtype, result.shape, result.stride(), result.cpu().tolist(), x.cpu().tolist()


def _number(x, number):
    return torch.tensor(number, device=x.device)


# Each with the shape of a ramp from -1.
REFUSED = {
    "amax of nothing": ((0, 3), lambda x: x.amax()),
    "max of nothing": ((0, 3), lambda x: x.max()),
    "argmax of nothing": ((0,), lambda x: x.argmax()),
    "argmax of an empty dimension": ((2, 0), lambda x: x.argmax(1)),
    "aminmax of nothing": ((0,), lambda x: x.aminmax()),
    "median of an empty dimension": ((0,), lambda x: x.median(0)),
    "pool of nothing": ((1, 4, 0), lambda x: F.avg_pool2d(x, 2, 1, 1)),
    "adaptive pool of too few dimensions": ((0,), lambda x: F.adaptive_max_pool2d(x, 2)),
    "a dimension that is not there": ((2, 2), lambda x: x.roll(-1, 3)),
    "places in a number": ((), lambda x: x.index_select(0, _number(x, [0, 0]))),
    "no places in a number": ((), lambda x: x.index_select(0, _number(x, [0])[:0])),
    "channels last of too few dimensions": ((3,), lambda x: x.clone(memory_format=torch.channels_last)),
    "complex numbers of integers": ((3,), lambda x: torch.complex(x.int(), x.int())),
    "masked_fill with several values": ((3,), lambda x: x.masked_fill_(x > 0, _number(x, [1.0, 2.0]))),
    "mixed dtypes": ((2, 2), lambda x: x @ x.half()),
    "a norm of another shape": ((2, 3), lambda x: F.layer_norm(x, (4,))),
    "a norm of a number": ((), lambda x: F.layer_norm(x, (1,))),
    "channels": ((1, 3, 5, 5), lambda x: F.conv2d(x, x[:, :2])),
    "dot of a matrix": ((2, 2), lambda x: torch.dot(x[0], x)),
    "stack of several shapes": ((2, 2), lambda x: torch.stack([x, x[0]])),
    "a copy that does not fit": ((0,), lambda x: x.copy_(x.new_ones(1, 0))),
    "values that do not fit": ((3, 0), lambda x: x.__setitem__(_number(x, [1, 0]), x.new_ones(2, 1, 1))),
    "values for no places": ((3,), lambda x: x.__setitem__(x > 9, x.new_ones(2))),
    "minus a truth": ((3,), lambda x: x - True),
    "lerp of two dtypes": ((3,), lambda x: x.lerp_(x.double(), 0.5)),
    "heaviside of two dtypes": ((3,), lambda x: torch.heaviside(x, x.double())),
    "minimum of complex numbers": ((3,), lambda x: torch.minimum(x + 1j, x)),
    "too large a number to add": ((3,), lambda x: torch.add(x.char(), x.char(), alpha=300)),
    "a mask that does not fit": ((1, 5), lambda x: x.masked_scatter_((x > 9).mT[:2], x)),
    "a copy onto itself": ((4,), lambda x: x[1:].copy_(x[:-1])),
    "a copy to an expanded array": ((3,), lambda x: x.expand(2, 3).copy_(x)),
    "out in an input": ((4,), lambda x: torch.exp(x[1:], out=x[:-1])),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_as_by_the_cpu(name):
    shape, call = REFUSED[name]
    kind, text = _outcome(call, shape, "cpu")
    assert _outcome(call, shape, "npu") == (kind, text)
    assert (_ramp((2,), "npu") + 1).tolist() == [0, 1]


COMPUTED = {
    "logsumexp of nothing": ((0,), lambda x: x.logsumexp(0)),
    "sum of nothing": ((0, 3), lambda x: x.sum(0)),
    "product without a middle": ((2, 0), lambda x: x @ x.mT),
    "linear without features": ((2, 0), lambda x: F.linear(x, x.new_ones(3, 0), x.new_ones(3))),
    "comparison of nothing": ((1, 1), lambda x: x == x.new_ones(0, 1)),
    "embeddings of nothing": ((3, 2), lambda x: F.embedding(torch.zeros(0, 4, dtype=torch.int64, device=x.device), x)),
    "nothing to set": ((3,), lambda x: x.__setitem__(x > 9, 1.0)),
    "added nothing": ((3,), lambda x: x.index_add(0, _number(x, [0])[:0], x[:0])),
    "largest of strided": ((3, 4), lambda x: x.mT.topk(2)[0]),
    "erfinv of strided": ((2, 2), lambda x: (x / 4).mT.erfinv()),
    "norm of strided": ((3, 4), lambda x: F.layer_norm(x.mT.bfloat16().mT.mT, (3,)).float().round()),
    "running maximum of strided": ((3, 4), lambda x: x.mT.cummax(0)[1]),
    "convolution of channels last": (
        (1, 2, 5, 5),
        lambda x: F.conv2d(x.contiguous(memory_format=torch.channels_last), x.new_ones(2, 2, 3, 3)),
    ),
    "set in an expanded array": (
        (3,),
        lambda x: x.expand(2, 3).index_put_((_number(x, [0]),), x.new_ones(3)),
    ),
    "a loss of two dtypes": ((3,), lambda x: (F.binary_cross_entropy_with_logits(x, x.double() / 4) * 64).round()),
    "rules that ops share": ((3,), lambda x: torch.special.entr((x + 1) / 2).sign()),
    "itself": ((4,), lambda x: x.add_(x.view(4))),
    "itself in out": ((4,), lambda x: torch.mul(x, x, out=x)),
}


@pytest.mark.filterwarnings("ignore:CAUTION", "ignore:Use of index_put_ on expanded")
@pytest.mark.parametrize("name", COMPUTED)
def test_computed_as_by_the_cpu(name):
    shape, call = COMPUTED[name]
    assert _outcome(call, shape, "npu") == _outcome(call, shape, "cpu")


def test_arrays_without_elements_need_no_other_kernel():
    """Nothing is computed, so nothing is slow: there is no warning."""
    fallback.used.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.ones(0, 3, device="npu").softmax(-1)
    assert not fallback.used


def test_dtypes_that_a_function_lacks_run_on_the_cpu():
    fallback.used.discard("abs")
    x = torch.tensor([3 + 4j, 0], device="npu")
    with pytest.warns(UserWarning, match="aten::abs"):
        assert x.abs().tolist() == [5, 0]


def test_gradients_of_channels_last():
    """Results that are strided, too: what was computed in rows is copied to them."""
    found = []
    for where in ("cpu", "npu"):
        x = _ramp((1, 2, 5, 5), where).contiguous(memory_format=torch.channels_last).requires_grad_()
        w = (_ramp((4, 2, 3, 3), where) / 30).requires_grad_()
        F.conv2d(x, w).square().sum().backward()
        found.append((x.grad.stride(), w.grad.stride(), x.grad.cpu(), w.grad.cpu()))
    assert found[0][:2] == found[1][:2]
    torch.testing.assert_close(found[0][2:], found[1][2:], rtol=1e-5, atol=1e-2)


def _in_place():
    """The names of methods that change each element by itself."""
    ops = [op for op in all_ops() if "pointwise" in op.tags and op.namespace == "aten" and not op.is_inplace]
    return sorted({f"{op.base}_" for op in ops if hasattr(torch.Tensor, f"{op.base}_")})


# Those that torch lets write several elements of one place, and what has a rule without a name.
SILENT = {"clamp_", "floor_divide_", "masked_fill_", "nan_to_num_", "sgn_", "threshold_"}


@pytest.mark.filterwarnings("ignore:CAUTION")
@pytest.mark.parametrize("method", [name for name in _in_place() if name not in SILENT])
@pytest.mark.parametrize("arguments", [(), (0.5,), ("x",)], ids=["alone", "number", "tensor"])
def test_memory_of_several_elements(method, arguments):
    """Nothing is written where an element stands for others, or for those of an input."""

    def expanded(x):
        return getattr(x.expand(2, 3), method)(*[x if each == "x" else each for each in arguments])

    def shifted(x):
        return getattr(x[1:], method)(*[x[:-1] if each == "x" else each for each in arguments])

    for call, shape in ((expanded, (3,)), (shifted, (4,))):
        on_cpu = _outcome(call, shape, "cpu")
        if isinstance(on_cpu[0], type) and "single memory location" in on_cpu[1]:
            assert _outcome(call, shape, "npu") == on_cpu


def test_what_functions_write(monkeypatch):
    """The table of arguments that are written has what the simulated device sees written, of a training's functions."""
    found, run = set(), Device._run

    def noting(self, real, name, arguments):
        code = run(self, real, name, arguments)
        if real:
            found.update(
                (name, place) for place, each in enumerate(arguments) if chr(each.kind) == "T" and each.written
            )
        return code

    monkeypatch.setattr(Device, "_run", noting)
    x = _ramp((2, 2, 6, 6), "npu").requires_grad_()
    model = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 3), torch.nn.BatchNorm2d(3), torch.nn.MaxPool2d(2)).npu()
    values = F.layer_norm(model(x), (2,)).topk(1)[0] + torch.std_mean(x.max(0)[0])[1] + F.gelu(x).aminmax()[0]
    values.sum().backward()
    torch.optim.Adam([x], fused=True).step()
    torch.npu.synchronize()
    assert len(found) > 20
    assert {(name, place) for name, place in found if place not in WRITTEN[name]} == set()
