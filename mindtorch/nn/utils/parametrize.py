"""Parametrizations: a parameter of a module as a function of other tensors, which are what is trained."""

from __future__ import annotations

import copyreg
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, NoReturn, cast

from mindtorch._core.tensor import Tensor
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.nn.modules.container import ModuleDict, ModuleList
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter

_cache_enabled = 0
_cache: dict[tuple[int, str], Any] = {}


@contextmanager
def cached() -> Iterator[None]:
    """In this block each parametrized tensor is computed once."""
    global _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache.clear()


# -------------------- the parametrizations of one tensor --------------------


class ParametrizationList(ModuleList):
    """The parametrizations of a tensor, one after the other, and the tensor or the tensors that they begin with."""

    original: Tensor

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with no_grad():
            new = _inverted(reversed(list(modules)), original)
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            self._begin_with(original, new)
        else:
            self._begin_with_several(original, new)
        if not unsafe:
            _check_result(self(), shape, dtype)

    def _begin_with(self, original: Tensor, new: Tensor) -> None:
        if original.dtype != new.dtype:
            raise ValueError(
                "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
            )
        with no_grad():
            original.set_(new)
        _register(self, "original", original)

    def _begin_with_several(self, original: Tensor, new: Sequence[Any]) -> None:
        for number, each in enumerate(new):
            if not isinstance(each, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                    f"Got element {number} of the sequence with type {type(each).__name__}."
                )
            if isinstance(original, Parameter):
                each = Parameter(each, original.requires_grad)
            each.requires_grad_(original.requires_grad)
            _register(self, f"original{number}", each)

    def _originals(self) -> list[Tensor]:
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{number}") for number in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Set the original tensors so that the parametrized one has this value."""
        with no_grad():
            new: Any = value
            for module in cast(Iterator[Any], reversed(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                new = module.right_inverse(new)
            if self.is_tensor:
                self._set_original(new)
            else:
                self._set_originals(new)

    def _set_original(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
        if value.dtype != self.original.dtype:
            raise ValueError(
                f"The tensor returned by `right_inverse` has dtype {value.dtype} while `original` has dtype "
                f"{self.original.dtype}"
            )
        self.original.set_(value)

    def _set_originals(self, values: Any) -> None:
        if not isinstance(values, Sequence):
            raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(values).__name__}.")
        if len(values) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of "
                f"length {len(values)}."
            )
        for number, (value, original) in enumerate(zip(values, self._originals())):
            if value.dtype != original.dtype:
                raise ValueError(
                    f"Tensor {number} returned by `right_inverse` has dtype {value.dtype} while `original{number}` "
                    f"has dtype {original.dtype}"
                )
            original.set_(value)

    def forward(self) -> Any:
        first, *others = self
        result = first(*self._originals())
        for module in others:
            result = module(result)
        return result


def _inverted(modules: Iterator[Any], original: Tensor) -> Any:
    """What the parametrizations make the original of; one that cannot tell takes the tensor as it is."""
    new: Any = original
    for module in modules:
        if hasattr(module, "right_inverse"):
            try:
                new = module.right_inverse(new)
            except NotImplementedError:
                continue
    if not isinstance(new, (Tensor, Sequence)):
        raise ValueError(
            "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
            f"Got {type(new).__name__}"
        )
    return new


def _check_result(result: Any, shape: Any, dtype: Any) -> None:
    if not isinstance(result, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
    for name, before, after in (("dtype", dtype, result.dtype), ("shape", shape, result.shape)):
        if before != after:
            raise ValueError(
                f"Registering a parametrization may not change the {name} of the tensor, unless `unsafe` flag is "
                f"enabled.\nunparametrized {name}: {before}\nparametrized {name}: {after}"
            )


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


# -------------------- modules with parametrizations --------------------


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Compute a parameter or buffer by a module from now on; a further one takes what the others give."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_further(module, tensor_name, parametrization)
        earlier = cast(ParametrizationList, cast(ModuleDict, module.parametrizations)[tensor_name])
        earlier.append(parametrization)
        earlier.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        parametrizations = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _give_own_class(module)
            module.parametrizations = ModuleDict()
        setattr(type(module), tensor_name, _property_of(tensor_name))
        cast(ModuleDict, module.parametrizations)[tensor_name] = parametrizations
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def _check_further(module: Module, name: str, parametrization: Any) -> None:
    before = getattr(module, name)
    after = parametrization(before)
    if not isinstance(after, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(after).__name__}.")
    for fact in ("dtype", "shape"):
        if getattr(before, fact) != getattr(after, fact):
            raise ValueError(
                f"Registering a parametrization may not change the {fact} of the tensor, unless the `unsafe` flag is "
                f"enabled.\nmodule.{name}.{fact}: {getattr(before, fact)}\n"
                f"parametrization(module.{name}).{fact}: {getattr(after, fact)}"
            )
    if hasattr(parametrization, "right_inverse"):
        _check_inverse(before, after, name, parametrization)


def _check_inverse(before: Tensor, after: Tensor, name: str, parametrization: Any) -> None:
    try:
        back = parametrization.right_inverse(after)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    for fact in ("dtype", "shape"):
        if getattr(before, fact) != getattr(back, fact):
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {fact} as module.{name}, "
                f"unless the `unsafe` flag is enabled.\nmodule.{name}.{fact}: {getattr(before, fact)}\n"
                f"returned {fact}: {getattr(back, fact)}"
            )


def _give_own_class(module: Module) -> None:
    """A class for this module alone, to which properties can be added."""
    cls = type(module)
    fields: dict[str, Any] = {"__getstate__": _refuse_to_pickle}
    if not hasattr(cls, "__deepcopy__"):
        fields["__deepcopy__"] = _deep_copy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), fields)


def _refuse_to_pickle(self: Any) -> NoReturn:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def _deep_copy(self: Any, memo: dict[int, Any]) -> Any:
    if id(self) in memo:
        return memo[id(self)]
    cls: Any = type(self)
    copy = memo[id(self)] = cls.__new__(cls)
    copy.__dict__ = deepcopy(self.__dict__, memo)
    for slot in copyreg._slotnames(type(self)):  # type: ignore[attr-defined]
        if hasattr(self, slot):
            setattr(copy, slot, deepcopy(getattr(self, slot), memo))
    return copy


def _property_of(name: str) -> property:
    def get(self: Any) -> Any:
        parametrization = self.parametrizations[name]
        if not _cache_enabled:
            return parametrization()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = parametrization()
        return _cache[key]

    def set_(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(get, set_)


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Whether a module has parametrizations, or one of a certain tensor."""
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make a tensor an ordinary one again, with the value that it had or with that of the original."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    original = _left_over(module, tensor_name, leave_parametrized)
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def _left_over(module: Any, name: str, leave_parametrized: bool) -> Tensor:
    parametrizations = module.parametrizations[name]
    if parametrizations.is_tensor:
        original = parametrizations.original
        if leave_parametrized:
            with no_grad():
                original.set_(getattr(module, name))
        return original
    if not leave_parametrized:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    value = getattr(module, name)
    return Parameter(value) if value.requires_grad else value


def type_before_parametrizations(module: Module) -> type:
    """The class that a module had before it got parametrizations."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module: Any, to_module: Any, tensor_name: str | None = None) -> Module:
    """Give another module the same parametrizations, and their tensors."""
    if not is_parametrized(from_module):
        return to_module
    for name in from_module.parametrizations if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        source = from_module.parametrizations[name]
        for parametrization in source:
            register_parametrization(to_module, name, parametrization)
        target = to_module.parametrizations[name]
        if source.is_tensor:
            target.original = source.original
        for number in range(0 if source.is_tensor else source.ntensors):
            setattr(target, f"original{number}", getattr(source, f"original{number}"))
    return to_module
