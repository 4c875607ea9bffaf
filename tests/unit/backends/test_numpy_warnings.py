"""Numbers that overflow or are none give inf and nan, and none of NumPy's warnings, as in torch."""

import warnings

import pytest

import mindtorch as torch
from mindtorch.nn import functional as F

INF = float("inf")
NUMBERS = [INF, -INF, float("nan"), 0.0, -0.0, 1e38, -1e38, 1e-45, 1.0, -1.0, 2.5, 1e20]

# `x`, `y` and `z` are (6, 6), with such numbers in different places.
EXPRESSIONS = """
x @ y; x.addmm(y, z); F.linear(x, y, z[0]); torch.baddbmm(x[None], y[None], z[None]); x.mv(y[0]); x[0].dot(y[0])
torch.einsum("ij,jk->ik", x, y); x + y; x * y; x / y; x % y; x // y; x ** y; x.fmod(y); x.addcdiv(y, z); x.lerp(y, z)
x.exp(); x.log(); x.sqrt(); x.rsqrt(); x.reciprocal(); x.tan(); x.sinh(); x.atanh(); x.log1p(); x.expm1(); x.pow(-1)
x.sum(); x.mean(0); x.var(0); x.std(); x.prod(0); x.cumsum(0); x.cumprod(0); x.logsumexp(0); x.norm(); x.softmax(0)
x.log_softmax(0); x.half(); x.bfloat16(); x.int(); x.byte(); x.bool(); x.double().mul(1e300).float()
x.round(decimals=2); x.clamp(min=y); x.clamp(y, z); x.clamp(0, INF); F.mse_loss(x, y); F.gelu(x)
F.mse_loss(x, y, reduction="none")
F.smooth_l1_loss(x, y); F.cross_entropy(x, torch.arange(6)); F.layer_norm(x, (6,)); F.softplus(x); F.silu(x); F.elu(x)
x.scatter_add(0, torch.zeros(6, 6).long(), y); x.index_add(0, torch.arange(6), y); torch.linspace(0, INF, 3)
torch.maximum(x, y, out=z); torch.minimum(x, y, out=z); torch.fmax(x, y, out=z); torch.fmin(x, y, out=z)
x.allclose(y); x.isclose(y); x.clone().copy_(y.double() * 1e300); torch.tensor([1e300]).float(); torch.arange(3.0) * INF
"""


def operand(dtype, shift):
    return torch.tensor(NUMBERS * 3, dtype=torch.float64).roll(shift).reshape(6, 6).to(dtype)


@pytest.mark.parametrize("expression", [each.strip() for each in EXPRESSIONS.strip().replace("\n", ";").split(";")])
def test_numpy_does_not_warn(expression):
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        names = {"torch": torch, "F": F, "INF": INF}
        names |= {name: operand(dtype, shift) for name, shift in (("x", 0), ("y", 5), ("z", 7))}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            eval(expression, names)
        assert not caught, (dtype, str(caught[0].message))
