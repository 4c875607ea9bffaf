"""embedding_bag and CTC against torch: random calls, gradients, modules, refusals."""

import numpy as np
import pytest

from tests.parity.support.inputs import ramp
from tests.parity.support.programs import assert_same, programs

program, test_program = programs()


def weighted(T, tensor):
    return (tensor * tensor * T.arange(tensor.numel(), dtype=tensor.dtype).view(tensor.shape)).sum()


def dense(tensor):
    return tensor.to_dense() if tensor.is_sparse else tensor


# -------------------- bags --------------------


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("mode", [0, 1, 2])
def test_embedding_bag(mode, seed):
    random = np.random.RandomState(seed)
    rows, count = random.randint(1, 7), random.randint(1, 10)
    table, indices = random.randn(rows, 3), random.randint(0, rows, count)
    offsets = np.append(0, np.sort(random.randint(0, count + 1, random.randint(0, 4))))
    include_last = bool(random.rand() < 0.3)
    if include_last:
        offsets = np.append(offsets, count)
    padding = None if random.rand() < 0.5 else int(random.randint(-rows, rows))
    weights = random.randn(count) if mode == 0 and random.rand() < 0.5 else None
    by_frequency, sparse = bool(mode < 2 and seed % 4 == 0), bool(mode < 2 and seed % 5 == 0 and seed % 4)
    dtype = "float32" if seed % 2 else "float64"

    def bag(T):
        weight = T.from_numpy(table.astype(dtype)).requires_grad_()
        given = None if weights is None else T.from_numpy(weights.astype(dtype)).requires_grad_()
        places = T.from_numpy(indices), T.from_numpy(offsets)
        result = T.embedding_bag(weight, *places, by_frequency, mode, sparse, given, include_last, padding)
        inputs = [weight] if given is None else [weight, given]
        grads = T.autograd.grad(weighted(T, result[0]), inputs)
        return result, result[0].grad_fn.name(), [dense(grad) for grad in grads]

    assert_same(bag)


@pytest.mark.parametrize("options", [{}, {"mode": "sum"}, {"mode": "max"}, {"max_norm": 1.0}, {"padding_idx": -1}])
def test_embedding_bag_module(options):
    def module(T):
        T.manual_seed(0)
        layer = T.nn.EmbeddingBag(5, 3, **options)
        rows, flat = T.tensor([[0, 1, 4], [4, 4, 2]]), T.tensor([0, 1, 4, 4])
        results = layer(rows), layer(flat, T.tensor([0, 3]))
        (results[0].sum() + (results[1] ** 2).sum()).backward()
        return repr(layer), list(layer.state_dict()), results, layer.weight, layer.weight.grad

    assert_same(module)


BAGS_REFUSED = """
T.embedding_bag(W, I[None, None], O)
T.embedding_bag(W, I, O[None])
T.embedding_bag(W[0], I, O)
T.embedding_bag(W, I.float(), O)
T.embedding_bag(W.long(), I, O)
T.embedding_bag(W, I, O + 1)
T.embedding_bag(W, I, T.tensor([0, 9]))
T.embedding_bag(W, I + 5, O)
T.embedding_bag(W.double(), I + 5, O)
T.embedding_bag(W, I, O, mode=1, per_sample_weights=T.ones(4))
T.embedding_bag(W, I, O, per_sample_weights=T.ones(4).double())
T.embedding_bag(W, I, O, per_sample_weights=T.ones(5))
T.embedding_bag(W, I, O, per_sample_weights=T.ones(2, 2))
T.embedding_bag(W, I, O[:0], include_last_offset=True)
T.embedding_bag(W, I, O, mode=3)
T.embedding_bag(W, I, O, False, 0, False, None, False, 9)
T.nn.functional.embedding_bag(I, W)
T.nn.functional.embedding_bag(I, W, O[None])
T.nn.functional.embedding_bag(I[None, None], W)
T.nn.functional.embedding_bag(I, W[0], O)
T.nn.functional.embedding_bag(I, W, O, mode="x")
T.nn.functional.embedding_bag(I, W, O, mode="max", sparse=True)
T.nn.functional.embedding_bag(I, W, O, mode="max", scale_grad_by_freq=True)
T.nn.functional.embedding_bag(I, W, O, per_sample_weights=T.ones(4))
T.nn.functional.embedding_bag(I, W, O, per_sample_weights=T.ones(3))
T.nn.EmbeddingBag(3, 2, padding_idx=3)
T.nn.EmbeddingBag(3, 2, _weight=T.ones(2, 3))
T.nn.EmbeddingBag.from_pretrained(T.ones(3))
T.embedding_renorm_(W, I.float(), 1.0, 2.0)
T.embedding_renorm_(W[0], I, 1.0, 2.0)
"""


@pytest.mark.parametrize("expression", BAGS_REFUSED.strip().splitlines())
def test_refused_bags(expression):
    def refused(T):
        names = {"W": T.arange(12.0).view(4, 3), "I": T.tensor([1, 2, 3, 3]), "O": T.tensor([0, 2, 2])}
        return eval(expression, {"T": T, **names})

    assert_same(refused)


@program
def rows_are_shortened_in_place(T):
    table, indices = T.arange(12.0).view(4, 3), T.tensor([[1, 2], [2, 0]])
    result = T.embedding_renorm_(table, indices, 2.0, 3.0)
    return result is table, table, table._version, T.nn.functional.embedding(indices, T.ones(4, 3), max_norm=1.0)


# -------------------- CTC --------------------


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("seed", range(20))
def test_ctc_loss(seed, reduction):
    random = np.random.RandomState(seed)
    times, count, labels = random.randint(6, 10), random.randint(1, 4), random.randint(3, 6)
    inputs = random.randint(6, times + 1, count).tolist()
    lengths = random.randint(0, 4, count).tolist()
    blank = int(random.randint(labels))
    choices = [label for label in range(labels) if label != blank]
    shape = (sum(lengths),) if seed % 2 else (count, max(*lengths, 1))
    targets = random.choice(choices, size=shape)
    logits = random.randn(times, count, labels) * 2
    as_tensors, zero_infinity = bool(seed % 3), bool(seed % 4 == 0)

    def loss(T):
        x = T.from_numpy(logits).requires_grad_()
        given = [T.tensor(each) if as_tensors else each for each in (inputs, lengths)]
        criterion = T.nn.CTCLoss(blank, reduction, zero_infinity)
        result = criterion(x.log_softmax(2), T.from_numpy(targets), *given)
        return result, result.grad_fn.name(), T.autograd.grad(result.sum(), x)

    assert_same(loss)


@program
def ctc_of_one_sequence(T):
    logs = ramp(T, -2, 1, 15, through=np.sin).view(5, 3).log_softmax(1).requires_grad_()
    given = T.tensor([1, 2, 2]), T.tensor([5]), T.tensor([3])
    results = [T.nn.functional.ctc_loss(logs, *given, reduction=each) for each in ("none", "mean")]
    return results, T.autograd.grad(results[0].sum(), logs)


@program
def impossible_alignments_count_nothing(T):
    logs = ramp(T, -2, 1, 12, through=np.sin).view(2, 2, 3).log_softmax(2).requires_grad_()
    given = T.tensor([[1, 1], [1, 2]]), T.tensor([2, 2]), T.tensor([2, 2])
    loss = T.nn.functional.ctc_loss(logs, *given, reduction="sum", zero_infinity=True)
    return loss, T.autograd.grad(loss, logs)


CTC_REFUSED = """
loss(L.half(), G, I, N)
loss(L, G, I.float(), N)
loss(L, G, I, N.float())
loss(L, G, I + 1, N)
loss(L, G, I, N + 1)
loss(L, G, I[:1], N)
loss(L, G, I, N[:1])
loss(L, G[:1], I, N)
loss(L[None], G, I, N)
loss(L, G[None], I, N)
loss(L, G, I, N, 7)
loss(L, G, I, N, -1)
loss(L, G, -I, N)
loss(L, G, I, -N)
loss(L[:0], G, I * 0, N)
loss(L, G[0], I, N)
loss(L, G, I, N, reduction="x")
loss(L, G, [4], [2, 2])
"""


@pytest.mark.parametrize("expression", CTC_REFUSED.strip().splitlines())
def test_refused_ctc(expression):
    def refused(T):
        logs = T.arange(24.0).view(4, 2, 3).log_softmax(2)
        names = {"L": logs, "G": T.tensor([[1, 2], [1, 1]]), "I": T.tensor([4, 4]), "N": T.tensor([2, 2])}
        return eval(expression, {"loss": T.nn.functional.ctc_loss, **names})

    assert_same(refused)


@program
def ctc_has_no_second_derivative(T):
    logs = T.arange(12.0).view(4, 1, 3).log_softmax(2).requires_grad_()
    loss = T.nn.functional.ctc_loss(logs, T.tensor([[1, 2]]), T.tensor([4]), T.tensor([2]))
    (grad,) = T.autograd.grad(loss, logs, create_graph=True)
    return T.autograd.grad(grad.sum(), logs)
