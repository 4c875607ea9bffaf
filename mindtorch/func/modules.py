"""Modules as functions of their parameters: `functional_call`, `stack_module_state`, batch norm without statistics."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.nn.modules.batchnorm import _BatchNorm
from mindtorch.nn.modules.module import Module
from mindtorch.nn.utils.stateless import call_with


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other parameters and buffers, from one dictionary or from several."""
    tensors = _joined(parameter_and_buffer_dicts)
    return call_with(module, tensors, args, kwargs, tie_weights=tie_weights, strict=strict)


def _joined(dictionaries: Any) -> dict[str, Any]:
    if isinstance(dictionaries, dict):
        return dictionaries
    if not isinstance(dictionaries, Sequence):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(dictionaries)}"
        )
    if not all(isinstance(each, dict) for each in dictionaries):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    counts = Counter(key for each in dictionaries for key in each)
    repeated = [key for key, count in counts.items() if count > 1]
    if repeated:
        raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {key: value for each in dictionaries for key, value in each.items()}


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters of several modules of one class stacked by name, as new leaves, and so their buffers."""
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    return (
        _stacked([dict(model.named_parameters()) for model in models]),
        _stacked([dict(model.named_buffers()) for model in models]),
    )


def _stacked(states: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    return {name: _stacked_leaf(name, [state[name] for state in states]) for name in states[0]}


def _stacked_leaf(name: str, tensors: list[Tensor]) -> Tensor:
    if len({tensor.requires_grad for tensor in tensors}) > 1:
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    result = ops.stack(tensors)
    return result.detach().requires_grad_() if tensors[0].requires_grad else result


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Make every batch norm of a module use the statistics of its batch, and keep none: it then writes nothing."""
    for module in root.modules():
        if isinstance(module, _BatchNorm) and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
