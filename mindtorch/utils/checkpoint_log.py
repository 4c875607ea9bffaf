"""What `debug=True` adds to checkpointing: both runs are logged, and an error shows their ops and where they were
called."""

import sys
import traceback
from collections.abc import Iterable
from typing import Any, NoReturn

from mindtorch._core.tensor import Tensor
from mindtorch._support.pytree import tree_leaves
from mindtorch.dispatch.modes.torch_dispatch import TorchDispatchMode
from mindtorch.utils.recomputation import CheckpointError

_RULE = "-" * 80


class OpLog(TorchDispatchMode):
    """Writes down the ops of one run: a line for each, and the stack of the call."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.stacks: list[list[str]] = []
        self.numbers: dict[int, int] = {}
        self.seen: list[Tensor] = []  # kept, so that no two tensors have the same id

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        shown = [*map(self._shown, args), *(f"{name}={self._shown(value)}" for name, value in kwargs.items())]
        result = func(*args, **kwargs)
        outputs = ", ".join(self._described(each) for each in tree_leaves(result) if isinstance(each, Tensor))
        self.lines.append(f"{outputs} = {func}({', '.join(shown)})")
        self.stacks.append(_stack())
        return result

    def _shown(self, value: Any) -> str:
        if isinstance(value, (list, tuple)):
            return f"[{', '.join(map(self._shown, value))}]"
        return self._name(value) if isinstance(value, Tensor) else repr(value)

    def _described(self, tensor: Tensor) -> str:
        return f"{self._name(tensor)}: {str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"

    def _name(self, tensor: Tensor) -> str:
        if id(tensor) not in self.numbers:
            self.numbers[id(tensor)] = len(self.numbers)
            self.seen.append(tensor)
        return f"${self.numbers[id(tensor)]}"


def _stack() -> list[str]:
    """Where the program is, without the frames of this library."""
    frames = [pair for pair in traceback.walk_stack(sys._getframe(1)) if not _is_own(pair[0].f_globals)]
    return traceback.StackSummary.extract(reversed(frames)).format()


def _is_own(names: dict[str, Any]) -> bool:
    return names.get("__name__", "").partition(".")[0] == "mindtorch"


class RunLogs:
    """The logs of the two runs of a checkpointed function."""

    def __init__(self) -> None:
        self.first = OpLog()
        self.second = OpLog()

    def fail(self, error: CheckpointError) -> NoReturn:
        raise CheckpointError(f"{self.report()}\n{error}") from error

    def report(self) -> str:
        return "\n".join(
            [
                "A checkpointed function saved something else in its second run than in its first.",
                *_section("Where the ops of the first run were called", _with_stacks(self.first)),
                *_section("Where the ops of the second run were called", _with_stacks(self.second)),
                *_section("The ops of the first run", self.first.lines),
                *_section("The ops of the second run", self.second.lines),
                "Look for the first line in which the two lists differ: its stack above shows the call. That `detach` "
                "differs is no fault, checkpointing itself calls it.",
            ]
        )


def _section(title: str, lines: Iterable[str]) -> list[str]:
    return [_RULE, title, _RULE, *lines, ""]


def _with_stacks(log: OpLog) -> Iterable[str]:
    for number, (line, stack) in enumerate(zip(log.lines, log.stacks, strict=True), 1):
        yield f"{line}   ({number} of {len(log.lines)})"
        yield "".join(stack)
