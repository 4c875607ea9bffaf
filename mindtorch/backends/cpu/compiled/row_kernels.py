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
    """`function(m, rows, *operands)` gives the elements of a row, or one number, or a tuple of such, one for each
    result; or it has stored the elements.

    The signature is that of the ufunc: which operands and results are rows, `(n)`, and which a number for each, `()`.
    Where rows are columns that lie side by side, all of these have the same of the operands in `shared`.
    """

    function: Callable[..., Any]
    signature: str = "(n)->(n)"
    is_running: bool = False  # each element waits for the one before
    shared: tuple[int, ...] = ()

    @property
    def operands(self) -> int:
        return self.signature.partition("->")[0].count("(")

    @property
    def arguments(self) -> list[bool]:
        """Whether each operand, and each result behind them, is a row."""
        return [each.startswith("(n") for each in self.signature.replace("->", ",").split(",")]


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


# -------------------- normalization --------------------


def _moments(m: Any, rows: Any, x: Element) -> tuple[Element, Element]:
    """Mean and variance. The deviations from a mean that is rounded have a mean, by which both are corrected."""
    count = rows.length()
    first = rows.each_row(lambda total, number: total / number, rows.total(x), count)
    total, squares = rows.totals(lambda at: x(at) - first(at), lambda at: (x(at) - first(at)) * (x(at) - first(at)))
    mean = rows.each_row(lambda about, lost, number: about + lost / number, first, total, count)
    variance = rows.each_row(_variance_of(m), squares, total, count)
    return mean, variance


def _variance_of(m: Any) -> Callable[[Any, Any, Any], Any]:
    return lambda squares, total, number: m.maximum(squares / number - (total / number) * (total / number), 0)


def _reciprocal_deviation(m: Any, rows: Any, variance: Element, eps: Element) -> Element:
    return rows.each_row(lambda each, least: 1 / m.sqrt(each + least), variance, eps)


def normalize_rows(m: Any, rows: Any, x: Element, eps: Element) -> tuple[Element, ...]:
    """The elements, the mean and the reciprocal deviation."""
    mean, variance = _moments(m, rows, x)
    rstd = _reciprocal_deviation(m, rows, variance, eps)
    return lambda at: (x(at) - mean(at)) * rstd(at), mean, rstd


def normalize_rows_affine(
    m: Any, rows: Any, x: Element, weight: Element, bias: Element, eps: Element
) -> tuple[Element, ...]:
    normal, mean, rstd = normalize_rows(m, rows, x, eps)
    return lambda at: normal(at) * weight(at) + bias(at), mean, rstd


def normalize_rows_backward(
    m: Any, rows: Any, grad: Element, x: Element, weight: Element, mean: Element, rstd: Element
) -> Element:
    """What is left of the gradient without its mean and its part along the row."""
    total, along = rows.totals(
        lambda at: grad(at) * weight(at), lambda at: grad(at) * weight(at) * ((x(at) - mean(at)) * rstd(at))
    )
    share = rows.each_row(lambda each, number: each / number, total, rows.length())
    slope = rows.each_row(lambda each, number: each / number, along, rows.length())
    return lambda at: (grad(at) * weight(at) - share(at) - (x(at) - mean(at)) * rstd(at) * slope(at)) * rstd(at)


def affine_backward(
    m: Any, rows: Any, grad: Element, x: Element, mean: Element, rstd: Element
) -> tuple[Element, Element]:
    """For a column: the gradients of weight and bias."""
    along, total = rows.totals(lambda at: grad(at) * ((x(at) - mean(at)) * rstd(at)), grad)
    return along, total


def deviations(m: Any, rows: Any, x: Element, centre: Element) -> tuple[Element, Element]:
    """The sums of the differences from a number, and of their squares."""
    total, squares = rows.totals(lambda at: x(at) - centre(at), lambda at: (x(at) - centre(at)) * (x(at) - centre(at)))
    return total, squares


def row_sum(m: Any, rows: Any, x: Element) -> Element:
    return rows.total(x)


def scale_rows(m: Any, rows: Any, x: Element, centre: Element, scale: Element, shift: Element) -> Element:
    return lambda at: (x(at) - centre(at)) * scale(at) + shift(at)


def channel_sums(m: Any, rows: Any, grad: Element, x: Element, mean: Element) -> tuple[Element, Element]:
    total, along = rows.totals(grad, lambda at: grad(at) * (x(at) - mean(at)))
    return total, along


def channel_backward(
    m: Any, rows: Any, grad: Element, x: Element, mean: Element, share: Element, slope: Element, scale: Element
) -> Element:
    return lambda at: (grad(at) - share(at) - (x(at) - mean(at)) * slope(at)) * scale(at)


def normalize_channel(
    m: Any,
    rows: Any,
    x: Element,
    weight: Element,
    bias: Element,
    running_mean: Element,
    running_var: Element,
    momentum: Element,
    eps: Element,
) -> tuple[Element, ...]:
    """The elements, the mean, the reciprocal deviation, and what becomes of the running statistics."""
    mean, variance = _moments(m, rows, x)
    rstd = _reciprocal_deviation(m, rows, variance, eps)
    scale = rows.each_row(lambda each, factor: each * factor, rstd, weight)
    sample = rows.each_row(lambda each, number: each * number / (number - 1), variance, rows.length())
    new_mean, new_var = [
        rows.each_row(lambda value, old, part: value * part + old * (1 - part), value, old, momentum)
        for value, old in ((mean, running_mean), (sample, running_var))
    ]
    return lambda at: (x(at) - mean(at)) * scale(at) + bias(at), mean, rstd, new_mean, new_var


def normalize_channel_backward(
    m: Any, rows: Any, grad: Element, x: Element, weight: Element, mean: Element, rstd: Element
) -> tuple[Element, ...]:
    """The gradients of the elements, the weight and the bias."""
    total, along = rows.totals(grad, lambda at: grad(at) * (x(at) - mean(at)))
    share = rows.each_row(lambda each, number: each / number, total, rows.length())
    slope = rows.each_row(lambda each, rstd, number: each * rstd * rstd / number, along, rstd, rows.length())
    scale = rows.each_row(lambda each, factor: each * factor, rstd, weight)
    of_weight = rows.each_row(lambda each, factor: each * factor, along, rstd)
    return lambda at: (grad(at) - share(at) - (x(at) - mean(at)) * slope(at)) * scale(at), of_weight, total


def squared_deviation(m: Any, rows: Any, x: Element) -> Element:
    """The sum of the squares of the differences from the mean."""
    _, mean_square = _moments(m, rows, x)
    return rows.each_row(lambda each, number: each * number, mean_square, rows.length())


ROW_KERNELS = {
    "softmax": RowKernel(softmax),
    "log_softmax": RowKernel(log_softmax),
    "softmax_backward": RowKernel(softmax_backward, "(n),(n)->(n)"),
    "log_softmax_backward": RowKernel(log_softmax_backward, "(n),(n)->(n)"),
    "logsumexp": RowKernel(logsumexp, "(n)->()"),
    "prod": RowKernel(prod, "(n)->()"),
    "euclidean_norm": RowKernel(euclidean_norm, "(n)->()"),
    "cumsum": RowKernel(cumsum, is_running=True),
    "cumprod": RowKernel(cumprod, is_running=True),
    "normalize_rows": RowKernel(normalize_rows, "(n),()->(n),(),()", shared=(1,)),
    "normalize_rows_affine": RowKernel(normalize_rows_affine, "(n),(n),(n),()->(n),(),()", shared=(1, 2, 3)),
    "normalize_rows_backward": RowKernel(normalize_rows_backward, "(n),(n),(n),(),()->(n)", shared=(2,)),
    "affine_backward": RowKernel(affine_backward, "(n),(n),(n),(n)->(),()", shared=(2, 3)),
    "row_sum": RowKernel(row_sum, "(n)->()"),
    "deviations": RowKernel(deviations, "(n),()->(),()"),
    "scale_rows": RowKernel(scale_rows, "(n),(),(),()->(n)"),
    "channel_sums": RowKernel(channel_sums, "(n),(n),()->(),()"),
    "channel_backward": RowKernel(channel_backward, "(n),(n),(),(),(),()->(n)"),
    "normalize_channel": RowKernel(normalize_channel, "(n),(),(),(),(),(),()->(n),(),(),(),()", shared=(5, 6)),
    "normalize_channel_backward": RowKernel(normalize_channel_backward, "(n),(n),(),(),()->(n),(),()"),
    "squared_deviation": RowKernel(squared_deviation, "(n)->()"),
}
