"""Pooling that is written in other ops: one dimension as two, and averages over everything as means."""

from __future__ import annotations

from collections.abc import Sequence

from mindtorch._core import state
from mindtorch._core.tensor import Tensor, wrap
from mindtorch.autograd._engine.history import edge_of
from mindtorch.autograd._engine.outputs import write_out
from mindtorch.backends import image_layout
from mindtorch.backends.cpu.common.checks import c_name
from mindtorch.backends.cpu.pooling.kernels import max_pool2d_with_indices
from mindtorch.composite.common.unseen import bare_floats
from mindtorch.dispatch import ops

# -------------------- windows --------------------


def max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode):
    _check_line(input, kernel_size, stride, padding, dilation, ceil_mode)
    if not input.is_floating_point():
        kernel = "max_pool2d" if edge_of(input) is not None and state.thread.grad_enabled else "max_pool1d_impl"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{input.dtype.storage_name}'")
    if (arrays := bare_floats(input)) is not None:
        rows = _as_rows(kernel_size, stride, padding, dilation)
        values = max_pool2d_with_indices(arrays[0][..., None, :], *rows, ceil_mode)[0]
        return wrap(values.reshape(-1).reshape(*values.shape[:-2], values.shape[-1]))
    values = _max_pool_rows(input, kernel_size, stride, padding, dilation, ceil_mode)[0]
    if values.requires_grad:
        return values.squeeze(-2)
    flat = ops._unsafe_view(values.contiguous(), (values.numel(),))  # whose rows lie one after the other
    return ops._unsafe_view(flat, (*values.shape[:-2], values.shape[-1]))  # without a graph it is no view


def max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode):
    _check_ndim("max_pool1d_with_indices", input)
    for name, values in (("kernel_size", kernel_size), ("stride", stride or kernel_size), ("padding", padding)):
        _check_one("max_pool1d", name, values)
    _check_one("max_pool1d", "dilation", dilation)
    values, indices = _max_pool_rows(input, kernel_size, stride, padding, dilation, ceil_mode)
    return values.squeeze(-2), indices.squeeze(-2)


def _max_pool_rows(
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> Sequence[Tensor]:
    """Sequences pooled as images with one row."""
    rows = _as_rows(kernel_size, stride, padding, dilation)
    return ops.max_pool2d_with_indices(input.unsqueeze(-2), *rows, ceil_mode)


def _as_rows(
    kernel_size: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
) -> list[tuple[int, ...]]:
    return [(1, *kernel_size), (1, *(stride or kernel_size)), (0, *padding), (1, *dilation)]


def _check_line(
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> None:
    if input.ndim not in (2, 3) or 0 in input.shape[-2:]:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, "
            f"but got:{list(input.shape)}"
        )
    given = {"kernel_size": kernel_size, "stride": stride or kernel_size, "padding": padding, "dilation": dilation}
    for name, values in given.items():
        if len(values) != 1:
            raise RuntimeError(
                f"max_pool1d() {name} must be an int, list of ints or tuple of ints of size 1 "
                f"but got size {len(values)}"
            )
    (kernel,), (step,), (pad,), (spread,) = given.values()
    for name, value in (("kernel_size", kernel), ("stride", step)):
        if value <= 0:
            raise RuntimeError(f"max_pool1d() {name} must be greater than zero, but got {value}")
    if pad < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {pad}")
    if pad > kernel // 2:
        raise RuntimeError(
            "max_pool1d() padding should be at most half of kernel size, "
            f"but got padding={pad} and kernel_size={kernel}"
        )
    if spread <= 0:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {spread}")
    count = _count(input.shape[-1] + 2 * pad - spread * (kernel - 1) - 1, step, ceil_mode)
    if count < 1:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {count}")


def _count(free: int, step: int, ceil_mode: bool) -> int:
    return (-(-free // step) if ceil_mode else free // step) + 1


def avg_pool1d(input, kernel_size, stride, padding, ceil_mode, count_include_pad):
    _check_ndim("avg_pool1d", input)
    _check_one("avg_pool1d", "kernel_size", kernel_size)
    _check_one("avg_pool1d", "stride", stride or kernel_size)
    _check_one("avg_pool1d", "padding", padding)
    rows = [(1, *kernel_size), (1, *(stride or kernel_size)), (0, *padding)]
    return ops.avg_pool2d(input.unsqueeze(-2), *rows, ceil_mode, count_include_pad).squeeze(-2)


def _check_ndim(op: str, input: Tensor) -> None:
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {input.ndim}-dimensional tensor for argument #1 'self' "
            f"(while checking arguments for {op})"
        )


def _check_one(op: str, name: str, values: Sequence[int]) -> None:
    if len(values) != 1:
        raise RuntimeError(f"{op}() argument '{name}' should contain one int (got {len(values)})")


# -------------------- adaptive --------------------


def adaptive_avg_pool1d(input, output_size):
    _check_ndim("adaptive_avg_pool1d", input)
    _check_one("adaptive_avg_pool1d", "output_size", output_size)
    return ops.adaptive_avg_pool2d(input.unsqueeze(-2), (1, *output_size)).squeeze(-2)


def adaptive_max_pool1d(input, output_size):
    _check_ndim("adaptive_max_pool1d", input)
    _check_one("adaptive_max_pool1d", "output_size", output_size)
    for dim in range(1, input.ndim):
        if input.shape[dim] == 0:
            raise RuntimeError(
                "adaptive_max_pool1d(): Expected input to have non-zero size for non-batch dimensions, "
                f"but input has sizes {list(input.shape)} with dimension {dim} being empty"
            )
    values, indices = ops.adaptive_max_pool2d(input.unsqueeze(-2), (1, *output_size))
    return values.squeeze(-2), indices.squeeze(-2)


def adaptive_avg_pool2d(input, output_size):
    if tuple(output_size) == (1, 1) and input.ndim in (3, 4):
        return _mean(input, 2)
    _check_cells("adaptive_avg_pool2d", input, output_size, ", ")
    return ops._adaptive_avg_pool2d(input, output_size)


def adaptive_avg_pool3d(input, output_size):
    if tuple(output_size) == (1, 1, 1) and input.ndim in (4, 5):
        return _mean(input, 3)
    _check_cells("adaptive_avg_pool3d", input, output_size, ",")
    return ops._adaptive_avg_pool3d(input, output_size)


def _mean(input: Tensor, dims: int) -> Tensor:
    mean = input.mean(tuple(range(-1, -dims - 1, -1)), True)
    strides = image_layout.following(input._mt_array, mean._mt_array.shape)
    return mean if strides is None else mean.as_strided(mean.shape, strides)


def adaptive_avg_pool2d_out(input, output_size, out):
    """Whatever the strides of `out` were, they become those of the result."""
    _check_cells("adaptive_avg_pool2d", input, output_size, ", ")
    _check_dtype(input, out)
    result = ops._adaptive_avg_pool2d(input, output_size)
    if out.shape == result.shape:
        out.set_(out.as_strided(result.shape, result.stride()))
    return write_out(out, result)


def adaptive_avg_pool3d_out(input, output_size, out):
    """By the kernel also where a mean would do, as torch: so the dtypes are those of the kernel."""
    _check_cells("adaptive_avg_pool3d", input, output_size, ",")
    _check_dtype(input, out)
    return write_out(out, ops._adaptive_avg_pool3d(input, output_size))


def _check_dtype(input: Tensor, out: Tensor) -> None:
    if out.dtype is not input.dtype:
        raise RuntimeError(
            f"expected dtype {c_name(input._mt_array)} for `output` but got dtype {c_name(out._mt_array)}"
        )


def _check_cells(op: str, input: Tensor, output_size: Sequence[int], comma: str) -> None:
    dims = int(op[-2])
    if len(output_size) != dims:
        raise RuntimeError(f"{op}: output_size must be {dims}")
    if min(output_size) < 0:
        first, *others = map(str, output_size)
        raise RuntimeError(
            f"{op}: elements of output_size must be greater than or equal to 0 "
            f"but received {{{', '.join((first, comma.join(others)))}}}"
        )
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(f"{op}(): Expected {dims + 1}D or {dims + 2}D tensor, but got {list(input.shape)}")
    for dim in range(1 if dims == 3 else input.ndim - dims, input.ndim):
        if input.shape[dim] == 0:
            raise RuntimeError(
                f"{op}(): Expected input to have non-zero size for non-batch dimensions, "
                f"but input has sizes {list(input.shape)} with dimension {dim} being empty"
            )
