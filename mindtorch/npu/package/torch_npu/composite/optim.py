"""A step of an optimizer in one op."""

from mindtorch.autograd.grad_mode import no_grad


def npu_apply_adam_w(
    beta1_power, beta2_power, lr, weight_decay, beta1, beta2, epsilon, grad, max_grad_norm, amsgrad, maximize
):
    """Refused: the step is taken in place, on the parameter and its two averages."""
    raise RuntimeError("npu_apply_adam_w: out=(var, m, v) is needed")


def npu_apply_adam_w_out(
    beta1_power, beta2_power, lr, weight_decay, beta1, beta2, epsilon, grad, max_grad_norm, amsgrad, maximize, *, out
):
    """A step of AdamW, in place. `beta1_power` and `beta2_power` are those of the step before."""
    if amsgrad or max_grad_norm is not None:
        raise NotImplementedError("npu_apply_adam_w: amsgrad is not supported")
    var, m, v = out
    with no_grad():
        grad = -grad if maximize else grad
        var.mul_(1 - lr * weight_decay)
        m.lerp_(grad.to(m.dtype), 1 - beta1)
        v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        denominator = (v / (1 - beta2_power * beta2)).sqrt_().add_(epsilon)
        var.addcdiv_(m, denominator, value=-lr / (1 - beta1_power * beta1))
    return var, m, v
