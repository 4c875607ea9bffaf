"""From tensors to a picture of their graph."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.history import edge_of
from mindtorch.autograd._engine.node import Node
from mindtorch.utils.graph.kept import attributes_of, saved_of, tensor_text, written_by
from mindtorch.utils.graph.picture import Arrow, Box, Picture

_SHOWN_OUTPUTS = 4  # of a node that has more, the others are counted


def read_graph(outputs: Any, params: Mapping[str, Tensor], saved: bool, attributes: bool) -> Picture:
    """The picture of the graph that leads to some outputs."""
    named = _named_outputs(outputs)
    edges = [_edge_of_output(name, tensor) for name, tensor in named.items()]
    reader = _Reader(params, saved, attributes)
    nodes = _reachable([edge[0] for edge in edges])
    keys = {id(node): f"n{number}" for number, node in enumerate(nodes)}
    boxes = [reader.box(keys[id(node)], node) for node in nodes]
    arrows = [arrow for node in nodes for arrow in _arrows_into(node, keys)]
    for number, ((name, tensor), (node, output_nr, *_)) in enumerate(zip(named.items(), edges)):
        boxes.append(Box(f"out{number}", "output", name, (tensor_text(tensor._mt_array),)))
        arrows.append(Arrow(keys[id(node)], f"out{number}", *_arrow_text(node, [output_nr])))
    return Picture(tuple(boxes), tuple(arrows))


def _named_outputs(outputs: Any) -> dict[str, Any]:
    if isinstance(outputs, Mapping):
        named = {str(name): tensor for name, tensor in outputs.items()}
    elif isinstance(outputs, Sequence):
        named = {f"output {number}": tensor for number, tensor in enumerate(outputs)}
    else:
        named = {"output": outputs}
    if not named:
        raise ValueError("draw(): there is nothing to draw: no outputs were given")
    return named


def _edge_of_output(name: str, tensor: Any) -> tuple:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"draw(): {name} must be a Tensor, not {type(tensor).__name__}")
    edge = edge_of(tensor)
    if not edge:
        raise ValueError(
            f"draw(): {name} has no graph. It must be computed, with gradients enabled, from a tensor that requires "
            "grad"
        )
    return edge


def _reachable(nodes: list) -> list:
    """All nodes that backward from some of them reaches, the inputs of a node from the first to the last."""
    found: dict[int, Any] = {}
    waiting = nodes[::-1]
    while waiting:
        node = waiting.pop()
        if id(node) not in found:
            found[id(node)] = node
            waiting += [edge[0] for edge in reversed(node.next_edges) if edge is not None]
    return list(found.values())


def _arrows_into(node: Any, keys: dict[int, str]) -> Iterator[Arrow]:
    """An arrow for every node that has results among the inputs of this one."""
    sources: dict[int, tuple[Any, list[int]]] = {}
    for edge in node.next_edges:
        if edge is not None:
            sources.setdefault(id(edge[0]), (edge[0], []))[1].append(edge[1])
    for source, numbers in sources.values():
        yield Arrow(keys[id(source)], keys[id(node)], *_arrow_text(source, numbers))


def _arrow_text(source: Any, numbers: list[int]) -> tuple[str, str]:
    """The label of an arrow, and its explanation; the numbers are those of the outputs of its source."""
    if source.output_shape is None:
        listed = ", ".join(map(str, numbers))
        return listed, f"output {listed} of {type(source).__name__}"
    return ("", "") if len(numbers) == 1 else (f"×{len(numbers)}", f"the input {len(numbers)} times")


class _Reader:
    """Makes the boxes of nodes; knows what the user wants to see in them."""

    def __init__(self, params: Mapping[str, Tensor], saved: bool, attributes: bool) -> None:
        self.names = dict(_names_by_edge(params))
        self.saved = saved
        self.attributes = attributes

    def box(self, key: str, node: Any) -> Box:
        return self._leaf(key, node) if node.accumulates else self._node(key, node)

    def _leaf(self, key: str, node: Any) -> Box:
        name = self.names.get((id(node), 0), "leaf")
        return Box(key, "leaf", name, (tensor_text(node.array), "AccumulateGrad"), (), _leaf_tip(node, name))

    def _node(self, key: str, node: Any) -> Box:
        kept = (*(attributes_of(node) if self.attributes else ()), *(saved_of(node, self.names) if self.saved else ()))
        return Box(key, "node", type(node).__name__, tuple(self._facts(node)), kept, _node_tip(node))

    def _facts(self, node: Any) -> Iterator[str]:
        """The shape and dtype of every output, with its name if it has one."""
        writer = written_by(node)
        if writer is not None:
            yield f"a view, written by {type(writer).__name__}"
        metadata = node._input_metadata
        for number, each in enumerate(metadata[:_SHOWN_OUTPUTS]):
            place = f"{number}: " if len(metadata) > 1 else ""
            name = self.names.get((id(node), number))
            shown = "no tensor" if each.dtype is None else tensor_text(each)
            yield f"{place}{shown}" + (f" = {name}" if name else "")
        if len(metadata) > _SHOWN_OUTPUTS:
            yield f"... {len(metadata)} outputs"


def _names_by_edge(params: Mapping[str, Tensor]) -> Iterator[tuple[tuple[int, int], str]]:
    for name, tensor in params.items():
        edge = edge_of(tensor)
        if edge:
            yield (id(edge[0]), edge[1]), str(name)


def _leaf_tip(node: Any, name: str) -> str:
    gradient = node.meta.grad
    return f"{name}: " + (
        "no gradient yet" if gradient is None else f"has a gradient, {tensor_text(gradient._mt_array)}"
    )


def _node_tip(node: Any) -> str:
    """The schema of the op; of nodes that are written by hand the full name."""
    return (node.schema if isinstance(node, Node) else "") or node.name()
