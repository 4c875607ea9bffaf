"""`Tag`: facts about ops that torch has a word for, and that users may give to ops of their own."""

from collections.abc import Iterable
from enum import Enum
from typing import Any


class Tag(Enum):
    """torch's tags, with torch's numbers."""

    __module__ = "mindtorch"

    core = 0
    cudagraph_unsafe = 1
    data_dependent_output = 2
    dynamic_output_shape = 3
    flexible_layout = 4
    generated = 5
    inplace = 6
    inplace_view = 7
    maybe_aliasing_or_mutating = 8
    needs_contiguous_strides = 9
    needs_exact_strides = 10
    needs_fixed_stride_order = 11
    nondeterministic_bitwise = 12
    nondeterministic_seeded = 13
    out = 14
    out_variant = 15
    pointwise = 16
    pt2_compliant_tag = 17
    reduction = 18
    view_copy = 19


def tags_named(names: Iterable[str]) -> list[Tag]:
    """The tags of an entry of the registry, whose words are not all torch's."""
    return [Tag[name] for name in names if name in Tag.__members__]


def listed_tags(tags: Any) -> tuple[Tag, ...]:
    """What a `tags` argument means: one tag, several, or None for none."""
    if tags is None:
        return ()
    return (tags,) if isinstance(tags, Tag) else tuple(tags)
