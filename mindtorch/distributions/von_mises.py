"""The von Mises distribution."""

from __future__ import annotations

import math
from typing import Any

from mindtorch._core.dtype import bool as boolean
from mindtorch._core.dtype import float64
from mindtorch._core.tensor import Tensor
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.distribution import Distribution
from mindtorch.distributions.utils import broadcast_all

# By order: the coefficients of Abramowitz and Stegun, 9.8.1 to 9.8.4, for small and for large arguments.
_SMALL = (
    (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813),
    (0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411),
)
_LARGE = (
    (0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537, -0.01647633, 0.00392377),
    (0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555, 0.02282967, -0.02895312, 0.01787654, -0.00420059),
)
_LARGE_FROM = 3.75


def _polynomial(x: Tensor, coefficients: tuple[float, ...]) -> Tensor:
    *lower, highest = coefficients
    result: Any = highest
    for coefficient in reversed(lower):
        result = coefficient + x * result
    return result


def _log_bessel(x: Tensor, order: int) -> Tensor:
    """The logarithm of the modified Bessel function of the first kind, of order 0 or 1."""
    small = _polynomial((x / _LARGE_FROM).pow(2), _SMALL[order])
    if order == 1:
        small = x.abs() * small
    large = x - 0.5 * x.log() + _polynomial(_LARGE_FROM / x, _LARGE[order]).log()
    return ops.where(x < _LARGE_FROM, small.log(), large)


class VonMises(Distribution):
    """An angle that is distributed around `loc`, the more closely the larger the concentration is."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        """One minus the mean length of a direction's projection on the mean direction."""
        return 1 - (_log_bessel(self.concentration, 1) - _log_bessel(self.concentration, 0)).exp()

    def _log_prob(self, value: Any) -> Tensor:
        aligned = self.concentration * ops.cos(value - self.loc)
        return aligned - math.log(2 * math.pi) - _log_bessel(self.concentration, 0)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """By rejection, in float64, with the wrapped Cauchy distribution as the proposal (Best and Fisher, 1979)."""
        with no_grad():
            loc, concentration = self.loc.to(float64), self.concentration.to(float64)
            away = _rejection_sample(concentration, self._extended_shape(sample_shape))
            return ((away + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)


def _proposal(concentration: Tensor) -> Tensor:
    """The parameter of the proposals; by its series for concentrations near 0."""
    tau = 1 + (1 + 4 * concentration**2).sqrt()
    rho = (tau - (2 * tau).sqrt()) / (2 * concentration)
    return ops.where(concentration < 1e-5, 1 / concentration + concentration, (1 + rho**2) / (2 * rho))


def _rejection_sample(concentration: Tensor, shape: Any) -> Tensor:
    """Angles around 0. Every round proposes one for each element, accepted before or not, as torch does."""
    proposal = _proposal(concentration)
    angles = ops.empty(shape, dtype=float64, device=concentration.device)
    done = ops.zeros(shape, dtype=boolean, device=concentration.device)
    while not done.all():
        u1, u2, u3 = ops.rand((3, *shape), dtype=float64, device=concentration.device).unbind()
        z = ops.cos(math.pi * u1)
        f = (1 + proposal * z) / (proposal + z)
        c = concentration * (proposal - f)
        accepted = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
        angles = ops.where(accepted, (u3 - 0.5).sign() * f.acos(), angles)
        done = done | accepted
    return angles
