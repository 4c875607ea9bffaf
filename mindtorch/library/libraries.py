"""`Library`: a set of definitions and kernels that go together, and `define`, `impl` and the `register_*` functions."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any
from weakref import finalize

from mindtorch.dispatch.overloads import OpOverload
from mindtorch.dispatch.schema.syntax import Declaration, parse_declaration
from mindtorch.dispatch.schema.tags import listed_tags
from mindtorch.library.array_kernels import replace_kernel
from mindtorch.library.fake import caller_place, meta_kernel
from mindtorch.library.keys import IMPLICIT, device_types, is_key, key_for_device, parse_key
from mindtorch.library.table import (
    add_op,
    entry_of,
    generated_op,
    operator_named,
    remove_op,
    split_qualname,
)
from mindtorch.library.tag_rules import check_tags

_NAMELESS_SCHEMA = re.compile(r"\(.*\) -> .*")
_defined_at: dict[str, str] = {}  # where ops were defined, for the error about a second definition
_namespaces: dict[str, str] = {}  # which namespaces have a library of kind DEF, and where it was made
_registered: set[tuple[str, str]] = set()  # (op, key) of the kernels, for `allow_override=False`
_keep_alive: list["Library"] = []


class Library:
    """Definitions and kernels of ops in a namespace. They go when the library does."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns == "prim" and kind != "IMPL":
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        if dispatch_key:
            parse_key(dispatch_key)
        self.ns = ns
        self.kind = kind
        self.dispatch_key = dispatch_key
        self._place = caller_place()
        self._undo: list[Callable[[], None]] = []
        self._finalizer = finalize(self, _undo_all, self._undo)
        self._finalizer.atexit = False
        if kind == "DEF":
            _claim(ns, self._place)
            self._undo.append(partial(_namespaces.__delitem__, ns))

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Define an op by its schema, such as `"foo(Tensor x) -> Tensor"`; returns its name."""
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        self._check_alive()
        tags = listed_tags(tags)
        written = parse_declaration(schema)
        check_tags(written, tags)
        if self.kind == "IMPL":
            raise RuntimeError(
                f'def("{written.full_name}"): Cannot define an operator inside of a {self._block} block.  All def()s '
                f"should be placed in the (unique) TORCH_LIBRARY block for their namespace.  {self._where()}"
            )
        declaration = self._with_namespace(written)
        qualname = declaration.full_name
        if entry_of(qualname) is not None:
            raise RuntimeError(
                f"Tried to register an operator ({declaration}) with the same name and "
                "overload name multiple times. Each overload's schema should only be registered with a single call to "
                f"def(). Duplicate registration: registered at {self._place}. Original registration: "
                f"registered at {_defined_at.get(qualname, 'ops.yaml')}"
            )
        add_op(declaration, tags)
        _defined_at[qualname] = self._place
        self._undo.append(partial(remove_op, qualname))
        return written.name

    def _with_namespace(self, declaration: Declaration) -> Declaration:
        namespace, found, _ = declaration.name.rpartition("::")
        if not found:
            return replace(declaration, name=f"{self.ns}::{declaration.name}")
        if namespace != self.ns:
            raise self._foreign(namespace, "schema string", "(unique) TORCH_LIBRARY")
        return declaration

    @property
    def _block(self) -> str:
        """What the library would be in C++, for texts."""
        return "TORCH_LIBRARY" if self.kind == "DEF" else f"TORCH_LIBRARY_{self.kind}"

    def _where(self) -> str:
        return f"(Error occurred while processing {self._block} block at {self._place})"

    def _foreign(self, namespace: str, place: str, wanted: str, start: str = "") -> RuntimeError:
        return RuntimeError(
            f"{start}Explicitly provided namespace ({namespace}) in {place} does not match namespace of enclosing "
            f"{self._block} block ({self.ns}).  Move this definition to the {wanted} block corresponding to this "
            f"namespace (and consider deleting the namespace from your schema string.)  {self._where()}"
        )

    def impl(
        self,
        op_name: str | OpOverload,
        fn: Callable,
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = True,
    ) -> None:
        """Make a function of tensors the kernel of an op for a dispatch key."""
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        if with_keyset:
            raise NotImplementedError("mindtorch has no dispatch key sets: with_keyset=True is not supported")
        shown_key = dispatch_key or self.dispatch_key
        namespace, _, name = _op_name(op_name, "impl").rpartition("::")
        qualname = f"{self.ns}::{name}"
        if not allow_override and (qualname, shown_key) in _registered:
            raise RuntimeError(
                "This is not allowed since there's already a kernel registered from python overriding "
                f"{name}'s behavior for {shown_key} dispatch key and {self.ns} namespace."
            )
        self._check_alive()
        if namespace not in ("", self.ns):
            if shown_key == "Meta":
                raise RuntimeError(f"operator {namespace}::{name} does not exist")
            start = f'impl("{namespace}::{name}", ...): '
            raise self._foreign(namespace, "operator name", self._block, start)
        self._add_kernel(qualname, parse_key(shown_key) if shown_key else IMPLICIT, fn, name)
        _registered.add((qualname, shown_key))
        self._undo.append(partial(_registered.discard, (qualname, shown_key)))

    def _add_kernel(self, qualname: str, key: str, fn: Callable, shown: str) -> None:
        entry = generated_op(qualname)
        if entry is not None:
            self._undo.append(replace_kernel(entry, key, fn))
            return
        operator = operator_named(qualname)
        if key == "Meta" and operator.kernel(IMPLICIT) is not None:
            raise RuntimeError(_META_OF_COMPOSITE.format(shown))
        operator.add_kernel(key, fn)
        self._undo.append(partial(operator.remove_kernel, key, fn))

    def _register_fake(self, op_name: str, fn: Callable, *, allow_override: bool = True) -> None:
        qualname = f"{self.ns}::{op_name}"
        if not allow_override:
            _check_fake(qualname)
        self._add_kernel(qualname, "Meta", meta_kernel(qualname, fn, caller_place()), qualname)

    def _check_alive(self) -> None:
        if not self._finalizer.alive:
            raise AssertionError("Library object has been destroyed")

    def _destroy(self) -> None:
        """Take everything back that was defined and registered."""
        self._finalizer()


def _undo_all(undo: list[Callable[[], None]]) -> None:
    while undo:
        undo.pop()()


def _claim(namespace: str, place: str) -> None:
    """Note that a namespace has its library of kind DEF."""
    if namespace in _namespaces:
        raise RuntimeError(
            f"Only a single TORCH_LIBRARY can be used to register the namespace {namespace}; please put all of your "
            "definitions in a single TORCH_LIBRARY block.  If you were trying to specify implementations, consider "
            "using TORCH_LIBRARY_IMPL (which can be duplicated).  If you really intended to define operators for a "
            "single namespace in a distributed way, you can use TORCH_LIBRARY_FRAGMENT to explicitly indicate this.  "
            f"Previous registration of TORCH_LIBRARY was registered at {_namespaces[namespace]}; latest registration "
            f"was registered at {place}"
        )
    _namespaces[namespace] = place


@contextmanager
def _scoped_library(*args: Any, **kwargs: Any) -> Iterator[Library]:
    """A library for a block."""
    library = Library(*args, **kwargs)
    try:
        yield library
    finally:
        library._destroy()


def library_for(namespace: str, lib: Library | None) -> Library:
    """The library that a registration belongs to: the given one, or one that stays."""
    if lib is not None:
        return lib
    library = Library(namespace, "FRAGMENT")
    _keep_alive.append(library)
    return library


def _op_name(op: Any, function: str) -> str:
    if isinstance(op, str):
        return op
    if isinstance(op, OpOverload):
        return op.name()
    raise RuntimeError(
        f"{function} should be passed either a name or an OpOverload object as the first argument, got {type(op)}"
    )


# -------------------- functions --------------------


def define(qualname: Any, schema: str, *args: Any, lib: Library | None = None, tags: Any = ()) -> Any:
    """Define an op: `define("mylib::foo", "(Tensor x) -> Tensor")`."""
    if isinstance(qualname, Library):
        return partial(_define_and_implement, qualname, schema, *args)
    if not isinstance(qualname, str):
        raise ValueError(f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}")
    namespace, name = split_qualname(qualname)
    lib = library_for(namespace, lib)
    if not _NAMELESS_SCHEMA.fullmatch(schema):
        raise ValueError(
            'define(qualname, schema, ...): expected schema to look like e.g. "(Tensor x) -> Tensor" but got '
            f'"{schema}"'
        )
    lib.define(name + schema, tags=tags)


def _define_and_implement(library: Library, schema: str, *args: Any) -> Any:
    """The older form, a decorator: `define(lib, "foo(Tensor x) -> Tensor")`."""
    *analysis, function = args
    library.impl(library.define(schema, *analysis), function)
    return function


def impl(qualname: Any, types: str | Sequence[str], func: Any = None, *, lib: Library | None = None) -> Any:
    """Register a kernel for device types, for all of them ("default"), or for dispatch keys. Also a decorator."""
    if isinstance(qualname, Library):
        return partial(_implement, qualname, types, func or "")
    keys = dict.fromkeys(_key_of(name) for name in device_types(types))

    def register(function: Callable) -> None:
        library = library_for(split_qualname(qualname)[0], lib)
        for key in keys:
            library.impl(qualname, function, key)

    return register if func is None else register(func)


def _implement(library: Library, name: Any, key: str, function: Callable) -> Callable:
    """The older form, a decorator: `impl(lib, "foo", "CPU")`."""
    library.impl(name, function, key)
    return function


def _key_of(name: str) -> str:
    if is_key(name):
        return name
    return "CompositeExplicitAutograd" if name == "default" else key_for_device(name)


def check_functional(declaration: Declaration, shown: str) -> None:
    """Refuse a formula for an op that writes its arguments, or returns nothing or several views."""
    tensors = [each for each in declaration.arguments if each.type.base == "Tensor" and not each.type.marks]
    is_view = declaration.returns_alias and len(tensors) == 1 == len(declaration.returns)
    if declaration.is_mutable or not declaration.returns or (declaration.returns_alias and not is_view):
        raise RuntimeError(
            f"Cannot register autograd formula for non-functional operator {shown} with schema {declaration}. "
            "Please create a functional operator and register an autograd formula for that."
        )


def _check_fake(qualname: str) -> None:
    kernel = None if generated_op(qualname) else operator_named(qualname).kernel("Meta")
    place = getattr(kernel, "place", None)
    if place is not None:
        raise RuntimeError(
            f"register_fake(...): the operator {qualname} already has a fake impl registered at {place}."
        )
    if generated_op(qualname) or kernel is not None:
        raise RuntimeError(
            f"register_fake(...): the operator {qualname} already has a DispatchKey::Meta implementation via a "
            "pre-existing torch.library or TORCH_LIBRARY registration. Please either remove that registration or don't "
            "call register_fake."
        )


_META_OF_COMPOSITE = (
    "We should not register a meta kernel directly to the operator '{}', because it has a CompositeImplicitAutograd "
    "kernel in core. Instead we should let the operator decompose, and ensure that we have meta kernels for the base "
    "ops that it decomposes into."
)
