"""What the torch wheel has."""

import torch

from codegen.model import Op

_CPU_KEYS = ("CPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")


def runs_in_torch(op: Op) -> bool:
    """Whether torch computes it on the CPU, or does not know it; some it only computes on other devices."""
    name = f"aten::{op.name}"
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    return not torch._C._dispatch_has_kernel(name) or any(has_kernel(name, key) for key in _CPU_KEYS)
