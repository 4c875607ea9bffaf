"""Products of matrices: a batch of them is `bmm`, or one taller matrix where only the left one is batched.

And factorizations, whose kernels take batches of matrices.
"""

from collections.abc import Callable
from typing import Any

from mindtorch._core.batched_array import BatchedArray
from mindtorch.backends.batched.batch import Batch, Kernel, arrays_in, batched, run
from mindtorch.backends.batched.dims import array_of_shape


def matmul(op: str, promotion: str) -> Kernel:
    """`mm`, `bmm`, `mv` and `dot`."""
    product = _PRODUCTS[op]

    def rule(batch: Batch, input: Any, other: Any) -> Any:
        return product(batch, input, other)

    return batched(op, rule)


# What cannot be multiplied is refused by the product of all samples, whose shapes torch tells, too.


def _check(op: str, input: Any, other: Any, ndims: tuple[int, int]) -> None:
    if (input.ndim, other.ndim) != ndims:
        raise RuntimeError(
            f"Shape mismatch: Got incorrect dims for {op}(a, b). a has dim {input.ndim}and b has dim {other.ndim}but "
            f"expected them to have dim {ndims[0]} and dim {ndims[1]}"
        )


def _mm(batch: Batch, input: Any, other: Any) -> Any:
    _check("mm", input, other, (2, 2))
    if not batch.has(other):
        return _of_rows("mm", batch, input, other)
    return run("bmm", batch.filled(input), batch.filled(other))


def _of_rows(op: str, batch: Batch, input: Any, other: Any) -> Any:
    """The matrices of all samples as one taller matrix."""
    rows = array_of_shape(batch.front(input), (batch.size * input.shape[0], input.shape[1]))
    product = run(op, rows, other)
    return run("view", product, (batch.size, input.shape[0], *product.shape[1:]))


def _bmm(batch: Batch, input: Any, other: Any) -> Any:
    _check("bmm", input, other, (3, 3))
    if input.shape[0] != other.shape[0]:
        raise RuntimeError(
            f"The size of tensor a ({input.shape[0]}) must match the size of tensor b ({other.shape[0]}) at "
            "non-singleton dimension 1"
        )
    left, right = batch.filled(input), batch.filled(other)
    result = run("bmm", _joined(left), _joined(right))
    return run("view", result, (batch.size, *input.shape[:2], other.shape[2]))


def _joined(array: Any) -> Any:
    """The samples' matrices as one list of matrices."""
    return array_of_shape(array, (array.shape[0] * array.shape[1], *array.shape[2:]))


def _mv(batch: Batch, input: Any, vector: Any) -> Any:
    _check("mv", input, vector, (2, 1))
    if not batch.has(vector):
        return _of_rows("mv", batch, input, vector)
    if not batch.has(input):
        return BatchedArray(run("mm", input, run("t", batch.front(vector))), 1, batch.level)
    column = run("unsqueeze", batch.front(vector), 2)
    return run("squeeze.dim", run("bmm", batch.front(input), column), 2)


def _dot(batch: Batch, input: Any, other: Any) -> Any:
    if (input.ndim, other.ndim) != (1, 1):
        raise RuntimeError("Got wrong shapes for dot")
    if not batch.has(other):
        return run("mv", batch.front(input), other)
    if not batch.has(input):
        return run("view", run("mm", run("unsqueeze", input, 0), run("t", batch.front(other))), (batch.size,))
    row, column = run("unsqueeze", batch.front(input), 1), run("unsqueeze", batch.front(other), 2)
    return run("view", run("bmm", row, column), (batch.size,))


_PRODUCTS: dict[str, Callable[[Batch, Any, Any], Any]] = {"mm": _mm, "bmm": _bmm, "mv": _mv, "dot": _dot}


def addmm(op: str, promotion: str) -> Kernel:
    """`addmm` and its kin."""
    add = _SUMS[op]

    def rule(batch: Batch, input: Any, left: Any, right: Any, beta: Any = 1, alpha: Any = 1) -> Any:
        return add(batch, input, left, right, beta, alpha)

    return batched(op, rule)


def _addmm(batch: Batch, input: Any, left: Any, right: Any, beta: Any, alpha: Any) -> Any:
    return _sum(batch, input, _product(batch, "mm", left, right), 2, beta, alpha)


def _baddbmm(batch: Batch, input: Any, left: Any, right: Any, beta: Any, alpha: Any) -> Any:
    return _sum(batch, input, _product(batch, "bmm", left, right), 3, beta, alpha)


def _addmv(batch: Batch, input: Any, matrix: Any, vector: Any, beta: Any, alpha: Any) -> Any:
    return _sum(batch, input, _product(batch, "mv", matrix, vector), 1, beta, alpha)


def _addbmm(batch: Batch, input: Any, left: Any, right: Any, beta: Any, alpha: Any) -> Any:
    products = run("sum.dim_IntList", _product(batch, "bmm", left, right), (-3,), False, None)
    return _sum(batch, input, products, 2, beta, alpha)


def _product(batch: Batch, op: str, left: Any, right: Any) -> Any:
    if not (batch.has(left) or batch.has(right)):
        return run(op, left, right)
    return batch.front(batch.wrapped(_PRODUCTS[op](batch, left, right)))


def _sum(batch: Batch, input: Any, products: Any, ndim: int, beta: Any, alpha: Any) -> Any:
    """`beta * input + alpha * products`, which lies in memory as sums of ops of their own do."""
    return run("add.Tensor", run("mul.Scalar", batch.ranked(input, ndim), beta), products, alpha)


_SUMS: dict[str, Callable[..., Any]] = {"addmm": _addmm, "baddbmm": _baddbmm, "addmv": _addmv, "addbmm": _addbmm}


# -------------------- factorizations --------------------


def matrices(op: str, promotion: str) -> Kernel:
    """Ops of matrices or of batches of them: the samples are one more dimension of the batch."""

    def rule(batch: Batch, *args: Any) -> Any:
        shapes = {tuple(array.shape) for array in arrays_in(args)}
        if _are_of_one_batch(shapes):
            return run(op, *batch.each(batch.filled, args))
        ndim = max(map(len, shapes))
        whole = batch.each(lambda array: BatchedArray(batch.filled(array), 0, batch.level), args)
        return run(op, *batch.each(lambda array: batch.ranked(array, ndim), whole))

    return batched(op, rule)


def _are_of_one_batch(shapes: set[tuple[int, ...]]) -> bool:
    """Whether arguments are matrices, and vectors of one dimension less, that are not broadcast to each other."""
    ndim = max(map(len, shapes))
    batches = {shape[: max(ndim - 2, 0)] for shape in shapes}
    return len(batches) == 1 and min(map(len, shapes)) >= ndim - 1
