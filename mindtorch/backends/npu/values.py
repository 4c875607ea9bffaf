"""What the arguments of ops become for functions of ACLNN, which want every dimension by name and numbers for words."""

from collections.abc import Mapping, Sequence


def dims_of(dim: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """The dimensions that a reduction is over: all of them where none is named."""
    if dim is None:
        return tuple(range(ndim))
    if isinstance(dim, int):
        return (dim,) if ndim else ()
    return tuple(dim) if ndim and len(dim) else tuple(range(ndim))


def sized(values: Sequence[int], size: int) -> tuple[int, ...]:
    """One number for each dimension; a single one stands for all."""
    return tuple(values) * size if len(values) == 1 else tuple(values)


class Codes(dict):
    """The constants that ACLNN has for the words that an argument may be."""

    __slots__ = ("_argument",)

    def __init__(self, argument: str, codes: Mapping[str | None, int | str]) -> None:
        super().__init__(codes)
        self._argument = argument

    def __missing__(self, word: object) -> int | str:
        words = [each for each in self if each is not None]
        raise RuntimeError(f"{self._argument} argument must be either {' or '.join(words)}.")
