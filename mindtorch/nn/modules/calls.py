"""The call of a module that has hooks, and how backward hooks get between its inputs and outputs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from mindtorch.autograd.function import Function
from mindtorch.tensor import Tensor


def call_with_hooks(module: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Run the hooks before forward, forward, and the hooks after it."""
    try:
        args, kwargs = _run_pre_hooks(module, args, kwargs)
        watch = _BackwardWatch(module) if module._backward_hooks or module._backward_pre_hooks else None
        if watch:
            args = watch.on_inputs(args)
        output = _run_forward_hooks(module, args, kwargs, module.forward(*args, **kwargs))
    except BaseException:
        _run_always_called(module, args, kwargs)
        raise
    return watch.on_outputs(output) if watch else output


def _run_pre_hooks(module: Any, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    for number, hook in list(module._forward_pre_hooks.items()):
        if number in module._forward_pre_hooks_with_kwargs:
            result = hook(module, args, kwargs)
            if result is not None:
                args, kwargs = _checked_pair(result)
            continue
        result = hook(module, args)
        if result is not None:
            args = result if isinstance(result, tuple) else (result,)
    return args, kwargs


def _checked_pair(result: Any) -> tuple[tuple, dict[str, Any]]:
    if isinstance(result, tuple) and len(result) == 2:
        return result
    raise RuntimeError(f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {result}.")


def _run_forward_hooks(module: Any, args: tuple, kwargs: dict[str, Any], output: Any) -> Any:
    for number, hook in list(module._forward_hooks.items()):
        result = _call_forward_hook(module, number, hook, args, kwargs, output)
        output = output if result is None else result
    return output


def _call_forward_hook(module: Any, number: int, hook: Callable, args: tuple, kwargs: dict, output: Any) -> Any:
    if number in module._forward_hooks_with_kwargs:
        return hook(module, args, kwargs, output)
    return hook(module, args, output)


def _run_always_called(module: Any, args: tuple, kwargs: dict[str, Any]) -> None:
    """Forward hooks that were registered with `always_call` see a failed call, too, without an output."""
    for number, hook in list(module._forward_hooks.items()):
        if number in module._forward_hooks_always_called:
            _call_forward_hook(module, number, hook, args, kwargs, None)


# -------------------- backward hooks --------------------

_NO_INPUT_REQUIRES_GRAD = (
    "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
    "gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
    "#torch.nn.Module.register_full_backward_hook for more details."
)


class _Identity(Function):
    """One node that all inputs, or all outputs, of a module go through."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.mark_non_differentiable(*(tensor for tensor in tensors if not tensor.requires_grad))
        return tuple(tensor.view_as(tensor) for tensor in tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple:
        return grads


class _BackwardWatch:
    """Calls the backward hooks of a module for one of its calls."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.hooks = list(module._backward_hooks.values())
        self.pre_hooks = list(module._backward_pre_hooks.values())
        self.grad_output: Any = None
        self.watches_inputs = False
        self.input_places: list[int] = []
        self.input_count = 0
        self.output_places: list[int] = []
        self.output_count = 0

    def on_inputs(self, args: tuple) -> tuple:
        self.input_count = len(args)
        self.input_places = [place for place, value in enumerate(args) if isinstance(value, Tensor)]
        args, node = _through_identity(args, self.input_places)
        if node is not None:
            self.watches_inputs = True
            node.register_hook(self._inputs_known)
        return args

    def on_outputs(self, output: Any) -> Any:
        outputs = output if isinstance(output, tuple) else (output,)
        self.output_count = len(outputs)
        self.output_places = [place for place, value in enumerate(outputs) if isinstance(value, Tensor)]
        outputs, node = _through_identity(outputs, self.output_places)
        if node is not None:
            node.register_prehook(self._outputs_known)
        return outputs if isinstance(output, tuple) else outputs[0]

    def _outputs_known(self, grads: tuple) -> Any:
        self.grad_output = _spread(grads, self.output_places, self.output_count)
        for hook in self.pre_hooks:
            result = hook(self.module, self.grad_output)
            if result is not None:
                self.grad_output = result if isinstance(result, tuple) else (result,)
        if not self.watches_inputs:
            warnings.warn(_NO_INPUT_REQUIRES_GRAD, stacklevel=5)
            self._run_hooks((None,) * self.input_count)
        return tuple(self.grad_output[place] for place in self.output_places)

    def _inputs_known(self, grad_input: tuple, grad_output: tuple) -> Any:
        grads = self._run_hooks(_spread(grad_input, self.input_places, self.input_count))
        return tuple(grads[place] for place in self.input_places)

    def _run_hooks(self, grad_input: tuple) -> tuple:
        for hook in self.hooks:
            result = hook(self.module, grad_input, self.grad_output)
            if result is None:
                continue
            if not self.watches_inputs:
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None "
                    "for all gradients."
                )
            grad_input = result if isinstance(result, tuple) else (result,)
        return grad_input


def _through_identity(values: tuple, places: list[int]) -> tuple[tuple, Any]:
    """The values with their tensors sent through one node, and the node, if any tensor requires grad."""
    tensors = [values[place] for place in places]
    if not any(tensor.requires_grad for tensor in tensors):
        return values, None
    watched = _Identity.apply(*tensors)
    result = list(values)
    for place, tensor in zip(places, watched):
        result[place] = tensor
    node = next((tensor.grad_fn for tensor in watched if tensor.grad_fn is not None), None)
    return tuple(result), node


def _spread(grads: tuple, places: list[int], count: int) -> tuple:
    """The gradients of the tensors among `count` values, with None for the other values."""
    result: list[Any] = [None] * count
    for place, grad in zip(places, grads):
        result[place] = grad
    return tuple(result)
