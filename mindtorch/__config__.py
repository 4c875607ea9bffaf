"""What the library is built on, as a text for logs."""

import numpy as np

from mindtorch._core.threads import get_num_threads
from mindtorch.backends import jit


def show() -> str:
    return f"mindtorch on NumPy {np.__version__}\n{_compiled_loops()}\n"


def _compiled_loops() -> str:
    if not jit.is_available():
        return "Compiled loops: none"
    mode, directory, compiled, _ = jit.flags()
    return f"Compiled loops: MINDTORCH_JIT={mode}, {len(compiled)} in use, from {directory}"


def parallel_info() -> str:
    return f"NumPy's BLAS library: {get_num_threads()} threads\n"
