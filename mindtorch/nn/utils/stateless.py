"""Calling a module with parameters and buffers that are not its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.nn.modules.module import Module

_MISSING = object()  # in place of an attribute that a module did not have


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """The old name of `torch.func.functional_call`."""
    warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
        "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
    )
    return call_with(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)


def call_with(
    module: Module,
    tensors: dict[str, Any],
    args: Any,
    kwargs: dict[str, Any] | None,
    *,
    tie_weights: bool,
    strict: bool,
) -> Any:
    """Call a module with other tensors in the places of its own; what it assigns to these places goes to `tensors`."""
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    with _reparametrize_module(module, tensors, tie_weights=tie_weights, strict=strict):
        return module(*args, **(kwargs or {}))


@contextmanager
def _reparametrize_module(
    module: Module, tensors: dict[str, Any], tie_weights: bool = False, strict: bool = False
) -> Iterator[None]:
    """Within this block the tensors are the module's."""
    wanted = _with_tied(module, tensors) if tie_weights else tensors
    if strict:
        _check_names(module, wanted)
    originals: dict[str, Any] = {}
    try:
        for name, tensor in wanted.items():
            originals[name] = _swap(module, name, tensor)
        yield
    finally:
        after = {name: _swap(module, name, tensor) for name, tensor in originals.items()}
        tensors.update({name: after[name] for name in tensors if name in after})


def _all_names(module: Module) -> dict[str, Tensor]:
    """All parameters and buffers by name, those with several names included."""
    return dict(module.named_parameters(remove_duplicate=False)) | dict(module.named_buffers(remove_duplicate=False))


def _with_tied(module: Module, tensors: dict[str, Any]) -> dict[str, Any]:
    """The tensors, each under all the names that the module has for it."""
    names_of: dict[Tensor, list[str]] = {}
    for name, own in _all_names(module).items():
        names_of.setdefault(own, []).append(name)
    result = dict(tensors)
    for names in names_of.values():
        given = {tensors[name]: name for name in names if name in tensors}
        if len(names) == 1 or not given:
            continue
        if len(given) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(names)}, which are tied. Consider using "
                "tie_weights=False"
            )
        (value,) = given
        result.update(dict.fromkeys(names, value))
    return result


def _check_names(module: Module, tensors: dict[str, Any]) -> None:
    valid = set(_all_names(module))
    problems = [
        f"{what} key(s): {', '.join(map(repr, sorted(names)))}."
        for what, names in (("Unexpected", set(tensors) - valid), ("Missing", valid - set(tensors)))
        if names
    ]
    if problems:
        lines = "\n\t".join(problems)
        raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:\n\t{lines}")


def _swap(module: Module, name: str, tensor: Any) -> Any:
    """Put a tensor in the place of another one, and return that."""
    path, _, attribute = name.rpartition(".")
    owner = _submodule(module, path)
    if tensor is not _MISSING and tensor is not None and not isinstance(tensor, Tensor):
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")
    if attribute == "":
        raise KeyError('tensor name can\'t be empty string ""')
    for registered in (owner._parameters, owner._buffers):
        if attribute in registered:
            return _swap_registered(registered, attribute, tensor)
    return _swap_attribute(owner, attribute, tensor)


def _swap_registered(registered: dict[str, Any], name: str, tensor: Any) -> Any:
    original = registered[name]
    if tensor is _MISSING:
        del registered[name]
    else:
        registered[name] = tensor
    return original


def _swap_attribute(owner: Module, name: str, tensor: Any) -> Any:
    original = getattr(owner, name, _MISSING)
    if original is not _MISSING and original is not None and not isinstance(original, Tensor):
        raise TypeError(f"attribute `{name}`: {original} is not an instance of torch.Tensor")
    if tensor is not _MISSING:
        setattr(owner, name, tensor)
    elif original is not _MISSING:
        delattr(owner, name)
    return original


def _submodule(module: Module, path: str) -> Module:
    for attribute in path.split(".") if path else ():
        found = getattr(module, attribute, _MISSING)
        if found is _MISSING:
            raise AttributeError(f"{module._get_name()} has no attribute `{attribute}`")
        if not isinstance(found, Module):
            raise TypeError(f"submodule `{path}`: {found} is not an instance of torch.nn.Module")
        module = found
    return module
