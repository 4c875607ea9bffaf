"""Anomaly mode, forward side: new nodes remember where they were made, and in the backward step of which node."""

import sys
import threading
import traceback
from types import FrameType
from typing import Any

from mindtorch._core.tensor import Tensor

# Frames of these modules at the end of a stack are about how an op is called, not where.
_INSIDE = (
    "mindtorch.dispatch",
    "mindtorch._generated",
    "mindtorch.autograd",
    "mindtorch.composite",
    "mindtorch._tensor_methods.autograd",
    "mindtorch._functions.overridable",
)


class Evaluating(threading.local):
    """The node whose backward step is running in this thread."""

    node: Any = None


evaluating = Evaluating()


def note_forward(result: Any) -> None:
    """Store the current stack in the metadata of the nodes that a call has just made."""
    stack = None
    for tensor in result if isinstance(result, (tuple, list)) else (result,):
        node = _new_node(tensor)
        if node is not None and "traceback_" not in node.metadata:
            stack = stack or traceback.format_stack(_callers_frame())
            node.metadata["traceback_"] = stack
            if evaluating.node is not None:
                node.metadata["parent_"] = evaluating.node


def _callers_frame() -> FrameType | None:
    """The frame of the code that called the op that is running."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_INSIDE):
        frame = frame.f_back
    return frame


def _new_node(tensor: Any) -> Any:
    if not isinstance(tensor, Tensor):
        return None
    edge = tensor._mt_edge or (tensor._mt_meta is not None and getattr(tensor._mt_meta, "edge", None))
    return edge[0] if edge else None
