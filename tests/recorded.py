"""Test inputs of ops that other ops call in their backward pass: real calls, recorded.

An op `x_backward` whose entry says `samples: backward` is called as the backward pass of `x` calls it, once for each
sample of `x`.
"""

from typing import Any

import mindtorch as torch
from mindtorch.utils._python_dispatch import TorchDispatchMode


class Recorder(TorchDispatchMode):
    """Keeps the arguments of the calls of one op."""

    def __init__(self, name: str):
        super().__init__()
        self._name = name
        self.calls: list[tuple] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        if func.overloadpacket.__name__ == self._name:
            self.calls.append(args)
        return func(*args, **(kwargs or {}))


def backward_calls(name: str, results: list, inputs: list, gradients: list) -> list[tuple]:
    """The arguments of the op `name` in the backward pass of those results that require grad."""
    pairs = [pair for pair in zip(results, gradients, strict=True) if pair[0].requires_grad]
    with Recorder(name) as recorder:
        outputs, starts = zip(*pairs, strict=True)
        torch.autograd.grad(outputs, inputs, starts, allow_unused=True)
    return recorder.calls
