"""What pooling asks of its arguments, with torch's texts."""

from __future__ import annotations

from mindtorch._core.geometry import wrap_dim
from mindtorch.backends.cpu.common import checks

Dims = tuple[int, ...]

_COUNTS = {2: "two", 3: "three"}
_AXES = {2: "HW", 3: "THW"}


def sides_of(op: str, kernel: Dims, stride: Dims, padding: Dims, dilation: Dims) -> tuple[Dims, Dims, Dims, Dims]:
    """The arguments with a number for each dimension."""
    dims = 3 if op.endswith("3d") else 2
    either = "" if op == "avg_pool3d" else "either "
    sides = _each(kernel, f"kernel_size must {either}be", op, dims)
    steps = _each(stride, f"stride must {either}be omitted,", op, dims) if stride else sides
    pads = _each(padding, f"padding must {either}be", op, dims)
    return sides, steps, pads, _each(dilation, "dilation must be either", op, dims)


def _each(values: Dims, name: str, op: str, dims: int) -> Dims:
    if len(values) not in (1, dims):
        raise RuntimeError(f"{op}: {name} a single int, or a tuple of {_COUNTS[dims]} ints")
    return values * dims if len(values) == 1 else values


def check_rank(op: str, shape: Dims, dims: int) -> None:
    """An image or a volume, or a batch of them."""
    if len(shape) in (dims + 1, dims + 2):
        return
    if op.startswith("avg_pool2d"):
        wrap_dim(-3, len(shape))  # the dimension of channels, which torch asks for first
    else:
        raise RuntimeError(f"non-empty {dims + 1}D or {dims + 2}D (batch mode) tensor expected for input")


def check_input(op: str, shape: Dims, dims: int) -> None:
    """Images or volumes, with or without a batch, which alone may be empty."""
    if dims == 3:
        _check_volume(op, shape)
    elif len(shape) not in (3, 4) or 0 in shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, " f"but got:{list(shape)}"
        )


def _check_volume(op: str, shape: Dims) -> None:
    if 0 in shape[-4:]:
        name = "max_pool3d_with_indices_out_cpu_template" if op == "max_pool3d" else op
        raise RuntimeError(
            f"{name}(): Expected input's non-batch dimensions to have positive length, but input has a shape of "
            f"{list(shape)} and non-batch dimension 0 has length zero!"
        )


def check_window(kernel: Dims, stride: Dims, padding: Dims, dilation: Dims) -> None:
    if 0 in stride:
        raise RuntimeError("stride should not be zero")
    for k, p, d in zip(kernel, padding, dilation):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > int(((k - 1) * d + 1) / 2):
            raise RuntimeError(
                "pad should be at most half of effective kernel size, "
                f"but got pad={p}, kernel_size={k} and dilation={d}"
            )
    for name, prefix, sizes in (
        ("kernel size", "k", kernel),
        ("stride", "d", stride),
        ("dilation", "dilation", dilation),
    ):
        if min(sizes) <= 0:
            given = " ".join(f"{prefix}{axis}: {size}" for axis, size in zip(_AXES[len(sizes)], sizes))
            raise RuntimeError(f"{name} should be greater than zero, but got {given}")


def check_reach(op: str, shape: Dims, kernel: Dims, padding: Dims) -> None:
    """How far windows may reach, whatever the dilation; those for the average of a volume are no larger than it."""
    if op == "avg_pool3d" and any(n < k for n, k in zip(shape[-3:], kernel)):
        _refuse_large_kernel(shape[-3:], kernel)
    if any(p > k // 2 for p, k in zip(padding, kernel)):
        raise RuntimeError(
            f"pad should be smaller than or equal to half of kernel size, but got {_reach(kernel, padding)}"
        )


def _reach(kernel: Dims, padding: Dims) -> str:
    if len(kernel) == 2:
        return f"padW = {padding[1]}, padH = {padding[0]}, kW = {kernel[1]}, kH = {kernel[0]}"
    given = (("k", kernel), ("pad", padding))
    return " ".join(f"{prefix}{axis}: {sizes[_AXES[3].index(axis)]}" for prefix, sizes in given for axis in "TWH")


def check_output(shape: Dims, size: Dims) -> None:
    """There must be a window."""
    dims = len(size)
    if min(size) < 1:
        given, wanted = shape[-dims - 1 :], (shape[-dims - 1], *size)
        raise RuntimeError(
            f"Given input size: ({checks.times(given, 'x')}). Calculated output size: ({checks.times(wanted, 'x')}). "
            "Output size is too small"
        )


def _refuse_large_kernel(shape: Dims, kernel: Dims) -> None:
    image = " ".join(f"{axis}: {n}" for axis, n in zip("THW", shape))
    window = " ".join(f"k{axis}: {k}" for axis, k in zip("THW", kernel))
    raise RuntimeError(f"input image ({image}) smaller than kernel size ({window})")
