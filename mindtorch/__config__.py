"""What the library is built on, as a text for logs."""

import numpy as np

from mindtorch._core.threads import get_num_threads


def show() -> str:
    return f"mindtorch on NumPy {np.__version__}\n"


def parallel_info() -> str:
    return f"NumPy's BLAS library: {get_num_threads()} threads\n"
