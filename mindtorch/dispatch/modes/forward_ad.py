"""Forward AD: the tangents of an op's outputs from those of its inputs.

The generated formula of an op is called as `jvp(result, arguments, tangents)`. `arguments` are the op's arguments in
the order of the schema; `tangents` has the same length, with the tangent of every tensor argument (of a list, a list of
them) and None for one without and for all other arguments. It returns the tangent of the result, a tuple for several,
or None if none of the tangents that it speaks of is there.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mindtorch._core import state
from mindtorch._core.promotion import promote_types
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch.modes.tangents import inside_of, set_tangent, tangent_of, write_tangent, zeros_for
from mindtorch.dispatch.registry import OpEntry

_thread = state.thread


def no_forward_rule(op: str, remedy: str = ".") -> NotImplementedError:
    """torch's error for an op without a formula of its own for forward AD."""
    return NotImplementedError(
        f"Trying to use forward AD with {op} that does not support it because it has not been implemented yet.\n"
        "Please file an issue to PyTorch at https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml "
        f"so that we can prioritize its implementation{remedy}"
    )


def has_tangents(args: Iterable[Any]) -> bool:
    """Whether a tensor among the arguments, or in a list among them, has a tangent at a level that ops look at."""
    return _innermost(list(_tensors_in(args))) >= 0


def _tensors_in(values: Iterable[Any]) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _tensors_in(value)
        elif isinstance(value, Tensor):
            yield value


def _innermost(tensors: list[Tensor]) -> int:
    """The number of the innermost level at which one of the tensors has a tangent; -1 if there is none."""
    for number in range(_thread.dual_level, -1, -1):
        if any(tangent_of(tensor, number) is not None for tensor in tensors):
            return number
    return -1


def call_with_tangents(run: Callable, function: Callable, args: tuple, kwargs: dict) -> Any:
    """Run an op on dual tensors: the op itself, which sees to the outer levels, then all tangents of its outputs, and
    only then store them."""
    number = _innermost(list(_tensors_in((*args, *kwargs.values()))))
    if number < 0:
        return run(function, args, kwargs)
    entry: OpEntry = function.op  # type: ignore[attr-defined]
    arguments = _arguments_in_order(entry, args, kwargs)
    if has_tangents(entry.changed_inputs(arguments)):
        raise no_forward_rule(entry.base)  # whose formulas give the tangents of results, and not of what it changes
    tangents = [_tangents_at(number, value) for value in arguments]
    with inside_of(number):
        if entry.is_inplace and entry.jvp is not None:
            # The formula speaks of the value before the op. What it computes may keep its tangent, too.
            arguments[0] = arguments[0].clone()
            if tangents[0] is not None and _thread.grad_enabled:
                tangents[0] = tangents[0].clone()
        result = call_with_tangents(run, function, args, kwargs)
        _check_supported(entry, kwargs)  # not before: the op may have another reason to refuse, and torch has written
        if entry.jvp is None:
            return result
        new = entry.jvp(result, arguments, tangents)
        if new is None:
            return result
    with inside_of(number + 1):
        for output, tangent in _pairs(result, new):
            _store(output, tangent, arguments, tangents, entry.is_inplace)
    return result


def _check_supported(entry: OpEntry, kwargs: dict) -> None:
    if kwargs.get("out") is not None:
        raise NotImplementedError(
            f"Trying to use forward AD with {entry.base}_out that does not support it because it is an out= function"
        )
    if entry.jvp is None and entry.differentiable and not entry.composite:
        raise no_forward_rule(entry.base, " or submit a PR adding the implementation to derivatives.yaml")


def _arguments_in_order(entry: OpEntry, args: tuple, kwargs: dict) -> list[Any]:
    schema = entry.schema
    positional = [argument for argument in schema.arguments if not argument.keyword_only]
    if len(args) > len(positional):  # the ints of a call like view(2, 3)
        args = (*args[: len(positional) - 1], tuple(args[len(positional) - 1 :]))
    given = {argument.name: value for argument, value in zip(positional, args)} | kwargs
    return [given.get(argument.name) for argument in schema.arguments]


def _tangents_at(number: int, value: Any) -> Any:
    if isinstance(value, Tensor):
        return tangent_of(value, number)
    if isinstance(value, (list, tuple)) and any(isinstance(item, Tensor) for item in value):
        tangents = [tangent_of(item, number) for item in value]
        return [zeros_for(item) if tangent is None else tangent for item, tangent in zip(value, tangents)]
    return None


def _pairs(result: Any, tangents: Any) -> list[tuple[Any, Any]]:
    if isinstance(result, (tuple, list)):
        return list(zip(result, tangents))
    return [(result, tangents[0] if isinstance(tangents, (tuple, list)) else tangents)]


def _have_other_dtypes(tangents: list, arguments: list) -> bool:
    """Whether a tangent was given in another dtype than that of its tensor."""
    pairs = zip(tangents, arguments)
    return any(isinstance(tangent, Tensor) and tangent.dtype != value.dtype for tangent, value in pairs)


def _store(output: Any, tangent: Any, arguments: list, given: list, written: bool) -> None:
    if output is None or not isinstance(tangent, Tensor) or not (output.is_floating_point() or output.is_complex()):
        return
    meta = output._mt_meta  # which knows of views across levels of vmap, too
    is_view = meta is not None and meta.base is not None
    dtype = output.dtype
    if tangent.dtype != dtype and _have_other_dtypes(given, arguments):
        dtype = tangent.dtype if is_view and not written else promote_types(tangent.dtype, dtype)
    with inside_of(_thread.dual_level):
        if tangent.shape != output.shape or tangent.dtype != dtype:  # as the zeros of missing tangents would have it
            tangent = tangent.to(dtype).expand(output.shape)
        is_apart = not is_view and not output.is_inference()  # which else cannot be written
        if is_apart and (tangent._is_view() or any(tangent is other for other in given)):
            tangent = tangent.clone()  # a write to the output must not change the tangents of the inputs
    (write_tangent if written else set_tangent)(output, tangent)
