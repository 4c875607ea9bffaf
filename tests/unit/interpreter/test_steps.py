"""How many Python functions a call on few elements runs: what decides how long it takes, and counts alike everywhere.

The limits are what the calls take, with room for one or two more. A call that needs more than that has got a new layer,
or goes a way that is meant for many elements.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

import mindtorch as torch
from mindtorch.dispatch.modes import debug

pytestmark = pytest.mark.skipif(debug.ON, reason="debug mode looks at every call")

X = torch.arange(-6.0, 6.0).reshape(3, 4) / 4
ROW, ONES = X[1].clone(), torch.ones(4)
VIEW = X[:, 1:3]
SQUARE = torch.eye(4) + 0.1 * torch.arange(16.0).reshape(4, 4)
PLACES, WHERE = torch.tensor([2, 0]), torch.tensor([[0, 1, 2, 0]])
LEAF = X.clone().requires_grad_()
BATCH, CLASSES = X.reshape(1, 3, 4), torch.tensor([0, 3, 1])
POINTS = torch.ones(2, 3)
PLANES, GRID = SQUARE.reshape(1, 4, 2, 2), SQUARE.reshape(1, 2, 4, 2) / 4
HEADS = torch.ones(1, 2, 3, 4)
SPECTRUM = X.to(torch.complex64)
special = torch.special
functional = torch.nn.functional
NUMPY = Path(numpy.__file__).parent


def into(call):
    """The call with an `out=` that fits."""
    out = call(None)
    return lambda: call(out)


# The most functions of Python that a call runs, and how many of them may be NumPy's own.
CALLS = {
    "amax(dim, out)": (into(lambda out: torch.amax(X, 1, out=out)), 15, 0),
    "sum(dim, out)": (into(lambda out: torch.sum(X, 1, out=out)), 15, 0),
    "std(dim, out)": (into(lambda out: torch.std(X, 1, out=out)), 31, 0),
    "median(dim)": (lambda: torch.median(X, 1), 28, 0),
    "mode(dim)": (lambda: torch.mode(X, 1), 30, 3),
    "std(dim)": (lambda: torch.std(X, 1), 29, 1),
    "max(dim)": (lambda: torch.max(X, 1), 18, 0),
    "argmax(dim)": (lambda: torch.argmax(X, 1), 14, 0),
    "cumsum(out)": (into(lambda out: torch.cumsum(X, 1, out=out)), 21, 0),
    "mm(out)": (into(lambda out: torch.mm(SQUARE, SQUARE, out=out)), 8, 0),
    "addmm(out)": (into(lambda out: torch.addmm(ONES, SQUARE, SQUARE, out=out)), 10, 0),
    "add(out)": (into(lambda out: torch.add(X, X, out=out)), 7, 0),
    "addcmul(out)": (into(lambda out: torch.addcmul(X, X, X, out=out)), 11, 0),
    "einsum": (lambda: torch.einsum("ij,jk->ik", SQUARE, SQUARE), 33, 0),
    "einsum(batches)": (lambda: torch.einsum("bij,bkj->bik", BATCH, BATCH), 37, 0),
    "bmm": (lambda: torch.bmm(BATCH, BATCH.mT), 16, 0),
    "clamp(out)": (into(lambda out: torch.clamp(X, -1.0, 1.0, out=out)), 16, 0),
    "clamp_": (lambda: X.clone().clamp_(-3.0, 3.0), 20, 0),
    "lerp(number)": (lambda: torch.lerp(X, X, 0.75), 15, 0),
    "gather": (lambda: torch.gather(X, 1, WHERE), 14, 0),
    "tril": (lambda: torch.tril(X), 5, 0),
    "tril(out)": (into(lambda out: torch.tril(X, out=out)), 8, 0),
    "nll_loss": (lambda: functional.nll_loss(X, CLASSES), 24, 0),
    "cross_entropy": (lambda: functional.cross_entropy(X, CLASSES), 39, 0),
    "layer_norm": (lambda: functional.layer_norm(X, (4,)), 22, 0),
    "batch_norm": (lambda: functional.batch_norm(X, None, None, training=True), 52, 1),
    "attention": (lambda: functional.scaled_dot_product_attention(HEADS, HEADS, HEADS), 37, 0),
    "permute": (lambda: X.permute(1, 0), 4, 0),
    "expand": (lambda: ONES.expand(3, 4), 5, 0),
    "squeeze(dim)": (lambda: BATCH.squeeze(0), 9, 0),
    "detach": (lambda: X.detach(), 5, 0),
    "x[i] = v": (lambda: X.clone().__setitem__(0, ONES), 10, 0),
    "x[:, i] = number": (lambda: X.clone().__setitem__((slice(None), 0), 1.0), 11, 0),
    "topk": (lambda: torch.topk(X, 2), 16, 0),
    "grad(layer_norm)": (lambda: torch.autograd.grad(functional.layer_norm(LEAF, (4,)), LEAF, X), 84, 0),
    "grad(cross_entropy)": (lambda: torch.autograd.grad(functional.cross_entropy(LEAF, CLASSES), LEAF), 133, 0),
    "pad": (lambda: functional.pad(X, (1, 1)), 14, 0),
    "avg_pool2d": (lambda: functional.avg_pool2d(SQUARE[None], 2), 28, 0),
    "max_pool2d": (lambda: functional.max_pool2d(SQUARE[None], 2), 28, 0),
    "index_add": (lambda: torch.index_add(X, 0, PLACES, X[:2]), 32, 0),
    "index_fill": (lambda: torch.index_fill(X, 0, PLACES, 2.0), 55, 0),
    "scatter": (lambda: torch.scatter(X, 0, WHERE, X), 23, 0),
    "scatter_add": (lambda: torch.scatter_add(X, 0, WHERE, X), 26, 0),
    "take": (lambda: torch.take(X, PLACES), 37, 0),
    "fft": (lambda: torch.fft.fft(SPECTRUM), 32, 6),
    "rfftn": (lambda: torch.fft.rfftn(X), 51, 12),
    "chebyshev_polynomial_t": (lambda: special.chebyshev_polynomial_t(X / 2, WHERE), 37, 0),
    "legendre_polynomial_p": (lambda: special.legendre_polynomial_p(X, 3), 21, 0),
    "bessel_j0(out)": (into(lambda out: special.bessel_j0(X, out=out)), 12, 0),
    "xlog1py": (lambda: special.xlog1py(ONES, ONES), 7, 0),
    "hardshrink(out)": (into(lambda out: torch.hardshrink(X, out=out)), 15, 0),
    "heaviside": (lambda: torch.heaviside(ONES, ROW), 10, 0),
    "threshold": (lambda: torch.threshold(X, 0.5, 2.0), 27, 0),
    "where(number)": (lambda: torch.where(X > 0, X, 2.0), 41, 2),
    "lu_factor_ex": (lambda: torch.linalg.lu_factor_ex(SQUARE), 27, 0),
    "solve_triangular": (lambda: torch.linalg.solve_triangular(SQUARE, SQUARE, upper=True), 15, 0),
    "mul(views)": (lambda: VIEW * VIEW, 13, 0),
    "sigmoid(view)": (lambda: torch.sigmoid(VIEW), 15, 0),
    "lerp(view, out)": (into(lambda out: torch.lerp(VIEW, VIEW, VIEW, out=out)), 30, 0),
    "addcmul(row)": (lambda: torch.addcmul(X, X, ROW), 13, 0),
    "bitwise_and(number)": (lambda: torch.bitwise_and(3, PLACES), 24, 0),
    "xlogy(number)": (lambda: torch.xlogy(2.0, ONES), 32, 0),
    "hermite_polynomial_h": (lambda: special.hermite_polynomial_h(ROW, PLACES[:, None]), 36, 0),
    "cross": (lambda: torch.linalg.cross(POINTS, POINTS), 24, 0),
    "take(floats)": (lambda: torch.take(X, WHERE), 10, 0),
    "outer": (lambda: torch.outer(ROW, ONES), 11, 0),
    "renorm": (lambda: torch.renorm(X, 2, 0, 1.0), 33, 0),
    "max_pool1d": (lambda: functional.max_pool1d(BATCH, 2), 33, 0),
    "pixel_shuffle": (lambda: functional.pixel_shuffle(PLANES, 2), 10, 0),
    "adaptive_max_pool2d": (lambda: functional.adaptive_max_pool2d(PLANES, 2), 28, 0),
    "instance_norm": (lambda: functional.instance_norm(BATCH), 55, 0),
    "unique": (lambda: torch.unique(PLACES), 10, 1),
    "normal_": (lambda: SQUARE.clone().normal_(), 17, 0),
    "grid_sample": (lambda: functional.grid_sample(PLANES, GRID, align_corners=False), 35, 6),
    "grad(sin)": (lambda: torch.autograd.grad(torch.sin(LEAF), LEAF, X), 54, 0),
}


def steps_of(call):
    """The files and names of the Python functions that a call runs; not all versions make one of a comprehension."""
    steps = []

    def note(frame, event, _):
        if event == "call" and not frame.f_code.co_name.startswith("<"):
            steps.append((frame.f_code.co_filename, frame.f_code.co_qualname))

    call()  # what is made once
    call()
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return steps


def is_of_numpy(file, name):
    """Whether it is a function of NumPy that takes longer than what it computes; counting is quick."""
    return Path(file).is_relative_to(NUMPY) and name != "count_nonzero"


@pytest.fixture(scope="module")
def steps():
    """What the calls run, by name, in a process of its own: other tests leave subclasses of Tensor behind, with which
    every call is asked about `__torch_function__`."""
    counted = subprocess.run([sys.executable, "-m", __name__], capture_output=True, text=True, check=True)
    return json.loads(counted.stdout)


@pytest.mark.parametrize("name", CALLS)
def test_steps(steps, name):
    _, most, of_numpy = CALLS[name]
    assert len([each for each in steps[name] if is_of_numpy(*each)]) <= of_numpy, steps[name]
    assert len(steps[name]) <= most, steps[name]


if __name__ == "__main__":
    json.dump({name: steps_of(call) for name, (call, *_) in CALLS.items()}, sys.stdout)
