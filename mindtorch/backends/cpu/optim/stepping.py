"""Steps of optimizers as one kernel: for devices, which have one. The optimizers themselves step by ops on the CPU."""

import numpy as np

from mindtorch._support.float_errors import quiet
from mindtorch.backends.cpu.common.precision import widen


def adamw_step(input, exp_avg, exp_avg_sq, max_exp_avg_sq, gradient, step, lr, beta1, beta2, weight_decay, eps):
    """Changes a parameter and what is kept of its gradients; `step` counts from one."""
    grad, count = widen(gradient), float(step)
    mean = beta1 * widen(exp_avg) + (1 - beta1) * grad
    square = beta2 * widen(exp_avg_sq) + (1 - beta2) * grad * grad
    exp_avg[...], exp_avg_sq[...] = mean, square
    if max_exp_avg_sq is not None:
        square = np.maximum(widen(max_exp_avg_sq), square)
        max_exp_avg_sq[...] = square
    input[...] = quiet(_stepped, widen(input), mean, square, count, lr, (beta1, beta2), weight_decay, eps)
    return input


def _stepped(
    x: np.ndarray,
    mean: np.ndarray,
    square: np.ndarray,
    count: float,
    lr: float,
    betas: tuple[float, float],
    decay: float,
    eps: float,
) -> np.ndarray:
    first, second = [1 - beta**count for beta in betas]
    return x * (1 - lr * decay) - lr / first * mean / (np.sqrt(square / second) + eps)
