"""Sparse COO tensors: their parts, conversions, products and gradients."""

import pytest

import mindtorch as torch


@pytest.fixture
def sparse():
    return torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3))


def test_parts(sparse):
    assert (sparse.sparse_dim(), sparse.dense_dim(), sparse._nnz()) == (2, 0, 3)
    assert sparse.layout is torch.sparse_coo
    assert sparse.is_sparse
    assert not sparse.is_coalesced()
    assert sparse.coalesce().indices().tolist() == [[0, 1, 1], [2, 0, 2]]
    assert sparse.coalesce().values().tolist() == [3.0, 4.0, 5.0]
    assert sparse.to_dense().tolist() == [[0.0, 0.0, 3.0], [4.0, 0.0, 5.0]]


def test_equal_indices_add_up():
    doubled = torch.sparse_coo_tensor([[1, 0, 1]], [1.0, 2.0, 3.0], (3,))
    assert doubled.to_dense().tolist() == [2.0, 4.0, 0.0]
    assert doubled.coalesce().indices().tolist() == [[0, 1]]
    assert doubled.coalesce().is_coalesced()


def test_dense_dimensions():
    hybrid = torch.sparse_coo_tensor([[0, 2]], [[1.0, 2.0], [3.0, 4.0]])
    assert hybrid.shape == (3, 2)
    assert (hybrid.sparse_dim(), hybrid.dense_dim()) == (1, 1)
    assert hybrid.to_dense().tolist() == [[1.0, 2.0], [0.0, 0.0], [3.0, 4.0]]


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 3), (2, 0, 2), (2, 3, 4)])
def test_to_sparse_and_back(shape):
    dense = torch.arange(24.0)[: torch.zeros(shape).numel()].reshape(shape) % 3
    assert torch.equal(dense.to_sparse().to_dense(), dense)
    assert dense.to_sparse().is_coalesced()


def test_to_sparse_of_some_dimensions():
    dense = torch.tensor([[0.0, 0.0], [1.0, 2.0]])
    assert dense.to_sparse(1)._values().tolist() == [[1.0, 2.0]]


ERRORS = [
    (lambda: torch.sparse_coo_tensor([0, 1], [1, 2]), "indices must be sparse_dim x nnz, but got: [2]"),
    (
        lambda: torch.sparse_coo_tensor([[0, 1]], [1, 2, 3]),
        "indices and values must have same nnz, but got nnz from indices: 2, nnz from values: 3",
    ),
    (lambda: torch.sparse_coo_tensor([[0, -1]], [1, 2]), "found negative index -1 for dim 0"),
    (
        lambda: torch.sparse_coo_tensor([[0, 1]], [1, 2], (2, 2)),
        "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = 2, sparse_dim = 1, dense_dim = 0",
    ),
    (lambda: torch.ones(2).coalesce(), "coalesce expected sparse coordinate tensor layout but got Strided"),
    (lambda: torch.ones(2).values(), "values expected sparse tensor layout but got Strided"),
    (
        lambda: torch.ones(2, 2).to_sparse(3),
        "dense_to_sparse: sparse_dim argument must be in [0,2] range, but 3 is given",
    ),
]


@pytest.mark.parametrize(("call", "text"), ERRORS, ids=[text[:30] for _, text in ERRORS])
def test_errors(call, text):
    with pytest.raises(RuntimeError) as caught:
        call()
    assert str(caught.value) == text


def test_uncoalesced_parts_are_refused(sparse):
    with pytest.raises(RuntimeError, match="Cannot get indices on an uncoalesced tensor"):
        sparse.indices()


def test_indices_outside_the_size_are_refused():
    with pytest.raises(RuntimeError, match="size is inconsistent with indices: for dim 0, size is 2 but found index 5"):
        torch.sparse_coo_tensor([[5]], [1.0], (2,))


def test_products(sparse):
    dense = torch.arange(6.0).reshape(3, 2)
    assert torch.equal(torch.sparse.mm(sparse, dense), sparse.to_dense() @ dense)
    assert torch.equal(sparse @ dense, sparse.to_dense() @ dense)
    added = torch.sparse.addmm(torch.ones(2, 2), sparse, dense, beta=2, alpha=3)
    assert torch.equal(added, 2 + 3 * (sparse.to_dense() @ dense))


def test_sums(sparse):
    dense = torch.ones(2, 3)
    assert torch.equal(dense + sparse, dense + sparse.to_dense())
    assert torch.equal((sparse + sparse).to_dense(), 2 * sparse.to_dense())
    assert torch.equal(dense.add_(sparse), 1 + sparse.to_dense())
    with pytest.raises(RuntimeError, match="add.sparse, dense. is not supported"):
        sparse + dense


def test_gradient_of_values():
    values = torch.tensor([3.0, 4.0], requires_grad=True)
    sparse = torch.sparse_coo_tensor([[0, 2]], values, (3,))
    (sparse.to_dense() * torch.tensor([2.0, 5.0, 7.0])).sum().backward()
    assert values.grad.tolist() == [2.0, 7.0]


def test_gradient_through_to_sparse():
    dense = torch.tensor([[0.0, 1.0], [2.0, 0.0]], requires_grad=True)
    (dense.to_sparse().to_dense() * 3).sum().backward()
    assert dense.grad.tolist() == [[0.0, 3.0], [3.0, 0.0]]


def test_gradients_of_products():
    values = torch.tensor([3.0, 4.0], requires_grad=True)
    dense = torch.ones(3, 2, requires_grad=True)
    sparse = torch.sparse_coo_tensor([[0, 1], [2, 0]], values, (2, 3))
    torch.sparse.mm(sparse, dense).sum().backward()
    assert values.grad.tolist() == [2.0, 2.0]
    assert dense.grad.tolist() == [[4.0, 4.0], [0.0, 0.0], [3.0, 3.0]]


def test_a_sparse_leaf_gets_a_sparse_gradient(sparse):
    leaf = sparse.coalesce().requires_grad_()
    (leaf.to_dense() * 2).sum().backward()
    assert leaf.grad.is_sparse
    (leaf.to_dense() * 2).sum().backward()
    assert leaf.grad.to_dense().tolist() == [[0.0, 0.0, 4.0], [4.0, 0.0, 4.0]]
