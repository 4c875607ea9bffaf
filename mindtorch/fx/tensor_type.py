"""Types of tensors in annotations of graphs: `TensorType((1, Dyn, 3))`, a shape of which some sizes are not known."""

from __future__ import annotations

from typing import Any

from mindtorch.fx._compatibility import compatibility

__all__ = ["Dyn", "TensorType", "is_consistent", "is_more_precise"]


@compatibility(is_backward_compatible=False)
class TensorType:
    """A tensor with these sizes; `Dyn` stands for one that is not known."""

    def __init__(self, dim: Any) -> None:
        self.__origin__ = TensorType
        self.__args__ = dim

    @property
    def dims(self) -> Any:
        return self.__args__

    def __repr__(self) -> str:
        return f"TensorType[{self.dims}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and list(self.dims) == list(other.dims)

    __hash__ = None  # type: ignore[assignment]

    @staticmethod
    def __class_getitem__(*args: Any) -> TensorType:
        return TensorType(tuple(args[0] if len(args) == 1 and isinstance(args[0], tuple) else args))


class _DynType:
    """The type of what is known when the program runs."""

    def __init__(self) -> None:
        self.__name__ = "_DynType"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self))

    def __hash__(self) -> int:
        return hash(_DynType)

    def __repr__(self) -> str:
        return "Dyn"


Dyn = _DynType()


@compatibility(is_backward_compatible=False)
def is_consistent(t1: Any, t2: Any) -> bool:
    """Whether a value can be of both types."""
    if t1 == t2 or t1 == Dyn or t2 == Dyn:
        return True
    return _of_one_rank(t1, t2) and all(is_consistent(first, second) for first, second in zip(t1.dims, t2.dims))


@compatibility(is_backward_compatible=False)
def is_more_precise(t1: Any, t2: Any) -> bool:
    """Whether the first type tells at least as much as the second."""
    if t1 == t2 or t2 == Dyn:
        return True
    return _of_one_rank(t1, t2) and all(is_more_precise(first, second) for first, second in zip(t1.dims, t2.dims))


def _of_one_rank(t1: Any, t2: Any) -> bool:
    return isinstance(t1, TensorType) and isinstance(t2, TensorType) and len(t1.dims) == len(t2.dims)
