"""Transforms that are made of other ones."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import reduce
from operator import mul
from typing import Any

from mindtorch._core.size import Size
from mindtorch.dispatch import ops
from mindtorch.distributions import constraints
from mindtorch.distributions.transform import Transform
from mindtorch.distributions.utils import sum_rightmost


def with_event_dim(constraint: Any, dims: int) -> Any:
    more = dims - constraint.event_dim
    return constraints.independent(constraint, more) if more > 0 else constraint


class ComposeTransform(Transform):
    """Transforms one after the other."""

    def __init__(self, parts: list[Any], cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = object.__hash__

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        if not self.parts:
            return constraints.real
        dims = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            dims = max(dims + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        return with_event_dim(self.parts[0].domain, dims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        if not self.parts:
            return constraints.real
        dims = self.parts[0].domain.event_dim
        for part in self.parts:
            dims = max(dims + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        return with_event_dim(self.parts[-1].codomain, dims)

    @property
    def bijective(self) -> bool:
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Any:
        return reduce(mul, [part.sign for part in self.parts], 1)

    @property
    def inv(self) -> Any:
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv = weakref.ref(inverse)
            inverse._inv = weakref.ref(self)
        return inverse

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size=cache_size)

    def __call__(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if not self.parts:
            return ops.zeros_like(x)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        values.append(y)
        terms, dims = [], self.domain.event_dim
        for part, before, after in zip(self.parts, values[:-1], values[1:]):
            terms.append(sum_rightmost(part.log_abs_det_jacobian(before, after), dims - part.domain.event_dim))
            dims += part.codomain.event_dim - part.domain.event_dim
        return sum(terms[1:], terms[0])

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


class IndependentTransform(Transform):
    """A transform whose volume change is summed over some dimensions of a batch."""

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size=cache_size)

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Any) -> Any:
        if x.dim() < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        if y.dim() < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)


class ReshapeTransform(Transform):
    """Another shape for the last dimensions."""

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape = Size(in_shape)
        self.out_shape = Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.independent(constraints.real, len(self.out_shape))

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return ReshapeTransform(self.in_shape, self.out_shape, cache_size=cache_size)

    def _call(self, x: Any) -> Any:
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Any) -> Any:
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x.new_zeros(x.size()[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Any:
        return _with_new_end(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return _with_new_end(shape, self.out_shape, self.in_shape)


def _with_new_end(shape: Any, old: Size, new: Size) -> Size:
    if len(shape) < len(old):
        raise ValueError("Too few dimensions on input")
    cut = len(shape) - len(old)
    if shape[cut:] != old:
        raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {old}")
    return Size(shape[:cut]) + new


identity_transform = ComposeTransform([])


# -------------------- several along a dimension --------------------


class CatTransform(Transform):
    """A transform for each stretch along a dimension."""

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        if not all(isinstance(each, Transform) for each in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms = [each.with_cache(cache_size) for each in tseq] if cache_size else list(tseq)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        self.dim = dim

    @property
    def event_dim(self) -> int:
        return max(each.event_dim for each in self.transforms)

    @property
    def length(self) -> int:
        return sum(self.lengths)

    @property
    def bijective(self) -> bool:
        return all(each.bijective for each in self.transforms)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.cat([each.domain for each in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.cat([each.codomain for each in self.transforms], self.dim, self.lengths)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _parts(self, value: Any) -> Any:
        return value.split(self.lengths, self.dim)

    def _call(self, x: Any) -> Any:
        return ops.cat([each(part) for each, part in zip(self.transforms, self._parts(x))], self.dim)

    def _inverse(self, y: Any) -> Any:
        return ops.cat([each.inv(part) for each, part in zip(self.transforms, self._parts(y))], self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        terms = []
        for each, before, after in zip(self.transforms, self._parts(x), self._parts(y)):
            term = each.log_abs_det_jacobian(before, after)
            terms.append(sum_rightmost(term, self.event_dim - each.event_dim))
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim += self.event_dim
        return ops.cat(terms, dim=dim) if dim < 0 else sum(terms[1:], terms[0])


class StackTransform(Transform):
    """A transform for each place along a dimension."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        if not all(isinstance(each, Transform) for each in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms = [each.with_cache(cache_size) for each in tseq] if cache_size else list(tseq)
        self.dim = dim

    @property
    def bijective(self) -> bool:
        return all(each.bijective for each in self.transforms)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.stack([each.domain for each in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.stack([each.codomain for each in self.transforms], self.dim)

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _call(self, x: Any) -> Any:
        return ops.stack([each(part) for each, part in zip(self.transforms, x.unbind(self.dim))], self.dim)

    def _inverse(self, y: Any) -> Any:
        return ops.stack([each.inv(part) for each, part in zip(self.transforms, y.unbind(self.dim))], self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        pairs = zip(self.transforms, x.unbind(self.dim), y.unbind(self.dim))
        return ops.stack([each.log_abs_det_jacobian(before, after) for each, before, after in pairs], self.dim)
