"""Graphs of launches that are captured once and run again: the runtime used here does not capture, so they refuse."""

from typing import Any, NoReturn

_REFUSAL = (
    "graphs of NPU launches cannot be captured: this library launches every op by itself. Run the code without "
    "torch.npu.NPUGraph"
)


class NPUGraph:
    """A captured sequence of launches. Making one is refused."""

    torch_name = "torch_npu.npu.NPUGraph"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(_REFUSAL)


class graph:  # noqa: N801  its name in torch_npu
    """A block whose launches would be captured. Making one is refused."""

    torch_name = "torch_npu.npu.graph"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(_REFUSAL)


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise NotImplementedError(_REFUSAL)


def make_graphed_callables(callables: Any, sample_args: Any, *options: Any, **more: Any) -> Any:
    """Refused: there are no graphs."""
    _refuse()


def graph_pool_handle() -> Any:
    """Refused: there are no graphs."""
    _refuse()
