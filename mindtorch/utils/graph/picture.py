"""What is in a picture of a graph: boxes and the arrows between them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Box:
    """A node of the backward graph, a leaf, or an output."""

    key: str
    kind: str  # node, leaf or output
    title: str
    facts: tuple[str, ...] = ()  # a line for each
    kept: tuple[str, ...] = ()  # what the node keeps for its formula, a line for each
    tip: str = ""  # what is too long for the box


@dataclass(frozen=True, slots=True)
class Arrow:
    """The result of one box that is an input of another."""

    source: str
    target: str
    label: str = ""
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


def printable(text: str) -> str:
    """The text on one line, without what files have no place for: control characters, halves of characters."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
