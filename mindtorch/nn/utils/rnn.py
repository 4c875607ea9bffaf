"""Sequences of different lengths in one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch.tensor import Tensor


def pad_sequence(
    sequences: Sequence[Any], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """The sequences side by side, filled up to the longest with padding_value."""
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
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
    return [row[:length] for row, length in zip(rows, lengths.tolist())]
