"""`register_kernel`, `register_fake` and the like, for an op given by its name, overload or definition."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mindtorch.dispatch.overloads import OpOverload
from mindtorch.library.custom_ops import CustomOpDef, definition_of
from mindtorch.library.formulas import Formula, autograd_kernel
from mindtorch.library.keys import AUTOGRAD, BATCHED
from mindtorch.library.libraries import Library, check_functional, impl, library_for
from mindtorch.library.table import entry_of, operator_named, overload_named, split_qualname


def register_kernel(
    op: Any, device_types: str | Sequence[str] | None, func: Callable | None = None, /, *, lib: Library | None = None
) -> Any:
    """Make a function the kernel of an op for device types; None stands for all. Also a decorator."""
    op = _resolved(op, "register_kernel")
    if isinstance(op, CustomOpDef):
        return op.register_kernel(device_types, func)
    return impl(op, "CompositeExplicitAutograd" if device_types is None else device_types, func, lib=lib)


def register_fake(
    op: Any, func: Callable | None = None, /, *, lib: Library | None = None, allow_override: bool = True
) -> Any:
    """Say what an op does to tensors without data. Also a decorator."""
    op = _resolved(op, "register_fake")
    if func is None:
        return partial(register_fake, op, lib=lib, allow_override=allow_override)
    if isinstance(op, CustomOpDef):
        return op.register_fake(func)
    if entry_of(op) is None:
        raise RuntimeError(f"operator {op} does not exist")
    namespace, name = split_qualname(op)
    library_for(namespace, lib)._register_fake(name, func, allow_override=allow_override)
    return func


def register_autograd(
    op: Any, backward: Callable, /, *, setup_context: Callable | None = None, lib: Library | None = None
) -> None:
    """Give an op a derivative; see `CustomOpDef.register_autograd`."""
    op = _resolved(op, "register_autograd")
    if isinstance(op, CustomOpDef):
        op.register_autograd(backward, setup_context=setup_context)
        return
    overload = overload_named(op)
    if not overload._entry.boxed:
        raise NotImplementedError(f"{overload} is generated: its derivative comes from derivatives.yaml")
    operator = operator_named(overload.name())
    check_functional(operator.declaration, str(overload))
    if any(each.keyword_only and each.type.base == "Tensor" for each in operator.declaration.arguments):
        raise NotImplementedError(
            "register_autograd with kwarg-only Tensor args. In the original definition of the op, please make your "
            f"tensors not kwarg-only. Got: {operator.declaration}"
        )
    namespace, name = split_qualname(op)
    library_for(namespace, lib).impl(name, autograd_kernel(operator, Formula(backward, setup_context)), AUTOGRAD)


def register_vmap(op: Any, func: Callable | None = None, /, *, lib: Library | None = None) -> Any:
    """Say how an op runs inside `vmap`: `func(info, in_dims, *args, **kwargs)` gets all samples, and returns the output
    with where the samples are in it. Also a decorator."""
    op = _resolved(op, "register_vmap")
    if func is None:
        return partial(register_vmap, op, lib=lib)
    if isinstance(op, CustomOpDef):
        return op.register_vmap(func)
    if not overload_named(op)._entry.boxed:
        raise NotImplementedError(f"{op} is generated: how it runs inside vmap comes from ops.yaml")
    operator_named(op).add_kernel(BATCHED, func)
    return func


def _resolved(op: Any, function: str) -> Any:
    """The definition of a custom op, or the qualified name of another one."""
    if isinstance(op, CustomOpDef):
        return op
    if isinstance(op, OpOverload):
        op = op.name()
    if not isinstance(op, str):
        raise ValueError(f"{function}({op}): got unexpected type for op: {type(op)}")
    return definition_of(op) or op
