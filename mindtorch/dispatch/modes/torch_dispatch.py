"""`__torch_dispatch__`: modes and tensor classes that run ops themselves, below autograd.

Note [Below autograd]: a generated function looks up its kernel when autograd has done its part. While a mode is active
a copy of the function runs in which stand-ins have the names of the kernel tables. They give the call to the mode, and
the arrays of the mode's result are taken for those of the kernel. So the function records, counts versions and tracks
views as usual, outside of the mode; and nothing changes for calls that the mode does not see, in other threads, too.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import ref

from mindtorch._core import state
from mindtorch._core.autograd_meta import ViewMeta
from mindtorch._core.tensor import Tensor
from mindtorch._support import errors
from mindtorch._support.op_names import ATEN
from mindtorch.dispatch.call_form import (
    Originals,
    arguments_in_order,
    declaration_of,
    is_factory,
    schema_call,
    tensors_among,
)
from mindtorch.dispatch.methods import Namespace, is_generated
from mindtorch.dispatch.overloads import OpOverload, operators
from mindtorch.dispatch.registry import KernelTable, OpEntry

_thread = state.thread
_lock = threading.RLock()


# -------------------- whose calls --------------------


def disabled_torch_dispatch(function: Callable, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
    """The `__torch_dispatch__` of classes whose tensors have ordinary kernels."""
    with without_torch_dispatch():
        return function(*args, **(kwargs or {}))


@contextmanager
def without_torch_dispatch() -> Iterator[None]:
    """In this block no `__torch_dispatch__` is asked."""
    before = _thread.torch_dispatch
    _thread.torch_dispatch = False
    try:
        yield
    finally:
        _thread.torch_dispatch = before


def takes_over(cls: type) -> bool:
    """Whether ops on tensors of this class go to its `__torch_dispatch__`."""
    return getattr(cls, "__torch_dispatch__", disabled_torch_dispatch) is not disabled_torch_dispatch


def dispatching_arguments(args: Iterable[Any]) -> list[Any]:
    """One argument of each class that runs ops itself: subclasses first, otherwise in the order of the arguments."""
    return _one_of_each_class(tensors_among(args))


def _one_of_each_class(tensors: Iterable[Tensor]) -> list[Any]:
    found: list[Any] = []
    for value in tensors:
        cls = type(value)
        if cls is not Tensor and takes_over(cls) and all(type(other) is not cls for other in found):
            before = (place for place, other in enumerate(found) if issubclass(cls, type(other)))
            found.insert(next(before, len(found)), value)
    return found


def is_wanted(args: Iterable[Any]) -> bool:
    """Whether the kernel of a call with these arguments is a `__torch_dispatch__`."""
    if not _thread.torch_dispatch:
        return False
    return bool(_thread.dispatch_modes) or (bool(state.dispatch_classes) and bool(dispatching_arguments(args)))


# -------------------- the stand-in for kernels --------------------


class _StandIn:
    """What a function that is asked about has in the place of a kernel table."""

    __slots__ = ("table",)

    def __init__(self, table: KernelTable) -> None:
        self.table = table

    def __getitem__(self, key: Any) -> Callable:
        run = _thread.dispatched
        if run is None:
            return self.table[key]
        _thread.dispatched = None
        run.kernel_op = self.table.op
        return run

    @property
    def direct(self) -> Callable:
        return self.table.direct


_asking: dict[Callable, Callable] = {}  # what runs instead of functions, by these
_namespaces: dict[int, Namespace] = {}  # the names with stand-ins, by the ids of the functions' own names and of these


def _with_stand_ins(function: Callable) -> Callable:
    """A generated function whose kernel tables are stand-ins; those of its op that it calls have them, too."""
    found = _asking.get(function)
    if found is None:
        with _lock:
            found = _asking[function] = _names_of(function).own(function) if is_generated(function) else function
    return found


def _names_of(function: Any) -> Namespace:
    names = function.__globals__
    found = _namespaces.get(id(names))
    if found is None:
        others = {name: _StandIn(value) for name, value in names.items() if type(value) is KernelTable}
        found = _namespaces[id(names)] = Namespace(names, getattr(function, "caller", None), others)
        _namespaces[id(found.names)] = found
    return found


def count_class() -> None:
    """Note that there is a class with `__torch_dispatch__`. It stays."""
    with _lock:
        state.dispatch_classes += 1
    state.count_active_mode(1)


_NOT_ASKED = object()  # the outcome of a call that got to no kernel: it was handed on to the `out=` variant


class _DispatchedCall:
    """One call of an op: the kernel that runs it in a `__torch_dispatch__`, and the tensors that came of that."""

    __slots__ = ("entry", "tensors", "kernel_op", "outcome")

    def __init__(self, entry: OpEntry, tensors: list[Tensor]) -> None:
        self.entry = entry
        self.tensors = tensors  # those among the arguments
        self.kernel_op = entry.name
        self.outcome: Any = _NOT_ASKED

    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        """What the generated function takes for the kernel."""
        args = (*args, *kwargs.values())
        entry, args, kwargs = schema_call(self.entry, self.kernel_op, args, out, Originals(self.tensors))
        self.outcome = _thread.outcome = ask(overload_of(entry), args, kwargs)
        return _arrays_of(entry, self.outcome)

    def finish(self, result: Any) -> Any:
        """The result of the function, which is made of fresh tensors, in the tensors that `__torch_dispatch__` gave."""
        if self.outcome is _NOT_ASKED:
            return result
        if isinstance(result, Tensor):
            return self._replaced(result, self.outcome)
        if isinstance(result, (tuple, list)) and isinstance(self.outcome, (tuple, list)):
            replaced = [self._replaced(old, new) for old, new in zip(result, self.outcome)]
            for node in {each._mt_edge[0] for each in tensors_among(replaced) if each._mt_edge}:
                _keep_instead(node, result, replaced)
            return type(result)(replaced)
        return result

    def _replaced(self, result: Any, outcome: Any) -> Any:
        if any(each is result for each in self.tensors):
            return result
        if outcome is None:
            return None
        if outcome._mt_edge or any(each is outcome for each in self.tensors):
            return result
        _take_place(outcome, result)
        edge = outcome._mt_edge
        if edge and not edge[0].accumulates and outcome._mt_version is not None and _keeps(edge[0], outcome):
            edge[0].keep_object(outcome, ask_op("detach", outcome))
        return outcome


def _keeps(node: Any, output: Tensor) -> bool:
    """Whether a node keeps its own output for the formula."""
    return any(getattr(held, "counter", None) is output._mt_version for held in getattr(node, "_mt_saved", ()))


def _keep_instead(node: Any, old: Sequence[Any], new: Sequence[Any]) -> None:
    """Have a node keep other objects in the place of those of its outputs that are not differentiable."""
    for before, after in zip(old, new):
        if after is not before and type(after) is not Tensor and after is not None and not after._mt_edge:
            node._mt_saved = tuple([(after, 0) if held is before else held for held in node._mt_saved])


def object_of(output: Tensor) -> Any:
    """The tensor that a node saves as its output: if it stands for an object of another class, that, detached."""
    for each in tensors_among((_thread.outcome,)):
        if each._mt_array is output._mt_array and type(each) is not Tensor:
            return ask_op("detach", each)
    return output


def _take_place(tensor: Tensor, of: Tensor) -> None:
    """Give a tensor, which is not yet shared, the part in autograd of another one."""
    tensor._mt_edge = edge = of._mt_edge
    tensor._mt_meta = of._mt_meta
    if of._mt_version is not None:
        tensor._mt_version = of._mt_version
    if edge and edge[0].accumulates:
        edge[0].leaf = ref(tensor)


def _arrays_of(entry: OpEntry, outcome: Any) -> Any:
    returns = declaration_of(entry.schema_text).returns
    if not returns or returns[0].type.base != "Tensor":
        return outcome
    if len(returns) == 1 and not returns[0].type.is_list:
        return _array_of(entry, outcome)
    return tuple([_array_of(entry, each) for each in outcome])


def _array_of(entry: OpEntry, outcome: Any) -> Any:
    if isinstance(outcome, Tensor):
        return outcome._mt_array
    if outcome is None:
        return None
    raise RuntimeError(f"Unable to cast {outcome!r} to Tensor")


def forget_views(results: Any) -> None:
    """Make views that were taken below autograd what they are there: tensors on the same memory."""
    for tensor in tensors_among((results,)):
        if type(tensor._mt_meta) is ViewMeta:
            tensor._mt_edge = tensor._mt_meta = None


def overload_of(entry: OpEntry) -> OpOverload:
    """The op as users know it: `torch.ops.aten.add.Tensor`."""
    return operators._overload(entry.namespace, entry.name.partition("::")[2] or entry.name)


def call_dispatched(run: Callable, function: Callable, args: tuple, kwargs: dict) -> Any:
    """Run a generated function whose kernel is a `__torch_dispatch__`."""
    dispatched = _DispatchedCall(function.op, tensors_among((*args, *kwargs.values())))  # type: ignore[attr-defined]
    before = _thread.dispatched, _thread.outcome
    _thread.dispatched = dispatched
    try:
        result = run(_with_stand_ins(function), args, kwargs)
    finally:
        _thread.dispatched, _thread.outcome = before
    return dispatched.finish(result)


def runner(entry: OpEntry, args: Iterable[Any]) -> Callable | None:
    """How to run a call that a `__torch_dispatch__` gets; None for any other call."""
    if not is_wanted(args):
        return None
    if not entry.composite:
        return call_dispatched
    return call_factory if is_factory(entry) else None


def call_factory(run: Callable, function: Callable, args: tuple, kwargs: dict) -> Any:
    """Run a factory that is written in other factories: what is asked about is the factory itself."""
    if kwargs.get("out") is not None or kwargs.get("generator") is not None:
        return run(function, args, kwargs)
    entry: OpEntry = function.op  # type: ignore[attr-defined]
    values = arguments_in_order(function, args, kwargs)
    entry, args, keywords = schema_call(entry, entry.name, values, None, Originals(tensors_among(values)))
    result = ask(overload_of(entry), args, keywords)
    return result.requires_grad_() if kwargs.get("requires_grad") else result


# -------------------- asking --------------------


def ask(overload: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Ask the innermost mode, then the classes of the arguments, until one of them answers."""
    tensors = tensors_among((*args, *kwargs.values()))
    types = tuple([type(tensor) for tensor in _one_of_each_class(tensors)])
    modes = _thread.dispatch_modes
    with _BelowAutograd(tensors):
        if modes:
            result = _ask_mode(modes, overload, types, args, kwargs)
            if result is not NotImplemented:
                return result
        for cls in types:
            result = cls.__torch_dispatch__(overload, types, args, kwargs)
            if result is not NotImplemented:
                return result
    raise errors.multiple_dispatch_failed(f"torch._ops.{overload}", "__torch_dispatch__", modes, types)


def ask_op(name: str, tensor: Tensor) -> Any:
    """Ask about an op on one tensor that is not called as a function, such as what `item()` is in torch."""
    return ask(operators._overload(ATEN, name), (tensor,), {})


def _ask_mode(modes: tuple, *call: Any) -> Any:
    """Ask the last of the modes. Until it answers it isn't on, and so is nothing that has the thread look at calls."""
    _thread.dispatch_modes = modes[:-1]
    _thread.active -= 1
    try:
        return modes[-1].__torch_dispatch__(*call)
    finally:
        _thread.active += 1
        _thread.dispatch_modes = modes


class _BelowAutograd:
    """Nothing is recorded in this block, and no version counted: the function that asked does that, once."""

    __slots__ = ("versions", "before")

    def __init__(self, tensors: Iterable[Tensor]) -> None:
        counters = [(tensor, tensor._mt_version) for tensor in tensors]
        self.versions = [(tensor, 0 if counter is None else counter[0]) for tensor, counter in counters]

    def __enter__(self) -> None:
        grad_enabled, below = _thread.grad_enabled, _thread.below_autograd
        self.before = grad_enabled, _thread.forward_grad_enabled, below, _thread.grad_above
        if not below:
            _thread.grad_above = grad_enabled
        _thread.below_autograd = True
        _thread.forward_grad_enabled = False
        if grad_enabled:
            state.set_grad_enabled(False)

    def __exit__(self, *exc_info: object) -> None:
        grad_enabled, _thread.forward_grad_enabled, _thread.below_autograd, _thread.grad_above = self.before
        state.set_grad_enabled(grad_enabled)
        for tensor, version in self.versions:
            if tensor._mt_version is not None:
                tensor._mt_version[0] = version


# -------------------- modes --------------------


class TorchDispatchMode:
    """A context manager whose `__torch_dispatch__` runs the ops of a block, below autograd and with composites taken
    apart. Within it `func(*args, **kwargs)` goes to the next mode, and at last to the kernel."""

    @classmethod
    def is_infra_mode(cls) -> bool:
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        _thread.dispatch_modes += (self,)
        state.count_thread_mode(1)
        return self

    def __exit__(self, *exc_info: object) -> None:
        _thread.dispatch_modes = _thread.dispatch_modes[:-1]
        state.count_thread_mode(-1)


def current_mode() -> Any:
    """The innermost mode, None if there is none."""
    return _thread.dispatch_modes[-1] if _thread.dispatch_modes else None


@contextmanager
def without_modes() -> Iterator[tuple]:
    """In this block no dispatch mode is active; gives those that were."""
    modes = _thread.dispatch_modes
    _thread.dispatch_modes = ()
    try:
        yield modes
    finally:
        _thread.dispatch_modes = modes
