"""The call of a module that has hooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.nn.modules import global_hooks
from mindtorch.nn.modules.backward_watch import BackwardWatch
from mindtorch.nn.modules.node_hooks import add_node_hooks


def call_with_hooks(module: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Run the hooks before forward, forward, and the hooks after it."""
    call = _HookedCall(module, args, kwargs)
    try:
        return call.run()
    except BaseException:
        call.run_always_called()
        raise


class _HookedCall:
    """One call: its arguments and its output as the hooks have left them so far."""

    def __init__(self, module: Any, args: tuple, kwargs: dict[str, Any]) -> None:
        self.module = module
        self.args = args
        self.kwargs = kwargs
        self.output: Any = None
        self.called: set[int] = set()  # forward hooks that have run

    def run(self) -> Any:
        module = self.module
        pre_hooks = _values(global_hooks.full_backward_pre, module._backward_pre_hooks)
        own_hooks: dict[int, Callable] = module._backward_hooks
        own_node_hooks: dict[int, Callable] = {}
        if module._is_full_backward_hook is False:
            own_hooks, own_node_hooks = own_node_hooks, own_hooks
        hooks = _values(global_hooks.full_backward, own_hooks)
        node_hooks = _values(global_hooks.backward, own_node_hooks)
        self.run_pre_hooks()
        watch = BackwardWatch(module, hooks, pre_hooks) if hooks or pre_hooks else None
        if watch:
            self.args = watch.on_inputs(self.args)
        self.output = module.forward(*self.args, **self.kwargs)
        self.run_forward_hooks()
        if watch:
            self.output = self.watched_output(watch)
        if node_hooks:
            add_node_hooks(module, node_hooks, self.args, self.output)
        return self.output

    def watched_output(self, watch: BackwardWatch) -> Any:
        if not isinstance(self.output, (Tensor, tuple)):
            warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                f"{type(self.output)}",
            )
        return watch.on_outputs(self.output)

    def run_pre_hooks(self) -> None:
        module = self.module
        for number, hook in global_hooks.with_own(global_hooks.forward_pre, module._forward_pre_hooks):
            if number in module._forward_pre_hooks_with_kwargs:
                result = hook(module, self.args, self.kwargs)
                if result is not None:
                    self.args, self.kwargs = _checked_pair(result)
                continue
            result = hook(module, self.args)
            if result is not None:
                self.args = result if isinstance(result, tuple) else (result,)

    def run_forward_hooks(self) -> None:
        for number, hook in global_hooks.with_own(global_hooks.forward, self.module._forward_hooks):
            self.call_forward_hook(number, hook)

    def call_forward_hook(self, number: int, hook: Callable) -> None:
        self.called.add(number)
        module = self.module
        if number in module._forward_hooks_with_kwargs or number in global_hooks.forward_with_kwargs:
            result = hook(module, self.args, self.kwargs, self.output)
        else:
            result = hook(module, self.args, self.output)
        if result is not None:
            self.output = result

    def run_always_called(self) -> None:
        """Forward hooks that were registered with `always_call` see a failed call, too, with the output so far."""
        own = self.module._forward_hooks
        for number, hook in global_hooks.with_own(global_hooks.forward, own):
            always = self.module._forward_hooks_always_called if number in own else global_hooks.forward_always_called
            if number not in always or number in self.called:
                continue
            try:
                self.call_forward_hook(number, hook)
            except Exception as error:  # noqa: BLE001 (whatever it is, the error of the call is more important)
                warn(
                    f"{'' if number in own else 'global '}module forward hook with ``always_call=True`` raised an "
                    f"exception that was silenced as another error was raised in forward: {error}",
                )


def _values(common: dict[int, Callable], own: dict[int, Callable]) -> list[Callable]:
    return [*common.values(), *own.values()]


def _checked_pair(result: Any) -> tuple[tuple, dict[str, Any]]:
    if isinstance(result, tuple) and len(result) == 2:
        return result
    raise RuntimeError(f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {result}.")
