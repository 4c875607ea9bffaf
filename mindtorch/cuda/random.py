"""Random numbers of devices: there are none to seed."""

from typing import Any

from mindtorch._support.unavailable import no_cuda

__all__ = [
    "get_rng_state", "get_rng_state_all", "initial_seed", "manual_seed", "manual_seed_all", "seed", "seed_all",
    "set_rng_state", "set_rng_state_all",
]  # fmt: skip


def manual_seed(seed: int) -> None:
    """Nothing to seed."""


def seed() -> None:
    """Nothing to seed."""


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Nothing to set."""


def get_rng_state_all() -> list:
    return []


manual_seed_all, seed_all, set_rng_state_all = manual_seed, seed, set_rng_state
get_rng_state = initial_seed = no_cuda
