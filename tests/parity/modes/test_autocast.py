"""Mixed precision on the CPU: which op gets its tensors in which dtype, and what surrounds it."""

import numpy as np
import pytest
import torch

import mindtorch
from tests.parity.support.programs import assert_same, programs, sample

program, test_program = programs()

# Ops of the three kinds, and some that are left alone: of a float32 tensor x, a lower one h, and a matrix w.
CALLS = {
    "linear": lambda T, x, h, w: T.nn.functional.linear(x, w),
    "matmul": lambda T, x, h, w: x @ w.T,
    "mm of doubles": lambda T, x, h, w: x.double() @ w.T.double(),
    "addmm": lambda T, x, h, w: T.addmm(x[:, :3], x, w.T),
    "baddbmm": lambda T, x, h, w: T.baddbmm(x[None, :, :3], x[None], w.T[None]),
    "einsum": lambda T, x, h, w: T.einsum("ij,kj->ik", x, w),
    "conv1d": lambda T, x, h, w: T.nn.functional.conv1d(x[None], w[:, None, :2].expand(3, 4, 2)),
    "attention": lambda T, x, h, w: T.nn.functional.scaled_dot_product_attention(x[None], x[None], x[None]),
    "prelu": lambda T, x, h, w: T.nn.functional.prelu(x, w[0, :1]),
    "addition": lambda T, x, h, w: x + h,
    "in place": lambda T, x, h, w: T.zeros(4, 3).addmm_(x.detach(), w.T.detach()),
    "out": lambda T, x, h, w: T.mm(x.detach(), w.T.detach(), out=T.empty(4, 3)),
    "softmax": lambda T, x, h, w: h.softmax(-1),
    "layer_norm": lambda T, x, h, w: T.nn.functional.layer_norm(h, (6,)),
    "prod": lambda T, x, h, w: h.prod(1),
    "cdist": lambda T, x, h, w: T.cdist(h, h),
    "inverse": lambda T, x, h, w: T.linalg.inv(T.eye(3, dtype=h.dtype)),
    "mse_loss": lambda T, x, h, w: T.nn.functional.mse_loss(h, x),
    "cross_entropy": lambda T, x, h, w: T.nn.functional.cross_entropy(h, T.tensor([0, 1, 2, 3])),
    "nll_loss": lambda T, x, h, w: T.nn.functional.nll_loss(h, T.tensor([0, 1, 2, 3])),
    "huber_loss": lambda T, x, h, w: T.nn.functional.huber_loss(h, h * 2),
    "triplet_margin_loss": lambda T, x, h, w: T.nn.functional.triplet_margin_loss(h, h * 2, h + 1),
    "multi_margin_loss": lambda T, x, h, w: T.nn.functional.multi_margin_loss(h, T.tensor([0, 1, 2, 3])),
    "cat": lambda T, x, h, w: T.cat([h, x]),
    "cat of lower": lambda T, x, h, w: T.cat([h, h]),
    "cat with doubles": lambda T, x, h, w: T.cat([h, x.double()]),
    "stack": lambda T, x, h, w: T.stack([x, h]),
    "integers": lambda T, x, h, w: T.arange(6).view(2, 3) @ T.arange(3),
}


@pytest.mark.parametrize("lower", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", CALLS)
def test_op(name, lower):
    def facts(T):
        x, w = sample(T, 4, 6), sample(T, 3, 6, seed=1)
        with T.autocast("cpu", dtype=getattr(T, lower)):
            result = CALLS[name](T, x, x.detach().to(getattr(T, lower)), w)
        return result.dtype, result.requires_grad, result.detach().double().tolist()

    (dtype, recorded, own), (torch_dtype, torch_recorded, expected) = facts(mindtorch), facts(torch)
    assert (str(dtype), recorded) == (str(torch_dtype), torch_recorded)
    np.testing.assert_allclose(own, expected, rtol=0.03, atol=0.03)


@pytest.mark.parametrize("layer", ["LSTM", "GRU", "RNN"])
def test_recurrent_layer(layer):
    def dtype(T):
        with T.autocast("cpu"):
            return str(getattr(T.nn, layer)(4, 3)(T.zeros(2, 5, 4))[0].dtype)

    assert dtype(mindtorch) == dtype(torch)


@program
def blocks_nest(T):
    seen, w = [], sample(T, 3, 3)
    with T.autocast("cpu"):
        seen.append((w @ w).dtype)
        with T.autocast("cpu", enabled=False):
            seen += [(w @ w).dtype, T.is_autocast_enabled("cpu")]
        with T.autocast("cpu", dtype=T.float16):
            seen += [(w @ w).dtype, T.get_autocast_dtype("cpu")]
        seen += [(w @ w).dtype, T.is_autocast_enabled("cpu"), T.get_autocast_dtype("cpu")]
    return [str(each) for each in (*seen, (w @ w).dtype, T.is_autocast_enabled("cpu"))]


@program
def a_weight_is_cast_once(T):
    w, x = sample(T, 3, 3), sample(T, 3, 3, requires_grad=False)
    with T.autocast("cpu"):
        with T.no_grad():
            unrecorded = x @ w
        casts = [(x @ w).grad_fn.next_functions[1][0] for _ in range(2)]
    with T.autocast("cpu", cache_enabled=False):
        apart = [(x @ w).grad_fn.next_functions[1][0] for _ in range(2)]
    return casts[0] is casts[1], apart[0] is apart[1], casts[0].name(), unrecorded.requires_grad


@program
def gradients_are_those_of_the_weights(T):
    model = T.nn.Linear(3, 2)
    with T.autocast("cpu"):
        loss = model(T.ones(4, 3)).sum()
    loss.backward()
    return loss.dtype, model.weight.grad


@program
def checkpoints_run_again_in_the_same_precision(T):
    found = []
    for use_reentrant in (True, False):
        x, w = T.full((2, 3), 1 / 3, requires_grad=True), T.ones(3, 3)
        with T.autocast("cpu"):
            result = T.utils.checkpoint.checkpoint(lambda x, w=w: (x @ w).sin(), x, use_reentrant=use_reentrant)
        result.float().sum().backward()
        found += [str(result.dtype), x.grad.round(decimals=2)]
    return found


@program
def functions_with_gradients_of_their_own(T):
    seen = []

    def function(**options):
        class Exp(T.autograd.Function):
            @staticmethod
            @T.amp.custom_fwd(device_type="cpu", **options)
            def forward(ctx, x):
                ctx.save_for_backward(x)
                seen.extend((str(x.dtype), str((x @ x.T).dtype)))
                return x.exp()

            @staticmethod
            @T.amp.custom_bwd(device_type="cpu")
            def backward(ctx, grad):
                seen.append(str((grad @ grad.T).dtype))
                return grad * ctx.saved_tensors[0].exp()

        return Exp

    for options in ({}, {"cast_inputs": T.float32}):
        with T.autocast("cpu"):
            loss = function(**options).apply(T.ones(2, 3).bfloat16().requires_grad_()).sum()
        loss.backward()
    return seen


@program
def decorated_functions(T):
    @T.autocast("cpu", dtype=T.float16)
    def product(x):
        """Its own."""
        return x @ x

    return product(T.ones(2, 2)), product.__doc__, product.__name__


@program
def transforms(T):
    with T.autocast("cpu"):
        each = T.func.vmap(lambda x: x @ x.T)(T.ones(2, 3, 3))
        return each.dtype, T.func.grad(lambda x: (x @ x).sum())(T.ones(2, 2))


@program
def training_with_a_scaler(T):
    T.manual_seed(0)
    model = T.nn.Linear(3, 2)
    optimizer, scaler = T.optim.SGD(model.parameters(), 0.5), T.amp.GradScaler("cpu", init_scale=128.0)
    for _ in range(2):
        with T.autocast("cpu"):
            loss = T.nn.functional.mse_loss(model(T.ones(4, 3)), T.zeros(4, 2))
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    return loss.dtype, loss.round(decimals=2), scaler.get_scale()


SETTINGS = {
    "unsupported dtype": lambda T: _in_block(T, lambda: T.ones(2, 2) @ T.ones(2, 2), dtype=T.float32),
    "old getter": lambda T: str(T.get_autocast_gpu_dtype()),
    "old question": lambda T: T.is_autocast_cpu_enabled(),
    "for meta": lambda T: T.is_autocast_enabled("meta"),
    "dtype for meta": lambda T: T.autocast("meta"),
    "no name": lambda T: T.is_autocast_enabled(3),
    "unknown device": lambda T: T.autocast("foo"),
    "available": lambda T: [T.amp.is_autocast_available(each) for each in ("cpu", "cuda", "mps", "meta")],
    "cache": lambda T: (T.is_autocast_cache_enabled(), T.clear_autocast_cache()),
    "dtypes": lambda T: [str(T.get_autocast_dtype(each)) for each in ("cpu", "cuda", "mps", "xla")],
    "lower ones of two kinds": lambda T: _in_block(T, lambda: T.cat([T.ones(2).half(), T.ones(2).bfloat16()])),
    "of the device": lambda T: T.amp.custom_fwd(device_type=3),
}


def _in_block(T, function, **options):
    with T.autocast("cpu", **options):
        return function()


@pytest.mark.parametrize("name", SETTINGS)
def test_settings(name):
    assert_same(SETTINGS[name])
