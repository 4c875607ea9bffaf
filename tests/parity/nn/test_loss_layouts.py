"""The gradients of losses lie in memory as torch's do, whatever the order of the input and the target."""

import itertools

import numpy as np
import pytest
import torch

import mindtorch

LOSSES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "kl_div", "poisson_nll_loss")
NUMBERS = np.random.RandomState(0).uniform(0.1, 0.9, (2, 3, 4, 5))
ORDERS = {
    "contiguous": lambda T, x: x.clone(),
    "channels last": lambda T, x: x.contiguous(memory_format=T.channels_last),
    "permuted": lambda T, x: x.permute(3, 1, 0, 2).contiguous().permute(2, 1, 3, 0),
    "with gaps": lambda T, x: T.stack([x, x], -1)[..., 0],
}


def gradients(T, name, orders, reduction):
    """The strides and the numbers of the gradients."""
    x, y = (ORDERS[order](T, T.tensor(NUMBERS)) for order in orders)
    loss = getattr(T.nn.functional, name)(x.requires_grad_(), y, reduction=reduction)
    (grad,) = T.autograd.grad(loss.sum(), [x])
    return grad.stride(), grad.numpy()


@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize("name", LOSSES)
def test_gradients_of_losses(name):
    for orders in itertools.product(ORDERS, repeat=2):
        for reduction in ("mean", "sum", "none"):
            own, peer = (gradients(T, name, orders, reduction) for T in (mindtorch, torch))
            assert own[0] == peer[0], (orders, reduction)
            np.testing.assert_allclose(own[1], peer[1], rtol=1e-12)
