"""Names of PyTorch's dispatch keys, for programs that list some of them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import Enum

from mindtorch.dispatch.modes import autocast

_DEVICES = "CPU CUDA HPU IPU Lazy MPS MTIA Meta PrivateUse1 XLA XPU".split()
_NAMES = [
    "Undefined", *_DEVICES, "ADInplaceOrView", "Autograd", "AutogradOther", *[f"Autograd{name}" for name in _DEVICES],
    *[f"Autocast{name}" for name in _DEVICES], "BackendSelect", "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutograd", "FuncTorchBatched", "Functionalize",
    "PreDispatch", "Python", "SparseCPU", "SparseCUDA", "SparseCsrCPU", "SparseCsrCUDA", "SparseCsrMeta", "SparseMeta",
]  # fmt: skip

DispatchKey = Enum("DispatchKey", _NAMES)  # type: ignore[misc]


class DispatchKeySet:
    """Some of the keys."""

    def __init__(self, keys: "DispatchKey | Iterable[DispatchKey]") -> None:
        self._keys = frozenset([keys] if isinstance(keys, DispatchKey) else keys)

    def __or__(self, other: "DispatchKeySet") -> "DispatchKeySet":
        return DispatchKeySet(self._keys | other._keys)

    def __and__(self, other: "DispatchKeySet") -> "DispatchKeySet":
        return DispatchKeySet(self._keys & other._keys)

    def __sub__(self, other: "DispatchKeySet") -> "DispatchKeySet":
        return DispatchKeySet(self._keys - other._keys)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DispatchKeySet) and self._keys == other._keys

    def __hash__(self) -> int:
        return hash(self._keys)

    def add(self, key: "DispatchKey") -> "DispatchKeySet":
        return DispatchKeySet(self._keys | {key})

    def remove(self, key: "DispatchKey") -> "DispatchKeySet":
        return DispatchKeySet(self._keys - {key})

    def has(self, key: "DispatchKey") -> bool:
        return key in self._keys

    def __repr__(self) -> str:
        return f"DispatchKeySet({', '.join(key.name for key in DispatchKey if key in self._keys)})"


@contextmanager
def _ExcludeDispatchKeyGuard(keyset: DispatchKeySet) -> Iterator[None]:
    """A block in which calls pass the layers of some keys by, which have to be those of autocast."""
    names = [key.name for key in DispatchKey if keyset.has(key)]
    others = [name for name in names if not name.startswith("Autocast")]
    if others:
        raise NotImplementedError(f"the layer of the dispatch key {others[0]} cannot be left out")
    with autocast.without([name.removeprefix("Autocast").lower() for name in names]):
        yield
