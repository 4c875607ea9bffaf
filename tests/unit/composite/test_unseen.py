"""Composites that compute on arrays where nothing sees it give what the ops that they are made of give: the same bits,
strides and dtypes."""

import pytest

import mindtorch as torch
from mindtorch.nn import functional as F
from mindtorch.overrides import BaseTorchFunctionMode

NAN, INF = float("nan"), float("inf")

# `x` is (4, 3) and `row` its last row, `column` (4, 1), `images` (2, 4, 6, 6) and `line` (2, 4, 6).
CALLS = """
torch.linalg.cross(x, 2 * x); torch.linalg.cross(x.T, x.T - 1, dim=0); torch.linalg.cross(x[:1], x[1:2])
torch.outer(x[:, 0], row); torch.outer(row[:1], row); torch.addr(x, x[:, 1], row); torch.addr(x, x[:, 1], row, beta=2)
torch.addr(column, x[:, 1], row[:1]); torch.trace(x); torch.trace(x.T); torch.trace(column); F.pdist(x)
F.pdist(x.T, 1.0); torch.renorm(x, 2, 0, 1.0); torch.renorm(x, 1, 1, 0); torch.renorm(x, INF, 1, 0.5)
torch.renorm(x.T, 3, 0, 2)
torch.renorm(column, 2, 0, 1.0); torch.take(x, places); torch.take(x.T, places); torch.take(x, places - 3)
F.max_pool1d(line, 2); F.max_pool1d(line, 3, 1, 1); F.max_pool1d(line[:, :1], 2, 2, 1, 2); F.max_pool1d(line.mT, 2)
F.pixel_shuffle(images, 2); F.pixel_unshuffle(images, 3); F.pixel_shuffle(last, 2); F.pixel_unshuffle(last, 6)
torch.channel_shuffle(images, 2); torch.channel_shuffle(last, 2); torch.channel_shuffle(line, 4)
F.instance_norm(images); F.instance_norm(line, weight=images[0, :, 0, 0], bias=images[1, :, 0, 0])
F.instance_norm(last); F.instance_norm(images[:, :, :1, :2]); F.instance_norm(images[:1, :1])
torch.where(x > 0, 1.0, 2); torch.where(x > 0, x, 2)
torch.bitwise_and(3, places); torch.bitwise_xor(-1, places.byte()); torch.xlogy(2.0, x); torch.xlogy(x, 2); 7 // x
"""


def operands(dtype, special):
    numbers = torch.arange(288).mul(37).remainder(101).sub(50).to(dtype).div(8)
    numbers[5:8] = torch.tensor(special, dtype=dtype)
    x, images = numbers[:12].reshape(4, 3), numbers.reshape(2, 4, 6, 6)
    return {
        "torch": torch, "F": F, "INF": INF, "x": x, "row": x[-1], "column": x[:, :1], "images": images,
        "line": numbers[:48].reshape(2, 4, 6), "last": images.to(memory_format=torch.channels_last),
        "places": torch.tensor([[3, 11], [4, 7]]),
    }  # fmt: skip


def look(call, names):
    result = eval(call, names)
    return result.dtype, result.shape, result.stride(), result._is_view(), result.numpy().tobytes()


@pytest.mark.parametrize("call", [each.strip() for each in CALLS.strip().replace("\n", ";").split(";")])
def test_the_same_without_arrays(call):
    for dtype in (torch.float32, torch.float64):
        for special in ((0.5, -0.5, 1.0), (NAN, -0.0, INF)):
            names = operands(dtype, special)
            seen = look(call, names)
            with BaseTorchFunctionMode():
                assert look(call, names) == seen


@pytest.mark.parametrize("counts", [{}, {"return_inverse": True}, {"return_counts": True, "return_inverse": True}])
def test_unique(counts):
    names = operands(torch.float32, (NAN, -0.0, 0.0))
    for x in (names["images"], names["x"].T, names["x"][:0], names["places"], names["x"] > 0):
        plain = torch.unique(x, **counts)
        with BaseTorchFunctionMode():
            seen = torch.unique(x, **counts)
        for a, b in zip(*[each if counts else (each,) for each in (plain, seen)], strict=True):
            assert (a.dtype, a.shape, a.stride(), a.numpy().tobytes()) == (
                b.dtype, b.shape, b.stride(), b.numpy().tobytes(),
            )  # fmt: skip
