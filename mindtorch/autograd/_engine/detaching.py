"""`detach_` inside of transforms: a tensor leaves the innermost transform, and stays in those around it."""

from typing import Any

from mindtorch._core.tensor import edge_to, set_output
from mindtorch.autograd._engine.execution import running
from mindtorch.autograd._engine.node_base import ConnectedNode
from mindtorch.dispatch.modes.captures import OwnTensors


class DetachedInside(ConnectedNode):
    """Lets gradients through, but for those that go to the inputs of one transform."""

    __slots__ = ("inputs",)

    def __init__(self, edge: Any, array: Any, inputs: set) -> None:
        super().__init__((edge,))
        set_output(self, array)
        self.inputs = inputs

    def apply(self, edges: tuple, *grads: Any) -> tuple:
        task = running.task
        return (None,) if task is not None and not self.inputs.isdisjoint(task.captures) else grads


def edge_outside_of(whose: OwnTensors, edge: Any, array: Any, is_input_outside: bool = False) -> Any:
    """An edge without the way to the inputs of a transform, whose tensors are given; None if there is no other way.

    `is_input_outside`: whether what was given as these inputs is another one.
    """
    own, is_connected = _ends(whose, edge, is_input_outside)
    return edge_to(DetachedInside(edge, array, own)) if is_connected else None


def _ends(whose: OwnTensors, edge: Any, goes_on: bool) -> tuple[set, bool]:
    """The inputs of a transform to which an edge leads, and whether it leads to anything else that gets gradients."""
    waiting, own, is_connected = [edge[0]], set(), False
    seen = set(waiting)
    while waiting:
        node = waiting.pop()
        if node.begins and not node.accumulates and whose.is_input(node):
            own.add(node)
            if not goes_on:
                continue
        else:
            is_connected = is_connected or (node.begins and (node.accumulates or node.is_open))
        following = {each[0] for each in node.next_edges if each is not None} - seen
        seen |= following
        waiting.extend(following)
    return own, is_connected
