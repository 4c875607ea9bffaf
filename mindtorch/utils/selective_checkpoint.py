"""Selective checkpointing: which ops of a checkpointed function are not run again is up to a policy.

The first run is under a mode that keeps the results of the ops that are to be saved, in the order of their calls; the
second run is under one that takes them from there.
"""

from collections import defaultdict
from collections.abc import Callable
from enum import Enum
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support.pytree import tree_map
from mindtorch.dispatch.modes.torch_dispatch import TorchDispatchMode
from mindtorch.dispatch.overloads import OpOverload, OpOverloadPacket, operators


class CheckpointPolicy(Enum):
    """What is done with the result of an op. MUST_ and PREFER_ make no difference here."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_SAVING = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)

# Checkpointing itself detaches tensors, in the second run other ones than in the first.
SAC_IGNORED_OPS = {operators.aten.detach.default}


class SelectiveCheckpointContext:
    """What a policy is told besides the call."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


class SavedResult:
    """The result of an op, and the version of each of its tensors."""

    def __init__(self, result: Any) -> None:
        self.result = tree_map(_outside_of_the_graph, result)
        self.versions: list[int] = []
        tree_map(self._note_version, self.result)

    def _note_version(self, value: Any) -> None:
        if isinstance(value, Tensor):
            self.versions.append(value._version)

    def get(self, allow_mutation: bool) -> Any:
        versions, self.versions = self.versions, []
        tree_map(self._note_version, self.result)
        if versions != self.versions and not allow_mutation:
            raise RuntimeError("Tensor cached during selective activation checkpoint has been mutated")
        return self.result


def _outside_of_the_graph(value: Any) -> Any:
    return value.detach() if isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex()) else value


_RECOMPUTED = object()  # in place of a result: the op runs again
_TAKEN = object()  # the result was used by a second run

Storage = dict[Any, list[Any]]  # of each op: the results of its calls, in order


class SavingMode(TorchDispatchMode):
    """The first run."""

    def __init__(self, policy: Callable, storage: Storage) -> None:
        self.policy = policy
        self.storage = storage

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if func not in SAC_IGNORED_OPS:
            context = SelectiveCheckpointContext(is_recompute=False, op_output=result)
            policy = self.policy(context, func, *args, **kwargs)
            is_saved = policy if isinstance(policy, bool) else policy in _SAVING
            self.storage[func].append(SavedResult(result) if is_saved else _RECOMPUTED)
        return result


class ReusingMode(TorchDispatchMode):
    """The second run."""

    def __init__(self, storage: Storage, allow_mutation: bool) -> None:
        self.storage = storage
        self.allow_mutation = allow_mutation
        self.counts: dict[Any, int] = defaultdict(int)

    def __enter__(self) -> Any:
        self.counts.clear()
        return super().__enter__()

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        if func in SAC_IGNORED_OPS:
            return func(*args, **(kwargs or {}))
        position = self.counts[func]
        self.counts[func] += 1
        entry = self._entry(func, position)
        if entry is _TAKEN:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any region computed under "
                "selective activation checkpoint."
            )
        if entry is _RECOMPUTED:
            return func(*args, **(kwargs or {}))
        self.storage[func][position] = _TAKEN
        return entry.get(self.allow_mutation)

    def _entry(self, func: Any, position: int) -> Any:
        if func not in self.storage:
            raise RuntimeError(f"{func} encountered during backward but not found in storage. {_CHANGED}")
        if position >= len(self.storage[func]):
            raise RuntimeError(
                f"{func} invocation index {position} encountered during backward but not found in storage. {_CHANGED}"
            )
        return self.storage[func][position]


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False
) -> tuple[SavingMode, ReusingMode]:
    """The two contexts for `context_fn` of `checkpoint`, given a policy or a list of the ops whose results are kept.

    A policy is called as policy(context, op, *args, **kwargs) and returns a `CheckpointPolicy`.
    """
    if isinstance(policy_fn_or_list, list):
        policy = _policy_of_list(policy_fn_or_list)
    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    storage: Storage = defaultdict(list)
    return SavingMode(policy, storage), ReusingMode(storage, allow_cache_entry_mutation)


def _policy_of_list(ops: list[Any]) -> Callable:
    for op in ops:
        if not isinstance(op, OpOverload):
            remedy = _NAME_AN_OVERLOAD if isinstance(op, OpOverloadPacket) else ""
            raise ValueError(f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. {remedy}")

    def policy(context: SelectiveCheckpointContext, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
        return CheckpointPolicy.MUST_SAVE if op in ops else CheckpointPolicy.PREFER_RECOMPUTE

    return policy


_NAME_AN_OVERLOAD = (
    "Please update the OpOverloadPacket to a specific OpOverload.For example, if you have `torch.ops.aten.mm`, change "
    "it to `torch.ops.aten.mm.default`."
)
_CHANGED = (
    "This can happen if the operations in the checkpointed region are nondeterministic or depend on global state that "
    "changed between forward and backward."
)
