"""Less common names of PyTorch: reflections, indefinite systems, old names, maps of Python functions, warnings."""

import warnings

import pytest

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same, programs

program, test_program = programs()


def warned(function):
    """The first line of each warning that a call gives, without what torch adds of its own sources."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        function()
    return [str(each.message).partition(" (Triggered")[0] for each in given]


# -------------------- reflections --------------------

# By name: a call with a tall matrix, its factors, and a matrix to multiply.
REFLECTIONS = {
    "a vector": lambda T, a, tau, c: T.linalg.householder_product(a[0], tau),
    "a wide matrix": lambda T, a, tau, c: T.linalg.householder_product(a.T, tau),
    "too many factors": lambda T, a, tau, c: T.linalg.householder_product(a, c[0, :3]),
    "factors of another dtype": lambda T, a, tau, c: T.linalg.householder_product(a, tau.double()),
    "integers": lambda T, a, tau, c: T.linalg.householder_product(a.int(), tau.int()),
    "fewer factors": lambda T, a, tau, c: T.linalg.householder_product(a, tau[:1]),
    "factors without a batch": lambda T, a, tau, c: T.linalg.householder_product(a.expand(2, 3, 2), tau),
    "another batch of factors": lambda T, a, tau, c: T.linalg.householder_product(a.expand(2, 3, 2), tau.expand(3, 2)),
    "into doubles": lambda T, a, tau, c: T.linalg.householder_product(a, tau, out=T.empty(3, 2, dtype=T.float64)),
    "orgqr": lambda T, a, tau, c: [T.orgqr(a, tau), a.orgqr(tau)],
    "Q": lambda T, a, tau, c: [T.orgqr(*T.geqrf(a)) @ a.new_ones(2, 1), T.linalg.qr(a)[0] @ a.new_ones(2, 1)],
    "geqrf": lambda T, a, tau, c: T.geqrf(a),
    "geqrf of a vector": lambda T, a, tau, c: T.geqrf(a[0]),
    "geqrf of halves": lambda T, a, tau, c: T.geqrf(a.half()),
    "ormqr of another height": lambda T, a, tau, c: T.ormqr(a, tau, c.T),
    "ormqr with too many factors": lambda T, a, tau, c: T.ormqr(a, c[0, :3], c),
    "ormqr with a scalar": lambda T, a, tau, c: T.ormqr(a, tau[0], c),
    "ormqr of a vector": lambda T, a, tau, c: T.ormqr(a[0], tau, c),
    "ormqr with a vector": lambda T, a, tau, c: T.ormqr(a, tau, c[0]),
    "ormqr of doubles": lambda T, a, tau, c: T.ormqr(a, tau, c.double()),
    "ormqr with factors of doubles": lambda T, a, tau, c: T.ormqr(a, tau.double(), c),
    "ormqr without a batch": lambda T, a, tau, c: T.ormqr(a.expand(2, 3, 2), tau.expand(2, 2), c),
    "ormqr with another batch": lambda T, a, tau, c: T.ormqr(a.expand(2, 3, 2), tau.expand(2, 2), c.expand(3, 3, 4)),
    "ormqr into others": lambda T, a, tau, c: T.ormqr(a, tau, c, out=T.empty(0, dtype=T.float64)),
}  # fmt: skip


@pytest.mark.parametrize("name", REFLECTIONS)
def test_reflections(name):
    def reflected(T):
        T.manual_seed(1)
        return tried(REFLECTIONS[name], T, T.randn(3, 2), T.randn(2), T.randn(3, 4))

    assert_same(reflected)


# -------------------- symmetric systems --------------------

SYMMETRIC = {
    "no square": lambda L, T, s, b: L.ldl_factor(s[:2]),
    "a vector": lambda L, T, s, b: L.ldl_factor(s[0]),
    "integers": lambda L, T, s, b: L.ldl_factor(s.int()),
    "halves": lambda L, T, s, b: L.ldl_factor(s.half()),
    "zeros": lambda L, T, s, b: L.ldl_factor_ex(T.zeros(3, 3)),
    "a solution": lambda L, T, s, b: s @ L.ldl_solve(*L.ldl_factor(s), b) - b < 1e-4,
    "a Hermitian solution": lambda L, T, s, b: hermitian(T, s) @ solved(L, hermitian(T, s), b) - b,
    "a vector on the right": lambda L, T, s, b: L.ldl_solve(*L.ldl_factor(s), b[:, 0]),
    "another height": lambda L, T, s, b: L.ldl_solve(*L.ldl_factor(s), b[:2]),
    "pivots that are no integers": lambda L, T, s, b: L.ldl_solve(s, T.ones(3), b),
    "pivots of int64": lambda L, T, s, b: L.ldl_solve(s, T.tensor([1, 2, 3]), b),
    "too few pivots": lambda L, T, s, b: L.ldl_solve(s, T.tensor([1, 2]), b),
    "another dtype": lambda L, T, s, b: L.ldl_solve(s, T.tensor([1, 2, 3]), b.double()),
    "integer factors": lambda L, T, s, b: L.ldl_solve(s.int(), T.tensor([1, 2, 3]), b.int()),
    "a batch on the right": lambda L, T, s, b: L.ldl_solve(*L.ldl_factor(s), b.expand(4, 3, 2)),
    "into others": lambda L, T, s, b: L.ldl_factor(s, out=(T.empty(0), T.empty(0, dtype=T.int32))),
}


def hermitian(T, s):
    return T.complex(s, T.triu(s, 1) - T.tril(s, -1))


def solved(L, matrix, b):
    return L.ldl_solve(*L.ldl_factor(matrix, hermitian=True), b.to(matrix.dtype), hermitian=True)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetric_systems(name):
    def computed(T):
        s = T.tensor([[0.5, 2.0, -1.0], [2.0, 0.25, 3.0], [-1.0, 3.0, 4.0]])
        result = tried(SYMMETRIC[name], T.linalg, T, s, T.arange(6.0).view(3, 2))
        return (result.abs() < 1e-4) if name == "a Hermitian solution" else result

    assert_same(computed)


@pytest.mark.parametrize("size", [1, 2, 5, 12])
@pytest.mark.parametrize("seed", range(8))
def test_random_factorizations(size, seed):
    """Pivots of both kinds, in real, symmetric complex and Hermitian matrices."""

    def factorized(T):
        T.manual_seed(seed)
        real, imaginary = (T.randint(-2, 3, (size, size)).double() for _ in range(2))
        symmetric = T.complex(real, imaginary)
        results = [T.linalg.ldl_factor_ex(real), T.linalg.ldl_factor_ex(symmetric)]
        real_diagonal = symmetric - 1j * T.diag(imaginary.diagonal())
        return [*results, T.linalg.ldl_factor_ex(real_diagonal, hermitian=True)]

    assert_same(factorized)


# -------------------- old names --------------------


@program
def functions_that_are_gone(T):
    x = T.eye(2)
    of_two = [tried(function, x, x) for function in (T.solve, T.lstsq)]
    of_one = [tried(function, x) for function in (T.eig, T.symeig, T.matrix_rank)]
    return [of_two, of_one, [tried(x.solve, x), tried(x.lstsq, x), tried(x.eig), tried(x.symeig)]]


@program
def lu_by_its_old_name(T):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]])
    out = T.empty(0), T.empty(0, dtype=T.int32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = [T.lu(x), x.lu(), T.lu(x, get_infos=True), type(T.lu(x)), T.lu(x, out=out)]
        return [*results, tried(T.lu, x, pivot=False), tried(T.lu, x, out=out[:1])]


@program
def norms_by_their_old_names(T):
    x = T.arange(24.0).view(2, 3, 4)
    calls = [
        lambda: T.nuclear_norm(x[0]), lambda: T.nuclear_norm(x, (1,)), lambda: T.nuclear_norm(x[0].int()),
        lambda: T.frobenius_norm(x, (0, 1, 2)), lambda: T.frobenius_norm(x.int(), (1, 2)),
        lambda: T.nuclear_norm(x[0], out=T.empty(0, dtype=T.float64)),
        lambda: T.frobenius_norm(x, (1, 2), out=T.empty(0, dtype=T.float64)),
    ]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [tried(call) for call in calls]


# -------------------- maps --------------------


@program
def functions_of_elements(T):
    x = T.tensor([1.0, 2.0])
    seen = []
    kinds = [T.float16, T.bfloat16, T.float64, T.int64, T.uint8, T.bool, T.complex64]
    results = [
        T.ones(2).to(kind).map_(T.ones(2).to(kind), lambda a, b: seen.append(type(a)) or a + b) for kind in kinds
    ]
    broadcast = T.zeros(2, 2).map_(x, lambda a, b: b - a)
    return [results, seen, broadcast, broadcast._version, x.clone().map2_(x, 2 * x, lambda a, b, c: a + b * c)]


@program
def functions_of_elements_that_do_not_fit(T):
    x, one = T.tensor([1.0, 2.0]), lambda *values: values[0]
    calls = [
        lambda: x.map_(T.ones(2, 3), one), lambda: x.map_(x.double(), one), lambda: x.map_(3, one),
        lambda: x.clone().requires_grad_().map_(x, one), lambda: x.map_(x.clone().requires_grad_(), one),
        lambda: x.map_(x, lambda a, b: "a"), lambda: x.map_(x, lambda a, b: None), lambda: x.map_(x, 3),
        lambda: x.map2_(x, x.double(), one), lambda: x.map2_(x, x.clone().requires_grad_(), one),
    ]  # fmt: skip
    return [tried(call) for call in calls]


# -------------------- splits without views --------------------


@program
def splits_without_views(T):
    x = T.arange(6.0, requires_grad=True)
    parts = [T.unsafe_chunk(x * 2, 2), T.unsafe_split(x * 2, 4), (x * 2).unsafe_split_with_sizes([1, 5])]
    facts = [(part, part._is_view(), part._version) for some in parts for part in some]
    parts[0][0].mul_(3)  # torch refuses that for the views of chunk
    sum((part * part).sum() for some in parts for part in some).backward()
    base = T.arange(4.0)
    T.unsafe_split(base, 2)[0].mul_(5)
    return [facts, x.grad, base, base._version, tried(T.unsafe_chunk, base, 0), tried(T.unsafe_split, base, -1)]


# -------------------- normal numbers --------------------


@program
def normal_numbers_into_tensors(T):
    T.manual_seed(3)
    ones = T.ones(2)
    calls = [
        lambda: T.normal(2.0, 3.0, (2,), out=T.empty(2)),
        lambda: T.normal(0.0, ones, out=T.empty(2, dtype=T.float64)),
        lambda: T.normal(0.0, 1.0, (2,), out=T.empty(2, dtype=T.float64)),
    ]
    return [tried(call) for call in calls]


# -------------------- activations --------------------


@program
def slopes_and_shrinking(T):
    x = T.tensor([[-1.0, 0.25, 0.5], [float("nan"), 2.0, -0.5]], requires_grad=True)
    weight = T.tensor([0.5, 0.25, 2.0], requires_grad=True)
    x.prelu(weight).nansum().backward()
    slopes = [x.grad.clone(), weight.grad]
    x.grad = None
    x.hardshrink(0.5).nansum().backward()
    functional = T.nn.functional
    return [
        slopes,
        x.grad,
        functional.prelu is T.prelu,
        functional.hardshrink is T.hardshrink,
        x.hardshrink().grad_fn.name(),
    ]


@program
def slopes_that_do_not_fit(T):
    x = T.ones(2, 3)
    weights = [T.ones(2), T.ones(3, 1), T.ones(1, 1), T.ones(3).double(), 0.2]
    return [tried(T.prelu, x, weight) for weight in weights] + [tried(T.prelu, x[0, 0], T.ones(2))]


@program
def sequences_along_time(T):
    x, weight, bias = T.ones(5, 2, 3), T.ones(3, 3, 4), T.ones(4)
    wrong = [
        (x[0], weight, bias), (x, weight[0], bias), (x, weight, T.ones(4, 1)), (x, T.ones(3, 2, 4), bias),
        (x, weight, bias[:2]), (x[:1], weight, bias),
    ]  # fmt: skip
    return [tried(T.conv_tbc, *args) for args in wrong] + [T.conv_tbc(x.long(), weight.long(), bias.long(), 1)]


# -------------------- warnings --------------------


@program
def warnings_name_the_function(T):
    one = T.ones(1)
    calls = [
        lambda: T.std_mean(one), lambda: T.var_mean(one), lambda: T.std(one), lambda: T.var(one),
        lambda: T.std_mean(one, 0), lambda: T.cov(one), lambda: T.corrcoef(T.ones(1, 1)), lambda: T.cov(T.ones(2, 1)),
        lambda: T.zeros(1).expand(3).index_fill_(0, T.tensor([0, 1]), 1.0),
        lambda: T.zeros(2, 1).expand(2, 3).index_fill_(0, T.tensor([1]), T.tensor(1.0)),
    ]  # fmt: skip
    return [warned(call) for call in calls]


@program
def spread_and_mean_have_gradients(T):
    x = T.tensor([[1.0, 2.0, 4.0], [0.0, -1.0, 3.0]], requires_grad=True)
    results = [*T.std_mean(x), *T.var_mean(x, 1), *T.std_mean(x, (0,), correction=0, keepdim=True)]
    sum(result.pow(2).sum() for result in results).backward()
    filled = T.zeros(2, 1).expand(2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        filled.index_fill_(0, T.tensor([1]), 5.0)
    return [results, x.grad, results[0].grad_fn.name(), filled]


# -------------------- layouts --------------------


@program
def layouts_that_tensors_do_not_have(T):
    x = T.eye(2)
    names = ["crow_indices", "col_indices", "ccol_indices", "row_indices"]
    flags = [x.is_sparse_csr, x.is_mtia, x.is_ipu, x.is_maia]
    return [tried(getattr(x, name)) for name in names] + [flags, x.dequantize(), x.to_sparse_coo().to_dense()]


# -------------------- polynomials --------------------

KINDS = [f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"]
OTHERS = ["hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"]


@pytest.mark.parametrize("name", [*KINDS, *OTHERS])
def test_polynomial(name):
    def values(T):
        function = getattr(T.special, name)
        x = T.tensor([-1.5, -1, -0.75, 0, 0.25, 1, 2, float("nan"), float("inf")], dtype=T.float64)[:, None]
        degrees = T.tensor([-2, 0, 1, 2, 5, 7, 9, 20, 600.5, float("nan")], dtype=T.float64)
        x_grad = x.clone().requires_grad_()
        refused = [tried(function, x.to(kind), 2) for kind in (T.float16, T.complex64)]
        numbers = [function(0.5, T.tensor([3, 4])), function(T.tensor([1, 2]), 3), function(T.ones(2), 2.5)]
        return [function(x, degrees), function(x_grad, 2).requires_grad, refused, numbers]

    assert_same(values)
