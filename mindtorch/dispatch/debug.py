"""MINDTORCH_DEBUG=1: every call of an op is checked for what its schema promises about memory and versions.

These are the asserts of torch's debug builds. A result that is no view has memory of its own; a view has that of its
input; an in-place op returns its input, an `out=` call its `out`; what is written gets a higher version, and nothing
else does; a recorded result has the shape and dtype that its node expects a gradient of. A mistake in a kernel is found
at the call, and not in wrong numbers somewhere later.

The variable is read when the program starts: without it, nothing here is ever asked.
"""

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mindtorch import state
from mindtorch.dispatch.call_form import tensors_among
from mindtorch.dispatch.registry import OpEntry
from mindtorch.dispatch.torch_dispatch import is_wanted
from mindtorch.layout import strided
from mindtorch.op_names import qualified
from mindtorch.roots import root_of
from mindtorch.tensor import Tensor

ON = os.environ.get("MINDTORCH_DEBUG") == "1"
if ON:
    state.count_interceptor(1)


# Their result may have the memory of an input, though they are no views: autograd need not know, as nobody uses that
# input again.
_MAY_SHARE = frozenset(("_unsafe_view",))
# They change what autograd knows of a tensor, and leave its elements as they are.
_WRITE_NOTHING = frozenset(("detach_",))


class KernelError(AssertionError):
    """An op did not do what its schema says."""


class _Before:
    """What a tensor was like before the call."""

    __slots__ = ("tensor", "array", "version")

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self.array = tensor._array
        self.version = version_of(tensor)


def version_of(tensor: Tensor) -> int:
    return 0 if tensor._version_counter is None else tensor._version_counter[0]


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
    result = run(function, args, kwargs)
    written = _written(entry, args, kwargs)
    _check_inputs(entry, before, written)
    results = tensors_among((result,))
    if written:
        _check_returned(entry, results, written)
    elif entry.view is not None:
        _check_views(entry, results, args[0])
    else:
        _check_fresh(entry, results, before)
    _check_gradients(entry, results)
    return result


def _is_out(entry: OpEntry) -> bool:
    return any(each.keyword_only and each.written for each in entry.schema.arguments)


def _written(entry: OpEntry, args: tuple, kwargs: dict) -> list[Tensor]:
    """The tensors that the schema says are written, in its order."""
    if _is_out(entry):
        return tensors_among((kwargs["out"],))
    return tensors_among(value for argument, value in zip(entry.schema.arguments, args) if argument.written)


def _check_inputs(entry: OpEntry, before: Iterable[_Before], written: list[Tensor]) -> None:
    """What is written gets a higher version; all else keeps its version and its array."""
    counters = [tensor._version_counter for tensor in written]
    for each in before:
        tensor, version = each.tensor, version_of(each.tensor)
        is_written = any(tensor is other for other in written)
        if is_written and version <= each.version and _counts_writes(entry, tensor):
            _fail(entry, "wrote a tensor and left its version at", version)
        shares = any(counter is tensor._version_counter for counter in counters if counter is not None)
        if not is_written and not shares and version != each.version:
            _fail(entry, "raised the version of an input that it must not write, to", version)
        if not is_written and tensor._array is not each.array:
            _fail(entry, "gave an input other memory", tensor.shape)


def _counts_writes(entry: OpEntry, tensor: Tensor) -> bool:
    return entry.base not in _WRITE_NOTHING and not tensor.is_inference()


def _check_returned(entry: OpEntry, results: list[Tensor], written: list[Tensor]) -> None:
    """In-place ops return their input, and `out=` calls their `out`."""
    if results and (len(results) != len(written) or any(a is not b for a, b in zip(results, written))):
        _fail(entry, "must return the tensors that it has written, and returned others of shapes", _shapes(results))


def _check_views(entry: OpEntry, results: list[Tensor], base: Tensor) -> None:
    """A view has the memory of its input, unless there is none to share."""
    for tensor in results:
        has_memory = _is_dense(tensor._array) and tensor._array.size and _is_dense(base._array)
        if tensor is not base and has_memory and root_of(tensor._array) is not root_of(base._array):
            _fail(entry, "is a view op and returned memory of its own, of shape", tensor.shape)


def _check_fresh(entry: OpEntry, results: list[Tensor], before: Iterable[_Before]) -> None:
    """Other results have memory of their own."""
    if entry.base in _MAY_SHARE:
        return
    roots = {id(root_of(each.array)) for each in before if _is_dense(each.array)}
    for tensor in results:
        if not _is_dense(tensor._array):
            continue
        root = root_of(tensor._array)
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
        edge = tensor._edge
        if not edge or edge[0].accumulates:
            continue
        shape, dtype = edge[0].output_metadata(edge[1])
        if shape != tensor._array.shape or dtype != tensor._array.dtype:
            _fail(entry, f"has a result like {tuple(tensor.shape)} {tensor.dtype}, and a node for", f"{shape} {dtype}")


def _shapes(tensors: Iterable[Tensor]) -> list[tuple]:
    return [tuple(tensor.shape) for tensor in tensors]


def _fail(entry: OpEntry, what: str, value: Any) -> None:
    raise KernelError(f"{qualified(entry.name)} {what} {value} (schema: {entry.schema})")
