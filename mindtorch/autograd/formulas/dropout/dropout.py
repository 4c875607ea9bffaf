"""Formulas of dropout."""


def dropout_backward(grad, mask, p, train):
    """Gradient of dropout: the same elements dropped, the same scale."""
    if train is False:
        return grad * mask
    return grad * mask * (0.0 if p == 1 else 1.0 / (1.0 - p))
