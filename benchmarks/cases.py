"""The work that is timed, written once for any module that looks like torch.

A case is a function of a `Maker` that prepares its tensors and returns what is timed. Groups: op/ (what one small op
costs), tape/ (long graphs of small ops), kernel/ (large arrays), train/ (whole training steps).
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

Work = Callable[[], Any]
CASES: dict[str, Callable[["Maker"], Work]] = {}


class Maker:
    """Makes the same inputs for every library."""

    def __init__(self, torch: ModuleType):
        self.torch = torch
        self.functional = torch.nn.functional
        self.random = np.random.default_rng(0)

    def normal(self, *shape: int, grad: bool = False, scale: float = 1.0) -> Any:
        """A float32 tensor of normally distributed numbers."""
        values = (self.random.standard_normal(shape) * scale).astype(np.float32)
        return self.torch.tensor(values, requires_grad=grad)

    def integers(self, high: int, *shape: int) -> Any:
        """An int64 tensor of numbers below `high`."""
        return self.torch.tensor(self.random.integers(0, high, shape))


def case(name: str) -> Callable[[Callable[[Maker], Work]], Callable[[Maker], Work]]:
    """Register the decorated function under this name."""

    def register(function: Callable[[Maker], Work]) -> Callable[[Maker], Work]:
        CASES[name] = function
        return function

    return register


def simple(
    name: str, *shapes: tuple[int, ...], grad: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function of torch and tensors of these shapes."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        def prepare(make: Maker) -> Work:
            tensors = [make.normal(*shape, grad=grad) for shape in shapes]
            return lambda: function(make.torch, *tensors)

        CASES[name] = prepare
        return function

    return register


SMALL, SQUARE, MILLION, WIDE = (8,), (8, 8), (1 << 20,), (1024, 1024)
IMAGES = (8, 16, 32, 32)

simple("op/add", SMALL, SMALL)(lambda torch, a, b: a + b)
simple("op/add_grad", SMALL, SMALL, grad=True)(lambda torch, a, b: a + b)
simple("op/mul_number", SMALL)(lambda torch, a: a * 2.0)
simple("op/mul_grad", SMALL, SMALL, grad=True)(lambda torch, a, b: a * b)
simple("op/exp", SMALL)(lambda torch, a: torch.exp(a))
simple("op/relu_grad", SMALL, grad=True)(lambda torch, a: torch.relu(a))
simple("op/sum_grad", SMALL, grad=True)(lambda torch, a: a.sum())
simple("op/matmul_grad", SQUARE, SQUARE, grad=True)(lambda torch, a, b: a @ b)
simple("op/view_grad", SQUARE, grad=True)(lambda torch, a: a.view(64))
simple("op/transpose", SQUARE)(lambda torch, a: a.transpose(0, 1))
simple("op/index", SQUARE)(lambda torch, a: a[0])
simple("op/cat", SQUARE, SQUARE)(lambda torch, a, b: torch.cat([a, b]))
simple("op/add_inplace", SMALL)(lambda torch, a: a.add_(0.0))
simple("op/zeros")(lambda torch: torch.zeros(8, 8))
simple("op/tensor")(lambda torch: torch.tensor([1.0, 2.0, 3.0]))
simple("op/softmax", SQUARE)(lambda torch, a: torch.softmax(a, -1))

simple("kernel/add", MILLION, MILLION)(lambda torch, a, b: a + b)
simple("kernel/exp", MILLION)(lambda torch, a: torch.exp(a))
simple("kernel/tanh", MILLION)(lambda torch, a: torch.tanh(a))
simple("kernel/sigmoid", MILLION)(lambda torch, a: torch.sigmoid(a))
simple("kernel/gelu", MILLION)(lambda torch, a: torch.nn.functional.gelu(a))
simple("kernel/sum", MILLION)(lambda torch, a: a.sum())
simple("kernel/sum_dim", WIDE)(lambda torch, a: a.sum(0))
simple("kernel/softmax", WIDE)(lambda torch, a: torch.softmax(a, -1))
simple("kernel/layer_norm", WIDE)(lambda torch, a: torch.nn.functional.layer_norm(a, (1024,)))
simple("kernel/matmul", WIDE, WIDE)(lambda torch, a, b: a @ b)
simple("kernel/contiguous", WIDE)(lambda torch, a: a.t().contiguous())
simple("kernel/where", MILLION, MILLION)(lambda torch, a, b: torch.where(a > 0, a, b))
simple("kernel/cat", MILLION, MILLION)(lambda torch, a, b: torch.cat([a, b]))
simple("kernel/cumsum", MILLION)(lambda torch, a: torch.cumsum(a, 0))
simple("kernel/sort", MILLION)(lambda torch, a: torch.sort(a))
simple("kernel/conv2d", IMAGES, (32, 16, 3, 3))(lambda torch, x, w: torch.nn.functional.conv2d(x, w, padding=1))
simple("kernel/max_pool2d", IMAGES)(lambda torch, x: torch.nn.functional.max_pool2d(x, 2))


@case("tape/chain_100")
def chain(make: Maker) -> Work:
    """A hundred multiplications and additions, forward and backward."""
    a, b = make.normal(8, grad=True), make.normal(8, grad=True)

    def work() -> None:
        x = a
        for _ in range(100):
            x = x * b + a
        x.sum().backward()
        a.grad = b.grad = None

    return work


@case("tape/rnn_50")
def recurrent(make: Maker) -> Work:
    """Fifty steps of a recurrent network with small matrices, forward and backward."""
    weights = [make.normal(32, 64, grad=True), make.normal(64, 64, grad=True), make.normal(64, grad=True)]
    inputs, start = make.normal(50, 8, 32), make.normal(8, 64)
    tanh = make.torch.tanh

    def work() -> None:
        state = start
        for i in range(50):
            state = tanh(inputs[i] @ weights[0] + state @ weights[1] * 0.1 + weights[2])
        state.sum().backward()
        for weight in weights:
            weight.grad = None

    return work


def training(make: Maker, parameters: list[Any], loss: Work) -> Work:
    """One step of gradient descent."""

    def work() -> None:
        loss().backward()
        with make.torch.no_grad():
            for parameter in parameters:
                parameter.sub_(parameter.grad * 0.01)
                parameter.grad = None

    return work


@case("train/mlp")
def perceptron(make: Maker) -> Work:
    """Two linear layers on a batch of 64 images."""
    functional = make.functional
    w1, b1 = make.normal(256, 784, grad=True, scale=0.05), make.normal(256, grad=True)
    w2, b2 = make.normal(10, 256, grad=True, scale=0.05), make.normal(10, grad=True)
    x, y = make.normal(64, 784), make.integers(10, 64)

    def loss() -> Any:
        hidden = functional.relu(functional.linear(x, w1, b1))
        return functional.cross_entropy(functional.linear(hidden, w2, b2), y)

    return training(make, [w1, b1, w2, b2], loss)


@case("train/cnn")
def convolutional(make: Maker) -> Work:
    """Two convolutions with pooling and a linear layer on a batch of 32 images."""
    functional = make.functional
    c1, c2 = make.normal(16, 1, 3, 3, grad=True), make.normal(32, 16, 3, 3, grad=True)
    w = make.normal(10, 32 * 49, grad=True, scale=0.05)
    x, y = make.normal(32, 1, 28, 28), make.integers(10, 32)

    def loss() -> Any:
        hidden = functional.max_pool2d(functional.relu(functional.conv2d(x, c1, padding=1)), 2)
        hidden = functional.max_pool2d(functional.relu(functional.conv2d(hidden, c2, padding=1)), 2)
        return functional.cross_entropy(functional.linear(hidden.flatten(1), w), y)

    return training(make, [c1, c2, w], loss)


@case("train/transformer")
def transformer(make: Maker) -> Work:
    """Two blocks of attention and feed-forward layers over 8 sequences of 64 tokens."""
    torch, functional = make.torch, make.functional
    width, heads, length, batch, vocabulary, scale = 64, 4, 64, 8, 256, 0.02
    tokens = make.normal(vocabulary, width, grad=True, scale=scale)
    places = make.normal(length, width, grad=True, scale=scale)
    shapes = [(3 * width, width), (width, width), (4 * width, width), (width, 4 * width)]
    blocks = [[make.normal(*shape, grad=True, scale=scale) for shape in shapes] for _ in range(2)]
    ids = make.integers(vocabulary, batch, length)
    mask = torch.tensor(np.triu(np.full((length, length), -1e9, np.float32), 1))

    def attention(x: Any, joint: Any, out: Any) -> Any:
        parts = functional.linear(x, joint).view(batch, length, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
        query, key, value = parts[0], parts[1], parts[2]
        weights = functional.softmax(query @ key.transpose(-2, -1) * (width // heads) ** -0.5 + mask, -1)
        return functional.linear((weights @ value).transpose(1, 2).reshape(batch, length, width), out)

    def loss() -> Any:
        x = functional.embedding(ids, tokens) + places
        for joint, out, up, down in blocks:
            x = x + attention(functional.layer_norm(x, (width,)), joint, out)
            inner = functional.gelu(functional.linear(functional.layer_norm(x, (width,)), up))
            x = x + functional.linear(inner, down)
        logits = functional.linear(x, tokens)
        return functional.cross_entropy(logits.reshape(-1, vocabulary), ids.reshape(-1))

    return training(make, [tokens, places] + [weight for block in blocks for weight in block], loss)
