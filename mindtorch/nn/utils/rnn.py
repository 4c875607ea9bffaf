"""Sequences of different lengths in one tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from mindtorch._core.dtype import float16, float32, float64, int8, int16, int32, int64, uint8
from mindtorch._core.tensor import Tensor
from mindtorch._functions.creation import as_tensor, tensor
from mindtorch.dispatch import ops

# -------------------- packed --------------------


class _PackedFields(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_PackedFields):
    """Sequences of different lengths, step by step: the first elements of all, the second ones of those that have one.

    The longest sequence comes first; `unsorted_indices` puts them back in the order that they had.
    """

    def __new__(
        cls,
        data: Any,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def _with(self, convert: Callable[[Tensor], Tensor]) -> PackedSequence:
        data = convert(self.data)
        return self if data is self.data else type(self)(data, *self[1:])

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The data on another device or in another dtype."""
        return self._with(lambda data: data.to(*args, **kwargs))

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        return self._with(lambda data: data.cpu())

    def double(self) -> PackedSequence:
        return self.to(float64)

    def float(self) -> PackedSequence:
        return self.to(float32)

    def half(self) -> PackedSequence:
        return self.to(float16)

    def long(self) -> PackedSequence:
        return self.to(int64)

    def int(self) -> PackedSequence:
        return self.to(int32)

    def short(self) -> PackedSequence:
        return self.to(int16)

    def char(self) -> PackedSequence:
        return self.to(int8)

    def byte(self) -> PackedSequence:
        return self.to(uint8)

    @property
    def is_cuda(self) -> bool:
        return False


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Where each element went."""
    if permutation is None:
        return None
    places = ops.arange(0, permutation.numel(), device=permutation.device)
    return ops.empty_like(permutation).scatter_(0, permutation, places)


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """The elements of padded sequences without the padding."""
    lengths = as_tensor(lengths).to(int64)
    order = None
    if not enforce_sorted:
        lengths, order = ops.sort(lengths, descending=True)
        input = input.index_select(0 if batch_first else 1, order)
    steps = input.transpose(0, 1) if batch_first else input
    sizes = _running(lengths.tolist(), steps)
    data = ops.cat([step[:count] for step, count in zip(steps.unbind(0), sizes)], 0)
    return PackedSequence(data, tensor(sizes), order, None)


def _running(lengths: list[int], steps: Tensor) -> list[int]:
    """How many sequences are still running at each step."""
    if len(lengths) != steps.shape[1]:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(lengths)} (batch_size={steps.shape[1]})"
        )
    if lengths != sorted(lengths, reverse=True):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
            "do not need ONNX exportability."
        )
    if min(lengths) <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    return [sum(length > step for length in lengths) for step in range(lengths[0])]


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """The sequences side by side, filled up with padding_value, and their lengths."""
    sizes = sequence.batch_sizes.tolist()
    if total_length is not None and total_length < len(sizes):
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, "
            f"but got total_length={total_length} and max sequence length being {len(sizes)}"
        )
    shape = (len(sizes) if total_length is None else total_length, sizes[0], *sequence.data.shape[1:])
    result = sequence.data.new_full(shape, padding_value)
    for number, step in enumerate(sequence.data.split(sizes, 0)):
        result[number, : sizes[number]] = step
    lengths = tensor([sum(size > place for size in sizes) for place in range(sizes[0])])
    result = result.transpose(0, 1) if batch_first else result
    if sequence.unsorted_indices is None:
        return result, lengths
    order = sequence.unsorted_indices
    return result.index_select(0 if batch_first else 1, order), lengths[order]


def pack_sequence(sequences: Sequence[Any], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of different lengths."""
    lengths = tensor([sequence.shape[0] for sequence in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences that were packed."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True)


# -------------------- padded --------------------


def pad_sequence(
    sequences: Sequence[Any], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """The sequences side by side, filled up to the longest with padding_value."""
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    if len(sequences) == 0:
        raise RuntimeError("received an empty list of sequences")
    longest = max(sequence.shape[0] for sequence in sequences)
    result = sequences[0].new_full((len(sequences), longest, *sequences[0].shape[1:]), padding_value)
    for number, sequence in enumerate(sequences):
        length = sequence.shape[0]
        start = longest - length if padding_side == "left" else 0
        result[number, start : start + length] = sequence
    return result if batch_first else result.transpose(0, 1).contiguous()


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Tensor]:
    """The sequences of a padded tensor, as long as they were."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    places = ops.arange(0, rows.shape[1], device=lengths.device)
    return [row[places < length] for row, length in zip(rows, lengths, strict=True)]
