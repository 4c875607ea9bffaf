"""`Module`: the base class of all layers. It keeps parameters, buffers and submodules apart from other attributes."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from mindtorch._core.device import device as Device
from mindtorch._core.dtype import bfloat16, float16, float32, float64
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.tensor import Tensor
from mindtorch._functions.inspection import typename
from mindtorch._support import errors
from mindtorch._support.lazy import lazy
from mindtorch._support.warnings import warn
from mindtorch.autograd._engine.accumulate_grad import clear_gradient
from mindtorch.autograd._engine.hooks import RemovableHandle
from mindtorch.nn.modules import global_hooks
from mindtorch.nn.modules import state_dict as states
from mindtorch.nn.modules.calls import call_with_hooks
from mindtorch.nn.modules.global_hooks import register_module_backward_hook as register_module_backward_hook
from mindtorch.nn.modules.global_hooks import (
    register_module_buffer_registration_hook as register_module_buffer_registration_hook,
)
from mindtorch.nn.modules.global_hooks import register_module_forward_hook as register_module_forward_hook
from mindtorch.nn.modules.global_hooks import register_module_forward_pre_hook as register_module_forward_pre_hook
from mindtorch.nn.modules.global_hooks import register_module_full_backward_hook as register_module_full_backward_hook
from mindtorch.nn.modules.global_hooks import (
    register_module_full_backward_pre_hook as register_module_full_backward_pre_hook,
)
from mindtorch.nn.modules.global_hooks import (
    register_module_module_registration_hook as register_module_module_registration_hook,
)
from mindtorch.nn.modules.global_hooks import (
    register_module_parameter_registration_hook as register_module_parameter_registration_hook,
)
from mindtorch.nn.modules.state_dict import IncompatibleKeys as _IncompatibleKeys
from mindtorch.nn.parameter import Buffer, Parameter

_compiler: Any = lazy("mindtorch.compiler")

Self = TypeVar("Self", bound="Module")

_HOOK_TABLES = (
    "_backward_hooks",
    "_backward_pre_hooks",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)
_COMPLEX_IS_NEW = (
    "Complex modules are a new feature under active development whose design may change, and some modules might not "
    "work as expected when using complex tensors as parameters or buffers. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml if a complex module does not work as "
    "expected."
)


# What a layer that looks its parameters up as attributes finds in place of its table.
NO_PARAMETERS: dict[str, Any] = {}


class Module:
    """A part of a model: its parameters, its buffers, its submodules and what it does with an input."""

    _version = 1
    dump_patches = False
    call_super_init = False  # whether `__init__` passes its arguments on to the next class
    _is_full_backward_hook: bool | None = None  # what the hooks in `_backward_hooks` are, if there ever was one
    _has_plain_lookup = True  # whether members are what the tables say; layers then read these, which is faster
    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _non_persistent_buffers_set: set[str]
    _forward_pre_hooks: OrderedDict[int, Callable]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._has_plain_lookup = cls.__getattr__ is Module.__getattr__

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if (args or kwargs) and not self.call_super_init:
            raise _unexpected(self, args, kwargs)
        fields = self.__dict__
        fields["training"] = True
        fields["_parameters"] = {}
        fields["_buffers"] = {}
        fields["_non_persistent_buffers_set"] = set()
        fields["_modules"] = {}
        fields["_has_hooks"] = False  # whether a call has to look at the tables of hooks
        for table in _HOOK_TABLES:
            fields[table] = OrderedDict()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    if TYPE_CHECKING:
        forward: Callable[..., Any]  # an override takes what it likes
    else:

        def forward(self, *input: Any) -> Any:
            raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._has_hooks or global_hooks.in_use:
            return call_with_hooks(self, args, kwargs)
        return self.forward(*args, **kwargs)

    # -------------------- attributes --------------------

    def __getattr__(self, name: str) -> Tensor | Module:
        fields = self.__dict__
        for table in ("_parameters", "_buffers", "_modules"):
            members = fields.get(table)
            if members is not None and name in members:
                return members[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        fields = self.__dict__
        if isinstance(value, Parameter):
            self._make_room(name, "_parameters", "parameters")
            self.register_parameter(name, value)
        elif name in fields.get("_parameters", ()):
            _check_replacement(value, "parameter", name, "torch.nn.Parameter")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self._make_room(name, "_modules", "module")
            self._modules[name] = global_hooks.registered(global_hooks.module_registration, self, name, value)
        elif name in fields.get("_modules", ()):
            _check_replacement(value, "child module", name, "torch.nn.Module")
            self._modules[name] = global_hooks.registered(global_hooks.module_registration, self, name, value)
        elif name in fields.get("_buffers", ()) or isinstance(value, Buffer):
            self._set_buffer(name, value)
        else:
            object.__setattr__(self, name, value)

    def _make_room(self, name: str, table: str, what: str) -> None:
        """An attribute becomes a member of a table: it leaves whatever other place it had before."""
        fields = self.__dict__
        if table not in fields:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")
        for other in (fields, *[fields[each] for each in _MEMBERS if each != table]):
            other.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def _set_buffer(self, name: str, value: Any) -> None:
        if not isinstance(value, Tensor):
            _check_replacement(value, "buffer", name, "torch.nn.Buffer, torch.Tensor")
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        if isinstance(value, Buffer):
            persistent = value.persistent
        else:
            persistent = name not in self._non_persistent_buffers_set
        if type(self).register_buffer is Module.register_buffer or _takes_persistent(self.register_buffer):
            self.register_buffer(name, value, persistent)
        elif persistent:
            self.register_buffer(name, value)
        else:
            raise RuntimeError(
                "Registering a non-persistent buffer on a Module subclass that implements register_buffer() without "
                "the persistent argument is not allowed."
            )

    def __delattr__(self, name: str) -> None:
        for members in (self._parameters, self._buffers, self._modules):
            if name in members:
                del members[name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers}
        return sorted(name for name in names if not name[0].isdigit())

    # -------------------- registration --------------------

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter; None keeps the name for one that may be set later."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name(name, "parameter", self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        self._parameters[name] = global_hooks.registered(global_hooks.parameter_registration, self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is part of the state, but no parameter; only persistent ones go to the state_dict."""
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name(name, "buffer", self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = global_hooks.registered(global_hooks.buffer_registration, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_module(self, name: str, module: Module | None) -> None:
        """Add a submodule."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        if not isinstance(name, str):
            raise TypeError(f"module name should be a string. Got {typename(name)}")
        if hasattr(self, name) and name not in self._modules:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'module name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError('module name can\'t be empty string ""')
        self._modules[name] = global_hooks.registered(global_hooks.module_registration, self, name, module)

    add_module = register_module

    def _check_name(self, name: Any, what: str, members: dict) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {typename(name)}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain "."')
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and name not in members:
            raise KeyError(f"attribute '{name}' already exists")

    # -------------------- traversal --------------------

    def _named_members(
        self,
        get_members_fn: Callable[[Module], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """What a function finds in this module and in those below it; subclasses look for members of their own."""
        seen: set[int] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, member in get_members_fn(module):
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield (f"{path}.{name}" if path else name), member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters with their dotted names."""
        return self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters of this module and, with `recurse`, of those below it."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers with their dotted names."""
        return self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers of this module and, with `recurse`, of those below it."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly below this one, with their names."""
        seen: set[int] = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self) -> Iterator[Module]:
        """The modules directly below this one."""
        return (module for _, module in self.named_children())

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all below it, with their dotted names."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, path, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """This module and all below it."""
        return (module for _, module in self.named_modules(remove_duplicate=remove_duplicate))

    def get_submodule(self, target: str) -> Module:
        """The module with a dotted name."""
        module = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module in the place with a dotted name; with `strict` there must be one already."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter with a dotted name."""
        return self._get_member(target, _is_parameter, "an nn.Parameter")

    def get_buffer(self, target: str) -> Tensor:
        """The buffer with a dotted name."""
        return self._get_member(target, _is_buffer, "a buffer")

    def _get_member(self, target: str, belongs: Callable[[Module, str], bool], what: str) -> Any:
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if not hasattr(owner, name):
            raise AttributeError(f"{type(owner).__name__} has no attribute `{name}`")
        if not belongs(owner, name):
            raise AttributeError(f"`{name}` is not {what}")
        return getattr(owner, name)

    def apply(self: Self, fn: Callable[[Module], Any]) -> Self:
        """Call a function with every module below this one and then with this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # -------------------- modes and gradients --------------------

    def train(self: Self, mode: bool = True) -> Self:
        """Set training mode, which dropout and batch normalization ask for."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self: Self) -> Self:
        """Leave training mode."""
        return self.train(False)

    def requires_grad_(self: Self, requires_grad: bool = True) -> Self:
        """Whether autograd records what happens to the parameters."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or fill them with zeros."""
        for parameter in self.parameters():
            if parameter.grad is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                clear_gradient(parameter.grad)

    # -------------------- conversion --------------------

    def _apply(self: Self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace the data of every parameter and its gradient, and every buffer, by what fn makes of it."""
        for module in self.children() if recurse else ():
            module._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is not None:
                self._parameters[name] = _apply_to_parameter(parameter, fn)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self: Self, *args: Any, **kwargs: Any) -> Self:
        """Move to a device, convert floating-point parameters and buffers to a dtype, or both."""
        device, dtype, non_blocking = _parse_to(*args, **kwargs)
        memory_format = kwargs.get("memory_format")
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )
        if dtype is not None and dtype.is_complex:
            warn(_COMPLEX_IS_NEW, UserWarning)
        return self._apply(lambda tensor: _converted(tensor, device, dtype, non_blocking, memory_format))

    def to_empty(self: Self, *, device: Any, recurse: bool = True) -> Self:
        """Move to a device without copying the values."""
        return self._apply(lambda tensor: tensor.new_empty(tensor.shape, device=device), recurse)

    def cpu(self: Self) -> Self:
        return self._apply(lambda tensor: tensor.cpu())

    def cuda(self: Self, device: int | None = None) -> Self:
        return self._apply(lambda tensor: tensor.cuda(device))

    def npu(self: Self, device: Any = None) -> Self:
        return self._apply(lambda tensor: tensor.npu(device))

    def type(self: Self, dst_type: Any) -> Self:
        return self._apply(lambda tensor: tensor.type(dst_type))

    def float(self: Self) -> Self:
        return self._to_float(float32)

    def double(self: Self) -> Self:
        return self._to_float(float64)

    def half(self: Self) -> Self:
        return self._to_float(float16)

    def bfloat16(self: Self) -> Self:
        return self._to_float(bfloat16)

    def _to_float(self: Self, dtype: Any) -> Self:
        return self._apply(lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor)

    def share_memory(self: Self) -> Self:
        return self._apply(lambda tensor: tensor.share_memory_())

    # -------------------- hooks --------------------

    def _add_hook(self, table: str, hook: Any, prepend: bool = False, **flags: bool) -> RemovableHandle:
        hooks = self.__dict__[table]
        flagged = [self.__dict__[name] for name, set_ in flags.items() if set_]
        handle = RemovableHandle(hooks, extra_dict=flagged)
        hooks[handle.id] = hook
        for mark in flagged:
            mark[handle.id] = True
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        self.__dict__["_has_hooks"] = True
        return handle

    def register_forward_pre_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call hook(module, args) before forward; it may return other arguments."""
        return self._add_hook("_forward_pre_hooks", hook, prepend, _forward_pre_hooks_with_kwargs=with_kwargs)

    def register_forward_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call hook(module, args, output) after forward; it may return another output."""
        return self._add_hook(
            "_forward_hooks",
            hook,
            prepend,
            _forward_hooks_with_kwargs=with_kwargs,
            _forward_hooks_always_called=always_call,
        )

    def register_full_backward_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_output) before the gradients of the inputs are computed; it may return others."""
        return self._add_hook("_backward_pre_hooks", hook, prepend)

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_input, grad_output) when the gradients are known; it may return other grad_input."""
        return self._add_backward_hook(hook, True, prepend)

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        """Call hook(module, grad_input, grad_output) with the gradients of the node that made the output."""
        return self._add_backward_hook(hook, False, prepend=False)

    def _add_backward_hook(self, hook: Callable, is_full: bool, prepend: bool) -> RemovableHandle:
        if self._is_full_backward_hook is (not is_full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only "
                "one of them."
            )
        self._is_full_backward_hook = is_full
        return self._add_hook("_backward_hooks", hook, prepend)

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call hook(module, prefix, keep_vars) before `state_dict`."""
        return self._add_hook("_state_dict_pre_hooks", hook)

    def register_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call hook(module, state_dict, prefix, local_metadata) after `state_dict`."""
        return self._add_hook("_state_dict_hooks", states.OnlyWatches(hook))

    def _register_state_dict_hook(self, hook: Callable) -> RemovableHandle:
        """The same; the hook may return another dictionary."""
        return self._add_hook("_state_dict_hooks", hook)

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors) before loading."""
        return self._add_hook("_load_state_dict_pre_hooks", hook)

    def _register_load_state_dict_pre_hook(self, hook: Callable, with_module: bool = False) -> RemovableHandle:
        """The same; the hook is told the module only if it asks for it."""
        return self._add_hook("_load_state_dict_pre_hooks", hook if with_module else states.WithoutModule(hook))

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call hook(module, incompatible_keys) after loading."""
        return self._add_hook("_load_state_dict_post_hooks", hook)

    # -------------------- state --------------------

    def get_extra_state(self) -> Any:
        """What a subclass wants in the state_dict beside its parameters and buffers."""
        raise states.no_extra_state("get_extra_state")

    def set_extra_state(self, state: Any) -> None:
        """Take over what `get_extra_state` gave."""
        raise states.no_extra_state("set_extra_state")

    def compile(self, **choices: Any) -> None:
        """There is no compiler: the module stays as it is. `torch.compile` has the arguments, which are checked."""
        _compiler.compile(self.forward, **choices)

    def state_dict(
        self, *, destination: dict | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """The parameters and persistent buffers by dotted name."""
        return states.state_dict(self, destination, prefix, keep_vars)

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        states.save_members(self, destination, prefix, keep_vars)

    def load_state_dict(
        self, state_dict: dict[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy the values of a state_dict into the parameters and buffers, or with `assign` put them in their place."""
        return states.load_state_dict(self, state_dict, strict, assign)

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        states.load_members(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for table in _HOOK_TABLES:
            self.__dict__.setdefault(table, OrderedDict())
        self.__dict__.setdefault("_has_hooks", True)
        self.__dict__.setdefault("_non_persistent_buffers_set", set())

    # -------------------- printing --------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands between the parentheses of this module's own line."""
        return ""

    def __repr__(self) -> str:
        text = self.extra_repr()
        extra = text.split("\n") if text else []
        children = [f"({name}): {_addindent(repr(module), 2)}" for name, module in self._modules.items()]
        lines = extra + children
        if not lines:
            return f"{self._get_name()}()"
        if len(extra) == 1 and not children:
            return f"{self._get_name()}({extra[0]})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


_MEMBERS = ("_parameters", "_modules", "_buffers")


def _check_replacement(value: Any, what: str, name: str, allowed: str) -> None:
    """A member may be replaced by one of its own kind, which comes elsewhere, or by None."""
    if value is not None:
        raise TypeError(f"cannot assign '{typename(value)}' as {what} '{name}' ({allowed} or None expected)")


def _takes_persistent(register_buffer: Callable) -> bool:
    return "persistent" in inspect.signature(register_buffer).parameters


def _is_parameter(owner: Module, name: str) -> bool:
    return isinstance(getattr(owner, name), Parameter)


def _is_buffer(owner: Module, name: str) -> bool:
    return name in owner._buffers


def _addindent(text: str, count: int) -> str:
    """All lines but the first one further to the right, blank ones empty; layers of other libraries print themselves
    with it."""
    first, *lines = text.split("\n")
    return "\n".join([first, *[" " * count + line if line.strip() else "" for line in lines]])


def _apply_to_parameter(parameter: Parameter, fn: Callable[[Tensor], Tensor]) -> Parameter:
    """The same parameter with other data, or a new one where the data is of another kind."""
    data = fn(parameter.data)
    grad = None if parameter.grad is None else fn(parameter.grad.data).requires_grad_(parameter.grad.requires_grad)
    if type(data._mt_array) is type(parameter._mt_array):
        parameter.grad = None
        parameter.data = data
    else:
        parameter = Parameter(data, parameter.requires_grad)
    parameter.grad = grad
    return parameter


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool]:
    """The device, dtype and `non_blocking` of the forms of `to`: (device, dtype), (dtype), (tensor)."""
    device, dtype = kwargs.get("device"), kwargs.get("dtype")
    non_blocking = kwargs.get("non_blocking", False)
    for value in args:
        if isinstance(value, Tensor):
            device, dtype = value.device, value.dtype
        elif isinstance(value, Dtype):
            dtype = value
        elif isinstance(value, bool):
            non_blocking = value
        elif value is not None:
            device = value
    return None if device is None else Device(device), dtype, non_blocking


def _unexpected(module: Module, args: tuple, kwargs: dict[str, Any]) -> TypeError:
    """For arguments that reach `Module.__init__`, which takes none."""
    name = type(module).__name__
    if kwargs:
        return TypeError(f"{name}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'")
    return TypeError(f"{name}.__init__() takes 1 positional argument but {len(args) + 1} were given")


def _converted(tensor: Tensor, device: Any, dtype: Any, non_blocking: bool, memory_format: Any) -> Tensor:
    if tensor.is_meta and device is not None and device.type != "meta":
        raise NotImplementedError(
            f"{errors.meta_data()} Please use torch.nn.Module.to_empty() instead of torch.nn.Module.to() "
            "when moving module from meta to a different device."
        )
    wanted = dtype if tensor.is_floating_point() or tensor.is_complex() else None
    if memory_format is not None and tensor.ndim in (4, 5):
        return tensor.to(device=device, dtype=wanted, non_blocking=non_blocking, memory_format=memory_format)
    return tensor.to(device=device, dtype=wanted, non_blocking=non_blocking)
