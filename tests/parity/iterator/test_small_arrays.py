"""Kernels take shorter ways with small arrays: values, layouts and errors are torch's on both sides of the limit."""

import random

import numpy as np
import pytest

from tests.parity.support.inputs import ramp, waves
from tests.parity.support.programs import assert_same, programs

program, test_program = programs()

# -------------------- layers --------------------

LAYERS = """
F.layer_norm(x, x.shape[-1:])
F.layer_norm(x, x.shape[-1:], w(T, x.shape[-1]), w(T, x.shape[-1]), 1e-3)
F.layer_norm(x, x.shape[-2:])
F.group_norm(x, 2)
F.group_norm(x, 4, w(T, 4), w(T, 4))
F.group_norm(x.contiguous(memory_format=T.channels_last), 2, w(T, 4))
F.softmax(x, -1)
F.log_softmax(x, -1)
F.log_softmax(x * 100, -1)
F.log_softmax(x[0, 0, 0], 0)
F.softmax(x[0, 0, 0], 0)
F.max_pool2d(x, 2, return_indices=True)
F.max_pool2d(x, 3, 2, 1, return_indices=True)
F.max_pool2d(x, (2, 1), (1, 2), 0, (1, 2), ceil_mode=True, return_indices=True)
F.max_pool2d(x.where(x < 1, T.nan), 2, return_indices=True)
F.max_pool2d(x.where(x < 0, -T.inf), 3, 2, 1, return_indices=True)
F.max_pool3d(x[None], 2, return_indices=True)
F.max_pool2d((x * 10).long(), 2, 1, 1, return_indices=True)
F.scaled_dot_product_attention(x, x, x)
F.scaled_dot_product_attention(x * 30, x, x, is_causal=True)
x.sort(-1)
x.sort(1, descending=True)
x.transpose(1, 3).sort(1)
x.topk(3)
x.topk(2, 1, largest=False)
x.masked_fill(x > 0, 1.0)
x.take(T.tensor([[5, 0], [-1, 3]]))
x.take(T.tensor([[5, 0], [7, 3]]))
"""


def w(T, count):
    return ramp(T, 0.5, 2, count)


@pytest.mark.parametrize("size", [4, 20])
@pytest.mark.parametrize("expression", LAYERS.strip().splitlines())
def test_layers(expression, size):
    def computed(T):
        x = waves(T, 8 * size * size).reshape(2, 4, size, size)
        result = eval(expression, {"T": T, "F": T.nn.functional, "x": x, "w": w})
        return [(each, each.stride()) for each in (result if isinstance(result, tuple) else (result,))]

    assert_same(computed)


@pytest.mark.parametrize("ignored", [-100, 1])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("targets", [[0, 2, 1], [1, 1, 1], [0, 3, 1], [0, -1, 2], [0, -100, 2], [], [2]])
def test_losses_of_classes(targets, reduction, ignored):
    def loss(T):
        logits = ramp(T, -2, 3, 3 * len(targets), through=np.exp).reshape(len(targets), 3).requires_grad_()
        target = T.tensor(targets, dtype=T.int64)
        result = T.nn.functional.cross_entropy(logits, target, reduction=reduction, ignore_index=ignored)
        result.sum().backward()
        return result, logits.grad

    assert_same(loss)


# -------------------- factorizations --------------------


@pytest.mark.parametrize("size", [1, 3, 17, 40])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_linear_systems(size, batch):
    def solved(T):
        matrix = waves(T, size * size, T.float64).reshape(size, size).repeat(*batch, 1, 1)
        matrix = (matrix + T.eye(size, dtype=T.float64) * 3).requires_grad_()
        linalg, right = T.linalg, matrix.detach()[..., :1]
        results = (
            linalg.inv(matrix),
            linalg.solve(matrix, right),
            linalg.slogdet(matrix)[1],
            linalg.lu_factor(matrix)[1],
        )
        return results, T.autograd.grad(sum(each.sum() for each in results[:3]), matrix)[0].contiguous()

    assert_same(solved)


@pytest.mark.parametrize("size", [2, 20])
@pytest.mark.parametrize("function", ["inv", "solve", "det", "slogdet", "inv_ex", "lu_factor"])
def test_singular_matrices(function, size):
    def refused(T):
        matrix = T.eye(size).repeat(2, 1, 1)
        matrix[1, 1, 1] = 0
        given = (matrix, T.ones(2, size, 1)) if function == "solve" else (matrix,)
        return tuple(getattr(T.linalg, function)(*given))

    assert_same(refused)


# -------------------- broadcast operands --------------------

OPERATIONS = ["a + b", "a * b", "a / b", "a == b", "a < b", "a.add_(b)", "a.mul_(b)"]


def operand(source: random.Random, shape: list[int]):
    """How to make a tensor that can be broadcast to a shape, perhaps a permuted, expanded or stepped one."""
    own = [1 if source.random() < 0.3 else extent for extent in shape][source.choice([0, 0, len(shape) // 2]) :]
    order = source.sample(range(len(own)), len(own)) if source.random() < 0.3 else list(range(len(own)))
    step, is_expanded = source.choice([1, 1, 2]), source.random() < 0.2
    kind = source.choice(["float32"] * 4 + ["float64", "int64"])

    def make(T):
        sizes = [0] * len(own)
        for place, dim in enumerate(order):
            sizes[dim] = own[place]
        whole = T.arange(1, 1 + T.Size([*sizes, step]).numel(), dtype=getattr(T, kind)).reshape(*sizes, step)
        tensor = whole[..., 0].permute(order)
        return tensor[..., :1].expand(own) if is_expanded and own else tensor

    return make


@pytest.mark.parametrize("seed", range(150))
def test_broadcast_operands(seed):
    source = random.Random(seed)
    shape = [source.choice([1, 1, 2, 3]) for _ in range(source.randint(0, 4))]
    makers = operand(source, shape), operand(source, shape)
    expression = source.choice(OPERATIONS)

    def computed(T):
        a, b = (make(T) for make in makers)
        result = eval(expression, {"a": a, "b": b})
        return result, result.stride(), a

    assert_same(computed)


# -------------------- writes --------------------

WRITES = """
x[i] = 5.0
x[i] = T.tensor(7.0)
x[i] = T.ones(3, 4)
x[i] = T.ones(1)
x[i] = x[0, 0]
x[i] = x[:3]
x[i] = T.ones(2)
x[i] = T.tensor(1.0, dtype=T.float64)
x[i, j] = T.arange(3.0)
x[i, j] = -1
x[i, i] = 1.0
x[i + 1] = 1.0
x[i - 5] = 1.0
x[i - 3, j] += 1
x[i[:0]] = 1.0
x.t()[j] = 2.0
x[x > 3] = 0.0
x[x > 3] = T.tensor(9, dtype=T.float64)
x[x > 3] = T.arange(8.0)
x[x > 30] = 1
x[:, 1][x[:, 0] > 3] = 1
x[x[0] > 1] = 1.0
x[0] = x[1]
x[0] = x[:, 0]
x[:, 1] = T.ones(4)
x[:, 1] = T.ones(4, dtype=T.float64)
x[1:3] = x[2:4]
x[0].expand(4, 4)[:] = 1
"""


@pytest.mark.parametrize("statement", WRITES.strip().splitlines())
def test_writes(statement):
    def written(T):
        x = T.arange(16.0).reshape(4, 4)
        exec(statement, {"T": T, "x": x, "i": T.tensor([0, 2, 3]), "j": T.tensor([1, 1, 0])})
        return x, x._version

    assert_same(written)


# -------------------- conversions --------------------


@program
def what_converts_and_what_does_not(T):
    x, y = T.ones(2, 1), T.ones(2, dtype=T.float64)
    same = [x.to(T.float32) is x, x.float() is x, x.to("cpu") is x, x.to(x) is x, x.cpu() is x, x.to(y) is x]
    return same, x.to(y).dtype, x.to(T.int64).stride(), x.t().double().stride(), x.to("meta").device, x.bool()


# -------------------- attention --------------------


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("given", ["x, x, x", "x, y, y", "x, y, z"])
def test_nodes_of_attention(given, batch_first):
    def names(T):
        T.manual_seed(0)
        layer = T.nn.MultiheadAttention(4, 2, batch_first=batch_first)
        x, y, z = (ramp(T, -1, end, 24).reshape(2, 3, 4).requires_grad_() for end in (1, 2, 3))
        result, weights = layer(*eval(given, {"x": x, "y": y, "z": z}))
        result.square().sum().backward()
        found, waiting = [], [result.grad_fn]
        for node in waiting:
            if node is not None and node not in found:
                found.append(node)
                waiting += [edge[0] for edge in node.next_functions]
        return [node.name() for node in found], result, weights, [each.grad for each in (x, y, z, *layer.parameters())]

    assert_same(names)
