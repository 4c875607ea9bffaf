"""Random numbers of tensors that are spread: parts that several processes have are the same, others are not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mindtorch._core.dtype import int64
from mindtorch.dispatch import ops
from mindtorch.distributed.collectives import broadcast
from mindtorch.distributed.device_mesh import DeviceMesh
from mindtorch.distributed.tensor.placement_types import Placement
from mindtorch.distributed.tensor.spreading import own_block
from mindtorch.random import default_generator

_SEEDS = 2**62


@contextmanager
def drawing(shape: Sequence[int], mesh: DeviceMesh, placements: Sequence[Placement], generator: Any) -> Iterator[None]:
    """Within it, the default generator draws the part of this process.

    All processes draw a number, of which that of the first is taken; the rest follows from it and from where the part
    begins. So `manual_seed` says what comes, and the program's own draws stay in step.
    """
    seed = ops.randint(_SEEDS, (1,), dtype=int64, generator=generator)
    for dim in range(mesh.ndim):
        broadcast(seed, group=mesh.get_group(dim), group_src=0)
    state = default_generator.get_state()
    default_generator.manual_seed(hash((int(seed), *own_block(shape, mesh, placements)[0])) % _SEEDS)
    try:
        yield
    finally:
        default_generator.set_state(state)


def is_random(function: Any) -> bool:
    """Whether an op draws numbers."""
    return any(tag.name == "nondeterministic_seeded" for tag in function.tags)


def drawn(make: Callable[[], Any], shape: Sequence[int], mesh: DeviceMesh, placements: Any, generator: Any) -> Any:
    """What an op draws for this process."""
    with drawing(shape, mesh, placements, generator):
        return make()
