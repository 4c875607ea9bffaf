"""`vmap`: a function of one sample becomes a function of a batch, without a loop.

The function runs once. Inside, each tensor that is mapped over looks like one sample, and its array holds all of them:
see mindtorch/_core/batched_array.py. docs/vmap.md tells the whole story.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ParamSpec, TypeVar

# The rules for batched arrays, and for ops that know of vmap, are registered when they are imported.
import mindtorch.backends.batched
import mindtorch.composite.common.batching  # noqa: F401
from mindtorch._core import state
from mindtorch._core.batched_array import Level
from mindtorch._core.generator import get_rng_state, set_rng_state
from mindtorch._core.geometry import wrap_dim
from mindtorch._core.tensor import Tensor
from mindtorch._functorch.levels import running_transform
from mindtorch._support.pytree import TreeSpec, _broadcast_to_and_flatten, tree_flatten, tree_unflatten
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.batching import is_batched_at
from mindtorch.dispatch.modes.level_views import inside, left

P = ParamSpec("P")
Result = TypeVar("Result")

_thread = state.thread

_RANDOMNESS = ("error", "different", "same")


def vmap(
    func: Callable[P, Result],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[P, Result]:
    """A function that applies `func` to every sample of its arguments and stacks the results.

    `in_dims` says which dimension of each argument counts the samples, None for an argument that is the same for all:
    an int, or a tuple with one entry per argument, nested as the arguments are. `out_dims` says where the samples are
    in the results. `randomness`: whether random ops raise ("error"), draw other numbers for each sample ("different"),
    or the same for all ("same"). `chunk_size` is how many samples run at a time: all, if it is None.
    """
    if randomness not in _RANDOMNESS:
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        flat_dims, flat_args, spec = _mapped_arguments(func, in_dims, args)
        size = _batch_size(flat_dims, flat_args)

        def run(values: Sequence[Any], count: int) -> tuple[list, TreeSpec, list]:
            return _run(func, flat_dims, values, spec, out_dims, running_level(count, randomness), kwargs)

        if chunk_size is None:
            results, out_spec, _ = run(flat_args, size)
        else:
            results, out_spec = _run_in_chunks(run, flat_dims, flat_args, size, chunk_size, randomness)
        return tree_unflatten(results, out_spec)

    return wrapped


def for_all_gradients(run: Callable[..., list[Tensor]], batches: Sequence[Tensor]) -> list[Tensor]:
    """What a pass gives for each gradient of a batch, stacked; one pass gets all of them."""
    dims, values, spec = _mapped_arguments(run, 0, tuple(batches))
    level = running_level(_batch_size(dims, values), "error", has_gradients=True)
    return _run(run, dims, values, spec, 0, level, {})[0]


# -------------------- arguments --------------------


def _mapped_arguments(func: Callable, in_dims: Any, args: tuple) -> tuple[list, list, TreeSpec]:
    """One dimension, or None, for each leaf of the arguments; the leaves; their structure."""
    call = f"vmap({_name_of(func)}, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{call}: expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, "
            f"got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({_name_of(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to "
            "vmap over a function with no inputs. The latter is unsupported."
        )
    values, spec = tree_flatten(args)
    dims = _broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"{call}: in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{tree_flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    return [_checked_in_dim(call, value, dim) for value, dim in zip(values, dims, strict=True)], values, spec


def _checked_in_dim(call: str, value: Any, dim: Any) -> int | None:
    """The dimension counted from the front."""
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(
            f"{call}: Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
        )
    if not isinstance(value, Tensor):
        raise ValueError(
            f"{call}: Got in_dim={dim} for an input but the input is of type {type(value)}. We cannot vmap over "
            "non-Tensor arguments, please use None as the respective in_dim"
        )
    if not -value.ndim <= dim < value.ndim:
        raise ValueError(
            f"{call}: Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {value.ndim} so "
            f"expected in_dim to satisfy -{value.ndim} <= in_dim < {value.ndim}."
        )
    return dim % value.ndim


def _batch_size(dims: Sequence[int | None], values: Sequence[Any]) -> int:
    sizes = [value.shape[dim] for value, dim in zip(values, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0]


def _name_of(func: Callable) -> str:
    if isinstance(func, functools.partial):
        return f"functools.partial({_name_of(func.func)}, ...)"
    return getattr(func, "__name__", None) or repr(func)


# -------------------- running --------------------


@contextmanager
def running_level(size: int, randomness: str, has_gradients: bool = False) -> Iterator[Level]:
    """A level that is running in this block."""
    outer = _thread.vmap_levels
    with running_transform() as depth:
        level = Level(depth, size, randomness, has_gradients)
        _thread.vmap_levels = (*outer, level)
        try:
            yield level
        finally:
            _thread.vmap_levels = outer


def _run(
    func: Callable,
    dims: Sequence[int | None],
    values: Sequence[Any],
    spec: TreeSpec,
    out_dims: Any,
    running: AbstractContextManager[Level],
    kwargs: dict,
) -> tuple[list, TreeSpec, list]:
    """Run the function on all samples at once: the leaves of the result, their structure, where their samples are."""
    with running as level:
        samples = [value if dim is None else inside(value, dim, level) for value, dim in zip(values, dims, strict=True)]
        arrays = [each._mt_array if isinstance(each, Tensor) else None for each in samples]
        output = func(*tree_unflatten(samples, spec), **kwargs)
        results, out_spec = tree_flatten(output)
        flat_dims = _result_dims(func, out_dims, out_spec)
        given = {
            _identity(sample, level): (value, dim)
            for sample, value, dim, array in zip(samples, values, dims, arrays)
            if dim is not None and sample._mt_array is array  # else it has become another view: `sample.t_()`
        }
        return (
            [
                _left(func, level, result, dim, *given.get(_identity(result, level), (None, None)))
                for result, dim in zip(results, flat_dims, strict=True)
            ],
            out_spec,
            flat_dims,
        )


def _run_in_chunks(
    run: Callable, dims: Sequence[int | None], values: Sequence[Any], size: int, chunk_size: int, randomness: str
) -> tuple[list, TreeSpec]:
    """Run some samples at a time and join the results. With the same randomness every chunk draws the same numbers."""
    parts = []
    generator_state = get_rng_state() if randomness == "same" else None
    if not size:
        raise AssertionError("arg_spec must not be None")
    for start in range(0, size, chunk_size):
        if generator_state is not None:
            set_rng_state(generator_state)
        count = min(chunk_size, size - start)
        chunk = [
            value if dim is None else value.narrow(dim, start, count) for value, dim in zip(values, dims, strict=True)
        ]
        parts.append(run(chunk, count))
    columns = zip(*[results for results, _, _ in parts], strict=True)
    _, spec, out_dims = parts[0]
    joined = [
        column[0] if dim is None else ops.cat(list(column), dim) for column, dim in zip(columns, out_dims, strict=True)
    ]
    return joined, spec


# -------------------- results --------------------


def _result_dims(func: Callable, out_dims: Any, spec: TreeSpec) -> list:
    """Where the samples of each result are to be."""
    call = f"vmap({_name_of(func)}, ..., out_dims={out_dims})"
    dims = _broadcast_to_and_flatten(out_dims, spec)
    if spec.is_leaf() and isinstance(out_dims, tuple) and len(out_dims) == 1:  # (0,) for one tensor
        dims = [out_dims[0]]
    if dims is None:
        raise ValueError(
            f"{call}(<inputs>): out_dims is not compatible with the structure of `outputs`. out_dims has structure "
            f"{tree_flatten(out_dims)[1]} but outputs has structure {spec}."
        )
    for dim in dims:
        if not (dim is None or isinstance(dim, int)):
            raise ValueError(
                f"{call}: `out_dims` must be an int, None or a python collection of ints representing where in the "
                "outputs the vmapped dimension should appear."
            )
    return dims


def _identity(value: Any, level: Level) -> int:
    """By what an argument is known among the results. A gradient that a pass has handed on may have been another tensor
    on its way through levels that are over, but always on the same array."""
    return id(value._mt_array) if level.has_gradients else id(value)


def _left(func: Callable, level: Level, result: Any, dim: int | None, given: Any, given_dim: int | None) -> Any:
    """A result outside of the level, with all its samples: the argument itself, if the result is what it was inside."""
    if dim is None:
        if isinstance(result, Tensor) and is_batched_at(result, level):
            raise ValueError(
                f"vmap({_name_of(func)}, ...): `{_name_of(func)}` can not return a BatchedTensor when out_dim is None"
            )
        return result
    if not isinstance(result, Tensor):
        raise ValueError(
            f"vmap({_name_of(func)}, ...): `{_name_of(func)}` must only return Tensors, got type {type(result)}. Did "
            "you mean to set out_dims= to None for output?"
        )
    place = wrap_dim(dim, result.ndim + 1)
    if place == given_dim:
        return given
    if is_batched_at(result, level):
        return left(result, place, level)
    spread = result.expand((level.size, *result.shape))
    return spread.movedim(0, place) if place else spread
