"""`custom_op`: a Python function made an op, with kernels, a fake implementation and a derivative added to it."""

import inspect
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from mindtorch._support.warnings import warn
from mindtorch.dispatch.overloads import OpOverload
from mindtorch.dispatch.schema.tags import Tag, listed_tags
from mindtorch.library.aliasing import check_no_alias
from mindtorch.library.formulas import Formula, autograd_kernel
from mindtorch.library.keys import AUTOGRAD, BATCHED, EXPLICIT, device_types, key_for_device
from mindtorch.library.libraries import Library, check_functional
from mindtorch.library.signatures import infer_schema
from mindtorch.library.table import operator_named, overload_named

_log = logging.getLogger(__name__)
_definitions: dict[str, "CustomOpDef"] = {}


def custom_op(
    name: str,
    fn: Callable | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make a function an op: `@custom_op("mylib::sin", mutates_args=())`.

    The schema comes from the function's annotations. `mutates_args` names the arguments that it writes, or is
    "unknown"; `device_types` are those that it works for, by default all.
    """
    if fn is None:
        return partial(custom_op, name, mutates_args=mutates_args, device_types=device_types, schema=schema, tags=tags)
    tags = listed_tags(tags)
    text = infer_schema(fn, mutates_args=mutates_args, tags=tags) if schema is None else schema
    namespace, opname = name.split("::")
    definition = CustomOpDef(namespace, opname, text, fn, tags)
    if schema is not None:
        definition.check_written(schema, mutates_args)
    definition.register_kernel(device_types)(fn)
    return definition


def definition_of(qualname: str) -> "CustomOpDef | None":
    """The definition of an op that was made by `custom_op`."""
    return _definitions.get(qualname)


class CustomOpDef:
    """What `custom_op` returns: call it, and register further kernels and rules with it."""

    def __init__(self, namespace: str, name: str, schema: str, fn: Callable, tags: Sequence[Tag] = ()) -> None:
        self._qualname = f"{namespace}::{name}"
        self._name = name
        self._schema = schema
        self._tags = tuple(tags)
        self._init_fn = fn
        self._backend_fns: dict[str | None, Callable] = {}
        self._disabled_kernel: set[str | None] = set()
        self._abstract_fn: Callable | None = None
        self._formula = Formula()
        self._lib = self._library(namespace)
        self._define()
        _definitions[self._qualname] = self

    def _library(self, namespace: str) -> Library:
        """A library of its own. A definition of the same name goes: running a notebook's cell again is fine."""
        previous = _definitions.pop(self._qualname, None)
        if previous is not None:
            previous._lib._destroy()
        return Library(namespace, "FRAGMENT")

    def _define(self) -> None:
        self._lib.define(self._name + self._schema, tags=(Tag.pt2_compliant_tag, *self._tags))
        self._opoverload: OpOverload = overload_named(self._qualname)
        operator = self._operator = operator_named(self._qualname)
        self._declaration = operator.declaration
        self._refuse_keyword_tensors()
        self._out_names = [each.name for each in self._declaration.arguments if each.written and each.keyword_only]
        operator.bump_versions()
        self._lib._register_fake(self._name, self._fake)
        self._lib.impl(self._name, autograd_kernel(operator, self._formula), AUTOGRAD)

    def _refuse_keyword_tensors(self) -> None:
        if Tag.out in self._tags:
            return
        if any(each.keyword_only and each.type.base == "Tensor" for each in self._declaration.arguments):
            self._lib._destroy()
            raise NotImplementedError(
                "custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only. "
                f"Got: {self._name}{self._schema}"
            )

    def check_written(self, schema: str, mutates_args: Any) -> None:
        """Compare a schema that the user wrote with the names of what is written."""
        expected = {each.name for each in self._declaration.arguments if each.written}
        if expected != set(mutates_args):
            raise ValueError(
                f"Attempted to create a custom op with `mutates_args={mutates_args}` and `schema={schema}. The schema "
                f"suggests that the op mutates {expected}which is different from what was provided to us in "
                "`mutates_args`. Please make these consistent."
            )

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._operator(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    # -------------------- kernels --------------------

    def register_kernel(self, types: str | Sequence[str] | None, fn: Callable | None = None, /) -> Callable:
        """Make a function the kernel for device types; None stands for all. Also a decorator."""
        if types is not None:
            self._select_by_device()
        if fn is None:
            return partial(self.register_kernel, types)
        for device_type in device_types(types):
            key = EXPLICIT if device_type is None else key_for_device(device_type)
            if device_type not in self._backend_fns:
                self._lib.impl(self._name, self._kernel_for(device_type), key)
            self._backend_fns[device_type] = fn
        return fn

    def _kernel_for(self, device_type: str | None) -> Callable:
        check = self._result_check()

        def kernel(*args: Any, **kwargs: Any) -> Any:
            function = self._init_fn if device_type in self._disabled_kernel else self._backend_fns[device_type]
            result = function(*args, **kwargs)
            check(function, args, kwargs, result)
            return result

        return kernel

    def _result_check(self) -> Callable:
        if Tag.inplace in self._tags:
            return self._check_returns_first
        if Tag.out in self._tags:
            return self._check_returns_out
        return _accept if self._declaration.is_view else self._check_no_alias

    def _check_no_alias(self, function: Callable, args: tuple, kwargs: dict, result: Any) -> None:
        if result is not None:
            check_no_alias(self._name, function, (*args, *kwargs.values()), result)

    def _check_returns_first(self, function: Callable, args: tuple, kwargs: dict, result: Any) -> None:
        if result is not args[0]:
            raise RuntimeError(
                f"{self._name} (with implementation in {inspect.getmodule(function)}): An operator tagged with "
                "torch.Tag.inplace must return its first argument."
            )

    def _check_returns_out(self, function: Callable, args: tuple, kwargs: dict, result: Any) -> None:
        results = result if isinstance(result, tuple) else (result,)
        outs = [kwargs[name] for name in self._out_names]
        if len(results) != len(outs) or any(each is not out for each, out in zip(results, outs)):
            raise RuntimeError(
                f"{self._name} (with implementation in {inspect.getmodule(function)}): An operator tagged with "
                "torch.Tag.out must return its mutable keyword-only arguments."
            )

    def _select_by_device(self) -> None:
        """Without tensors a `device` argument decides which kernel is meant."""
        arguments = self._declaration.arguments
        if any(each.type.base == "Tensor" for each in arguments):
            return
        places = [place for place, each in enumerate(arguments) if each.type.base == "Device" and each.name == "device"]
        if not places:
            raise ValueError("Functions without tensor inputs are required to have a `device: torch.device` argument")
        self._operator.choose_without_tensors(partial(self._run_on_device, places[0]))

    def _run_on_device(self, place: int, *args: Any, **kwargs: Any) -> Any:
        device_type = args[place].type
        if device_type not in self._backend_fns:
            raise RuntimeError(
                f"{self._name} does not have a kernel registered for {device_type}. "
                "Please use register_kernel to do so."
            )
        kernel = self._operator.kernels[key_for_device(device_type)][-1]
        return kernel(*args, **kwargs)

    @contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """In this block a registered kernel is switched off (or on), and the op's own function takes its place."""
        disabled = self._disabled_kernel
        was_disabled = device_type in disabled
        self._warn_about_switch(device_type, enabled, was_disabled)
        (disabled.discard if enabled else disabled.add)(device_type)
        try:
            yield
        finally:
            (disabled.add if was_disabled else disabled.discard)(device_type)

    def _warn_about_switch(self, device_type: str, enabled: bool, was_disabled: bool) -> None:
        action = "enable" if enabled else "disable"
        if device_type not in self._backend_fns:
            _log.warning(
                "Attempted to %s kernel for %s but no kernel was registered for this device type.", action, device_type
            )
        if enabled != was_disabled:
            _log.warning("Attempted to %s kernel for %s but it was already %sd.", action, device_type, action)

    # -------------------- rules --------------------

    def register_fake(self, fn: Callable, /) -> Callable:
        """Say what the op does to tensors without data. Also a decorator."""
        tag = next((tag for tag in (Tag.inplace, Tag.out) if tag in self._tags), None)
        if tag is not None:
            warn(
                f"The fake registration for {self} is unnecessary. Custom ops tagged with torch.{tag} already get an "
                "autogenerated fake kernel. The provided fake impl will be used instead.",
            )
        self._abstract_fn = fn
        return fn

    def _fake(self, *args: Any, **kwargs: Any) -> Any:
        if self._abstract_fn is not None:
            return self._abstract_fn(*args, **kwargs)
        if Tag.inplace in self._tags:
            return args[0]
        if Tag.out in self._tags:
            outs = tuple(kwargs[name] for name in self._out_names)
            return outs if len(outs) > 1 else outs[0]
        if self._declaration.is_mutable and not self._declaration.returns:
            return None
        raise RuntimeError(
            f"There was no fake impl registered for {self}. This is necessary for torch.compile/export/fx tracing to "
            f"work. Please use `{self._init_fn.__name__}.register_fake` to add an fake impl."
        )

    def register_vmap(self, func: Callable | None = None, /) -> Any:
        """Say how the op runs inside `vmap`: `func(info, in_dims, *args)` gets all samples. Also a decorator."""
        if func is None:
            return self.register_vmap
        self._operator.add_kernel(BATCHED, func)
        return func

    def register_autograd(self, backward: Callable, /, *, setup_context: Callable | None = None) -> None:
        """Give the op a derivative.

        `backward(ctx, *grads)` is as in `autograd.Function`. `setup_context(ctx, inputs, output)` runs after the
        kernel and saves what `backward` needs; ops with keyword-only arguments get `keyword_only_inputs` too.
        """
        if Tag.out in self._tags:
            raise RuntimeError(
                f"Cannot register autograd formula for operator tagged with torch.Tag.out: {self}. "
                "Out variants do not support autograd."
            )
        check_functional(self._declaration, str(self))
        self._formula.backward = backward
        self._formula.setup_context = setup_context


def _accept(function: Callable, args: tuple, kwargs: dict, result: Any) -> None:
    """For ops that return views."""
