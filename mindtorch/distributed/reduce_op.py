"""`ReduceOp`: how the tensors of several processes become one."""

from __future__ import annotations

from enum import Enum
from typing import Any, TypeAlias

from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.dtype import float32
from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn


class RedOpType(Enum):
    """The reductions by name."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8

    def __init__(self, number: int) -> None:
        self.number = number  # as `value`, which is slow

    def __str__(self) -> str:
        return f"RedOpType.{self.name}"


class ReduceOp:
    """A reduction, with the factor of `PREMUL_SUM`.

    Collectives take `ReduceOp.SUM` and its kin, or an object of this class.
    """

    RedOpType: TypeAlias = RedOpType
    SUM = RedOpType.SUM
    AVG = RedOpType.AVG
    PRODUCT = RedOpType.PRODUCT
    MIN = RedOpType.MIN
    MAX = RedOpType.MAX
    BAND = RedOpType.BAND
    BOR = RedOpType.BOR
    BXOR = RedOpType.BXOR
    PREMUL_SUM = RedOpType.PREMUL_SUM

    def __init__(self, op: RedOpType, factor: Any = None) -> None:
        if not isinstance(op, RedOpType):
            raise TypeError(f"ReduceOp() takes a member of ReduceOp.RedOpType, not {type(op).__name__}")
        self.op = op
        self.factor = factor

    def __eq__(self, other: object) -> bool:
        if isinstance(other, RedOpType):
            return self.op is other
        return isinstance(other, ReduceOp) and self.op is other.op and self.factor is other.factor

    def __hash__(self) -> int:
        return hash(self.op)

    def __repr__(self) -> str:
        return f"<ReduceOp {self.op}>"


def premultiplied_sum(factor: Any) -> ReduceOp:
    """A sum of tensors that are multiplied by a number, or by a tensor with one element, first."""
    return ReduceOp(RedOpType.PREMUL_SUM, factor)


# What a reduction of floating-point numbers or truth values can't be.
_BITWISE = (RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR)
_FOR_COMPLEX = (RedOpType.SUM, RedOpType.AVG, RedOpType.PREMUL_SUM)


def supports_complex(reduceOp: Any) -> bool:
    """Whether a reduction is defined for complex tensors."""
    return type_of(reduceOp) in _FOR_COMPLEX


def type_of(op: Any) -> RedOpType:
    """The reduction that was asked for."""
    if type(op) is RedOpType:
        return op
    if type(op) is ReduceOp:
        return op.op
    raise TypeError(f"incompatible function arguments: op must be a torch.distributed.ReduceOp, not {op!r}")


def checked_op(op: Any, tensor: Tensor, name: str) -> RedOpType:
    """The reduction, which the tensor has to have."""
    if op is RedOpType.SUM:
        return op
    kind, dtype = type_of(op), tensor.dtype
    if dtype.is_complex and kind not in _FOR_COMPLEX:
        error = RuntimeError if name == "reduce" else ValueError
        raise error(f"{name} does not support {kind} on complex tensors")
    if kind in _BITWISE and dtype.is_floating_point:
        raise RuntimeError(f"Cannot use ReduceOp.{kind.name} with non-integral dtype")
    if kind is RedOpType.AVG and not (dtype.is_floating_point or dtype.is_complex):
        wanted, found = dtype.storage_name, float32.storage_name
        raise RuntimeError(f"result type {found} can't be cast to the desired output type {wanted}")
    if kind is RedOpType.PREMUL_SUM:
        _check_factor(op, dtype)
    return kind


def _check_factor(op: Any, dtype: Dtype) -> None:
    factor = op.factor if type(op) is ReduceOp else None
    if factor is None:
        raise TypeError(
            "incompatible function arguments: PREMUL_SUM needs a factor; make it with _make_nccl_premul_sum"
        )
    if not dtype.is_floating_point:
        raise ValueError("PREMUL_SUM is for floating-point tensors")
    if isinstance(factor, Tensor) and factor.numel() != 1:
        raise ValueError(f"the factor of PREMUL_SUM must have one element, but has {factor.numel()}")


class _reduce_op:  # noqa: N801 - PyTorch's name
    """The reductions as an enum, which is deprecated."""

    def __getattr__(self, name: str) -> Any:
        members = RedOpType.__members__
        if name != "__members__" and name not in members:
            raise AttributeError(f"'_reduce_op' object has no attribute '{name}'")
        warn(
            "`torch.distributed.reduce_op` is deprecated, please use `torch.distributed.ReduceOp` instead",
            FutureWarning,
        )
        return dict(members) if name == "__members__" else members[name]


reduce_op = _reduce_op()
