"""Sparse tensors behave as PyTorch's: same parts, texts, values and gradients."""

import numpy as np
import pytest
import torch

import mindtorch
from tests.parity.support.library_programs import tried
from tests.parity.support.programs import programs

pytestmark = pytest.mark.filterwarnings("ignore:Sparse invariant checks")

SHAPES = [((2, 3), 0), ((4,), 0), ((3, 2, 2), 1), ((2, 3, 2), 2), ((5, 4), 1)]


def coo(library, shape, dense_dim, seed, **options):
    """A sparse tensor with some equal indices."""
    random = np.random.default_rng(seed)
    sparse_dim = len(shape) - dense_dim
    nnz = int(random.integers(0, 7))
    indices = np.stack([random.integers(0, size, nnz) for size in shape[:sparse_dim]])
    values = random.integers(-5, 6, (nnz, *shape[sparse_dim:])).astype(np.float32)
    return library.sparse_coo_tensor(library.tensor(indices), library.tensor(values), shape, **options)


OPERATIONS = {
    "itself": lambda library, x: x,
    "coalesce": lambda library, x: x.coalesce(),
    "indices": lambda library, x: x.coalesce().indices(),
    "values": lambda library, x: x.coalesce().values(),
    "to_dense": lambda library, x: x.to_dense(),
    "nnz": lambda library, x: (x._nnz(), x.sparse_dim(), x.dense_dim(), x.is_coalesced()),
    "clone": lambda library, x: x.clone(),
    "detach": lambda library, x: x.detach(),
    "to": lambda library, x: x.to(library.float64),
    "neg": lambda library, x: -x,
    "double": lambda library, x: x * 2,
    "halve": lambda library, x: x / 2,
    "sum": lambda library, x: x.sum(),
    "dense + sparse": lambda library, x: library.ones(x.shape) + x,
    "sparse + sparse": lambda library, x: (x + x).to_dense(),
    "coalesced sum": lambda library, x: x.coalesce() + x.coalesce(),
    "mask": lambda library, x: library.ones(x.shape).sparse_mask(x.coalesce()),
    "back": lambda library, x: x.to_dense().to_sparse(),
    "zeros_like": lambda library, x: library.zeros_like(x),
}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize(("shape", "dense_dim"), SHAPES)
@pytest.mark.parametrize("seed", range(4))
def test_same_text(name, shape, dense_dim, seed):
    texts = [repr(OPERATIONS[name](library, coo(library, shape, dense_dim, seed))) for library in (mindtorch, torch)]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("seed", range(5))
def test_same_gradients(seed):
    def gradients(library):
        sparse = coo(library, (3, 4), 0, seed).coalesce().requires_grad_()
        dense = library.arange(8.0).reshape(4, 2).requires_grad_()
        product = library.sparse.mm(sparse, dense)
        (product * product).sum().backward()
        return sparse.grad.to_dense().numpy(), dense.grad.numpy()

    for ours, theirs in zip(gradients(mindtorch), gradients(torch)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:Sparse C")
@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr", "sparse_csc"])
@pytest.mark.parametrize("masked", [True, False])
def test_gradient_checks(layout, masked):
    def checked(library):
        gradcheck = library.sparse.as_sparse_gradcheck(library.autograd.gradcheck)
        dense = library.tensor([[1.0, 0, 2], [0, 3, 0], [0, 0, 4]], dtype=library.float64)
        x = dense.to_sparse(layout=getattr(library, layout)).requires_grad_()
        functions = (
            lambda x: x.to_dense(masked_grad=masked) * 2,
            lambda x: x * 3,
            lambda x: x.to_dense(masked_grad=masked) @ dense,
            lambda x: x.sum(),
        )
        return [gradcheck(function, (x,), masked=masked) for function in functions]

    assert checked(mindtorch) == checked(torch) == [True] * 4


program, test_program = programs()


@program
def layouts_that_tensors_do_not_have(T):
    x = T.eye(2)
    names = ["crow_indices", "col_indices", "ccol_indices", "row_indices"]
    flags = [x.is_sparse_csr, x.is_mtia, x.is_ipu, x.is_maia]
    return [tried(getattr(x, name)) for name in names] + [flags, x.dequantize(), x.to_sparse_coo().to_dense()]
