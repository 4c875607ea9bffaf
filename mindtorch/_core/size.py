"""`Size`: the shape of a tensor, a tuple of ints that stays a Size when it is sliced or added to."""

from collections.abc import Iterable
from math import prod
from typing import Any, SupportsIndex, overload

from mindtorch._support import errors
from mindtorch._support.pytree import register_pytree_node
from mindtorch._support.pytree_paths import sequence_keys


class Size(tuple[int, ...]):
    """The shape of a tensor."""

    __module__ = "mindtorch"

    torch_name = "torch.Size"
    __slots__ = ()

    def __new__(cls, sizes: Iterable[Any] = ()) -> "Size":
        return tuple.__new__(cls, [_checked_size(position, size) for position, size in enumerate(sizes)])

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        return prod(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> "Size": ...
    def __getitem__(self, index: Any) -> Any:
        item = tuple.__getitem__(self, index)
        return item if type(item) is int else size_of(item)

    def __add__(self, other: Any) -> "Size":
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> "Size":
        return Size(other + tuple(self))

    def __mul__(self, times: Any) -> "Size":
        return size_of(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __reduce__(self) -> tuple:
        return (Size, (tuple(self),))


def size_of(shape: tuple) -> Size:
    """A Size of a tuple that surely holds ints, such as an array's shape."""
    return tuple.__new__(Size, shape)


def _checked_size(position: int, size: Any) -> int:
    if type(size) is int:
        return size
    if isinstance(size, (str, bytes, float)) or not hasattr(size, "__index__"):
        raise TypeError(f"torch.Size() takes an iterable of 'int' (item {position} is '{errors.type_name(size)}')")
    return size.__index__()


register_pytree_node(
    Size,
    lambda size: (list(size), None),
    lambda children, _: Size(children),
    serialized_type_name=Size.torch_name,
    flatten_with_keys_fn=lambda size: (list(zip(sequence_keys(size), size)), None),
)
