"""The older `weight_norm`, which computes the weight before every call of the module."""

from __future__ import annotations

from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.dispatch import ops
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter
from mindtorch.nn.utils import weights


class WeightNorm:
    """Makes a weight of `<name>_g` and `<name>_v`, as a hook before forward."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return weights.weight_norm(v, g, self.dim)

    def apply_to(self, module: Module) -> None:
        """Put length and direction in the place of the weight."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == self.name:
                raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {self.name}")
        weight = getattr(module, self.name)
        del module._parameters[self.name]
        length = ops.norm_except_dim(weight, 2, self.dim)
        module.register_parameter(self.name + "_g", Parameter(length.data))
        module.register_parameter(self.name + "_v", Parameter(weight.data))
        setattr(module, self.name, self.compute_weight(module))
        module.register_forward_pre_hook(self)

    def remove(self, module: Module) -> None:
        """Put the weight back."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"], module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Train the length and the direction of a weight apart. `parametrizations.weight_norm` is the newer one."""
    warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
    )
    WeightNorm(name, dim).apply_to(module)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Make the weight an ordinary one again."""
    return weights.remove_hook(module, WeightNorm, name, "weight_norm")
