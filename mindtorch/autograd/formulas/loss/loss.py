"""Formulas of losses."""

from mindtorch.autograd.formulas.common import divided
from mindtorch.dispatch import ops

REDUCTION_NONE, REDUCTION_MEAN, REDUCTION_SUM = 0, 1, 2


def reduce_loss(loss, reduction):
    """Apply a loss's reduction (0 none, 1 mean, 2 sum)."""
    if reduction == REDUCTION_MEAN:
        return loss.mean()
    return loss.sum() if reduction == REDUCTION_SUM else loss


def loss_scale(value, reduction):
    """Divide by the number of elements if the loss is a mean."""
    return divided(value, value.numel()) if reduction == REDUCTION_MEAN else value


def nll_share_jvp(grad_output, grad_output_t, total_weight, total_weight_t, reduction):
    """Tangent of what each target's gradient has a part of; a mean divides it by the total weight afterwards."""
    if reduction != REDUCTION_MEAN:
        return grad_output_t
    return grad_output_t - grad_output * (total_weight_t / total_weight)


def smooth_l1_slope(difference, beta):
    """Derivative of the smooth L1 loss in the difference."""
    if beta == 0:
        return difference.sign()
    return (difference / beta).clamp(-1, 1)


def smooth_l1_curvature(difference, beta):
    """Second derivative of the smooth L1 loss in the difference."""
    if beta == 0:
        return ops.zeros_like(difference)
    return (difference.abs() < beta).to(difference.dtype) / beta


BCE_EPSILON = 1e-12


def weighted(value, weight):
    return value if weight is None else value * weight


def bce_target_backward(grad, self, weight, reduction):
    """Gradient of binary cross entropy with respect to its target: log(1 - x) - log(x), and no log is cut off."""
    return loss_scale(weighted(grad * -ops.logit(self, None), weight), reduction)


def _bce_slope(self, target):
    return (self - target) / (self * (1 - self)).clamp(min=BCE_EPSILON)


def bce_jvp(self, self_t, target, target_t, weight, reduction):
    """Tangent of binary cross entropy."""
    tangent = _bce_slope(self, target) * self_t - ops.logit(self, None) * target_t
    return reduce_loss(weighted(tangent, weight), reduction)


def bce_double_backward_grad_output(grad, self, target, weight, reduction):
    """Gradient of binary_cross_entropy_backward with respect to grad_output."""
    return loss_scale(weighted(grad * _bce_slope(self, target), weight), reduction)


def bce_double_backward_self(grad, grad_output, self, target, weight, reduction):
    """Gradient of binary_cross_entropy_backward with respect to the input."""
    spread = (self * (1 - self)).clamp(min=BCE_EPSILON)
    curvature = (self * self - 2 * self * target + target) / (spread * spread)
    return loss_scale(weighted(grad * grad_output * curvature, weight), reduction)


def bce_double_backward_target(grad, grad_output, self, weight, reduction):
    """Gradient of binary_cross_entropy_backward with respect to the target."""
    spread = (self * (1 - self)).clamp(min=BCE_EPSILON)
    return loss_scale(weighted(-grad * grad_output / spread, weight), reduction)


def logits_slope(self, target, pos_weight):
    """Derivative of binary cross entropy with logits in the logits."""
    if pos_weight is None:
        return self.sigmoid() - target
    positive = pos_weight * target
    return (positive + 1 - target) * self.sigmoid() - positive


def logits_target_slope(self, pos_weight):
    """Derivative of binary cross entropy with logits in the target; softplus(-x) is -log(sigmoid(x))."""
    return -self if pos_weight is None else ops.log_sigmoid(-self) - pos_weight * ops.log_sigmoid(self)


def logits_jvp(self, self_t, target, target_t, weight, weight_t, pos_weight, pos_weight_t):
    """Tangent of binary cross entropy with logits, before it is reduced."""
    slope = logits_slope(self, target, pos_weight) * self_t + logits_target_slope(self, pos_weight) * target_t
    if pos_weight_t is not None:
        slope = slope + ops.softplus(-self, 1, 40) * target * pos_weight_t
    tangent = weighted(slope, weight)
    if weight_t is None:
        return tangent
    return tangent + ops.binary_cross_entropy_with_logits(self, target, None, pos_weight, REDUCTION_NONE) * weight_t
