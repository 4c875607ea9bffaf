"""Formulas of bounds and of the larger of two numbers."""

from mindtorch._core.dtype import bool as boolean
from mindtorch.dispatch import ops


def clamp_backward(grad, self, min, max):
    """Gradient of clamp with respect to its input: passes inside the bounds, the bounds included."""
    if min is None and max is None:
        return grad
    inside = self >= min if min is not None else self <= max
    if min is not None and max is not None:
        inside = inside & (self <= max)
    return ops.where(inside, grad, 0.0)


def clamp_bounds_backward(grad, self, min, max, needs_min, needs_max):
    """Gradients of clamp with respect to its bounds; where min > max the result is max."""
    min_grad = max_grad = None
    if needs_min:
        active = self < min if max is None else (min < max) & (self < min)
        min_grad = ops.where(active, grad, 0.0)
    if needs_max:
        active = self > max if min is None else (self > max) | (max < min)
        max_grad = ops.where(active, grad, 0.0)
    return min_grad, max_grad


def clamp_jvp(self, self_t, min, min_t, max, max_t):
    """Tangent of clamp with tensor bounds."""
    result = self_t
    if min is not None:
        result = ops.where(self >= min, result, min_t)
        self = ops.maximum(self, min)
    if max is not None:
        result = ops.where(self <= max, result, max_t)
    return result


def extremum_backward(grad, self, other, passed_over):
    """Gradient of maximum/minimum for one side: nothing where it was `passed_over`, half of it where both are equal.

    With a nan on either side all of it goes to both.
    """
    return ops.where(self == other, grad / 2, grad).masked_fill_(passed_over, 0)


def extremum_jvp(self, self_t, other, other_t, chosen):
    """Tangent of maximum/minimum; ties take the mean. As in torch, an infinite one makes it nan, chosen or not."""
    share = ops.where(self == other, 0.5, chosen.to(self_t.dtype))
    return other_t + share * _difference(self_t, other_t)


def larger_of_numbers_jvp(self_t, other_t, chosen):
    """Tangent of fmax/fmin, in the same way."""
    return other_t + chosen * _difference(self_t, other_t)


def _difference(self_t, other_t):
    """One of them may be the zeros of a tensor of booleans."""
    if self_t.dtype is boolean:
        return self_t.to(other_t.dtype) - other_t
    return self_t - (other_t.to(self_t.dtype) if other_t.dtype is boolean else other_t)
