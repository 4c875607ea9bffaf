"""Results with several named parts, such as the values and indices of `max`: tuples whose items are attributes too."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, ClassVar


class NamedResult(tuple[Any, ...]):
    """The base of `mindtorch.return_types`: the annotations of a class are the names of its parts."""

    __slots__ = ()

    _fields: ClassVar[tuple[str, ...]] = ()
    n_fields: ClassVar[int] = 0
    n_sequence_fields: ClassVar[int] = 0
    n_unnamed_fields: ClassVar[int] = 0
    _shown_name: ClassVar[str] = ""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._fields = tuple(cls.__annotations__)
        cls.__match_args__ = cls._fields  # type: ignore[attr-defined, misc]
        package = cls.__module__.partition(".")[0]
        cls._shown_name = f"{'torch' if package == 'mindtorch' else package}.return_types.{cls.__name__}"
        cls.n_fields = cls.n_sequence_fields = len(cls._fields)
        for position, field in enumerate(cls._fields):
            setattr(cls, field, property(itemgetter(position)))

    def __new__(cls, parts: Sequence[Any], by_name: Any = None) -> "NamedResult":
        """`by_name` is for pickles of torch, which has it for parts beyond those of the sequence: there are none."""
        if len(parts) != len(cls._fields):
            raise TypeError(f"{cls._shown_name}() takes a {len(cls._fields)}-sequence ({len(parts)}-sequence given)")
        return tuple.__new__(cls, parts)

    @classmethod
    def _make(cls, parts: Sequence[Any]) -> "NamedResult":
        """The constructor under the name that named tuples have for it."""
        return cls(parts)

    def __repr__(self) -> str:
        parts = ",\n".join(f"{field}={part!r}" for field, part in zip(self._fields, self, strict=True))
        return f"{self._shown_name}(\n{parts})"

    def __reduce__(self) -> tuple:
        return (type(self), (tuple(self),))
