"""Dictionaries that do not keep their keys alive, and compare them by identity: tensors have an `==` of their own."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any
from weakref import ref


class WeakIdRef(ref):
    """A weak reference that is equal to another one of the same object, whatever `==` of that object says."""

    __module__ = "mindtorch.utils.weak"
    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Any = None) -> None:
        self._id = id(key)
        super().__init__(key, callback)  # type: ignore[call-arg]

    def __call__(self) -> Any:
        return super().__call__()

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        own, others = self(), other() if isinstance(other, WeakIdRef) else None
        return self is other if own is None or others is None else own is others


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """A dictionary whose keys are compared by identity. An entry goes with its key."""

    __module__ = "mindtorch.utils.weak"

    def __init__(self, dict: Any = None, ref_type: Any = WeakIdRef) -> None:
        self.data: Any = {}
        self.ref_type = ref_type
        self._remove = lambda key, data=self.data: data.pop(key, None)
        self.update(dict or {})

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._remove)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: Any) -> bool:
        return self.ref_type(key) in self.data

    def __iter__(self) -> Iterator[Any]:
        return iter([key for key in [reference() for reference in list(self.data)] if key is not None])

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<{self.__class__.__name__} at {id(self):#x}>"

    def copy(self) -> WeakIdKeyDictionary:
        return type(self)({key: value for key, value in self.items()}, self.ref_type)
