"""`Operator`: an op that is defined while the program runs, with the kernels that it has been given.

Note [Layers of a call]: inside `amp.autocast` a kernel for that takes the call; whoever looks at calls sees it
(`dispatcher.call`); the arguments are bound to the schema; then the autograd kernel runs, which in the end calls
`run_kernel`: the kernel of the backend that the tensors belong to. Kernels take and return tensors, unlike those of
generated ops. Calls that only the last kernel is needed for go straight to it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

import numpy as np

from mindtorch._core import state
from mindtorch._core.batched_array import BatchedArray
from mindtorch._core.tensor import Tensor
from mindtorch._support import errors
from mindtorch._support.op_names import base_of
from mindtorch.autograd._engine.history import mark_written
from mindtorch.autograd.function_vmap import by_rule
from mindtorch.dispatch.call_form import tensors_among
from mindtorch.dispatch.dispatcher import call, intercepts
from mindtorch.dispatch.keys import backend_of
from mindtorch.dispatch.modes import autocast, torch_dispatch
from mindtorch.dispatch.modes.batching import no_batching_rule, one_by_one
from mindtorch.dispatch.overloads import OpOverload, operators
from mindtorch.dispatch.registry import OpEntry
from mindtorch.dispatch.schema.syntax import Declaration
from mindtorch.dispatch.torch_function import overriding_arguments
from mindtorch.library.binding import Binder
from mindtorch.library.keys import AUTOCAST, AUTOGRAD, BATCHED, EXPLICIT, IMPLICIT
from mindtorch.library.results import result_check
from mindtorch.library.straight import Plans, class_outside_autograd
from mindtorch.library.unrecorded import run_unrecorded

_thread = state.thread


def fallthrough_kernel() -> NoReturn:
    """What to register for a key to have calls pass it by."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


class Operator:
    """An op overload of `mindtorch.library`. It exists from the first registered kernel on, defined or not."""

    op: OpEntry  # set when the op is defined, as for generated functions
    declaration: Declaration
    bind: Binder
    _without_tensors: Callable | None = None  # the kernel for calls without tensors, if it is a special one
    _written: Sequence[int] = ()  # the places, and the names, of the arguments that calls count as written
    _written_keywords: Sequence[str] = ()

    def __init__(self, name: str) -> None:
        self.name = name
        self.__name__ = base_of(name)
        self.kernels: dict[str, list[Callable]] = {}
        self._run_unrecorded = partial(run_unrecorded, self)
        self._found_autograd = _ByClass(self._find_autograd)
        self._found_kernels = _ByClass(self._find_kernel)
        self._found_straight = _ByClass(self.straight_kernel)
        self._plans = Plans(self)

    def define(self, declaration: Declaration) -> None:
        """Give the op its schema. What belongs to an earlier definition, which was taken back, goes."""
        self.declaration = declaration
        self.bind = Binder(declaration.name, declaration)
        self._check_result = result_check(declaration.full_name, declaration)
        self._without_tensors = None
        self._written = self._written_keywords = ()
        self._changed()

    def bump_versions(self) -> None:
        """From now on the arguments that the schema says are written count as written by every call."""
        positional = [each for each in self.declaration.arguments if not each.keyword_only]
        self._written = [place for place, each in enumerate(positional) if each.written]
        self._written_keywords = [
            each.name for each in self.declaration.arguments if each.keyword_only and each.written
        ]
        self._changed()

    def choose_without_tensors(self, kernel: Callable) -> None:
        """From now on calls without tensors go to this kernel."""
        self._without_tensors = kernel
        self._changed()

    @property
    def overload(self) -> OpOverload:
        """The op as users know it."""
        namespace, _, name = self.name.partition("::")
        return operators._overload(namespace, name)

    # -------------------- kernels --------------------

    def add_kernel(self, key: str, kernel: Callable) -> None:
        """Register a kernel; the newest one of a key is used."""
        self.kernels.setdefault(key, []).append(kernel)
        self._changed()

    def remove_kernel(self, key: str, kernel: Callable) -> None:
        """Take a kernel away; the one before it is used again."""
        self.kernels[key].remove(kernel)
        if not self.kernels[key]:
            del self.kernels[key]
        self._changed()

    def kernel(self, key: str) -> Callable | None:
        return self.kernels[key][-1] if key in self.kernels else None

    def _changed(self) -> None:
        for found in (self._found_autograd, self._found_kernels, self._found_straight, self._plans):
            found.clear()

    @property
    def has_autograd(self) -> bool:
        """Whether the op has been given an autograd kernel, or needs none."""
        has_own = any(key.startswith(AUTOGRAD) for key in self.kernels)
        return has_own or self._found_autograd[np.ndarray] is not self._run_unrecorded

    # -------------------- calls --------------------

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if state.active_modes:
            return self._call_looked_at(args, kwargs)
        classes = tuple(map(type, args))
        kernel, tensors, fits = self._plans[(*classes, *kwargs, *map(type, kwargs.values())) if kwargs else classes]
        if kernel is not None and (fits is None or fits(args, kwargs)):
            for place in tensors:
                tensor = args[place]
                if tensor._mt_edge is not None or type(tensor._mt_array) is not np.ndarray:
                    break
            else:
                return self._check_result(kernel(*args, **kwargs))
        values, keywords = self.bind(args, kwargs)
        array_class = class_outside_autograd((*values, *keywords.values()) if keywords else values)
        if array_class is not AUTOGRAD:
            kernel = self._found_straight[array_class]
            if kernel is not None:
                return self._check_result(kernel(*values, **keywords))
        return self._run(values, keywords)

    def _call_looked_at(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A call while something is switched on that may look at calls, or change what they do."""
        kernel = None if _thread.autocast is None else self._autocast_kernel(args, kwargs)
        if kernel is not None:
            values, keywords = self.bind(args, kwargs)
            return kernel(*values, **keywords)
        if intercepts(self, *args, *kwargs.values()):
            return call(self, *args, **kwargs)
        values, keywords = self.bind(args, kwargs)
        return self.run_kernel(*values, **keywords) if _thread.inference else self._run(values, keywords)

    def _autocast_kernel(self, args: tuple, kwargs: dict[str, Any]) -> Callable | None:
        """The kernel of an op for calls inside `autocast`, if it was given one for the device of the tensors."""
        kernels = {key.removeprefix(AUTOCAST).lower(): key for key in self.kernels if key.startswith(AUTOCAST)}
        if not kernels or (_thread.torch_function and overriding_arguments((*args, *kwargs.values()))):
            return None
        device_type = autocast.device_meant(kernels, args, kwargs)
        return self.kernel(kernels[device_type]) if device_type else None

    def _run(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Run the autograd kernel."""
        return self._found_autograd[array_class_of((*args, *kwargs.values()))](*args, **kwargs)

    def run_kernel(self, *args: Any, **kwargs: Any) -> Any:
        """Run the backend's kernel: what is below autograd."""
        if state.active_modes and torch_dispatch.is_wanted((*args, *kwargs.values())):
            return torch_dispatch.ask(self.overload, args, kwargs)
        if self._written or self._written_keywords:
            self._mark_written(args, kwargs)
        kernel = self._found_kernels[array_class_of((*args, *kwargs.values()) if kwargs else args)]
        return self._check_result(kernel(*args, **kwargs))

    def _mark_written(self, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        written = [args[place] for place in self._written if place < len(args)]
        written += [kwargs.get(name) for name in self._written_keywords]
        for tensor in tensors_among(written):
            if not tensor.is_inference():
                mark_written(tensor)

    # -------------------- finding kernels --------------------
    # By the class of the arrays of a call; None stands for a call without tensors.

    def _find_autograd(self, array_class: Any) -> Callable:
        """What a call does first: see Note [Layers of a call]."""
        if array_class is None:
            return self.run_kernel
        backend = backend_of(array_class)
        kernel = self.kernel(backend.autograd_key) if backend is not None else None
        if kernel is None and self.kernels.keys().isdisjoint((_backend_name(array_class), EXPLICIT)):
            kernel = self.kernel(IMPLICIT)
        kernel = kernel or self.kernel(AUTOGRAD) or self._run_unrecorded
        return self.run_kernel if kernel is fallthrough_kernel else kernel

    def straight_kernel(self, array_class: Any) -> Callable | None:
        """The backend's kernel, if nothing but it is needed for tensors that are outside of autograd."""
        autograd = self._found_autograd[array_class]
        only_records = autograd in (self._run_unrecorded, self.run_kernel) or hasattr(autograd, "only_records")
        if not only_records or self._written or self._written_keywords:
            return None
        return self._kernel_for(array_class)

    def _kernel_for(self, array_class: Any) -> Callable | None:
        own = self._without_tensors if array_class is None else self.kernel(_backend_name(array_class))
        return own or self.kernel(EXPLICIT) or self.kernel(IMPLICIT)

    def _find_kernel(self, array_class: Any) -> Callable:
        kernel = self._kernel_for(array_class)
        if array_class is BatchedArray and (kernel is None or kernel is not self.kernel(IMPLICIT)):
            return self._batched_kernel()
        if kernel is not None:
            return kernel
        if array_class is None:
            raise NotImplementedError(_NO_TENSORS.format(self.name, ", ".join(self.kernels)))
        name = _backend_name(array_class)
        if name == "Meta":
            raise NotImplementedError(_NO_FAKE.format(self.name))
        raise errors.no_kernel(self.name, name, list(self.kernels))

    def _batched_kernel(self) -> Callable:
        """The rule for `vmap`, or the op for each sample; one that writes could not write to what samples share."""
        rule = self.kernel(BATCHED)
        if rule is not None:
            return partial(by_rule, rule)
        if self.declaration.is_mutable:
            raise no_batching_rule(self.name)
        return partial(one_by_one, self.name, self.run_kernel)


class _ByClass(dict):
    """What calls have found, by the class of the arrays; a registration empties it."""

    def __init__(self, find: Callable[[Any], Any]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, array_class: Any) -> Any:
        found = self[array_class] = self._find(array_class)
        return found


def _backend_name(array_class: type) -> str:
    backend = backend_of(array_class)
    return backend.name if backend else array_class.__name__


def array_class_of(values: Sequence[Any]) -> Any:
    """The class of the arrays of a call: that of a backend other than the CPU, if there is one among them."""
    found = None
    for value in values:
        if isinstance(value, Tensor):
            found = type(value._mt_array)
        elif isinstance(value, list):
            found = array_class_of(value) or found
        if found is not None and found is not np.ndarray:
            return found
    return found


_NO_FAKE = (
    "{}: attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel registered. You "
    "may have run into this message while using an operator with PT2 compilation APIs (torch.compile/torch.export); in "
    "order to use this operator with those APIs you'll need to add a fake impl. Please see the following for next "
    "steps:  https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html"
)
_NO_TENSORS = (
    "There were no tensor arguments to this function (e.g., you passed an empty list of Tensors), but no fallback "
    "function is registered for schema {}.  This usually means that this function requires a non-empty list of "
    "Tensors, or that you (the operator writer) forgot to register a fallback function.  Available functions are [{}]."
)
