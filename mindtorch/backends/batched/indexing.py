"""Indexing with tensors: where indices are batched, the number of the sample becomes one more index."""

from collections.abc import Sequence
from typing import Any

from mindtorch._core import geometry
from mindtorch._core.dtype import int64
from mindtorch._core.promotion import BOOL
from mindtorch._support import vmap_errors as errors
from mindtorch.backends.batched.batch import Batch, Kernel, batched, memory_class, run
from mindtorch.backends.batched.dims import array_of_shape
from mindtorch.backends.batched.fallback import sample_by_sample
from mindtorch.backends.batched.views import with_dim_at
from mindtorch.dispatch.registry import kernel_table


def gather(op: str, promotion: str) -> Kernel:
    """Where samples have no dimensions, the index may have one, and the other way round: the result is like it."""

    def rule(batch: Batch, input: Any, dim: int, index: Any, *options: Any) -> Any:
        wrapped = geometry.wrap_dim(dim, input.ndim)
        samples, places = (
            array_of_shape(batch.filled(each), (batch.size, *(each.shape or (1,)))) for each in (input, index)
        )
        return array_of_shape(run(op, samples, wrapped + 1, places, *options), (batch.size, *index.shape))

    return batched(op, rule)


def masked_select(op: str, promotion: None) -> Kernel:
    """With one mask for all samples the results have one length."""
    select = sample_by_sample(op)

    def rule(batch: Batch, input: Any, mask: Any) -> Any:
        if batch.has(mask):
            raise errors.dynamic_shape(op)
        return select(batch, input, mask)

    return batched(op, rule)


def index_select(op: str, promotion: str) -> Kernel:
    def rule(batch: Batch, input: Any, dim: int, index: Any) -> Any:
        wrapped = geometry.wrap_dim(dim, input.ndim)
        if not input.ndim:
            return _select_elements(batch, input, index)
        if not batch.has(index):
            try:
                return run(op, batch.front(input), wrapped + 1, index)
            except (IndexError, RuntimeError):  # which gather explains as torch does, whose rule it is
                pass
        return run("gather", batch.filled(input), wrapped + 1, _spread(batch, index, input.shape, wrapped), False)

    return batched(op, rule)


def _select_elements(batch: Batch, input: Any, index: Any) -> Any:
    """From samples without dimensions there is one element to select."""
    elements = run("view", batch.filled(input), (batch.size, 1))
    picked = run("gather", elements, 1, array_of_shape(batch.filled(index), (batch.size, index.size)), False)
    return array_of_shape(picked, (batch.size,))


def _spread(batch: Batch, index: Any, shape: Sequence[int], dim: int) -> Any:
    """An index along one dimension, repeated along all others, for `gather`."""
    length = index.shape[0] if index.ndim else 1
    ones = [length if place == dim else 1 for place in range(len(shape))]
    sizes = [length if place == dim else size for place, size in enumerate(shape)]
    return run("expand", run("view", batch.filled(index), (batch.size, *ones)), (batch.size, *sizes), False)


# -------------------- x[i, j] --------------------


def index(op: str, promotion: None) -> Kernel:
    def rule(batch: Batch, input: Any, indices: Sequence[Any]) -> Any:
        _refuse_batched_masks(batch, indices)
        if not any(batch.has(each) for each in indices):
            return _behind_slices(batch, input, indices)
        if not batch.has(input):
            return _samples_first(run(op, input, _with_samples(batch, indices)), indices, numbered=False)
        found = run(op, batch.front(input), [_numbers(batch, _rank(indices), input), *_with_samples(batch, indices)])
        return _samples_first(found, indices, numbered=True)

    return batched(op, rule)


def _refuse_batched_masks(batch: Batch, indices: Sequence[Any]) -> None:
    if any(batch.has(each) and each.dtype == BOOL for each in indices):
        raise errors.boolean_mask()


def _behind_slices(batch: Batch, input: Any, indices: Sequence[Any]) -> Any:
    """The same places of every sample. If slices separate the indices, theirs come out as the first dimensions."""
    found = run("index.Tensor", batch.front(input), [None, *indices])
    return found if _are_adjacent(indices) else with_dim_at(found, _rank(indices), 0)


def _samples_first(found: Any, indices: Sequence[Any], numbered: bool) -> Any:
    """The result of indices whose first dimension counts the samples, in the order that one sample has."""
    if not _are_adjacent(indices):
        return found
    slices = next(place for place, each in enumerate(indices) if each is not None)
    if not numbered:
        return with_dim_at(found, slices, 0)
    if not slices:
        return found
    # The number of the sample stands apart from the others: all indexed dimensions came first.
    rank = _rank(indices)
    order = [0, *range(rank + 1, rank + 1 + slices), *range(1, rank + 1), *range(rank + 1 + slices, found.ndim)]
    return run("permute", found, tuple(order))


def _are_adjacent(indices: Sequence[Any]) -> bool:
    """Whether no slice stands between two indices: then the indexed dimensions stay in their place."""
    places = [place for place, each in enumerate(indices) if each is not None]
    return not places or places[-1] - places[0] == len(places) - 1


def _rank(indices: Sequence[Any]) -> int:
    """The dimensions that the indices have when they are broadcast; a mask counts as one index or as several."""
    return max([1 if each.dtype == BOOL else each.ndim for each in indices if each is not None], default=0)


def _with_samples(batch: Batch, indices: Sequence[Any]) -> list[Any]:
    rank = _rank(indices)
    return [None if each is None else batch.ranked(each, rank) for each in indices]


def _numbers(batch: Batch, rank: int, like: Any) -> Any:
    """The number of each sample, as an index."""
    numbers = kernel_table("arange.start_step")[memory_class(like)](0, batch.size, 1, int64, None, None, None)
    return run("view", numbers, (batch.size, *(1,) * rank))


# -------------------- x[i, j] = y --------------------


def index_put(op: str, promotion: str) -> Kernel:
    def rule(batch: Batch, input: Any, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Any:
        _refuse_batched_masks(batch, indices)
        rank = _rank(indices)
        taken = sum(each.ndim if each is not None and each.dtype == BOOL else 1 for each in indices)
        picked = rank + input.ndim - taken + sum(each is None for each in indices)
        samples = _samples_of_values(batch, values, picked)
        if any(batch.has(each) for each in indices):
            places = [_numbers(batch, rank, input), *_with_samples(batch, indices)]
            samples = _indexed_first(samples, indices, rank)
        else:
            places = [None, *indices]
            samples = samples if _are_adjacent(indices) else with_dim_at(samples, 0, rank)
        return run(op, batch.filled(input), places, samples, accumulate)

    return batched(op, rule)


def _samples_of_values(batch: Batch, values: Any, ndim: int) -> Any:
    """The values of every sample with as many dimensions as what they are written to."""
    if batch.has(values):
        return batch.ranked(values, ndim)
    shape = ((1,) * (ndim - values.ndim)) + tuple(values.shape)
    return run("expand", values, (batch.size, *shape), False)


def _indexed_first(samples: Any, indices: Sequence[Any], rank: int) -> Any:
    """Values in the order in which a batch with numbered samples is indexed: indexed dimensions before slices."""
    slices = next(place for place, each in enumerate(indices) if each is not None)
    if not slices or not _are_adjacent(indices):
        return samples
    order = [0, *range(1 + slices, 1 + slices + rank), *range(1, 1 + slices), *range(1 + slices + rank, samples.ndim)]
    return run("permute", samples, tuple(order))
