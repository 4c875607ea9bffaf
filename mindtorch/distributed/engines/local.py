"""A group of one process: what is sent comes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch.distributed.engines.communicator import EngineError, Purpose
from mindtorch.distributed.engines.parts import JoiningParts
from mindtorch.distributed.reduce_op import RedOpType


class LocalCommunicator(JoiningParts):
    """The communicator of a process that is alone."""

    name = "local"
    rank = 0
    size = 1

    def differences(self, words: tuple[int, ...]) -> bool:
        return False

    def gather_objects(self, value: Any) -> list[Any]:
        return [value]

    def all_reduce(self, memory: np.ndarray, op: RedOpType) -> None:
        """The tensor of one process is the result already."""

    def reduce(self, memory: np.ndarray, op: RedOpType, root: int) -> None:
        """As `all_reduce`."""

    def broadcast(self, memory: np.ndarray, root: int) -> None:
        """As `all_reduce`."""

    def all_gather(self, output: np.ndarray, memory: np.ndarray) -> None:
        output[...] = memory

    def gather(self, output: np.ndarray | None, memory: np.ndarray, root: int) -> None:
        assert output is not None
        output[...] = memory

    def scatter(self, memory: np.ndarray, parts: np.ndarray | None, root: int) -> None:
        memory[...] = parts

    def reduce_scatter(self, memory: np.ndarray, parts: np.ndarray, op: RedOpType) -> None:
        memory[...] = parts

    def all_to_all(
        self, output: np.ndarray, parts: np.ndarray, output_counts: Sequence[int], counts: Sequence[int]
    ) -> None:
        output[...] = parts

    def barrier(self) -> None:
        """One process need not wait for itself."""

    def start_send(self, memory: np.ndarray, peer: int, tag: int) -> Any:
        raise EngineError(f"there is no process of rank {peer} to send to: the group has one process")

    def start_receive(self, memory: np.ndarray, peer: int | None, tag: int) -> Any:
        raise EngineError("there is no process to receive from: the group has one process")

    def is_waiting(self, peer: int, tag: int) -> bool:
        return False

    def group_of(self, ranks: Sequence[int] | None, order: int) -> LocalCommunicator | None:
        return None if ranks is None else self

    def group_of_members(self, ranks: Sequence[int], number: int) -> LocalCommunicator:
        return self

    def reordered(self, rank: int) -> LocalCommunicator:
        return self

    def survivors(self, excluded: Sequence[int], seconds: float) -> tuple[list[int], bool]:
        return [0], True

    def regrouped(self, kept: Sequence[int], others_are_dead: bool) -> LocalCommunicator:
        return self

    def lost_ranks(self) -> list[int]:
        return []

    def revoke(self) -> None:
        """No other process uses it."""

    def meet(self, seconds: float, ranks: Sequence[int] | None = None, purpose: Purpose = Purpose.LEAVE) -> bool:
        return True

    def free(self) -> None:
        """It owns nothing."""
