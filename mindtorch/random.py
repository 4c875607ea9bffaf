"""The random numbers of the process, as `torch.random` names them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch.generator import default_generator as default_generator
from mindtorch.generator import get_rng_state as get_rng_state
from mindtorch.generator import initial_seed as initial_seed
from mindtorch.generator import manual_seed as manual_seed
from mindtorch.generator import seed as seed
from mindtorch.generator import set_rng_state as set_rng_state


@contextmanager
def fork_rng(
    devices: Any = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> Iterator[None]:
    """Puts the state of the random numbers back on leaving."""
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)
