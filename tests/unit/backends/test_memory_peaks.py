"""How much memory ops take at their peak: their output and nothing more, in place nothing, views nothing."""

import tracemalloc

import pytest

import mindtorch as torch
from mindtorch.dispatch.modes import debug

# In debug mode the checks of every call take memory, too.
pytestmark = pytest.mark.skipif(debug.ON, reason="debug mode looks at more than the op does")

SIZE = 1 << 18
IMAGES = (8, 16, 32, 64)
# Small arrays: what a computation in blocks needs, in each thread, tensor objects, entries of tables. The most is a
# block of float64 with a mask and NumPy's buffers (396,000 for `remainder`, a few kB more or less from one processor to
# the next); a second array of half precision, the smallest of those below, would be 524,288.
SLACK = 450_000


@pytest.fixture(autouse=True, params=[1, 2], ids=["1 thread", "2 threads"])
def threads(request):
    """How many threads work on blocks of a tensor at once, whatever the environment and the processor say."""
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


TENSORS = {
    "x": lambda: torch.ones(SIZE),
    "y": lambda: torch.ones(SIZE),
    "wide": lambda: torch.ones(SIZE, dtype=torch.float64),
    "whole": lambda: torch.arange(SIZE),
    "chosen": lambda: torch.ones(SIZE, dtype=torch.bool),
    "m": lambda: torch.ones(512, 512),
    "turned": lambda: torch.ones(512, 512).t(),
    "square": lambda: torch.ones(512, 512, dtype=torch.float64),
    "row": lambda: torch.ones(512),
    "mask": lambda: torch.ones(512, 512, dtype=torch.bool).t(),
    "half": lambda: torch.ones(512, 512, dtype=torch.float16).t(),
    "images": lambda: torch.ones(IMAGES),
    "last": lambda: torch.ones(IMAGES).contiguous(memory_format=torch.channels_last),
    "last_wide": lambda: torch.ones(IMAGES, dtype=torch.float64).contiguous(memory_format=torch.channels_last),
}


def named(code):
    """The tensors that an expression names, new ones."""
    return {"torch": torch} | {name: TENSORS[name]() for name in code.co_names if name in TENSORS}


def peak(expression):
    """The result of an expression, and how many bytes were allocated at most while it was computed."""
    code = compile(expression, expression, "eval")
    eval(code, named(code))  # so that tables are filled
    names = named(code)
    tracemalloc.start()
    try:
        result = eval(code, names)
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


OUT_OF_PLACE = """
x + y; x - y; x * y; x / y; x + 1; 2 - x; x.exp(); x.relu(); -x; x.abs(); x.sqrt(); x.sigmoid(); x.tanh(); x.log()
x > y; x == 1; x.isnan(); torch.where(chosen, x, y); torch.where(chosen, x, 0.0); x.maximum(y); x.clamp(0, 1); x.pow(2)
x.square(); x.remainder(3); x.round(); x.clone(); turned.contiguous(); turned + 1; turned * m; turned.exp(); whole + 1
x.to(torch.float64); x.to(torch.int64); wide.float(); chosen.float(); x.masked_fill(chosen, 1); last + 1; last.relu()
last.clone(); last.contiguous(); images.contiguous(memory_format=torch.channels_last); torch.cat([x, y]); x.flip(0)
torch.stack([x, y]); torch.zeros_like(x); torch.full_like(x, 2); x.repeat(2); x.sum(); m.sum(0); m.sum(1); turned.sum(0)
x + wide; whole + x; x * whole; wide - whole; x > whole; x.atan2(wide); turned + m; turned * square; square > turned
last + images; images * last_wide; m[:, ::2] + turned[:, ::2]; m + row; row * turned; turned.sigmoid(); turned / 3
torch.where(mask, m, square); turned.remainder(m); m.maximum(square.t()); whole.sqrt(); whole / 2; half + 1; half * half
turned.lerp(m, 0.5); torch.addcmul(turned, m, row); torch.nn.functional.gelu(turned); turned.clamp(0, 1); turned.pow(3)
turned.floor_divide(2); square.t() - m; chosen + x; chosen.logical_and(x); turned.logical_not()
torch.where(mask.t(), turned, m); x.mean(); x.max(); m.argmax(1); torch.nn.functional.softmax(m, 1)
torch.nn.functional.gelu(x)
"""
IN_PLACE = """
x.add_(y); x.sub_(1); x.mul_(y); x.div_(y); x.neg_(); x.relu_(); x.exp_(); x.zero_(); x.fill_(1); x.copy_(y)
x.copy_(wide); wide.copy_(x); turned.copy_(m); turned.add_(m); turned.mul_(2); m[1:].add_(1); m[:, ::2].mul_(2)
x.clamp_(0, 1); x.sqrt_(); x.sigmoid_(); x.tanh_(); x.masked_fill_(chosen, 1); whole.add_(1); x.gt_(0); x.abs_()
torch.add(x, y, out=x); torch.mul(x, y, out=y); torch.exp(x, out=y); torch.maximum(x, y, out=x); last.add_(1); x.pow_(2)
x.add_(wide); whole.mul_(chosen); turned.add_(square); m.mul_(row); turned.sigmoid_(); m[:, ::2].exp_(); wide.sub_(x)
torch.add(m, turned, out=square); torch.mul(x, whole, out=wide); torch.sqrt(whole, out=x)
torch.eq(m, turned, out=square); turned.remainder_(m); turned.clamp_(0, 1); m.lerp_(turned, 0.5)
m.addcmul_(turned, row); torch.sigmoid(turned, out=square)
last.mul_(last); x.floor_(); x.square_(); x.reciprocal_(); x.log_(); x.add_(0.5)
"""
VIEWS = """
x.expand(4, SIZE); x.view(512, 512); m.t(); m[1:]; m[:, ::2]; m.reshape(-1); m.unbind(); m.split(100); m.chunk(3)
images.permute(0, 2, 3, 1); x.detach(); m.unsqueeze(0); m.diagonal(); m.unfold(0, 2, 1); x.cpu(); x.float()
x.as_strided((3,), (2,)); m.narrow(0, 1, 3); m.view(torch.int32); m.select(0, 1); images.flatten(2); x.contiguous()
x.to(torch.float32); last.permute(0, 2, 3, 1).contiguous(); m.squeeze(); x.view_as(x); m.movedim(0, 1)
"""


def expressions(text):
    return [each.strip().replace("SIZE", str(SIZE)) for line in text.strip().splitlines() for each in line.split(";")]


@pytest.mark.parametrize("expression", expressions(OUT_OF_PLACE))
def test_an_op_allocates_its_output(expression, threads):
    result, allocated = peak(expression)
    assert allocated < result.nbytes + SLACK * threads


@pytest.mark.parametrize("expression", expressions(IN_PLACE) + expressions(VIEWS))
def test_in_place_and_views_allocate_nothing(expression, threads):
    assert peak(expression)[1] < SLACK * threads
