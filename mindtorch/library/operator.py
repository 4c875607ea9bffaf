"""`Operator`: an op that is defined while the program runs, with the kernels that it has been given.

Note [Layers of a call]: the arguments are bound to the schema; whoever looks at calls sees them (`dispatcher.call`);
then the autograd kernel runs, which in the end calls `run_kernel`: the kernel of the backend that the tensors belong
to. Kernels take and return tensors, unlike those of generated ops.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from mindtorch import errors, state
from mindtorch.autograd.history import mark_written
from mindtorch.dispatch.dispatcher import call, intercepts
from mindtorch.dispatch.keys import backend_of
from mindtorch.dispatch.overloads import OpOverload, operators
from mindtorch.dispatch.registry import OpEntry
from mindtorch.dispatch.schema_syntax import Declaration
from mindtorch.library.binding import Binder
from mindtorch.library.casting import CastError
from mindtorch.library.keys import AUTOGRAD, EXPLICIT, IMPLICIT
from mindtorch.library.results import result_check, tensors_in
from mindtorch.library.unrecorded import run_unrecorded
from mindtorch.op_names import base_of
from mindtorch.tensor import Tensor

_thread = state.thread


class Operator:
    """An op overload of `mindtorch.library`. It exists as soon as somebody registers a kernel, defined or not."""

    __kwdefaults__ = None  # as functions have it
    op: OpEntry  # set when the op is defined, as for generated functions
    declaration: Declaration
    bind: Binder
    without_tensors: Callable | None = None  # the kernel for calls without tensors, if it is a special one

    def __init__(self, name: str) -> None:
        self.name = name
        self.__name__ = base_of(name)
        self.kernels: dict[str, list[Callable]] = {}
        self.fallthrough: Callable | None = None
        self._by_class = _KernelsByClass(self)
        self._run_unrecorded = partial(run_unrecorded, self)
        self._autograd: Callable = self._run_unrecorded

    def define(self, declaration: Declaration) -> None:
        """Give the op its schema. What belongs to an earlier definition, which was taken back, goes."""
        self.declaration = declaration
        self.bind = Binder(declaration.name, declaration)
        self.without_tensors = None
        self._check_result = result_check(declaration.full_name, declaration)
        self._written: list[int] = []
        self._written_keywords: list[str] = []

    def bump_versions(self) -> None:
        """From now on the arguments that the schema says are written count as written by every call."""
        positional = [each for each in self.declaration.arguments if not each.keyword_only]
        self._written = [place for place, each in enumerate(positional) if each.written]
        self._written_keywords = [
            each.name for each in self.declaration.arguments if each.keyword_only and each.written
        ]

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
        self._by_class.clear()
        self._autograd = self._autograd_kernel()

    def _autograd_kernel(self) -> Callable:
        """What a call does first: see Note [Layers of a call]."""
        if any(key.startswith(AUTOGRAD) and key != AUTOGRAD for key in self.kernels):
            return self._run_autograd_of_backend
        return self._general_autograd()

    def _general_autograd(self) -> Callable:
        kernel = self.kernel(AUTOGRAD)
        if kernel is not None:
            return self.run_kernel if kernel is self.fallthrough else kernel
        implicit = self.kernel(IMPLICIT)
        if implicit is not None and self.kernels.keys() <= {IMPLICIT, EXPLICIT}:
            return implicit
        return self._run_unrecorded

    def _run_autograd_of_backend(self, *args: Any, **kwargs: Any) -> Any:
        backend = backend_of(array_class_of((*args, *kwargs.values())))
        kernel = self.kernel(backend.autograd_key) if backend is not None else None
        return (kernel or self._general_autograd())(*args, **kwargs)

    @property
    def has_autograd(self) -> bool:
        """Whether the op has been given an autograd kernel, or needs none."""
        return any(key.startswith(AUTOGRAD) for key in self.kernels) or self._autograd is self.kernel(IMPLICIT)

    # -------------------- calls --------------------

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if state.interceptors and intercepts(self, *args, *kwargs.values()):
            return call(self, *args, **kwargs)
        values, keywords = self.bind(args, kwargs)
        if _thread.inference:
            return self.run_kernel(*values, **keywords)
        return self._autograd(*values, **keywords)

    def run_kernel(self, *args: Any, **kwargs: Any) -> Any:
        """Run the backend's kernel: what is below autograd."""
        if self._written or self._written_keywords:
            self._mark_written(args, kwargs)
        values = (*args, *kwargs.values()) if kwargs else args
        kernel = self._by_class[array_class_of(values)]
        result = kernel(*args, **kwargs)
        try:
            return self._check_result(result)
        except CastError as error:
            raise RuntimeError(str(error)) from None

    def _mark_written(self, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        written = [args[place] for place in self._written if place < len(args)]
        written += [kwargs.get(name) for name in self._written_keywords]
        for tensor in tensors_in(written):
            if not tensor.is_inference():
                mark_written(tensor)

    # -------------------- finding kernels --------------------

    def find_kernel(self, array_class: Any) -> Callable:
        """The kernel for tensors of a backend, given by the class of its arrays; None stands for no tensors at all."""
        if array_class is None:
            return self._kernel_without_tensors()
        backend = backend_of(array_class)
        name = backend.name if backend else array_class.__name__
        kernel = self.kernel(name) or self.kernel(EXPLICIT) or self.kernel(IMPLICIT)
        if kernel is not None:
            return kernel
        if name == "Meta":
            raise NotImplementedError(_NO_FAKE.format(self.name))
        raise errors.no_kernel(self.name, name, list(self.kernels))

    def _kernel_without_tensors(self) -> Callable:
        kernel = self.without_tensors or self.kernel(EXPLICIT) or self.kernel(IMPLICIT)
        if kernel is None:
            raise NotImplementedError(_NO_TENSORS.format(self.name, ", ".join(self.kernels)))
        return kernel


class _KernelsByClass(dict):
    """The kernels that calls have found, by the class of the arrays; a registration empties it."""

    def __init__(self, operator: Operator) -> None:
        super().__init__()
        self._operator = operator

    def __missing__(self, array_class: Any) -> Callable:
        kernel = self._operator.find_kernel(array_class)
        self[array_class] = kernel
        return kernel


def array_class_of(values: Sequence[Any]) -> Any:
    """The class of the arrays of a call: that of a backend other than the CPU, if there is one among them."""
    found = None
    for value in values:
        if isinstance(value, Tensor):
            found = type(value._array)
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
