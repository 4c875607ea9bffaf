"""A picture in the language of Graphviz."""

from mindtorch.utils.graph.picture import Arrow, Box, Picture, printable

_HEAD = [
    "digraph {",
    '  node [shape=box, style="rounded,filled", fontname="monospace", fontsize=11];',
    '  edge [fontname="monospace", fontsize=9];',
]
_FILLS = {"leaf": "lightblue", "node": "gray93", "output": "darkseagreen1"}


def dot_of(picture: Picture) -> str:
    lines = [*_HEAD, *map(_box, picture.boxes), *map(_arrow, picture.arrows), "}"]
    return "\n".join(lines) + "\n"


def _box(box: Box) -> str:
    label = "\\n".join(_escaped(line) for line in (box.title, *box.facts, *box.kept))
    return f'  {box.key} [label="{label}", fillcolor={_FILLS[box.kind]}{_optional("tooltip", box.tip)}];'


def _arrow(arrow: Arrow) -> str:
    attributes = (_optional("label", arrow.label) + _optional("tooltip", arrow.tip)).removeprefix(", ")
    return f"  {arrow.source} -> {arrow.target}" + (f" [{attributes}];" if attributes else ";")


def _optional(name: str, value: str) -> str:
    return f', {name}="{_escaped(value)}"' if value else ""


def _escaped(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace('"', '\\"')
