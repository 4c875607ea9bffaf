"""MINDTORCH_DEBUG=1: every call of an op is checked for what its schema promises about memory and versions.

These are the asserts of torch's debug builds. A result that is no view has memory of its own; a view has that of its
input; an in-place op returns its input, an `out=` call its `out`; what is written gets a higher version, and nothing
else does; a recorded result has the shape and dtype that its node expects a gradient of; what a CPU kernel returns has
the shape and dtype that the rules of the op give. A mistake in a kernel is found at the call, and not in wrong numbers
somewhere later.

Kernels are watched, too: one that is given `out` puts its result there, and none returns NumPy's scalars.

The variable is read when the program starts: without it, nothing here is ever asked.
"""

import os
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from inspect import unwrap
from typing import Any

import numpy as np

from mindtorch._core import state
from mindtorch._core.buffers import root_of
from mindtorch._core.layout import strided
from mindtorch._core.tensor import Tensor, wrap
from mindtorch._support.op_names import qualified
from mindtorch.dispatch.call_form import tensors_among
from mindtorch.dispatch.keys import backend_named
from mindtorch.dispatch.modes.torch_dispatch import is_wanted
from mindtorch.dispatch.registry import KernelTable, OpEntry, find_op, kernel_table

ON = os.environ.get("MINDTORCH_DEBUG") == "1"


class KernelError(AssertionError):
    """An op did not do what its schema says."""


class _Before:
    """What a tensor was like before the call."""

    __slots__ = ("tensor", "array", "version")

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self.array = tensor._mt_array
        self.version = version_of(tensor)


def version_of(tensor: Tensor) -> int:
    return 0 if tensor._mt_version is None else tensor._mt_version[0]


def checked(run: Callable, function: Callable, args: tuple, kwargs: dict) -> Any:
    """Run an op that is not composite, and check what came of it."""
    entry: OpEntry = function.op  # type: ignore[attr-defined]
    if state.batch_levels:
        return run(function, args, kwargs)  # vmap's arrays have no memory of their own
    if is_wanted((*args, *kwargs.values())):
        return run(function, args, kwargs)  # a program's own `__torch_dispatch__` promises nothing
    if kwargs.get("out") is not None and not _is_out(entry):
        return run(function, args, kwargs)  # handed on to the `out=` variant, which is checked
    before = [_Before(tensor) for tensor in tensors_among((*args, *kwargs.values()))]
    without_data = _without_data(entry, before, args, kwargs)
    result = run(function, args, kwargs)
    written = _written(entry, args, kwargs)
    _check_inputs(entry, before, written)
    results = tensors_among((result,))
    if returned := _returned(entry, args, kwargs):
        _check_returned(entry, results, returned)
    elif entry.view is not None:
        _check_views(entry, results, args[0])
    else:
        _check_fresh(entry, results, before)
    _check_gradients(entry, results)
    if without_data is not None and not written:
        _check_rules(function, results, *without_data)
    return result


def _is_out(entry: OpEntry) -> bool:
    return any(each.keyword_only and each.written for each in entry.schema.arguments)


def _written(entry: OpEntry, args: tuple, kwargs: dict) -> list[Tensor]:
    """The tensors that the schema says are written."""
    by_name = (kwargs.get(each.name) for each in entry.schema.arguments if each.written)
    return tensors_among((*entry.written(args), *by_name, kwargs["out"] if _is_out(entry) else None))


def _returned(entry: OpEntry, args: tuple, kwargs: dict) -> list[Tensor]:
    """Those among them that the op returns."""
    if _is_out(entry):
        return tensors_among((kwargs["out"],))
    return tensors_among(entry.written(args)[:1]) if entry.is_inplace else []


def _check_inputs(entry: OpEntry, before: Iterable[_Before], written: list[Tensor]) -> None:
    """What is written gets a higher version; all else keeps its version and its array."""
    counters = [tensor._mt_version for tensor in written]
    for each in before:
        tensor, version = each.tensor, version_of(each.tensor)
        is_written = any(tensor is other for other in written)
        if is_written and version <= each.version and _counts_writes(entry, tensor):
            _fail(entry, "wrote a tensor and left its version at", version)
        shares = any(counter is tensor._mt_version for counter in counters if counter is not None)
        if not is_written and not shares and version != each.version:
            _fail(entry, "raised the version of an input that it must not write, to", version)
        if not is_written and tensor._mt_array is not each.array:
            _fail(entry, "gave an input other memory", tensor.shape)


def _counts_writes(entry: OpEntry, tensor: Tensor) -> bool:
    """`detach_` changes what autograd knows of a tensor, and leaves its elements as they are."""
    functional = find_op(entry.name.removesuffix("_"))
    return not tensor.is_inference() and (functional is None or functional.view != "detach")


def _check_returned(entry: OpEntry, results: list[Tensor], written: list[Tensor]) -> None:
    """In-place ops return their input, and `out=` calls their `out`."""
    if results and (len(results) != len(written) or any(a is not b for a, b in zip(results, written))):
        _fail(entry, "must return the tensors that it has written, and returned others of shapes", _shapes(results))


def _check_views(entry: OpEntry, results: list[Tensor], base: Tensor) -> None:
    """A view has the memory of its input, unless there is none to share."""
    for tensor in results:
        has_memory = _is_dense(tensor._mt_array) and tensor._mt_array.size and _is_dense(base._mt_array)
        if tensor is not base and has_memory and root_of(tensor._mt_array) is not root_of(base._mt_array):
            _fail(entry, "is a view op and returned memory of its own, of shape", tensor.shape)


def _check_fresh(entry: OpEntry, results: list[Tensor], before: Iterable[_Before]) -> None:
    """Other results have memory of their own."""
    if entry.shares_memory:
        return
    roots = {id(root_of(each.array)) for each in before if _is_dense(each.array)}
    for tensor in results:
        if not _is_dense(tensor._mt_array):
            continue
        root = root_of(tensor._mt_array)
        if id(root) in roots:
            _fail(entry, "is no view op, and its result shares memory with an input; shape", tensor.shape)
        roots.add(id(root))


def _is_dense(array: Any) -> bool:
    """Whether an array has one piece of memory: those of the CPU and of the meta backend do."""
    if getattr(array, "layout", strided) is not strided:
        return False
    return isinstance(array, np.ndarray) or hasattr(array, "root")


def _check_gradients(entry: OpEntry, results: Iterable[Tensor]) -> None:
    """A node expects gradients like the results that it was made for."""
    for tensor in results:
        edge = tensor._mt_edge
        if not edge or edge[0].accumulates:
            continue
        shape, dtype = edge[0].output_metadata(edge[1])
        if shape != tensor._mt_array.shape or dtype != tensor._mt_array.dtype:
            _fail(entry, f"has a result like {tuple(tensor.shape)} {tensor.dtype}, and a node for", f"{shape} {dtype}")


# -------------------- what the rules say --------------------


def _without_data(entry: OpEntry, tensors: Iterable[_Before], args: tuple, kwargs: dict) -> tuple[tuple, dict] | None:
    """The arguments as tensors of the meta backend; None if nothing is to be learnt from a call with them."""
    if kwargs.get("device") is not None:
        return None
    rule = kernel_table(entry.name).get(backend_named("Meta").array_class)
    if rule is None or hasattr(rule, "differs_from_cpu"):
        return None
    if not tensors or any(type(each.array) is not np.ndarray for each in tensors):
        return None
    return _as_meta(args), {name: _as_meta(value) for name, value in kwargs.items()}


def _as_meta(value: Any) -> Any:
    if isinstance(value, Tensor):
        array = value._mt_array
        return wrap(backend_named("Meta").array_class(array.shape, array.dtype, array.strides))
    return type(value)(map(_as_meta, value)) if type(value) in (list, tuple) else value


def _check_rules(function: Callable, results: Iterable[Tensor], args: tuple, kwargs: dict) -> None:
    """The results have the shapes and dtypes that `shape` and `promotion` in ops.yaml give, or the op's meta kernel."""
    entry: OpEntry = function.op  # type: ignore[attr-defined]
    state.thread.let_through = function
    try:
        expected = tensors_among((function(*args, **kwargs),))
    except RuntimeError:
        return  # it depends on the data
    finally:
        state.thread.let_through = None
    for found, wanted in zip(results, expected):
        if (found.shape, found.dtype) != (wanted.shape, wanted.dtype):
            kernel = _name_of(unwrap(kernel_table(entry.name)[np.ndarray]))
            rules = f"where ops.yaml gives {tuple(wanted.shape)} {wanted.dtype}"
            _fail(entry, f"has a kernel, {kernel}, that returned", f"{tuple(found.shape)} {found.dtype} {rules}")


def _name_of(kernel: Callable) -> str:
    """Where the function is that `dispatch` in ops.yaml names: a factory may have made it."""
    modules = [(name, vars(module)) for name, module in sorted(sys.modules.items()) if ".backends." in name]
    named = (f"{module}.{name}" for module, names in modules for name, value in names.items() if value is kernel)
    return next(named, f"{kernel.__module__}.{kernel.__qualname__}")


def _shapes(tensors: Iterable[Tensor]) -> list[tuple]:
    return [tuple(tensor.shape) for tensor in tensors]


def _fail(entry: OpEntry, what: str, value: Any) -> None:
    raise KernelError(f"{qualified(entry.name)} {what} {value} (schema: {entry.schema})")


# -------------------- kernels --------------------


def watched(table: KernelTable, array_class: Any) -> Callable:
    """What a table gives instead of a kernel: a function that looks at what the kernel does."""
    kernel = dict.__getitem__(table, array_class)
    if hasattr(kernel, "__wrapped__"):
        return kernel

    @wraps(kernel)
    def run(*args: Any, **kwargs: Any) -> Any:
        result = kernel(*args, **kwargs)
        _check_result(table.op, kernel, result, kwargs.get("out"))
        return result

    return run


def _check_result(op: str, kernel: Callable, result: Any, out: Any) -> None:
    """A result is an array: the one that is given for it, or where that has another shape, a new one of its dtype."""
    results = result if isinstance(result, (list, tuple)) else (result,)
    for each, given in zip(results, out if isinstance(out, (list, tuple)) else (out,)):
        if isinstance(given, np.ndarray) and isinstance(each, (np.ndarray, np.generic)) and not _fills(each, given):
            found = f"returned an array {each.shape} {each.dtype}"
            advice = f"end it in `return deliver(result, out)`; out is {given.shape} {given.dtype}"
            _fail_kernel(op, kernel, f"ignored its `out`: it {found}", advice)
    for each in results:
        if isinstance(each, np.generic):
            _fail_kernel(op, kernel, f"returned a number of NumPy's, {each!r}", "make it an array: np.asarray(...)")


def _fills(result: np.ndarray | np.generic, out: np.ndarray) -> bool:
    is_same = result is out or (isinstance(result, np.ndarray) and root_of(result) is root_of(out))
    return is_same or (result.shape != out.shape and result.dtype == out.dtype)


def _fail_kernel(op: str, kernel: Callable, what: str, advice: str) -> None:
    raise KernelError(f"{qualified(op)} has a kernel, {_name_of(kernel)}, that {what} ({advice})")


def switch_on() -> None:
    """Have every call go through `checked`, and every kernel be watched."""
    state.count_active_mode(1)
    KernelTable.__getitem__ = watched  # type: ignore[method-assign, assignment]


if ON:
    switch_on()
