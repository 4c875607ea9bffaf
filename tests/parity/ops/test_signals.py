"""Fourier transforms, windows and short-time transforms against torch: random calls, gradients, refusals."""

import numpy as np
import pytest

from tests.parity.support.programs import assert_same, programs

program, test_program = programs()


def numbers(T, seed, *shape, dtype="float64"):
    """Random numbers, the same in both libraries."""
    random = np.random.RandomState(seed)
    data = random.randn(*shape) + (1j * random.randn(*shape) if dtype.startswith("complex") else 0)
    return T.from_numpy(np.asarray(data).astype(dtype))


def real_parts(T, tensor):
    return T.view_as_real(tensor + 0) if tensor.is_complex() else tensor


def with_gradients(T, result, *inputs):
    """The result, and the first and second gradients of a sum of cubes of it."""
    first = T.autograd.grad((real_parts(T, result) ** 3).sum(), inputs, create_graph=True)
    second = T.autograd.grad(sum((real_parts(T, grad) ** 2).sum() for grad in first), inputs)
    return result + 0, [grad + 0 for grad in (*first, *second)]


# -------------------- Fourier transforms --------------------

NAMES = "fft2 ifft2 rfft2 irfft2 hfft2 ihfft2 fftn ifftn rfftn irfftn hfftn ihfftn".split()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", NAMES)
def test_transforms_along_several_dimensions(name, seed):
    random = np.random.RandomState(seed)
    shape = tuple(random.randint(2, 6, size=random.randint(2, 4)))
    dim = tuple(random.permutation(len(shape))[:2].tolist())
    options = {"dim": dim, "norm": [None, "ortho", "forward", "backward"][random.randint(4)]}
    if random.rand() < 0.6:
        options["s"] = [-1, *random.randint(2, 7, size=1).tolist()]
    dtype = "float64" if name.startswith(("rfft", "ihfft")) or seed % 2 else "complex128"

    def transform(T):
        x = numbers(T, seed, *shape, dtype=dtype).requires_grad_()
        return with_gradients(T, getattr(T.fft, name)(x, **options), x)

    assert_same(transform)


@pytest.mark.parametrize("name", ["hfft", "ihfft"])
@pytest.mark.parametrize("options", [{}, {"n": 7}, {"n": 3, "dim": 0}, {"norm": "ortho"}, {"n": 0}, {"norm": "x"}])
def test_transforms_of_hermitian_signals(name, options):
    def transform(T):
        x = numbers(T, 1, 4, 5).requires_grad_()
        return with_gradients(T, getattr(T.fft, name)(x, **options), x)

    assert_same(transform)


REFUSED = """
T.fft.fftn(x, dim=(0, 0))
T.fft.fftn(x, s=(1, 2, 3))
T.fft.fftn(x, s=(3,), dim=(0, 1))
T.fft.fftn(x, s=(0,))
T.fft.rfftn(x, dim=())
T.fft.irfftn(x, dim=())
T.fft.hfftn(x, dim=())
T.fft.ihfftn(x, dim=())
T.fft.rfftn(x + 0j)
T.fft.ihfftn(x + 0j)
T.fft.ihfft(x + 0j)
T.fft.fftn(x, norm="x")
T.fft.fftn(x.half())
T.fft.fftn(x, out=T.empty(0))
T.fft.ifftn(x, out=T.empty(0))
T.fft.irfftn(x, out=T.empty(0, dtype=T.complex64))
T.fft.hfft(x, out=T.empty(0, dtype=T.complex64))
T.fft.fftfreq(4, dtype=T.int64)
T.fft.fftfreq(4, dtype=T.complex64)
T.fft.fftfreq(-1)
T.fft.rfftfreq(-5)
T.fft.fftshift(T.tensor(1.0))
"""


@pytest.mark.parametrize("expression", REFUSED.strip().splitlines())
def test_refusals(expression):
    assert_same(lambda T: eval(expression, {"T": T, "x": numbers(T, 0, 3, 4, dtype="float32")}))


@program
def frequencies(T):
    found = [T.fft.fftfreq(n, d) for n in (0, 1, 4, 5) for d in (1.0, 0.25)]
    return found, [T.fft.rfftfreq(n, 3) for n in (0, 1, 4, 5)], T.fft.fftfreq(5, dtype=T.float16)


@program
def order_of_frequencies(T):
    x = T.arange(30).reshape(2, 3, 5)
    dims = (None, 0, (0, 1), (-1, -2), (0, 0))
    return [shift(x, dim) for shift in (T.fft.fftshift, T.fft.ifftshift) for dim in dims]


# -------------------- windows --------------------

WINDOWS = ["hann", "hamming", "blackman", "bartlett", "kaiser"]


@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name):
    def windows(T):
        window = getattr(T, f"{name}_window")
        lengths = [window(length) for length in (0, 1, 2, 5, 8)]
        periods = [window(length, periodic) for length in (1, 2, 5, 8) for periodic in (True, False)]
        return lengths, periods, window(6, dtype=T.float64), window(window_length=4, periodic=False, requires_grad=True)

    assert_same(windows)


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("arguments", ["-1", "4, dtype=T.int64", "4, dtype=T.bool", "4, dtype=T.complex64", "2.5"])
def test_refused_windows(name, arguments):
    assert_same(lambda T: eval(f"T.{name}_window({arguments})", {"T": T}))


@program
def shaped_windows(T):
    hamming = T.hamming_window(5, True, 0.75), T.hamming_window(5, False, 0.5, 0.25)
    return hamming, T.kaiser_window(5, True, 3.5), T.kaiser_window(5, periodic=False, beta=1.0)


# -------------------- short-time transforms --------------------


@pytest.mark.parametrize("seed", range(24))
def test_stft(seed):
    random = np.random.RandomState(seed)
    size = random.choice([4, 5, 6, 8])
    length = random.choice([size, size - 1])
    shape = (18,) if seed % 2 else (2, 15)
    dtype = "complex128" if seed % 3 == 0 else "float64"
    options = {"return_complex": seed % 5 != 0, "normalized": bool(seed % 2)}
    options |= [{}, {"center": False}, {"onesided": False}, {"pad_mode": "constant"}][seed % 4]

    def transform(T):
        x = numbers(T, seed, *shape, dtype=dtype).requires_grad_()
        window = (numbers(T, seed + 1, length) ** 2 + 0.1).detach().requires_grad_()
        hop = [None, 2, 3][seed % 3]
        return with_gradients(T, T.stft(x, int(size), hop, int(length), window, **options), x, window)

    assert_same(transform)


@pytest.mark.parametrize("seed", range(24))
def test_istft(seed):
    random = np.random.RandomState(seed)
    size = int(random.choice([4, 5, 6, 8]))
    options = [{}, {"length": 9}, {"center": False}, {"normalized": True}][seed % 4]
    half = seed % 3 != 0

    def transform(T):
        x = numbers(T, seed, 2, size // 2 + 1 if half else size, 6, dtype="complex128").requires_grad_()
        window = (numbers(T, seed + 1, size) ** 2 + 0.3).detach().requires_grad_()
        return with_gradients(T, x.istft(size, None, size, window, **options), x, window)

    assert_same(transform)


@program
def there_and_back(T):
    x, window = numbers(T, 0, 2, 40), T.hann_window(8, dtype=T.float64)
    spectra = x.stft(8, window=window, return_complex=True)
    return spectra, T.istft(spectra, 8, window=window, length=40) - x


SHORT_TIME_REFUSED = """
T.stft(x, 8, window=w)
T.stft(x[None], 8, window=w, return_complex=True)
T.stft(x, 50, window=w, return_complex=True)
T.stft(x, 50, center=False, window=T.ones(50), return_complex=True)
T.stft(x, 8, 0, window=w, return_complex=True)
T.stft(x, 8, 2, 9, window=w, return_complex=True)
T.stft(x, 8, 2, 4, w, return_complex=True)
T.stft(x.long(), 8, window=w, return_complex=True)
T.ops.aten.stft.center(x.long(), 8, window=w, return_complex=True)
T.stft(x.bool(), 8, window=w, return_complex=True)
T.stft(x.bool(), 8, window=w.bfloat16(), center=False, return_complex=True)
T.stft(x.bfloat16(), 8, window=w.bfloat16(), return_complex=True)
T.stft(x + 0j, 8, window=w, onesided=True, return_complex=True)
T.stft(x, 8, window=w, align_to_window=True, return_complex=True)
T.stft(x, 8, pad_mode="x", window=w, return_complex=True)
T.istft(x, 8, window=w)
T.istft(s, 7, window=w)
T.istft(s, 8, window=w, onesided=False)
T.istft(s, 8, 9, window=w)
T.istft(s, 8, 2, 10, window=w)
T.istft(s, 8, 2, 5, window=w)
T.istft(s, 8, window=w, return_complex=True)
T.istft(s, 8, window=w + 0j)
T.istft(s, 8, window=T.hann_window(8), center=False)
T.istft(s[:, :0], 8, window=w)
"""


@pytest.mark.parametrize("expression", SHORT_TIME_REFUSED.strip().splitlines())
def test_short_time_refusals(expression):
    names = {"x": lambda T: numbers(T, 0, 2, 20, dtype="float32"), "w": lambda T: T.ones(8)}
    spectra = {"s": lambda T: numbers(T, 0, 5, 9, dtype="complex64")}
    assert_same(lambda T: eval(expression, {"T": T, **{key: make(T) for key, make in (names | spectra).items()}}))


@program
def an_unsaid_window_is_warned_of(T):
    x = numbers(T, 0, 20)
    return [T.stft(x, 4, return_complex=True).shape for _ in range(2)]
