"""What nodes note of where they come from: stacks, annotations, the nodes that they replace."""

from __future__ import annotations

import copy
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from functools import wraps
from typing import Any, TypeVar

from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph import Graph
from mindtorch.fx.node import Node

__all__ = [
    "NodeSource", "NodeSourceAction", "annotate", "annotate_fn", "format_stack", "get_current_meta",
    "get_current_replay_node", "get_graph_provenance_json", "has_preserved_node_meta", "preserve_node_meta",
    "reset_grad_fn_seq_nr", "set_current_meta", "set_current_replay_node", "set_grad_fn_seq_nr", "set_stack_trace",
]  # fmt: skip

Function = TypeVar("Function", bound=Callable[..., Any])

current_meta: dict[str, Any] = {}
current_replay_node: Node | None = None
should_preserve_node_meta = False

GRADIENT_ACC_SPECIAL_STACK = "Gradient addition node due to multiple use of tensor around:"


@compatibility(is_backward_compatible=False)
class NodeSourceAction(Enum):
    """What a pass did: made a node, or put it in the place of another."""

    CREATE = "create"
    REPLACE = "replace"


@compatibility(is_backward_compatible=False)
class NodeSource:
    """The node, of another graph mostly, from which a pass made one."""

    class NodeInfo:
        """The name and target of that node, and the `id` of its graph."""

        def __init__(self, name: str, target: str, graph_id: int) -> None:
            self.name = name
            self.target = target
            self.graph_id = graph_id

    def __init__(
        self,
        node: Node | None,
        pass_name: str = "",
        action: NodeSourceAction | list[NodeSourceAction] | None = None,
    ) -> None:
        self.pass_name = pass_name
        self.action = action if isinstance(action, list) else [] if action is None else [action]
        for each in self.action:
            if not isinstance(each, NodeSourceAction):
                raise AssertionError(f"Expected NodeSourceAction, got {type(each)}")
        self.node_info = self.NodeInfo(node.name, str(node.target), id(node.graph)) if node else None
        self.from_node: list[NodeSource] = copy.deepcopy(node.meta.get("from_node", [])) if node else []

    @property
    def name(self) -> str:
        return self.node_info.name if self.node_info else ""

    @property
    def target(self) -> str:
        return self.node_info.target if self.node_info else ""

    @property
    def graph_id(self) -> int:
        return self.node_info.graph_id if self.node_info else -1

    def _get_action_string(self) -> str:
        return "+".join([each.name.lower() for each in self.action])

    def __repr__(self) -> str:
        return self.print_readable()

    def print_readable(self, indent: int = 0) -> str:
        """This source and, further in, those that it comes from."""
        if indent > 9:
            return ""
        line = (
            f"(name={self.name}, pass_name={self.pass_name}, action={self._get_action_string()}, "
            f"graph_id={self.graph_id})\n"
        )
        return " " * 4 * indent + line + "".join([each.print_readable(indent + 1) for each in self.from_node])

    def to_dict(self) -> dict[str, Any]:
        """The same in plain dictionaries."""
        return {
            "name": self.name,
            "target": self.target,
            "graph_id": self.graph_id,
            "pass_name": self.pass_name,
            "action": self._get_action_string(),
            "from_node": [each.to_dict() for each in self.from_node],
        }

    @classmethod
    def _from_dict(cls, d: dict[str, Any] | None) -> NodeSource | None:
        if d is None:
            return None
        if not isinstance(d, dict):
            raise AssertionError(f"Expected a dict, got {type(d)}")
        known = {each.value: each for each in NodeSourceAction}
        actions = [known[name.lower()] for name in d.get("action", "").split("+") if name.lower() in known]
        source = cls(None, d.get("pass_name", ""), actions)
        if all(key in d for key in ("name", "target", "graph_id")):
            source.node_info = cls.NodeInfo(d["name"], d["target"], d["graph_id"])
        below = [cls._from_dict(each) for each in d.get("from_node") or ()]
        source.from_node = [each for each in below if each is not None]
        return source

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NodeSource) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(repr(self.to_dict()))


@compatibility(is_backward_compatible=False)
@contextmanager
def preserve_node_meta(enable: bool = True) -> Iterator[None]:
    """In this block nodes that are traced get the `meta` of the nodes that an interpreter runs."""
    global should_preserve_node_meta, current_meta
    before = should_preserve_node_meta, current_meta.copy()
    should_preserve_node_meta = enable
    try:
        yield
    finally:
        should_preserve_node_meta, current_meta = before


@compatibility(is_backward_compatible=False)
def has_preserved_node_meta() -> bool:
    """Whether `preserve_node_meta` is in force."""
    return should_preserve_node_meta


@compatibility(is_backward_compatible=False)
def set_stack_trace(stack: list[str]) -> None:
    """Note a stack for the next nodes."""
    if should_preserve_node_meta:
        if stack:
            current_meta["stack_trace"] = "".join(stack)
        else:
            current_meta.pop("stack_trace", None)


@compatibility(is_backward_compatible=False)
@contextmanager
def annotate(annotation_dict: dict[str, Any]) -> Iterator[None]:
    """In this block nodes that are traced have these entries in `meta["custom"]`, if their meta is preserved."""
    before = copy.copy(current_meta.get("custom"))
    current_meta.setdefault("custom", {}).update(annotation_dict)
    try:
        yield
    finally:
        if before is None:
            del current_meta["custom"]
        else:
            current_meta["custom"] = before


@compatibility(is_backward_compatible=False)
def annotate_fn(annotation_dict: dict[str, Any]) -> Callable[[Function], Function]:
    """A decorator: the function runs in a block of `annotate`."""

    def decorator(function: Function) -> Function:
        @wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with annotate(annotation_dict):
                return function(*args, **kwargs)

        return wrapper  # type: ignore[return-value]

    return decorator


@compatibility(is_backward_compatible=False)
def set_grad_fn_seq_nr(seq_nr: int) -> None:
    """Note the number of the node of autograd that runs."""
    if should_preserve_node_meta:
        current_meta["grad_fn_seq_nr"] = [*current_meta.get("grad_fn_seq_nr", ()), seq_nr]
        current_meta["in_grad_fn"] = current_meta.get("in_grad_fn", 0) + 1


@compatibility(is_backward_compatible=False)
def reset_grad_fn_seq_nr() -> None:
    """End what `set_grad_fn_seq_nr` began."""
    if should_preserve_node_meta:
        level = current_meta.get("in_grad_fn", 0)
        if level <= 0:
            raise AssertionError(f"Expected current_level > 0, got {level}")
        if level == 1:
            del current_meta["in_grad_fn"], current_meta["grad_fn_seq_nr"]
        else:
            current_meta["in_grad_fn"] = level - 1
            current_meta["grad_fn_seq_nr"] = current_meta["grad_fn_seq_nr"][:-1]


@compatibility(is_backward_compatible=False)
def format_stack() -> list[str]:
    """The stack of the node that runs, if meta is preserved, else that of Python."""
    if should_preserve_node_meta:
        return [current_meta.get("stack_trace", "")]
    return traceback.format_list(traceback.extract_stack()[:-1])


def stack_of_forward(only_forward: bool) -> str:
    """The stack of Python from the first `forward` on, or only the frames of functions of this name."""
    frames = list(traceback.extract_stack())
    if only_forward:
        frames = [frame for frame in frames if frame.name == "forward"]
    else:
        first = next((place for place, frame in enumerate(frames) if frame.name == "forward"), len(frames))
        frames = frames[first:]
    kept = [frame for frame in frames if "/mindtorch/" not in frame.filename.replace("\\", "/")]
    return "".join(traceback.StackSummary.from_list(kept).format()).strip()


@compatibility(is_backward_compatible=False)
@contextmanager
def set_current_meta(node: Node, pass_name: str = "") -> Iterator[None]:
    """In this block, if meta is preserved, nodes that are traced get that of this node."""
    global current_meta
    if not (should_preserve_node_meta and node.meta):
        yield
        return
    before = current_meta
    current_meta = {**node.meta, "from_node": [NodeSource(node, pass_name, NodeSourceAction.CREATE)]}
    try:
        yield
    finally:
        current_meta = before


@compatibility(is_backward_compatible=False)
def get_current_meta() -> dict[str, Any]:
    """What nodes that are traced now get, if meta is preserved."""
    return current_meta


@compatibility(is_backward_compatible=False)
@contextmanager
def set_current_replay_node(node: Node | None) -> Iterator[None]:
    """In this block the given node is run once more."""
    global current_replay_node
    before = current_replay_node
    current_replay_node = node
    try:
        yield
    finally:
        current_replay_node = before


@compatibility(is_backward_compatible=False)
def get_current_replay_node() -> Node | None:
    """The node that is run once more."""
    return current_replay_node


@compatibility(is_backward_compatible=False)
def get_graph_provenance_json(graph: Graph) -> dict[str, Any]:
    """By the names of the nodes that call functions: the sources that they note, in plain dictionaries."""
    return {
        node.name: [source.to_dict() for source in node.meta.get("from_node", ())]
        for node in graph.nodes
        if node.op == "call_function"
    }
