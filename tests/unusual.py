"""Calls of an op with other dtypes, other numbers and `out=` of other dtypes than its samples have.

For tests of what devices refuse, which is what the CPU refuses.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

import mindtorch
from codegen.model import Op
from tests.harness import (
    Outcome,
    TensorSpec,
    arguments_of,
    dtypes_of,
    error_difference,
    function_of,
    outcome,
    samples_of,
    tensors_in,
    variant,
    without_dtype,
)

DTYPES = ("float32", "float64", "int64", "uint8", "bool", "complex64")
# Numbers that not all dtypes have room for, or that change there.
NUMBERS: dict[str, tuple] = {
    "int8": (300, -200, 1.5, float("nan"), 1j, True, 2**70),
    "uint8": (300, -1, 1.5, 1j),
    "int16": (40000,),
    "int64": (2**63, 1.5, float("inf")),
    "bool": (3, 0.5, 1j),
    "float16": (1e6, 1j),
    "float32": (1e300, 1j),
}

Call = tuple[str, Op, list, dict]


def _cast(value: Any, dtype: str, only: str | None = None) -> Any:
    """A value with its tensors in a dtype, by default all of them."""
    if isinstance(value, TensorSpec):
        if only is not None and value.dtype != only:
            return value
        data = value.data if dtype.startswith("complex") else np.asarray(value.data.real)
        return replace(value, data=data, dtype=dtype, layout="plain")
    if isinstance(value, (list, tuple)):
        return type(value)([_cast(each, dtype, only) for each in value])
    if isinstance(value, dict):
        return {name: _cast(each, dtype, only) for name, each in value.items()}
    return value


def _first(op: Op, dtype: str) -> Any:
    return next(iter(samples_of(op, dtype)), None)


def _usual_dtype(op: Op) -> str:
    return next((dtype for dtype in ("float32", "int64") if dtype in dtypes_of(op)), dtypes_of(op)[0])


def with_other_dtypes(op: Op) -> Iterator[Call]:
    """All tensors in another dtype, or one of them."""
    usual = _usual_dtype(op)
    sample = _first(op, usual)
    if sample is None:
        return
    args = list(sample.args)
    for dtype in DTYPES:
        yield f"all {dtype}", op, _cast(args, dtype, usual), _cast(sample.kwargs, dtype, usual)
        for place, value in enumerate(args):
            if tensors_of(value):
                yield f"{place} {dtype}", op, [*args[:place], _cast(value, dtype), *args[place + 1 :]], sample.kwargs


def tensors_of(value: Any) -> list:
    if isinstance(value, (list, tuple)):
        return [each for item in value for each in tensors_of(item)]
    return [value] if isinstance(value, TensorSpec) else []


def has_numbers(op: Op) -> bool:
    return any(each.type.base == "Scalar" for each in op.schema.inputs)


def with_other_numbers(op: Op, dtypes: tuple[str, ...] = tuple(NUMBERS)) -> Iterator[Call]:
    """Each Scalar argument another number; in place, too."""
    inplace = variant(op, "inplace")
    forms = [op, *([inplace] if inplace and op.schema.inputs[0].name == "self" else [])]
    for dtype in dtypes:
        sample = _first(op, dtype) if dtype in dtypes_of(op) else None
        for place, argument in enumerate(op.schema.inputs if sample else ()):
            if argument.type.base != "Scalar":
                continue
            for number in NUMBERS[dtype]:
                args, kwargs = list(sample.args), dict(sample.kwargs)
                value = [number] if argument.type.is_list else number
                if place < len(args):
                    args[place] = value
                else:
                    kwargs[argument.name] = value
                yield from ((f"{dtype} {argument.name}={number}", form, args, kwargs) for form in forms)


def with_other_outs(op: Op) -> Iterator[Call]:
    """Each result in an `out` of another dtype."""
    form = variant(op, "out")
    sample = _first(op, _usual_dtype(op)) if form else None
    if form is None or sample is None:
        return
    args, kwargs = arguments_of(mindtorch, [list(sample.args), dict(sample.kwargs)])
    found = tensors_in(mindtorch, outcome(function_of(mindtorch, op), args, kwargs).result)
    own = [str(each.dtype).removeprefix("torch.") for each in found]
    for place in range(len(found)):
        for dtype in DTYPES:
            dtypes = [*own[:place], dtype, *own[place + 1 :]]
            specs = [TensorSpec(np.zeros(tuple(each.shape)), name) for each, name in zip(found, dtypes)]
            outs = dict(zip([each.name for each in form.schema.out_arguments], specs))
            yield f"out {place} {dtype}", form, list(sample.args), {**without_dtype(form, sample.kwargs), **outs}


def with_other_dims(op: Op) -> Iterator[Call]:
    """Each dimension one that is not there; in place, too."""
    inplace = variant(op, "inplace")
    for form in (op, *([inplace] if inplace and op.schema.inputs[0].name == "self" else [])):
        for sample in islice(samples_of(op, _usual_dtype(op)), 3):
            for place, argument in enumerate(form.schema.inputs):
                if not argument.name.startswith("dim"):
                    continue
                for dim in (7, -8):
                    args, kwargs = list(sample.args), dict(sample.kwargs)
                    value = [dim] if argument.type.is_list else dim
                    if place < len(args):
                        args[place] = value
                    else:
                        kwargs[argument.name] = value
                    yield f"{argument.name}={value}", form, args, kwargs


def all_calls(op: Op, most: int = 1000) -> list[Call]:
    """So many of each kind."""
    kinds = (with_other_dtypes, with_other_numbers, with_other_outs)
    return [call for kind in kinds for call in islice(kind(op), most)]


def outcome_on(device: str, call: Call, moved: Callable[[Any, str], Any]) -> Outcome:
    """What a call of mindtorch gives with its tensors on a device."""
    _, form, given, named = call
    args, kwargs = moved(arguments_of(mindtorch, [list(given), dict(named)]), device)
    mindtorch.manual_seed(0)
    with mindtorch.device(device):
        return outcome(function_of(mindtorch, form), args, kwargs)


def on_meta(value: Any, device: str = "meta") -> Any:
    if isinstance(value, mindtorch.Tensor):
        return value.to(device)
    if isinstance(value, (list, tuple)):
        return type(value)([on_meta(each) for each in value])
    return {name: on_meta(each) for name, each in value.items()} if isinstance(value, dict) else value


def not_refused(found: Outcome, expected: Outcome) -> str | None:
    """How a device deviates from a refusal of the CPU. (Which dtypes have a kernel may differ.)"""
    if expected.error is None or isinstance(expected.error, NotImplementedError):
        return None
    return error_difference(found.error, expected.error)
