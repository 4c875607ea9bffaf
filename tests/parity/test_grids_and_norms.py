"""Sampled grids, distances of pairs, native normalizations, rrelu and losses of pairs against torch."""

import numpy as np
import pytest

from tests.parity.programs import assert_same, programs

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
        x = T.linspace(-1, 2, 16).exp().view(1, 1, 4, 4)
        places = [[1.0, -1.0], [-1.0, 0.5], [0.5, 1.0], [-0.25, -0.75], [0.75, 0.75], [0.0, 0.75]]
        grid = T.tensor(places).view(1, 2, 3, 2).requires_grad_()
        result = T.nn.functional.grid_sample(x, grid, "bilinear", padding, align_corners)
        return result, T.autograd.grad(weighted(T, result), grid)

    assert_same(sampled)


@pytest.mark.parametrize("size", [(2, 3, 4, 5), (2, 1, 1, 3), (2, 3, 2, 3, 2)])
@pytest.mark.parametrize("align_corners", [True, False])
def test_affine_grid(size, align_corners):
    def grid(T):
        dims = len(size) - 2
        theta = T.linspace(-1, 1, 2 * dims * (dims + 1)).reshape(2, dims, dims + 1).requires_grad_()
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
        rows = T.linspace(-2, 2, 12).sin().view(4, 3).clone()
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
        x = T.linspace(-3, 2, int(np.prod(shape))).double().sin().view(shape).requires_grad_()
        weight, bias = (
            (T.linspace(1, 2, channels).double(), T.linspace(-1, 1, channels).double()) if affine else (None, None)
        )
        result, mean, scale = T.native_group_norm(x, weight, bias, shape[0], channels, size, groups, 1e-3)
        statistics = mean.detach(), scale.detach()
        arguments = (shape[0], channels, size, groups, [True, affine, affine])
        grads = T.ops.aten.native_group_norm_backward(result.detach(), x.detach(), *statistics, weight, *arguments)
        return result, statistics, grads, T.autograd.grad(weighted(T, result), x)

    assert_same(normalized)


@program
def batch_norms(T):
    x, weight = T.linspace(-2, 2, 12).exp().view(4, 3).requires_grad_(), T.tensor([1.0, 2.0, 3.0])
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
    x = T.linspace(-2, 2, 24).view(2, 3, 4).requires_grad_()
    results = [T.norm_except_dim(x, power, dim) for power in (1, 2) for dim in (0, 1, 2, -1)]
    return results, [T.autograd.grad(weighted(T, result), x) for result in results]


# -------------------- rrelu and losses --------------------


@program
def random_slopes(T):
    T.manual_seed(3)
    x = T.linspace(-2, 2, 8).requires_grad_()
    result = T.rrelu(x, 0.1, 0.5, True)
    means = T.rrelu(x), T.rrelu_(T.linspace(-1, 1, 4)), T.nn.functional.rrelu(x.detach().clone(), inplace=True)
    return result, T.autograd.grad(weighted(T, result), x), means, T.rrelu(x, training=True), T.rand(2)


@program
def slopes_with_a_generator(T):
    x = T.linspace(-2, 2, 8)
    return T.rrelu(x, training=True, generator=T.Generator().manual_seed(5)), T.rrelu_(x, 0.25, 0.25, True)


@program
def slopes_in_the_wrong_order(T):
    return T.rrelu(T.ones(2), 0.5, 0.2)


@program
def losses_of_pairs(T):
    x, signs = T.linspace(-1, 3, 6).requires_grad_(), T.tensor([1, -1, 1, -1, 1, -1])
    results = [T.hinge_embedding_loss(x, signs, 1.5, reduction) for reduction in (0, 1, 2)]
    return results, [T.autograd.grad(weighted(T, result), x) for result in results]


@program
def losses_of_counts(T):
    x, counts = T.linspace(0.5, 3, 6).requires_grad_(), T.tensor([0.0, 1.0, 2.0, 5.0, 0.5, 7.0])
    flags = [(log_input, full) for log_input in (True, False) for full in (True, False)]
    results = [T.poisson_nll_loss(x, counts, *each, 1e-8, 1) for each in flags]
    return results, [T.autograd.grad(result, x) for result in results]
