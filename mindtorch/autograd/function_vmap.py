"""Functions inside `vmap`: run as they are (`generate_vmap_rule`), or by their own `vmap` staticmethod.

Autograd stays what it is: the node of the Function keeps batched tensors, and its `backward` runs on them.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from mindtorch._core import state
from mindtorch._core.batched_array import Level
from mindtorch._core.geometry import wrap_dim
from mindtorch._core.tensor import Tensor
from mindtorch._support.pytree import _broadcast_to_and_flatten, tree_flatten, tree_leaves, tree_map
from mindtorch.dispatch.modes.batching import is_batched_at, levels_of_tensor
from mindtorch.dispatch.modes.level_views import outside, samples_of

_thread = state.thread
_SEE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(NamedTuple):
    """What the `vmap` staticmethod of a Function is told about the call."""

    batch_size: int
    randomness: str


def check_has_rule(function: Any, has_own: bool) -> None:
    """Refuse a Function that does not say how it runs inside `vmap`, or says it twice."""
    if function.generate_vmap_rule and has_own:
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it has both generate_vmap_rule=True and an overridden "
            "vmap staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to "
            f"avoid ambiguity. {_SEE}"
        )
    if not (function.generate_vmap_rule or has_own):
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it does not have vmap support. Please override and "
            f"implement the vmap staticmethod or set generate_vmap_rule=True. {_SEE}"
        )


def forward_of_samples(function: Any, args: tuple) -> Any:
    """What `forward` gives, computed by the `vmap` staticmethod if an argument is batched."""
    if not _levels_among(args):
        return function.forward(*args)
    return by_rule(function.vmap, *args)


def by_rule(rule: Callable, /, *args: Any, **kwargs: Any) -> Any:
    """What `rule(info, in_dims, *args, **kwargs)` gives for all samples of the innermost level, as samples."""
    level = max(_levels_among(args), key=lambda each: each.number)
    return _run(partial(_called_outside, level, rule, **kwargs), args, level)


def _called_outside(level: Level, rule: Callable, /, *args: Any, **kwargs: Any) -> Any:
    """What a rule returns: while it runs, the call of `vmap` whose samples it sees as a dimension does not."""
    running, _thread.vmap_levels = _thread.vmap_levels, tuple(
        [each for each in _thread.vmap_levels if each is not level]
    )
    try:
        return rule(*args, **kwargs)
    finally:
        _thread.vmap_levels = running


def _levels_among(args: tuple) -> list[Level]:
    return [level for value in tree_leaves(args) if isinstance(value, Tensor) for level in levels_of_tensor(value)]


def _run(rule: Callable, args: tuple, level: Level) -> Any:
    dims = tree_map(lambda value: _dim_of(value, level), args)
    whole = tree_map(lambda value: value if _dim_of(value, level) is None else _all_samples(value, level), args)
    returned = rule(VmapInfo(level.size, level.randomness), dims, *whole)
    if not (isinstance(returned, tuple) and len(returned) == 2):
        given = f"{len(returned)} returns" if isinstance(returned, tuple) else f"a {type(returned)}"
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure "
            f"compatible with the output. Got {given} instead"
        )
    output, out_dims = returned
    results, spec = tree_flatten(output)
    flat_dims = _broadcast_to_and_flatten(out_dims, spec)
    if flat_dims is None:
        raise RuntimeError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected "
            f"out_dims={out_dims} to be compatible with the structure of `output`. out_dims has structure "
            f"{tree_flatten(out_dims)[1]} but output has structure {spec}. {_SEE}"
        )
    sample_of = {id(new): old for new, old in zip(tree_leaves(whole), tree_leaves(args), strict=True)}
    samples = [sample_of.get(id(each)) for each in results]  # an argument that is returned is the sample it was
    return spec.unflatten(
        [
            _as_sample(value, dim, level) if sample is None else sample
            for value, dim, sample in zip(results, flat_dims, samples, strict=True)
        ]
    )


def _dim_of(value: Any, level: Level) -> int | None:
    """Which dimension of the array counts the samples."""
    if not isinstance(value, Tensor) or not is_batched_at(value, level):
        return None
    dim: int = value._mt_array.bdim
    return dim


def _all_samples(tensor: Tensor, level: Level) -> Tensor:
    return outside(tensor, tensor._mt_array.bdim, level)


def _as_sample(value: Any, dim: int | None, level: Level) -> Any:
    if dim is None or not isinstance(value, Tensor):
        return value
    return samples_of(value, wrap_dim(dim, value.ndim), level)
