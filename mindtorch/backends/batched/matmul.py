"""Products of matrices: a batch of them is `bmm`, or one taller matrix where only the left one is batched."""

from collections.abc import Callable
from typing import Any

from mindtorch.backends.batched.batch import Batch, Kernel, batched, run
from mindtorch.backends.batched.dims import array_of_shape


def matmul(op: str, promotion: str) -> Kernel:
    """`mm`, `bmm`, `mv` and `dot`."""
    product = _PRODUCTS[op]

    def rule(batch: Batch, input: Any, other: Any) -> Any:
        return product(batch, input, other)

    return batched(op, rule)


def _check(input: Any, other: Any, ndims: tuple[int, int], message: str) -> None:
    if (input.ndim, other.ndim) != ndims:
        raise RuntimeError(message)


def _mm(batch: Batch, input: Any, other: Any) -> Any:
    _check(input, other, (2, 2), "mat1 and mat2 must be matrices")
    _check_inner(input, other)
    if not batch.has(other):
        rows = array_of_shape(batch.front(input), (batch.size * input.shape[0], input.shape[1]))
        return run("view", run("mm", rows, other), (batch.size, input.shape[0], other.shape[1]))
    return run("bmm", batch.filled(input), batch.filled(other))


def _check_inner(input: Any, other: Any) -> None:
    if input.shape[1] != other.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({input.shape[0]}x{input.shape[1]} and "
            f"{other.shape[0]}x{other.shape[1]})"
        )


def _bmm(batch: Batch, input: Any, other: Any) -> Any:
    _check(input, other, (3, 3), "batch1 must be a 3D tensor")
    left, right = batch.filled(input), batch.filled(other)
    result = run("bmm", _joined(left), _joined(right))
    return run("view", result, (batch.size, *input.shape[:2], other.shape[2]))


def _joined(array: Any) -> Any:
    """The samples' matrices as one list of matrices."""
    return array_of_shape(array, (array.shape[0] * array.shape[1], *array.shape[2:]))


def _mv(batch: Batch, input: Any, vector: Any) -> Any:
    _check(input, vector, (2, 1), f"vector + matrix @ vector expected, got {input.ndim}, {vector.ndim}")
    if input.shape[1] != vector.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({input.shape[0]}), mat ({input.shape[0]}x{input.shape[1]}), "
            f"vec ({vector.shape[0]})"
        )
    if not batch.has(input):
        return run("t", run("mm", input, run("t", batch.front(vector))))
    column = run("unsqueeze", batch.filled(vector), 2)
    return run("squeeze.dim", run("bmm", batch.front(input), column), 2)


def _dot(batch: Batch, input: Any, other: Any) -> Any:
    _check(input, other, (1, 1), f"1D tensors expected, but got {input.ndim}D and {other.ndim}D tensors")
    if input.shape[0] != other.shape[0]:
        raise RuntimeError(
            "inconsistent tensor size, expected tensor [{}] and src [{}] to have the same number of elements, but got "
            "{} and {} elements respectively".format(*input.shape, *other.shape, *input.shape, *other.shape)
        )
    row, column = run("unsqueeze", batch.filled(input), 1), run("unsqueeze", batch.filled(other), 2)
    return run("view", run("bmm", row, column), (batch.size,))


_PRODUCTS: dict[str, Callable[[Batch, Any, Any], Any]] = {"mm": _mm, "bmm": _bmm, "mv": _mv, "dot": _dot}


def addmm(op: str, promotion: str) -> Kernel:
    """`addmm` and `baddbmm`."""
    add = _SUMS[op]

    def rule(batch: Batch, input: Any, left: Any, right: Any, beta: Any = 1, alpha: Any = 1) -> Any:
        return add(batch, input, left, right, beta, alpha)

    return batched(op, rule)


def _addmm(batch: Batch, input: Any, left: Any, right: Any, beta: Any, alpha: Any) -> Any:
    _check(left, right, (2, 2), "mat1 and mat2 must be matrices")
    _check_inner(left, right)
    term = run("expand", batch.ranked(input, 2), (batch.size, left.shape[0], right.shape[1]), False)
    return run("baddbmm", term, batch.filled(left), batch.filled(right), beta, alpha)


def _baddbmm(batch: Batch, input: Any, left: Any, right: Any, beta: Any, alpha: Any) -> Any:
    shape = (batch.size, *left.shape[:2], right.shape[2])
    term = array_of_shape(run("expand", batch.ranked(input, 3), shape, False), (shape[0] * shape[1], *shape[2:]))
    result = run("baddbmm", term, _joined(batch.filled(left)), _joined(batch.filled(right)), beta, alpha)
    return run("view", result, shape)


_SUMS: dict[str, Callable[..., Any]] = {"addmm": _addmm, "baddbmm": _baddbmm}
