"""Public functions, methods and properties that `__torch_function__` can take over.

Nothing of this exists in a program that overrides nothing, which is why it costs nothing there. When the first mode or
class with `__torch_function__` comes, `install` puts an `OverridableFunction` or an `OverridableProperty` in the place
of everything public. These are equal to what they stand for, so that a table of functions that a program made earlier
still finds them.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, update_wrapper
from importlib import import_module
from inspect import Signature, unwrap
from types import FunctionType, MethodType, ModuleType
from typing import Any

from mindtorch._core import state
from mindtorch._core.tensor import Tensor, load_methods, read_only  # type: ignore[attr-defined]
from mindtorch._support.own_names import is_own
from mindtorch.dispatch.families import load_families
from mindtorch.dispatch.shown_signature import whole_signature
from mindtorch.dispatch.torch_function import (
    ask,
    has_torch_function,
    in_order,
    multiple_dispatch_failed,
    no_implementation,
    overriding_arguments,
    seen_as,
    takes_over,
    when_first_used,
)

# The modules with public functions, by the name that torch has for them.
MODULES = {
    "torch": "mindtorch",
    "torch.nn.functional": "mindtorch.nn.functional",
    "torch.nn.init": "mindtorch.nn.init",
    "torch.linalg": "mindtorch.linalg",
    "torch.fft": "mindtorch.fft",
    "torch.special": "mindtorch.special",
    "torch.autograd": "mindtorch.autograd",
}

# Public functions that take no tensors, or that must see the very tensor: these cannot be overridden.
IGNORED = frozenset(
    (
        "as_subclass", "backward", "broadcast_shapes", "calculate_gain", "enable_grad", "from_dlpack", "from_numpy",
        "frombuffer", "get_default_device", "get_default_dtype", "get_num_threads", "get_printoptions",
        "get_rng_state", "gradcheck", "gradgradcheck", "import_module", "inference_mode", "initial_seed",
        "is_grad_enabled", "is_inference_mode_enabled", "is_storage", "is_tensor", "legacy_reduction", "load",
        "manual_seed", "no_grad", "printoptions", "reduction_number", "save", "seed", "set_default_device",
        "set_default_dtype", "set_grad_enabled", "set_num_threads", "set_printoptions", "set_rng_state",
        "suggested_format", "typename",
    )
)  # fmt: skip

# Of Tensor: what makes objects rather than tensors, and what a class inherits anyway.
_IGNORED_METHODS = frozenset(
    (
        "__class_getitem__", "__delattr__", "__dir__", "__getattr__", "__getattribute__", "__getstate__", "__hash__",
        "__init__", "__init_subclass__", "__iter__", "__new__", "__setattr__", "__setstate__", "__sizeof__", "__str__",
        "__subclasshook__", "__torch_dispatch__", "__torch_function__", "_make_subclass", "_make_wrapper_subclass",
        "alias", "as_subclass", "new",
    )
)  # fmt: skip

# The method that a Python operator reports as: torch's operators are other names of these.
_OPERATORS = {
    "__abs__": "abs", "__add__": "add", "__ge__": "ge", "__gt__": "gt", "__iadd__": "add_", "__imul__": "mul_",
    "__isub__": "sub_", "__itruediv__": "div_", "__le__": "le", "__lt__": "lt", "__matmul__": "matmul",
    "__mod__": "remainder", "__mul__": "mul", "__ne__": "ne", "__neg__": "neg", "__pos__": "positive",
    "__radd__": "add", "__rmul__": "mul", "__sub__": "sub", "__truediv__": "div",
}  # fmt: skip

_BINARY = _OPERATORS.keys() - {"__abs__", "__neg__", "__pos__"}

# What torch has written in Python, besides nn.functional: it passes everything that has a default by keyword.
_WRITTEN_IN_PYTHON = frozenset(
    (
        "__array__", "__contains__", "__deepcopy__", "__floordiv__", "__len__", "__pow__", "__repr__",
        "__reversed__", "__rfloordiv__", "__rmatmul__", "__rmod__", "__rpow__", "__rsub__", "__rtruediv__",
        "atleast_1d", "atleast_2d", "atleast_3d", "backward", "block_diag", "broadcast_tensors", "cartesian_prod",
        "cdist", "chain_matmul", "einsum", "is_shared", "meshgrid", "norm", "register_hook",
        "register_post_accumulate_grad_hook", "share_memory_", "split", "stft", "storage", "tensordot", "unique",
        "unique_consecutive",
    )
)  # fmt: skip

# Functions of nn.functional that torch has written in C++, which are Python here: they pass on what they are given.
_WRITTEN_IN_C = frozenset(("cosine_similarity", "logsigmoid", "pairwise_distance", "softshrink"))

# Parameters of torch's own that begin with an underscore.
_PASSED_ON = frozenset(("_random_samples", "_stacklevel"))

# Parameters that torch's function does not pass on: overrides never see their values.
_NOT_PASSED_ON = {"l1_loss": ("weight",)}


class OverridableFunction:
    """A function or method that checks for `__torch_function__` before it runs."""

    def __init__(self, function: Callable, name: str, module: str) -> None:
        update_wrapper(self, function)
        self.__name__ = self.__qualname__ = name
        self.__module__ = module
        self.function = function
        self.reported: Any = self  # what `__torch_function__` gets to see: an operator reports as a method
        self.in_python = name in _WRITTEN_IN_PYTHON or (
            module in ("torch.autograd", "torch.nn.functional")
            and not hasattr(function, "op")
            and name not in _WRITTEN_IN_C
        )

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if not state.active_modes or not has_torch_function((*args, *kwargs.values())):
            return self.function(*args, **kwargs)
        if self.in_python and not self.__name__.startswith("__"):
            hidden = _NOT_PASSED_ON.get(self.__name__, ())
            args, kwargs = _defaults_by_keyword(_signature(self.function), hidden, args, kwargs)
        overriders = self._overriders(args, kwargs)
        try:
            answer = ask(self.reported, overriders, args, kwargs if self.in_python else kwargs or None)
        except TypeError:
            if self.__name__ in _BINARY:
                return NotImplemented  # as torch's operators do, so that Python asks the other operand
            raise
        if answer is NotImplemented and self.__name__ not in _BINARY:
            error = no_implementation if self.in_python else multiple_dispatch_failed
            raise error(f"{self.__module__}.{self.__name__}", overriders)
        return answer

    def _overriders(self, args: tuple, kwargs: dict[str, Any]) -> list[Any]:
        """Those that are asked. torch counts plain tensors, too, where it is written in Python, and of methods that
        have no other argument."""
        values = (*args, *kwargs.values())
        if self.in_python or (self.__module__ == "torch.Tensor" and _is_lonely(self.function)):
            found = in_order(value for value in values if type(value) is Tensor or takes_over(type(value)))
            return found or overriding_arguments(values)
        return overriding_arguments(values)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __eq__(self, other: object) -> bool:
        return other is self or other is self.function

    def __hash__(self) -> int:
        return hash(self.function)

    def __repr__(self) -> str:
        return repr(self.function)

    def __reduce__(self) -> tuple:
        """By its name: where it is loaded, nothing may be overridden."""
        return _named, (self.__module__, self.__name__)


def _named(module: str, name: str) -> Any:
    """What has this name of torch's at present. `torch.linalg.linalg_svd` is in the module as `svd`."""
    place: Any = import_module("mindtorch")
    for part in module.split(".")[1:]:
        place = getattr(place, part)
    short = name.removeprefix(f"{module.rpartition('.')[2]}_")
    return getattr(place, name if hasattr(place, name) else short)


@cache
def _signature(function: Callable) -> Signature:
    return whole_signature(unwrap(function))


@cache
def _is_lonely(method: Callable) -> bool:
    """Whether a method takes nothing but its tensor."""
    return all(place == 0 or _is_ours(name) for place, name in enumerate(_signature(method).parameters))


def _is_ours(parameter: str) -> bool:
    """Whether torch's function has no such parameter: ours is there for an operator, or is NumPy's name of another."""
    return (parameter.startswith("_") and parameter not in _PASSED_ON) or parameter in ("axis", "keepdims")


def _defaults_by_keyword(
    parameters: Signature, hidden: Sequence[str], args: tuple, kwargs: dict[str, Any]
) -> tuple[tuple, dict[str, Any]]:
    """The call with everything that has a default as a keyword; what is hidden only if it differs from its default."""
    bound = parameters.bind(*args, **kwargs)
    bound.apply_defaults()
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for name, parameter in parameters.parameters.items():
        value = bound.arguments[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            # einsum(equation, operands) is the old form.
            is_list = len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], (list, tuple))
            positional += (value[0], *value[1]) if is_list else value
        elif parameter.default is parameter.empty or parameter.default is ...:  # a default that stands for none
            positional.append(value)
        elif value is not parameter.default or not (_is_ours(name) or name in hidden):
            keywords[name] = value
    return tuple(positional), keywords


class OverridableProperty:
    """A property of Tensor whose `__get__` and `__set__` may be overridden."""

    def __init__(self, inner: property, name: str) -> None:
        self.inner = inner
        self.__name__ = name
        self.__doc__ = inner.__doc__
        self.__objclass__ = Tensor

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        if state.active_modes and has_torch_function((instance,)):
            return self._taken_over(self.__get__, (instance,))
        return self.inner.__get__(instance, owner)

    def __set__(self, instance: Any, value: Any) -> None:
        if state.active_modes and has_torch_function((instance, value)):
            self._taken_over(self.__set__, (instance, value))
        else:
            self.inner.__set__(instance, value)

    def __delete__(self, instance: Any) -> None:
        if state.active_modes and has_torch_function((instance,)):
            self._taken_over(self.__delete__, (instance,))
        else:
            self.inner.__delete__(instance)

    def _taken_over(self, accessor: Callable, args: tuple) -> Any:
        overriders = overriding_arguments(args) or in_order(args[:1])
        answer = ask(accessor, overriders, args, None)
        if answer is NotImplemented:
            raise multiple_dispatch_failed(f"torch.Tensor.{self.__name__}.{accessor.__name__}", overriders)
        return answer


# -------------------- putting them in place --------------------


def overridable(function: Any) -> Any:
    """What stands for a function; the function itself if nothing does."""
    return seen_as.get(function, function)


def _is_function(value: Any) -> bool:
    return (
        isinstance(value, FunctionType) and is_own(value.__module__) and not hasattr(value, "calls_what_is_overridable")
    )


def public_functions(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The functions of a module that can be taken over."""
    for name in list(getattr(module, "__all__", vars(module))):
        if not name.startswith("_") and name not in IGNORED and _is_function(value := getattr(module, name)):
            yield name, value


def install() -> None:
    """Make everything public overridable."""
    load_families()
    load_methods()
    for torch_name, module_name in MODULES.items():
        module = import_module(module_name)
        for name, value in public_functions(module):
            if value not in seen_as:
                seen_as[value] = OverridableFunction(value, _name_in_torch(name, value), torch_name)
            setattr(module, name, seen_as[value])
    for name, value in list(vars(Tensor).items()):
        if name not in _IGNORED_METHODS:
            _install_attribute(name, value)
    for operator, name in _OPERATORS.items():
        vars(Tensor)[operator].reported = vars(Tensor)[name]


def _name_in_torch(name: str, function: Any) -> str:
    """torch.fft.fft calls itself fft_fft, as the op does."""
    return function.__name__ if function.__name__.endswith(f"_{name}") else name


def _install_attribute(name: str, value: Any) -> None:
    if isinstance(value, (property, read_only)):
        setattr(Tensor, name, OverridableProperty(value, name))
    elif _is_function(value):
        setattr(Tensor, name, OverridableFunction(value, name, "torch.Tensor"))


when_first_used(install)
