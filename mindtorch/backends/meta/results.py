"""The results of meta kernels: new arrays, or the `out` that was given."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch import iterator
from mindtorch.backends.meta.array import MetaArray

Kernel = Callable[..., Any]
Shape = tuple[int, ...]


def differs_from_cpu(kernel: Kernel) -> Kernel:
    """Mark a rule whose results besides the first have other shapes than the CPU's kernel gives them, as in PyTorch."""
    kernel.differs_from_cpu = True  # type: ignore[attr-defined]
    return kernel


def is_array(value: Any) -> bool:
    return hasattr(value, "ndim")


def new(shape: Shape, dtype: np.dtype[Any], strides: Shape | None = None) -> MetaArray:
    """An array with these strides in elements; None stands for row-major."""
    if strides is None:
        return MetaArray(tuple(shape), dtype)
    return MetaArray(tuple(shape), dtype, tuple([stride * dtype.itemsize for stride in strides]))


def deliver(out: Any, shape: Shape, dtype: np.dtype[Any], strides: Shape | None = None) -> Any:
    """The result, or `out` if it has the shape.

    Where a rule is asked on behalf of a device, `out` is an array there: it is given back if a kernel can write to it,
    and else what is to be made for the kernel.
    """
    if out is None:
        return new(shape, dtype, strides)
    if iterator.device_name(out) == "cpu":
        raise RuntimeError(
            "Attempting to copy from device meta to device cpu, but cross-device copies are not allowed!"
        )
    is_other = iterator.needs_resize(out, tuple(shape))
    if isinstance(out, MetaArray):
        return new(shape, out.dtype, strides) if is_other else out
    return new(shape, dtype, strides) if is_other or out.dtype != dtype else out


def deliver_all(outs: Any, results: Sequence[tuple[Shape, Any, Shape | None]]) -> tuple[Any, ...]:
    given = outs or (None,) * len(results)
    return tuple([deliver(out, *result) for out, result in zip(given, results, strict=True)])
