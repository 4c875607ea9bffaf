"""`Distribution`: the base of all distributions.

A subclass computes with values that were checked: it defines `_log_prob` and `_cdf`, which `log_prob` and `cdf` call
after the check, and `rsample` or `sample`. `expand` follows from `arg_constraints`, which name the parameters.
"""

from __future__ import annotations

from typing import Any

from mindtorch._core.size import Size
from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.utils import lazy_property


class Distribution:
    """Random numbers of a certain kind. A batch of distributions is one object, with parameters in a tensor."""

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions check their parameters and values by default."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None) -> None:
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        try:
            named = self.arg_constraints
        except NotImplementedError:
            named = {}
            warn(
                f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize "
                "the distribution with `validate_args=False` to turn off validation.",
            )
        for name, constraint in named.items():
            if not constraints.is_dependent(constraint) and not self._is_pending(name):
                self._check_parameter(name, constraint)

    def _is_pending(self, name: str) -> bool:
        """Whether a parameter would have to be computed from another one first."""
        return name not in self.__dict__ and isinstance(getattr(type(self), name, None), lazy_property)

    def _check_parameter(self, name: str, constraint: constraints.Constraint) -> None:
        value = getattr(self, name)
        if not constraint.check(value).all():
            raise ValueError(
                f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
            )

    # -------------------- shapes --------------------

    @property
    def batch_shape(self) -> Size:
        """The shape over which the parameters vary."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one sample of one distribution."""
        return self._event_shape

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distributions, repeated to fill a larger batch."""
        new = self._get_checked_instance(type(self), _instance)
        batch_shape = Size(batch_shape)
        fields = {name: self._expanded(value, batch_shape) for name, value in self.__dict__.items()}
        for name, constraint in self.arg_constraints.items():
            if name in self.__dict__:
                event = self.__dict__[name].shape[self.__dict__[name].dim() - constraint.event_dim :]
                fields[name] = self.__dict__[name].expand(batch_shape + event)
        new.__dict__.update(fields | new.__dict__)
        new._batch_shape = batch_shape
        return new

    def _expanded(self, value: Any, batch_shape: Size) -> Any:
        """What `expand` makes of an attribute that is no parameter."""
        return value.expand(batch_shape) if isinstance(value, Distribution) else value

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also "
                "define a custom .expand() method."
            )
        return type(self).__new__(type(self)) if _instance is None else _instance

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        return Size(sample_shape) + self._batch_shape + self._event_shape

    # -------------------- what a subclass says --------------------

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """What each parameter must be."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """Where samples can be."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    # -------------------- samples --------------------

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Random numbers, without gradients."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Random numbers through which gradients reach the parameters."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """The old name of `sample((n,))`."""
        warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", category=FutureWarning)
        return self.sample((n,))

    # -------------------- probabilities --------------------

    def log_prob(self, value: Any) -> Tensor:
        """The logarithm of the density, or of the probability, at a value."""
        if self._validate_args:
            self._validate_sample(value)
        return self._log_prob(value)

    def _log_prob(self, value: Any) -> Tensor:
        raise NotImplementedError

    def cdf(self, value: Any) -> Tensor:
        """The probability of a number that is at most a value."""
        if type(self)._cdf is Distribution._cdf:
            raise NotImplementedError
        if self._validate_args:
            self._validate_sample(value)
        return self._cdf(value)

    def _cdf(self, value: Any) -> Tensor:
        raise NotImplementedError

    def icdf(self, value: Any) -> Tensor:
        """The inverse of `cdf`."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values that samples can have, along the first dimension."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        return ops.exp(self.entropy())

    def _validate_sample(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        self._check_shape(value.size())
        try:
            support = self.support
        except NotImplementedError:
            warn(
                f"{type(self)} does not define `support` to enable sample validation. Please initialize the "
                "distribution with `validate_args=False` to turn off validation.",
            )
            return
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the "
                f"support ({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def _check_shape(self, actual: Size) -> None:
        if actual[len(actual) - len(self._event_shape) :] != self._event_shape:
            raise ValueError(f"The right-most size of value must match event_shape: {actual} vs {self._event_shape}.")
        expected = self._batch_shape + self._event_shape
        if any(1 not in pair and pair[0] != pair[1] for pair in zip(reversed(actual), reversed(expected))):
            raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {actual} vs {expected}.")

    def __repr__(self) -> str:
        given = [(name, self.__dict__[name]) for name in self.arg_constraints if name in self.__dict__]
        texts = [f"{name}: {value if value.numel() == 1 else value.size()}" for name, value in given]
        return f"{type(self).__name__}({', '.join(texts)})"
