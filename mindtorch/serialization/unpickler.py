"""Reads pickles: in full, or as far as they are known to be harmless."""

import pickle
import struct
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any, BinaryIO, ClassVar

from mindtorch._core.tensor import Tensor
from mindtorch.nn.parameter import Parameter
from mindtorch.serialization import allowed
from mindtorch.serialization.names import StorageType, check_known, is_of_torch, thing_named

PersistentLoad = Callable[[Any], Any]
Error = pickle.UnpicklingError

# What the machine below raises at a pickle that is damaged: it takes things from its stack that are not there.
_DAMAGED = (
    ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, struct.error,
)  # fmt: skip


# What pickles say, by what is to be done.
_OPERATIONS: dict[int, Callable[[Any], None]] = pickle._Unpickler.dispatch


class SafeUnpickler(pickle._Unpickler):
    """Makes and calls what is allowed, and nothing else.

    (The unpickler in C has no way to check calls and states.) What it has no method for here it refuses to do.
    """

    # What the base class has as well.
    stack: list[Any]
    append: Callable[[Any], None]
    pop_mark: Callable[[], list[Any]]
    read: Callable[[int], bytes]

    def __init__(self, file: BinaryIO, persistent_load: PersistentLoad, encoding: str = "utf-8") -> None:
        super().__init__(file, encoding=encoding)
        self._persistent_load = persistent_load
        self._by_name = {**allowed.marked_names(), **allowed.BY_NAME}
        self._callables = allowed.callables()
        self._marked = {id(each) for each in allowed.marked_names().values()}

    def load(self) -> Any:
        try:
            return super().load()
        except _DAMAGED as error:
            raise Error(f"the pickle is damaged: {type(error).__name__}: {error}") from error

    def find_class(self, module: str, name: str) -> Any:
        module, name = _present_name(module, name)
        path = f"{module}.{name}"
        if allowed.is_blocked(module):
            raise Error(f"Trying to load unsupported GLOBAL {path} whose module {module} is blocked.")
        if path in self._by_name:
            return self._by_name[path]
        if is_of_torch(module):
            check_known(module, name)
        path = path.removeprefix("builtins.")
        raise Error(
            f"Unsupported global: GLOBAL {path} was not an allowed global by default. Please use "
            f"`torch.serialization.add_safe_globals([{path}])` or the `torch.serialization.safe_globals([{path}])` "
            "context manager to allowlist this global if you trust this class/function."
        )

    # -------------------- calls and states --------------------

    def load_reduce(self) -> None:
        arguments, function = self.stack.pop(), self.stack[-1]
        if id(function) not in self._callables or function is Tensor:
            raise Error(f"Trying to call reduce for unrecognized function {function}")
        self.stack[-1] = function(*arguments)

    def load_newobj(self) -> None:
        arguments, cls = self.stack.pop(), self.stack.pop()
        if cls is Parameter:
            self.append(Parameter(*arguments))
        elif id(cls) in self._marked or cls in (OrderedDict, Counter, set):
            self.append(cls.__new__(cls, *arguments))
        else:
            raise Error(
                "Can only create new object for nn.Parameter or classes allowlisted via `add_safe_globals` "
                f"but got {cls}"
            )

    def load_build(self) -> None:
        """Give an object its state: not a class, a function or a constant, which other code uses too."""
        kind = type(self.stack[-2])
        if kind is OrderedDict:
            self.stack[-2].__dict__.update(self.stack.pop())
        elif id(kind) in self._marked:
            _OPERATIONS[pickle.BUILD[0]](self)
        else:
            raise Error(
                "Can only build Tensor, Parameter, OrderedDict or types allowlisted via `add_safe_globals`, "
                f"but got {kind}"
            )

    # -------------------- containers --------------------

    def load_append(self) -> None:
        item = self.stack.pop()
        self._target("append to", list).append(item)

    def load_appends(self) -> None:
        items = self.pop_mark()
        self._target("extend", list).extend(items)

    def load_additems(self) -> None:
        items = self.pop_mark()
        self._target("add to", set).update(items)

    def load_setitem(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._target("SETITEM for", dict, OrderedDict, Counter)[key] = value

    def load_setitems(self) -> None:
        items = self.pop_mark()
        self._target("SETITEMS for", dict, OrderedDict, Counter).update(zip(items[::2], items[1::2], strict=True))

    def _target(self, what: str, *kinds: type) -> Any:
        target = self.stack[-1]
        if type(target) not in kinds:
            names = ", ".join(kind.__name__ for kind in kinds)
            raise Error(f"Can only {what} {names}, but got {type(target)}")
        return target

    def load_binpersid(self) -> None:
        identity = self.stack.pop()
        if type(identity) is not tuple or not identity or as_text(identity[0]) != "storage":
            raise Error(f"Only persistent_load of storage is allowed, but got {type(identity)}")
        self.append(self._persistent_load(identity))

    def load_bytearray8(self) -> None:
        (length,) = struct.unpack("<Q", self.read(8))
        self.append(bytearray(self.read(length)))  # what there is: the number may be forged

    # The operations of pickles that have no method above: constants, the stack, the memo, tuples.
    _HARMLESS = (
        pickle.PROTO, pickle.STOP, pickle.FRAME, pickle.MARK, pickle.POP, pickle.POP_MARK, pickle.DUP, pickle.NONE,
        pickle.NEWTRUE, pickle.NEWFALSE, pickle.BININT, pickle.BININT1, pickle.BININT2, pickle.LONG1, pickle.LONG4,
        pickle.BINFLOAT, pickle.BINUNICODE, pickle.SHORT_BINUNICODE, pickle.BINUNICODE8, pickle.BINBYTES,
        pickle.SHORT_BINBYTES, pickle.BINBYTES8, pickle.BINSTRING, pickle.SHORT_BINSTRING, pickle.TUPLE, pickle.TUPLE1,
        pickle.TUPLE2, pickle.TUPLE3, pickle.EMPTY_TUPLE, pickle.EMPTY_LIST, pickle.EMPTY_DICT, pickle.EMPTY_SET,
        pickle.FROZENSET, pickle.BINGET, pickle.LONG_BINGET, pickle.BINPUT, pickle.LONG_BINPUT, pickle.MEMOIZE,
        pickle.GLOBAL, pickle.STACK_GLOBAL,
    )  # fmt: skip


class _Operations(dict):
    """The operations by code; one that is missing is an error."""

    def __missing__(self, code: int) -> Any:
        raise Error(f"Unsupported operand {code}")


SafeUnpickler.dispatch = _Operations(
    {
        **{code[0]: _OPERATIONS[code[0]] for code in SafeUnpickler._HARMLESS},
        pickle.REDUCE[0]: SafeUnpickler.load_reduce,
        pickle.NEWOBJ[0]: SafeUnpickler.load_newobj,
        pickle.BUILD[0]: SafeUnpickler.load_build,
        pickle.APPEND[0]: SafeUnpickler.load_append,
        pickle.APPENDS[0]: SafeUnpickler.load_appends,
        pickle.ADDITEMS[0]: SafeUnpickler.load_additems,
        pickle.SETITEM[0]: SafeUnpickler.load_setitem,
        pickle.SETITEMS[0]: SafeUnpickler.load_setitems,
        pickle.BINPERSID[0]: SafeUnpickler.load_binpersid,
        pickle.BYTEARRAY8[0]: SafeUnpickler.load_bytearray8,
    }
)


def _present_name(module: str, name: str) -> tuple[str, str]:
    """The name that something of Python 2 has now."""
    return NAME_MAPPING.get((module, name), (IMPORT_MAPPING.get(module, module), name))


def as_text(value: Any) -> Any:
    """What Python 2 has written as bytes."""
    return value.decode("ascii") if isinstance(value, bytes) else value


def full_unpickler(file: BinaryIO, pickle_module: Any, persistent_load: PersistentLoad, arguments: dict) -> Any:
    """An unpickler of a module that makes whatever the file says. PyTorch's names are those of things here."""

    class Unpickler(pickle_module.Unpickler):  # type: ignore[misc]
        def find_class(self, module: str, name: str) -> Any:
            return thing_named(module, name) if is_of_torch(module) else super().find_class(module, name)

        def persistent_load(self, identity: Any) -> Any:
            return persistent_load(identity)

    return Unpickler(file, **arguments)


# -------------------- a look at a pickle --------------------


class _Anything:
    """Stands for whatever a pickle makes, so that reading it does nothing."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        pass

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    __setstate__ = append = extend = add = __call__


class Survey(pickle._Unpickler):
    """Reads a pickle without making anything of it: what does it refer to?"""

    dispatch: ClassVar[dict[int, Callable[[Any], None]]] = {
        **_OPERATIONS,
        pickle.BYTEARRAY8[0]: SafeUnpickler.load_bytearray8,
    }

    def __init__(self, file: BinaryIO, persistent_load: PersistentLoad, encoding: str = "utf-8") -> None:
        super().__init__(file, encoding=encoding, errors="replace")
        self._persistent_load = persistent_load
        self.names: set[str] = set()

    def persistent_load(self, pid: Any) -> Any:
        return self._persistent_load(pid)

    def find_class(self, module: str, name: str) -> Any:
        module, name = _present_name(module, name)
        self.names.add(f"{module}.{name}")
        found = allowed.BY_NAME.get(f"{module}.{name}")
        return found if isinstance(found, StorageType) else _Anything

    def load(self) -> Any:
        try:
            return super().load()
        except _DAMAGED as error:
            raise Error(f"the pickle is damaged: {type(error).__name__}: {error}") from error
