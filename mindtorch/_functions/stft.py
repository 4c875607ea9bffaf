"""`stft`, whose call is freer than that of the ops behind it."""

from __future__ import annotations

from typing import Any

from mindtorch._core.tensor import Tensor, extend_tensor
from mindtorch.dispatch import ops


def stft(
    input: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """The spectra of overlapping pieces of a signal: frequencies by pieces."""
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    signal = _with_ends(input, n_fft, pad_mode) if center else input
    return ops.stft(
        signal, n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window
    )


def _with_ends(input: Tensor, n_fft: int, pad_mode: str) -> Tensor:
    """Half a piece more at both ends. The op would do it, too, but torch does it before the op checks anything."""
    signal = input.view([1] * (3 - input.ndim) + list(input.shape))
    padded = ops.pad(signal, (n_fft // 2, n_fft // 2), pad_mode)
    return padded.view(padded.shape[-input.ndim :])


@extend_tensor
class SignalMethods:
    """The same as a method."""

    stft = stft
