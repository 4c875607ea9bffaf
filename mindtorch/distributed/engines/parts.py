"""Collectives of parts that lie apart, by those of one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch.distributed.memory import Memory, empty, joined, split, write
from mindtorch.distributed.reduce_op import RedOpType


class JoiningParts:
    """For communicators that can't send parts from where they lie, or for which small ones are quicker so."""

    rank: int
    size: int
    all_gather: Any
    gather: Any
    scatter: Any
    reduce_scatter: Any
    all_to_all: Any

    def all_gather_parts(self, outputs: Sequence[Memory], memory: Memory) -> None:
        whole = empty(self.size * memory.size, memory)
        self.all_gather(whole, memory)
        _write_apart(outputs, whole)

    def gather_parts(self, outputs: Sequence[Memory] | None, memory: Memory, root: int) -> None:
        whole = None if outputs is None else empty(self.size * memory.size, memory)
        self.gather(whole, memory, root)
        if outputs is not None:
            _write_apart(outputs, whole)

    def scatter_parts(self, memory: Memory, parts: Sequence[Memory] | None, root: int) -> None:
        self.scatter(memory, None if parts is None else joined(parts), root)

    def reduce_scatter_parts(self, memory: Memory, parts: Sequence[Memory], op: RedOpType) -> None:
        self.reduce_scatter(memory, joined(parts), op)

    def all_to_all_parts(self, outputs: Sequence[Memory], parts: Sequence[Memory]) -> None:
        received = [each.size for each in outputs]
        whole = empty(sum(received), parts[0])
        self.all_to_all(whole, joined(parts), received, [each.size for each in parts])
        _write_apart(outputs, whole)


def _write_apart(outputs: Sequence[Memory], whole: Memory) -> None:
    for each, part in zip(outputs, split(whole, [each.size for each in outputs]), strict=True):
        write(each, part)
