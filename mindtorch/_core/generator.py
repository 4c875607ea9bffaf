"""Random number generators: `Generator` draws the stream of torch's CPU generator, a Mersenne twister.

For the same seed the numbers are torch's, and so are the bytes of `get_state()`. NumPy runs the twister; what torch
adds is the order in which draws of 32 bits become numbers, and one normal number that may be left over from a pair.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mindtorch._core.device import device as Device
from mindtorch._core.tensor import Tensor, fresh
from mindtorch._support import errors

DEFAULT_SEED = 67280421310721

_WORDS = 624  # of 32 bits: the state of the twister, which is renewed all at once
_MASK_32 = 0xFFFF_FFFF
_MASK_64 = 0xFFFF_FFFF_FFFF_FFFF
_SHIFT = np.uint64(32)
_MANY = 512

# The bytes of a state, as torch lays them out.
_STATE = np.dtype(
    [
        ("seed", np.uint64),
        ("left", np.int32),
        ("seeded", np.int32),
        ("next", np.uint64),
        ("words", np.uint64, _WORDS),
        ("normal_x", np.float64),
        ("normal_y", np.float64),
        ("normal_rho", np.float64),
        ("normal_is_valid", np.int32),
        ("padding", np.int32),
        ("float_normal", np.float32),
        ("float_normal_is_valid", np.int32),
    ]
)


class Window:
    """Draws made ahead of their use, so that a kernel can compute something from many of them at once.

    `prepared` is what it computed, for it to keep; `used` draws from the front have been given out.
    """

    __slots__ = ("words", "used", "prepared", "origin")

    def __init__(self, words: np.ndarray, origin: tuple) -> None:
        self.words = words
        self.used = 0
        self.prepared: Any = None
        self.origin = origin

    def take(self, count: int) -> slice:
        """Gives out the next `count` draws."""
        start = self.used
        self.used = start + count
        return slice(start, self.used)


class OfDevices(NamedTuple):
    """The generators of a type of devices: what gives their class, that of a device by default, and the devices that
    draw from theirs."""

    kind: Callable[[], type]
    default_of: Callable[[Device], Generator]
    in_use: Callable[[], list[Device]]


of_devices: dict[str, OfDevices] = {}  # by the device's type
seeders: list[Callable[[int], None]] = []  # what seeds all of a type


class Generator:
    """A source of random numbers with a state of its own."""

    __module__ = "mindtorch"

    torch_name = "torch._C.Generator"

    def __new__(cls, device: Any = "cpu") -> Generator:
        kind = Device(device).type
        return super().__new__(of_devices[kind].kind() if cls is Generator and kind in of_devices else cls)

    def __init__(self, device: Any = "cpu") -> None:
        self._device = Device(device)
        if self._device.type != "cpu":
            raise RuntimeError(f"{self._device.type.upper()} device type not an accelerator.")
        self._seed_with(DEFAULT_SEED)

    # What NumPy has for it is made when a number is first drawn: to import `numpy.random` takes long.

    @cached_property
    def _bits(self) -> np.random.MT19937:
        bits = np.random.MT19937(0)
        _seed(bits, self._initial_seed)
        return vars(self).setdefault("_bits", bits)  # one for all threads

    @cached_property
    def _narrow(self) -> np.random.Generator:
        return np.random.Generator(self._bits)

    @property
    def device(self) -> Device:
        return self._device

    def for_cpu(self) -> Generator:
        """What kernels of the CPU draw from; generators of devices make one that goes on from where they are."""
        return self

    # -------------------- seeds --------------------

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream of `seed` and return the generator."""
        self._seed_with(checked_seed(seed))
        return self

    def seed(self) -> int:
        """Start the stream of a seed from the operating system's entropy and return the seed."""
        seed = int.from_bytes(os.urandom(8), "little")
        self._seed_with(seed)
        return seed

    def initial_seed(self) -> int:
        return self._initial_seed

    def _seed_with(self, seed: int) -> None:
        self._initial_seed = seed
        if "_bits" in vars(self):
            _seed(self._bits, seed)
        self._fresh = True
        self._window: Window | None = None
        self.spare_normal: float | None = None

    # -------------------- states --------------------

    def get_state(self) -> Tensor:
        """The state as a ByteTensor, for `set_state`."""
        return fresh(np.frombuffer(bytearray(self._packed_state()), np.uint8))

    def set_state(self, new_state: Tensor) -> Generator:
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {errors.type_name(new_state)}")
        if new_state._mt_array.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        self._unpack_state(np.ascontiguousarray(new_state._mt_array).tobytes())
        return self

    def clone_state(self) -> Generator:
        """A generator with the same state, from which both go on by themselves."""
        clone = Generator(self._device)
        clone._unpack_state(self._packed_state())
        return clone

    graphsafe_get_state = clone_state

    def graphsafe_set_state(self, other: Generator) -> Generator:
        self._unpack_state(other._packed_state())
        return self

    def _packed_state(self) -> bytes:
        self._close_window()
        twister = self._bits.state["state"]
        state = np.zeros((), _STATE)
        state["seed"] = self._initial_seed
        state["left"] = _WORDS + 1 - twister["pos"]
        state["seeded"] = 1
        state["next"] = 0 if self._fresh else twister["pos"]
        state["words"] = twister["key"]
        if self.spare_normal is not None:
            state["normal_y"] = self.spare_normal
            state["normal_is_valid"] = 1
        return state.tobytes()

    def _unpack_state(self, packed: bytes) -> None:
        if len(packed) != _STATE.itemsize:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {_STATE.itemsize} but found the input RNG state size to be "
                f"{len(packed)}"
            )
        state = np.frombuffer(packed, _STATE)[0]
        self._initial_seed = int(state["seed"])
        self._bits.state = {
            "bit_generator": "MT19937",
            "state": {"key": state["words"].astype(np.uint32), "pos": _WORDS + 1 - int(state["left"])},
        }
        self._window = None
        self._fresh = int(state["left"]) == 1 and int(state["next"]) == 0
        self.spare_normal = float(state["normal_y"]) if state["normal_is_valid"] else None

    def __reduce__(self) -> tuple:
        return Generator, (self._device,), (self.initial_seed(), None, self.get_state())

    def __setstate__(self, state: tuple) -> None:
        self.set_state(state[-1])

    # -------------------- numbers --------------------

    def draws(self, count: int) -> np.ndarray:
        """The next `count` draws of 32 bits, as uint64."""
        window = self._window
        if window is not None:
            if window.used + count <= len(window.words):
                return window.words[window.take(count)].copy()
            self._close_window()
        self._fresh = self._fresh and not count
        return self._bits.random_raw(count)

    def narrow_draws(self, count: int) -> np.ndarray:
        """The next `count` draws as uint32: many of them are quicker to make and to convert."""
        if self._window is not None or count < _MANY:
            return self.draws(count).astype(np.uint32)
        self._fresh = False
        return self._narrow.integers(0, 1 << 32, count, np.uint32)

    def wide_draws(self, count: int) -> np.ndarray:
        """`count` draws of 64 bits; each takes two of 32, the high half first."""
        halves = self.draws(2 * count)
        return (halves[0::2] << _SHIFT) | halves[1::2]

    def window(self, needed: int, size: int) -> Window:
        """The window of draws ahead, in which `needed` are left; a new one has `size` draws."""
        if self._window is None or self._window.used + needed > len(self._window.words):
            self._close_window()
            origin = self._bits.state, self._fresh
            self._window = Window(self._bits.random_raw(size), origin)
        return self._window

    def _close_window(self) -> None:
        """Puts the twister where the draws that were given out ended."""
        window, self._window = self._window, None
        if window is not None and window.used < len(window.words):
            self._bits.state, self._fresh = window.origin
            self.draws(window.used)


def _seed(bits: np.random.MT19937, seed: int) -> None:
    """Start a stream as the reference twister does, for which NumPy has this one public way."""
    np.random.RandomState(bits).seed(seed & _MASK_32)


def cpu_generator(given: Generator | None, where: Device) -> Generator | None:
    """What the CPU draws from in the place of another device: the numbers follow from that one's generator."""
    if where.type not in of_devices:
        return given
    generator = of_devices[where.type].default_of(where) if given is None else given
    if generator.device.type != where.type:
        raise wrong_generator(where.type, generator)
    return generator.for_cpu()


def wrong_generator(wanted: str, given: Generator) -> RuntimeError:
    return RuntimeError(f"Expected a '{wanted}' device type for generator but found '{given.device.type}'")


def checked_seed(seed: Any) -> int:
    """A seed as torch takes it: 64 bits, with or without a sign."""
    if type(seed) is not int:
        raise RuntimeError(f"manual_seed expected a long, but got {errors.type_name(seed)}")
    if not -(1 << 63) <= seed <= _MASK_64:
        raise errors.unpacking_overflow()
    return seed & _MASK_64


default_generator = Generator()
default_generator.seed()  # without `manual_seed` no two processes draw the same numbers


def manual_seed(seed: int) -> Generator:
    """Start the streams of `seed`: that of the default generator, and those of all devices."""
    checked = checked_seed(int(seed))
    for seed_all in seeders:
        seed_all(checked)
    return default_generator.manual_seed(checked)


def seed() -> int:
    """Start the default generator's stream of a seed from the operating system's entropy and return the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed with which the default generator was started."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator as a ByteTensor."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Put the default generator into a state that `get_rng_state` gave."""
    default_generator.set_state(new_state)
