"""How each op runs on the NPU: by a kernel that is generated from its ACLNN call, or written by hand, or otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..model import Model, Op
from .aclnn_call import AclnnCall, parse_call

BACKEND = "NPU"
Way = Literal["generated", "by hand", "view", "composite", "to be written", "CPU fallback"]
WAYS: tuple[Way, ...] = ("generated", "by hand", "view", "composite", "to be written", "CPU fallback")
# The shape rules that are all of the kernel, on every device: the result looks at the memory of the input.
VIEWS = ("view", "add_batch_dim", "spread_over_level", "remove_batch_dim")


@dataclass(frozen=True, slots=True)
class NpuKernel:
    """A kernel of the NPU backend, and the ops that it serves: `add` serves `add.Tensor` and `add.Scalar`."""

    name: str
    family: str
    ops: tuple[Op, ...]
    is_by_hand: bool

    @property
    def calls(self) -> tuple[AclnnCall | None, ...]:
        """The call of each op."""
        return tuple(parse_call(op.aclnn) if op.aclnn else None for op in self.ops)

    @property
    def is_generated(self) -> bool:
        """Whether nothing is needed but one call for each op, the types of the arguments tell which, and a shape rule
        what its result is like.

        A kernel written by hand takes the place of what would be generated.
        """
        are_whole = all(call is not None and not call.reason for call in self.calls) and all(map(is_foreseen, self.ops))
        calls = {(places_of_tensors(op), call) for op, call in zip(self.ops, self.calls, strict=True)}
        return not self.is_by_hand and are_whole and len(calls) == len({places for places, _ in calls})


def is_view(op: Op) -> bool:
    """Whether an op needs no kernel on a device."""
    return op.shape in VIEWS


def is_foreseen(op: Op) -> bool:
    """Whether there is a rule for the result, or none is needed because an argument is written."""
    return op.schema.inplace or op.shape is not None or "Meta" in (op.dispatch or {})


def places_of_tensors(op: Op) -> tuple[bool, ...]:
    """Which arguments are tensors: two calls with tensors in the same places cannot be told apart."""
    return tuple(argument.type.holds_tensors for argument in op.schema.inputs)


def npu_kernels(model: Model, family: str) -> list[NpuKernel]:
    """The kernels that the ops of a family name, views included, in the order of ops.yaml."""
    served: dict[str, list[Op]] = {}
    for op in model.families[family]:
        name = (op.dispatch or {}).get(BACKEND)
        if op.derived_from is None and name is not None:
            served.setdefault(name, []).append(op)
    written = model.kernels.get((BACKEND, family), {})
    return [NpuKernel(name, family, tuple(ops), name in written) for name, ops in served.items()]


def npu_kernel(model: Model, op: Op) -> NpuKernel | None:
    """The kernel of one op; None if it has none to have."""
    name = (op.dispatch or {}).get(BACKEND)
    if name is None:
        return None
    ops = [each for each in model.families[op.family] if each.derived_from is None]
    served = tuple(each for each in ops if (each.dispatch or {}).get(BACKEND) == name)
    return NpuKernel(name, op.family, served, name in model.kernels.get((BACKEND, op.family), {}))


def ways(model: Model) -> dict[str, Way]:
    """For each op of ops.yaml, how it runs on the NPU. Without a kernel the CPU computes it, between two copies."""
    found: dict[str, Way] = {}
    for family in model.families:
        for kernel in npu_kernels(model, family):
            found |= dict.fromkeys((op.name for op in kernel.ops), _way_of(kernel))
    entries = [op for op in model.ops.values() if op.derived_from is None]
    return {op.name: found.get(op.name, _way_without_kernel(op)) for op in entries}


def ops_by_way(model: Model) -> dict[Way, list[str]]:
    """The ops that run in each way."""
    found: dict[Way, list[str]] = {way: [] for way in WAYS}
    for name, way in ways(model).items():
        found[way].append(name)
    return found


def _way_of(kernel: NpuKernel) -> Way:
    if kernel.is_by_hand:
        return "by hand"
    if kernel.is_generated:
        return "generated"
    return "view" if all(map(is_view, kernel.ops)) else "to be written"


def _way_without_kernel(op: Op) -> Way:
    if op.is_composite:
        return "composite"
    return "view" if is_view(op) else "CPU fallback"
