"""What a process group asks of its engine."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Protocol

import numpy as np

from mindtorch.distributed.reduce_op import RedOpType


class EngineError(Exception):
    """An engine's own error, in its own words."""


class PeerLost(EngineError):
    """A process of the communicator has died."""


class Revoked(EngineError):
    """The communicator was aborted, here or by another process."""


class Purpose(IntEnum):
    """What processes meet for: one that leaves is not to be taken for one that makes a group."""

    LEAVE = 0
    MAKE_GROUP = 1


class Request(Protocol):
    """A message on its way."""

    def test(self) -> bool:
        """Whether it has arrived; raises when it can't."""

    def arrives_within(self, seconds: float) -> bool:
        """Whether it has arrived after so many seconds at most; raises when it can't."""

    def cancel(self) -> None: ...

    @property
    def source(self) -> int:
        """The rank that a received message came from."""

    @property
    def nbytes(self) -> int:
        """How many bytes were received."""


class Communicator(Protocol):
    """Processes that exchange memory: one-dimensional NumPy arrays without gaps. All calls but messages block."""

    name: str
    rank: int
    size: int

    def differences(self, words: tuple[int, ...]) -> bool:
        """Whether the processes have come with different words."""

    def gather_objects(self, value: Any) -> list[Any]: ...
    def all_reduce(self, memory: np.ndarray, op: RedOpType) -> None: ...
    def reduce(self, memory: np.ndarray, op: RedOpType, root: int) -> None: ...
    def broadcast(self, memory: np.ndarray, root: int) -> None: ...
    def all_gather(self, output: np.ndarray, memory: np.ndarray) -> None: ...
    def gather(self, output: np.ndarray | None, memory: np.ndarray, root: int) -> None: ...
    def scatter(self, memory: np.ndarray, parts: np.ndarray | None, root: int) -> None: ...
    def reduce_scatter(self, memory: np.ndarray, parts: np.ndarray, op: RedOpType) -> None: ...
    def all_to_all(
        self, output: np.ndarray, parts: np.ndarray, output_counts: Sequence[int], counts: Sequence[int]
    ) -> None: ...
    def all_gather_parts(self, outputs: Sequence[np.ndarray], memory: np.ndarray) -> None:
        """As `all_gather`, into memories that lie apart; so are all the others with parts. What is written overlaps
        with nothing else."""

    def gather_parts(self, outputs: Sequence[np.ndarray] | None, memory: np.ndarray, root: int) -> None: ...
    def scatter_parts(self, memory: np.ndarray, parts: Sequence[np.ndarray] | None, root: int) -> None: ...
    def reduce_scatter_parts(self, memory: np.ndarray, parts: Sequence[np.ndarray], op: RedOpType) -> None: ...
    def all_to_all_parts(self, outputs: Sequence[np.ndarray], parts: Sequence[np.ndarray]) -> None: ...
    def barrier(self) -> None: ...
    def start_send(self, memory: np.ndarray, peer: int, tag: int) -> Request: ...
    def start_receive(self, memory: np.ndarray, peer: int | None, tag: int) -> Request: ...
    def is_waiting(self, peer: int, tag: int) -> bool:
        """Whether a message of a process is there to be received."""

    def group_of(self, ranks: Sequence[int] | None, order: int) -> Communicator | None:
        """The communicator of some processes, in the order of their numbers; all call this, the others with None."""

    def group_of_members(self, ranks: Sequence[int], number: int) -> Communicator:
        """The communicator of some of the processes; only they call this, all with the same number."""

    def reordered(self, rank: int) -> Communicator:
        """The same processes, each with the rank that it asks for."""

    def survivors(self, excluded: Sequence[int], seconds: float) -> tuple[list[int], bool]:
        """The ranks that live and are not excluded, and whether all others are dead.

        All survivors call this, and no others; each waits so long for another one."""

    def regrouped(self, kept: Sequence[int], others_are_dead: bool) -> Communicator:
        """The communicator of those on which `survivors` has agreed; all of them call this."""

    def lost_ranks(self) -> list[int]: ...
    def revoke(self) -> None:
        """Make every call of this communicator fail, in all processes."""

    def meet(self, seconds: float, ranks: Sequence[int] | None = None, purpose: Purpose = Purpose.LEAVE) -> bool:
        """Whether all processes, or those of some ranks, come to this call within the time."""

    def free(self) -> None: ...
