"""Distributions of what transforms make of the samples of another one."""

from __future__ import annotations

from typing import Any

from mindtorch._core.size import Size
from mindtorch._core.tensor import Tensor
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.distributions import constraints
from mindtorch.distributions.distribution import Distribution
from mindtorch.distributions.independent import Independent
from mindtorch.distributions.transforms import ComposeTransform, Transform
from mindtorch.distributions.utils import sum_rightmost


class TransformedDistribution(Distribution):
    """The samples of a base distribution, after one transform or several."""

    arg_constraints: Any = {}

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None) -> None:
        self.transforms = _checked(transforms)
        transform = ComposeTransform(self.transforms)
        base_shape = base_distribution.batch_shape + base_distribution.event_shape
        base_dims = len(base_distribution.event_shape)
        if len(base_shape) < transform.domain.event_dim:
            raise ValueError(
                "base_distribution needs to have shape with size at least "
                f"{transform.domain.event_dim}, but got {base_shape}."
            )
        shape = transform.forward_shape(base_shape)
        needed = transform.inverse_shape(shape)
        if base_shape != needed:
            base_distribution = base_distribution.expand(needed[: len(needed) - base_dims])
        if transform.domain.event_dim > base_dims:
            base_distribution = Independent(base_distribution, transform.domain.event_dim - base_dims)
        self.base_dist = base_distribution
        grown = transform.codomain.event_dim - transform.domain.event_dim
        cut = len(shape) - max(transform.codomain.event_dim, base_dims + grown)
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def _expanded(self, value: Any, batch_shape: Size) -> Any:
        if value is not self.base_dist:
            return value
        shape = batch_shape + self.event_shape
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        return value.expand(shape[: len(shape) - len(value.event_shape)])

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> constraints.Constraint:
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        more = len(self.event_shape) - support.event_dim
        return constraints.independent(support, more) if more > 0 else support

    @property
    def has_rsample(self) -> bool:
        return self.base_dist.has_rsample

    def _transformed(self, value: Any) -> Any:
        for transform in self.transforms:
            value = transform(value)
        return value

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self._transformed(self.base_dist.rsample(sample_shape))

    def _log_prob(self, value: Any) -> Any:
        dims, result = len(self.event_shape), 0.0
        for transform in reversed(self.transforms):
            before = transform.inv(value)
            dims += transform.domain.event_dim - transform.codomain.event_dim
            change = transform.log_abs_det_jacobian(before, value)
            result = result - sum_rightmost(change, dims - transform.domain.event_dim)
            value = before
        return result + sum_rightmost(self.base_dist.log_prob(value), dims - len(self.base_dist.event_shape))

    def _turned(self, value: Any) -> Any:
        """Probabilities from the other end, if the transforms fall."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value: Any) -> Tensor:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._turned(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Tensor:
        return self._transformed(self.base_dist.icdf(self._turned(value)))


def _checked(transforms: Any) -> list[Transform]:
    if isinstance(transforms, Transform):
        return [transforms]
    if not isinstance(transforms, list):
        raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
    if not all(isinstance(each, Transform) for each in transforms):
        raise ValueError("transforms must be a Transform or a list of Transforms")
    return transforms
