"""One library and one case at a time: made ready, and called some times. What is timed runs here and nowhere else.

This module imports neither mindtorch nor torch, so that it can time any checkout of the one and the other alike.
"""

import warnings
from collections.abc import Callable, Iterator
from functools import partial, reduce
from time import process_time
from types import ModuleType
from typing import Any

from benchmarks.ops import layers
from benchmarks.ops.recipes import BACKWARD, IN_PLACE, OUT, Dtype, Numbers, Recipe, array_of, replaced, turned
from benchmarks.timing import batch_seconds

Work = Callable[[], Any]
Shapes = list[tuple[str, tuple[int, ...]]]
# How libraries say that they do not take a call; any other exception is a fault of theirs or ours, and stops the run.
REFUSED = (
    ArithmeticError, AssertionError, AttributeError, IndexError, MemoryError, RuntimeError, TypeError, ValueError,
)  # fmt: skip
SHORTEST = 0.0005  # seconds of a batch: long for the clock, and short enough to find a quiet moment
MOST_CALLS = 4000
# In-place calls between two resets. What is written again and again becomes infinite or denormal, which changes how
# long a call takes, so that it must be as often in both libraries.
WRITES = 8
SMALL_WRITES = 64  # of few elements, whose values hardly matter
FEW = 64


class NothingToTime(Exception):
    """There is no such call: the result has no gradient, or the op no such form."""


class Side:
    """A library, and the case that it is ready for."""

    def __init__(self, library: ModuleType):
        self.torch = library
        self.work: Work = list
        self.reset: Work = list
        self.writes = 0
        self.calls = 1

    def prepare(self, recipe: Recipe, direction: str) -> Shapes:
        """Make everything that a case takes; the dtypes and shapes of what comes out, to be compared."""
        warnings.simplefilter("ignore")
        self.work, self.reset, self.writes = list, list, 0
        function, args, kwargs, parameters = self._call(recipe, direction)
        self.work = partial(function, *args, **kwargs)
        if direction == BACKWARD:
            self.work = self._backward(self.work, self._leaves([args, kwargs, parameters]))
        elif direction == OUT:
            if not recipe.has_out:
                raise NothingToTime
            self.work = partial(self.work, out=self._outputs(self.work()))
        elif direction == IN_PLACE:
            self._write(recipe.inplace, args, kwargs)
        return [(str(each.dtype), tuple(each.shape)) for each in tensors_in(self.torch, self.work())]

    def calibrate(self) -> float:
        """Choose how many calls make a batch; seconds of one call."""
        self.calls = 1
        first = max(self.seconds(), 1e-9)
        self.calls = self.writes or max(1, min(MOST_CALLS, int(SHORTEST / first)))
        return self.seconds()

    def seconds(self) -> float:
        """Of one call, by one batch; of the processor, as others may use it, too. There is one thread."""
        self.reset()
        return batch_seconds(self.work, self.calls, process_time) / self.calls

    # -------------------- what is called --------------------

    def _call(self, recipe: Recipe, direction: str) -> tuple[Work, tuple[Any, ...], dict[str, Any], list[Any]]:
        """The function, what it is called with, and parameters besides."""
        if recipe.place.startswith("layers."):
            built = layers.BUILDERS[recipe.place.removeprefix("layers.")](self.torch, recipe.elements)
            return built.function, self._made(turned(built.args, direction)), {}, built.parameters
        function = reduce(getattr, recipe.place.split("."), self.torch)
        if not callable(function):  # a property
            raise NothingToTime
        args, kwargs = turned([recipe.args, recipe.kwargs], direction)
        return function, self._made(args), self._made(kwargs), []

    def _made(self, value: Any) -> Any:
        return replaced(value, self._value)

    def _value(self, value: Any) -> Any:
        if isinstance(value, Dtype):
            return getattr(self.torch, value.name)
        return self._tensor(value) if isinstance(value, Numbers) else value

    def _tensor(self, numbers: Numbers) -> Any:
        tensor = self.torch.from_numpy(array_of(numbers))
        if numbers.dtype == "bfloat16":
            tensor = tensor.to(self.torch.bfloat16)
        if numbers.strided and tensor.ndim:
            wide = self.torch.empty((*tensor.shape, 2), dtype=tensor.dtype)
            wide[..., 0] = tensor
            tensor = wide[..., 0]
        return tensor.requires_grad_() if numbers.grad else tensor

    def _leaves(self, value: Any) -> list[Any]:
        return [each for each in tensors_in(self.torch, value) if each.requires_grad]

    def _backward(self, work: Work, leaves: list[Any]) -> Work:
        """The call and the gradients of all of its inputs that have one."""
        grad = self.torch.autograd.grad
        places = [i for i, each in enumerate(tensors_in(self.torch, work())) if each.requires_grad]
        if not places or not leaves:
            raise NothingToTime
        results = [each for each in tensors_in(self.torch, work()) if each.requires_grad]
        given = [self.torch.ones_like(each) for each in results]
        found = grad(results, leaves, given, allow_unused=True)
        inputs = [leaf for leaf, gradient in zip(leaves, found) if gradient is not None]
        if isinstance(work(), self.torch.Tensor):
            return lambda: grad(work(), inputs, given[0])
        return lambda: grad([tensors_in(self.torch, work())[place] for place in places], inputs, given)

    def _outputs(self, result: Any) -> Any:
        """Tensors for `out=`, of a result or of several."""
        if isinstance(result, self.torch.Tensor):
            return self.torch.empty_like(result)
        return tuple(self.torch.empty_like(each) for each in result)

    def _write(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """The in-place method of the first tensor, which is written anew before each batch."""
        if not method or not args or not isinstance(args[0], self.torch.Tensor):
            raise NothingToTime
        before = args[0].clone()
        self.work = partial(getattr(args[0], method), *args[1:], **kwargs)
        self.reset = lambda: args[0].copy_(before) if args[0].shape == before.shape else args[0]
        self.writes = WRITES if before.numel() > FEW else SMALL_WRITES


def tensors_in(torch: ModuleType, value: Any) -> list[Any]:
    """Every tensor in nested arguments or results, in order."""
    return [each for each in _leaves_of(value) if isinstance(each, torch.Tensor)]


def _leaves_of(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves_of(item)
    elif isinstance(value, dict):
        yield from _leaves_of(list(value.values()))
    else:
        yield value


def refusal(side: Side, recipe: Recipe, direction: str) -> str | None:
    """Why a library does not take a case; None if it does."""
    try:
        side.prepare(recipe, direction)
    except (NothingToTime, *REFUSED) as error:
        return type(error).__name__
    return None
