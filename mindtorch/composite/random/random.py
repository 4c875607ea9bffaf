"""Random tensors, written in the ops that fill one with random numbers."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch._core import aligned
from mindtorch._core.dtype import bool as boolean
from mindtorch._core.dtype import float64, int64
from mindtorch._core.generator import Generator
from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.tensor import Tensor, wrap
from mindtorch.composite.common import out_forms
from mindtorch.composite.helpers import fresh
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.tangents import without_forward_ad
from mindtorch.dispatch.registry import kernels_in
from mindtorch.iterator import broadcast_shapes, needs_resize

_kernels = kernels_in("mindtorch.backends.cpu.random.random")

# -------------------- rand and randn --------------------


def rand_out(size: tuple[int, ...], out: Tensor) -> Tensor:
    return rand_generator_out(size, None, out)


def rand_generator_out(size: tuple[int, ...], generator: Any, out: Tensor) -> Tensor:
    return ops.empty_out(size, out=out).uniform_(generator=generator)


def randn_out(size: tuple[int, ...], out: Tensor) -> Tensor:
    return randn_generator_out(size, None, out)


def randn_generator_out(size: tuple[int, ...], generator: Any, out: Tensor) -> Tensor:
    return ops.empty_out(size, out=out).normal_(generator=generator)


def _empty(size: tuple[int, ...], dtype: Any, layout: Any, device: Any, pin_memory: Any) -> Tensor:
    return ops.empty(size, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)


# -------------------- copies filled with numbers --------------------
# What only torch.ops has: the functional forms of ops that fill a tensor.


def _on_copy(fill: str) -> Callable[..., Tensor]:
    def kernel(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        return getattr(input.clone(), fill)(*args, **kwargs)

    return kernel


uniform = _on_copy("uniform_")
random_from = _on_copy("random_")


# -------------------- integers --------------------


def randint_out(high: int, size: tuple[int, ...], out: Tensor) -> Tensor:
    return randint_low_generator_out(0, high, size, None, out)


def randint_generator_out(high: int, size: tuple[int, ...], generator: Any, out: Tensor) -> Tensor:
    return randint_low_generator_out(0, high, size, generator, out)


def randint_low_out(low: int, high: int, size: tuple[int, ...], out: Tensor) -> Tensor:
    return randint_low_generator_out(low, high, size, None, out)


def randint_low_generator_out(low: int, high: int, size: tuple[int, ...], generator: Any, out: Tensor) -> Tensor:
    return ops.random__from(ops.empty_out(size, out=out), low, high, generator=generator)


def randperm(
    n: int, dtype: Any = int64, layout: Any = None, device: Any = None, pin_memory: bool | None = None
) -> Tensor:
    return randperm_generator(n, None, dtype, layout, device, pin_memory)


def randperm_generator(
    n: int, generator: Any, dtype: Any = int64, layout: Any = None, device: Any = None, pin_memory: bool | None = None
) -> Tensor:
    return fresh(_permute(_empty((n,), dtype or int64, layout, device, pin_memory), n, generator))


def randperm_out(n: int, out: Tensor) -> Tensor:
    return randperm_generator_out(n, None, out)


def randperm_generator_out(n: int, generator: Any, out: Tensor) -> Tensor:
    return _permute(ops.empty_out((n,), out=out), n, generator)


def _permute(target: Tensor, n: int, generator: Generator | None) -> Tensor:
    if target.dtype is boolean or target.is_complex():
        raise NotImplementedError(f"\"randperm\" not implemented for '{target.dtype.storage_name}'")
    return target.copy_(wrap(_kernels.permutation(n, generator)))


# -------------------- other distributions --------------------


# The gradients of mean and deviation are zeros, which is what writing random numbers over tensors makes of them.


def normal_tensor_tensor(mean: Tensor, std: Tensor, generator: Any = None) -> Tensor:
    aligned.check_fits(std._mt_array.shape, std._mt_array.dtype)
    _check_deviations(std)
    with without_forward_ad():
        noise = (mean + std.to(mean.dtype)).contiguous().normal_(generator=generator)
        return fresh(noise.mul_(std.detach()).add_(mean.detach()))


def normal_tensor_float(mean: Tensor, std: float, generator: Any = None) -> Tensor:
    with without_forward_ad():
        return fresh(
            mean.clone(memory_format=contiguous_format).normal_(0.0, std, generator=generator).add_(mean.detach())
        )


def normal_float_tensor(mean: float, std: Tensor, generator: Any = None) -> Tensor:
    _check_deviations(std)
    with without_forward_ad():
        noise = std.clone(memory_format=contiguous_format).normal_(generator=generator)
        return fresh(noise.mul_(std.detach()).add_(mean))


def normal_tensor_tensor_out(mean: Tensor, std: Tensor, generator: Any = None, *, out: Tensor) -> Tensor:
    _check_deviations(std)
    _resize(out, broadcast_shapes(mean.shape, std.shape))
    return out.normal_(generator=generator).mul_(std).add_(mean)


def normal_tensor_float_out(mean: Tensor, std: float, generator: Any = None, *, out: Tensor) -> Tensor:
    _resize(out, broadcast_shapes(mean.shape, out.shape))
    return out.normal_(0.0, std, generator=generator).add_(mean)


def normal_float_tensor_out(mean: float, std: Tensor, generator: Any = None, *, out: Tensor) -> Tensor:
    _check_deviations(std)
    _resize(out, std.shape)
    return out.normal_(generator=generator).mul_(std).add_(mean)


def _resize(out: Tensor, shape: Sequence[int]) -> None:
    if needs_resize(out._mt_array, tuple(shape)):
        ops.empty_out(tuple(shape), out=out)


def normal_float_float_out(
    mean: float, std: float, size: tuple[int, ...], generator: Any = None, *, out: Tensor
) -> Tensor:
    return ops.empty_out(size, out=out).normal_(mean, std, generator=generator)


def _check_deviations(std: Tensor) -> None:
    if std.is_complex():
        raise RuntimeError("normal expects standard deviation to be non-complex")
    if std.numel() and not (std.min() >= 0).item():
        raise RuntimeError("normal expects all elements of std >= 0.0")


def multinomial(input: Tensor, num_samples: int, replacement: bool, generator: Any = None) -> Tensor:
    _check_multinomial(input, num_samples, replacement)
    if replacement and num_samples > 1:
        return _with_replacement(input, num_samples, generator)
    _check_probabilities(input)
    waiting = ops.empty_like(input).exponential_(1.0, generator=generator)
    chances = input / waiting
    if num_samples == 1:
        return chances.argmax(-1, keepdim=True)
    return chances.topk(num_samples, -1)[1]


_multinomial_out = out_forms.of_same_dtype(multinomial)


def multinomial_out(input: Tensor, num_samples: int, replacement: bool, generator: Any, out: Tensor) -> Tensor:
    if out.dtype is not int64 and input.ndim in (1, 2) and input.is_floating_point():
        raise RuntimeError(f"multinomial expects Long tensor out, got: {out.dtype.storage_name}")
    return _multinomial_out(input, num_samples, replacement, generator, out=out)


def _check_multinomial(input: Tensor, num_samples: int, replacement: bool) -> None:
    if input.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if not input.is_floating_point():
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {input.dtype.storage_name}"
        )
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > input.size(-1):
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if input.size(-1) > _MOST_CATEGORIES:
        raise RuntimeError("number of categories cannot exceed 2^24")


_MOST_CATEGORIES = 2**24  # which a float32 counts


def _check_probabilities(input: Tensor) -> None:
    if input.numel() and not (input.max().item() < math.inf and input.min().item() >= 0):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    _check_sums(input)


def _check_sums(input: Tensor) -> None:
    if (input.sum(-1) <= 0).any().item():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


def _with_replacement(input: Tensor, num_samples: int, generator: Generator | None) -> Tensor:
    """The first class whose cumulated probability reaches a uniform number."""
    bad = ~((input >= 0) & input.isfinite())
    if bad.any().item():
        first = input[bad][0].item()
        which = "= infinity or NaN" if first > 0 else "< 0"  # which a nan counts as
        raise RuntimeError(f"invalid multinomial distribution (encountering probability entry {which})")
    _check_sums(input)
    reached = input.cumsum(-1)
    reached = reached / reached[..., -1:]
    size = (*input._mt_array.shape[:-1], num_samples)
    drawn = ops.empty(size, dtype=float64, device=input.device).uniform_(generator=generator)
    return (reached.unsqueeze(-2) < drawn.unsqueeze(-1)).sum(-1)
