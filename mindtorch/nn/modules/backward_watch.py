"""How backward hooks get between the inputs and the outputs of a module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.autograd._engine.execution import running
from mindtorch.autograd.function import Function
from mindtorch.autograd.grad_mode import is_grad_enabled

_NO_INPUT_REQUIRES_GRAD = (
    "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
    "gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
    "#torch.nn.Module.register_full_backward_hook for more details."
)


class BackwardHookFunction(Function):
    """One node that all inputs, or all outputs, of a module go through."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.mark_non_differentiable(*(tensor for tensor in tensors if not tensor.requires_grad))
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple:
        return grads


class BackwardWatch:
    """Calls the backward hooks of a module for one of its calls."""

    def __init__(self, module: Any, hooks: Sequence[Callable], pre_hooks: Sequence[Callable]) -> None:
        self.module = module
        self.hooks = hooks
        self.pre_hooks = pre_hooks
        self.watches_inputs = False
        self.input_places: list[int] = []
        self.input_count = 0
        self.output_places: list[int] = []
        self.output_count = 0

    def on_inputs(self, args: tuple) -> tuple:
        def hook(grad_input: tuple, grad_output: tuple) -> Any:
            return self._inputs_known(grad_input)

        self.input_count = len(args)
        self.input_places = _places_of_tensors(args)
        args, node = _through_one_node(args, self.input_places)
        if node is not None:
            self.watches_inputs = True
            node.register_hook(hook)
        return args

    def on_outputs(self, output: Any) -> Any:
        def hook(grad_input: tuple, grad_output: tuple) -> Any:
            return self._outputs_known(grad_output)

        outputs = output if isinstance(output, tuple) else (output,)
        self.output_count = len(outputs)
        self.output_places = _places_of_tensors(outputs)
        outputs, node = _through_one_node(outputs, self.output_places)
        if node is not None:
            node.register_hook(hook)
        return outputs if isinstance(output, tuple) else outputs[0]

    def _outputs_known(self, grads: tuple) -> tuple:
        grad_output = _spread(grads, self.output_places, self.output_count)
        for hook in self.pre_hooks:
            result = hook(self.module, grad_output)
            if result is not None:
                grad_output = _checked("pre hook", "grad_output", result, self.output_count)
        if self.watches_inputs:
            _notes()[self] = grad_output  # until the pass comes to the inputs
        else:
            self._run_without_inputs(grad_output)
        return tuple(grad_output[place] for place in self.output_places)

    def _run_without_inputs(self, grad_output: Any) -> None:
        warn(_NO_INPUT_REQUIRES_GRAD)
        for hook in self.hooks:
            result = hook(self.module, (None,) * self.input_count, grad_output)
            if result is not None and not (isinstance(result, tuple) and all(each is None for each in result)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None "
                    "for all gradients."
                )

    def _inputs_known(self, grads: tuple) -> tuple | None:
        grad_output = _notes().pop(self, None)
        if grad_output is None:
            return None  # the gradient came another way than through the outputs: a second derivative
        grad_input = _spread(grads, self.input_places, self.input_count)
        for hook in self.hooks:
            result = hook(self.module, grad_input, grad_output)
            if result is not None:
                grad_input = _checked("hook", "grad_input", result, self.input_count)
        return tuple(grad_input[place] for place in self.input_places)


def _notes() -> dict[Any, Any]:
    """What is known in the pass that runs: there may be others over the same graph, in other threads or in a hook."""
    task: Any = running.task
    return task.notes


def _places_of_tensors(values: Sequence[Any]) -> list[int]:
    return [place for place, value in enumerate(values) if isinstance(value, Tensor)]


def _through_one_node(values: tuple, places: list[int]) -> tuple[tuple, Any]:
    """The values with their tensors sent through one node, and the node, if any tensor requires grad."""
    tensors = [values[place] for place in places]
    if not is_grad_enabled() or not any(tensor.requires_grad for tensor in tensors):
        return values, None
    watched = BackwardHookFunction.apply(*tensors)
    result = list(values)
    for place, tensor in zip(places, watched, strict=True):
        result[place] = tensor
    return tuple(result), next(tensor.grad_fn for tensor in watched if tensor.grad_fn is not None)


def _spread(grads: Sequence[Any], places: list[int], count: int) -> tuple:
    """The gradients of the tensors among `count` values, with None for the other values."""
    result: list[Any] = [None] * count
    for place, grad in zip(places, grads, strict=True):
        result[place] = grad
    return tuple(result)


def _checked(kind: str, name: str, result: Any, expected: int) -> Any:
    if len(result) != expected:
        raise RuntimeError(
            f"Backward {kind} returned an invalid number of {name}, got {len(result)}, but expected {expected}"
        )
    return result
