"""Operators written in NumPy that take part in autograd, without YAML and without a generator.

    python examples/custom_operators.py

With `import torch` instead of `import mindtorch as torch` the program prints the same. What it uses is explained in
docs/library.md.
"""

from collections.abc import Sequence

import numpy as np

import mindtorch as torch
from mindtorch.library import custom_op, opcheck

# -------------------- an op with a derivative --------------------


@custom_op("examples::sin", mutates_args=())
def sin(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(np.sin(x.detach().numpy()))


@sin.register_fake
def _(x):
    return torch.empty_like(x)


def save_input(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])


def sin_backward(ctx, grad):
    (x,) = ctx.saved_tensors
    return grad * sin(x + np.pi / 2)  # the derivative is in terms of the op: it can be differentiated again


sin.register_autograd(sin_backward, setup_context=save_input)

# -------------------- an op that writes its argument --------------------


@custom_op("examples::clip_", mutates_args={"x"})
def clip_(x: torch.Tensor, low: float = 0.0, high: float = 1.0) -> None:
    array = x.detach().numpy()
    np.clip(array, low, high, out=array)


# -------------------- an op with lists and optional arguments --------------------


@custom_op("examples::weighted_sum", mutates_args=())
def weighted_sum(
    xs: Sequence[torch.Tensor], weights: Sequence[float], bias: torch.Tensor | None, *, scale: float = 1.0
) -> torch.Tensor:
    total = sum(weight * x.detach().numpy() for x, weight in zip(xs, weights))
    total = total if bias is None else total + bias.detach().numpy()
    return torch.from_numpy(np.asarray(scale * total, np.float32))


@weighted_sum.register_fake
def _(xs, weights, bias, *, scale=1.0):
    return torch.empty_like(xs[0])


def save_weights(ctx, inputs, keyword_only_inputs, output):
    _, ctx.weights, bias = inputs
    ctx.has_bias = bias is not None
    ctx.scale = keyword_only_inputs["scale"]


def weighted_sum_backward(ctx, grad):
    grad = grad * ctx.scale
    return [grad * weight for weight in ctx.weights], None, grad if ctx.has_bias else None


weighted_sum.register_autograd(weighted_sum_backward, setup_context=save_weights)


def main() -> None:
    x = torch.linspace(0, 1, 4, requires_grad=True)
    y = sin(x)
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    print(y, first, second, sep="\n")

    z = torch.tensor([-1.0, 0.5, 2.0])
    clip_(z, high=1.5)
    print(z, "at version", z._version)

    bias = torch.ones(4, requires_grad=True)
    total = torch.ops.examples.weighted_sum([x, y], [2.0, 3.0], bias, scale=0.5)
    total.sum().backward()
    print(total, x.grad, bias.grad, sep="\n")
    print(torch.ops.examples.weighted_sum.default._schema)

    print(opcheck(sin, (x,)))
    print(opcheck(clip_, (z,)))
    print(opcheck(weighted_sum, ([x, x], [1.0, 2.0], None), {"scale": 2.0}))


if __name__ == "__main__":
    main()
