"""Gradients: backward, modes, functions with a derivative of their own, transforms."""

from typing import Any

import mindtorch as torch
import mindtorch.nn as nn
from mindtorch import Tensor
from mindtorch.autograd import Function
from mindtorch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
y = torch.ones(2, 2, dtype=torch.float64, requires_grad=True)

weight = torch.randn(3, requires_grad=True)
loss = (x @ weight).pow(2).sum()
loss.backward()
gradient = weight.grad
if weight.grad is not None:
    weight.grad.zero_()
    norm_of_gradient = weight.grad.norm().item()
weight.grad = None
weight.requires_grad = True
weight.data = weight.data * 0.5
(x @ weight).sum().backward(retain_graph=True)
(x @ weight).backward(torch.ones(2))
(x @ weight).backward(gradient=torch.ones(2), inputs=[weight])
gradients = torch.autograd.grad((x @ weight).sum(), weight)
gradients = torch.autograd.grad((x @ weight).sum(), [weight], create_graph=True)
(one_gradient,) = torch.autograd.grad((x @ weight).pow(2).sum(), (weight,))
torch.autograd.backward((x @ weight).sum())
handle = weight.register_hook(lambda g: g * 2)
handle.remove()
weight.retain_grad()
with torch.no_grad():
    weight -= 0.1 * weight
    weight.add_(1)
with torch.enable_grad(), torch.set_grad_enabled(True):
    pass
with torch.inference_mode():
    frozen = weight * 2
with torch.autograd.set_detect_anomaly(False):
    pass
with torch.autograd.detect_anomaly(check_nan=False):
    pass
with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
    pass


@torch.no_grad()
def evaluate(model: nn.Module, batch: Tensor) -> Tensor:
    model.eval()
    return model(batch)


@torch.inference_mode()
def predict(model: nn.Module, batch: Tensor) -> int:
    return int(model(batch).argmax())


class Square(Function):
    @staticmethod
    def forward(ctx: Any, input: Tensor) -> Tensor:
        ctx.save_for_backward(input)
        return input * input

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        (input,) = ctx.saved_tensors
        return 2 * input * grad_output


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(input: Tensor, factor: float) -> Tensor:
        return input * factor

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        _, factor = inputs
        ctx.factor = factor

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, None]:
        return grad_outputs[0] * ctx.factor, None


squared = Square.apply(weight)
scaled = Scale.apply(weight, 2.0)


def quadratic(v: Tensor) -> Tensor:
    return (v**2).sum()


transforms = (
    grad(quadratic),
    grad(quadratic)(x),
    grad(quadratic, argnums=0)(x),
    vmap(quadratic),
    vmap(quadratic)(x),
    vmap(quadratic, in_dims=0, out_dims=0)(x),
    vmap(grad(quadratic))(x),
    jacrev(quadratic)(x),
    jacfwd(quadratic)(x),
    hessian(quadratic)(x[0]),
    vjp(quadratic, x),
    jvp(quadratic, (x,), (x,)),
    torch.func.grad_and_value(quadratic)(x),
    torch.vmap(quadratic)(x),
    torch.autograd.functional.jacobian(quadratic, x[0]),
    torch.autograd.functional.hessian(quadratic, x[0]),
    torch.autograd.gradcheck(quadratic, (y.detach().requires_grad_(),)),
)
value, pullback, *_ = vjp(quadratic, x)
value, tangent, *_ = jvp(quadratic, (x,), (x,))
