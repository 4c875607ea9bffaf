"""How many operations on numbers the products and convolutions of a block take, forward and backward."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from mindtorch.utils._python_dispatch import TorchDispatchMode

__all__ = ["FlopCounterMode"]


def _mm(a: Any, b: Any) -> int:
    return 2 * prod(a.shape) * b.shape[-1]


def _addmm(bias: Any, a: Any, b: Any) -> int:
    return _mm(a, b)


def _convolution_of(shape: Sequence[int], weight: Sequence[int]) -> int:
    """`shape`: that of the result, or of the input of a transposed one."""
    return 2 * shape[0] * prod(shape[2:]) * prod(weight)


def _convolution(x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, *args: Any,
                 result: Any) -> int:  # fmt: skip
    return _convolution_of(x.shape if transposed else result.shape, weight.shape)


def _convolution_backward(grad: Any, x: Any, weight: Any, *args: Any, result: Any) -> int:
    """As often as the forward one, for each gradient that is asked for but that of the bias."""
    transposed, mask = args[4], args[-1]
    once = _convolution_of(x.shape if transposed else grad.shape, weight.shape)
    return once * (bool(mask[0]) + bool(mask[1]))


_COUNTS: dict[str, Callable[..., int]] = {
    "mm": _mm,
    "bmm": _mm,
    "addmm": _addmm,
    "baddbmm": _addmm,
}
_COUNTS_WITH_RESULT: dict[str, Callable[..., int]] = {
    "convolution": _convolution,
    "convolution_backward": _convolution_backward,
}


class FlopCounterMode(TorchDispatchMode):
    """A block whose operations are counted, by op; prints them at its end if `display`."""

    def __init__(
        self, mods: Any = None, depth: int = 2, display: bool = True, custom_mapping: dict[Any, Any] | None = None
    ) -> None:
        super().__init__()
        self.display = display
        self.custom_mapping = custom_mapping or {}
        self.flop_counts: dict[str, dict[Any, int]] = {"Global": defaultdict(int)}

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        result = func(*args, **(kwargs or {}))
        packet = func.overloadpacket
        count = self._count(packet, args, result)
        if count:
            self.flop_counts["Global"][packet] += count
        return result

    def _count(self, packet: Any, args: tuple, result: Any) -> int:
        if packet in self.custom_mapping:
            return self.custom_mapping[packet](*args)
        name = packet.__name__
        if name in _COUNTS:
            return _COUNTS[name](*args)
        return _COUNTS_WITH_RESULT[name](*args, result=result) if name in _COUNTS_WITH_RESULT else 0

    def __exit__(self, *args: Any) -> Any:
        left = super().__exit__(*args)
        if self.display:
            sys.stdout.write(f"{self.get_table()}\n")
        return left

    def get_total_flops(self) -> int:
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        return {"Global": dict(self.flop_counts["Global"])}

    def get_table(self, depth: int | None = None) -> str:
        """The counts as a text, one line for each op."""
        total = self.get_total_flops()
        rows = [("Global", total), *((f"- {op}", count) for op, count in self.flop_counts["Global"].items())]
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:{width}}  {count:>16,}  {100 * count / (total or 1):6.2f}%" for name, count in rows)
