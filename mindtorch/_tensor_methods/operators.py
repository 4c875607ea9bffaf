"""Operators that are written in other ops, `x[...]`, printing, and the transposing attributes."""

from typing import Any

import numpy as np

from mindtorch._core.tensor import Tensor, as_operand, extend_tensor, extend_tensor_later
from mindtorch._functions import printing
from mindtorch._functions.indexing import getitem, setitem
from mindtorch.composite.helpers import element_beside
from mindtorch.dispatch import ops
from mindtorch.dispatch.arguments.conversions import checked_tensor
from mindtorch.dispatch.modes.captures import itself


@extend_tensor
class IndexingMethods:
    """`x[index]` and `repr(x)`."""

    def __getitem__(self: Any, index: Any) -> Tensor:
        return getitem(self, index)

    def __setitem__(self: Any, index: Any, value: Any) -> None:
        setitem(self, index, value)

    def __repr__(self: Any, *, tensor_contents: str | None = None) -> str:
        return printing.tensor_str(self, tensor_contents)


def _is_number_or_array(value: Any) -> bool:
    return as_operand(value) is not None or isinstance(value, np.ndarray)


extend_tensor_later("mindtorch._tensor_methods.equality", ["__eq__"])


@extend_tensor
class ReflectedMethods:
    """Operators with a number on the left, and those that have no op of their own."""

    def __rtruediv__(self: Any, other: Any) -> Tensor:
        return self.reciprocal() * other if _is_number_or_array(other) else NotImplemented

    __rdiv__ = __rtruediv__

    def __rfloordiv__(self: Any, other: Any) -> Tensor:
        if as_operand(other) is None:
            return NotImplemented
        return ops.floor_divide(element_beside(other, self), self)

    def __rpow__(self: Any, other: Any) -> Tensor:
        return ops.pow(other, self) if as_operand(other) is not None else NotImplemented

    def __rmod__(self: Any, other: Any) -> Tensor:
        return ops.remainder(other, self) if as_operand(other) is not None else NotImplemented

    def __rlshift__(self: Any, other: Any) -> Tensor:
        return ops.bitwise_left_shift(other, self) if as_operand(other) is not None else NotImplemented

    def __rrshift__(self: Any, other: Any) -> Tensor:
        return ops.bitwise_right_shift(other, self) if as_operand(other) is not None else NotImplemented

    def __rmatmul__(self: Any, other: Any) -> Tensor:
        return ops.matmul(other, self) if isinstance(other, Tensor) else NotImplemented

    def __invert__(self: Any) -> Tensor:
        if self._mt_array.dtype.kind not in "biu":
            raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
        return ops.bitwise_not(self)

    def __pos__(self: Any) -> Tensor:
        if self._mt_array.dtype == bool:
            raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
        return itself(self)


@extend_tensor
class TransposedAndConjugated:
    """`.T`, `.mT`, `.H`, `.mH`, `.real`, `.imag`, `conj`."""

    @property
    def T(self) -> Tensor:
        return ops.numpy_T(self)

    @property
    def mT(self: Any) -> Tensor:
        if self.ndim == 0:
            return itself(self)
        if self.ndim == 1:
            raise RuntimeError(
                f"tensor.mT is only supported on matrices or batches of matrices. Got {self.ndim}-D tensor."
            )
        return self.transpose(-2, -1)

    @property
    def H(self: Any) -> Tensor:
        if self.ndim not in (0, 2):
            hint = " For batches of matrices, consider using tensor.mH" if self.ndim > 2 else ""
            raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor.{hint}")
        return itself(self).conj() if self.ndim == 0 else self.transpose(0, 1).conj()

    @property
    def mH(self: Any) -> Tensor:
        if self.ndim == 0:
            return itself(self).conj()
        if self.ndim == 1:
            raise RuntimeError(
                f"tensor.mH is only supported on matrices or batches of matrices. Got {self.ndim}-D tensor."
            )
        return self.transpose(-2, -1).conj()

    @property
    def real(self: Any) -> Tensor:
        return ops.real(self) if self.is_complex() else itself(self)

    @real.setter
    def real(self: Any, value: Any) -> None:
        self.real.copy_(value)

    @property
    def imag(self: Any) -> Tensor:
        if not self.is_complex():
            raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
        return ops.imag(self)

    @imag.setter
    def imag(self: Any, value: Any) -> None:
        self.imag.copy_(value)

    def conj(self: Any) -> Tensor:
        """The complex conjugate; the tensor itself if it is real. There is no lazy conjugation here."""
        return ops.conj_physical(self) if self.is_complex() else self

    def resolve_conj(self: Any) -> Tensor:
        return itself(self)

    def resolve_neg(self: Any) -> Tensor:
        return itself(self)

    def is_conj(self) -> bool:
        return False

    def is_neg(self) -> bool:
        return False


def conj(input: Tensor) -> Tensor:
    """The complex conjugate; the tensor itself if it is real."""
    return checked_tensor(input, "conj").conj()


def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself, for there is no lazy conjugation here."""
    return checked_tensor(input, "resolve_conj").resolve_conj()


def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself, for there is no lazy negation here."""
    return checked_tensor(input, "resolve_neg").resolve_neg()
