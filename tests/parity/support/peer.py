"""What the torch wheel has."""

import torch

from codegen.model import Op
from tests.harness import sampled_ops

_CPU_KEYS = ("CPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")


def torch_ops() -> list[Op]:
    """The ops that have samples, and that torch has."""
    return [op for op in sampled_ops() if runs_in_torch(op)]


def runs_in_torch(op: Op) -> bool:
    """Whether torch computes it on the CPU. Some it only computes on other devices; one that it does not know has to
    say so, with `divergence`."""
    name = f"aten::{op.name}"
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    if not torch._C._dispatch_has_kernel(name):
        return op.divergence is None
    return any(has_kernel(name, key) for key in _CPU_KEYS)
