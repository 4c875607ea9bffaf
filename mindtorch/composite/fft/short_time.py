"""Short-time Fourier transforms: the spectra of overlapping pieces of a signal, and the signal of given spectra."""

from __future__ import annotations

from collections.abc import Sequence

from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn_once
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.batching import without_levels

_PLAIN, _BY_ROOT, _BY_COUNT = 0, 1, 2  # what the kernels divide by; see transforms.py
_SMALLEST_ENVELOPE = 1e-11

_NO_WINDOW = (
    "A window was not provided. A rectangular window will be applied{consequence}To suppress this warning and use a "
    "rectangular window, explicitly set `window=torch.ones(n_fft, device=<device>)`."
)
_LEAKAGE = (
    ",which is known to cause spectral leakage. Other windows such as torch.hann_window or torch.hamming_window are "
    "recommended to reduce spectral leakage."
)
_LOSS = ".Please provide the same window used by stft to make the inversion lossless."
_PAIRS = (
    "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex tensors for "
    "all inputs, and return_complex=False will raise an error.\n"
    "Note: you can still call torch.view_as_real on the complex output to recover the old return format."
)
_COMPLEX_UNSAID = (
    "stft requires the return_complex parameter be given for real inputs, and will further require that "
    "return_complex=True in a future PyTorch release."
)
_ONESIDED = "Cannot have onesided output if window or input is complex"
_PADDED = (
    "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. Please "
    "check your center and hop_length settings."
)


# -------------------- there --------------------


def stft_center(
    input: Tensor,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: Tensor | None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """With the pieces centred on multiples of the hop: half a piece is added at both ends."""
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false.")
    return _stft(
        input, n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window,
        pad_mode if center else None,
    )  # fmt: skip


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    return _stft(input, n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window)


def _stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: Tensor | None,
    normalized: bool,
    onesided: bool | None,
    return_complex: bool | None,
    align_to_window: bool | None,
    pad_mode: str | None = None,
) -> Tensor:
    if window is None:
        warn_once(_NO_WINDOW.format(consequence=_LEAKAGE))
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    given = [
        *_described(input, n_fft, hop_length, win_length, window), ("normalized", normalized), ("onesided", onesided),
        ("return_complex", return_complex), ("align_to_window", align_to_window),
    ]  # fmt: skip
    call = _call("stft", given)
    if return_complex is None and not (input.is_complex() or (window is not None and window.is_complex())):
        raise RuntimeError(_COMPLEX_UNSAID)
    if return_complex is False:
        warn_once(_PAIRS)
    _check_signal(call, input)
    signal = input.unsqueeze(0) if input.ndim == 1 else input
    if pad_mode is not None:
        signal = ops.pad(signal.unsqueeze(0), (n_fft // 2, n_fft // 2), pad_mode).squeeze(0)
    _check_sizes(call, signal.shape[-1], n_fft, hop_length, win_length, window)
    spectra = _spectra(signal, n_fft, hop_length, win_length, window, normalized, onesided, bool(align_to_window))
    spectra.transpose_(1, 2)  # in place, as the next: the result is no view
    if input.ndim == 1:
        spectra.squeeze_(0)
    return ops.view_as_real(spectra) if return_complex is False else spectra


def _check_signal(call: str, input: Tensor) -> None:
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(f"{call} : expected a tensor of floating point or complex values")
    if input.ndim not in (1, 2):
        raise RuntimeError(f"{call} : expected a 1D or 2D tensor")


def _check_sizes(call: str, extent: int, n_fft: int, hop: int, win_length: int, window: Tensor | None) -> None:
    if not 0 < n_fft <= extent:  # torch names the window's length
        raise RuntimeError(f"{call} : expected 0 < n_fft < {extent}, but got n_fft={win_length}")
    if hop <= 0:
        raise RuntimeError(f"{call} : expected hop_length > 0, but got hop_length={hop}")
    if not 0 < win_length <= n_fft:
        raise RuntimeError(f"{call} : expected 0 < win_length <= n_fft, but got win_length={win_length}")
    if window is not None and tuple(window.shape) != (win_length,):
        raise RuntimeError(
            f"{call} : expected a 1D window tensor of size equal to win_length={win_length}, "
            f"but got window with size {list(window.shape)}"
        )


def _spectra(
    signal: Tensor,
    n_fft: int,
    hop: int,
    win_length: int,
    window: Tensor | None,
    normalized: bool,
    onesided: bool | None,
    align_to_window: bool,
) -> Tensor:
    """Pieces by frequencies."""
    count = 1 + (signal.shape[1] - (win_length if align_to_window else n_fft)) // hop
    if align_to_window:
        around = (n_fft - win_length) // 2
        signal = ops.constant_pad_nd(signal, (around, around), 0)
    if win_length < n_fft:
        window = _centred(signal.new_ones(win_length) if window is None else window, n_fft)
    row, step = signal.stride()
    pieces = signal.as_strided((signal.shape[0], count, n_fft), (row, hop * step, step))
    if window is not None:
        pieces = pieces * window
    divisor = _BY_ROOT if normalized else _PLAIN
    if not pieces.is_complex():
        return ops._fft_r2c(pieces, (2,), divisor, onesided is not False)
    if onesided:
        raise RuntimeError(_ONESIDED)
    return ops._fft_c2c(pieces, (2,), divisor, True)


def _centred(window: Tensor, count: int) -> Tensor:
    """The window with zeros around it."""
    missing = count - window.shape[0]
    return ops.constant_pad_nd(window, (missing // 2, missing - missing // 2), 0)


# -------------------- and back --------------------


def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    if window is None:
        warn_once(_NO_WINDOW.format(consequence=_LOSS))
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    given = [
        *_described(input, n_fft, hop_length, win_length, window), ("center", center), ("normalized", normalized),
        ("onesided", onesided), ("length", length), ("return_complex", return_complex),
    ]  # fmt: skip
    call = _call("istft", given)
    _check_spectra(call, input, n_fft, hop_length, win_length, window, onesided)
    pieces = _pieces(input, n_fft, window, normalized, onesided, return_complex)
    weights = pieces.real.new_ones(win_length) if window is None else window
    weights = _centred(weights, n_fft) if win_length != n_fft else weights
    whole = n_fft + hop_length * (input.shape[-1] - 1)
    start = n_fft // 2 if center else 0
    end = whole - start if length is None else start + length
    signal = _overlapped(pieces * weights, whole, hop_length)[:, start:end]
    envelope = _overlapped((weights**2).expand(1, input.shape[-1], n_fft), whole, hop_length)[:, start:end]
    if without_levels(envelope).abs().min() < _SMALLEST_ENVELOPE:
        raise RuntimeError(f"{call} window overlap add min: 1\n[ CPUBoolType{{}} ]")
    signal = signal / envelope
    signal = signal.squeeze(0) if input.ndim == 2 else signal
    if end > whole:
        warn_once(_PADDED)
        signal = ops.constant_pad_nd(signal, (0, end - whole), 0)
    return signal


def _check_spectra(
    call: str, input: Tensor, n_fft: int, hop: int, win_length: int, window: Tensor | None, onesided: bool | None
) -> None:
    if not input.is_complex():
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    frequencies = ops.view_as_real(input).size(-3)
    if not input.numel():
        raise RuntimeError(f"{call} : input tensor cannot be empty.")
    if input.ndim not in (2, 3):
        raise RuntimeError(f"{call} : expected a tensor with 3 or 4 dimensions, but got {input.ndim + 1}")
    is_half = frequencies != n_fft if onesided is None else onesided
    if frequencies != (int(n_fft / 2) + 1 if is_half else n_fft):
        raise RuntimeError(
            f"{call} : expected the frequency dimension (3rd to the last) of the input tensor to match "
            f"n_fft{' / 2 + 1' if is_half else ''} when onesided={is_half}, but got {frequencies}"
        )
    if not 0 < hop <= win_length:
        raise RuntimeError(f"{call} : expected 0 < hop_length <= win_length")
    if not 0 < win_length <= n_fft:
        raise RuntimeError(f"{call} : expected 0 < win_length <= n_fft")
    if window is not None and tuple(window.shape) != (win_length,):
        raise RuntimeError(f"{call} : Invalid window shape. window has to be 1D and length of `win_length`")


def _pieces(
    input: Tensor, n_fft: int, window: Tensor | None, normalized: bool, onesided: bool | None, return_complex: bool
) -> Tensor:
    """The pieces of the signal that have these spectra."""
    parts = ops.view_as_real(input)
    spectra = ops.view_as_complex((parts.unsqueeze(0) if input.ndim == 2 else parts).transpose(1, 2))
    is_half = input.shape[-2] != n_fft if onesided is None else onesided
    divisor = _BY_ROOT if normalized else _BY_COUNT
    if return_complex:
        if is_half:
            raise RuntimeError(_ONESIDED)
        return ops._fft_c2c(spectra, (2,), divisor, False)
    if window is not None and window.is_complex():
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    return ops._fft_c2r(spectra if is_half else spectra[..., : n_fft // 2 + 1], (2,), divisor, n_fft)


def _overlapped(pieces: Tensor, extent: int, hop: int) -> Tensor:
    """The sum of pieces that begin `hop` elements apart."""
    return ops.unfold_backward(pieces, (pieces.shape[0], extent), 1, pieces.shape[2], hop)


# -------------------- calls in messages --------------------

_OLD_TYPES = frozenset(("Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double"))


def _described(
    input: Tensor, n_fft: int, hop_length: int, win_length: int, window: Tensor | None
) -> list[tuple[str, object]]:
    shown = "None" if window is None else f"{_legacy_type(window)}{{{list(window.shape)}}}"
    return [
        ("", f"{_legacy_type(input)}{list(input.shape)}"),
        ("n_fft", n_fft), ("hop_length", hop_length), ("win_length", win_length), ("window", shown),
    ]  # fmt: skip


def _legacy_type(tensor: Tensor) -> str:
    name = tensor.dtype.storage_name
    return f"torch.{name}Tensor" if name in _OLD_TYPES else f"CPU{name}Type"


def _call(name: str, given: Sequence[tuple[str, object]]) -> str:
    """A call as torch's messages show it, with numbers for truth values."""
    words = [int(value) if isinstance(value, bool) else value for _, value in given]
    return f"{name}({', '.join(f'{key}={word}' if key else str(word) for (key, _), word in zip(given, words))})"
