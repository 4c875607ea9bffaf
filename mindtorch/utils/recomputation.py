"""How checkpointing without re-entrance works: the graph keeps places instead of tensors, and a backward pass that
needs one runs the function again.

A call of a checkpointed function is a `Frame`. Its pack hook numbers what the function saves and gives the graph a
`Place` for each. The first unpack of a backward pass runs the function again, up to the last tensor that is needed,
under hooks that keep what it saves this time; every place then takes its tensor from there, once. What is left belongs
to the pass, and goes with it.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Any
from weakref import ref

from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.execution import running
from mindtorch.autograd._engine.history import edge_of, is_view
from mindtorch.autograd._engine.saved_hooks import saved_tensors_hooks
from mindtorch.autograd._engine.saved_tensor import SavedTensor, save
from mindtorch.autograd.grad_mode import enable_grad, no_grad


class CheckpointError(RuntimeError):
    """The second run of a checkpointed function does not save what the first one did."""


class Place:
    """What the graph keeps in place of a tensor: its number among those that the function saves."""

    __slots__ = ("number", "__weakref__")

    def __init__(self, number: int) -> None:
        self.number = number


class Frame:
    """One call of a checkpointed function."""

    def __init__(
        self, run_again: Callable, describe: Callable[[Tensor], Any], early_stop: bool, fail: Callable | None = None
    ) -> None:
        self.run_again = run_again
        self.describe = describe  # the facts of a tensor that must be the same in both runs
        self.early_stop = early_stop
        self.fail = fail  # gets the error if they are not, and raises one that says more
        self.inputs: list[Any] = []
        self.places: list[ref[Place]] = []
        self.facts: list[Any] = []
        self.is_complete = False  # whether the first run has ended
        self.may_save_more = False  # set when the function itself runs a backward pass

    def save_inputs(self, args: Sequence[Any]) -> None:
        """Keep the arguments for the second run, tensors as a node would."""
        self.inputs = [SavedTensor(save(arg)) if isinstance(arg, Tensor) else arg for arg in args]

    def pack(self, tensor: Tensor) -> Place:
        place = Place(len(self.places))
        self.places.append(ref(place))
        with no_grad():
            self.facts.append(self.describe(tensor))
        return place

    def unpack(self, place: Place) -> Tensor:
        try:
            return self._take(place)
        except CheckpointError as error:
            if self.fail is None:
                raise
            return self.fail(error)

    def _take(self, place: Place) -> Tensor:
        recomputed = _notes()
        if self not in recomputed:
            recomputed[self] = self._recompute()
        tensors = recomputed[self]
        if place.number not in tensors:
            raise CheckpointError(_unpacked_again())
        return tensors.pop(place.number)

    def _recompute(self) -> dict[int, Tensor]:
        """Run the function again. The result is what it saves this time, by the numbers of the places."""
        run = SecondRun(self)
        args = [_taken_out(arg) if isinstance(arg, SavedTensor) else arg for arg in self.inputs]
        try:
            with saved_tensors_hooks(run.keep, _as_it_is), enable_grad():
                self.run_again(*args)
        except StopRecomputation:
            pass
        if not self.may_save_more:
            self._check_count(run.count)
            self._check_facts(run.tensors)
        return run.tensors

    def _check_count(self, count: int) -> None:
        if count != len(self.places):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.places)}\n"
                f"Number of tensors saved during recomputation: {count}.\n{TIP}"
            )

    def _check_facts(self, tensors: dict[int, Tensor]) -> None:
        pairs = [(number, self.facts[number], self.describe(tensor)) for number, tensor in tensors.items()]
        different = [
            f"tensor at position {number}:\nsaved metadata: {saved}\nrecomputed metadata: {recomputed}\n"
            for number, saved, recomputed in pairs
            if saved != recomputed
        ]
        if different:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                f"during the forward pass.\n{''.join(different)}.\n{TIP}"
            )


def _taken_out(saved: SavedTensor) -> Tensor:
    """An argument as it was kept, unless it is a view that may not be read any more."""
    tensor = saved.unpack(None)
    if is_view(tensor):
        edge_of(tensor)
    return tensor


class StopRecomputation(Exception):
    """Ends a second run that has saved all that is needed."""


class SecondRun:
    """What a checkpointed function saves when it runs again."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.count = 0
        self.tensors: dict[int, Tensor] = {}

    def keep(self, tensor: Tensor) -> Tensor:
        """The pack hook of the run. The graph that the run makes, if it is used at all, has the tensors as they are."""
        tensor = tensor.detach() if tensor.requires_grad else tensor
        number = self.count
        self.count += 1
        if number >= len(self.frame.places):
            return self._keep_more(tensor)
        if self.frame.places[number]() is not None:  # or the graph has given it up in the meantime
            self.tensors[number] = tensor
        if self.frame.early_stop and self.count == len(self.frame.places):
            raise StopRecomputation
        return tensor

    def _keep_more(self, tensor: Tensor) -> Tensor:
        """More tensors than in the first run, which may not have come to its end yet."""
        if self.frame.is_complete:
            raise CheckpointError(
                "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original "
                f"forward pass.\n{TIP}"
            )
        self.frame.may_save_more = True
        return tensor


def _as_it_is(tensor: Tensor) -> Tensor:
    return tensor


# -------------------- how long a second run lasts --------------------


class _Current(threading.local):
    group: "GraphExecGroup | None" = None


_current = _Current()


class GraphExecGroup:
    """In this block, several backward passes run each checkpointed function again only once.

    They must not need the same saved tensors.
    """

    def __init__(self) -> None:
        self.notes: dict[Any, Any] = {}

    def __enter__(self) -> "GraphExecGroup":
        if _current.group is not None:
            raise RuntimeError(f"GraphExecGroup contexts cannot be nested. Already inside group {_current.group}")
        _current.group = self
        return self

    def __exit__(self, *exception: object) -> None:
        _current.group = None


def _notes() -> dict[Any, Any]:
    """Where second runs are kept: with the group, with the pass, or not at all if a user looks at a saved tensor."""
    if _current.group is not None:
        return _current.group.notes
    return {} if running.task is None else running.task.notes


def _unpacked_again() -> str:
    overlap = (
        "Performing two backward calls that overlap (i.e. require the same saved activation in order to compute "
        "gradients) is not allowed while under the torch.utils.checkpoint.GraphExecGroup context. "
    )
    return (
        "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. "
        f"{overlap if _current.group is not None else ''}If you are calling ctx.saved_tensors in backward, make sure "
        "to do so only once. Otherwise please open an issue with details on your use case."
    )


TIP = """
Tip: To see a more detailed error message, either pass `debug=True` to
`torch.utils.checkpoint.checkpoint(...)` or wrap the code block
with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to
enable checkpoint\N{NON-BREAKING HYPHEN}debug mode globally.

If this error occurs under torch.compile with automatic_dynamic_shapes enabled,
it may be because the recomputation selected a different compiled graph than the
forward pass (e.g., a dynamic graph instead of the original static graph).
To fix this, either:
  - Use torch._dynamo.mark_dynamic() to explicitly mark varying dimensions as
    dynamic upfront, avoiding the static-to-dynamic transition.
  - Call torch._C._dynamo.eval_frame._set_lru_cache(False) to disable LRU cache
    reordering, which can change which graph is checked first between forward
    and recompute.
See https://github.com/pytorch/pytorch/issues/166926 for more details and
workaround examples.
"""
