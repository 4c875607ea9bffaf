"""Ops that need to know of `vmap` before they are taken apart: new tensors, random numbers, looks at values.

What random ops do inside `vmap` is told by the innermost call that is running: with randomness="error" they raise, with
"same" all samples get the same numbers, with "different" one draw makes the numbers of all.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from mindtorch._core import geometry, state
from mindtorch._core.autograd_meta import takes_part
from mindtorch._core.batched_array import Level
from mindtorch._core.dtype import bool as boolean
from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.tensor import Tensor
from mindtorch._support import vmap_errors as errors
from mindtorch.autograd._engine.history import check_inplace
from mindtorch.autograd._engine.shown_levels import is_sample
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.batching import (
    innermost_level,
    is_batched_at,
    levels_of_tensor,
    one_by_one,
    register_rule,
    tensors_in,
    writes_samples_to_one,
)
from mindtorch.dispatch.modes.captures import owner_of
from mindtorch.dispatch.modes.level_views import outside, samples_of, spread_over

_thread = state.thread


def spread(tensor: Tensor, level: Level) -> Tensor:
    """A tensor with all samples of a level, which are the same if it was not batched there."""
    return tensor if is_batched_at(tensor, level) else spread_over(tensor, level)


# -------------------- new tensors --------------------


def _new(function: Callable, args: tuple, kwargs: dict) -> Any:
    """`x.new_zeros(size)` for a batched tensor: zeros for every sample, since they are there to be written to."""
    levels = levels_of_tensor(args[0])
    if not levels:
        return NotImplemented
    sizes = [level.size for level in reversed(levels)]
    _, *rest = _with_leading_sizes(args, sizes, 1)
    return _batched(function(_unbatched_like(args[0]), *rest, **kwargs), levels)


def _new_strided(function: Callable, args: tuple, kwargs: dict) -> Any:
    levels = levels_of_tensor(args[0])
    if not levels:
        return NotImplemented
    _, size, stride, *rest = args
    extent = geometry.extent_of(size, stride) if 0 not in size else 0
    for level in levels:
        size, stride = (level.size, *size), (extent, *stride)
        extent *= level.size
    return _batched(function(_unbatched_like(args[0]), size, stride, *rest, **kwargs), levels)


def _unbatched_like(tensor: Tensor) -> Tensor:
    """A tensor of the same dtype and device."""
    return ops.empty((0,), dtype=tensor.dtype, device=tensor.device)


def _batched(tensor: Tensor, levels: list[Level]) -> Tensor:
    """A tensor whose first dimensions have the samples, those of the lowest level first."""
    for level in reversed(levels):
        tensor = samples_of(tensor, 0, level)
    return tensor


def _with_leading_sizes(args: tuple, sizes: list[int], place: int) -> tuple:
    """The arguments with a larger `size`, which may have been given as several numbers."""
    size = args[place]
    if isinstance(size, int):
        size, rest = args[place:], ()
    else:
        rest = args[place + 1 :]
    return (*args[:place], (*sizes, *size), *rest)


register_rule(("new_empty", "new_zeros", "new_ones", "new_full"), _new)
register_rule(("new_empty_strided",), _new_strided)


# -------------------- what looks at values --------------------


def _one_hot(function: Callable, args: tuple, kwargs: dict) -> Any:
    """Whether the classes fit cannot be seen here: an index that does not is refused when it is used."""
    input, num_classes, *_ = (*args, *kwargs.values(), -1)
    if not levels_of_tensor(input):
        return NotImplemented
    if num_classes <= 0:
        raise RuntimeError(
            "When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive num_classes argument."
        )
    return input.new_zeros((*input.shape, num_classes)).scatter(-1, input.unsqueeze(-1), 1)


def _any_batched(values: Iterable[Any]) -> bool:
    return any(levels_of_tensor(tensor) for tensor in tensors_in(values))


def _looked_at(function: Callable, args: tuple, kwargs: dict) -> Any:
    """`nonzero_static`, where the number of places differs from sample to sample, and the size of the result does not;
    counts of repetitions, whose sums are equal."""
    return _one_by_one(function, args, kwargs) if _any_batched(args) else NotImplemented


def _ctc_loss(function: Callable, args: tuple, kwargs: dict) -> Any:
    """The kernel takes lengths as numbers: if they are batched, it is called with those of one sample at a time."""
    lengths = args[2:4]
    return _one_by_one(function, args, kwargs) if _any_batched(lengths) else NotImplemented


def _put_by_mask(function: Callable, args: tuple, kwargs: dict) -> Any:
    """Masks of samples are refused before a transform further out looks at what they would write to; not before one
    further in does, or where the same memory would be written for all samples."""
    entry = function.op  # type: ignore[attr-defined]
    indices = [each for each in tensors_in(args[1:2]) if each.dtype is boolean]
    if not _any_batched(indices) or _is_recorded_inside(args[0]) or writes_samples_to_one(entry, args):
        return NotImplemented
    raise errors.boolean_mask()


def _product_of_vectors(conjugates: bool, function: Callable, args: tuple, kwargs: dict) -> Any:
    """What is recorded outside of `vmap` is the product of matrices that torch makes of two batches of vectors: their
    gradients lie in memory as those of matrices."""
    if not all(map(levels_of_tensor, args)) or not any(map(_is_recorded_outside, args)):
        return NotImplemented
    left, right = args
    if left.ndim != 1 or left.shape != right.shape or left.dtype is not right.dtype:
        return NotImplemented  # which is an error
    row = left.conj() if conjugates else left
    return ops.bmm(row.view(1, 1, -1), right.view(1, -1, 1)).view(())


def _is_recorded_outside(tensor: Tensor) -> bool:
    return takes_part(tensor) and is_sample(tensor, owner_of(tensor))


def _swapped(function: Callable, args: tuple, kwargs: dict) -> Any:
    """A sample without dimensions is itself with two of them swapped."""
    tensor, *dims = (*args, *kwargs.values())
    if tensor.ndim or not levels_of_tensor(tensor):
        return NotImplemented
    for dim in dims:
        geometry.wrap_dim(dim, 0)
    return tensor


def _second_one_by_one(function: Callable, args: tuple, kwargs: dict) -> Any:
    """The second argument is looked at: if it is batched, that of one sample at a time."""
    return _one_by_one(function, args, kwargs) if _any_batched(args[1:2]) else NotImplemented


def _taken_apart_when_recorded(function: Callable, args: tuple, kwargs: dict) -> Any:
    """PyTorch takes composite ops apart where it records them, and so before it sees samples of a call further out."""
    if not _any_batched(args) or any(map(_is_recorded_inside, tensors_in(args))):
        return NotImplemented
    return _one_by_one(function, args, kwargs)


def _is_recorded_inside(tensor: Tensor) -> bool:
    return takes_part(tensor) and not is_sample(tensor, owner_of(tensor))


def _where_the_samples_are(function: Callable, args: tuple, kwargs: dict) -> Any:
    """An elementwise op made of others, which are told to run for all samples where these lie."""
    tensor, *options = args
    levels = levels_of_tensor(tensor)
    if not levels:
        return NotImplemented
    place, level = tensor._mt_array.bdim, tensor._mt_array.level
    return samples_of(function(outside(tensor, place, level), *options, **kwargs), place, level)


def _copied_by_memory(function: Callable, args: tuple, kwargs: dict) -> Any:
    """Strides may reach what belongs to other samples, to which the gradient goes then: the view knows of them all."""
    if kwargs["out"] is not None or not _any_batched(args[:1]):
        return NotImplemented
    return ops.as_strided(*args).clone(memory_format=contiguous_format)


def _conjugate(function: Callable, args: tuple, kwargs: dict) -> Any:
    """PyTorch's `conj()` is a view, and so lies in memory as the samples do."""
    is_meant = isinstance(args[0], Tensor) and args[0].is_complex()
    return _where_the_samples_are(function, args, kwargs) if is_meant else NotImplemented


def _fill_by_sample(function: Callable, args: tuple, kwargs: dict) -> Any:
    """Numbers that differ by sample are copied, which is recorded of tensors only that have gradients."""
    input, value = (*args, *kwargs.values())
    levels = levels_of_tensor(value)
    if not levels or not all(is_batched_at(input, level) for level in levels):
        return NotImplemented
    return NotImplemented if any(map(_is_recorded_inside, (input, value))) else ops.copy_(input, value)


def _after_autograd(rule: Callable) -> Callable:
    """The rule of ops in place that does not come before what the autograd of a transform further in refuses."""

    def checked(function: Callable, args: tuple, kwargs: dict) -> Any:
        target = next(tensors_in(args), None)
        if function.op.is_inplace and _thread.grad_enabled and target is not None:  # type: ignore[attr-defined]
            if _is_recorded_further_in(target):
                check_inplace(target)
        return rule(function, args, kwargs)

    return checked


def _is_recorded_further_in(tensor: Tensor) -> bool:
    """Whether it is recorded by a transform inside of the innermost running call of `vmap`."""
    own = owner_of(tensor)
    return own is not None and not own.is_left and takes_part(tensor) and own.depth > _innermost_depth()


def _innermost_depth() -> int:
    """The depth of the innermost running call of `vmap`; 0: none runs, but there are samples of one that is over."""
    return max([level.depth for level in _thread.vmap_levels], default=0)


def _one_by_one(function: Callable, args: tuple, kwargs: dict) -> Any:
    return one_by_one(function.op.name, function, *args, **kwargs)  # type: ignore[attr-defined]


def _refusal(error: Callable[[str], Exception], part: str = "") -> Callable:
    """`part`: the op that is refused where another transform, further in, has taken this one apart."""

    @_after_autograd
    def rule(function: Callable, args: tuple, kwargs: dict) -> Any:
        name = function.op.name if _is_innermost() else part  # type: ignore[attr-defined]
        if name and _any_batched((*args, *kwargs.values())):
            raise error(name)
        return NotImplemented

    return rule


def _is_innermost() -> bool:
    """Whether `vmap` is the innermost transform that runs: the others take composite ops apart before it sees them."""
    own = _thread.own_tensors
    return own is None or own.depth < _innermost_depth()


# Ops whose results have places or sizes that a tensor tells, and random slopes: torch refuses them whichever of their
# tensors are batched.
REFUSED = {
    "where": (errors.dynamic_shape,),
    "narrow.Tensor": (errors.no_view,),
    "tensor_split.tensor_indices_or_sections": (errors.no_fallback,),
    "rrelu": (errors.not_yet, "rrelu_with_noise"),
    "rrelu_": (errors.not_yet, "rrelu_with_noise_"),
}

# Ops made of others that PyTorch runs for one sample after the other: the results are stacked, so they are rows.
STACKED = (
    "argwhere",
    "fake_quantize_per_channel_affine",
    "fake_quantize_per_tensor_affine",
    "fake_quantize_per_tensor_affine.tensor_qparams",
    "fft_ihfft2",
    "fft_ihfftn",
    "linalg_tensorsolve",
    "nanquantile",
    "nanquantile.scalar",
    "norm_except_dim",
    "quantile",
    "quantile.scalar",
    "rrelu_with_noise_backward",
    "stft",
    "stft.center",
    "take",
    "triplet_margin_loss",
)

# Those that it takes apart before, if their gradients are wanted inside `vmap`.
STACKED_OUTSIDE = ("gru_cell", "kl_div", "margin_ranking_loss", "rnn_relu_cell", "rnn_tanh_cell")

register_rule(("one_hot",), _one_hot)
register_rule(("index_put_",), _put_by_mask)
register_rule(("t", "transpose.int"), _swapped)
register_rule(("dot",), partial(_product_of_vectors, False))
register_rule(("vdot",), partial(_product_of_vectors, True))
register_rule(("nonzero_static", "repeat_interleave.Tensor"), _looked_at)
register_rule(STACKED, _looked_at)
register_rule(STACKED_OUTSIDE, _taken_apart_when_recorded)
register_rule(("conj_physical",), _conjugate)
register_rule(("mvlgamma",), _where_the_samples_are)
register_rule(("as_strided_copy",), _copied_by_memory)
register_rule(("ctc_loss.Tensor",), _ctc_loss)
register_rule(("repeat_interleave.self_Tensor",), _second_one_by_one)
register_rule(("fill_.Tensor",), _fill_by_sample)
for _op, _error_and_part in REFUSED.items():
    register_rule((_op,), _refusal(*_error_and_part))  # type: ignore[arg-type]


# -------------------- copies that are written to --------------------


def _index_copy(function: Callable, args: tuple, kwargs: dict) -> Any:
    """A copy to places that may differ from sample to sample; `scatter` refuses those that are not there."""
    if not _any_batched(args) or kwargs["out"] is not None:  # of which there is a form of its own
        return NotImplemented
    target, dim, index, source = _as_scatter(*args)
    return target.scatter(dim, index, source).view(args[0].shape)


def _index_copy_(function: Callable, args: tuple, kwargs: dict) -> Any:
    if not _any_batched(args):
        return NotImplemented
    _refused(function, args, kwargs)
    target, dim, index, source = _as_scatter(*args)
    target.scatter_(dim, index, source)
    return args[0]


def _as_scatter(input: Tensor, dim: int, index: Tensor, source: Tensor) -> tuple[Tensor, int, Tensor, Tensor]:
    """The arguments of `scatter` that say what those of `index_copy` do."""
    wrapped = geometry.wrap_dim(dim, input.ndim)
    target = input if input.ndim else input.view((1,))
    shape, ones = list(target.shape), [1] * target.ndim
    shape[wrapped] = ones[wrapped] = index.numel()
    places = index.reshape(tuple(ones)).expand(tuple(shape))
    return target, wrapped, places, source if source.ndim else source.reshape((1,))


def _index_fill(function: Callable, args: tuple, kwargs: dict) -> Any:
    """To places, or of values, that differ from sample to sample: `scatter` has a gradient then, too."""
    if not _any_batched((*args[1:], *kwargs.values())):
        return NotImplemented
    input, dim, index, value = (*args, *kwargs.values())
    target, wrapped, places, _ = _as_scatter(input, dim, index, input)
    source = value.expand(places.shape) if isinstance(value, Tensor) else value
    return target.scatter(wrapped, places, source).view(input.shape)


def _refused(function: Callable, args: tuple, kwargs: dict) -> Any:
    """An op in place that PyTorch does not take apart in `vmap`: its name is in the error, which comes first."""
    entry = function.op  # type: ignore[attr-defined]
    level = innermost_level(args)
    if level is not None and writes_samples_to_one(entry, args):
        raise errors.inplace_on_unbatched(entry.name, level.depth)
    return NotImplemented


TAKEN_WHOLE = (
    "addr_ float_power_.Tensor greater_.Tensor greater_equal_.Tensor index_fill_.int_Scalar index_fill_.int_Tensor "
    "less_.Tensor less_equal_.Tensor not_equal_.Tensor subtract_.Tensor"
).split()

register_rule(TAKEN_WHOLE, _refused)
register_rule(("index_fill.int_Scalar", "index_fill.int_Tensor"), _index_fill)
register_rule(("index_copy",), _index_copy)
register_rule(("index_copy_",), _index_copy_)


# -------------------- random numbers --------------------


def _level_of_randomness() -> Level | None:
    """The level that says how to draw numbers; an error if it forbids to."""
    if not _thread.vmap_levels:
        return None
    level: Level = _thread.vmap_levels[-1]
    if level.randomness == "error":
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
            "randomness flags on vmap or perform the randomness operation out of vmap"
        )
    return level


@contextmanager
def _outside(level: Level) -> Iterator[None]:
    """In this block the innermost call of `vmap` is not running."""
    levels = _thread.vmap_levels
    _thread.vmap_levels = levels[:-1]
    try:
        yield
    finally:
        _thread.vmap_levels = levels


def _sized(place: int) -> Callable:
    """Random tensors of a given size: with all samples at once."""

    def rule(function: Callable, args: tuple, kwargs: dict) -> Any:
        level = _level_of_randomness()
        if level is None or level.randomness == "same":
            return NotImplemented
        with _outside(level):
            result = function(*_with_leading_sizes(args, [level.size], place), **kwargs)
        return samples_of(result, 0, level)

    return rule


def _permutation(function: Callable, args: tuple, kwargs: dict) -> Any:
    level = _level_of_randomness()
    if level is None or level.randomness == "same":
        return NotImplemented
    with _outside(level):
        result = ops.stack([function(*args, **kwargs) for _ in range(level.size)])
    return samples_of(result, 0, level)


def _like(function: Callable, args: tuple, kwargs: dict) -> Any:
    """Random tensors as large as the first argument: with the same numbers for all samples, as large as one sample."""
    level = _level_of_randomness()
    if level is None or (level.randomness == "different") == is_batched_at(args[0], level):
        return NotImplemented
    if level.randomness == "different":
        like = spread(args[0], level)
    elif level.size:
        like = _samples(args[0], level, args[0].ndim)[0]
    else:
        return NotImplemented
    return function(like, *args[1:], **kwargs)


def _noise(function: Callable, args: tuple, kwargs: dict) -> Any:
    """Random changes of the first argument, which gets all samples if each is to have its own."""
    if any(isinstance(value, (bool, float)) and not value for value in args[1:]):  # not in training: nothing is random
        return NotImplemented
    level = _level_of_randomness()
    if level is None or level.randomness == "same" or is_batched_at(args[0], level):
        return NotImplemented
    return function(spread(args[0], level), *args[1:], **kwargs)


def _distribution(function: Callable, args: tuple, kwargs: dict) -> Any:
    """Random tensors with parameters for each element: drawn for all samples outside of the level."""
    level = _level_of_randomness()
    if level is None:
        return NotImplemented
    tensors = list(tensors_in(args))
    if level.randomness == "same":
        if any(is_batched_at(tensor, level) for tensor in tensors):
            raise RuntimeError(
                "Vmap does not currently support same randomness with a batched tensor input. Please file an issue "
                "with functorch"
            )
        return NotImplemented
    ndim = max(tensor.ndim for tensor in tensors)
    given = [_samples(value, level, ndim) if isinstance(value, Tensor) else value for value in args]
    with _outside(level):
        result = function(*given, **kwargs)
    return samples_of(result, 0, level)


def _samples(tensor: Tensor, level: Level, ndim: int) -> Tensor:
    """All samples of a tensor along the first dimension, each with as many dimensions as asked for."""
    samples = outside(spread(tensor, level), 0, level)
    return samples.reshape((level.size, *(1,) * (ndim - tensor.ndim), *tensor.shape))


def _choice(function: Callable, args: tuple, kwargs: dict) -> Any:
    """`multinomial`, for which samples are more rows."""
    weights, *rest = args

    def choose(samples: Tensor, *options: Any, **more: Any) -> Tensor:
        chosen = function(samples.reshape((-1, samples.shape[-1])), *options, **more)
        return chosen.reshape((*samples.shape[:-1], chosen.shape[-1]))

    if weights.ndim > 2:
        return NotImplemented
    return _distribution(choose, (weights, *rest), kwargs)


@_after_autograd
def _fill(function: Callable, args: tuple, kwargs: dict) -> Any:
    """Random numbers written into a tensor."""
    level = _level_of_randomness()
    if level is not None and level.randomness == "different" and not is_batched_at(args[0], level):
        raise RuntimeError(
            "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same "
            "randomness. If this is necessary for your usage, please file an issue with functorch."
        )
    return NotImplemented


register_rule(("rand", "rand.generator", "randn", "randn.generator"), _sized(0))
register_rule(("randint", "randint.generator"), _sized(1))
register_rule(("randint.low", "randint.low_generator", "normal.float_float"), _sized(2))
register_rule(("randperm", "randperm.generator"), _permutation)
register_rule(("rand_like", "randn_like", "randint_like", "randint_like.low_dtype"), _like)
register_rule(("bernoulli", "normal.Tensor_Tensor", "normal.Tensor_float", "normal.float_Tensor"), _distribution)
register_rule(("dropout", "native_dropout", "bernoulli.p"), _noise)
register_rule(("multinomial",), _choice)
register_rule(
    ("uniform_", "normal_", "bernoulli_.float", "bernoulli_.Tensor", "exponential_")
    + ("random_", "random_.to", "random_.from"),
    _fill,
)
