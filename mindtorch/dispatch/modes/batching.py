"""What a call of an op needs when some of its tensors are batched by `vmap` and others are not.

A generated function finds its kernel by the class of its first array. If that one is not batched and another one is,
it gets a stand-in on a lifted array: the same tensor to autograd, and found by the kernels of batched arrays.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Any

from mindtorch._core import state
from mindtorch._core.autograd_meta import takes_part
from mindtorch._core.batched_array import BatchedArray, Level, levels_of
from mindtorch._core.dtype import FROM_NUMPY
from mindtorch._core.promotion import common_dtype
from mindtorch._core.tensor import Tensor, in_place_of, wrap
from mindtorch._support.op_names import qualified
from mindtorch.dispatch.arguments.conversions import fits_by_position
from mindtorch.dispatch.call_form import declaration_of
from mindtorch.dispatch.modes.level_views import outside, samples_of, take_from_all
from mindtorch.dispatch.namespace import ops
from mindtorch.dispatch.registry import OpEntry, kernel_table

_thread = state.thread


Rule = Callable[[Callable, tuple, dict], Any]

_ESCAPED = (
    "Either your tensor may have escaped from inside a function being vmapped and this is a user error (see "
    "https://pytorch.org/functorch/stable/ux_limitations.html), or there is an internal functorch error in "
    "`gen_vmap_plumbing` Please file an issue if it looks like the latter"
)

_rules: dict[str, Rule] = {}
_BY_MEMORY = frozenset(("as_strided",))  # views that are told where the elements are, and not which ones


def register_rule(ops: Iterable[str], rule: Rule) -> None:
    """Have `rule(function, args, kwargs)` make the calls of ops, where what they are written in would not do.

    It returns NotImplemented for a call that it does not care about.
    """
    _rules.update(dict.fromkeys(ops, rule))


def call_batched(run: Callable, function: Callable, args: tuple, kwargs: dict) -> Any:
    """Run an op while there are batched tensors, some of which may be among the arguments."""
    entry = function.op  # type: ignore[attr-defined]
    # Passes and views that are taken again may have samples of levels that are over, as what classes hold may.
    if not (_thread.passes or _thread.taking_views_again or _thread.below_autograd):
        _check_inside((*args, *kwargs.values()))
    rule = _rules.get(entry.name)
    if rule is not None and _has_its_tensors(entry.schema_text, args):  # else the op has its own error
        result = rule(function, args, kwargs)
        if result is not NotImplemented:
            return result
    if _takes_out(entry) and any(map(is_batched, tensors_in((*args, *kwargs.values())))):
        if any(fits_by_position(each, args) for each in entry.overloads):  # else the op has its own error
            raise no_out_form(entry)
    if _changes_more_than_self(entry) and entry.changed_inputs(args):
        if any(map(is_batched, tensors_in((*args, *kwargs.values())))):
            raise no_batching_rule(entry.name)
    if entry.is_inplace and not entry.composite and writes_samples_to_one(entry, args):
        run = partial(_unrecorded, run)  # which comes before what autograd refuses
    if not entry.composite:
        if _converts_pairs(entry):
            args = _with_pair_converted(args)
        args = _with_lifted_first(entry, args, kwargs)
    result = run(function, args, kwargs)
    if entry.name in _BY_MEMORY:
        own = _thread.own_tensors and _thread.own_tensors.owner_of(args[0])
        take_from_all(result, args[0], own.depth if own else 0)
    return result


def _has_its_tensors(schema_text: str, args: tuple) -> bool:
    """Whether there are tensors where the op takes nothing else."""
    return all([isinstance(args[place], Tensor) for place in _places_of_tensors(schema_text) if place < len(args)])


@cache
def _places_of_tensors(schema_text: str) -> tuple[int, ...]:
    arguments = enumerate(declaration_of(schema_text).arguments)
    return tuple([place for place, each in arguments if str(each.type) == "Tensor" and not each.keyword_only])


def _check_inside(values: Iterable[Any]) -> None:
    """Refuse samples of a `vmap` that is over: which of them is meant nothing says any more."""
    running = _thread.vmap_levels
    for tensor in tensors_in(values):
        array = tensor._mt_array
        if type(array) is BatchedArray and any(level not in running for level in levels_of(array.shape)):
            raise RuntimeError(_ESCAPED)


def one_by_one(op: str, function: Callable, *args: Any, **kwargs: Any) -> Any:
    """What the function of an op that knows of no batches gives for each sample, stacked."""
    tensors = list(tensors_in((*args, *kwargs.values())))
    level = max((level for tensor in tensors for level in levels_of_tensor(tensor)), key=lambda level: level.number)
    check_not_empty(op, level.size)

    def sample(value: Any, number: int) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)([sample(each, number) for each in value])
        if not isinstance(value, Tensor):
            return value
        if not is_batched_at(value, level):
            return wrap(value._mt_array.inner) if is_lifted(value) else value
        return outside(value, 0, level)[number]

    def stacked(results: list) -> Any:
        return samples_of(ops.stack(results), 0, level)

    calls = [
        function(*sample(args, number), **{name: sample(value, number) for name, value in kwargs.items()})
        for number in range(level.size)
    ]
    if isinstance(calls[0], (list, tuple)):
        return tuple([stacked(list(column)) for column in zip(*calls, strict=True)])
    return stacked(calls)


def writes_samples_to_one(entry: OpEntry, args: tuple) -> bool:
    """Whether a call would write samples of the innermost transform to what is the same for all, and torch has a rule
    for the op that sees it."""
    level = innermost_level(args)
    return level is not None and level is not innermost_level(args[:1]) and not _is_boxed(entry)


def innermost_level(values: tuple) -> Level | None:
    """The level of the innermost `vmap` in the running transform at which one of the values is batched."""
    if not _thread.vmap_levels:
        return None
    own = _thread.own_tensors
    depth = 0 if own is None else own.depth
    shapes = [tensor._mt_array.shape for tensor in tensors_in(values)]
    levels = [level for shape in shapes for level in levels_of(shape) if level.depth > depth]
    return max(levels, key=lambda level: level.depth, default=None)


@cache
def _is_boxed(entry: OpEntry) -> bool:
    """Whether the rule of an op in place does not look at what it writes."""
    base, dot, overload = entry.name.partition(".")
    return hasattr(kernel_table(f"{base.removesuffix('_')}{dot}{overload}")[BatchedArray], "is_boxed")


@cache
def _converts_pairs(entry: OpEntry) -> bool:
    """Whether the rule of an op brings a sample without dimensions and another tensor to one dtype first."""
    if entry.is_inplace or entry.composite or _takes_out(entry):
        return False
    return getattr(kernel_table(entry.name).get(BatchedArray), "converts_pairs", False)


def _with_pair_converted(args: tuple) -> tuple:
    """The arguments, the first two in one dtype, if PyTorch converts them outside of what records the op: it saves
    what they have become, which does not change when they are written."""
    pair = args[:2]
    if not all([isinstance(each, Tensor) for each in pair]) or pair[0].dtype is pair[1].dtype:
        return args
    if [_is_number_of_samples(each) for each in pair].count(True) != 1 or innermost_level(pair) is None:
        return args
    if not (_thread.grad_enabled and any(map(takes_part, pair))):
        return args
    dtype = FROM_NUMPY[common_dtype(*[each._mt_array for each in pair])]
    return (*[each if each.dtype is dtype else ops._to_copy(each, dtype=dtype) for each in pair], *args[2:])


def _is_number_of_samples(tensor: Tensor) -> bool:
    return not tensor.ndim and bool(levels_of_tensor(tensor))


def _unrecorded(run: Callable, function: Callable, args: tuple, kwargs: dict) -> Any:
    grad_enabled = _thread.grad_enabled
    state.set_grad_enabled(False)
    try:
        return run(function, args, kwargs)
    finally:
        state.set_grad_enabled(grad_enabled)


def check_not_empty(op: str, size: int) -> None:
    """Without a sample the output shape is unknown."""
    if not size:
        raise RuntimeError(
            f"Batching rule not implemented for {qualified(op)}. The fallback path does not support vmap over dims of "
            "size 0."
        )


def no_batching_rule(op: str) -> RuntimeError:
    """torch's error for an op that is not run for one sample after the other: all would write the same memory."""
    return RuntimeError(f"Batching rule not implemented for {qualified(op)}. We could not generate a fallback.")


def no_out_form(entry: OpEntry) -> RuntimeError:
    """torch's error for an op that would write samples to `out`."""
    if any(each.is_list and each.element == "Tensor" for each in entry.schema.arguments):
        return no_batching_rule(entry.name)
    return RuntimeError(
        f"Batching rule not implemented for {qualified(entry.name)}; the fallback path doesn't work on out= or view "
        "ops."
    )


def is_batched(value: Any) -> bool:
    """Whether a value is a tensor that is batched, or was lifted."""
    return isinstance(value, Tensor) and type(value._mt_array) is BatchedArray


def is_lifted(tensor: Tensor) -> bool:
    return is_batched(tensor) and tensor._mt_array.bdim is None


def without_levels(tensor: Tensor) -> Tensor:
    """All samples of a tensor, to look at their values; the tensor itself if it is not batched."""
    array = tensor._mt_array
    while type(array) is BatchedArray:
        array = array.inner
    return tensor if array is tensor._mt_array else wrap(array)


def tensors_in(values: Iterable[Any]) -> Iterator[Tensor]:
    """The tensors among values and in lists among them."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from tensors_in(value)


def levels_of_tensor(tensor: Tensor) -> list[Level]:
    """The levels at which a tensor is batched, the innermost call of `vmap` first."""
    return levels_of_array(tensor._mt_array)


def levels_of_array(array: Any) -> list[Level]:
    levels = []
    while type(array) is BatchedArray:
        if array.bdim is not None:
            levels.append(array.level)
        array = array.inner
    return levels


def is_batched_at(tensor: Tensor, level: Level) -> bool:
    return level in levels_of_array(tensor._mt_array)


def _with_lifted_first(entry: OpEntry, args: tuple, kwargs: dict) -> tuple:
    """The positional arguments; the tensor that chooses the kernel, the first required one, lifted if it has to be."""
    place = _first_required(entry)
    if place < len(args) and is_batched(args[place]):
        return args
    first = next(tensors_in(args[place:]), None)
    batched = [tensor for tensor in tensors_in((*args, *kwargs.values())) if is_batched(tensor)]
    if first is None or not batched or is_batched(first):
        return args
    level = max((tensor._mt_array.level for tensor in batched), key=lambda level: level.number)
    return args[:place] + _with_first_replaced(args[place:], lifted(first, level))[0]


@cache
def _takes_out(entry: OpEntry) -> bool:
    """Whether an op is the `out=` form of another one."""
    return not entry.boxed and any(each.written and each.keyword_only for each in entry.schema.arguments)


@cache
def _changes_more_than_self(entry: OpEntry) -> bool:
    """Whether a call may have changed inputs: most ops are known not to have any."""
    return not entry.composite and bool(entry.changed_inputs(entry.schema.arguments))


@cache
def _first_required(entry: OpEntry) -> int:
    required = (each.element == "Tensor" and not each.optional for each in entry.schema.arguments)
    return next((number for number, is_required in enumerate(required) if is_required), 0)


def lifted(tensor: Tensor, level: Level) -> Tensor:
    """What takes the place of a tensor that is not batched."""
    return in_place_of(tensor, BatchedArray(tensor._mt_array, None, level))


def _with_first_replaced(values: Any, stand_in: Tensor) -> tuple[Any, bool]:
    """The values with the first tensor replaced, and whether there was one."""
    replaced = list(values)
    for place, value in enumerate(values):
        if isinstance(value, Tensor):
            replaced[place] = stand_in
            return type(values)(replaced), True
        if isinstance(value, (list, tuple)):
            replaced[place], found = _with_first_replaced(value, stand_in)
            if found:
                return type(values)(replaced), True
    return values, False
