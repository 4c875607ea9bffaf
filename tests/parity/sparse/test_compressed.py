"""Tensors in compressed sparse layouts (CSR, CSC, BSR, BSC) behave as PyTorch's: texts, values, gradients, errors."""

import numpy as np
import pytest
import torch

import mindtorch

pytestmark = [
    pytest.mark.filterwarnings("ignore:Sparse invariant checks"),
    pytest.mark.filterwarnings("ignore:Sparse CS"),
    pytest.mark.filterwarnings("ignore:Sparse BS"),
]

LAYOUTS = ("csr", "csc", "bsr", "bsc")
BLOCK = (2, 3)


def dense(library, seed, shape=(4, 6), dtype="float32"):
    random = np.random.default_rng(seed)
    numbers = random.integers(-4, 5, shape) * random.integers(0, 2, shape)
    return library.tensor(numbers.astype(dtype))


def compressed(library, layout, seed=0, **options):
    x = dense(library, seed, **options)
    return getattr(x, f"to_sparse_{layout}")(*([BLOCK] if layout[0] == "b" else []))


def outcome(function, *args):
    """The text of what a function returns, or the kind and the first line of its error."""
    try:
        return repr(function(*args))
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"


OPERATIONS = {
    "itself": lambda T, x: x,
    "to_dense": lambda T, x: x.to_dense(),
    "to coo": lambda T, x: x.to_sparse(),
    "values": lambda T, x: x.values(),
    "row starts": lambda T, x: x.crow_indices(),
    "columns": lambda T, x: x.col_indices(),
    "column starts": lambda T, x: x.ccol_indices(),
    "rows": lambda T, x: x.row_indices(),
    "facts": lambda T, x: (x._nnz(), x.sparse_dim(), x.dense_dim(), x.is_sparse, x.is_sparse_csr, x.layout, x.shape),
    "indices": lambda T, x: x.indices(),
    "is coalesced": lambda T, x: x.is_coalesced(),
    "clone": lambda T, x: x.clone(),
    "double": lambda T, x: x.double(),
    "transposed": lambda T, x: x.t(),
    "transposed back": lambda T, x: x.t().transpose(0, 1),
    "times a number": lambda T, x: x * 2,
    "in place": lambda T, x: (x.detach().mul_(3), x),
    "negative": lambda T, x: -x,
    "sine": lambda T, x: x.sin(),
    "relu": lambda T, x: x.relu(),
    "exponential": lambda T, x: x.exp(),
    "difference": lambda T, x: x - x,
    "equal": lambda T, x: x == x,
    "sum": lambda T, x: x.sum(),
    "zeros": lambda T, x: T.zeros_like(x),
    "ones": lambda T, x: T.ones_like(x),
    "masked": lambda T, x: T.ones(4, 6).sparse_mask(x),
    "as an array": lambda T, x: x.numpy(),
    "to_dense of a dtype": lambda T, x: x.to_dense(T.float64),
}
ROW_OPERATIONS = {
    "times itself": lambda T, x: x * x,
    "dense + x": lambda T, x: T.ones(4, 6) + x,
    "x + dense": lambda T, x: x + T.ones(4, 6),
    "x + x": lambda T, x: x + x,
    "x + another": lambda T, x: x + compressed(T, "csr", 9),
    "x + other shape": lambda T, x: x + T.eye(2).to_sparse_csr(),
    "x + number": lambda T, x: x + 1,
    "common places": lambda T, x: x * compressed(T, "csr", 9),
    "x * dense": lambda T, x: x * T.full((4, 6), 3.0),
    "row": lambda T, x: x[1],
    "element": lambda T, x: x[1, 2],
    "sum of rows": lambda T, x: x.sum(1, keepdim=True),
    "sum of columns": lambda T, x: x.sum(0, keepdim=True),
    "sum without keepdim": lambda T, x: x.sum(0),
    "matrix product": lambda T, x: x @ T.arange(12.0).reshape(6, 2),
    "vector product": lambda T, x: x @ T.arange(6.0),
    "dense product": lambda T, x: T.ones(2, 4) @ x,
    "transposed product": lambda T, x: x.t() @ T.ones(4, 2),
    "addmm": lambda T, x: T.addmm(T.ones(4, 2), x, T.arange(12.0).reshape(6, 2), beta=2, alpha=3),
    "linear": lambda T, x: T.nn.functional.linear(T.ones(2, 6), x, T.ones(4)),
    "sparse.mm": lambda T, x: T.sparse.mm(x, T.ones(6, 2)),
    "sampled": lambda T, x: T.sparse.sampled_addmm(x, T.ones(4, 2), T.ones(2, 6), beta=0.5, alpha=2.0),
    "wrong product": lambda T, x: x @ T.ones(4, 2),
    "wrong vector": lambda T, x: x @ T.ones(4),
    "wrong dtype": lambda T, x: x @ T.ones(6, 2, dtype=T.float64),
    "integers": lambda T, x: x.int() @ T.ones(6, 2, dtype=T.int32),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_same_text(name, layout):
    texts = [outcome(OPERATIONS[name], library, compressed(library, layout, 1)) for library in (mindtorch, torch)]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ROW_OPERATIONS)
def test_same_text_of_rows(name, seed):
    texts = [outcome(ROW_OPERATIONS[name], library, compressed(library, "csr", seed)) for library in (mindtorch, torch)]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("target", LAYOUTS)
@pytest.mark.parametrize("source", ("csr", "csc", "coo"))
def test_conversions(source, target):
    def convert(library):
        x = dense(library, 2).to_sparse() if source == "coo" else compressed(library, source, 2)
        return x.to_sparse(layout=getattr(library, f"sparse_{target}"), blocksize=BLOCK if target[0] == "b" else None)

    assert outcome(convert, mindtorch) == outcome(convert, torch)


CONVERSIONS = {
    "batch": lambda T: T.stack([T.eye(2), T.ones(2, 2) - T.eye(2)]).to_sparse_csr(),
    "batch of blocks": lambda T: T.ones(2, 4, 2).to_sparse_bsr((2, 1)),
    "uneven batch": lambda T: T.stack([T.eye(2), T.ones(2, 2)]).to_sparse_csr(),
    "dense dimensions": lambda T: dense(T, 3, (2, 3, 2)).to_sparse_csr(dense_dim=1),
    "booleans": lambda T: dense(T, 3).bool().to_sparse_csc(),
    "complex": lambda T: (dense(T, 3) * 1j).to_sparse_csr(),
    "no rows": lambda T: T.zeros(0, 3).to_sparse_csr(),
    "no columns": lambda T: T.zeros(3, 0).to_sparse_csc(),
    "bad block": lambda T: T.ones(3, 4).to_sparse_bsr((2, 2)),
    "no block": lambda T: T.ones(2, 2).to_sparse_bsr((0, 1)),
    "block missing": lambda T: T.ones(2, 2).to_sparse(layout=T.sparse_bsr),
    "block not wanted": lambda T: T.ones(2, 2).to_sparse(layout=T.sparse_csr, blocksize=(1, 1)),
    "too many dense": lambda T: T.ones(2, 2).to_sparse_csr(dense_dim=2),
    "dense dim of coo": lambda T: T.eye(2).to_sparse().to_sparse_csr(0),
    "blocks to rows": lambda T: T.eye(2).to_sparse_bsr((1, 2)).to_sparse_csr(),
    "nothing": lambda T: T.sparse_csr_tensor([0, 0, 0], [], [], (2, 2)),
    "strided": lambda T: T.eye(2).to_sparse_csr().to_sparse(layout=T.strided),
    "all zeros": lambda T: T.zeros(2, 3, layout=T.sparse_csr),
    "zeros of one dimension": lambda T: T.zeros(2, layout=T.sparse_csr),
    "values of a dense": lambda T: T.ones(2).values(),
    "rows of a coo": lambda T: T.eye(2).to_sparse().crow_indices(),
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_more_conversions(name):
    assert outcome(CONVERSIONS[name], mindtorch) == outcome(CONVERSIONS[name], torch)


PARTS = {
    "plain": ([0, 1, 2], [0, 1], [1, 2]),
    "size": ([0, 1, 2], [0, 1], [1.0, 2.0], (2, 5)),
    "hybrid": ([0, 1, 2], [0, 1], [[1, 2], [3, 4]]),
    "batched": ([[0, 1, 2], [0, 1, 2]], [[0, 1], [1, 0]], [[1, 2], [3, 4]]),
    "rows too many": ([0, 1, 2], [0, 1], [1.0, 2.0], (3, 5)),
    "count": ([0, 1, 3], [0, 1], [1.0, 2.0], (2, 5)),
    "start": ([1, 1, 2], [0, 1], [1.0, 2.0], (2, 5)),
    "column": ([0, 1, 2], [0, 7], [1.0, 2.0], (2, 5)),
    "negative": ([0, 1, 2], [0, -1], [1.0, 2.0], (2, 5)),
    "order of columns": ([0, 2, 2], [1, 0], [1.0, 2.0], (2, 5)),
    "twice": ([0, 2, 2], [1, 1], [1.0, 2.0], (2, 5)),
    "values": ([0, 1, 2], [0, 1], [1.0, 2.0, 3.0], (2, 5)),
    "dimensions": ([0, 1, 2], [0, 1], [1.0, 2.0], (5,)),
    "a number": ([0, 1, 2], [0, 1], 5.0, (2, 2)),
}


@pytest.mark.parametrize("check", (False, True))
@pytest.mark.parametrize("layout", ("csr", "csc"))
@pytest.mark.parametrize("name", PARTS)
def test_from_parts(name, layout, check):
    def make(library):
        return getattr(library, f"sparse_{layout}_tensor")(*PARTS[name], check_invariants=check)

    assert outcome(make, mindtorch) == outcome(make, torch)


def test_invariants_are_checked_where_asked_for():
    def make(library):
        return library.sparse_csr_tensor([0, 1, 3], [0, 1], [1.0, 2.0], (2, 2))

    for library in (mindtorch, torch):
        checks = library.sparse.check_sparse_tensor_invariants
        with checks():
            assert checks.is_enabled()
            assert outcome(make, library) == "RuntimeError: `crow_indices[..., -1] == nnz` is not satisfied."
        assert not checks.is_enabled()
        assert outcome(checks()(make), library).startswith("RuntimeError")
        assert outcome(make, library).startswith("tensor(")


PRODUCTS = {
    "product": lambda T, a, x: a @ x,
    "vector": lambda T, a, x: a @ x[:, 0],
    "sparse.mm": lambda T, a, x: T.sparse.mm(a, x),
    "addmm": lambda T, a, x: T.addmm(T.ones(4, 2), a, x),
    "from the right": lambda T, a, x: x.t() @ a.t(),
    "dense": lambda T, a, x: a.to_dense() * 3,
    "values": lambda T, a, x: a.values() ** 2,
    "scaled": lambda T, a, x: (a * 2).to_dense(),
    "sum": lambda T, a, x: a.sum(),
    "added": lambda T, a, x: (a + a).to_dense(),
    "transposed": lambda T, a, x: a.t().to_dense(),
    "columns": lambda T, a, x: a.to_sparse_csc().to_dense(),
    "coordinates": lambda T, a, x: a.to_sparse().to_dense(),
    "sampled": lambda T, a, x: T.sparse.sampled_addmm(a, x.new_ones(4, 2), x.t()).to_dense(),
}


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("leaf", ("rows", "values", "dense"))
def test_gradients(name, leaf):
    def gradients(library):
        start = compressed(library, "csr", 4)
        x = (library.arange(12.0).reshape(6, 2) - 4).requires_grad_()
        if leaf == "rows":
            source = a = start.requires_grad_()
        elif leaf == "values":
            source = start.values().detach().requires_grad_()
            a = library.sparse_csr_tensor(start.crow_indices(), start.col_indices(), source, start.shape)
        else:
            source = start.to_dense().requires_grad_()
            a = source.to_sparse_csr()
        result = PRODUCTS[name](library, a, x)
        (result * library.arange(1.0, result.numel() + 1).reshape(result.shape)).sum().backward()
        return source.grad, x.grad

    assert outcome(gradients, mindtorch) == outcome(gradients, torch)


REDUCTIONS = ("sum", "mean", "amax", "amin", "max", "min")


def crossing(T, dtype="float32"):
    """A CSR matrix with an empty row, and a dense one with which its products are equal, infinite and nan."""
    nan, inf = float("nan"), float("inf")
    rows = [[1.0, 0, 2, 0.5], [0, 0, 0, 0], [-1, 3, 1, 1], [4, -1, 0, 0], [0, 0, 0, 2]]
    columns = [[1.0, 2, nan, -inf, 2], [-3, 4, 1, inf, -2], [0.5, -6, 2, 2, 3], [2, nan, nan, -inf, 4]]
    return [T.tensor(each, dtype=getattr(T, dtype)) for each in (rows, columns)]


@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("dtype", ("float32", "float64", "float16", "bfloat16"))
def test_reduced_products(reduce, dtype):
    """Values, which of the terms is the extreme one, and the gradients of both."""

    def everything(T):
        rows, columns = crossing(T, dtype)
        a, x = rows.to_sparse_csr().requires_grad_(), columns.requires_grad_()
        product = T.sparse.mm(a, x, reduce)
        begin = (T.arange(1.0, 26.0).reshape(5, 5) % 7).to(product.dtype)
        both = T.autograd.grad(product, (a, x), begin, retain_graph=True)
        each = [T.autograd.grad(product, (one,), begin, retain_graph=True)[0] for one in (a, x)]
        return product, T.ops.aten._sparse_mm_reduce_impl(a, x, reduce)[1], both, each

    assert outcome(everything, mindtorch) == outcome(everything, torch)


def _with_indices_of_32_bits(T):
    a = compressed(T, "csr", 2)
    narrow = [each.int() for each in (a.crow_indices(), a.col_indices())]
    return T.sparse_csr_tensor(*narrow, a.values(), a.shape).requires_grad_()


def _tangent(T, function, x):
    with T.autograd.forward_ad.dual_level():
        return function(T.autograd.forward_ad.make_dual(x, x))


REDUCED = {
    "prod": lambda T, a, x: T.sparse.mm(a, x, "prod"),
    "no word": lambda T, a, x: T.sparse.mm(a, x, "median"),
    "by keyword": lambda T, a, x: T.sparse.mm(a, x, reduce="amax"),
    "all by keyword": lambda T, a, x: T.sparse.mm(sparse=a, dense=x, reduce="amin"),
    "a number as word": lambda T, a, x: T.sparse.mm(a, x, 1),
    "transposed": lambda T, a, x: (T.sparse.mm(a, x.t().contiguous().t(), "mean").stride()),
    "of columns": lambda T, a, x: T.sparse.mm(a.to_sparse_csc(), x, "sum"),
    "of blocks": lambda T, a, x: T.sparse.mm(a.to_sparse_bsr(BLOCK), x, "median"),
    "of several": lambda T, a, x: T.sparse.mm(T.stack([a.to_dense()] * 2).to_sparse_csr(), x, "sum"),
    "of vectors": lambda T, a, x: T.sparse.mm(T.ones(4, 6, 2).to_sparse_csr(dense_dim=1), x, "sum"),
    "with sparse": lambda T, a, x: T.sparse.mm(a.double(), x.to_sparse(), "sum"),
    "with compressed": lambda T, a, x: T.sparse.mm(a, x.to_sparse_csr(), "sum"),
    "of doubles": lambda T, a, x: T.sparse.mm(a.double(), x[:2], "prod"),
    "too short": lambda T, a, x: T.sparse.mm(a.long(), x[:2].long(), "prod"),
    "a vector": lambda T, a, x: T.sparse.mm(a, x[0], "sum"),
    "integers": lambda T, a, x: T.sparse.mm(a.long(), x.long(), "sum"),
    "booleans": lambda T, a, x: T.sparse.mm(a.bool(), x.bool(), "amax"),
    "complex": lambda T, a, x: T.sparse.mm(a.to(T.complex64), x.to(T.complex64), "amax"),
    "no rows": lambda T, a, x: T.sparse.mm(T.zeros(0, 6).to_sparse_csr(), x, "mean"),
    "no values": lambda T, a, x: T.ops.aten._sparse_mm_reduce_impl((a * 0).to_dense().to_sparse_csr(), x, "amax"),
    "no columns": lambda T, a, x: T.sparse.mm(a, x[:, :0], "amax"),
    "narrow indices": lambda T, a, x: T.ops.aten._sparse_mm_reduce_impl(_with_indices_of_32_bits(T), x, "amax"),
    "vmap": lambda T, a, x: T.vmap(lambda one: T.sparse.mm(a, one, "amax"))(T.stack([x, -x])),
    "forward mode": lambda T, a, x: _tangent(T, lambda one: T.sparse.mm(a, one, "sum"), x),
    "only the second": lambda T, a, x: T.ops.aten._sparse_mm_reduce_impl_backward(
        a, T.ones(4, 2), x, "mean", T.empty(0, dtype=T.long), [False, True]
    ),
}


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("name", REDUCED)
def test_reduced_products_of_all_kinds(name):
    def run(T):
        return REDUCED[name](T, compressed(T, "csr", 2), T.arange(12.0).reshape(6, 2) - 4)

    assert outcome(run, mindtorch) == outcome(run, torch)


def test_gradients_of_reduced_products_have_none():
    def second(T):
        rows, columns = crossing(T)
        a, x = rows.to_sparse_csr().requires_grad_(), columns.requires_grad_()
        first = T.autograd.grad(T.sparse.mm(a, x, "sum").sum(), (a, x), create_graph=True)
        assert [each.requires_grad for each in first] == [True, True]
        first[1].sum().backward()

    assert outcome(second, mindtorch) == outcome(second, torch)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_files(layout, tmp_path):
    ours, theirs = compressed(mindtorch, layout, 5), compressed(torch, layout, 5)
    mindtorch.save(ours, tmp_path / "ours.pt")
    torch.save(theirs, tmp_path / "theirs.pt")
    assert repr(mindtorch.load(tmp_path / "theirs.pt")) == repr(torch.load(tmp_path / "ours.pt")) == repr(theirs)
