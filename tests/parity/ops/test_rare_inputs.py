"""Calls that a generator of rare inputs found to differ: each table stands for a class."""

import warnings

import mpmath
import numpy as np
import pytest
import torch

import mindtorch
from tests.harness import error_difference, outcome, result_difference

# -------------------- empty matrices --------------------

FACTORIZATIONS = {
    "qr": lambda T, x: T.linalg.qr(x),
    "qr, complete": lambda T, x: T.linalg.qr(x, "complete"),
    "qr, r": lambda T, x: T.linalg.qr(x, "r"),
    "svd": lambda T, x: T.linalg.svd(x),
    "svdvals": lambda T, x: T.linalg.svdvals(x),
    "eigh": lambda T, x: T.linalg.eigh(x),
    "eigvalsh": lambda T, x: T.linalg.eigvalsh(x),
    "eig": lambda T, x: T.linalg.eig(x),
    "cholesky": lambda T, x: T.linalg.cholesky(x),
    "inv": lambda T, x: T.linalg.inv(x),
    "det": lambda T, x: T.linalg.det(x),
    "slogdet": lambda T, x: T.linalg.slogdet(x),
    "solve": lambda T, x: T.linalg.solve(x, x),
    "lu": lambda T, x: T.linalg.lu(x),
    "lu_factor": lambda T, x: T.linalg.lu_factor(x),
    "lu_solve": lambda T, x: T.linalg.lu_solve(x, T.ones(x.shape[:-1], dtype=T.int32), x),
    "ldl_factor": lambda T, x: T.linalg.ldl_factor(x),
    "lstsq": lambda T, x: T.linalg.lstsq(x, x),
    "matrix_exp": lambda T, x: T.linalg.matrix_exp(x),
    "householder_product": lambda T, x: T.linalg.householder_product(x, x[..., 0, :]),
    "solve_triangular": lambda T, x: T.linalg.solve_triangular(x, x, upper=True),
    "geqrf": lambda T, x: T.geqrf(x),
}


def facts(T, name, dtype, shape):
    found = outcome(FACTORIZATIONS[name], (T, T.zeros(shape, dtype=getattr(T, dtype))), {})
    if found.error is not None:
        return f"{type(found.error).__name__}: {found.error}".partition("\n")[0]
    results = found.result if isinstance(found.result, tuple) else (found.result,)
    return [(str(each.dtype), tuple(each.shape)) for each in results]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex128", "int64", "bool", "uint8", "uint16"])
@pytest.mark.parametrize("name", FACTORIZATIONS)
def test_empty_matrices(name, dtype):
    for shape in ((0, 0), (2, 0, 0), (0, 2, 2)):
        assert facts(mindtorch, name, dtype, shape) == facts(torch, name, dtype, shape), shape


# -------------------- numbers far out --------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_histogram_of_a_range_too_wide_for_the_dtype(dtype):
    """torch puts all elements into the first interval, or in none."""
    largest = float(np.finfo(dtype).max)
    values = np.array([-0.9, -0.3, 0.3, 0.35, 0.9, 1.0], dtype) * dtype(largest)
    found = mindtorch.from_numpy(values)
    assert found.histc(4).tolist() == [1, 1, 2, 2]
    assert found.histc(4, -largest, largest).tolist() == [1, 1, 2, 2]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_airy_far_out(dtype):
    places = [105, 1000, 2**20 + 1, 10**7, 2**31, 2**40, -1000, -(2**20) - 4, -(10**6) * 2, -(2**24)]
    found = mindtorch.special.airy_ai(mindtorch.tensor(places, dtype=getattr(mindtorch, dtype))).tolist()
    with mpmath.workdps(40):
        wanted = [float(mpmath.airyai(place)) for place in places]
    # The phase is as wrong as a number of some thousand millions is in the dtype.
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-8 if dtype == "float64" else 1e-6)


# -------------------- strides --------------------


def normalized(shape, dims, weighted=False, dtype="float32"):
    def call(T):
        x = T.ones(shape, dtype=getattr(T, dtype))
        x = x.contiguous(memory_format=T.channels_last if len(shape) == 4 else T.channels_last_3d)
        weight = T.ones(shape[-dims:], dtype=x.dtype) if weighted else None
        return T.nn.functional.rms_norm(x, shape[-dims:], weight)

    return call


IMAGES = ((3, 2, 4, 5), (3, 2, 4, 1), (3, 2, 1, 1), (2, 3, 2, 4, 5))
STRIDES = {
    **{f"rms_norm {shape} {dims}": normalized(shape, dims) for shape in IMAGES for dims in (1, 3)},
    "rms_norm, weighted": normalized(IMAGES[0], 3, True),
    "rms_norm in 16 bits": normalized(IMAGES[0], 2, True, "bfloat16"),
    "bilinear to one": lambda T: T.nn.functional.bilinear(T.ones(3, 3, 3), T.ones(3, 3, 2), T.ones(1, 3, 2)),
    "bilinear of a matrix to one": lambda T: T.nn.functional.bilinear(T.ones(3, 3), T.ones(3, 2), T.ones(1, 3, 2)),
}


@pytest.mark.parametrize("name", STRIDES)
def test_strides(name):
    assert STRIDES[name](mindtorch).stride() == STRIDES[name](torch).stride()


# -------------------- arguments --------------------

SHAPES = [(), (2, 3), ((5, -1), (5, 5)), (-3, (5, 5)), ((2, 3), (4, 3)), (2, 3), ((6, 1, 5), (5, 5)), ((0,), (1, 1))]
CONTRACTED = [None, "a", 1.5, (1,), ([0], [1], [0]), [[0]], True, -1, 5, [0, 1], ([0, 1], [0]), ([-1], (0,))]
ARGUMENTS = {
    **{f"broadcast_shapes {shapes}": lambda T, shapes=shapes: tuple(T.broadcast_shapes(*shapes)) for shapes in SHAPES},
    **{f"tensordot {dims}": lambda T, dims=dims: T.tensordot(T.ones(2, 2), T.ones(2, 2), dims) for dims in CONTRACTED},
    "tensordot of tensors": lambda T: T.tensordot(T.ones(2, 2), T.ones(2, 2), T.tensor([[0], [1]])),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments(name):
    found, wanted = (outcome(ARGUMENTS[name], (T,), {}) for T in (mindtorch, torch))
    if wanted.error is not None or found.error is not None:
        assert error_difference(found.error, wanted.error) is None
    else:
        assert result_difference(mindtorch, torch, found.result, wanted.result) is None


# -------------------- truth in other bytes than 1 --------------------

BYTES = [0, 1, 2, 255, 128, 1]
PAIRS = {
    "eq": lambda T, x, y: x == y,
    "ne": lambda T, x, y: x != y,
    "lt": lambda T, x, y: x < y,
    "le": lambda T, x, y: x <= y,
    "gt": lambda T, x, y: x > y,
    "ge": lambda T, x, y: x >= y,
    "xor": lambda T, x, y: x ^ y,
    "and": lambda T, x, y: x & y,
    "or": lambda T, x, y: x | y,
    "logical_xor": lambda T, x, y: x.logical_xor(y),
    "logical_and": lambda T, x, y: x.logical_and(y),
    "maximum": lambda T, x, y: T.maximum(x, y),
    "add": lambda T, x, y: x + y,
    "mul": lambda T, x, y: x * y,
    "where": lambda T, x, y: T.where(x, y, ~y),
    "masked_fill": lambda T, x, y: x.masked_fill(y, False),
}
OPERANDS = {
    "each": lambda T, x: x,
    "one": lambda T, x: x[3],
    "one in a row": lambda T, x: x[3:4],
    "repeated": lambda T, x: x[3:4].expand(6),
    "ordinary": lambda T, x: T.tensor([True, False, True, True, False, True]),
    "ordinary one": lambda T, x: T.tensor(True),
}


@pytest.mark.parametrize("left", OPERANDS)
@pytest.mark.parametrize("name", PAIRS)
def test_any_byte_but_0_is_true(name, left):
    def results(T):
        masks = T.tensor(BYTES, dtype=T.uint8).view(T.bool)
        others = (OPERANDS[right](T, masks) for right in OPERANDS)
        return [PAIRS[name](T, OPERANDS[left](T, masks), other).tolist() for other in others]

    assert results(mindtorch) == results(torch)


# -------------------- right-hand sides --------------------

SYSTEMS = [
    ((1, 3, 3), (3, 3)),
    ((1, 3, 3), (2, 3)),
    ((1, 3, 3), (1, 3)),
    ((1, 2, 3), (2, 3)),
    ((2, 3, 3), (3, 3)),
    ((2, 3, 3), (2, 3)),
    ((3, 3, 3), (3, 3)),
    ((1, 1, 3, 3), (3, 3, 3)),
    ((1, 2, 3, 3), (1, 3, 3)),
    ((3, 3), (2,)),
    ((1, 3, 3), (3,)),
]


@pytest.mark.parametrize(("matrix", "right"), SYSTEMS)
def test_least_squares_of_a_vector_or_a_matrix(matrix, right):
    numbers = np.random.default_rng(0).standard_normal((2, 27))
    made = [numbers[place, : np.prod(shape)].reshape(shape) for place, shape in enumerate((matrix, right))]
    found, wanted = (outcome(T.linalg.lstsq, [T.from_numpy(x) for x in made], {}) for T in (mindtorch, torch))
    if wanted.error is not None or found.error is not None:
        assert error_difference(found.error, wanted.error) is None
    else:
        assert result_difference(mindtorch, torch, found.result[0], wanted.result[0]) is None


# -------------------- warnings of NumPy --------------------


def outcome_difference(found, wanted, **options):
    if found.error is not None or wanted.error is not None:
        return error_difference(found.error, wanted.error)
    return result_difference(mindtorch, torch, found.result, wanted.result, **options)


def csr_product(T, dtype, **factors):
    ones = T.ones(2, 2, dtype=dtype)
    return T.sparse.sampled_addmm(T.eye(2, dtype=dtype).to_sparse_csr(), ones, ones, **factors).to_dense()


FAR_OUT = {
    "histogramdd, equal edges": lambda T: T.histogramdd(
        T.ones(2, 2), [T.tensor([3.0, 3.0]), T.tensor([0.0, 5.0])], density=True
    ),
    "histogramdd, unordered edges": lambda T: T.histogramdd(
        T.ones(2, 2), [T.tensor([3.0, 1.0, 2.0]), T.tensor([0.0, 5.0])], density=True
    ),
    "histogram": lambda T: T.histogram(T.tensor([1.0, 3e38, -3e38]), 4),
    "linspace": lambda T: T.linspace(-3e38, 3e38, 5),
    "pinverse": lambda T: T.pinverse(T.full((2, 2), 3e38)),
    "pinverse, complex": lambda T: T.pinverse(T.full((2, 2), 3e38).to(T.complex64)),
    "pinv, Hermitian": lambda T: T.linalg.pinv(T.full((2, 2), 3e38).to(T.complex64), hermitian=True),
    "sampled_addmm, beta": lambda T: csr_product(T, T.float32, beta=1e300),
    "sampled_addmm, alpha": lambda T: csr_product(T, T.float32, alpha=1e300),
    "sampled_addmm, complex": lambda T: csr_product(T, T.complex64, beta=1e300),
    "sampled_addmm, double": lambda T: csr_product(T, T.float64, beta=1e300, alpha=1e300),
}


@pytest.mark.filterwarnings("ignore:Sparse CSR")
@pytest.mark.parametrize("name", FAR_OUT)
def test_overflow_warns_of_nothing(name):
    wanted = outcome(FAR_OUT[name], (torch,), {})
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = outcome(FAR_OUT[name], (mindtorch,), {})
    assert outcome_difference(found, wanted) is None


BEYOND_A_DTYPE = {
    "log_normal_": lambda T, x: x.log_normal_(0, 1e300),
    "log_normal_, mean": lambda T, x: x.log_normal_(1e300, 1),
    "log_normal_, largest": lambda T, x: x.log_normal_(0, 1.7e308),
    "normal_": lambda T, x: x.normal_(0, 1.7e308),
    "cauchy_": lambda T, x: x.cauchy_(0, 1.7e308),
    "exponential_": lambda T, x: x.exponential_(1e-300),
    "svdvals": lambda T, x: T.linalg.svdvals((x[:4].float().reshape(2, 2) + 3e38).to(T.complex64)),
    "eigvalsh": lambda T, x: T.linalg.eigvalsh((x[:4].float().reshape(2, 2) + 3e38).to(T.complex64)),
    "eigvals": lambda T, x: T.linalg.eigvals(x[:4].float().reshape(2, 2) + 2e38),
    "matrix_exp": lambda T, x: T.matrix_exp(x.reshape(10, 10).fill_(6e4)),
    "matrix_exp, in part": lambda T, x: T.matrix_exp(x[:4].reshape(2, 2).fill_(8)),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("name", BEYOND_A_DTYPE)
def test_numbers_beyond_a_dtype_warn_of_nothing(name, dtype):
    """Which numbers these are depends on the generator, or on the order of a computation."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        BEYOND_A_DTYPE[name](mindtorch, mindtorch.zeros(100, dtype=getattr(mindtorch, dtype)))


# -------------------- wide unsigned integers --------------------

LEAVING_INTEGERS = (
    "floor ceil round trunc fix floor_ ceil_ round_ trunc_ fix_ signbit isnan isinf isfinite isposinf isneginf "
    "nan_to_num nan_to_num_"
).split()


def of_unsigned(T, name, values, dtype, step, out=None):
    tensor = T.tensor(values, dtype=getattr(T, dtype))[::step]
    if out is None:
        return getattr(T, name)(tensor) if hasattr(T, name) else getattr(tensor, name)()
    return getattr(T, name)(tensor, out=T.empty(0, dtype=getattr(T, out)))


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
@pytest.mark.parametrize("name", LEAVING_INTEGERS)
def test_wide_unsigned_integers(name, dtype):
    outs = (None,) if name.endswith("_") or name in ("isnan", "isinf", "isfinite", "fix") else (None, dtype, "bool")
    for values in ([], [1, 7, 0, 2 ** (8 * np.dtype(dtype).itemsize) - 1], [[3, 4], [5, 6]]):
        for step in (1, 2):
            for out in outs:
                args = (name, values, dtype, step, out)
                wanted, found = outcome(of_unsigned, (torch, *args), {}), outcome(of_unsigned, (mindtorch, *args), {})
                # torch's isinf of integers keeps the stride of a dimension of one element, in any dtype.
                assert outcome_difference(found, wanted, strides=name != "isinf") is None, args


# -------------------- sums of weighted pixels --------------------

SIZES = {"smaller": [3, 4], "larger": [12, 16], "uneven": [4, 5], "equal": [6, 8]}
SCALES = [(None, None), (0.5, 0.5), (2.0, 2.0), (0.7, 0.6)]


def smoothed(T, pixel, size, scales, align):
    image = T.arange(48.0).reshape(1, 1, 6, 8)
    image[0, 0, 2, 3] = image[0, 0, 5, 7] = pixel
    return T.ops.aten._upsample_bilinear2d_aa(image, size, align, *scales)


def smoothed_backward(T, pixel, size, scales, align):
    grad = T.arange(float(size[0] * size[1])).reshape(1, 1, *size)
    grad[0, 0, 1, 2] = grad[0, 0, -1, -1] = pixel
    return T.ops.aten._upsample_bilinear2d_aa_backward(grad, size, [1, 1, 6, 8], align, *scales)


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("pixel", [float("inf"), float("nan"), 100.0])
def test_antialiased_images_beyond_numbers(pixel, size):
    for scales in SCALES:
        if scales[0] is not None and (size[0] / scales[0] > 6 or size[1] / scales[1] > 8):
            continue  # torch reads beyond the image
        for align in (False, True):
            args = (pixel, size, scales, align)
            found, wanted = outcome(smoothed, (mindtorch, *args), {}), outcome(smoothed, (torch, *args), {})
            assert outcome_difference(found, wanted) is None, args
            found = outcome(smoothed_backward, (mindtorch, *args), {})
            wanted = outcome(smoothed_backward, (torch, *args), {})
            assert outcome_difference(found, wanted) is None, args


# -------------------- what is refused, and what is not --------------------

TAKEN_OR_REFUSED = {
    "smooth_l1_loss, a mask": lambda T: T.nn.functional.smooth_l1_loss(T.ones(2), T.ones(2).bool(), beta=0),
    "smooth_l1_loss, masks": lambda T: T.nn.functional.smooth_l1_loss(T.ones(2).bool(), T.ones(2).bool(), beta=0),
    "smooth_l1_loss, integers": lambda T: T.nn.functional.smooth_l1_loss(
        T.arange(3), T.zeros(3).int(), beta=0, reduction="sum"
    ),
    "smooth_l1_loss": lambda T: T.nn.functional.smooth_l1_loss(T.arange(3.0), T.ones(3), beta=0),
    "index_add": lambda T: T.tensor(1.0).index_add(0, T.tensor(0), T.tensor(2.0)),
    "index_add, beyond": lambda T: T.tensor(1.0).index_add(0, T.tensor(5), T.tensor(2.0)),
    "index_add, beyond, with a dimension": lambda T: T.tensor(1.0).index_add(0, T.tensor([5]), T.tensor(2.0)),
    "index_add_, negative": lambda T: T.tensor(1.0).index_add_(0, T.tensor(-1), T.tensor(2.0)),
}


@pytest.mark.parametrize("name", TAKEN_OR_REFUSED)
def test_taken_or_refused(name):
    call = TAKEN_OR_REFUSED[name]
    assert outcome_difference(outcome(call, (mindtorch,), {}), outcome(call, (torch,), {})) is None


def instance_norm(T, dtype, statistics, weights, use_input_stats):
    images = T.arange(24.0).reshape(2, 2, 6).to(getattr(T, dtype))
    mean, var = T.full((2,), 3).to(getattr(T, statistics)), T.full((2,), 5).to(getattr(T, statistics))
    weight = None if weights is None else T.full((2,), 2, dtype=getattr(T, weights))
    result = T.nn.functional.instance_norm(images, mean, var, weight, weight, use_input_stats)
    return result, mean, var


@pytest.mark.parametrize("statistics", ["bool", "uint16", "int32", "float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_running_statistics_of_any_dtype(dtype, statistics):
    for weights in (None, "float16", "float32", "float64"):
        for use_input_stats in (False, True):
            args = (dtype, statistics, weights, use_input_stats)
            found, wanted = outcome(instance_norm, (mindtorch, *args), {}), outcome(instance_norm, (torch, *args), {})
            assert outcome_difference(found, wanted) is None, args


UNBOUND = {
    "exp": (),
    "add": (2,),
    "add_": (2,),
    "sum": (),
    "mean": (),
    "max": (),
    "clamp": (0,),
    "view": (1,),
    "reshape": (1,),
    "t": (),
    "clone": (),
    "matmul": (2,),
    "zero_": (),
    "contiguous": (),
    "detach": (),
}


@pytest.mark.parametrize("name", UNBOUND)
def test_methods_of_what_is_no_tensor(name):
    for given in ([1], "text", {}, object()):
        with pytest.raises(TypeError) as wanted:
            getattr(torch.Tensor, name)(given, *UNBOUND[name])
        with pytest.raises(TypeError) as found:
            getattr(mindtorch.Tensor, name)(given, *UNBOUND[name])
        assert str(found.value) == str(wanted.value)
