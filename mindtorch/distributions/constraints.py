"""Constraints: which values a parameter or a sample may have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch._core.dtype import bool as boolean_dtype
from mindtorch._core.dtype import finfo
from mindtorch._core.tensor import Tensor
from mindtorch._functions.comparison import isclose
from mindtorch.dispatch import ops
from mindtorch.linalg import cholesky_ex, eigvalsh
from mindtorch.linalg import norm as linalg_norm

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property",
    "greater_than", "greater_than_eq", "half_open_interval", "independent", "integer_interval", "interval",
    "is_dependent", "less_than", "lower_cholesky", "lower_triangular", "multinomial", "nonnegative",
    "nonnegative_integer", "one_hot", "positive", "positive_definite", "positive_integer", "positive_semidefinite",
    "real", "real_vector", "simplex", "square", "stack", "symmetric", "unit_interval",
]  # fmt: skip


class Constraint:
    """A region of values. An event of `event_dim` dimensions is in it or not, as a whole."""

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Any) -> Tensor:
        """For each event whether it is in the region."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}()"


# -------------------- constraints that depend on something --------------------


class _Dependent(Constraint):
    """The region depends on other values, such as the parameters of a distribution."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    @property
    def is_discrete(self) -> bool:
        return self._known("is_discrete")

    @property
    def event_dim(self) -> int:
        return self._known("event_dim")

    def _known(self, name: str) -> Any:
        value = getattr(self, f"_{name}")
        if value is NotImplemented:
            raise NotImplementedError(f".{name} cannot be determined statically")
        return value

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Any) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """Whether the region can only be known together with other values."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property of a distribution that gives a constraint; on the class it is a dependent constraint."""

    def __init__(
        self, fn: Callable | None = None, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
    ) -> None:
        super().__init__(fn)
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def __call__(self, fn: Callable) -> _DependentProperty:  # type: ignore[override]
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


# -------------------- of numbers --------------------


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Any) -> Tensor:
        return (value == 0) | (value == 1)


class _Real(Constraint):
    def check(self, value: Any) -> Tensor:
        return value == value  # false for NaN


class _Bounded(Constraint):
    """Numbers between bounds, of which there may be one or two."""

    def __repr__(self) -> str:
        bounds = [f"{name}={getattr(self, name)}" for name in ("lower_bound", "upper_bound") if hasattr(self, name)]
        return f"{type(self).__name__[1:]}({', '.join(bounds)})"


class _GreaterThan(_Bounded):
    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Any) -> Tensor:
        return self.lower_bound < value


class _GreaterThanEq(_GreaterThan):
    def check(self, value: Any) -> Tensor:
        return self.lower_bound <= value


class _IntegerGreaterThan(_GreaterThan):
    is_discrete = True

    def check(self, value: Any) -> Tensor:
        return (value % 1 == 0) & (value >= self.lower_bound)


class _LessThan(_Bounded):
    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Tensor:
        return value < self.upper_bound


class _Interval(_Bounded):
    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Tensor:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Interval):
    def check(self, value: Any) -> Tensor:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _IntegerInterval(_Interval):
    is_discrete = True

    def check(self, value: Any) -> Tensor:
        return (value % 1 == 0) & super().check(value)


# -------------------- of vectors --------------------


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Any) -> Tensor:
        return boolean.check(value).all(-1) & value.sum(-1).eq(1)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Any) -> Tensor:
        return (value >= 0).all(dim=-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(_LessThan):
    is_discrete = True
    event_dim = 1

    def check(self, value: Any) -> Tensor:
        return (value >= 0).all(dim=-1) & (value.sum(dim=-1) <= self.upper_bound)

    __repr__ = Constraint.__repr__


# -------------------- of matrices --------------------


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Tensor:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    def check(self, value: Any) -> Tensor:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    def check(self, value: Any) -> Tensor:
        tolerance = finfo(value.dtype).eps * value.size(-1) * 10
        lengths = linalg_norm(value.detach(), dim=-1)
        return super().check(value) & (lengths - 1.0).abs().le(tolerance).all(dim=-1)


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Tensor:
        is_square = value.shape[-2] == value.shape[-1]
        return ops.full(value.shape[:-2], is_square, dtype=boolean_dtype, device=value.device)


class _Symmetric(_Square):
    def check(self, value: Any) -> Tensor:
        square_ones = super().check(value)
        if not square_ones.all():
            return square_ones
        return isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Any) -> Tensor:
        symmetric_ones = super().check(value)
        return eigvalsh(value).ge(0).all(-1) if symmetric_ones.all() else symmetric_ones


class _PositiveDefinite(_Symmetric):
    def check(self, value: Any) -> Tensor:
        symmetric_ones = super().check(value)
        return cholesky_ex(value).info.eq(0) if symmetric_ones.all() else symmetric_ones


# -------------------- of other constraints --------------------


class _Wrapper(Constraint):
    """A constraint made from another one."""

    def __init__(self, base_constraint: Constraint) -> None:
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(f"base_constraint must be a Constraint, got {type(base_constraint).__name__}")
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> bool:
        return self.base_constraint.is_discrete


class _IndependentConstraint(_Wrapper):
    """Dimensions of a batch that belong to the event: all of them must be in the region."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        super().__init__(base_constraint)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def event_dim(self) -> int:
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Tensor:
        result = self.base_constraint.check(value)
        kept = result.dim() - self.reinterpreted_batch_ndims
        if kept < 0:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return result.reshape((*result.shape[:kept], -1)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(_Wrapper):
    """The region that all components of a mixture have in common."""

    @property
    def event_dim(self) -> int:
        return self.base_constraint.event_dim

    def check(self, value: Any) -> Tensor:
        kept = value.dim() - self.event_dim
        if kept < 0:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        result = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        return result.reshape((*result.shape[:kept], -1)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


class _Stack(Constraint):
    """A constraint for each place along a dimension."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        if not all(isinstance(each, Constraint) for each in cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.cseq = list(cseq)
        self.dim = dim

    @property
    def is_discrete(self) -> bool:
        return any(each.is_discrete for each in self.cseq)

    @property
    def event_dim(self) -> int:
        dims = max(each.event_dim for each in self.cseq)
        return dims + 1 if self.dim + dims < 0 else dims

    def check(self, value: Any) -> Tensor:
        self._check_dim(value)
        return ops.stack([each.check(part) for each, part in zip(self.cseq, value.unbind(self.dim))], self.dim)

    def _check_dim(self, value: Any) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for value with {value.dim()} dimensions")


class _Cat(_Stack):
    """A constraint for each stretch along a dimension."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})")

    @property
    def event_dim(self) -> int:
        return max(each.event_dim for each in self.cseq)

    def check(self, value: Any) -> Tensor:
        self._check_dim(value)
        parts = value.split(self.lengths, self.dim)
        return ops.cat([each.check(part) for each, part in zip(self.cseq, parts)], self.dim)


# -------------------- the public names --------------------

dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
