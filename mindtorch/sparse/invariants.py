"""Whether the parts of a compressed sparse tensor fit together: `check_sparse_tensor_invariants`."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from mindtorch.backends.cpu.common.checks import scalar_name
from mindtorch.backends.sparsecsrcpu.array import CompressedArray


class check_sparse_tensor_invariants:
    """Checks the parts of every compressed sparse tensor that is made: while a `with` block or a function runs, or from
    `enable()` to `disable()`."""

    _enabled = False

    @staticmethod
    def is_enabled() -> bool:
        """Whether tensors are checked that do not say themselves whether they are."""
        return check_sparse_tensor_invariants._enabled

    @staticmethod
    def enable() -> None:
        """Check from now on."""
        check_sparse_tensor_invariants._enabled = True

    @staticmethod
    def disable() -> None:
        """Check no more."""
        check_sparse_tensor_invariants._enabled = False

    def __init__(self, enable: bool = True) -> None:
        self.state = enable
        self.saved_state: bool | None = None

    def __enter__(self) -> None:
        if self.saved_state is not None:
            raise RuntimeError(
                "This context manager instance is already activated. Use a different context manager instance for "
                "context nesting."
            )
        self.saved_state = self.is_enabled()
        check_sparse_tensor_invariants._enabled = self.state

    def __exit__(self, *exception: object) -> None:
        check_sparse_tensor_invariants._enabled = bool(self.saved_state)
        self.saved_state = None

    def __call__(self, function: Callable) -> Callable:
        @wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.state):
                return function(*args, **kwargs)

        return checked


def check_parts(array: CompressedArray) -> None:
    """An error that names the first rule that the parts break."""
    _check_dimensions(array)
    _check_sizes(array)
    _check_dtypes(array)
    _check_contents(array)


def _require(condition: object, message: str) -> None:
    if not condition:
        raise RuntimeError(message)


def _check_dimensions(array: CompressedArray) -> None:
    packed, plain = array.part_names()
    block = 2 * array.layout.is_blocked
    for name, part in ((packed, array.compressed), (plain, array.plain)):
        is_contiguous = part.ndim == 0 or part.shape[-1] < 2 or part.strides[-1] == part.itemsize
        _require(is_contiguous, f"expected {name} to be a contiguous tensor per batch")
    _require(array.compressed.ndim, f"{packed} must have dimensionality >= 1 but got 0")
    _require(
        array.compressed.ndim == array.plain.ndim,
        f"{packed} and {plain} dimensionalities must be equal but got {array.compressed.ndim} and {array.plain.ndim}, "
        "respectively",
    )
    batch = array.batch_ndim
    _require(
        array.values.ndim > batch + block,
        f"values must have dimensionality > sum of batch and block dimensionalities (={batch} + {block}) but got "
        f"{array.values.ndim}",
    )
    _require(
        array.ndim == batch + 2 + array.dense_dim,
        "tensor dimensionality must be sum of batch, base, and dense dimensionalities "
        f"(={batch} + 2 + {array.dense_dim}) but got {array.ndim}",
    )


def _check_sizes(array: CompressedArray) -> None:
    packed, plain = array.part_names()
    batch = array.batch_ndim
    shapes = [list(part.shape[:batch]) for part in (array.compressed, array.plain, array.values)]
    wanted = list(array.shape[:batch])
    _require(
        shapes == [wanted] * 3,
        f"all batch dimensions of {packed} (={shapes[0]}), {plain} (={shapes[1]}), and values (={shapes[2]}) must be "
        f"equal to tensor batch dimensions (={wanted})",
    )
    for axis, (length, step) in enumerate(zip(array.shape[batch:], array.blocksize)):
        _require(
            length % step == 0,
            f"tensor shape[{axis}] (={length}) must be divisible with blocksize[{axis}] (={step}) as defined by values "
            "shape",
        )
    lines, _ = _lines_and_length(array)
    name = "rows" if array.layout.by_rows else "columns"
    _require(
        array.compressed.shape[-1] == lines + 1,
        f"{packed}.shape[-1] must be equal to the number of {name} + 1 (={lines + 1}), but got "
        f"{array.compressed.shape[-1]}",
    )
    nnz = array.values.shape[batch]
    _require(
        array.plain.shape[-1] == nnz,
        f"{plain}.shape[-1] must be equal to nnz (={nnz}) as defined by values.shape[{batch}], but got "
        f"{array.plain.shape[-1]}",
    )


def _lines_and_length(array: CompressedArray) -> tuple[int, int]:
    """How many rows (or columns) are packed, and how long each is, in blocks."""
    sides = [length // step for length, step in zip(array.shape[array.batch_ndim :], array.blocksize)]
    return (sides[0], sides[1]) if array.layout.by_rows else (sides[1], sides[0])


def _check_dtypes(array: CompressedArray) -> None:
    packed, plain = array.part_names()
    names = [scalar_name(part) for part in (array.compressed, array.plain)]
    _require(
        names[0] == names[1],
        f"{packed} and {plain} must have the same dtype, bot got {names[0]} and {names[1]}, respectively",
    )
    _require(names[0] in ("Int", "Long"), f"{packed} and {plain} dtype must be Int or Long, but got {names[0]}")


def _check_contents(array: CompressedArray) -> None:
    packed, plain = array.part_names()
    starts, length = array.compressed, _lines_and_length(array)[1]
    line, side = ("nrows", "ncols") if array.layout.by_rows else ("ncols", "nrows")
    steps = np.diff(starts)
    _require((starts[..., 0] == 0).all(), f"`{packed}[..., 0] == 0` is not satisfied.")
    _require((starts[..., -1] == array.nnz).all(), f"`{packed}[..., -1] == nnz` is not satisfied.")
    _require(
        ((steps >= 0) & (steps <= length)).all(),
        f"`0 <= {packed}[..., 1:] - {packed}[..., :-1] <= {side}` is not satisfied.",
    )
    _require(((array.plain >= 0) & (array.plain < length)).all(), f"`0 <= {plain} < {side}` is not satisfied.")
    in_order = (
        np.all(np.diff(matrix.plain[first:last]) > 0)
        for matrix in array.matrices()
        for first, last in zip(matrix.compressed, matrix.compressed[1:])
    )
    _require(
        all(in_order),
        f"`{plain}[..., {packed}[..., i - 1]:{packed}[..., i]] for all i = 1, ..., {line} are sorted and distinct "
        "along the last dimension values` is not satisfied.",
    )
