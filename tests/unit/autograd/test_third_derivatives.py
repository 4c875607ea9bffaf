"""Third derivatives of smooth ops: the second gradients of the gradients that the formulas give."""

import pytest

import mindtorch as torch
from mindtorch.autograd import grad, gradgradcheck

SMOOTH = {
    "exp": torch.exp,
    "log": torch.log,
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "reciprocal": torch.reciprocal,
    "sin": torch.sin,
    "tan": torch.tan,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "pow": lambda x: x**3.5,
    "x to the x": lambda x: x**x,
    "division": lambda x: 1 / (1 + x * x),
    "softplus": torch.nn.functional.softplus,
    "silu": torch.nn.functional.silu,
    "gelu": torch.nn.functional.gelu,
    "gelu with tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "erf": torch.erf,
    "lgamma": torch.lgamma,
    "softmax": lambda x: x.softmax(0),
    "log_softmax": lambda x: x.log_softmax(0),
    "logsumexp": lambda x: x.logsumexp(0),
    "prod": torch.prod,
    "norm": torch.norm,
    "std": torch.std,
    "matmul": lambda x: x.outer(x) @ x,
    "layer_norm": lambda x: torch.nn.functional.layer_norm(x, (4,)),
    "batch_norm": lambda x: torch.nn.functional.batch_norm(x[:, None], None, None, training=True),
    "cross_entropy": lambda x: torch.nn.functional.cross_entropy(x[None], torch.tensor([1])),
    "addcdiv": lambda x: torch.addcdiv(x, x * x, x + 1),
    "lerp": lambda x: torch.lerp(x, x * x, x),
}


def gradient_of(function):
    """The gradient of a weighted sum of the squares of a function's values, which is as smooth as the function."""

    def gradient(x):
        squares = function(x).reshape(-1).square()
        weights = torch.arange(1, 1 + squares.numel(), dtype=x.dtype)
        return grad((squares * weights).sum(), x, create_graph=True)[0]

    return gradient


@pytest.mark.parametrize("name", SMOOTH)
def test_third_derivative_matches_finite_differences(name):
    x = torch.tensor([0.3, 0.7, 1.1, 1.6], dtype=torch.float64, requires_grad=True)
    assert gradgradcheck(gradient_of(SMOOTH[name]), x, check_fwd_over_rev=True, fast_mode=True)
