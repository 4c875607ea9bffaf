"""The random numbers of NPUs: seeds and states."""

import secrets
from collections.abc import Iterable, Iterator
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.backends.npu import generator as generators
from mindtorch.backends.npu.generator import NpuGenerator
from mindtorch.npu.devices import device_count, index_of


class _Defaults:
    """`default_generators[0]`: that of the first device."""

    def __len__(self) -> int:
        return device_count()

    def __getitem__(self, index: int) -> NpuGenerator:
        if not 0 <= index < len(self):
            raise IndexError("index out of range")
        return generators.default_of(index)

    def __iter__(self) -> Iterator[NpuGenerator]:
        return (self[index] for index in range(len(self)))


default_generators = _Defaults()


def manual_seed(seed: int) -> None:
    """Start the numbers of this thread's device anew, with a seed. Without a device, nothing happens."""
    if device_count():
        generators.default_of(index_of(None)).manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """The same for all devices."""
    generators.seed_all(int(seed))


def seed() -> None:
    """Start the numbers of this thread's device anew, with a seed that cannot be guessed."""
    if device_count():
        generators.default_of(index_of(None)).seed()


def seed_all() -> None:
    """The same for all devices, which get the same one."""
    generators.seed_all(secrets.randbits(52))


def initial_seed() -> int:
    """The seed of this thread's device."""
    return generators.default_of(index_of(None)).initial_seed()


def get_rng_state(device: Any = "npu") -> Tensor:
    """The state of a device's numbers."""
    return generators.default_of(index_of(device)).get_state()


def get_rng_state_all() -> list[Tensor]:
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state(new_state: Tensor, device: Any = "npu") -> None:
    """Go on from a state that `get_rng_state` gave."""
    generators.default_of(index_of(device)).set_state(new_state)


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    for index, state in enumerate(new_states):
        set_rng_state(state, index)
