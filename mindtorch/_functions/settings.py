"""Settings that programs make for reproducible or for quick results. Here results are the same every time anyway."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from mindtorch._core.device import set_default_device
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.dtype import set_default_dtype
from mindtorch._support.warnings import warn, warn_once
from mindtorch.dispatch.arguments.by_hand import check_arguments

_MODES = ("default", "warn", "error")
_PRECISIONS = ("highest", "high", "medium")

_deterministic_mode = 0
_precision = "highest"
_interop_threads = 1


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Whether an operator that is not reproducible is an error or a warning; there is none."""
    global _deterministic_mode
    check_arguments("_set_deterministic_algorithms(bool mode, *, bool warn_only) -> ()", mode, warn_only)
    _deterministic_mode = (1 if warn_only else 2) if mode else 0


def are_deterministic_algorithms_enabled() -> bool:
    return _deterministic_mode > 0


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    return _deterministic_mode == 1


def get_deterministic_debug_mode() -> int:
    """0 by default, 1 for warnings, 2 for errors."""
    return _deterministic_mode


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """The same as `use_deterministic_algorithms`, by number or name."""
    global _deterministic_mode
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str):
        if debug_mode not in _MODES:
            raise RuntimeError(
                f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}"
            )
        debug_mode = _MODES.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    _deterministic_mode = debug_mode


def get_float32_matmul_precision() -> str:
    return _precision


def set_float32_matmul_precision(precision: str) -> None:
    """How exact products of float32 matrices must at least be; they are always as exact as float32 allows."""
    global _precision
    if precision not in _PRECISIONS:
        warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the currentsetFloat32MatmulPrecision call has "
            "no effect.",
        )
        return
    _precision = precision


def set_default_tensor_type(t: Any) -> None:
    """The old way to set the default dtype: by a legacy type such as `DoubleTensor` or its name."""
    warn_once(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives.",
    )
    if isinstance(t, str):
        module, _, name = t.rpartition(".")
        t = getattr(import_module(module.replace("torch", "mindtorch", 1)), name)
    element_type = getattr(t, "dtype", None)
    if not isinstance(element_type, Dtype):
        raise TypeError("invalid type object: only floating-point types are supported as the default type")
    set_default_dtype(element_type)
    if t.device.type != "cpu":
        set_default_device(t.device)


def set_flush_denormal(mode: bool) -> bool:
    """Whether tiny numbers become 0: NumPy cannot do that."""
    return False


def get_num_interop_threads() -> int:
    """How many operators of one program can run at a time."""
    return _interop_threads


def set_num_interop_threads(num: int) -> None:
    """Operators run one after the other, whatever this is."""
    global _interop_threads
    if num <= 0:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    _interop_threads = num
