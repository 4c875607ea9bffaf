"""Modules that pickles refer to by the names that they had in earlier releases.

Pickles name a class or function by its module. The names of before are known to `import`, and stand for the modules of
today; nothing is imported until something is looked up.
"""

import sys

from mindtorch._support.lazy import lazy

MOVED = {
    "broadcasting": "_functions.broadcasting",
    "checks": "_functions.checks",
    "comparison": "_functions.comparison",
    "contraction": "_functions.einsum",
    "control_flow": "_functions.control_flow",
    "creation": "_functions.creation",
    "device": "_core.device",
    "dispatch.tags": "dispatch.schema.tags",
    "dtype": "_core.dtype",
    "eigenpairs": "_functions.lobpcg",
    "errors": "_support.errors",
    "func.forward": "_functorch.forward",
    "func.jacobians": "_functorch.jacobians",
    "func.looking": "_functorch.looking",
    "func.rearranging": "_functorch.rearranging",
    "func.reverse": "_functorch.reverse",
    "func.vmap": "_functorch.vmap",
    "generator": "_core.generator",
    "histograms": "_functions.histograms",
    "inspection": "_functions.inspection",
    "interop": "_core.interop",
    "layout": "_core.layout",
    "lowrank": "_functions.lowrank",
    "memory_format": "_core.memory_format",
    "methods.copying": "_tensor_methods.copying",
    "methods.legacy": "_tensor_methods.legacy",
    "methods.memory": "_tensor_methods.memory",
    "methods.operators": "_tensor_methods.operators",
    "methods.rebuilding": "_tensor_methods.rebuilding",
    "methods.wrapper_subclass": "_tensor_methods.wrapper_subclass",
    "norms": "_functions.norms",
    "numerics": "_functions.settings",
    "printing": "_functions.printing",
    "promotion": "_core.promotion",
    "pytree": "_support.pytree",
    "removed": "_functions.removed",
    "searching": "_functions.searching",
    "signals": "_functions.stft",
    "size": "_core.size",
    "streams": "_core.streams",
    "symbolic": "_functions.symbolic",
    "tensor": "_core.tensor",
    "threads": "_core.threads",
    "typed_storage": "_core.typed_storage",
}


def register_old_modules() -> None:
    sys.modules.update({f"mindtorch.{old}": lazy(f"mindtorch.{new}") for old, new in MOVED.items()})
