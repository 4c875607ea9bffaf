"""`interpolate` and `pad` over modes, sizes, scales, dtypes and memory formats, with their errors."""

import pytest

from tests.parity.nn.test_nn import LIBRARIES, assert_same, outcome, run_both
from tests.parity.support.inputs import normal

MODES = {
    3: ["nearest", "nearest-exact", "linear", "area"],
    4: ["nearest", "nearest-exact", "bilinear", "bicubic", "area", "bilinear smooth", "bicubic smooth"],
    5: ["nearest", "nearest-exact", "trilinear", "area"],
}
CASES = [(ndim, mode) for ndim, modes in MODES.items() for mode in modes]
SIZES = [
    {"size": 5},
    {"scale_factor": 2},
    {"scale_factor": 1.7},
    {"scale_factor": 0.6, "recompute_scale_factor": True},
    {"size": 3, "align_corners": True},
]


def resized(library, ndim, mode, sizes, dtype="float64", last=False):
    """The result, its strides, and both derivatives."""
    options = {"mode": mode.split()[0], "antialias": mode.endswith("smooth")}
    if "align_corners" in sizes and mode.split()[0] in ("nearest", "nearest-exact", "area"):
        sizes = {"size": sizes["size"]}
    images = normal(library, 2, 5, *(4, 7, 3)[: ndim - 2]).to(getattr(library, dtype))
    if last:
        images = images.to(memory_format=library.channels_last if ndim == 4 else library.channels_last_3d)
    images.requires_grad_()
    result = library.nn.functional.interpolate(images, **sizes, **options)
    weights = library.rand(result.shape).to(result.dtype).requires_grad_()
    (grad,) = library.autograd.grad(result, images, weights, create_graph=True)
    (second,) = library.autograd.grad(grad.sum(), weights)
    return result.detach(), result.stride(), grad.detach(), second


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize(("ndim", "mode"), CASES)
def test_interpolate(ndim, mode, sizes):
    assert_same(*run_both(resized, ndim, mode, sizes), tolerance=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize(("ndim", "mode"), [case for case in CASES if not case[1].endswith("smooth")])
def test_interpolate_in_another_dtype(ndim, mode, dtype):
    tolerance = {"float32": 1e-5, "float16": 5e-3, "bfloat16": 5e-2}[dtype]
    assert_same(*run_both(resized, ndim, mode, {"scale_factor": 2}, dtype), tolerance=tolerance)


@pytest.mark.parametrize(("ndim", "mode"), [case for case in CASES if case[0] > 3])
def test_interpolate_in_another_format(ndim, mode):
    assert_same(*run_both(resized, ndim, mode, {"size": 5}, "float64", True), tolerance=1e-9)


ERRORS = {
    "no size": lambda L, F: F.interpolate(L.ones(1, 1, 2)),
    "size and scale": lambda L, F: F.interpolate(L.ones(1, 1, 2), 3, 2),
    "sizes": lambda L, F: F.interpolate(L.ones(1, 1, 2), (3, 4)),
    "type of sizes": lambda L, F: F.interpolate(L.ones(1, 1, 2), (3.5,)),
    "scales": lambda L, F: F.interpolate(L.ones(1, 1, 2), scale_factor=(3, 4)),
    "corners of nearest": lambda L, F: F.interpolate(L.ones(1, 1, 2), 3, align_corners=True),
    "scale of a size": lambda L, F: F.interpolate(L.ones(1, 1, 2), 3, recompute_scale_factor=True),
    "mode of images": lambda L, F: F.interpolate(L.ones(1, 1, 2), 3, mode="bilinear"),
    "mode of sequences": lambda L, F: F.interpolate(L.ones(1, 1, 2, 2), 3, mode="linear"),
    "mode": lambda L, F: F.interpolate(L.ones(1, 1, 2, 2), 3, mode="other"),
    "dimensions": lambda L, F: F.interpolate(L.ones(1, 2), []),
    "smooth sequences": lambda L, F: F.interpolate(L.ones(1, 1, 2), 3, mode="linear", antialias=True),
    "lanczos": lambda L, F: F.interpolate(L.ones(1, 1, 2, 2), 3, mode="lanczos"),
    "nothing left": lambda L, F: F.interpolate(L.ones(1, 1, 2, 2), scale_factor=0.1),
    "nothing left of a sequence": lambda L, F: F.interpolate(L.ones(1, 1, 2), scale_factor=0.1),
    "no channels": lambda L, F: F.interpolate(L.ones(1, 0, 2, 2), 3, mode="bicubic"),
    "integers": lambda L, F: F.interpolate(L.ones(1, 5, 2, dtype=L.int64), 3, mode="linear"),
    "reflection too wide": lambda L, F: F.pad(L.ones(1, 2, 3), (3, 0), "reflect"),
    "reflection of nothing": lambda L, F: F.pad(L.ones(1, 0, 3), (1, 0), "reflect"),
    "replication of nothing": lambda L, F: F.pad(L.ones(1, 2, 0, 3), (1, 0, 1, 1), "replicate"),
    "negative width": lambda L, F: F.pad(L.ones(1, 2, 3), (-2, -2), "replicate"),
    "round more than once": lambda L, F: F.pad(L.ones(1, 2, 3), (4, 0), "circular"),
    "mode of padding": lambda L, F: F.pad(L.ones(1, 2, 3), (4, 0), "other", 1.5),
    "value of a reflection": lambda L, F: F.pad(L.ones(1, 2, 3), (1, 0), "reflect", 1.5),
    "dimensions of padding": lambda L, F: F.pad(L.ones(1, 2, 3), (1, 0, 1, 1, 1, 1), "reflect"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(name):
    ours, theirs = (outcome(lambda L: ERRORS[name](L, L.nn.functional), library) for library in LIBRARIES)
    assert ours == theirs


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize(
    ("shape", "widths"),
    [((2, 3, 4), (2, 1)), ((3, 4), (-1, 3)), ((2, 3, 4, 5), (1, 2, 0, 3)), ((2, 2, 3, 4, 3), (1, 1, 2, -1, 1, 0))],
)
@pytest.mark.parametrize("last", [False, True])
def test_pad(mode, shape, widths, last):
    def use(library):
        images = normal(library, *shape, dtype=library.float64)
        if last and len(shape) > 3:
            images = images.to(memory_format=library.channels_last if len(shape) == 4 else library.channels_last_3d)
        images.requires_grad_()
        result = library.nn.functional.pad(images, widths, mode)
        weights = library.rand(result.shape, dtype=library.float64).requires_grad_()
        (grad,) = library.autograd.grad(result, images, weights, create_graph=True)
        return result.detach(), result.stride(), grad.detach(), library.autograd.grad(grad.sum(), weights)

    assert_same(*run_both(use))


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("dims", [2, 3])
def test_grid_sample(dims, mode, padding_mode, align_corners):
    def use(library):
        F = library.nn.functional
        images = normal(library, 2, 3, *(4, 5, 3)[:dims], dtype=library.float64).requires_grad_()
        theta = (normal(library, 2, dims, dims + 1, dtype=library.float64) * 0.8).requires_grad_()
        grid = F.affine_grid(theta, (2, 3, *(3, 4, 2)[:dims]), align_corners)
        result = F.grid_sample(images, grid, mode, padding_mode, align_corners)
        result.backward(library.rand(result.shape, dtype=library.float64))
        return grid.detach(), result.detach(), images.grad, theta.grad

    assert_same(*run_both(use), tolerance=1e-8)
