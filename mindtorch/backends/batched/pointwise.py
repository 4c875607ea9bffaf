"""Elementwise ops: the samples go first, and every sample gets as many dimensions as the largest."""

from collections.abc import Sequence
from typing import Any

from mindtorch._core.batched_array import BatchedArray
from mindtorch._core.dtype import from_numpy_dtype
from mindtorch._core.memory_format import contiguous_format, preserve_format
from mindtorch._core.promotion import BOOL, common_dtype
from mindtorch._support import vmap_errors as errors
from mindtorch._support.op_names import base_of
from mindtorch.backends.batched.batch import (
    Batch,
    Kernel,
    arrays_in,
    batched,
    highest_level,
    is_array,
    is_read,
    run,
    without_lifts,
)
from mindtorch.dispatch.registry import find_op


def broadcast(op: str, promotion: str) -> Kernel:
    def rule(batch: Batch, *args: Any) -> Any:
        return run(op, *aligned(batch, args, promotes=promotion != "first"))

    def in_front(batch: Batch, *args: Any) -> list[Any] | None:
        fits = writes_all_at_once or (_fits_sample_by_sample(args) and not is_read(args[0], args))
        return aligned(batch, args, promotes=False) if fits else None

    writes_all_at_once = f"{base_of(op)}_" in errors.ARITHMETIC
    if _count_of_tensors(op) == 1:
        return _of_one_tensor(op)
    kernel = batched(op, rule, in_front)
    kernel.converts_pairs = promotion != "first" and _count_of_tensors(op) == 2  # type: ignore[attr-defined]
    return kernel


def _fits_sample_by_sample(args: Sequence[Any]) -> bool:
    """Whether writing all samples at once is what writing each of them is: shapes fit, and dtypes whatever counts as a
    number."""
    target, *others = arrays_in(args)
    if any(each.dtype != target.dtype for each in others) and not all(each.ndim for each in (target, *others)):
        return False
    return all(_can_be_expanded(each.shape, target.shape) for each in others)


def _can_be_expanded(shape: Sequence[int], to: Sequence[int]) -> bool:
    return len(shape) <= len(to) and all(a in (1, b) for a, b in zip(reversed(shape), reversed(to)))


def _of_one_tensor(op: str) -> Kernel:
    """The samples may stay where they are, because there are no others."""

    def where_they_are(batch: Batch, *args: Any) -> list[Any]:
        return batch.each(lambda each: each.inner, args)

    def rule(batch: Batch, *args: Any) -> Any:
        (array,) = arrays_in(args)
        return BatchedArray(run(op, *where_they_are(batch, *args)), array.bdim, batch.level)

    return batched(op, rule, where_they_are)


broadcast_reversed = broadcast


def boxed(op: str, promotion: str) -> Kernel:
    """The rule for ops that torch calls with the samples in front, whatever is written: the kernel finds that they
    do not fit there, after all other checks."""
    checked = broadcast(op, promotion)

    def kernel(*args: Any, out: Any = None) -> Any:
        level = None if out is None else highest_level((*args, out))
        if level is not None and not Batch(level).has(out):
            args = without_lifts(args)
            run(op, *aligned(Batch(level), args), out=args[0])
        return checked(*args, out=out)

    kernel.is_boxed, kernel.converts_pairs = True, checked.converts_pairs  # type: ignore[attr-defined]
    return kernel


def _count_of_tensors(op: str) -> int:
    entry = find_op(op)
    return 0 if entry is None else [each.element for each in entry.schema.arguments].count("Tensor")


def aligned(batch: Batch, args: Any, promotes: bool = True) -> list[Any]:
    """The arguments with all samples in the first dimension and in dimensions of equal number.

    A sample without dimensions has one as a batch, and would then count for the dtype of the result as it should not:
    so it is converted first, and so is the other one of two tensors.
    """
    arrays = list(arrays_in(args))
    ndim = max([array.ndim for array in arrays])
    if not promotes:
        return batch.each(lambda array: batch.ranked(array, ndim), args)
    args, dtype, converts_both = _promoted(batch, args, arrays)

    def align(array: Any) -> Any:
        samples = batch.ranked(array, ndim)
        is_number = batch.has(array) and not array.ndim and array.dtype != BOOL
        return convert(samples, dtype) if array.dtype != dtype and (is_number or converts_both) else samples

    return batch.each(align, args)


def _promoted(batch: Batch, args: Any, arrays: Sequence[Any]) -> tuple[Any, Any, bool]:
    """The arguments, the dtype in which an op computes on them, and whether both of its first two are to have it.

    They are if one of them only is a sample without dimensions, and nothing is written. That makes a difference where
    an op refuses bool: then it does not see any.
    """
    pair = args[:2]
    is_number = [batch.has(each) and not each.ndim for each in pair]
    has_bool = any(getattr(each, "dtype", type(each)) in (BOOL, bool) for each in pair)
    if batch.writes or not has_bool or len(arrays) > 2 or is_number.count(True) != 1:
        return args, common_dtype(*arrays), False
    dtype = common_dtype(*pair)
    return [each if is_array(each) else dtype.type(each).item() for each in pair] + list(args[2:]), dtype, True


def convert(array: Any, dtype: Any) -> Any:
    return run("_to_copy", array, from_numpy_dtype(dtype), None, None, None, False, preserve_format)


# -------------------- written in place --------------------


def copy(op: str, promotion: str) -> Kernel:
    def rule(batch: Batch, input: Any, src: Any, non_blocking: bool = False) -> Any:
        ndim = max(input.ndim, src.ndim if is_array(src) else 0)
        target = batch.ranked(input, ndim)
        run("copy_", target, batch.ranked(src, ndim), non_blocking)
        return target

    return _into_itself(op, rule)


def zero(op: str, promotion: str) -> Kernel:
    def rule(batch: Batch, input: Any) -> Any:
        return run(op, batch.front(input))

    return _into_itself(op, rule)


def fill(op: str, promotion: str) -> Kernel:
    """`fill` with a tensor of one element, which may be another one for each sample."""

    def rule(batch: Batch, input: Any, value: Any) -> Any:
        result = run("clone", batch.filled(input), contiguous_format)
        run("copy_", result, batch.ranked(value, input.ndim), False)
        return result

    return batched(op, rule)


def masked_fill(op: str, promotion: str) -> Kernel:
    """`masked_fill` with a tensor of one element, which may be another one for each sample."""

    def rule(batch: Batch, input: Any, mask: Any, value: Any) -> Any:
        if value.ndim:
            raise RuntimeError(
                "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                f"{value.ndim} dimension(s)."
            )
        input, mask, value = aligned(batch, (input, mask, value), promotes=False)
        if not value.ndim:
            result = run(op, input, mask, value)
        else:
            result = run("where.self", mask, convert(value, input.dtype), input)
        return run("clone", result, contiguous_format)

    return batched(op, rule)


def _into_itself(op: str, rule: Any) -> Kernel:
    """The kernel of an op that exists only in place and so has no `out`."""
    kernel = batched(op, rule)

    def inplace(input: Any, *args: Any) -> Any:
        checked_target(op, input, args)
        kernel(input, *args)
        return input

    return inplace


def checked_target(op: str, input: Any, args: Any) -> None:
    """Refuse to write samples into an array that is the same for all of them."""
    level = highest_level((input, *args))
    if level is not None and not Batch(level).has(input):
        raise errors.inplace_on_unbatched(op, level.depth)
