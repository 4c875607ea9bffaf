"""The registry: which ops there are, and which kernels the backends have for them.

The built-in backends register through the same two functions that an out-of-tree backend calls:
`keys.register_backend` and `register_kernel`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from mindtorch._core.fast_path import KINDS
from mindtorch._core.promotion import common_dtype
from mindtorch._support import errors
from mindtorch._support.float_errors import quiet
from mindtorch._support.lazy import lazy
from mindtorch._support.op_names import ATEN, base_of, namespace_of, qualified
from mindtorch.dispatch.families import load_families, load_op, registered_twice
from mindtorch.dispatch.keys import backend_named, backend_of, for_device_arrays, when_registered
from mindtorch.dispatch.same_device import check_devices

if TYPE_CHECKING:
    from mindtorch.dispatch.schema.function_schema import Schema

difflib = lazy("difflib")
traceback: Any = lazy("traceback")
_schemas: Any = lazy("mindtorch.dispatch.schema.function_schema")

NUMBERS = (int, float, bool, complex)


def _fail(*args: Any) -> Any:
    """In the place of a computation that is not there."""
    raise KeyError


class KernelTable(dict):
    """The kernels of one op, keyed by the class of the backend's arrays.

    `direct` is for plain arrays of one kind, when all other arguments have their default values. What it raises is not
    for users: a generated function then asks the kernel.
    """

    __slots__ = ("op", "direct")

    def __init__(self, op: str) -> None:
        super().__init__()
        self.op = op
        self.direct: Callable = _fail

    def __setitem__(self, array_class: type, kernel: Callable) -> None:
        """A kernel for NumPy's arrays is also that for the plain ones, if it has no fast path for them."""
        if type(kernel) is _KernelOf:
            kernel.places.append((self, array_class))
        super().__setitem__(array_class, kernel if array_class is not np.ndarray else self._guarded(kernel))
        if array_class is np.ndarray:
            self.update(dict.fromkeys(KINDS, kernel) | getattr(kernel, "plain", {}))
            self.direct = getattr(kernel, "direct", kernel)

    def __delitem__(self, array_class: type) -> None:
        super().__delitem__(array_class)
        if array_class is np.ndarray:
            self.direct = _fail
            for kind in KINDS:
                super().__delitem__(kind)

    def _guarded(self, kernel: Callable) -> Callable:
        """The kernel for NumPy's arrays, which the first argument decides; a device's may be among the others."""
        if not _device_classes or hasattr(kernel, "unguarded"):
            return kernel

        @wraps(kernel)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            found = _device_class_among(args)
            if found is None and (not kwargs or _device_class_among(kwargs.values()) is None):
                return kernel(*args, **kwargs)
            if (entry := find_op(self.op)) is not None:
                check_devices(entry, args, kwargs.get("out"))
            return (self[found] if found is not None else kernel)(*args, **kwargs)

        guarded.unguarded = kernel  # type: ignore[attr-defined]
        return guarded

    def guard(self) -> None:
        """Guard the kernel that is there already."""
        if np.ndarray in self:
            super().__setitem__(np.ndarray, self._guarded(self[np.ndarray]))

    def __missing__(self, array_class: Any) -> Callable:
        # Nothing is stored: a kernel that is registered later must be found.
        if array_class in NUMBERS:
            return self._kernel_of_first_array
        if array_class in KINDS:
            return self[np.ndarray]
        load_op(self.op)
        if array_class in self:
            return self[array_class]
        backend = backend_of(array_class)
        if array_class in _fallbacks:
            return _fallbacks[array_class](self.op)
        raise errors.no_kernel(self.op, backend.name if backend else array_class.__name__, self.backends())

    def _kernel_of_first_array(self, number: Any, *args: Any, **kwargs: Any) -> Any:
        """Calls with a number in the first place, `add(3, x)`: the first array that follows decides.

        CPU kernels expect an array in that place: a number that stands alone is a 0-dim one.
        """
        array = next((value for value in args if type(value) in self), None)
        if array is not None and type(array) is not np.ndarray:
            return self[type(array)](number, *args, **kwargs)
        if isinstance(number, bool):  # raises no dtype, and there are ops that refuse it
            return self[np.ndarray](np.asarray(number), *args, **kwargs)
        dtype = common_dtype(number, args[0] if array is None else array)
        first = quiet(np.asarray(number).astype, dtype)  # a number that is too large is infinite, without a warning
        return self[np.ndarray](first, *args, **kwargs)

    def backends(self) -> list[str]:
        """The names of the backends that have a kernel."""
        return [backend.name for each in self if isinstance(each, type) and (backend := backend_of(each)) is not None]


class OpEntry:
    """What is known about an op overload besides its code."""

    __slots__ = (
        "name",
        "schema_text",
        "function",
        "jvp",
        "view",
        "composite",
        "copies",
        "short_cut",
        "shares_memory",
        "absent_in_torch",
        "differentiable",
        "takes_numbers",
        "python_names",
        "tags",
        "autocast",
        "writes",
        "other_devices",
        "elementwise",
        "boxed",
        "kernels",
    )

    def __init__(
        self,
        schema_text: str,
        function: Callable,
        jvp: Callable | None = None,
        view: str | None = None,
        composite: bool = False,
        copies: bool = False,
        short_cut: bool = False,
        shares_memory: bool = False,
        absent_in_torch: bool = False,
        differentiable: bool = False,
        takes_numbers: bool = False,
        python_names: Mapping[str, str] | None = None,
        tags: tuple[str, ...] = (),
        autocast: Mapping[str, str] | None = None,
        writes: tuple[int, ...] = (),
        other_devices: tuple[int, ...] = (),
        elementwise: bool = False,
        boxed: bool = False,
        kernels: str = "",
    ) -> None:
        """`writes`: the arguments that kernels change besides `out`, by their numbers.

        `other_devices`: those that may be on the CPU while the others are not. `elementwise`: so may any that has no
        dimensions, which counts as a number.

        `boxed`: the function binds its arguments to the schema itself (ops of `mindtorch.library`).

        `kernels`: the op whose kernels the function calls, if that is another one."""
        self.name = schema_text.partition("(")[0]
        self.schema_text = schema_text
        self.function = function
        self.jvp = jvp
        self.view = view
        self.composite = composite
        self.copies = copies
        self.short_cut = short_cut
        self.shares_memory = shares_memory
        self.absent_in_torch = absent_in_torch
        self.differentiable = differentiable
        self.takes_numbers = takes_numbers
        self.python_names = python_names
        self.tags = tags
        self.autocast = autocast
        self.writes = writes
        self.other_devices = other_devices
        self.elementwise = elementwise
        self.boxed = boxed
        self.kernels = kernels or self.name

    def in_python(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Keyword arguments of the schema under the names that Python has for them."""
        names = self.python_names or {}
        return {names.get(name, name): value for name, value in kwargs.items()}

    @property
    def schema(self) -> Schema:
        """The parsed schema, with the arguments called as in Python."""
        schema = _schemas.parse_schema(self.schema_text)
        return schema if self.python_names is None else schema.renamed(self.python_names)

    @property
    def base(self) -> str:
        return base_of(self.name)

    @property
    def namespace(self) -> str:
        return namespace_of(self.name)

    @property
    def table(self) -> KernelTable | None:
        """The kernels that the function looks up; None if it is written in other ops."""
        return None if self.composite else _tables.get(self.kernels)

    @property
    def overloads(self) -> list[OpEntry]:
        """All overloads of its base name, this one among them, in the order of ops.yaml."""
        return overloads_of(self.base, self.namespace)

    @property
    def is_inplace(self) -> bool:
        return self.base.endswith("_") and not self.base.endswith("__")

    def written(self, args: Sequence[Any]) -> list[Any]:
        """The positional arguments that a call writes."""
        return [value for each, value in zip(self.schema.arguments, args) if each.written and not each.keyword_only]

    def changed_inputs(self, args: Sequence[Any]) -> list[Any]:
        """Those besides the `self` of an in-place op, of an op that is generated."""
        return [] if self.boxed else self.written(args)[self.is_inplace :]

    def __repr__(self) -> str:
        return f"<OpEntry {qualified(self.schema_text)}>"


_tables: dict[str, KernelTable] = {}
_device_classes: set[type] = set()  # of arrays that the CPU's kernels cannot read
_fallbacks: dict[type, Callable[[str], Callable]] = {}
_entries: dict[str, OpEntry] = {}


def kernel_table(op: str) -> KernelTable:
    """The table of an op such as "mul.Tensor", empty until a backend registers."""
    table = _tables.get(op)
    if table is None:
        _tables[op] = table = KernelTable(op)
    return table


def register_kernel(backend: str, op: str, function: Callable) -> None:
    """Make `function` the kernel of `op` on a backend. A later registration replaces an earlier one."""
    if find_op(op) is None:
        others = overloads_of(base_of(op), namespace_of(op))
        close = difflib.get_close_matches(op, [entry.name for entry in all_ops()], n=1) or [
            entry.name for entry in others
        ]
        raise ValueError(f"unknown op {op!r}" + (f"; did you mean {close[0]!r}?" if close else ""))
    kernel_table(op)[backend_named(backend).array_class] = function


def register_kernels(backend: str, kernels: Mapping[str, Callable]) -> None:
    """Register many kernels of one backend; those of a backend that is not there yet wait for it."""
    when_registered(backend, partial(_add_kernels, backend, kernels))


def register_kernels_of(backend: str, module: str) -> None:
    """Register the `KERNELS` of a module that can only be imported when the backend is there."""
    when_registered(backend, lambda: _add_kernels(backend, import_module(module).KERNELS))


def _device_class_among(values: Iterable[Any]) -> type | None:
    for value in values:
        if type(value) in _device_classes:
            return type(value)
        if type(value) is list or type(value) is tuple:
            found = _device_class_among(value)
            if found is not None:
                return found
    return None


def _keep_from_numpy(array_class: type) -> None:
    """Have kernels for NumPy's arrays hand calls on that arrays of this class take part in."""
    _device_classes.add(array_class)
    if len(_device_classes) == 1:
        for table in _tables.values():
            table.guard()


for_device_arrays(_keep_from_numpy)


def register_modules_of(backend: str, module: str) -> None:
    """Register the kernels that the `MODULES` of a module lists: by op, the names of functions in other modules.

    Each of those is imported when one of its kernels is called, so that the one that fails is no concern of others.
    """
    when_registered(backend, lambda: _add_modules(backend, import_module(module).MODULES))


def _add_modules(backend: str, modules: Mapping[str, Mapping[str, str]]) -> None:
    array_class = backend_named(backend).array_class
    for module, kernels in modules.items():
        for op, function in kernels.items():
            kernel_table(op)[array_class] = _KernelOf(module, function)


def kernels_in(module: str) -> Any:
    """A module of kernels, imported; if that fails, what stands in for it, so that only calls of its kernels fail."""
    try:
        return import_module(module)
    except _FAILED_IMPORTS:
        return _Unimported(module)


class _Unimported:
    """A module that cannot be imported: each of its names is a kernel that says why."""

    __slots__ = ("_module",)

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, function: str) -> Callable:
        return _KernelOf(self._module, function)


class _KernelOf:
    """A kernel in a module that is not imported yet: the first call has the function take its place.

    `places` are the tables where it is registered, each with the class of arrays that it is for.
    """

    def __init__(self, module: str, function: str) -> None:
        self.places: list[tuple[KernelTable, type]] = []
        self._module = module
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            kernel = getattr(import_module(self._module), self._function)
        except _FAILED_IMPORTS as error:
            raise self._not_imported(error) from error
        kernel = getattr(kernel, "made", lambda: kernel)()  # of those that are made at the first call
        for table, array_class in self.places:
            if self._stands_in(table, array_class):  # another one may have been registered in the meantime
                table[array_class] = kernel
        return kernel(*args, **kwargs)

    def _stands_in(self, table: KernelTable, array_class: type) -> bool:
        found = table.get(array_class)
        return getattr(found, "unguarded", found) is self

    def _not_imported(self, error: Exception) -> ImportError:
        """Which ops fail with a module that cannot be imported; all others run."""
        op, backend = self._first_place()
        what = f"the {backend} kernel of '{op}'" if op else f"the kernel '{self._function}'"
        return ImportError(f"{what} cannot be imported: {_cause(error)}. {self._module} has {self._siblings()}")

    def _first_place(self) -> tuple[str, str]:
        if not self.places:
            return "", ""
        table, array_class = self.places[0]
        backend = backend_of(array_class)
        return table.op, backend.name if backend else array_class.__name__

    def _siblings(self) -> str:
        """The ops whose kernels are in the same module."""
        kernels = {getattr(each, "unguarded", each) for table in _tables.values() for each in table.values()}
        missing = [each for each in kernels if type(each) is _KernelOf and each._module == self._module]
        names = sorted({table.op for each in missing for table, array_class in each.places})
        more = f" and {len(names) - _SHOWN} others" if len(names) > _SHOWN else ""
        return f"the kernels of {', '.join(names[:_SHOWN])}{more}"


# What a module of kernels that is not right raises when it is imported.
_FAILED_IMPORTS = (
    *(ImportError, SyntaxError, NameError, AttributeError, TypeError, ValueError),
    *(LookupError, ArithmeticError, AssertionError, RuntimeError, OSError),
)
_SHOWN = 8  # as many ops as a line has room for


def _cause(error: Exception) -> str:
    """What went wrong in a module, with the file and the line."""
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg} ({error.filename}:{error.lineno})"
    lines = [each for each in traceback.extract_tb(error.__traceback__) if not each.filename.startswith("<frozen ")]
    return f"{type(error).__name__}: {error} ({lines[-1].filename}:{lines[-1].lineno})"


def register_fallback(array_class: type, make_kernel: Callable[[str], Callable]) -> None:
    """Have `make_kernel(op)` give the kernels of all ops that have none for arrays of a class."""
    _fallbacks[array_class] = make_kernel


def _add_kernels(backend: str, kernels: Mapping[str, Callable]) -> None:
    found = backend_named(backend)
    for op, function in kernels.items():
        kernel_table(op)[found.array_class] = function if found.around is None else found.around(function, op)


def ops_with_kernel(array_class: type, is_meant: Callable[[Callable], bool]) -> list[str]:
    """The ops whose kernel for arrays of a class is one that is meant."""
    return [name for name, table in _tables.items() if array_class in table and is_meant(table[array_class])]


def register_op(schema: str, function: Callable, **details: Any) -> OpEntry:
    """Make an op overload known; `function.op` leads to its entry from now on."""
    entry = OpEntry(schema, function, **details)
    known = find_op(entry.name)
    if known is not None and known.function.__module__ != function.__module__:
        raise registered_twice(qualified(entry.name), known.function.__module__, function.__module__)
    _entries[entry.name] = entry
    _by_base.cache_clear()
    function.op = entry  # type: ignore[attr-defined]
    return entry


def register_ops(rows: Iterable[tuple[str, Callable, Mapping[str, Any]]]) -> None:
    """Register many ops: (schema string, function, the other fields of OpEntry)."""
    for schema, function, details in rows:
        register_op(schema, function, **details)


def unregister_op(name: str) -> None:
    """Forget an op overload."""
    del _entries[name]
    _by_base.cache_clear()


def find_op(name: str) -> OpEntry | None:
    """The entry of an overload such as "mul.Tensor", if there is one."""
    if name not in _entries:
        load_op(name)
    return _entries.get(name)


def overloads_of(base: str, namespace: str = ATEN) -> list[OpEntry]:
    """The overloads of a base name, in the order of ops.yaml."""
    load_op(f"{namespace}::{base}")
    return list(_by_base().get((namespace, base), ()))


@cache
def _by_base() -> dict[tuple[str, str], list[OpEntry]]:
    """All overloads by namespace and base name; forgotten when an op is registered."""
    found: dict[tuple[str, str], list[OpEntry]] = {}
    for entry in _entries.values():
        found.setdefault((entry.namespace, entry.base), []).append(entry)
    return found


def all_ops() -> list[OpEntry]:
    """All ops by name, in whatever order their families were loaded."""
    load_families()
    return sorted(_entries.values(), key=lambda entry: entry.name)
