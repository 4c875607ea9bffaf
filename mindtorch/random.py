"""The random numbers of the process, as `torch.random` names them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch._core.generator import Generator, of_devices
from mindtorch._core.generator import default_generator as default_generator
from mindtorch._core.generator import get_rng_state as get_rng_state
from mindtorch._core.generator import initial_seed as initial_seed
from mindtorch._core.generator import manual_seed as manual_seed
from mindtorch._core.generator import seed as seed
from mindtorch._core.generator import set_rng_state as set_rng_state
from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn_once
from mindtorch.accelerator import current_accelerator, get_device_module


@contextmanager
def fork_rng(
    devices: Any = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> Iterator[None]:
    """Puts the state of the random numbers back on leaving: those of the CPU, and of devices of the type."""
    if not enabled or device_type == "meta":
        yield
        return
    found = current_accelerator()
    kind = device_type or ("cuda" if found is None else found.type)
    module: Any = get_device_module(kind)
    numbers = list(devices) if devices is not None else _all_of(module, kind, _caller, _devices_kw)
    state, states = get_rng_state(), [module.get_rng_state(number) for number in numbers]
    try:
        yield
    finally:
        set_rng_state(state)
        for number, each in zip(numbers, states):
            module.set_rng_state(each, number)


def _all_of(module: Any, kind: str, caller: str, keyword: str) -> list[int]:
    """The numbers of all devices of a type; a warning if they are many."""
    count, name = module.device_count(), kind.upper()
    if count > 1:
        warn_once(
            f"{name} reports that you have {count} available devices, and you have used {caller} without explicitly "
            f"specifying which devices are being used. For safety, we initialize *every* {name} device by default, "
            f"which can be quite slow if you have a lot of {name}s. If you know that you are only making use of a few "
            f"{name} devices, set the environment variable {name}_VISIBLE_DEVICES or the '{keyword}' keyword argument "
            f"of {caller} with the set of devices you are actually using. For example, if you are using CPU only, set "
            f"device.upper()_VISIBLE_DEVICES= or devices=[]; if you are using device 0 only, set "
            f"{name}_VISIBLE_DEVICES=0 or devices=[0].  To initialize all devices and suppress this warning, set the "
            f"'{keyword}' keyword argument to `range(torch.{kind}.device_count())`.",
            kind="fork_rng",
        )
    return list(range(count))


# -------------------- everything at once --------------------


def states_now() -> list[tuple[Generator, Tensor]]:
    """The states of the default generators of the CPU and of the devices in use."""
    generators = [default_generator]
    for kind in of_devices.values():
        generators += [kind.default_of(device) for device in kind.in_use()]
    return [(generator, generator.get_state()) for generator in generators]


@contextmanager
def with_states(states: list[tuple[Generator, Tensor]] | None) -> Iterator[None]:
    """A block that begins with the random numbers that came next at another moment, and leaves no trace in them."""
    if states is None:
        yield
        return
    before = states_now()
    try:
        _put_back(states)
        yield
    finally:
        _put_back(before)


def _put_back(states: list[tuple[Generator, Tensor]]) -> None:
    for generator, state in states:
        generator.set_state(state)
