"""Kernels of `segment_reduce`: sums, products and extremes of stretches of a dimension."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mindtorch._core import aligned, geometry
from mindtorch._support.float_errors import quiet
from mindtorch._support.numpy_functions import ndindex, smallest
from mindtorch.backends.cpu.common.casting import cast
from mindtorch.backends.cpu.common.checks import scalar_name
from mindtorch.backends.cpu.common.numbers import checked_number
from mindtorch.backends.cpu.common.precision import widen

Array = np.ndarray

# How elements are put together, and what a stretch without elements gives.
_REDUCTIONS: dict[str, tuple[np.ufunc, float]] = {
    "sum": (np.add, 0.0),
    "mean": (np.add, 0.0),
    "prod": (np.multiply, 1.0),
    "max": (np.maximum, -np.inf),
    "min": (np.minimum, np.inf),
}
_OTHER_NAMES = {"amax": "max", "amin": "min"}


def segment_reduce(
    data: Array,
    reduce: str,
    lengths: Array | None = None,
    indices: Array | None = None,
    offsets: Array | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Array:
    """One result for each stretch; the stretches of the dimension follow each other."""
    axis = geometry.wrap_dim(axis, data.ndim)
    reduce = _known(reduce)
    aligned.check_walk(data)
    sizes = _sizes(data, lengths, indices, offsets, axis, unsafe)
    if data.dtype.kind not in "fV":
        raise NotImplementedError(f"\"_segment_reduce_cpu\" not implemented for '{scalar_name(data)}'")
    wide = widen(data)
    start = _REDUCTIONS[reduce][1] if initial is None else checked_number(initial, data.dtype)
    result = np.full((*sizes.shape, *data.shape[axis + 1 :]), start, wide.dtype)
    for row, values, places in _rows(wide, sizes, offsets):
        quiet(_reduce_row, reduce, result[row], values, places, sizes[row], initial)
    return cast(result, data.dtype)


def _reduce_row(reduce: str, result: Array, values: Array, places: Array, counts: Array, initial: Any) -> None:
    _REDUCTIONS[reduce][0].at(result, places, values[: len(places)])
    if reduce == "mean":
        shape = (-1,) + (1,) * (result.ndim - 1)
        divisors = counts if initial is None else np.maximum(counts, 1)
        result /= divisors.reshape(shape).astype(result.dtype)


def _rows(data: Array, sizes: Array, offsets: Array | None) -> Iterator[tuple[tuple[int, ...], Array, Array]]:
    """For each row of sizes: where it is, a view of the elements that have a stretch, and the number of that."""
    for row in ndindex(sizes.shape[:-1]):
        places = np.arange(sizes.shape[-1]).repeat(sizes[row])
        first = 0 if offsets is None else int(offsets[row][0])
        values = data[row][first : first + len(places)]
        if len(values) < len(places):
            raise RuntimeError("segment_reduce(): the segments have more elements than data has.")
        yield row, values, places


def segment_reduce_backward(
    grad: Array,
    output: Array,
    data: Array,
    reduce: str,
    lengths: Array | None = None,
    offsets: Array | None = None,
    axis: int = 0,
    initial: Any = None,
) -> Array:
    sizes = lengths if offsets is None else np.diff(offsets)
    grad, output, wide = (widen(each) for each in (grad, output, data))
    result = np.zeros(data.shape, wide.dtype)
    start = 1 if initial is None else initial
    gradient_of = _GRADIENTS[_known(reduce)]
    for (row, values, places), (_, target, _) in zip(_rows(wide, sizes, offsets), _rows(result, sizes, offsets)):
        target[...] = quiet(gradient_of, grad[row], output[row], values, places, sizes[row], start)
    return cast(result, data.dtype)


def _grad_of_sum(grad: Array, output: Array, values: Array, places: Array, counts: Array, start: Any) -> Array:
    return grad[places]


def _grad_of_mean(grad: Array, output: Array, values: Array, places: Array, counts: Array, start: Any) -> Array:
    return (grad / counts.reshape((-1,) + (1,) * (grad.ndim - 1)))[places]


def _grad_of_extreme(grad: Array, output: Array, values: Array, places: Array, counts: Array, start: Any) -> Array:
    """Elements that are equally large share the gradient."""
    chosen = (values == output[places]) | np.isnan(values)
    sharing = np.zeros(grad.shape, values.dtype)
    np.add.at(sharing, places, chosen)
    return np.where(chosen, grad[places] / sharing[places], 0)


def _grad_of_prod(grad: Array, output: Array, values: Array, places: Array, counts: Array, start: Any) -> Array:
    """The product of the others: by division, or by multiplying them where an element is 0 or nan."""
    result = grad[places] * output[places] / values
    for place in np.argwhere((values == 0) | np.isnan(values)):
        element, *rest = place
        others = (places == places[element]) & (np.arange(len(places)) != element)
        result[tuple(place)] = grad[(places[element], *rest)] * values[(others, *rest)].prod() * start
    return result


_GRADIENTS = {
    "sum": _grad_of_sum,
    "mean": _grad_of_mean,
    "prod": _grad_of_prod,
    "max": _grad_of_extreme,
    "min": _grad_of_extreme,
}


# -------------------- unsupported --------------------


def _known(reduce: str) -> str:
    reduce = _OTHER_NAMES.get(reduce, reduce)
    if reduce not in _REDUCTIONS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    return reduce


def _sizes(
    data: Array, lengths: Array | None, indices: Array | None, offsets: Array | None, axis: int, unsafe: bool
) -> Array:
    """The number of elements of each stretch."""
    given = lengths if offsets is None else offsets
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if given is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    name = "lengths" if offsets is None else "offsets"
    if given.ndim - 1 != axis:
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}.")
    if given.dtype.kind != "i":
        raise NotImplementedError(f"\"_segment_reduce_{name}_cpu_kernel1\" not implemented for '{scalar_name(given)}'")
    _expect(data.ndim >= given.ndim, "data.dim() >= lengths_value.dim()")
    aligned.check_walk(given)
    sizes = given if offsets is None else np.diff(offsets)
    if offsets is not None:
        _expect(not sizes.size or smallest(sizes) >= 0, "segment_length >= 0")
    elif not unsafe:
        _check_lengths(data, sizes)
    return sizes


def _expect(condition: Any, what: str) -> None:
    if not condition:
        raise RuntimeError(
            f"Expected {what} to be true, but got false.  (Could this error message be improved?  If so, please report "
            "an enhancement request to PyTorch.)"
        )


def _check_lengths(data: Array, lengths: Array) -> None:
    if lengths.size and smallest(lengths) < 0:
        raise RuntimeError("lengths contains negative value!")
    if (lengths.sum(-1) != data.shape[lengths.ndim - 1]).any():
        raise RuntimeError(
            "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when "
            "!unsafe."
        )
