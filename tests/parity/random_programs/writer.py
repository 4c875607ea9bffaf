"""What writes statements of random programs: the tensors that a program begins with, and choices that suit them."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.parity.random_programs.runs import Env

DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
COMMON_DTYPES = ["float32", "float64"] * 6
SHAPES = [(), (3,), (2, 3), (1, 3), (3, 1), (2, 3, 4), (0,), (2, 0), (4, 4), (1,), (3, 2), (2, 1, 3)]
SHAPES += [(1, 2, 3, 4), (2, 3, 2, 2), (2, 1, 3, 3), (2, 4), (3, 4)]

NUMBERS = "2 -1 0.5 3.0 0 True 1 -2.5 (1+2j)".split()

Maker = Callable[["Writer"], str | None]
STATEMENTS: list[Maker] = []
FURTHER_STATEMENTS: list[Maker] = []  # which only wide programs have


def make(T: Any, shape: tuple[int, ...], dtype: str, layout: str, seed: int, requires_grad: bool) -> Any:
    """A tensor of small numbers, the same in both libraries."""
    numbers = np.random.RandomState(seed)
    data = np.asarray(numbers.randint(-6, 7, size=shape) / 2)
    if dtype == "bool":
        data = data > 0
    elif "int" in dtype:
        data = np.abs(np.trunc(data)) if dtype == "uint8" else np.trunc(data)
    elif "complex" in dtype:
        data = data + 1j * numbers.randint(-6, 7, size=shape) / 2
    tensor = T.tensor(data.tolist(), dtype=getattr(T, dtype)).reshape(shape)
    tensor = LAYOUTS[layout](T, tensor).detach()
    return tensor.requires_grad_() if requires_grad else tensor


LAYOUTS = {
    "plain": lambda T, tensor: tensor,
    "transposed": lambda T, tensor: tensor.mT.contiguous().mT if tensor.ndim > 1 else tensor,
    "reversed": lambda T, tensor: tensor.permute(ALL[: tensor.ndim][::-1])
    .contiguous()
    .permute(ALL[: tensor.ndim][::-1]),
    "stepped": lambda T, tensor: T.stack([tensor, tensor], -1)[..., 0],
    "expanded": lambda T, tensor: tensor[:1].expand(tensor.shape) if tensor.ndim else tensor,
    "offset": lambda T, tensor: T.stack([tensor, tensor])[1],
    "channels last": lambda T, tensor: tensor.contiguous(memory_format=T.channels_last) if tensor.ndim == 4 else tensor,
}
ALL = [0, 1, 2, 3]


def statement(weight: int, statements: list[Maker] = STATEMENTS) -> Callable[[Maker], Maker]:
    """Register a function that writes a statement, chosen `weight` times as often as one of weight 1."""

    def register(maker: Maker) -> Maker:
        statements.extend([maker] * weight)
        return maker

    return register


def further_statement(weight: int) -> Callable[[Maker], Maker]:
    """The same for wide programs."""
    return statement(weight, FURTHER_STATEMENTS)


class Writer:
    """Writes statements that suit torch's tensors as they are now."""

    def __init__(self, seed: int, env: Env):
        self.random = random.Random(seed)
        self.env = env
        self.root = self  # which counts the names, also for the blocks that are written within
        self.depth = 0
        self.is_transformed = False  # whether what is written is the body of a function that a transform takes
        self.count = 0
        self.mapped: set[str] = set()  # the names of what `vmap` has given

    def pick(self, choices: Any) -> Any:
        return self.random.choice(choices)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def new(self) -> str:
        """A name for a result; sometimes an older one, which drops its tensor."""
        names = list(self.env.tensors())
        if len(names) > 8 or (len(names) > 4 and self.chance(0.1)):
            return self.pick(names)
        return self.fresh()

    def number(self) -> int:
        self.root.count += 1
        return self.root.count

    def fresh(self) -> str:
        """A name that the program does not have yet."""
        return f"t{self.number()}"

    def result(self, tensors: dict[str, Any]) -> str | None:
        """What of the tensors of a function it returns: mostly the last to which a gradient can be sent."""
        fitting = [name for name, each in tensors.items() if each.is_floating_point() or each.is_complex()]
        return (fitting or [None])[-1] if self.chance(0.9) else self.pick(fitting or [None])

    def name(self, wanted: Callable[[Any], bool] = lambda tensor: True) -> str | None:
        """The name of a tensor of a wanted kind (now and then of any kind: errors are to be the same too)."""
        tensors = self.env.tensors()
        fitting = [name for name, tensor in tensors.items() if wanted(tensor)]
        if not fitting or self.chance(0.03):
            fitting = list(tensors)
        return self.pick(fitting[-5:] if self.chance(0.6) else fitting)

    def partner(self, name: str) -> str:
        """A tensor or a number that broadcasts with a tensor."""
        if self.chance(0.25):
            return self.pick(NUMBERS)
        shape = self.env[name].shape
        return self.name(lambda tensor: broadcasts(tensor.shape, shape))

    def source(self, name: str) -> str:
        """A tensor or a number that may be written into a tensor."""
        shape = self.env[name].shape
        return self.pick(NUMBERS) if self.chance(0.3) else self.name(lambda tensor: expands(tensor.shape, shape))

    def dim(self, name: str) -> int:
        ndim = self.env[name].ndim
        return self.random.randint(-ndim, max(ndim - 1, 0)) if not self.chance(0.02) else 5

    def dims(self, name: str) -> list[int]:
        ndim = self.env[name].ndim
        return self.random.sample(range(ndim), self.random.randint(0, ndim))

    def index(self, name: str) -> str:
        """A subscript of any kind."""
        shape = self.env[name].shape
        if self.chance(0.08):
            return self.pick(["...", "None", "True", "False", "()", f"{name} > 0", f"{name}.bool()"])
        parts, dim = [], 0
        while dim < len(shape) and not (parts and self.chance(0.3)):
            part = self._subscript(shape, dim)
            parts.append(part)
            dim += 0 if part == "None" else 1
        if self.chance(0.2):
            parts.insert(self.random.randint(0, len(parts)), "...")
        return ", ".join(parts) or "..."

    def _subscript(self, shape: tuple[int, ...], dim: int) -> str:
        size = shape[dim]
        number = self.random.randint(-size, max(size - 1, 0)) if not self.chance(0.02) else 7
        several = [self.random.randint(-size, size - 1) for _ in range(self.random.randint(1, 3))] if size else []
        mask = [self.chance(0.5) for _ in range(size)]
        return self.pick(
            [str(number)] * 4
            + [self._slice(size)] * 6
            + ["None", ":", repr(several), f"T.tensor({several}, dtype=T.int64)"]
            + [f"T.tensor({mask}, dtype=T.bool)", repr(mask), f"T.tensor({number})"]
        )

    def _slice(self, size: int) -> str:
        ends = [str(self.random.randint(-size - 1, size + 1)) if self.chance(0.5) else "" for _ in range(2)]
        return ":".join(ends) + (f":{self.random.randint(1, 3)}" if self.chance(0.3) else "")


def broadcasts(left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    return all(a == b or 1 in (a, b) for a, b in zip(reversed(left), reversed(right), strict=False))


def expands(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    return len(shape) <= len(to) and all(a in (1, b) for a, b in zip(reversed(shape), reversed(to), strict=False))
