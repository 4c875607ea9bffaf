"""Positions that point beyond an array: a call is refused, or the device fails. None gives a result."""

import re

import pytest

import mindtorch as torch
from mindtorch.backends.npu import positions
from mindtorch.backends.npu.launch import settings
from mindtorch.nn import functional as F
from tests.npu import simulator as session
from tests.npu.helpers import ROOT
from tests.npu_simulator.generate import signatures

aten = torch.ops.aten


def on(device, value):
    return torch.tensor(value).to(device)


def table(device):
    return torch.arange(12.0).reshape(4, 3).to(device)


def planes(device, size, dims):
    return torch.ones(1, 1, *[size] * dims, device=device)


def places(device, wrong, dims, room):
    """Of the maxima of windows of two."""
    found = [*range(2**dims - 1), wrong * room]
    return on(device, found).reshape(1, 1, *[2] * dims)


def log_probs(device):
    return torch.zeros(5, 2, 3, device=device).log_softmax(2)


def bag(mode):
    return lambda d, i: F.embedding_bag(on(d, [0, i]), table(d), on(d, [0, 1]), mode=mode)


def pool_backward(d, i):
    windows = ([2, 2], [2, 2], [0, 0], [1, 1], False)
    return aten.max_pool2d_with_indices_backward(
        planes(d, 2, 2), planes(d, 4, 2), *windows, places(d, i, 2, 16)
    )  # fmt: skip


# What is taken of four rows or three classes, with a position that is not there.
CALLS = {
    "nll_loss": lambda d, i: F.nll_loss(table(d), on(d, [0, 1, 2, i])),
    "nll_loss, each": lambda d, i: F.nll_loss(table(d), on(d, [0, 1, 2, i]), reduction="none"),
    "nll_loss2d": lambda d, i: F.nll_loss(torch.ones(1, 3, 1, 2, device=d), on(d, [[[0, i]]])),
    "nll_loss_backward": lambda d, i: aten.nll_loss_backward(
        on(d, 1.0), table(d), on(d, [0, 1, 2, i]), None, 1, -100, on(d, 4.0)
    ),
    "cross_entropy": lambda d, i: F.cross_entropy(table(d), on(d, [0, 1, 2, i])),
    "multi_margin_loss": lambda d, i: F.multi_margin_loss(table(d), on(d, [0, 1, 2, i])),
    "embedding": lambda d, i: F.embedding(on(d, [0, i]), table(d)),
    "embedding, max_norm": lambda d, i: F.embedding(on(d, [0, i]), table(d), max_norm=1.0),
    "embedding_dense_backward": lambda d, i: aten.embedding_dense_backward(
        torch.ones(2, 3, device=d), on(d, [0, i]), 4, -1, False
    ),
    "embedding_bag, sum": bag("sum"),
    "embedding_bag, mean": bag("mean"),
    "embedding_bag, max": bag("max"),
    "embedding_bag, offsets": lambda d, i: F.embedding_bag(on(d, [0, 1]), table(d), on(d, [0, i])),
    "embedding_bag, first offset": lambda d, i: F.embedding_bag(on(d, [0, 1]), table(d), on(d, [i, 7])),
    "ctc_loss": lambda d, i: F.ctc_loss(log_probs(d), on(d, [[1, 2], [1, i]]), [5, 5], [2, 2]),
    "ctc_loss, tensors": lambda d, i: F.ctc_loss(log_probs(d), on(d, [[1, 2], [1, i]]), on(d, [5, 5]), on(d, [2, 2])),
    "one_hot": lambda d, i: F.one_hot(on(d, [0, i]), 3),
    "index_select": lambda d, i: table(d).index_select(0, on(d, [0, i])),
    "gather": lambda d, i: table(d).gather(0, on(d, [[0, 1, i]])),
    "scatter": lambda d, i: table(d).scatter(0, on(d, [[0, 1, i]]), torch.ones(1, 3, device=d)),
    "scatter, value": lambda d, i: table(d).scatter(0, on(d, [[0, 1, i]]), 5.0),
    "scatter_add": lambda d, i: table(d).scatter_add(0, on(d, [[0, 1, i]]), torch.ones(1, 3, device=d)),
    "scatter_reduce": lambda d, i: table(d).scatter_reduce(0, on(d, [[0, 1, i]]), torch.ones(1, 3, device=d), "sum"),
    "index": lambda d, i: table(d)[on(d, [0, i])],
    "index, on the host": lambda d, i: table(d)[torch.tensor([0, i])],
    "index_put": lambda d, i: table(d).index_put((on(d, [0, i]),), on(d, 1.0), accumulate=True),
    "index_put, on the host": lambda d, i: table(d).index_put((torch.tensor([0, i]),), on(d, 1.0)),
    "index_add": lambda d, i: table(d).index_add(0, on(d, [0, i]), torch.ones(2, 3, device=d)),
    "index_copy": lambda d, i: table(d).index_copy(0, on(d, [0, i]), torch.ones(2, 3, device=d)),
    "index_fill": lambda d, i: table(d).index_fill(0, on(d, [0, i]), 2.0),
    "take": lambda d, i: table(d).take(on(d, [0, 3 * i])),
    "put_": lambda d, i: table(d).put_(on(d, [0, 3 * i]), torch.ones(2, device=d)),
    "max_unpool2d": lambda d, i: F.max_unpool2d(planes(d, 2, 2), places(d, i, 2, 16), 2),
    "max_unpool3d": lambda d, i: F.max_unpool3d(planes(d, 2, 3), places(d, i, 3, 64), 2),
    "max_pool2d_with_indices_backward": pool_backward,
    "kthvalue": lambda d, i: torch.ones(3, device=d).kthvalue(i).values,
}
# From the end: what torch takes so, and what CANN takes so where torch does not.
NEGATIVE = {"index", "index, on the host", "index_put", "index_put, on the host", "index_fill", "take", "put_"}
NEGATIVE_HERE = {"gather"}
FAULT = re.compile(r"error code is 507015.*IndexError: \w+ -?\d+ to -?\d+ of \d+", re.DOTALL)


def wrong_ones(negative):
    return [(name, wrong) for name in CALLS for wrong in (7, -7 if name in negative else -1)]


@pytest.fixture(autouse=True)
def begin_anew(simulator):
    yield
    settings.launch_blocking = False
    simulator.failures.append("begin anew")
    session.recover()


@pytest.mark.filterwarnings("ignore:CAUTION")
@pytest.mark.parametrize(("name", "wrong"), wrong_ones(NEGATIVE | NEGATIVE_HERE))
def test_positions_that_are_not_there(name, wrong):
    """Where nothing was refused before, the device is of no use any more, and says why."""
    with pytest.raises((IndexError, RuntimeError)) as caught:
        CALLS[name]("npu", wrong).cpu()
    if isinstance(caught.value, torch.AcceleratorError):
        assert FAULT.search(str(caught.value))
        with pytest.raises(torch.AcceleratorError, match="cannot be used by this process any more"):
            torch.ones(2, device="npu")


@pytest.mark.filterwarnings("ignore:CAUTION")
@pytest.mark.parametrize(("name", "wrong"), wrong_ones(NEGATIVE))
def test_blocking_launches_look_at_positions(name, wrong):
    """The op that has them raises, and the device goes on."""
    settings.launch_blocking = True
    with pytest.raises((IndexError, RuntimeError)) as caught:
        CALLS[name]("npu", wrong)
    assert not isinstance(caught.value, torch.AcceleratorError)
    assert torch.ones(2, device="npu").sum().item() == 2


@pytest.mark.filterwarnings("ignore:CAUTION")
@pytest.mark.parametrize("name", sorted(NEGATIVE))
def test_negative_positions_count_from_the_end(name):
    assert CALLS[name]("npu", -1).cpu().equal(CALLS[name]("cpu", -1))


def test_ignored_classes_are_none():
    settings.launch_blocking = True
    for ignored in (-100, 7):
        target = on("npu", [0, 1, 2, ignored])
        found = F.cross_entropy(table("npu"), target, ignore_index=ignored)
        torch.testing.assert_close(found.cpu(), F.cross_entropy(table("cpu"), target.cpu(), ignore_index=ignored))


def test_every_function_that_takes_positions_is_known():
    """By the names that CANN's headers give to arguments; losses of pairs have targets that are values."""
    called, table_of = set(), signatures()
    for folder in ("mindtorch/backends/npu", "generated/kernels/npu"):
        for path in (ROOT / folder).glob("*.py"):
            called |= set(re.findall(r'aclnn\("(\w+)"', path.read_text(encoding="utf-8")))
    assert called
    losses = ("aclnnBinary", "aclnnMse", "aclnnSmooth", "aclnnL1Loss", "aclnnSoftMargin", "aclnnKlDiv")
    named = {
        name
        for name in called
        if {"index", "indices", "target", "targets"} & {*table_of[name].parameters} and not name.startswith(losses)
    }
    results = {"aclnnMaxDim", "aclnnMinDim", "aclnnMaxPool3dWithArgmax"}  # which are asked for them
    assert named - results == {*positions.TAKEN} & called
    assert {*positions.TAKEN} <= called
