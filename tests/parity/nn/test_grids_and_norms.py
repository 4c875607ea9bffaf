"""Sampled grids, distances of pairs, native normalizations, rrelu and losses of pairs against torch."""

import numpy as np
import pytest

from tests.parity.support.inputs import ramp
from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same, programs

program, test_program = programs()


def weighted(T, tensor):
    return (tensor * tensor * T.arange(tensor.numel(), dtype=tensor.dtype).view(tensor.shape)).sum()


# -------------------- grids --------------------


@pytest.mark.parametrize("align_corners", [True, False])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("seed", range(3))
def test_grid_sample(mode, padding, align_corners, seed):
    random = np.random.RandomState(seed)
    dims = 3 if seed == 2 and mode != "bicubic" else 2
    image = random.randn(2, 2, *random.randint(1, 6, dims))
    places = random.rand(2, *random.randint(1, 4, dims), dims) * 3 - 1.5

    def sampled(T):
        x, grid = T.from_numpy(image).requires_grad_(), T.from_numpy(places).requires_grad_()
        result = T.nn.functional.grid_sample(x, grid, mode, padding, align_corners)
        return result, T.autograd.grad(weighted(T, result), (x, grid))

    assert_same(sampled)


@pytest.mark.parametrize("align_corners", [True, False])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_grid_sample_at_the_edges(padding, align_corners):
    def sampled(T):
        x = ramp(T, -1, 2, 16, through=np.exp).view(1, 1, 4, 4)
        places = [[1.0, -1.0], [-1.0, 0.5], [0.5, 1.0], [-0.25, -0.75], [0.75, 0.75], [0.0, 0.75]]
        grid = T.tensor(places).view(1, 2, 3, 2).requires_grad_()
        result = T.nn.functional.grid_sample(x, grid, "bilinear", padding, align_corners)
        return result, T.autograd.grad(weighted(T, result), grid)

    assert_same(sampled)


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("images", [0, 1, 3])
def test_grid_sample_of_few_images(images, mode):
    """All images at once, one alone, and none, which has gradients, too."""
    numbers = np.random.default_rng(images)
    arrays = numbers.normal(size=(images, 2, 4, 3)), numbers.uniform(-1.2, 1.2, (images, 3, 2, 2))

    def sampled(T):
        x, grid = (T.from_numpy(each).requires_grad_() for each in arrays)
        result = T.nn.functional.grid_sample(x, grid, mode, align_corners=False)
        return result, T.autograd.grad(weighted(T, result), (x, grid))

    assert_same(sampled)


@pytest.mark.parametrize("align_corners", [True, False])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode, dims", [("bilinear", 2), ("bilinear", 3), ("nearest", 2), ("bicubic", 2)])
def test_second_gradients_of_grid_sample(mode, dims, padding, align_corners):
    random = np.random.RandomState(dims)
    image, places = random.randn(2, 2, 4, 3, 5)[..., : 5 if dims == 3 else 1], random.rand(2, 2, 3, 2, dims) * 3 - 1.5
    if dims == 2:
        image, places = image[..., 0], places[:, 0]

    def differentiated(T):
        x, grid = T.tensor(image, requires_grad=True), T.tensor(places, requires_grad=True)
        result = T.nn.functional.grid_sample(x, grid, mode, padding, align_corners)
        grads = T.autograd.grad(weighted(T, result), (x, grid), create_graph=True)
        total = sum(weighted(T, each) for each in grads)
        return [each.grad_fn.name() for each in (result, *grads)], T.autograd.grad(total, (x, grid))

    assert_same(differentiated)


@program
def what_a_sampled_grid_keeps(T):
    x, grid = T.ones(1, 1, 2, 2, requires_grad=True), T.zeros(1, 1, 1, 2)
    node = T.nn.functional.grid_sample(x, grid, align_corners=True).grad_fn
    kept = node._saved_input is x, node._saved_grid.shape, node._saved_interpolation_mode, node._saved_padding_mode
    return node.name(), kept, node._saved_align_corners, [edge[0] is None for edge in node.next_functions]


@program
def places_that_are_no_numbers(T):
    places = T.tensor([[float("nan"), 0], [float("inf"), 0], [1e10, 0.5], [-1e30, 0], [0.3, float("nan")], [-1, 1]])
    grid, x = places.view(1, 2, 3, 2).requires_grad_(), T.arange(9.0).view(1, 1, 3, 3).requires_grad_()
    results = [T.nn.functional.grid_sample(x, grid, "bilinear", "zeros", align) for align in (True, False)]
    return results, [T.autograd.grad(result.sum(), (x, grid)) for result in results]


@program
def which_gradients_of_a_grid_are_wanted(T):
    x, grid = ramp(T, -1, 1, 12).view(1, 2, 2, 3), ramp(T, -1.2, 1, 8).view(1, 2, 2, 2)
    masks = [[True, False], [True, True]]
    backward = T.ops.aten.grid_sampler_2d_backward
    return [backward(T.ones(1, 2, 2, 2), x, grid, 0, 0, False, mask)[0] for mask in masks]


@pytest.mark.parametrize("sampler", ["grid_sampler_2d", "grid_sampler_3d"])
@pytest.mark.parametrize(
    "image, grid", [((2, 3, 4, 5), (1, 2, 2, 2)), ((2, 3, 4), (2, 2, 2)), ((1, 2, 3, 3), (1, 1, 1, 2)),
                    ((1, 1, 2, 3, 4), (1, 1, 1, 1, 3)), ((1, 0, 3, 3), (1, 2, 2, 2)), ((0, 2, 3, 3), (0, 2, 2, 2))],
)  # fmt: skip
def test_samplers_of_one_rank(sampler, image, grid):
    assert_same(lambda T: getattr(T, sampler)(T.ones(image), T.zeros(grid), 2, 0, False))


@pytest.mark.parametrize("size", [(2, 3, 4, 5), (2, 1, 1, 3), (2, 3, 2, 3, 2)])
@pytest.mark.parametrize("align_corners", [True, False])
def test_affine_grid(size, align_corners):
    def grid(T):
        dims = len(size) - 2
        theta = ramp(T, -1, 1, 2 * dims * (dims + 1)).reshape(2, dims, dims + 1).requires_grad_()
        result = T.nn.functional.affine_grid(theta, size, align_corners=align_corners)
        return result, T.autograd.grad(weighted(T, result), theta)

    assert_same(grid)


GRIDS_REFUSED = """
sample(x, g[:1])
sample(x, g[..., :1])
sample(x[0], g)
sample(x[:, :, None], g)
sample(x[:, :, :0], g)
sample(x, g.double())
sample(x.long(), g.long())
sample(x, g, "x")
sample(x, g, "nearest", "x")
sample(x[:, :, None], T.zeros(2, 1, 1, 1, 3), "bicubic")
affine(T.ones(2, 2, 3).long(), (2, 1, 2, 2))
affine(T.ones(2, 3, 3), (2, 1, 2, 2))
affine(T.ones(2, 2, 3), (2, 1, 2))
affine(T.ones(2, 2, 3), (2, 1, 0, 2))
T.affine_grid_generator(T.ones(2, 2, 3), (2, 1, 2), True)
"""


@pytest.mark.parametrize("expression", GRIDS_REFUSED.strip().splitlines())
def test_refused_grids(expression):
    def refused(T):
        functional = T.nn.functional
        names = {"sample": functional.grid_sample, "affine": functional.affine_grid}
        return eval(expression, {"T": T, "x": T.ones(2, 3, 4, 5), "g": T.zeros(2, 2, 2, 2), **names})

    assert_same(refused)


# -------------------- distances --------------------


@pytest.mark.parametrize("p", [0.0, 1.0, 1.5, 2.0, 3.0, float("inf")])
def test_pdist(p):
    def distances(T):
        rows = ramp(T, -2, 2, 12, through=np.sin).view(4, 3)
        rows[1] = rows[0]
        rows = rows.requires_grad_()
        result = T.pdist(rows, p)
        return result, T.autograd.grad(weighted(T, result), rows), T.nn.functional.pdist(rows[:1], p).shape

    assert_same(distances)


@pytest.mark.parametrize(
    "expression", ["T.ones(3)", "T.ones(2, 3).long()", "T.ones(2, 3), -1.0", "T.ones(2, 3).half()"]
)
def test_refused_pdist(expression):
    assert_same(lambda T: eval(f"T.pdist({expression})", {"T": T}))


# -------------------- normalizations --------------------


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("shape, groups", [((2, 6), 3), ((2, 4, 3), 2), ((1, 3, 2, 2), 1), ((2, 6, 4), 4)])
def test_native_group_norm(shape, groups, affine):
    def normalized(T):
        channels, size = shape[1], int(np.prod(shape[2:]))
        x = ramp(T, -3, 2, int(np.prod(shape)), T.float64, np.sin).view(shape).requires_grad_()
        weight, bias = (
            (ramp(T, 1, 2, channels, T.float64), ramp(T, -1, 1, channels, T.float64)) if affine else (None, None)
        )
        result, mean, scale = T.native_group_norm(x, weight, bias, shape[0], channels, size, groups, 1e-3)
        statistics = mean.detach(), scale.detach()
        arguments = (shape[0], channels, size, groups, [True, affine, affine])
        grads = T.ops.aten.native_group_norm_backward(result.detach(), x.detach(), *statistics, weight, *arguments)
        return result, statistics, grads, T.autograd.grad(weighted(T, result), x)

    assert_same(normalized)


@program
def batch_norms(T):
    x, weight = ramp(T, -2, 2, 12, through=np.exp).view(4, 3).requires_grad_(), T.tensor([1.0, 2.0, 3.0])
    mean, var = T.zeros(3), T.ones(3)
    aten = T.ops.aten
    results = [
        aten._native_batch_norm_legit(x, weight, None, mean, var, True, 0.1, 1e-5)[0],
        aten._native_batch_norm_legit.no_stats(x, None, None, True, 0.1, 1e-5)[0],
        aten._native_batch_norm_legit_no_training(x, weight, weight, mean, var, 0.1, 1e-5)[0],
    ]
    return results, mean, var, [T.autograd.grad(weighted(T, result), x) for result in results]


@program
def norms_of_slices(T):
    x = ramp(T, -2, 2, 24).view(2, 3, 4).requires_grad_()
    results = [T.norm_except_dim(x, power, dim) for power in (1, 2) for dim in (0, 1, 2, -1)]
    return results, [T.autograd.grad(weighted(T, result), x) for result in results]


# -------------------- rrelu and losses --------------------


@program
def random_slopes(T):
    T.manual_seed(3)
    x = ramp(T, -2, 2, 8).requires_grad_()
    result = T.rrelu(x, 0.1, 0.5, True)
    means = T.rrelu(x), T.rrelu_(ramp(T, -1, 1, 4)), T.nn.functional.rrelu(x.detach().clone(), inplace=True)
    return result, T.autograd.grad(weighted(T, result), x), means, T.rrelu(x, training=True), T.rand(2)


@program
def slopes_with_a_generator(T):
    x = ramp(T, -2, 2, 8)
    return T.rrelu(x, training=True, generator=T.Generator().manual_seed(5)), T.rrelu_(x, 0.25, 0.25, True)


@program
def slopes_in_the_wrong_order(T):
    return T.rrelu(T.ones(2), 0.5, 0.2)


@program
def losses_of_pairs(T):
    x, signs = ramp(T, -1, 3, 6).requires_grad_(), T.tensor([1, -1, 1, -1, 1, -1])
    results = [T.hinge_embedding_loss(x, signs, 1.5, reduction) for reduction in (0, 1, 2)]
    return results, [T.autograd.grad(weighted(T, result), x) for result in results]


@program
def losses_of_counts(T):
    x, counts = ramp(T, 0.5, 3, 6).requires_grad_(), T.tensor([0.0, 1.0, 2.0, 5.0, 0.5, 7.0])
    flags = [(log_input, full) for log_input in (True, False) for full in (True, False)]
    results = [T.poisson_nll_loss(x, counts, *each, 1e-8, 1) for each in flags]
    return results, [T.autograd.grad(result, x) for result in results]


@pytest.mark.parametrize("size", (3, 5, 9))
def test_cross_map_norm(size):
    def normed(T):
        x = (T.arange(40.0).reshape(2, 5, 2, 2) / 9 - 2).requires_grad_()
        layer = T.nn.CrossMapLRN2d(size, alpha=0.5, beta=0.6, k=2)
        result = layer(x)
        result.pow(2).sum().backward()
        return result.detach(), x.grad, repr(layer), tried(layer, x[0])

    assert_same(normed)
