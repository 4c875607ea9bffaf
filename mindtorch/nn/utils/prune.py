"""Pruning: a mask that sets some of the elements of a parameter to zero, and keeps them there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any

from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.nn.modules.module import Module
from mindtorch.nn.utils.convert_parameters import parameters_to_vector


class BasePruningMethod(ABC):
    """How to choose what is pruned. The parameter becomes `<name>_orig`, and a hook multiplies it by `<name>_mask`."""

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of a tensor that may have been pruned before."""

    def apply_mask(self, module: Module) -> Tensor:
        """The masked tensor of a module."""
        mask, original = (getattr(module, self._tensor_name + end) for end in ("_mask", "_orig"))
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> Any:
        """Prune a parameter of a module, further if it is pruned already."""
        earlier = _take_hook(module, name)
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        if earlier is not None:
            method = PruningContainer(earlier, method)
        original = getattr(module, name)
        _check_scores(importance_scores, original, lambda: f"parameter {name} of {module}")
        scores = original if importance_scores is None else importance_scores
        if earlier is None:
            del module._parameters[name]
            module.register_parameter(name + "_orig", original)
            default_mask = ops.ones_like(original)
        else:
            default_mask = getattr(module, name + "_mask").detach().clone(memory_format=contiguous_format)
        try:
            module.register_buffer(name + "_mask", method.compute_mask(scores, default_mask))
            setattr(module, name, method.apply_mask(module))
        except BaseException:
            if earlier is None:
                module.register_parameter(name, module._parameters.pop(name + "_orig"))
            raise
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """A pruned version of a tensor."""
        _check_scores(importance_scores, t, lambda: "tensor t")
        scores = t if importance_scores is None else importance_scores
        default_mask = ops.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=default_mask)

    def remove(self, module: Module) -> None:
        """Make the pruned tensor an ordinary parameter."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters[name + "_orig"]
        assert original is not None
        original.data = weight.data
        del module._parameters[name + "_orig"], module._buffers[name + "_mask"]
        setattr(module, name, original)


def _take_hook(module: Module, name: str) -> Any:
    """The pruning of a parameter, whose hook is taken away."""
    for key, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            del module._forward_pre_hooks[key]
            return hook
    return None


def _check_scores(scores: Any, tensor: Tensor, what: Callable[[], str]) -> None:
    if scores is not None and scores.shape != tensor.shape:
        raise AssertionError(
            f"importance_scores should have the same shape as {what()}, got {scores.shape} vs {tensor.shape}"
        )


class PruningContainer(BasePruningMethod):
    """Prunings one after the other: each chooses among what the earlier ones left."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        methods = list(args[0]) if len(args) == 1 and isinstance(args[0], Iterable) else list(args)
        if methods:
            self._tensor_name = methods[0]._tensor_name
        for method in methods:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add a pruning of the same parameter."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        if isinstance(method, PruningContainer):
            self._pruning_methods += method._pruning_methods
        else:
            self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: int) -> BasePruningMethod:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        method = self._pruning_methods[-1]
        places = _places(method, default_mask)
        mask = default_mask.clone().to(dtype=t.dtype)
        mask[places] = method.compute_mask(t[places], default_mask=mask[places])
        return mask


def _places(method: Any, mask: Tensor) -> Any:
    """Where the method may still choose."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    if method.PRUNING_TYPE == "global":
        return slice(None)
    if method.PRUNING_TYPE != "structured":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    dim = method.dim % mask.dim()
    left = mask.sum(dim=[other for other in range(mask.dim()) if other != dim]) != 0
    return [slice(None)] * dim + [left] if dim else left


# -------------------- element by element --------------------


class Identity(BasePruningMethod):
    """Prunes nothing, but makes the mask."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class _SomeElements(BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any) -> None:
        _check_amount(amount)
        self.amount = amount

    def _count(self, size: int) -> int:
        count = _count_of(self.amount, size)
        _check_count(self.amount, size)
        return count


class RandomUnstructured(_SomeElements):
    """Prunes elements at random."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = self._count(t.nelement())
        mask = default_mask.clone(memory_format=contiguous_format)
        if count:
            mask.view(-1)[ops.topk(ops.rand_like(t).view(-1), k=count).indices] = 0
        return mask


class L1Unstructured(_SomeElements):
    """Prunes the smallest elements."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = self._count(t.nelement())
        mask = default_mask.clone(memory_format=contiguous_format)
        if count:
            mask.view(-1)[ops.topk(ops.abs(t).view(-1), k=count, largest=False).indices] = 0
        return mask


class CustomFromMask(BasePruningMethod):
    """Prunes what a mask says."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)


# -------------------- by channels --------------------


class _SomeChannels(BasePruningMethod):
    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount = amount
        self.dim = dim

    def _scores(self, t: Tensor) -> Tensor:
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                f"{t.shape} with {t.dim()} dims"
            )
        if self.dim >= t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        size = t.shape[self.dim]
        count = _count_of(self.amount, size)
        _check_count(self.amount, size)
        if not count:
            return default_mask
        kept = ops.topk(self._scores(t), k=size - count, largest=True).indices
        mask = ops.zeros_like(t)
        mask.index_fill_(self.dim, kept, 1)
        return mask * default_mask.to(dtype=mask.dtype)


class RandomStructured(_SomeChannels):
    """Prunes channels at random."""

    def _scores(self, t: Tensor) -> Tensor:
        return ops.rand(t.shape[self.dim], device=t.device)


class LnStructured(_SomeChannels):
    """Prunes the channels with the smallest norms."""

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _scores(self, t: Tensor) -> Tensor:
        dim = self.dim % t.dim()
        return t.norm(p=self.n, dim=[other for other in range(t.dim()) if other != dim])


def _check_amount(amount: Any) -> None:
    if not isinstance(amount, (int, float)):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 if isinstance(amount, int) else not 0 <= amount <= 1:
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _count_of(amount: Any, size: int) -> int:
    return int(amount) if isinstance(amount, Integral) else round(amount * size)


def _check_count(amount: Any, size: int) -> None:
    if isinstance(amount, Integral) and int(amount) > size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")


# -------------------- the functions --------------------


def identity(module: Module, name: str) -> Module:
    """Give a parameter a mask of ones."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: Any) -> Module:
    """Prune a number or a share of the elements at random."""
    RandomUnstructured.apply(module, name, amount=amount)
    return module


def l1_unstructured(module: Module, name: str, amount: Any, importance_scores: Tensor | None = None) -> Module:
    """Prune a number or a share of the elements, the smallest."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: Any, dim: int) -> Module:
    """Prune a number or a share of the channels along a dimension at random."""
    RandomStructured.apply(module, name, amount=amount, dim=dim)
    return module


def ln_structured(
    module: Module, name: str, amount: Any, n: Any, dim: int, importance_scores: Tensor | None = None
) -> Module:
    """Prune a number or a share of the channels along a dimension, those with the smallest norms."""
    LnStructured.apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune what a mask says."""
    CustomFromMask.apply(module, name, mask=mask)
    return module


def global_unstructured(
    parameters: Any, pruning_method: type, importance_scores: dict | None = None, **kwargs: Any
) -> None:
    """Prune elements of several parameters, chosen among all of them."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    parameters, given = list(parameters), importance_scores or {}
    originals = [getattr(module, name) for module, name in parameters]
    scores = [given.get(key, original) for key, original in zip(parameters, originals)]
    masks = [getattr(module, name + "_mask", ops.ones_like(getattr(module, name))) for module, name in parameters]
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    container.add_pruning_method(method)
    final = container.compute_mask(parameters_to_vector(scores), parameters_to_vector(masks))
    pieces = final.split([original.numel() for original in originals])
    for (module, name), original, piece in zip(parameters, originals, pieces):
        custom_from_mask(module, name, mask=piece.view_as(original))


def remove(module: Module, name: str) -> Module:
    """Make a pruned tensor an ordinary parameter."""
    hook = _take_hook(module, name)
    if hook is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    hook.remove(module)
    return module


def is_pruned(module: Module) -> bool:
    """Whether a module, or one below it, has a pruned parameter."""
    hooks = (hook for each in module.modules() for hook in each._forward_pre_hooks.values())
    return any(isinstance(hook, BasePruningMethod) for hook in hooks)
