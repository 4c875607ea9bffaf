"""Anomaly mode, forward side: new nodes remember where they were made."""

import traceback
from typing import Any

from mindtorch.tensor import Tensor


def note_forward(result: Any) -> None:
    """Store the current stack in the metadata of the nodes that a call has just made."""
    stack = None
    for tensor in result if isinstance(result, (tuple, list)) else (result,):
        node = _new_node(tensor)
        if node is not None and "traceback_" not in node.metadata:
            stack = stack or traceback.format_stack()[:-4]  # without the dispatcher's own frames
            node.metadata["traceback_"] = stack


def _new_node(tensor: Any) -> Any:
    if not isinstance(tensor, Tensor):
        return None
    edge = tensor._edge or (tensor._meta is not None and getattr(tensor._meta, "edge", None))
    return edge[0] if edge else None
