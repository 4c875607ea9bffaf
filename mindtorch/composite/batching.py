"""Ops that need to know of `vmap` before they are taken apart: new tensors, and random numbers.

What random ops do inside `vmap` is told by the innermost call that is running: with randomness="error" they raise, with
"same" all samples get the same numbers, with "different" one draw makes the numbers of all.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch import geometry, state
from mindtorch.backends.batched.errors import dynamic_shape
from mindtorch.batched_array import Level
from mindtorch.dispatch import ops
from mindtorch.dispatch.batching import is_batched_at, levels_of_tensor, register_rule, tensors_in
from mindtorch.tensor import Tensor

_thread = state.thread


def spread(tensor: Tensor, level: Level) -> Tensor:
    """A tensor with all samples of a level, which are the same if it was not batched there."""
    return tensor if is_batched_at(tensor, level) else ops._spread_over_level(tensor, level.number)


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
        tensor = ops._add_batch_dim(tensor, 0, level.number)
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


def _find_true(function: Callable, args: tuple, kwargs: dict) -> Any:
    """`where(condition)`, whose result has another size for each sample."""
    if levels_of_tensor(args[0]):
        raise dynamic_shape("where")
    return NotImplemented


register_rule(("one_hot",), _one_hot)
register_rule(("where",), _find_true)


# -------------------- copies that are written to --------------------


def _first_with_all_samples(function: Callable, args: tuple, kwargs: dict) -> Any:
    """Ops that write to a copy of their first argument: it gets the samples of what is written."""
    first, *others = args
    levels = [level for tensor in tensors_in((*others, *kwargs.values())) for level in levels_of_tensor(tensor)]
    missing = [level for level in levels if not is_batched_at(first, level)]
    if not missing:
        return NotImplemented
    for level in dict.fromkeys(missing):
        first = spread(first, level)
    return function(first, *others, **kwargs)


register_rule(("index_fill.int_Scalar", "index_fill.int_Tensor", "index_copy"), _first_with_all_samples)


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
        return ops._add_batch_dim(result, 0, level.number)

    return rule


def _permutation(function: Callable, args: tuple, kwargs: dict) -> Any:
    level = _level_of_randomness()
    if level is None or level.randomness == "same":
        return NotImplemented
    with _outside(level):
        result = ops.stack([function(*args, **kwargs) for _ in range(level.size)])
    return ops._add_batch_dim(result, 0, level.number)


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
    if False in args[1:]:  # not in training: nothing is random
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
    return ops._add_batch_dim(result, 0, level.number)


def _samples(tensor: Tensor, level: Level, ndim: int) -> Tensor:
    """All samples of a tensor along the first dimension, each with as many dimensions as asked for."""
    samples = ops._remove_batch_dim(spread(tensor, level), level.number, level.size, 0)
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
