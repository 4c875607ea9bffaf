"""What compiled kernels compute for each row, of one dimension of an array.

`m` has the functions of scalar expressions, and `rows` what takes a whole row: `total`, `product`, `largest`. Operands
and results are functions of a place, so that what is computed for each element stands in a `lambda`; each of the rows'
functions is one pass over the row, and so is the result. In a build the places are LLVM's (`row_loop`); tests call the
same kernels with NumPy's arrays.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

Element = Callable[[Any], Any]


class RowKernel(NamedTuple):
    """`function(m, rows, *operands)` gives the elements of a row, or one number, or has stored the elements."""

    function: Callable[..., Any]
    operands: int = 1
    gives_rows: bool = True
    is_running: bool = False  # each element waits for the one before

    @property
    def signature(self) -> str:
        return ",".join(["(n)"] * self.operands) + ("->(n)" if self.gives_rows else "->()")


def softmax(m: Any, rows: Any, x: Element) -> Element:
    largest = rows.largest(x)
    total = rows.total(rows.stored(lambda at: m.exp(x(at) - largest(at))))
    share = rows.result()
    return lambda at: share(at) / total(at)


def log_softmax(m: Any, rows: Any, x: Element) -> Element:
    largest = rows.largest(x)
    total = rows.each_row(m.log, rows.total(lambda at: m.exp(x(at) - largest(at))))
    return lambda at: x(at) - largest(at) - total(at)


def softmax_backward(m: Any, rows: Any, grad: Element, output: Element) -> Element:
    total = rows.total(lambda at: grad(at) * output(at))
    return lambda at: (grad(at) - total(at)) * output(at)


def log_softmax_backward(m: Any, rows: Any, grad: Element, output: Element) -> Element:
    total = rows.total(grad)
    return lambda at: grad(at) - m.exp(output(at)) * total(at)


def logsumexp(m: Any, rows: Any, x: Element) -> Element:
    """The logarithm of a sum of infinities, or of nothing else than zeros, is infinite."""
    largest = rows.each_row(lambda each: m.where(m.abs(each) == m.inf, 0, each), rows.largest(x))
    total = rows.total(lambda at: m.exp(x(at) - largest(at)))
    return lambda at: m.log(total(at)) + largest(at)


def prod(m: Any, rows: Any, x: Element) -> Element:
    return rows.product(x)


def euclidean_norm(m: Any, rows: Any, x: Element) -> Element:
    total = rows.total(lambda at: x(at) * x(at))
    return lambda at: m.sqrt(total(at))


def cumsum(m: Any, rows: Any, x: Element) -> None:
    rows.running(x, 0.0, lambda total, each: total + each)


def cumprod(m: Any, rows: Any, x: Element) -> None:
    rows.running(x, 1.0, lambda total, each: total * each)


ROW_KERNELS = {
    "softmax": RowKernel(softmax),
    "log_softmax": RowKernel(log_softmax),
    "softmax_backward": RowKernel(softmax_backward, operands=2),
    "log_softmax_backward": RowKernel(log_softmax_backward, operands=2),
    "logsumexp": RowKernel(logsumexp, gives_rows=False),
    "prod": RowKernel(prod, gives_rows=False),
    "euclidean_norm": RowKernel(euclidean_norm, gives_rows=False),
    "cumsum": RowKernel(cumsum, is_running=True),
    "cumprod": RowKernel(cumprod, is_running=True),
}
