"""`LazyModuleMixin`: modules that take the sizes of their parameters from their first input."""

from __future__ import annotations

from itertools import chain
from typing import Any

from mindtorch.autograd.grad_mode import no_grad
from mindtorch.nn.parameter import is_lazy


class LazyModuleMixin:
    """Before the first call, `initialize_parameters` gives the parameters their shapes; then the class changes."""

    cls_to_become: Any = None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self.register_load_state_dict_pre_hook(_give_shapes)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _tensors(self: Any) -> Any:
        return chain(self._parameters.items(), self._buffers.items())

    def _save_to_state_dict(self: Any, destination: dict, prefix: str, keep_vars: bool) -> None:
        for name, tensor in self._tensors():
            if tensor is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = tensor if is_lazy(tensor) or keep_vars else tensor.detach()

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters the shapes that the input asks for."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """Whether the shape of one of the parameters or buffers is not known yet."""
        return any(is_lazy(tensor) for _, tensor in self._tensors())

    def _infer_parameters(self: Any, module: Any, args: Any, kwargs: Any = None) -> None:
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become


def _give_shapes(module: Any, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
    """The shapes of the tensors that are about to be loaded."""
    for name, tensor in module._tensors():
        given = state_dict.get(prefix + name)
        if given is not None and is_lazy(tensor) and not is_lazy(given):
            with no_grad():
                tensor.materialize(given.shape)
