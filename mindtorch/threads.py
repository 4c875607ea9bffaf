"""How many threads the matrix routines use. NumPy brings its own OpenBLAS, which is told through ctypes."""

import ctypes
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from mindtorch import errors


@cache
def _openblas() -> Any:
    """The OpenBLAS that NumPy has loaded; None when NumPy was built with something else."""
    site_packages = Path(np.__file__).parent.parent
    for folder in ("numpy.libs", "numpy/.dylibs"):
        for path in (site_packages / folder).glob("libscipy_openblas64_*"):
            return ctypes.CDLL(str(path))
    return None


def set_num_threads(num: int) -> None:
    """Let matrix routines use `num` threads."""
    if not isinstance(num, int) or isinstance(num, bool):
        raise RuntimeError(f"set_num_threads expects an int, but got {errors.type_name(num)}")
    if num <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    library = _openblas()
    if library is not None:
        library.scipy_openblas_set_num_threads64_(num)


def get_num_threads() -> int:
    """How many threads matrix routines use."""
    library = _openblas()
    return os.cpu_count() or 1 if library is None else library.scipy_openblas_get_num_threads64_()
