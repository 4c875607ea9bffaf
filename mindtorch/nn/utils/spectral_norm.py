"""The older `spectral_norm`, which computes the weight before every call of the module."""

from __future__ import annotations

from typing import Any

from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.tensor import Tensor
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch import ops
from mindtorch.nn.functional import normalize
from mindtorch.nn.modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter
from mindtorch.nn.utils import weights


class SpectralNorm:
    """Divides `<name>_orig` by its largest singular value, as a hook before forward."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.n_power_iterations = n_power_iterations
        self.dim = dim
        self.eps = eps

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        weight, u, v = (getattr(module, self.name + end) for end in ("_orig", "_u", "_v"))
        matrix = weights.as_matrix(weight, self.dim)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalize(ops.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(normalize(ops.mv(matrix, v), dim=0, eps=self.eps))
            # Copies, because the next call writes to them.
            u, v = u.clone(memory_format=contiguous_format), v.clone(memory_format=contiguous_format)
        return weight / ops.dot(u, ops.mv(matrix, v))

    def apply_to(self, module: Module) -> None:
        """Put the original and the singular vectors in the place of the weight."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == self.name:
                raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {self.name}")
        weight = module._parameters[self.name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{self.name}` is None")
        with no_grad():
            sizes = weights.as_matrix(weight, self.dim).size()
            u, v = (normalize(weight.new_empty(size).normal_(0, 1), dim=0, eps=self.eps) for size in sizes)
        delattr(module, self.name)
        module.register_parameter(self.name + "_orig", weight)
        setattr(module, self.name, weight.data)
        module.register_buffer(self.name + "_u", u)
        module.register_buffer(self.name + "_v", v)
        module.register_forward_pre_hook(self)

    def remove(self, module: Module) -> None:
        """Put the weight back."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for end in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + end)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Keep the largest singular value of a weight at 1. `parametrizations.spectral_norm` is the newer one."""
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    SpectralNorm(name, n_power_iterations, dim, eps).apply_to(module)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Make the weight an ordinary one again."""
    return weights.remove_hook(module, SpectralNorm, name, "spectral_norm")
