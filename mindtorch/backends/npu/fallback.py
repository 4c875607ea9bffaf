"""Ops without a kernel for the NPU run on the CPU, with copies, and with torch_npu's warning, once for each."""

import os
from collections.abc import Callable
from typing import Any

from mindtorch._support.op_names import qualified
from mindtorch._support.warnings import warn
from mindtorch.backends.fallback import cpu_kernel_for

used: set[str] = set()  # the ops that have run so, for tests and statistics


def kernel_for(op: str) -> Callable:
    """The kernel of an op that the NPU does not have."""
    kernel = cpu_kernel_for(op)

    def fallback(*args: Any, **kwargs: Any) -> Any:
        if os.environ.get("TORCH_NPU_FALLBACK_CPU_DISABLE") == "1":
            raise _disabled(op)
        if op not in used:
            used.add(op)
            _announce(op)
        return kernel(*args, **kwargs)

    return fallback


def _disabled(op: str) -> RuntimeError:
    return RuntimeError(
        f"The operator '{qualified(op)}' would execute its main computation on CPU through dispatcher backend fallback "
        "because no kernel is registered for the NPU PrivateUse1 backend, but CPU fallback is disabled by "
        "TORCH_NPU_FALLBACK_CPU_DISABLE=1."
    )


def _announce(op: str) -> None:
    warn(
        f"CAUTION: The operator '{qualified(op)}' is not currently supported on the NPU backend and will fall back to "
        "run on the CPU. This may have performance implications. (function npu_cpu_fallback)"
    )
