"""How a tensor is spread along a dimension of a mesh."""

from __future__ import annotations


class Placement:
    """How a tensor is spread along a dimension of a mesh."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether each process has a part, along the dimension if it is given."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Whether each process has all of it."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether it is the sum, or another reduction, of what the processes have."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in vars(self).items())})"


class Shard(Placement):
    """Each process has a part along a dimension: as `chunk` makes them, so that the last may be smaller or empty."""

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def along(self, dim: int) -> Shard:
        """The same along another dimension."""
        return Shard(dim)

    def __str__(self) -> str:
        return f"S({self.dim})"


class _StridedShard(Shard):
    """A part of what later dimensions of the mesh have cut already along the same dimension of the tensor.

    That is what `fully_shard` makes of a parameter of which tensor-parallel processes have parts.
    """

    def __init__(self, dim: int, *, split_factor: int) -> None:
        super().__init__(dim)
        self.split_factor = split_factor  # how many parts there were

    def along(self, dim: int) -> Shard:
        """The same along another dimension."""
        return _StridedShard(dim, split_factor=self.split_factor)

    def __repr__(self) -> str:
        return f"_StridedShard(dim={self.dim}, sf={self.split_factor})"

    def __str__(self) -> str:
        return f"_S({self.dim}, {self.split_factor})"


class Replicate(Placement):
    """Each process has the whole tensor."""

    def __str__(self) -> str:
        return "R"


class Partial(Placement):
    """The tensor is a reduction of what the processes have: sum, avg, max, min or product."""

    def __init__(self, reduce_op: str = "sum") -> None:
        self.reduce_op = reduce_op

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op})"

    def __str__(self) -> str:
        return f"P({self.reduce_op})"


class NormPartial(Partial):
    """The tensor is the norm of the vector of what the processes have."""

    def __init__(self, order: float) -> None:
        super().__init__("norm")
        self.order = order
