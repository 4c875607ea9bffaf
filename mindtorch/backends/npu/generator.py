"""Random numbers of NPUs: Philox streams, of which a program's state is a seed and how far it has come."""

import secrets
import threading
from typing import Any, NoReturn

import numpy as np

from mindtorch._core.device import device as Device
from mindtorch._core.generator import DEFAULT_SEED, Generator, checked_seed, seeders, wrong_generator
from mindtorch._core.tensor import Tensor, wrap
from mindtorch._support import errors
from mindtorch.backends import npu
from mindtorch.backends.npu.array import NpuArray, index_of, numbered
from mindtorch.iterator.overlap import check_distinct

_STATE = np.dtype([("seed", "<u8"), ("offset", "<i8")])
_STEP = 12  # what a kernel takes of the stream, as torch_npu counts it: ten numbers, in fours
_MOST = (1 << 63) - 1


class NpuGenerator(Generator):
    """A seed and an offset. The numbers are made on the device."""

    def __init__(self, device: Any = "npu") -> None:
        self._device = numbered(index_of(Device(device)))
        self._seed = DEFAULT_SEED
        self._offset = 0
        self._lock = threading.Lock()

    def manual_seed(self, seed: int) -> "NpuGenerator":
        self._seed, self._offset = checked_seed(seed), 0
        return self

    def seed(self) -> int:
        seed = secrets.randbits(52)
        self.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        return self._seed

    def get_offset(self) -> int:
        return self._offset

    def set_offset(self, offset: int) -> "NpuGenerator":
        self._offset = offset
        return self

    def take(self) -> tuple[int, int]:
        """The seed and the offset for one launch, which then are used up."""
        with self._lock:
            offset = self._offset
            self._offset = offset + _STEP
        seed = self._seed
        return (seed if seed <= _MOST else seed - (1 << 64)), offset

    def for_cpu(self) -> Generator:
        """A generator of the CPU whose numbers follow from the seed and the offset of one launch."""
        seed, offset = self.take()
        words = np.random.SeedSequence([seed % (1 << 64), offset]).generate_state(1, np.uint64)
        return Generator().manual_seed(int(words[0]))

    def get_state(self) -> Tensor:
        state = np.array([(self._seed % (1 << 64), self._offset)], _STATE)
        return wrap(np.frombuffer(bytearray(state.tobytes()), np.uint8))

    def set_state(self, new_state: Tensor) -> "NpuGenerator":
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {errors.type_name(new_state)}")
        if str(new_state.dtype) != "torch.uint8" or not new_state.is_cpu:
            raise TypeError("RNG state must be a torch.ByteTensor")
        content = np.ascontiguousarray(new_state._mt_array).tobytes()
        if len(content) != _STATE.itemsize:
            raise RuntimeError("RNG state is wrong size")
        state = np.frombuffer(content, _STATE)[0]
        self._seed, self._offset = int(state["seed"]), int(state["offset"])
        return self

    def clone_state(self) -> "NpuGenerator":
        clone = NpuGenerator(self._device)
        clone._seed, clone._offset = self._seed, self._offset
        return clone

    graphsafe_get_state = clone_state

    def graphsafe_set_state(self, other: Generator) -> "NpuGenerator":
        return self.set_state(other.get_state())

    # -------------------- what kernels of the CPU ask for --------------------

    def draws(self, *sizes: int) -> NoReturn:
        raise wrong_generator("cpu", self)

    narrow_draws: Any = draws
    wide_draws: Any = draws
    window: Any = draws
    spare_normal = property(draws)


# -------------------- the generators of the devices --------------------

_defaults: dict[int, NpuGenerator] = {}


def default_of(index: int) -> NpuGenerator:
    """The generator that a device's ops use when they are given none."""
    if index not in _defaults:
        generator = NpuGenerator(numbered(index))
        if npu.first_seed is None:
            generator.seed()
        else:
            generator.manual_seed(npu.first_seed)
        return _defaults.setdefault(index, generator)
    return _defaults[index]


def seed_all(seed: int) -> None:
    """Seed the generators of all devices, also of those that are used later. Starts nothing."""
    npu.first_seed = checked_seed(seed)
    for generator in _defaults.values():
        generator.manual_seed(seed)


seeders.append(seed_all)


def seed_and_offset(generator: Generator | None, array: NpuArray) -> tuple[int, int]:
    """What a random kernel starts from that writes to `array`, of which each element has memory of its own."""
    check_distinct(array)
    if generator is None:
        return default_of(array.root.index).take()
    if not isinstance(generator, NpuGenerator):
        raise wrong_generator("npu", generator)
    return generator.take()
