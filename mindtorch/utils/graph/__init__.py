"""A picture of the backward graph of a tensor.

    picture = draw(loss, params=dict(model.named_parameters()))
    picture.save("loss.svg")

In a notebook the picture shows itself. It is made here from beginning to end: neither Graphviz nor anything else has to
be installed.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path

from mindtorch._core.tensor import Tensor
from mindtorch.utils.graph.dot import dot_of
from mindtorch.utils.graph.picture import Picture
from mindtorch.utils.graph.reading import read_graph
from mindtorch.utils.graph.svg import svg_of

__all__ = ["Drawing", "draw"]


class Drawing:
    """What `draw` returns. Each form of the picture is made when it is first asked for."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture

    @cached_property
    def dot(self) -> str:
        """The graph in the language of Graphviz."""
        return dot_of(self.picture)

    @cached_property
    def svg(self) -> str:
        """The graph as an image, which is readable on light and on dark pages."""
        return svg_of(self.picture)

    def save(self, path: str | PathLike) -> None:
        """Write the picture to a file, in the form that its name ends in: .svg, or .dot or .gv for Graphviz."""
        suffix = Path(path).suffix.lower()
        if suffix not in (".svg", ".dot", ".gv"):
            raise ValueError(f"cannot save a graph as '{path}': the name must end in .svg, .dot or .gv")
        Path(path).write_text(self.svg if suffix == ".svg" else self.dot, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Drawing of {len(self.picture.boxes)} boxes and {len(self.picture.arrows)} arrows>"


def draw(
    outputs: Tensor | Sequence[Tensor] | Mapping[str, Tensor],
    params: Mapping[str, Tensor] | None = None,
    *,
    saved: bool = False,
    attributes: bool = False,
) -> Drawing:
    """Draw the graph that backward would go through, leaves at the top, `outputs` at the bottom.

    ``outputs``     a tensor, several of them, or a dict that names them
    ``params``      names of tensors, such as ``dict(model.named_parameters())``
    ``saved``       show the tensors that every node keeps for its formula
    ``attributes``  show the numbers, shapes and the like that it keeps

    Arrows go the way of the data; gradients flow against them. Nothing is unpacked, no hook runs, and a graph that
    backward has freed can be drawn as well.
    """
    return Drawing(read_graph(outputs, params or {}, saved, attributes))
