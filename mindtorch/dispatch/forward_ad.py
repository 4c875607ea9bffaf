"""Forward AD: the tangents of an op's outputs from those of its inputs.

A tensor's tangent lives in its autograd fields, by level. While an op's forward formula runs, forward AD is off for the
thread: formulas see primal values, and one level cannot leak into another.

The generated formula of an op is called as `jvp(result, arguments, tangents)`. `arguments` are the op's arguments in
the order of the schema; `tangents` has the same length, with the tangent of every tensor argument (a list of them for a
list), zeros where a tensor has none, and None for all other arguments. It returns the tangent of the result, a tuple
for several.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch import state
from mindtorch.dispatch.namespace import ops
from mindtorch.dispatch.registry import OpEntry
from mindtorch.tensor import Tensor, autograd_meta

_thread = state.thread

_NO_FORMULA = (
    "Trying to use forward AD with {} that does not support it because it has not been implemented yet.\n"
    "Please file an issue to PyTorch at https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml so "
    "that we can prioritize its implementation or submit a PR adding the implementation to derivatives.yaml"
)


def tangent_of(tensor: Any) -> Tensor | None:
    """The tensor's tangent at the innermost level."""
    if not isinstance(tensor, Tensor) or tensor._meta is None or tensor._meta.tangents is None:
        return None
    return tensor._meta.tangents.get(_thread.dual_level)


def set_tangent(tensor: Tensor, tangent: Tensor) -> None:
    """Give the tensor a tangent at the innermost level."""
    meta = autograd_meta(tensor)
    if meta.tangents is None:
        meta.tangents = {}
    meta.tangents[_thread.dual_level] = tangent


def has_tangents(args: Iterable[Any]) -> bool:
    """Whether a tensor among the arguments, or in a list among them, has a tangent."""
    return any(
        has_tangents(value) if isinstance(value, (list, tuple)) else tangent_of(value) is not None for value in args
    )


@contextmanager
def without_forward_ad() -> Iterator[None]:
    """In this block tensors are treated as if they had no tangents."""
    before = _thread.forward_grad_enabled
    _thread.forward_grad_enabled = False
    try:
        yield
    finally:
        _thread.forward_grad_enabled = before


def call_with_tangents(run: Callable, function: Callable, args: tuple, kwargs: dict) -> Any:
    """Run an op on dual tensors: the op itself, then all tangents of its outputs, and only then store them."""
    entry: OpEntry = function.op  # type: ignore[attr-defined]
    _check_supported(entry, kwargs)
    arguments = _arguments_in_order(entry, args, kwargs)
    with without_forward_ad():
        tangents = [_tangents_of(value) for value in arguments]
        if entry.is_inplace:
            arguments[0] = arguments[0].clone()  # the formula speaks of the value before the op
        result = run(function, args, kwargs)
        if entry.jvp is None:
            return result
        new = entry.jvp(result, arguments, tangents)
        for output, tangent in _pairs(result, new):
            _store(output, tangent, entry.is_inplace)
    return result


def _check_supported(entry: OpEntry, kwargs: dict) -> None:
    if kwargs.get("out") is not None:
        raise NotImplementedError(
            f"Trying to use forward AD with {entry.base}_out that does not support it because it is an out= function"
        )
    if entry.jvp is None and entry.differentiable:
        raise NotImplementedError(_NO_FORMULA.format(entry.base))


def _arguments_in_order(entry: OpEntry, args: tuple, kwargs: dict) -> list[Any]:
    schema = entry.schema
    positional = [argument for argument in schema.arguments if not argument.keyword_only]
    if len(args) > len(positional):  # the ints of a call like view(2, 3)
        args = (*args[: len(positional) - 1], tuple(args[len(positional) - 1 :]))
    given = {argument.name: value for argument, value in zip(positional, args)} | kwargs
    return [given.get(argument.name) for argument in schema.arguments]


def _tangents_of(value: Any) -> Any:
    if isinstance(value, Tensor):
        tangent = tangent_of(value)
        return _zeros(value) if tangent is None else tangent
    if isinstance(value, (list, tuple)) and any(isinstance(item, Tensor) for item in value):
        return [_tangents_of(item) for item in value]
    return None


def _zeros(tensor: Tensor) -> Tensor | None:
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return None
    return ops.zeros_like(tensor)


def _pairs(result: Any, tangents: Any) -> list[tuple[Any, Any]]:
    if isinstance(result, (tuple, list)):
        return list(zip(result, tangents))
    return [(result, tangents[0] if isinstance(tangents, (tuple, list)) else tangents)]


def _store(output: Tensor, tangent: Tensor | None, written: bool) -> None:
    if tangent is None or not (output.is_floating_point() or output.is_complex()):
        return
    old = tangent_of(output) if written else None
    if old is None:
        set_tangent(output, tangent)
    else:
        old.copy_(tangent)  # type: ignore[attr-defined]
